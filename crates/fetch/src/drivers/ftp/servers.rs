//! What is remembered of servers between URLs: connections that wait for another errand, and who wants
//! one command at a time.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fetch_url_core::Host;
use fetch_url_proto::ftp::Errand;

use super::line::Line;
use super::plan::FtpPlan;
use crate::{Ctx, StartTls};

/// The most connections that wait, in all.
const MOST: usize = 64;
/// A connection that waited longer is not used again: some servers close it after a minute.
const FRESH: Duration = Duration::from_secs(30);
/// The most servers that are remembered.
const MOST_SERVERS: usize = 1024;

/// What must be the same for a connection to be used again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    host: String,
    port: u16,
    is_implicit: bool,
    start_tls: StartTls,
    must_be_public: bool,
    identity: u64,
}

/// A server, whoever asks.
type Name = (String, u16);

/// What is remembered.
#[derive(Default)]
pub(super) struct Servers {
    waiting: Mutex<HashMap<Key, Vec<(Line, Instant)>>>,
    one_by_one: Mutex<HashSet<Name>>,
    many_places: Mutex<HashSet<Name>>,
    hasher: RandomState,
}

impl Servers {
    /// The key for a plan; who asks is part of it, as a number that says nothing.
    pub(super) fn key(&self, plan: &FtpPlan, ctx: &Ctx) -> Key {
        let login = plan.login.as_ref().map(|login| (login.user(), login.expose()));
        let options = (plan.account(), &plan.options.anonymous_address);
        let road = (plan.options.active.is_some(), plan.options.no_epsv, plan.wording.by_pasv);
        Key {
            host: name(&plan.host),
            port: plan.port,
            is_implicit: plan.is_implicit,
            start_tls: ctx.dial.start_tls(),
            must_be_public: ctx.dial.must_be_public(),
            identity: self.hasher.hash_one((login, options, road, plan.wording.iac)),
        }
    }

    /// A connection that waits and from which the directory of `errand` can be reached: the nearest.
    pub(super) fn take(&self, key: &Key, errand: &Errand) -> Option<Line> {
        let mut waiting = locked(&self.waiting);
        let lines = waiting.get_mut(key)?;
        lines.retain(|(_, since)| since.elapsed() < FRESH);
        let nearest = (0..lines.len())
            .rev()
            .filter_map(|index| Some((lines[index].0.steps_to(errand)?, index)))
            .min_by_key(|(steps, _)| *steps);
        if let Some((_, index)) = nearest {
            return Some(lines.swap_remove(index).0);
        }
        // One that cannot get there gives its place to one that will be able to come back.
        if lines.pop().is_some() {
            remember(&self.many_places, (key.host.clone(), key.port));
        }
        None
    }

    /// A connection whose errand is done.
    pub(super) fn put(&self, key: Key, line: Line) {
        let mut waiting = locked(&self.waiting);
        if waiting.values().map(Vec::len).sum::<usize>() >= MOST {
            waiting.values_mut().for_each(|lines| lines.retain(|(_, since)| since.elapsed() < FRESH));
            waiting.retain(|_, lines| !lines.is_empty());
        }
        if waiting.values().map(Vec::len).sum::<usize>() < MOST {
            waiting.entry(key).or_default().push((line, Instant::now()));
        }
    }

    /// Whether URLs lead to several directories of this server.
    pub(super) fn has_many_places(&self, plan: &FtpPlan) -> bool {
        locked(&self.many_places).contains(&(name(&plan.host), plan.port))
    }

    /// Whether this server lost its way among several commands.
    pub(super) fn take_one_by_one(&self, host: &Host<'_>, port: u16) -> bool {
        locked(&self.one_by_one).contains(&(name(host), port))
    }

    /// It did.
    pub(super) fn asks_one_by_one(&self, host: &Host<'_>, port: u16) {
        remember(&self.one_by_one, (name(host), port));
    }
}

fn remember(set: &Mutex<HashSet<Name>>, name: Name) {
    let mut set = locked(set);
    if set.len() < MOST_SERVERS {
        set.insert(name);
    }
}

fn name(host: &Host<'_>) -> String {
    host.to_string().to_ascii_lowercase()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
