//! The two ways to send a request: over a connection of this driver, or, for `http:` without a body through a SOCKS proxy,
//! with reqwest.

use std::sync::Arc;

use fetch_url_core::Host;
use http::Response;

use super::connection_pool::ConnectionPool;
use super::plan::HttpPlan;
use super::response_body::ResponseBody;
use super::socks_transport::SocksClients;
use super::{forwarded, hyper_transport, socks_transport};
use crate::net::proxy::Proxy;
use crate::{Code, Error, Phase, RunContext};

/// The connections that the driver keeps between requests.
#[derive(Default)]
pub(super) struct Transports {
    pool: Arc<ConnectionPool>,
    socks_clients: SocksClients,
}

impl Transports {
    /// Sends the request of `plan`, through the proxy if one is configured, and waits for the head of the response.
    /// HTTP proxies get the request in absolute form, or open a tunnel.
    pub(super) async fn send(
        &self,
        plan: &HttpPlan,
        ctx: &RunContext,
    ) -> Result<Response<ResponseBody>, Error> {
        let needs_no_tunnel = !ctx.connector.uses_tunnel_for_http();
        match ctx.connector.proxy_for(&plan.host)?.filter(|_| needs_no_tunnel) {
            Some(proxy) if proxy.kind.is_http() && !plan.is_tls && !plan.is_forwarded => {
                let plan = Box::new(forwarded_plan(plan)?);
                hyper_transport::send_with_hyper(&self.pool, &plan, ctx).await
            }
            Some(proxy) if can_use_reqwest(proxy, plan) => {
                // In a box, so that other requests do not carry its large future.
                Box::pin(socks_transport::send_through_socks(&self.socks_clients, proxy, plan, ctx)).await
            }
            _ => hyper_transport::send_with_hyper(&self.pool, plan, ctx).await,
        }
    }
}

/// Returns `true` if the request can be sent with reqwest, which does not report when a body is sent. With a login, reqwest
/// sends no user name to SOCKS 4 proxies, and does not offer to SOCKS 5 proxies to connect without it. Over TLS, its HTTP/2
/// connections fail when servers close them.
fn can_use_reqwest(proxy: &Proxy, plan: &HttpPlan) -> bool {
    let is_plain = plan.body.is_none() && !plan.is_tls && !plan.needs_own_transport();
    !proxy.kind.is_http() && proxy.login.is_none() && is_plain
}

/// Returns `plan` with the whole URL as its target.
///
/// # Errors
/// `Code::Usage` for a Host header of the caller, because proxies ignore it; `Code::Unsupported` if the URL cannot be
/// sent unchanged.
fn forwarded_plan(plan: &HttpPlan) -> Result<HttpPlan, Error> {
    if plan.has_own_authority {
        let detail = "another Host header cannot be used through an HTTP proxy that reads the request";
        return Err(Error::new(Code::Usage, Phase::Proxy, detail).with_hint("use a tunnel (-p)"));
    }
    if let Host::V6Zone(..) = plan.host {
        return Err(Error::unsupported("an IPv6 address with a zone cannot be used through a proxy"));
    }
    let target = forwarded::check_unchanged(format!("{}{}", plan.origin(), plan.target))?;
    Ok(HttpPlan { target, is_forwarded: true, ..plan.clone() })
}
