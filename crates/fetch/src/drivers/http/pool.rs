//! Connections that wait for another request: to the same server, for the same identity, under the
//! same rules.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::line::Line;
use super::plan::HttpPlan;
use crate::Ctx;

/// The most that wait, in all.
const MOST: usize = 256;
/// A connection that waited longer than this is not used again: few servers keep it open.
const FRESH: Duration = Duration::from_secs(60);

/// What must be the same for a connection to be used again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    is_tls: bool,
    takes_http2: bool,
    host: String,
    port: u16,
    must_be_public: bool,
    identity: u64,
}

/// The connections.
#[derive(Default)]
pub(super) struct Pool {
    waiting: Mutex<HashMap<Key, Vec<(Line, Instant)>>>,
    hasher: RandomState,
}

/// A connection that is in use, and where it goes when it is free.
pub(super) struct Lease {
    pub(super) line: Line,
    key: Key,
    pool: Arc<Pool>,
}

impl Pool {
    /// The key for a plan; who asks is part of it, as a number that says nothing.
    pub(super) fn key(&self, plan: &HttpPlan, ctx: &Ctx) -> Key {
        let login = plan.login.as_ref().map(|login| (login.user(), login.expose()));
        let identity = self.hasher.hash_one((login, plan.fields.get(http::header::AUTHORIZATION)));
        Key {
            is_tls: plan.is_tls,
            takes_http2: plan.takes_http2(),
            host: plan.host.to_string().to_ascii_lowercase(),
            port: plan.port,
            must_be_public: ctx.dial.must_be_public(),
            identity,
        }
    }

    /// The connection that was free last.
    pub(super) fn take(self: &Arc<Self>, key: &Key) -> Option<Lease> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = waiting.get_mut(key)?;
        lines.retain(|(_, since)| since.elapsed() < FRESH);
        let (line, since) = lines.pop()?;
        if let Some(shared) = line.shared() {
            lines.push((shared, since));
        }
        Some(Lease { line, key: key.clone(), pool: self.clone() })
    }

    /// A new connection; one that can be shared waits for others at once.
    pub(super) fn lease(self: &Arc<Self>, line: Line, key: Key) -> Lease {
        if let Some(shared) = line.shared() {
            self.put(key.clone(), shared);
        }
        Lease { line, key, pool: self.clone() }
    }

    /// Forgets the connections of a key: one of them was closed.
    pub(super) fn forget(&self, key: &Key) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    fn put(&self, key: Key, line: Line) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.values().map(Vec::len).sum::<usize>() >= MOST {
            make_room(&mut waiting);
        }
        waiting.entry(key).or_default().push((line, Instant::now()));
    }
}

/// Those that waited too long go; if there are none, the one that waited longest.
fn make_room(waiting: &mut HashMap<Key, Vec<(Line, Instant)>>) {
    for lines in waiting.values_mut() {
        lines.retain(|(_, since)| since.elapsed() < FRESH);
    }
    waiting.retain(|_, lines| !lines.is_empty());
    if waiting.values().map(Vec::len).sum::<usize>() < MOST {
        return;
    }
    let oldest = waiting.values_mut().min_by_key(|lines| lines.first().map(|(_, since)| *since));
    if let Some(lines) = oldest {
        lines.remove(0);
    }
}

impl Lease {
    /// The answer has come to its end: another request may go out.
    pub(super) fn give_back(self) {
        // A shared one waits there already.
        if let Line::One { .. } = self.line {
            self.pool.put(self.key, self.line);
        }
    }
}
