//! How it is known that a body is complete, which terminator was missing, and what else was found in it.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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

/// Maximum number of different notes of a body: a server can send one with each part of an endless body.
const MAX_NOTES: usize = 20;

/// Records whether the terminator of a response was missing at its end, and the notes about its body. The decoder sets
/// the values and the body reads them; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct TerminatorCheck(Arc<Findings>);

#[derive(Debug, Default)]
struct Findings {
    missing: OnceLock<&'static str>,
    notes: Mutex<Vec<Cow<'static, str>>>,
}

impl TerminatorCheck {
    /// Records a note, unless the body has it or too many others already.
    pub(crate) fn add_note(&self, note: Cow<'static, str>) {
        let mut notes = self.0.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MAX_NOTES && !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Returns the notes.
    pub(crate) fn notes(&self) -> Vec<Cow<'static, str>> {
        self.0.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records that `terminator` is missing.
    pub(crate) fn set_missing(&self, terminator: &'static str) {
        let _ = self.0.missing.set(terminator);
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
        self.0.missing.get().copied()
    }
}
