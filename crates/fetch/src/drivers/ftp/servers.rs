//! What is remembered of servers between URLs: connections that wait for another errand, and who wants
//! one command at a time.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fetch_url_core::Host;
use fetch_url_proto::ftp::Errand;

use super::line::Line;
use super::plan::FtpPlan;
use crate::Ctx;
use crate::engine::waiting::{Key, Waiting, server_name};

/// The most servers that are remembered.
const MOST_SERVERS: usize = 1024;

/// A server, whoever asks.
type Name = (String, u16);

/// What is remembered.
#[derive(Default)]
pub(super) struct Servers {
    waiting: Waiting<Line>,
    one_by_one: Mutex<HashSet<Name>>,
    many_places: Mutex<HashSet<Name>>,
}

impl Servers {
    /// The key for a plan.
    pub(super) fn key(&self, plan: &FtpPlan, ctx: &Ctx) -> Key {
        let login = plan.login.as_ref().map(|login| (login.user(), login.expose()));
        let options = (plan.account(), &plan.options.anonymous_address);
        let road = (plan.options.active.is_some(), plan.options.no_epsv, plan.wording.by_pasv);
        let asks = (login, options, road, plan.wording.iac);
        self.waiting.key(&plan.host, plan.port, plan.is_implicit, &ctx.dial, asks)
    }

    /// A connection that waits and from which the directory of `errand` can be reached: the nearest.
    pub(super) fn take(&self, key: &Key, errand: &Errand) -> Option<Line> {
        let nearest = self.waiting.take(key, |line| line.steps_to(errand));
        // One that cannot get there gives its place to one that will be able to come back.
        if nearest.is_none() && self.waiting.drop_one(key) {
            remember(&self.many_places, (key.host.clone(), key.port));
        }
        nearest
    }

    /// A connection whose errand is done.
    pub(super) fn put(&self, key: Key, line: Line) {
        self.waiting.put(key, line);
    }

    /// Whether URLs lead to several directories of this server.
    pub(super) fn has_many_places(&self, plan: &FtpPlan) -> bool {
        locked(&self.many_places).contains(&(server_name(&plan.host), plan.port))
    }

    /// Whether this server lost its way among several commands.
    pub(super) fn take_one_by_one(&self, host: &Host<'_>, port: u16) -> bool {
        locked(&self.one_by_one).contains(&(server_name(host), port))
    }

    /// It did.
    pub(super) fn asks_one_by_one(&self, host: &Host<'_>, port: u16) {
        remember(&self.one_by_one, (server_name(host), port));
    }
}

fn remember(set: &Mutex<HashSet<Name>>, name: Name) {
    let mut set = locked(set);
    if set.len() < MOST_SERVERS {
        set.insert(name);
    }
}

fn locked(set: &Mutex<HashSet<Name>>) -> MutexGuard<'_, HashSet<Name>> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}
