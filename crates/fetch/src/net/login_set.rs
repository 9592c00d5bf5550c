//! Logins that servers have accepted or rejected in this run.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::idle_pool::PoolKey;

/// Maximum number of logins that are stored; further logins are not stored.
const MAX_LOGINS: usize = 1024;

/// A set of logins, each with its server.
#[derive(Default)]
pub(crate) struct LoginSet(Mutex<HashSet<PoolKey>>);

impl LoginSet {
    /// Adds the login of the connections with this key.
    pub(crate) fn insert(&self, key: &PoolKey) {
        let mut keys = self.keys();
        if keys.len() < MAX_LOGINS && !keys.contains(key) {
            keys.insert(key.clone());
        }
    }

    pub(crate) fn contains(&self, key: &PoolKey) -> bool {
        self.keys().contains(key)
    }

    fn keys(&self) -> MutexGuard<'_, HashSet<PoolKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
