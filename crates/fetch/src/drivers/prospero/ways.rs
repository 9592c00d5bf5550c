//! Which of the ways to an object is taken.

use fetch_url_proto::prospero::{AccessMethod, ObjectFacts, Way};
use fetch_url_proto::text::printable;

use super::plan::ProsperoPlan;
use crate::engine::dialogue;
use crate::{Advice, Ctx, Error};

/// What is done next.
pub(super) enum Choice {
    /// A session, of a kind that has no URL that is built in.
    Advise(Advice),
    /// The octets come over Prospero itself.
    Contents,
    /// Another URL fetches them.
    Follow { to: String, why: String },
    /// It is a directory, as far as anybody tells.
    Links,
}

/// The first way that is built in and that the caller allows: first those that need no login, then those that do,
/// then sessions, which give no octets. Where none is allowed, the first one: the engine tells why not.
pub(super) fn choose(facts: &ObjectFacts, plan: &ProsperoPlan, ctx: &Ctx) -> Result<Choice, Error> {
    let methods = facts.methods(&plan.own_name());
    let is_unknown = facts.attribute("ACCESS-METHOD").is_none() && facts.is_directory().is_none();
    if is_unknown || facts.is_directory() == Some(true) {
        return Ok(Choice::Links);
    }
    let ways: Vec<_> = methods.iter().map(|method| (method, method.way())).collect();
    let allowed = |way: &Way| match way {
        Way::Contents => true,
        Way::Url(url) | Way::Session(url) => ctx.gate.lets(&plan.url, url, &ctx.dial),
        _ => false,
    };
    let ranked = |rank: u8| ways.iter().filter(move |(method, way)| self::rank(method, way) == Some(rank));
    let mut all = (0..=2).flat_map(ranked);
    let chosen = all.clone().find(|(_, way)| allowed(way)).or_else(|| all.next());
    let Some((method, way)) = chosen else { return Err(no_way(&ways)) };
    let others = others(method, &methods);
    dialogue::decided(&format_args!("the way is {}{others}", method.method));
    Ok(match way {
        Way::Session(url) if url.starts_with("tn3270:") => Choice::Advise(Advice::of_tn3270(url)),
        Way::Url(url) | Way::Session(url) => Choice::Follow {
            to: url.clone(),
            why: format!("{}{others}", printable(method.method.as_bytes())),
        },
        _ => Choice::Contents,
    })
}

/// In which turn a way is looked at.
fn rank(method: &AccessMethod, way: &Way) -> Option<u8> {
    match way {
        Way::Url(_) if method.method == "FTP" => Some(1),
        Way::Contents | Way::Url(_) => Some(0),
        Way::Session(_) => Some(2),
        _ => None,
    }
}

fn others(chosen: &AccessMethod, methods: &[AccessMethod]) -> String {
    let others = methods.iter().filter(|method| *method != chosen).map(|method| match method.way() {
        Way::Url(url) | Way::Session(url) => format!("{} {url}", method.method),
        _ => method.method.clone(),
    });
    let others: Vec<_> = others.collect();
    if others.is_empty() {
        String::new()
    } else {
        format!("; others: {}", printable(others.join(", ").as_bytes()))
    }
}

fn no_way(ways: &[(&AccessMethod, Way)]) -> Error {
    let names: Vec<_> = ways.iter().map(|(method, _)| method.method.as_str()).collect();
    let error = if names.is_empty() {
        Error::unsupported("the server tells no way to the object")
    } else {
        Error::unsupported(format!("no way to the object is known here: {}", names.join(", ")))
    };
    let local = ways.iter().find_map(|(_, way)| match way {
        Way::Local(path) => Some(printable(path)),
        _ => None,
    });
    match local {
        Some(path) => error.with_hint(format!("on the server's own machine it is the file {path}")),
        None => error,
    }
}
