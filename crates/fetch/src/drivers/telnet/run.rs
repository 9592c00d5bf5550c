//! Runs a plan: opens the session, or returns the advice.

use fetch_url_proto::telnet::TelnetSession;

use super::plan::TelnetPlan;
use crate::driver::RunFuture;
use crate::net::connection::Connection;
use crate::{Content, Error, Meta, NotFetchable, Outcome, Plan, Response, RunContext, Session};

impl Plan for TelnetPlan {
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture {
        Box::pin(run_plan(*self, ctx))
    }

    fn advice(&self) -> Option<&NotFetchable> {
        (!self.connects).then_some(&self.advice)
    }
}

async fn run_plan(plan: TelnetPlan, ctx: RunContext) -> Result<Outcome, Error> {
    let mut meta = Meta::new(plan.url);
    if meta.url.user_info().is_some() {
        meta.notes.push("the user name and password of a telnet URL are not sent automatically".into());
    }
    if !plan.connects {
        return Ok(Outcome::Response(Response::new(meta, Content::Advice(plan.advice))));
    }
    meta.protocol = Some("TELNET");
    let stream = ctx.connector.connect(&plan.host, plan.port, &ctx.deadline).await?;
    let stream = ctx.connector.plain_stream(stream);
    let connection = Connection::new(TelnetSession::new(), stream, ctx.connector.connection_info());
    let session = Session::new(connection, ctx.deadline);
    Ok(Outcome::Response(Response::new(meta, Content::Session(Box::new(session)))))
}
