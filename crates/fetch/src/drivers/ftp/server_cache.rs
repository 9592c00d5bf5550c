//! Idle control connections, kept open between URLs, and known properties of servers.

use std::hash::Hash;
use std::sync::Arc;

use fetch_url_proto::ftp::{FtpRequest, SessionError};
use tokio::runtime::{Handle, Id};

use super::connection::Connection;
use super::driver_error::DriverError;
use super::known_servers::KnownServers;
use super::logins::{LoginAttempt, Logins};
use super::plan::FtpPlan;
use crate::net::idle_pool::{IdlePool, PoolKey};
use crate::{Error, RunContext};

/// The state that the FTP driver keeps between URLs.
#[derive(Default)]
pub(super) struct ServerCache {
    idle: IdlePool<Connection>,
    pub(super) known: KnownServers,
    logins: Arc<Logins>,
}

/// A control connection that is in use, and the pool it returns to.
pub(super) struct PooledConnection {
    pub(super) connection: Connection,
    key: PoolKey,
    /// The runtime that has opened the connection.
    runtime: Id,
    cache: Arc<ServerCache>,
}

impl ServerCache {
    /// Returns the key of the connections that can serve `plan`: same server, user, TLS and data connection settings.
    pub(super) fn pool_key(&self, plan: &FtpPlan, ctx: &RunContext) -> PoolKey {
        let data = (plan.options.active.is_some(), plan.options.no_epsv, plan.fallbacks.pasv_only);
        self.key(plan, ctx, (data, plan.fallbacks.iac))
    }

    /// Returns the key for `plan` of the connections that also share `settings`.
    fn key(&self, plan: &FtpPlan, ctx: &RunContext, settings: impl Hash) -> PoolKey {
        let login = plan.login.as_ref().map(|login| (login.user(), login.expose_password()));
        let options = (plan.account(), &plan.options.anonymous_password);
        let identity = (login, options, settings);
        self.idle.key(&plan.host, plan.port, plan.is_implicit_tls, &ctx.connector, identity)
    }

    /// Returns the idle connection that needs the fewest CWD commands to the directory of `request`.
    fn take(self: &Arc<Self>, key: &PoolKey, request: &FtpRequest) -> Option<PooledConnection> {
        let nearest = self.idle.take(key, |connection| connection.cwd_distance_to(request));
        // A connection that cannot reach the directory is closed. The next connection queries its login directory, so
        // that it can return to it.
        if nearest.is_none() && self.idle.close_one(key) {
            self.known.mark_several_directories(key.host.clone(), key.port);
        }
        nearest.map(|connection| self.pooled(connection, key.clone()))
    }

    /// Returns the nearest idle connection that is still open, as [`Self::take`] does.
    pub(super) async fn take_ready(
        self: &Arc<Self>,
        key: &PoolKey,
        request: &FtpRequest,
    ) -> Option<PooledConnection> {
        while let Some(mut pooled) = self.take(key, request) {
            if pooled.connection.is_idle().await {
                return Some(pooled);
            }
        }
        None
    }

    /// Opens a new connection.
    pub(super) async fn open(
        self: &Arc<Self>,
        key: PoolKey,
        plan: &FtpPlan,
        ctx: &RunContext,
    ) -> Result<PooledConnection, Error> {
        // The settings of data connections do not change whether a login is accepted.
        let login_attempt = LoginAttempt::begin(self.logins.clone(), self.key(plan, ctx, ()));
        let mut connection = Connection::open(plan, &self.known, ctx).await?;
        connection.login_attempt = Some(login_attempt);
        Ok(self.pooled(connection, key))
    }

    /// Returns a connection that the current runtime has opened.
    fn pooled(self: &Arc<Self>, connection: Connection, key: PoolKey) -> PooledConnection {
        PooledConnection { connection, key, runtime: Handle::current().id(), cache: self.clone() }
    }
}

impl PooledConnection {
    /// Returns the connection to the pool, for the next request.
    pub(super) fn release(self) {
        self.cache.idle.put(self.key, self.connection, self.runtime);
    }

    /// Stores that the server mishandles pipelined commands if it sent an unexpected reply while the port of the next
    /// data connection was requested. Returns `true` in that case.
    pub(super) fn record_out_of_order_reply(&self, error: &DriverError) -> bool {
        let is_unexpected = matches!(error, DriverError::Session(SessionError::UnexpectedReply { .. }));
        let is_sequential = is_unexpected && self.connection.has_requested_next_port();
        if is_sequential {
            self.cache.known.mark_sequential_name(self.key.host.clone(), self.key.port);
        }
        is_sequential
    }

    /// Closes the connection, whose login was refused. Returns `true` if the server has accepted the same login on
    /// another connection, or does so while this is called.
    pub(super) async fn close_refused_login(mut self, ctx: &RunContext) -> bool {
        let Some(attempt) = self.connection.login_attempt.take() else { return false };
        // The server may serve the others only when this connection is closed.
        drop(self);
        attempt.await_other_logins(&ctx.deadline).await
    }

    /// Returns the learned properties of servers.
    pub(super) fn known_servers(&self) -> &KnownServers {
        &self.cache.known
    }
}
