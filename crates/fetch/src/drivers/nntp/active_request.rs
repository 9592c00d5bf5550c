//! The state of a running request.

use std::sync::Arc;

use super::connection::NntpConnection;
use super::plan::NntpPlan;
use super::server_cache::ServerCache;
use crate::RunContext;

/// A plan that is being run, with the context of the run and the cache of the driver.
pub(super) struct ActiveRequest {
    pub(super) plan: NntpPlan,
    pub(super) ctx: RunContext,
    pub(super) cache: Arc<ServerCache>,
}

impl ActiveRequest {
    /// Keeps the connection for the next URL.
    pub(super) fn keep(&self, connection: NntpConnection) {
        self.cache.keep(connection, &self.plan, &self.ctx);
    }
}
