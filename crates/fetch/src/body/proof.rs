//! How it is known that a body is complete, and which terminator was missing.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::{Code, Error, Phase};

/// How it is known that a body is complete. [`Display`](fmt::Display) writes it as a clause, such as `complete by
/// Content-Length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "callers match all variants")]
pub enum Proof {
    /// The protocol has no proof, or its terminator was missing, and the server closed the connection. The text is
    /// the reason.
    Assumed(&'static str),
    /// The protocol proved the end, by the means in the text, such as a length or a terminator.
    Proven(&'static str),
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assumed(why) => write!(f, "assumed complete: {why}"),
            Self::Proven(how) => write!(f, "complete by {how}"),
        }
    }
}

/// Records whether the terminator of a response was missing at its end. The decoder sets the value and the body reads
/// it; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TerminatorCheck(Arc<OnceLock<&'static str>>);

impl TerminatorCheck {
    /// Records that `terminator` is missing.
    pub(crate) fn set_missing(&self, terminator: &'static str) {
        let _ = self.0.set(terminator);
    }

    /// Changes `proof` to assumed at the end of a body if the terminator is missing.
    ///
    /// # Errors
    /// `Code::Truncated` if the terminator is missing and `requires_proof` is `true`.
    pub(crate) fn apply(&self, requires_proof: bool, proof: &mut Proof) -> Result<(), Error> {
        let Some(terminator) = self.missing() else { return Ok(()) };
        if requires_proof {
            let detail = format!("the end of the data cannot be proven: {terminator} is missing");
            return Err(Error::new(Code::Truncated, Phase::Body, detail).as_permanent());
        }
        *proof = Proof::Assumed("its terminator is missing");
        Ok(())
    }

    /// Returns the name of the terminator if it is missing.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.0.get().copied()
    }
}
