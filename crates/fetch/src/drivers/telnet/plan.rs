//! A session, or the word that it is one.

use std::fmt;

use fetch_url_core::{Host, Url};
use fetch_url_proto::outline;
use fetch_url_proto::telnet::TelnetSession;

use super::{Connect, Session, advice};
use crate::driver::RunFuture;
use crate::net::pump::Pump;
use crate::{Advice, Content, Ctx, Error, Meta, Outcome, Plan, Request, Response, Want};

/// One errand.
pub(super) struct TelnetPlan {
    url: Url<'static>,
    host: Host<'static>,
    port: u16,
    advice: Advice,
    connects: bool,
}

impl TelnetPlan {
    pub(super) fn new(request: &Request) -> Result<Self, Error> {
        let Url::Telnet(url) = request.url() else {
            return Err(Error::unsupported("the telnet driver speaks Telnet only"));
        };
        // Octets that would be commands of Telnet, or lines of their own.
        outline(request.url())?;
        let port = request.url().port().unwrap_or_default();
        Ok(Self {
            url: request.url().clone(),
            host: url.login().at().host().clone().into_owned(),
            port,
            advice: advice::of(url, port),
            connects: request.extra::<Connect>().is_some() && request.want() == Want::Object,
        })
    }
}

impl Plan for TelnetPlan {
    fn run(self: Box<Self>, ctx: Ctx) -> RunFuture {
        Box::pin(run(*self, ctx))
    }
}

async fn run(plan: TelnetPlan, ctx: Ctx) -> Result<Outcome, Error> {
    let mut meta = Meta::new(plan.url);
    meta.notes.push("user and password of a telnet URL are advice: nothing is sent by itself");
    if !plan.connects {
        return Ok(Outcome::Answer(Response::new(meta, Content::Advice(plan.advice))));
    }
    meta.protocol = Some("TELNET");
    let stream = ctx.dial.connect(&plan.host, plan.port, &ctx.deadline).await?;
    let pump = Pump::new(TelnetSession::new(), ctx.dial.plain_stream(stream), ctx.dial.contact());
    let session = Session { pump, deadline: ctx.deadline };
    Ok(Outcome::Answer(Response::new(meta, Content::Session(Box::new(session)))))
}

impl fmt::Display for TelnetPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.connects {
            true => write!(f, "(a session with {}:{}: every option is refused)", self.host, self.port),
            false => f.write_str(self.advice.text.trim_end()),
        }
    }
}
