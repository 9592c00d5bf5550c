//! Connections that wait for another errand, for protocols that are told who asks: FTP, NNTP.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fetch_url_core::Host;

use crate::{Dial, StartTls};

/// The most connections that wait, in all.
const MOST: usize = 64;
/// A connection that waited longer is not used again: some servers close it after a minute.
const FRESH: Duration = Duration::from_secs(30);

/// What must be the same for a connection to be used again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) host: String,
    pub(crate) port: u16,
    is_tls: bool,
    start_tls: StartTls,
    must_be_public: bool,
    identity: u64,
}

/// The connections.
pub(crate) struct Waiting<L> {
    lines: Mutex<HashMap<Key, Vec<(L, Instant)>>>,
    hasher: RandomState,
}

impl<L> Default for Waiting<L> {
    fn default() -> Self {
        Self { lines: Mutex::default(), hasher: RandomState::new() }
    }
}

impl<L> Waiting<L> {
    /// The key of a server; who asks, and how, is part of it, as a number that says nothing.
    pub(crate) fn key(&self, host: &Host<'_>, port: u16, is_tls: bool, dial: &Dial, asks: impl Hash) -> Key {
        Key {
            host: server_name(host),
            port,
            is_tls,
            start_tls: dial.start_tls(),
            must_be_public: dial.must_be_public(),
            identity: self.hasher.hash_one(asks),
        }
    }

    /// A connection that waits: the youngest of those of the lowest rank; those without a rank are left.
    pub(crate) fn take(&self, key: &Key, rank: impl Fn(&L) -> Option<usize>) -> Option<L> {
        let mut waiting = self.locked();
        let lines = waiting.get_mut(key)?;
        lines.retain(|(_, since)| since.elapsed() < FRESH);
        let best = (0..lines.len())
            .rev()
            .filter_map(|index| Some((rank(&lines[index].0)?, index)))
            .min_by_key(|(rank, _)| *rank);
        best.map(|(_, index)| lines.swap_remove(index).0)
    }

    /// Gives one up that waits; whether there was one.
    pub(crate) fn drop_one(&self, key: &Key) -> bool {
        self.locked().get_mut(key).and_then(Vec::pop).is_some()
    }

    /// A connection whose errand is done.
    pub(crate) fn put(&self, key: Key, line: L) {
        let mut waiting = self.locked();
        if waiting.values().map(Vec::len).sum::<usize>() >= MOST {
            waiting.values_mut().for_each(|lines| lines.retain(|(_, since)| since.elapsed() < FRESH));
            waiting.retain(|_, lines| !lines.is_empty());
        }
        if waiting.values().map(Vec::len).sum::<usize>() < MOST {
            waiting.entry(key).or_default().push((line, Instant::now()));
        }
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<Key, Vec<(L, Instant)>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a server for comparing.
pub(crate) fn server_name(host: &Host<'_>) -> String {
    host.to_string().to_ascii_lowercase()
}
