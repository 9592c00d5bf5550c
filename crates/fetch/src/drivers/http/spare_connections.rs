//! Connections that are being opened before they are needed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::connection::{Connection, IDLE_TIMEOUT};
use super::pool_key::HttpPoolKey;
use crate::Error;
use crate::started_future::StartedFuture;

/// Maximum number of connections to other servers in the table.
const MAX_SPARES: usize = 64;

/// A connection that is being opened.
pub(super) type Opening = StartedFuture<Result<Connection, Error>>;

/// The connections that are being opened, and since when.
#[derive(Default)]
pub(super) struct SpareTable(Mutex<HashMap<HttpPoolKey, Vec<(Opening, Instant)>>>);

impl SpareTable {
    /// Returns the number of connections for `key`.
    pub(super) fn count(&self, key: &HttpPoolKey) -> usize {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.get_mut(key).map_or(0, |spares| {
            spares.retain(is_fresh);
            spares.len()
        })
    }

    /// Waits for the connection that was begun first. Returns `None` if there is none.
    pub(super) async fn take(&self, key: &HttpPoolKey) -> Option<Result<Connection, Error>> {
        let spare = {
            let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let spares = table.get_mut(key)?;
            spares.retain(is_fresh);
            if spares.is_empty() {
                table.remove(key);
                return None;
            }
            spares.remove(0).0
        };
        Some(spare.output().await)
    }

    /// Adds connections that have been begun just now. Nobody may need those of other servers anymore: if there are too
    /// many, they are closed.
    pub(super) fn add(&self, key: &HttpPoolKey, spares: Vec<Opening>) {
        let since = Instant::now();
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count: usize = table.values().map(Vec::len).sum();
        if count + spares.len() > MAX_SPARES {
            table.retain(|other, _| other == key);
        }
        table.entry(key.clone()).or_default().extend(spares.into_iter().map(|spare| (spare, since)));
    }
}

fn is_fresh((_, since): &(Opening, Instant)) -> bool {
    since.elapsed() < IDLE_TIMEOUT
}
