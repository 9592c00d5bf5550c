//! One errand at a server: a connection that waits or a new one, the conversation, and what becomes of
//! its end.

use fetch_url_proto::ftp::Task;

use super::body::Transfer;
use super::line::Line;
use super::listing;
use super::plan::{FtpPlan, check_part};
use super::refusal::{is_of_line, refused};
use super::serve::{Served, internal, range_refused, serve};
use crate::engine::waiting::Key;
use crate::{Body, Code, Content, Ctx, Error, Outcome, Phase, Proof, Response};

/// Fetches what the plan says; a server that does not understand gets it in other words.
pub(super) async fn run(plan: FtpPlan, ctx: Ctx) -> Result<Outcome, Error> {
    check_part(&plan)?;
    let key = plan.servers.key(&plan, &ctx);
    while let Some(mut line) = plan.servers.take(&key, &plan.errand) {
        if !line.is_quiet().await {
            continue;
        }
        match serve(&mut line, &plan, &ctx).await {
            Ok(answer) => return finish(answer, line, key, plan, &ctx).await,
            Err(trouble) if is_of_line(&trouble) => {}
            Err(trouble) => return refused(trouble, line, key, plan, &ctx).await,
        }
    }
    let mut line = Line::open(&plan, &ctx).await?;
    match serve(&mut line, &plan, &ctx).await {
        Ok(answer) => finish(answer, line, key, plan, &ctx).await,
        Err(trouble) => refused(trouble, line, key, plan, &ctx).await,
    }
}

/// The answer for the engine; the line goes with the body, or waits for another errand.
async fn finish(
    served: Served,
    mut line: Line,
    key: Key,
    plan: FtpPlan,
    ctx: &Ctx,
) -> Result<Outcome, Error> {
    let (meta, stream, end) = match served {
        Served::Known(response) => {
            plan.servers.put(key, line);
            return Ok(Outcome::Answer(*response));
        }
        Served::EmptyListing(meta) => return listing::empty(meta, line, key, &plan, ctx).await,
        Served::Arriving { meta, stream, end } => (meta, stream, end),
    };
    let mut arrival = line.receive(stream, &plan, ctx).await?;
    let repeated = plan.repeated(meta.offset);
    let begins = async {
        let begins = arrival.begins_with(repeated).await;
        begins.map_err(|error| Error::io(Code::Truncated, Phase::Body, "the data connection", error))
    };
    if !ctx.deadline.bound(Phase::Body, begins).await? {
        return Err(range_refused("the server does not begin where it was told to"));
    }
    let stop = end.filter(|&end| meta.head.size != Some(end)).map(|end| end - meta.offset);
    let expected = end.map(|end| end - meta.offset);
    let transfer = Transfer::new(arrival, line, key, &plan, ctx);
    let content = match &plan.errand.task {
        Task::List { .. } if plan.options.raw_listing => {
            Content::Body(Body::from_source(transfer, None, Proof::Proven("the reply 226")))
        }
        Task::List { name, by } => Content::Listing(listing::of(transfer, name.as_deref(), *by, &plan, ctx)),
        Task::Retrieve { form, .. } => Content::Body(transfer.into_body(form, expected, stop)),
        Task::Facts { .. } | Task::Reach => return Err(internal()),
    };
    Ok(Outcome::Answer(Response::new(meta, content)))
}
