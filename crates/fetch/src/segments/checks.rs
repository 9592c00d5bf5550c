//! Checks that decide whether an object is fetched in segments or over one connection.

use fetch_url_core::SchemeFamily;

use crate::body::size_limit_error;
use crate::{Code, Error, Meta};

/// Returns `false` if an HTTP server does not say that it supports ranges (RFC 9110 §14.3): it could send the whole
/// object for each segment.
pub(super) fn announces_ranges(meta: &Meta) -> bool {
    let is_announced = |(name, value): &(String, Vec<u8>)| {
        name.eq_ignore_ascii_case("accept-ranges") && value.eq_ignore_ascii_case(b"bytes")
    };
    meta.url.scheme().family != SchemeFamily::Http || meta.fields.iter().any(is_announced)
}

/// Returns `true` for an error of a request for a range that a request without one need not have: some servers refuse
/// ranges with 400, 403 or 501.
pub(super) fn refuses_ranges(error: &Error) -> bool {
    matches!(error.code(), Code::RangeRefused | Code::Denied | Code::HttpError) && !error.is_transient()
}

/// Fails if the object of `meta` has more bytes than `max_size`, before any of them is requested.
pub(super) fn check_size_limit(meta: &Meta, max_size: Option<u64>) -> Result<(), Error> {
    match (meta.head.size, max_size) {
        (Some(size), Some(max)) if size > max => Err(size_limit_error(max).with_url(&meta.url)),
        _ => Ok(()),
    }
}

/// Returns `true` if the protocol can return a byte range of an object whose size it reports.
pub(super) const fn supports_ranges(family: SchemeFamily) -> bool {
    use SchemeFamily as F;
    match family {
        F::Gopher | F::News | F::Nntp | F::Wais => false,
        // The drivers of the other schemes report an error if they do not support ranges.
        F::File | F::Ftp | F::Http | F::Mailto | F::Prospero | F::Telnet | F::Other => true,
    }
}
