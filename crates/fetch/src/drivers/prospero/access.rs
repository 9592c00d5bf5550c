//! Chooses the access method by which an object is retrieved.

use fetch_url_proto::prospero::{AccessMethod, ObjectMetadata, ResolvedAccess};
use fetch_url_proto::text::sanitise;

use super::plan::ProsperoPlan;
use crate::net::trace;
use crate::{Error, NotFetchable, RunContext};

/// How the object is retrieved.
pub(super) enum AccessChoice {
    /// Not retrieved: the object is an interactive session whose scheme has no driver, so advice is returned.
    Advice(NotFetchable),
    /// Over Prospero itself.
    Contents,
    /// As a directory: its links are listed.
    Links,
    /// By another URL.
    Redirect { url: String, why: String },
}

/// Returns the first access method that is supported and that the redirect policy allows.
///
/// Methods without a login come first, then FTP with a login, then interactive sessions. If the policy allows none, the
/// first supported method is returned, so that the engine reports why the redirect is refused. An object without access
/// methods that is not known to be a file is listed as a directory.
///
/// # Errors
/// `Code::Unsupported` if no access method is supported.
pub(super) fn choose_access(
    metadata: &ObjectMetadata,
    plan: &ProsperoPlan,
    ctx: &RunContext,
) -> Result<AccessChoice, Error> {
    let methods = metadata.methods(&plan.object_name());
    let has_unknown_kind = metadata.attribute("ACCESS-METHOD").is_none() && metadata.is_directory().is_none();
    if has_unknown_kind || metadata.is_directory() == Some(true) {
        return Ok(AccessChoice::Links);
    }
    let resolved_methods: Vec<_> = methods.iter().map(|method| (method, method.resolve())).collect();
    let is_allowed = |access: &ResolvedAccess| match access {
        ResolvedAccess::Contents => true,
        ResolvedAccess::Url(url) | ResolvedAccess::Session(url) => {
            ctx.redirect_policy.allows(&plan.url, url, &ctx.connector)
        }
        _ => false,
    };
    let with_preference = |wanted: u8| {
        resolved_methods.iter().filter(move |(method, access)| preference(method, access) == Some(wanted))
    };
    let mut by_preference = (0..=2).flat_map(with_preference);
    let chosen =
        by_preference.clone().find(|(_, access)| is_allowed(access)).or_else(|| by_preference.next());
    let Some((method, access)) = chosen else { return Err(no_access_error(&resolved_methods)) };
    let others = other_methods(method, &methods);
    trace::note(&format_args!("access method: {}{others}", method.method));
    Ok(match access {
        ResolvedAccess::Session(url) if url.starts_with("tn3270:") => {
            AccessChoice::Advice(NotFetchable::for_tn3270(url))
        }
        ResolvedAccess::Url(url) | ResolvedAccess::Session(url) => AccessChoice::Redirect {
            url: url.clone(),
            why: format!("{}{others}", sanitise(method.method.as_bytes())),
        },
        _ => AccessChoice::Contents,
    })
}

/// Returns 0 for methods without a login, 1 for FTP with a login, 2 for interactive sessions, `None` if unsupported.
fn preference(method: &AccessMethod, access: &ResolvedAccess) -> Option<u8> {
    match access {
        ResolvedAccess::Url(_) if method.method == "FTP" => Some(1),
        ResolvedAccess::Contents | ResolvedAccess::Url(_) => Some(0),
        ResolvedAccess::Session(_) => Some(2),
        _ => None,
    }
}

/// Returns `; others: …`, or nothing if there are no other methods.
fn other_methods(chosen: &AccessMethod, methods: &[AccessMethod]) -> String {
    let others = methods.iter().filter(|method| *method != chosen).map(|method| match method.resolve() {
        ResolvedAccess::Url(url) | ResolvedAccess::Session(url) => format!("{} {url}", method.method),
        _ => method.method.clone(),
    });
    let others: Vec<_> = others.collect();
    if others.is_empty() {
        String::new()
    } else {
        format!("; others: {}", sanitise(others.join(", ").as_bytes()))
    }
}

fn no_access_error(resolved_methods: &[(&AccessMethod, ResolvedAccess)]) -> Error {
    let names: Vec<_> = resolved_methods.iter().map(|(method, _)| method.method.as_str()).collect();
    let error = if names.is_empty() {
        Error::unsupported("the server offers no access method for the object")
    } else {
        Error::unsupported(format!("no supported access method among: {}", names.join(", ")))
    };
    let local = resolved_methods.iter().find_map(|(_, access)| match access {
        ResolvedAccess::Local(path) => Some(sanitise(path)),
        _ => None,
    });
    match local {
        Some(path) => error.with_hint(format!("on the server, the object is the local file {path}")),
        None => error,
    }
}
