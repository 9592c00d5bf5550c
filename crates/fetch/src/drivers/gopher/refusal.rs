//! A server's word that there is no answer, in everybody's words.

use fetch_url_core::mask_password;
use fetch_url_proto::Refused;

use super::plan::GopherPlan;
use crate::{Code, Content, Error, Hop, Meta, Outcome, Phase, Response};

/// What a refusal comes to: an error, or the way to where the item is now.
pub(super) fn outcome(refused: &Refused, plan: &GopherPlan) -> Result<Outcome, Error> {
    let target = refused.moved_to.as_ref().and_then(|item| item.url(plan.here().as_ref()));
    match target {
        Some(target) => Ok(follow(&target, "the item has moved", plan)),
        None => Err(error(refused)),
    }
}

/// The error that a refusal is.
pub(super) fn error(refused: &Refused) -> Error {
    let error = Error::new(code(refused), Phase::Request, "");
    if refused.words.is_empty() { error } else { error.with_reply(&refused.words) }
}

/// The way to `target`.
pub(super) fn follow(target: &str, why: &str, plan: &GopherPlan) -> Outcome {
    let nothing = Response::new(Meta::new(plan.url.clone()), Content::Head);
    let mut hop = Hop::new(target, why, nothing);
    let detail = format!("the item is elsewhere: {}", mask_password(target));
    hop.instead = Some(Error::new(Code::NotFound, Phase::Request, detail));
    Outcome::Follow(hop)
}

/// Gopher+ tells that a server is busy; that somebody may not have an item is said in words alone.
fn code(refused: &Refused) -> Code {
    let words = refused.words.to_ascii_lowercase();
    let is_denied = [&b"denied"[..], b"permission", b"forbidden", b"not allowed"]
        .iter()
        .any(|word| words.windows(word.len()).any(|window| window == *word));
    match refused.code {
        Some(2) => Code::Busy,
        _ if is_denied => Code::Denied,
        _ => Code::NotFound,
    }
}
