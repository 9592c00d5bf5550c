//! Sends an `http:` request without a body through a SOCKS 4 or 5 proxy with reqwest. Each proxy has one client for each
//! runtime.
//!
//! The clients connect only to addresses that `Connector` has checked. Redirects, retries, Referer and the proxy
//! variables of the environment are switched off in reqwest, because the engine handles them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use fetch_url_core::Host;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, redirect, retry};
use tokio::runtime::{Handle, Id};

use super::connection::MAX_HEADERS;
use super::exchange::MAX_HEAD_SIZE;
use super::options::HttpVersion;
use super::plan::HttpPlan;
use super::response_body::ResponseBody;
use super::{request_trace, transport_error};
use crate::net::proxy::Proxy;
use crate::net::route::Interface;
use crate::net::{tls, trace};
use crate::time::Instant;
use crate::{Code, Error, Phase, RunContext};

/// Maximum number of clients. A program may have a new runtime for each request.
const MAX_CLIENTS: usize = 64;

/// The clients, by runtime, proxy and network rules. The runtime is part of the key, because the
/// connections of a client are served by the runtime that has opened them.
#[derive(Default)]
pub(super) struct SocksClients(Mutex<HashMap<(Id, String), SocksClient>>);

/// A client and the addresses that it may connect to.
#[derive(Clone)]
struct SocksClient {
    client: Client,
    allowed: AllowedAddresses,
}

/// Sends the request of `plan` through `proxy` and waits for the head of the response.
pub(super) async fn send_through_socks(
    clients: &SocksClients,
    proxy: &Proxy,
    plan: &HttpPlan,
    ctx: &RunContext,
) -> Result<http::Response<ResponseBody>, Error> {
    let url = reqwest_url(plan)?;
    ctx.connector.check_no_connect_to(&plan.host, plan.port)?;
    let client = clients.client_for(proxy, ctx)?;
    client.allowed.allow(&proxy.host, ctx.connector.proxy_addresses(proxy, &ctx.deadline).await?);
    if proxy.kind.resolves_here() {
        client
            .allowed
            .allow(&plan.host, ctx.connector.resolve_allowed(&plan.host, plan.port, &ctx.deadline).await?);
    } else {
        ctx.connector.check_behind_proxy(&plan.host)?;
    }
    let request = build_request(&client.client, url, plan);
    ctx.connector.connection_info().update(|record| record.sent = Some(Instant::now()));
    let failed = |error: reqwest::Error| transport_error::proxy_error(error.without_url(), proxy);
    trace::note(&format_args!("through the proxy {proxy}"));
    let sent = async {
        let result = request.send().await;
        if !result.as_ref().is_err_and(reqwest::Error::is_connect) {
            request_trace::plan(plan);
        }
        result.map_err(failed)
    };
    let response = ctx.deadline.bound_reply(|| None, sent).await?;
    check_head_size(response.headers())?;
    ctx.connector.connection_info().update(|record| {
        record.first_byte = Some(Instant::now());
        record.remote_addr = response.remote_addr();
    });
    Ok(http::Response::from(response).map(ResponseBody::proxied))
}

/// Fails if the header fields have more than [`MAX_HEAD_SIZE`]. reqwest has a limit of its own, which is higher.
fn check_head_size(fields: &http::HeaderMap) -> Result<(), Error> {
    let line_size = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        // `: ` and the line end.
        name.as_str().len() + value.len() + 4
    };
    if fields.iter().map(line_size).sum::<usize>() <= MAX_HEAD_SIZE {
        return Ok(());
    }
    let detail = format!("more than {MAX_HEAD_SIZE} bytes of header fields");
    Err(Error::new(Code::LimitReached, Phase::Reply, detail))
}

/// Builds the request. `Proxy-Authorization` is not for the server.
fn build_request(client: &Client, url: reqwest::Url, plan: &HttpPlan) -> reqwest::RequestBuilder {
    let mut headers = plan.headers.clone();
    headers.remove(http::header::PROXY_AUTHORIZATION);
    if let Some(authorization) = &plan.authorization {
        headers.insert(http::header::AUTHORIZATION, authorization.clone());
    }
    let mut request = client.request(plan.method.clone(), url).headers(headers);
    if plan.options.version == HttpVersion::Http10 {
        request = request.version(http::Version::HTTP_10);
    }
    request
}

