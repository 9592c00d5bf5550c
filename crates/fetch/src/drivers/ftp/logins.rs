//! The logins of this run: which ones a server has accepted, and which connections are logging in.
//!
//! Most servers that limit the connections of a user refuse further logins with the reply to a wrong password, and some
//! send this reply (530) as the greeting. A refused login that the same server accepts on another connection at the
//! same time shows that the password is right.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use crate::net::idle_pool::PoolKey;
use crate::net::login_set::LoginSet;
use crate::{Deadline, Phase};

/// Maximum time that a refused login waits for the replies to those of other connections.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The accepted logins, and those that are not decided yet.
#[derive(Default)]
pub(super) struct Logins {
    accepted: LoginSet,
    /// The logins that are not accepted or refused yet.
    pending: Mutex<HashMap<PoolKey, Vec<Weak<()>>>>,
    /// Notified when a login is accepted or ends.
    changed: Notify,
}

/// The login of one connection. It ends on drop.
pub(super) struct LoginAttempt {
    logins: Arc<Logins>,
    key: PoolKey,
    /// Set until the login ends.
    pending: Option<Arc<()>>,
}

impl LoginAttempt {
    /// Records that a connection is being opened on which a login will be sent. The server may accept this connection
    /// and refuse the next one before either is noticed here.
    pub(super) fn begin(logins: Arc<Logins>, key: PoolKey) -> Self {
        let own = Arc::new(());
        {
            let mut pending = logins.pending.lock().unwrap_or_else(PoisonError::into_inner);
            pending.retain(|_, logins| {
                logins.retain(is_pending);
                !logins.is_empty()
            });
            pending.entry(key.clone()).or_default().push(Arc::downgrade(&own));
        }
        Self { logins, key, pending: Some(own) }
    }

    /// Records that the server has accepted the login.
    pub(super) fn accept(self) {
        self.logins.accepted.insert(&self.key);
    }

    /// Records that the server has refused the login. Returns `true` if it has accepted the same login on another
    /// connection. If others are logging in, waits for their replies, for 10 seconds at most.
    pub(super) async fn await_other_logins(mut self, deadline: &Deadline) -> bool {
        self.end();
        let outcome =
            deadline.bound_probe(MAX_WAIT, Phase::Reply, async { Ok(self.is_accepted_elsewhere().await) });
        matches!(outcome.await, Ok(Some(true)))
    }

    /// Waits until one of the logins that are pending now is accepted, or all have ended. Returns `true` if the server
    /// has accepted the login on any connection. Logins that begin later are not awaited: if this login was one too
    /// many, the server had accepted another one before.
    async fn is_accepted_elsewhere(&self) -> bool {
        let others = {
            let pending = self.logins.pending.lock().unwrap_or_else(PoisonError::into_inner);
            pending.get(&self.key).cloned().unwrap_or_default()
        };
        loop {
            let mut changed = pin!(self.logins.changed.notified());
            // A change between the checks and the wait must not be missed.
            changed.as_mut().enable();
            let has_pending = others.iter().any(is_pending);
            if self.logins.accepted.contains(&self.key) {
                return true;
            }
            if !has_pending {
                return false;
            }
            changed.await;
        }
    }

    fn end(&mut self) {
        if self.pending.take().is_some() {
            self.logins.changed.notify_waiters();
        }
    }
}

impl Drop for LoginAttempt {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns `true` if the login has not ended.
fn is_pending(login: &Weak<()>) -> bool {
    login.strong_count() > 0
}
