//! A filled form that a URL carries (RFC 1738 §3.4.9).

use memchr::{memchr, memchr_iter, memmem};

use super::status::length;

/// Whether `octets` are one block of data and nothing else: `+-1` up to its only line of one dot,
/// or `+N` and N octets; without NUL, and with no line end but CR LF. Then nothing in them can be
/// taken for another request.
pub fn is_data_block(octets: &[u8]) -> bool {
    let Some(end) = memmem::find(octets, b"\r\n") else { return false };
    let (Some(head), Some(body)) = (octets.get(..end), octets.get(end + 2..)) else { return false };
    let is_whole = match head {
        b"+-1" => ends_with_its_only_dot(octets),
        [b'+', digits @ ..] => length(digits).is_some_and(|length| u64::try_from(body.len()) == Ok(length)),
        _ => false,
    };
    is_whole && memchr(0, octets).is_none() && has_whole_line_ends(octets)
}

fn ends_with_its_only_dot(octets: &[u8]) -> bool {
    const DOT: &[u8] = b"\r\n.\r\n";
    memmem::find(octets, DOT).is_some_and(|at| at + DOT.len() == octets.len())
}

fn has_whole_line_ends(octets: &[u8]) -> bool {
    let whole = memmem::find_iter(octets, b"\r\n").count();
    [b'\r', b'\n'].iter().all(|&half| memchr_iter(half, octets).count() == whole)
}
