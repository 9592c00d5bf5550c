//! What is remembered of servers between URLs: connections that wait for another errand, and logins that were
//! refused.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::line::Line;
use super::plan::NntpPlan;
use crate::engine::waiting::{Key, Waiting};
use crate::{Credential, Ctx};

/// What is remembered.
#[derive(Default)]
pub(super) struct Servers {
    pub(super) waiting: Waiting<Line>,
    refused: Mutex<HashSet<Key>>,
}

impl Servers {
    /// The key of the connections that `plan` can use when `login` asks.
    pub(super) fn key(&self, plan: &NntpPlan, login: Option<&Credential>, ctx: &Ctx) -> Key {
        let login = login.map(|login| (login.user(), login.expose()));
        let asks = (login, plan.options.clear_login);
        self.waiting.key(&plan.host, plan.port, plan.is_tls, &ctx.dial, asks)
    }

    /// This server refuses who asks.
    pub(super) fn refuses(&self, key: Key) {
        self.locked().insert(key);
    }

    /// Whether it has done so: once more may lock the account.
    pub(super) fn has_refused(&self, key: &Key) -> bool {
        self.locked().contains(key)
    }

    fn locked(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
