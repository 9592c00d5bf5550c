//! Runs the operation of a plan: fetches an item, its metadata or a form, or returns advice or a redirect.

use super::fetch_item::fetch_item;
use super::form::{fill_form, send_form_of_url};
use super::head::fetch_head;
use super::plan::{GopherOperation, GopherPlan};
use super::rejection::redirect_to;
use super::response::response_meta;
use super::view::fetch_view;
use crate::driver::RunFuture;
use crate::{Content, Error, NotFetchable, Outcome, Plan, Response, RunContext};

impl Plan for GopherPlan {
    fn run(self: Box<Self>, ctx: RunContext) -> RunFuture {
        Box::pin(async move { run_plan(&self, &ctx).await })
    }

    fn advice(&self) -> Option<&NotFetchable> {
        match &self.operation {
            GopherOperation::Advise(advice) => Some(advice),
            _ => None,
        }
    }
}

async fn run_plan(plan: &GopherPlan, ctx: &RunContext) -> Result<Outcome, Error> {
    match &plan.operation {
        GopherOperation::Advise(advice) => {
            let meta = response_meta(plan, false);
            Ok(Outcome::Response(Response::new(meta, Content::Advice(advice.clone()))))
        }
        GopherOperation::Fetch(request) => fetch_item(request, plan, ctx).await,
        GopherOperation::FetchView(request) => fetch_view(request, plan, ctx).await,
        GopherOperation::FillForm(request) => fill_form(request, plan, ctx).await,
        GopherOperation::FollowLink(target) => Ok(redirect_to(target, "the item is a link", plan)),
        GopherOperation::Head(request) => fetch_head(request, plan, ctx).await,
        GopherOperation::SendForm(request) => send_form_of_url(request, plan, ctx).await,
    }
}
