//! Validates the form data in a URL (RFC 1738 §3.4.9).

use memchr::{memchr, memchr_iter, memmem};

use super::status::length;

/// Returns `true` if the bytes are exactly one data block (RFC 1738 §3.4.9): `+-1` up to its only line of one
/// dot, or `+N` and N bytes, without NUL and with CRLF as the only line end. Such data cannot contain another
/// request.
pub fn is_data_block(bytes: &[u8]) -> bool {
    let Some(end) = memmem::find(bytes, b"\r\n") else { return false };
    let (Some(head), Some(body)) = (bytes.get(..end), bytes.get(end + 2..)) else { return false };
    let is_whole = match head {
        b"+-1" => ends_with_its_only_dot(bytes),
        [b'+', digits @ ..] => length(digits).is_some_and(|length| u64::try_from(body.len()) == Ok(length)),
        _ => false,
    };
    is_whole && memchr(0, bytes).is_none() && has_whole_line_ends(bytes)
}

fn ends_with_its_only_dot(bytes: &[u8]) -> bool {
    const DOT: &[u8] = b"\r\n.\r\n";
    memmem::find(bytes, DOT).is_some_and(|at| at + DOT.len() == bytes.len())
}

fn has_whole_line_ends(bytes: &[u8]) -> bool {
    let whole = memmem::find_iter(bytes, b"\r\n").count();
    [b'\r', b'\n'].iter().all(|&half| memchr_iter(half, bytes).count() == whole)
}
