//! Runs a plan: sends the request and returns the articles, the list or the metadata.

use std::fmt;
use std::sync::Arc;

use super::active_request::ActiveRequest;
use super::articles::{article_range, article_range_after_rejection, single_article};
use super::connection::FirstReply;
use super::head::read_head;
use super::listing::list_content;
use super::plan::{NewsOperation, NntpPlan};
use super::rejection::{allows_next_request, rejection_error};
use super::response::outcome;
use super::server_cache::ServerCache;
use super::start_request::start_request;
use crate::driver::RunFuture;
use crate::{Error, Outcome, Plan, RunContext};

/// A plan with the cache of the driver.
pub(super) struct NntpRun {
    plan: NntpPlan,
    cache: Arc<ServerCache>,
}

impl NntpRun {
    pub(super) const fn new(plan: NntpPlan, cache: Arc<ServerCache>) -> Self {
        Self { plan, cache }
    }
}

impl Plan for NntpRun {
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture {
        let Self { plan, cache } = *self;
        Box::pin(run_request(Arc::new(ActiveRequest { plan, ctx, cache })))
    }

    fn has_own_trace(&self) -> bool {
        true
    }
}

impl fmt::Display for NntpRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}

async fn run_request(request: Arc<ActiveRequest>) -> Result<Outcome, Error> {
    let plan = &request.plan;
    let connection = match start_request(&request).await? {
        FirstReply::Accepted(connection) => *connection,
        FirstReply::Rejected(rejection, connection)
            if matches!(plan.operation, NewsOperation::ArticleRange(..)) && !plan.wants_head =>
        {
            return article_range_after_rejection(&rejection, *connection, &request).await;
        }
        FirstReply::Rejected(rejection, connection) => {
            if allows_next_request(&rejection) {
                request.keep(*connection);
            }
            return Err(rejection_error(&rejection, &request));
        }
    };
    if plan.wants_head {
        return read_head(connection, &request).await;
    }
    match &plan.operation {
        NewsOperation::Article(_) => single_article(connection, &request).await,
        NewsOperation::ArticleRange(..) => article_range(connection, &request),
        NewsOperation::ListArticles(..) | NewsOperation::ListGroups(_) => {
            Ok(outcome(plan, list_content(connection, &request)))
        }
    }
}
