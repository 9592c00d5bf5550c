//! How a body is known to be whole, and what is missing where it is not.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::{Code, Error, Phase};

/// How we know that a body is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "it is known or it is not")]
pub enum Proof {
    /// The protocol cannot say; the peer ended where it ended.
    Assumed(&'static str),
    /// The protocol itself said so, by this means.
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

/// Told by whoever reads an answer, when its end has come; clones tell the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndMark(Arc<OnceLock<&'static str>>);

impl EndMark {
    /// `mark` is missing.
    pub(crate) fn is_missing(&self, mark: &'static str) {
        let _ = self.0.set(mark);
    }

    /// At the end: what is missing leaves the proof an assumption.
    ///
    /// # Errors
    /// `truncated`, where that is not enough.
    pub(crate) fn check(&self, requires_proof: bool, proof: &mut Proof) -> Result<(), Error> {
        let Some(mark) = self.missing() else { return Ok(()) };
        if requires_proof {
            let detail = format!("its end cannot be proven: {mark} is missing");
            return Err(Error::new(Code::Truncated, Phase::Body, detail).lasting());
        }
        *proof = Proof::Assumed("what should stand at its end is missing");
        Ok(())
    }

    /// What is missing.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.0.get().copied()
    }
}
