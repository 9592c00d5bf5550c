//! The two ways to send a request: directly to the server, or through a proxy.

use std::sync::Arc;

use http::Response;

use super::connection_pool::ConnectionPool;
use super::plan::HttpPlan;
use super::response_body::ResponseBody;
use super::socks_transport::SocksClients;
use super::{direct_transport, forwarded, socks_transport};
use crate::{Error, RunContext};

/// The connections that the driver keeps between requests.
#[derive(Default)]
pub(super) struct Transports {
    pool: Arc<ConnectionPool>,
    socks_clients: SocksClients,
}

impl Transports {
    /// Sends the request of `plan`, through the proxy if one is configured, and waits for the head of the response.
    /// reqwest is used for SOCKS proxies; HTTP proxies get the request in absolute form, or open a tunnel.
    pub(super) async fn send(
        &self,
        plan: &HttpPlan,
        ctx: &RunContext,
    ) -> Result<Response<ResponseBody>, Error> {
        let Some(proxy) = ctx.connector.proxy_for(&plan.host)? else {
            return direct_transport::send_directly(&self.pool, plan, ctx).await;
        };
        let uses_tunnel = ctx.connector.uses_tunnel_for_http() || proxy.kind.is_http() && plan.is_tls;
        if plan.is_forwarded || uses_tunnel {
            return direct_transport::send_directly(&self.pool, plan, ctx).await;
        }
        if proxy.kind.is_http() {
            return direct_transport::send_directly(&self.pool, &forwarded::forwarded_plan(plan)?, ctx).await;
        }
        if plan.needs_own_transport() {
            return direct_transport::send_directly(&self.pool, plan, ctx).await;
        }
        // In a box, so that direct requests do not carry its large future.
        Box::pin(socks_transport::send_through_socks(&self.socks_clients, proxy, plan, ctx)).await
    }
}