/// Returns the URL for reqwest, whose parser normalises URLs. Fails if reqwest would connect to another host than
/// `plan`, or would send another request target.
fn reqwest_url(plan: &HttpPlan) -> Result<reqwest::Url, Error> {
    let failed = |code, detail: String| Err(Error::new(code, Phase::Plan, detail));
    if let Host::V6Zone(..) = plan.host {
        return failed(
            Code::Unsupported,
            "an IPv6 address with a zone cannot be used through a proxy".to_owned(),
        );
    }
    let text = format!("{}{}", plan.origin(), plan.target);
    let Ok(url) = reqwest::Url::parse(&text) else {
        return failed(Code::Unsupported, "this URL cannot be sent unchanged through a proxy".to_owned());
    };
    let agrees = url.host_str().is_some_and(|host| names_host(host, &plan.host));
    if !agrees || url.port_or_known_default() != Some(plan.port) {
        let detail = format!(
            "the URL cannot be sent through a proxy, because its host is ambiguous: {} or {:?}",
            plan.host,
            url.host_str()
        );
        return failed(Code::Unsupported, detail);
    }
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    if target != plan.target {
        let detail = format!("through a proxy, the path {} would be sent as {target}", plan.target);
        return failed(Code::Unsupported, detail);
    }
    Ok(url)
}

/// Returns `true` if the text is this host. Addresses are compared by value, names without regard to case.
fn names_host(text: &str, host: &Host<'_>) -> bool {
    match host {
        Host::V4(address) => text.parse() == Ok(*address),
        Host::V6(address) | Host::V6Zone(address, _) => text.trim_matches(['[', ']']).parse() == Ok(*address),
        Host::Name(name) => text.eq_ignore_ascii_case(name),
    }
}

impl SocksClients {
    fn client_for(&self, proxy: &Proxy, ctx: &RunContext) -> Result<SocksClient, Error> {
        let rules = format!("{proxy} {:?}", ctx.connector.address_rules());
        let key = (Handle::current().id(), rules);
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = SocksClient::new(proxy, ctx)?;
        if clients.len() >= MAX_CLIENTS {
            clients.clear();
        }
        clients.insert(key, client.clone());
        Ok(client)
    }
}

impl SocksClient {
    fn new(proxy: &Proxy, ctx: &RunContext) -> Result<Self, Error> {
        let allowed = AllowedAddresses::default();
        let client = Client::builder()
            .tls_backend_preconfigured(tls::no_tls()?)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .proxy(reqwest_proxy(proxy)?)
            // A kept connection would be shared by the logins of a server, and a request fails if the server closes it.
            .pool_max_idle_per_host(0)
            .connect_timeout(ctx.deadline.connect_timeout())
            .http1_title_case_headers()
            .http1_max_headers(MAX_HEADERS)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .dns_resolver(Arc::new(allowed.clone()));
        let client = bind_to_interface(client, ctx)?.build();
        let client = client.map_err(|error| {
            Error::new(Code::Internal, Phase::Proxy, "cannot create the HTTP client").with_source(error)
        })?;
        Ok(Self { client, allowed })
    }
}

/// Binds the client to the interface or address that the caller chose.
fn bind_to_interface(
    client: reqwest::ClientBuilder,
    ctx: &RunContext,
) -> Result<reqwest::ClientBuilder, Error> {
    match ctx.connector.interface() {
        None => Ok(client),
        Some(Interface::Address(address)) => Ok(client.local_address(address.to_owned())),
        #[cfg(target_os = "linux")]
        Some(Interface::Device(name)) => Ok(client.interface(name.as_str())),
        #[cfg(not(target_os = "linux"))]
        Some(Interface::Device(_)) => {
            Err(Error::unsupported("this system does not support binding to a network device"))
        }
    }
}

fn reqwest_proxy(proxy: &Proxy) -> Result<reqwest::Proxy, Error> {
    reqwest::Proxy::http(proxy.to_string())
        .map_err(|error| Error::new(Code::Usage, Phase::Proxy, error.to_string()))
}

/// The addresses that reqwest may connect to, by host name.
#[derive(Clone, Default)]
struct AllowedAddresses(Arc<Mutex<HashMap<String, Vec<SocketAddr>>>>);

impl AllowedAddresses {
    /// Replaces the addresses of `host`.
    fn allow(&self, host: &Host<'_>, addresses: Vec<SocketAddr>) {
        // With SOCKS, reqwest resolves even IP addresses.
        let name = host.to_string().trim_matches(['[', ']']).to_ascii_lowercase();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, addresses);
    }
}

impl Resolve for AllowedAddresses {
    fn resolve(&self, name: Name) -> Resolving {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let addresses = table.get(&name.as_str().to_ascii_lowercase()).cloned();
        Box::pin(async move {
            let addresses = addresses.ok_or("the host has no checked address")?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
