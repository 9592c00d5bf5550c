//! What was met on the way to a server, for reports: when each step was done, and which addresses
//! the two ends had.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The facts of one attempt; clones look at the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contact(Arc<Mutex<Facts>>);

/// The addresses at the two ends of a connection: the server's, ours.
pub(crate) type Ends = (Option<SocketAddr>, Option<SocketAddr>);

/// When each step was done, and between which addresses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) resolved: Option<Instant>,
    pub(crate) connected: Option<Instant>,
    pub(crate) secured: Option<Instant>,
    pub(crate) sent: Option<Instant>,
    pub(crate) replied: Option<Instant>,
    /// The last octets arrived.
    pub(crate) heard: Option<Instant>,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) local: Option<SocketAddr>,
    /// How many connections were opened.
    pub(crate) opened: u32,
}

impl Contact {
    /// Writes facts down.
    pub(crate) fn note(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The facts so far.
    pub(crate) fn facts(&self) -> Facts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
