//! The checksum and size that a saved object must have.

use super::digest::{Digest, DigestForm};
use crate::{Checksum, Code, Error, Meta, Phase};

/// Finds the checksum of the object in the metadata of its response.
pub(super) type FindChecksum = fn(&Meta) -> Option<Checksum>;

/// The digest, checksum and size of an object, which are compared when it is complete.
pub(super) struct ObjectCheck {
    /// The form of the digest that the caller wants to know, if no checksum is required.
    pub(super) requested: Option<DigestForm>,
    /// The checksum that the caller requires.
    pub(super) required: Option<Checksum>,
    /// Finds the checksum that the response states.
    pub(super) find: Option<FindChecksum>,
    /// The checksum that the response states.
    stated: Option<Checksum>,
    /// The required size in bytes.
    pub(super) size: Option<u64>,
}

impl ObjectCheck {
    pub(super) const fn new() -> Self {
        Self { requested: None, required: None, find: None, stated: None, size: None }
    }

    /// Reads the checksum that the response states; that of an earlier response no longer holds.
    pub(super) fn read_stated_checksum(&mut self, meta: &Meta) {
        self.stated = self.find.and_then(|find| find(meta));
    }

    /// Returns the checksum that the object must have.
    fn expected(&self) -> Option<&Checksum> {
        self.required.as_ref().or(self.stated.as_ref())
    }

    /// Returns an empty digest of the required form, or `None` if none is needed.
    pub(super) fn new_digest(&self) -> Option<Box<Digest>> {
        self.form().map(|form| Box::new(Digest::of_form(form)))
    }

    fn form(&self) -> Option<DigestForm> {
        self.expected().map(Checksum::form).or(self.requested)
    }

    /// Compares the digest of the object in hexadecimal, or without a checksum its size, with the required one. Returns the
    /// digest if it is that of the whole object.
    pub(super) fn check(&self, digest: Option<String>, size: Option<u64>) -> Result<Option<String>, Error> {
        match (self.expected(), &digest) {
            (Some(expected), Some(digest)) => expected.check(digest)?,
            _ => self.check_size(size)?,
        }
        Ok(digest.filter(|_| self.form().is_some_and(DigestForm::is_whole)))
    }

    fn check_size(&self, size: Option<u64>) -> Result<(), Error> {
        match (size, self.size) {
            (Some(actual), Some(required)) if actual != required => {
                let detail = format!("the object has {actual} bytes, not {required} as stated");
                Err(Error::new(Code::PeerMisbehaved, Phase::Deliver, detail))
            }
            _ => Ok(()),
        }
    }
}
