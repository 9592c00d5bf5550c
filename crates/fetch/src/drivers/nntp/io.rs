//! One errand at a server: what is asked, and what becomes of the answer.

use super::line::{Begun, begin};
use super::plan::{Errand, NntpPlan};
use super::{articles, head, listing, refusal};
use crate::{Content, Ctx, Error, Meta, Outcome, Response};

/// Does what the plan says.
pub(super) async fn run(plan: NntpPlan, ctx: Ctx) -> Result<Outcome, Error> {
    let line = match begin(&plan, &ctx).await? {
        Begun::Line(line) => *line,
        Begun::Refused(refused, line) if matches!(plan.errand, Errand::Articles(..)) && !plan.wants_head => {
            return articles::after_a_gap(&refused, *line, plan, ctx).await;
        }
        Begun::Refused(refused, line) => {
            if refusal::is_harmless(&refused) {
                line.wait(&plan, &ctx);
            }
            return Err(refusal::error(&refused, &plan, &ctx));
        }
    };
    if plan.wants_head {
        return head::read(line, plan, ctx).await;
    }
    match &plan.errand {
        Errand::Article(_) => articles::one(line, &plan, &ctx).await,
        Errand::Articles(..) => articles::several(line, plan, ctx),
        Errand::Group(..) | Errand::Groups(_) => Ok(answer(&plan, listing::arriving(line, &plan, &ctx))),
    }
}

/// The answer for the engine.
pub(super) fn answer(plan: &NntpPlan, content: Content) -> Outcome {
    Outcome::Answer(Response::new(meta(plan), content))
}

/// What is known of any answer.
pub(super) fn meta(plan: &NntpPlan) -> Meta {
    let mut meta = Meta::new(plan.url.clone());
    meta.protocol = Some("NNTP");
    meta
}
