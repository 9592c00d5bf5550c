//! The two ways to send a request: directly to the server, or through a proxy.

use std::sync::Arc;

use http::Response;

use super::connection_pool::ConnectionPool;
use super::plan::HttpPlan;
use super::proxy_transport::ProxyClients;
use super::response_body::ResponseBody;
use super::{direct_transport, proxy_transport};
use crate::{Code, Error, Phase, RunContext};

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
        let Some(proxy) = ctx.connector.proxy_for(&plan.host)? else {
            return direct_transport::send_directly(&self.pool, plan, ctx).await;
        };
        let has_tunnel = plan.is_tls || !proxy.kind.is_http();
        match plan.option_unsupported_by_reqwest() {
            _ if plan.is_forwarded || ctx.connector.uses_tunnel_for_http(proxy, plan.is_tls) => {
                direct_transport::send_directly(&self.pool, plan, ctx).await
            }
            Some(_) if has_tunnel => direct_transport::send_directly(&self.pool, plan, ctx).await,
            Some(option) => Err(through_proxy_error(option)),
            None => {
                // In a box, so that direct requests do not carry its large future.
                Box::pin(proxy_transport::send_through_proxy(&self.proxy_clients, proxy, plan, ctx)).await
            }
        }
    }
}

fn through_proxy_error(option: &str) -> Error {
    let detail = format!("{option} cannot be used through an HTTP proxy that reads the request");
    Error::new(Code::Usage, Phase::Proxy, detail).with_hint("use a tunnel (-p)")
}
