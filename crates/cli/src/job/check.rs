//! What the octets of an object must come to, as the flags say.

use fetch_url::{Checksum, Error};

use super::usage;
use crate::flags::{Check, ContinueAt, Fetch};

/// What the octets of an object must come to.
#[derive(Clone, Debug)]
pub(crate) struct Checking {
    pub(crate) checksum: Option<Checksum>,
    pub(crate) checksum_from: Option<String>,
}

impl Checking {
    pub(super) fn of(flags: &Fetch) -> Result<Self, Error> {
        let Check { checksum, checksum_from } = &flags.check;
        let is_asked = checksum.is_some() || checksum_from.is_some();
        if checksum.is_some() && flags.urls.len() > 1 {
            return Err(
                usage("--checksum is of one object").with_hint("--checksum-from finds those of several")
            );
        }
        if is_asked
            && (flags.head
                || flags.include
                || flags.range.is_some()
                || matches!(flags.continue_at, Some(ContinueAt::Offset(_))))
        {
            return Err(usage("a checksum is of a whole object: without -I, -i, -r and -C OFFSET"));
        }
        Ok(Self { checksum: checksum.clone(), checksum_from: checksum_from.clone() })
    }
}
