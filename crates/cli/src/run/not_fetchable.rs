//! URLs without a data object (`telnet:`, `mailto:`): prints advice, opens them on the desktop, or fails.

#[cfg(feature = "open")]
use fetch_url::advice::AdviceValue;
use fetch_url::advice::NotFetchable;
#[cfg(feature = "open")]
use fetch_url::url::Url;
use fetch_url::{Code, Error, Meta, Phase};

use super::context::Run;
use crate::error::no_object_error;
use crate::job::{Output, Transfer};

/// Fails if advice is no valid result of `transfer`: it would be stored as a file, or `--fail-advisory` is set.
pub(super) fn check_advice(advice: &NotFetchable, transfer: &Transfer, run: &Run) -> Result<(), Error> {
    if !matches!(transfer.output, Output::Stdout { .. }) {
        return Err(no_object_error());
    }
    if run.options.fails_advisory {
        return Err(Error::new(Code::Unsupported, Phase::Deliver, "the URL does not name a data object")
            .with_hint(advice.text.lines().next().unwrap_or_default()));
    }
    Ok(())
}

/// Returns the advice to print, or `None` if the desktop has opened the URL.
pub(super) fn advice_to_print(
    advice: NotFetchable,
    meta: &Meta,
    transfer: &Transfer,
    run: &Run,
) -> Result<Option<NotFetchable>, Error> {
    check_advice(&advice, transfer, run)?;
    if must_open(meta, run) {
        return open_on_desktop(&advice, meta).map(|()| None);
    }
    Ok(Some(advice))
}

/// Returns `true` if `--open` applies: only for URLs that the user gave, not after a redirect.
#[cfg(feature = "open")]
fn must_open(meta: &Meta, run: &Run) -> bool {
    run.options.opens_on_desktop && meta.redirects == 0 && matches!(meta.url, Url::Mailto(_) | Url::Telnet(_))
}

#[cfg(not(feature = "open"))]
const fn must_open(_: &Meta, _: &Run) -> bool {
    false
}

/// Opens the URL on the desktop, without its password: other users can read the arguments of processes.
#[cfg(feature = "open")]
fn open_on_desktop(advice: &NotFetchable, meta: &Meta) -> Result<(), Error> {
    let words = advice.values.iter().find_map(|(name, fact)| match fact {
        AdviceValue::Words(words) if *name == "unsafe_fields" && !words.is_empty() => Some(words.join(", ")),
        _ => None,
    });
    if let Some(fields) = words {
        let detail = format!("the URL sets header fields that only the user should set: {fields}");
        return Err(Error::new(Code::Policy, Phase::Deliver, detail));
    }
    open::that(meta.url.without_password().to_string()).map_err(|error| {
        let detail = format!("no desktop program could open it: {error}");
        Error::new(Code::Unsupported, Phase::Deliver, detail)
    })
}

#[cfg(not(feature = "open"))]
const fn open_on_desktop(_: &NotFetchable, _: &Meta) -> Result<(), Error> {
    Ok(())
}
