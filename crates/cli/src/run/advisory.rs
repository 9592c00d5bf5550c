//! What becomes of a URL that names no data object: it is told, handed on, or refused.

use fetch_url::{Advice, Code, Error, Meta, Phase};

use crate::job::{Job, Output, Transfer, usage};
#[cfg(feature = "open")]
use fetch_url::url::Url;

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
    #[cfg(feature = "open")]
    if job.shape.opens && matches!(meta.url, Url::Mailto(_) | Url::Telnet(_)) {
        return hand_on(&meta.url).map(|()| None);
    }
    let _ = meta;
    Ok(Some(advice))
}

/// To store it is to misunderstand it.
pub(super) fn no_object() -> Error {
    usage("the URL names no data object: there is nothing to store")
}

/// The desktop's program gets the URL, without its password: others could read that among its arguments.
#[cfg(feature = "open")]
fn hand_on(url: &Url<'_>) -> Result<(), Error> {
    let text = url.without_password().to_string();
    open::that(&text).map_err(|error| {
        let detail = format!("no program of the desktop takes it: {error}");
        Error::new(Code::Unsupported, Phase::Deliver, detail)
    })
}
