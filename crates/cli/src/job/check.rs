//! The checksum options.

use fetch_url::{Checksum, Error};

use crate::error::usage_error;
use crate::flags::{Check, ContinueAt, Fetch};

/// The required checksum, or the list that has it.
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
            return Err(usage_error("--checksum is of one object")
                .with_hint("--checksum-from finds those of several"));
        }
        if is_asked
            && (flags.head
                || flags.include
                || flags.range.is_some()
                || matches!(flags.continue_at, Some(ContinueAt::Offset(_))))
        {
            return Err(usage_error("a checksum is of a whole object: without -I, -i, -r and -C OFFSET"));
        }
        Ok(Self { checksum: checksum.clone(), checksum_from: checksum_from.clone() })
    }
}
