//! State that is kept between URLs: idle connections, and logins that a server has rejected.

use super::connection::NntpConnection;
use super::plan::NntpPlan;
use crate::net::idle_pool::{IdlePool, PoolKey};
use crate::net::login_set::LoginSet;
use crate::net::trace;
use crate::{Credential, RunContext};

/// State that is kept between URLs.
#[derive(Default)]
pub(super) struct ServerCache {
    idle: IdlePool<NntpConnection>,
    rejected_logins: LoginSet,
}

impl ServerCache {
    /// Returns the key of the connections that `plan` can use with this login.
    fn pool_key(&self, plan: &NntpPlan, login: Option<&Credential>, ctx: &RunContext) -> PoolKey {
        let login = login.map(|login| (login.user(), login.expose_password()));
        let identity = (login, plan.options.insecure_auth);
        self.idle.key(&plan.host, plan.port, plan.is_tls, &ctx.connector, identity)
    }

    /// Returns an idle connection: one on which exactly the requests of `plan` are already pending, or one without
    /// pending requests.
    pub(super) fn take_idle(&self, plan: &NntpPlan, ctx: &RunContext) -> Option<NntpConnection> {
        let (key, request) = (self.pool_key(plan, plan.login.as_ref(), ctx), plan.first_request());
        let rank = |connection: &NntpConnection| {
            let wanted = std::iter::once(request.clone()).chain(plan.upcoming_requests(0));
            let queued = connection.session().pending_requests();
            match queued.len() {
                0 => Some(1),
                count => queued.cloned().eq(wanted.take(count)).then_some(0),
            }
        };
        while let Some(mut connection) = self.idle.take(&key, rank) {
            if connection.reuse(ctx.connector.connection_info()) {
                ctx.connector.record_reuse(&plan.host, connection.endpoints());
                return Some(connection);
            }
            trace::note(&"unexpected data on an idle connection: it is closed");
        }
        // The remaining connections have pending requests for articles that are no longer wanted.
        while self.idle.close_one(&key) {}
        None
    }

    /// Keeps the connection for the next URL, if the session accepts another request.
    pub(super) fn keep(&self, connection: NntpConnection, plan: &NntpPlan, ctx: &RunContext) {
        if connection.session().is_open() {
            let key = self.pool_key(plan, connection.login(), ctx);
            let runtime = connection.runtime();
            self.idle.put(key, connection, runtime);
        }
    }

    /// Stores that the server has rejected the login of the plan.
    pub(super) fn mark_login_rejected(&self, plan: &NntpPlan, ctx: &RunContext) {
        self.rejected_logins.insert(&self.pool_key(plan, plan.login.as_ref(), ctx));
    }

    /// Returns `true` if the server has rejected the login of the plan: another attempt could lock the account.
    pub(super) fn is_login_rejected(&self, plan: &NntpPlan, ctx: &RunContext) -> bool {
        self.rejected_logins.contains(&self.pool_key(plan, plan.login.as_ref(), ctx))
    }
}
