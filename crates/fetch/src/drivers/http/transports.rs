//! The two ways to send a request: directly to the server, or through a proxy.

use std::sync::Arc;

use http::Response;

use super::connection_pool::ConnectionPool;
use super::plan::HttpPlan;
use super::proxy_transport::ProxyClients;
use super::response_body::ResponseBody;
use super::{direct_transport, proxy_transport};
use crate::{Error, RunContext};

/// The connections that the driver keeps between requests.
#[derive(Default)]
pub(super) struct Transports {
    pool: Arc<ConnectionPool>,
    proxy_clients: ProxyClients,
}

impl Transports {
    /// Sends the request of `plan`, through the proxy if one is configured, and waits for the head of the response.
    /// reqwest is used where the proxy reads the request, or opens a tunnel without another rule for it.
    pub(super) async fn send(
        &self,
        plan: &HttpPlan,
        ctx: &RunContext,
    ) -> Result<Response<ResponseBody>, Error> {
        match ctx.connector.proxy_for(&plan.host)? {
            Some(proxy) if plan.is_forwarded || ctx.connector.uses_tunnel_for_http(proxy, plan.is_tls) => {
                direct_transport::send_directly(&self.pool, plan, ctx).await
            }
            Some(proxy) => {
                // In a box, so that direct requests do not carry its large future.
                Box::pin(proxy_transport::send_through_proxy(&self.proxy_clients, proxy, plan, ctx)).await
            }
            None => direct_transport::send_directly(&self.pool, plan, ctx).await,
        }
    }
}
