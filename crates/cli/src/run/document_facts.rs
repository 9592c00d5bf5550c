//! Compares an object with the size and checksum that a Metalink document or the header of the response states.

use fetch_url::{Checksum, Code, Error, Meta, Phase, Response, http};

use super::context::Run;
use crate::job::Transfer;

/// Checks the size of the object of `response`, and returns the checksum that it must have.
pub(super) fn check(
    transfer: &Transfer,
    response: &Response,
    expected: Option<Checksum>,
    run: &Run,
) -> Result<Option<Checksum>, Error> {
    check_size(transfer, &response.meta)?;
    Ok(expected.or_else(|| digest_to_check(&response.meta, run)))
}

/// Fails if the object has another size than the document states that named its URL.
pub(super) fn check_size(transfer: &Transfer, meta: &Meta) -> Result<(), Error> {
    match (transfer.size, meta.head.size) {
        (Some(stated), Some(size)) if stated != size => {
            let detail = format!("the object has {size} bytes, not {stated} as the metalink states");
            Err(Error::new(Code::PeerMisbehaved, Phase::Reply, detail).with_url(&meta.url))
        }
        _ => Ok(()),
    }
}

/// Returns the digest of a whole object that the server states, if it is to be checked.
pub(super) fn digest_to_check(meta: &Meta, run: &Run) -> Option<Checksum> {
    let is_whole = run.options.range.is_none() && !run.options.include;
    if run.options.uses_duplicates && is_whole { http::digest(meta) } else { None }
}
