//! Runs a plan: locates the object, verifies its attributes, and retrieves or redirects.

use fetch_url_proto::prospero::{AttributesResult, Query};

use super::access::{AccessChoice, choose_access};
use super::attributes::{fetch_head, verify_required};
use super::contents::fetch_contents;
use super::listing::fetch_listing;
use super::plan::ProsperoPlan;
use super::query::{QueryError, QueryReply, query_attributes, unexpected_step_error};
use super::redirect::{redirect_to, redirect_to_object};
use super::rejection::rejection_error;
use super::response::{outcome, response_meta};
use crate::driver::RunFuture;
use crate::{Content, Error, Outcome, Plan, RunContext};

impl Plan for ProsperoPlan {
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture {
        Box::pin(run_plan(*self, ctx))
    }

    fn has_own_trace(&self) -> bool {
        true
    }
}

async fn run_plan(plan: ProsperoPlan, ctx: RunContext) -> Result<Outcome, Error> {
    match locate_and_fetch(&plan, &ctx).await {
        Ok(outcome) => Ok(outcome),
        Err(QueryError::Redirected(redirect)) => Ok(Outcome::Redirect(*redirect)),
        Err(QueryError::Failed(error)) => Err(error),
    }
}

async fn locate_and_fetch(plan: &ProsperoPlan, ctx: &RunContext) -> Result<Outcome, QueryError> {
    let datagrams = ctx.connector.datagrams(&plan.host, plan.port, &ctx.deadline).await?;
    let (found, datagrams) = match query_attributes(&Query::AccessMethods, datagrams, plan, ctx).await? {
        QueryReply::Found(found, datagrams) => (found, datagrams),
        QueryReply::Rejected(rejection, _) => return Err(rejection_error(&rejection).into()),
    };
    let metadata = match found {
        AttributesResult::Metadata(metadata) => metadata,
        AttributesResult::Moved(name) => return Ok(Outcome::Redirect(redirect_to_object(&name, plan)?)),
        _ => return Err(unexpected_step_error().into()),
    };
    let mut meta = response_meta(plan);
    let datagrams = verify_required(datagrams, &mut meta, plan, ctx).await?;
    if plan.wants_head {
        return fetch_head(metadata, datagrams, meta, plan, ctx).await;
    }
    match choose_access(&metadata, plan, ctx)? {
        AccessChoice::Advice(advice) => Ok(outcome(meta, Content::Advice(advice))),
        AccessChoice::Contents => fetch_contents(datagrams, meta, plan, ctx).await,
        AccessChoice::Links => fetch_listing(datagrams, meta, plan, ctx).await,
        AccessChoice::Redirect { url, why } => Ok(Outcome::Redirect(redirect_to(&url, &why, plan))),
    }
}
