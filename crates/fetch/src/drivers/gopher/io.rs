//! One errand at a server: what is asked, and what becomes of the answer.

use fetch_url_proto::gopher::{Expected, GopherRequest, Plus};

use super::plan::{Errand, GopherPlan};
use super::talk::{Begun, Talk, begin};
use super::{form, head, refusal};
use crate::{Again, Content, Ctx, Error, Meta, Outcome, Response};

/// Does what the plan says.
pub(super) async fn run(plan: GopherPlan, ctx: Ctx) -> Result<Outcome, Error> {
    match plan.errand.clone() {
        Errand::Advise(advice) => Ok(answer(&plan, Content::Advice(advice))),
        Errand::Fetch(request) => fetch(&request, &plan, &ctx).await,
        Errand::Fill(request) => form::fill(&request, &plan, &ctx).await,
        Errand::Filled(request) => form::send_again(&request, &plan, &ctx).await,
        Errand::Follow(target) => Ok(refusal::follow(&target, "the item is a link", &plan)),
        Errand::Head(request) => head::ask(&request, &plan, &ctx).await,
    }
}

/// One request and its answer.
pub(super) async fn fetch(request: &GopherRequest, plan: &GopherPlan, ctx: &Ctx) -> Result<Outcome, Error> {
    let talk = match begin(request, plan.options.raw_menus, plan, ctx).await? {
        Begun::Talk(talk) => talk,
        Begun::Refused(refused) => return refusal::outcome(&refused, plan),
    };
    match request.plus() {
        // There are servers that know attributes, and take a choice of them for something else.
        Some(Plus::Attributes(names)) if !talk.is_plus() && !names.is_empty() => {
            Ok(for_all(request, names, plan))
        }
        Some(Plus::Attributes(names)) if !names.is_empty() => Ok(arriving(talk, plan, names)),
        _ => Ok(arriving(talk, plan, plan.kept.clone())),
    }
}

/// The same attributes without a choice of names: the choice is made here.
fn for_all(request: &GopherRequest, names: Vec<Vec<u8>>, plan: &GopherPlan) -> Outcome {
    let nothing = Response::new(Meta::new(plan.url.clone()), Content::Head);
    Outcome::Again(Again::new(nothing, Box::new(plan.keeping(request.for_all_attributes(), names))))
}

/// The answer for the engine.
pub(super) fn arriving(talk: Box<Talk>, plan: &GopherPlan, names: Vec<Vec<u8>>) -> Outcome {
    let mut meta = meta(plan, talk.is_plus() && talk.expects() == Expected::Attributes);
    meta.head = talk.head.clone();
    meta.notes.extend(talk.note);
    Outcome::Answer(Response::new(meta, talk.into_content(names)))
}

/// An answer that no octet has to come for.
fn answer(plan: &GopherPlan, content: Content) -> Outcome {
    Outcome::Answer(Response::new(meta(plan, false), content))
}

/// What is known of any answer.
pub(super) fn meta(plan: &GopherPlan, is_plus: bool) -> Meta {
    let mut meta = Meta::new(plan.url.clone());
    meta.protocol = Some(if is_plus { "Gopher+" } else { "Gopher" });
    meta
}
