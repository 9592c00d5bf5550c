//! What a body does when it breaks off: the engine's mender is asked for the rest.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;

use super::Body;
use crate::{Error, Meta, Resume};

/// What comes next of a body.
#[derive(Debug)]
pub(crate) enum Piece {
    /// The object begins anew, as another version that this describes: what came so far is void.
    Anew(Box<Meta>),
    /// The next octets.
    Octets(Bytes),
}

/// Asks for a body again that broke off. The engine has one.
pub(crate) trait Mend: Send {
    /// The body from where it was reached on, or from its beginning where that may be.
    fn mend(self: Box<Self>, error: Error, reached: Reached, may_restart: bool) -> MendFuture;
}

/// How far a body came.
pub(crate) struct Reached {
    /// Where in the object.
    pub(crate) offset: u64,
    /// The last octets before that.
    pub(crate) tail: Vec<u8>,
}

pub(crate) type MendFuture =
    Pin<Box<dyn Future<Output = (Box<dyn Mend>, Result<Continuation, Error>)> + Send>>;

/// How a body that broke off goes on.
pub(crate) struct Continuation {
    pub(crate) meta: Meta,
    pub(crate) body: Body,
    /// It does not go on: it begins anew.
    pub(crate) is_anew: bool,
    /// How often it was tried again so far.
    pub(crate) retries: u32,
}

/// What is done when a body breaks off.
#[derive(Default)]
pub(super) enum Mending {
    /// Nothing.
    #[default]
    None,
    /// The mender is asked; whether the taker can begin anew.
    Ready { mender: Box<dyn Mend>, may_restart: bool },
    /// It is being mended.
    Running { future: MendFuture, may_restart: bool },
}

/// The last octets of a body.
#[derive(Default)]
pub(super) struct Tail(Vec<u8>);

impl Tail {
    pub(super) fn remember(&mut self, chunk: &[u8]) {
        let few = chunk.len().min(Resume::TAIL);
        let surplus = (self.0.len() + few).saturating_sub(Resume::TAIL);
        self.0.drain(..surplus);
        self.0.extend_from_slice(&chunk[chunk.len() - few..]);
    }

    pub(super) fn octets(&self) -> Vec<u8> {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn the_last_octets_whatever_the_pieces() {
        let all: Vec<u8> = (0..=255).collect();
        for size in [1, 3, 63, 64, 65, 256] {
            let mut tail = Tail::default();
            all.chunks(size).for_each(|chunk| tail.remember(chunk));
            assert_eq!(tail.octets(), all[192..], "{size}");
        }
        let mut tail = Tail::default();
        tail.remember(b"few");
        assert_eq!(tail.octets(), b"few");
    }
}
