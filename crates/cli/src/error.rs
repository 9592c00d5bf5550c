//! Errors of the command line itself: wrong options, and URLs that do not name a file.

use fetch_url::{Code, Error, Phase};

/// Returns an error for wrong options or arguments: [`Code::Usage`], exit status 2.
pub(crate) fn usage_error(detail: impl Into<String>) -> Error {
    Error::new(Code::Usage, Phase::Plan, detail)
}

/// Returns the error for `-o` or `-O` with a URL that does not name a data object, such as `telnet:`.
pub(crate) fn no_object_error() -> Error {
    usage_error("the URL does not name a data object, so there is nothing to store")
}
