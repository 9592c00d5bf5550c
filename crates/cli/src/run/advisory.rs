//! What becomes of a URL that names no data object: it is told, handed on, or refused.

#[cfg(feature = "open")]
use fetch_url::Fact;
#[cfg(feature = "open")]
use fetch_url::url::Url;
use fetch_url::{Advice, Code, Error, Meta, Phase};

use crate::job::{Job, Output, Transfer, usage};

/// What becomes of it; the advice, where it is to be told.
pub(super) fn advised(
    advice: Advice,
    meta: &Meta,
    transfer: &Transfer,
    job: &Job,
) -> Result<Option<Advice>, Error> {
    if !matches!(transfer.output, Output::Stdout { .. }) {
        return Err(no_object());
    }
    if job.shape.fails_advisory {
        return Err(Error::new(Code::Unsupported, Phase::Deliver, "the URL names no data object")
            .with_hint(advice.text.lines().next().unwrap_or_default()));
    }
    if opens(meta, job) {
        return hand_on(&advice, meta).map(|()| None);
    }
    Ok(Some(advice))
}

/// Whether the desktop gets it: what the caller has named, and no stranger.
#[cfg(feature = "open")]
fn opens(meta: &Meta, job: &Job) -> bool {
    job.shape.opens && meta.hops == 0 && matches!(meta.url, Url::Mailto(_) | Url::Telnet(_))
}

#[cfg(not(feature = "open"))]
const fn opens(_: &Meta, _: &Job) -> bool {
    false
}

/// To store it is to misunderstand it.
pub(super) fn no_object() -> Error {
    usage("the URL names no data object: there is nothing to store")
}

/// The desktop's program gets the URL, without its password: others could read that among its arguments.
#[cfg(feature = "open")]
fn hand_on(advice: &Advice, meta: &Meta) -> Result<(), Error> {
    let words = advice.facts.iter().find_map(|(name, fact)| match fact {
        Fact::Words(words) if *name == "unsafe_fields" && !words.is_empty() => Some(words.join(", ")),
        _ => None,
    });
    if let Some(fields) = words {
        let detail = format!("the URL sets fields that only a person should: {fields}");
        return Err(Error::new(Code::Policy, Phase::Deliver, detail));
    }
    open::that(meta.url.without_password().to_string()).map_err(|error| {
        let detail = format!("no program of the desktop takes it: {error}");
        Error::new(Code::Unsupported, Phase::Deliver, detail)
    })
}

#[cfg(not(feature = "open"))]
const fn hand_on(_: &Advice, _: &Meta) -> Result<(), Error> {
    Ok(())
}
