//! Through a proxy, by reqwest: HTTP and CONNECT, SOCKS 4 and 5, one client for each proxy.
//!
//! The clients look no name up but those that `Dial` gave them. Redirects, retries, referer and the
//! proxies of the environment are off: the engine does what is to be done.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use fetch_url_core::Host;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, redirect, retry};

use super::frames::Frames;
use super::line::{FIELDS, WINDOW};
use super::plan::HttpPlan;
use super::{fault, fields};
use crate::net::proxy::{Proxy, ProxyKind};
use crate::net::route::Interface;
use crate::{Code, Ctx, Error, Phase};

/// The clients, by what must be the same to use one again.
#[derive(Default)]
pub(super) struct Clients(Mutex<HashMap<String, Route>>);

/// A client, and the addresses it may connect to.
#[derive(Clone)]
struct Route {
    client: Client,
    approved: Approved,
}

/// Sends the request and waits for the head of its answer.
pub(super) async fn send(
    clients: &Clients,
    proxy: &Proxy,
    plan: &HttpPlan,
    ctx: &Ctx,
) -> Result<http::Response<Frames>, Error> {
    let url = as_reqwest_reads_it(plan)?;
    ctx.dial.check_no_detour(&plan.host, plan.port)?;
    let route = clients.get(proxy, plan, ctx)?;
    route.approved.approve(&proxy.host, ctx.dial.proxy_addresses(proxy, &ctx.deadline).await?);
    if proxy.kind.resolves_here() {
        route.approved.approve(&plan.host, ctx.dial.approve(&plan.host, plan.port, &ctx.deadline).await?);
    } else {
        ctx.dial.check_behind_proxy(&plan.host)?;
    }
    let request = request(&route.client, url, proxy, plan)?;
    ctx.dial.contact().note(|facts| facts.sent = Some(Instant::now()));
    let failed = |error: reqwest::Error| fault::through_proxy(error.without_url(), plan.is_tls, proxy);
    let sent = async { request.send().await.map_err(failed) };
    let response = ctx.deadline.bound(Phase::Reply, sent).await?;
    ctx.dial.contact().note(|facts| {
        facts.replied = Some(Instant::now());
        facts.peer = response.remote_addr();
    });
    let is_http2 = response.version() == http::Version::HTTP_2;
    Ok(http::Response::from(response).map(|body| Frames::Proxied { body, is_http2 }))
}

/// What the proxy is to see goes to the proxy alone; what the server is to see, to the server alone.
fn request(
    client: &Client,
    url: reqwest::Url,
    proxy: &Proxy,
    plan: &HttpPlan,
) -> Result<reqwest::RequestBuilder, Error> {
    let mut own = plan.fields.clone();
    let for_proxy = fields::take_proxy_secrets(&mut own);
    let is_read_by_proxy = !plan.is_tls && matches!(proxy.kind, ProxyKind::Http | ProxyKind::Https);
    if let Some(value) = for_proxy.filter(|_| is_read_by_proxy) {
        own.insert(http::header::PROXY_AUTHORIZATION, value);
    }
    if let Some(authorization) = &plan.authorization {
        own.insert(http::header::AUTHORIZATION, authorization.clone());
    }
    let request = client.request(plan.method.clone(), url).headers(own);
    Ok(match &plan.body {
        Some(body) => request.body(body.clone()),
        None => request,
    })
}

/// The URL for reqwest, whose own parser must change nothing that goes out. Two parsers in one program
/// must agree.
fn as_reqwest_reads_it(plan: &HttpPlan) -> Result<reqwest::Url, Error> {
    let refused = |code, detail: String| Err(Error::new(code, Phase::Plan, detail));
    let text = format!("{}{}", plan.origin(), plan.target);
    let Ok(url) = reqwest::Url::parse(&text) else {
        return refused(Code::Unsupported, "this URL cannot go through a proxy as it is written".to_owned());
    };
    let agrees = url.host_str().is_some_and(|host| is_host(host, &plan.host));
    if !agrees || url.port_or_known_default() != Some(plan.port) {
        let detail = format!("two parsers disagree on the host: {} and {:?}", plan.host, url.host_str());
        return refused(Code::Internal, detail);
    }
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    if target != plan.target {
        let detail = format!("through a proxy {} would be asked for as {target}", plan.target);
        return refused(Code::Unsupported, detail);
    }
    Ok(url)
}

/// Whether the text names the host: addresses by their value, names without regard to case.
fn is_host(text: &str, host: &Host<'_>) -> bool {
    match host {
        Host::V4(address) => text.parse() == Ok(*address),
        Host::V6(address) => text.trim_matches(['[', ']']).parse() == Ok(*address),
        Host::Name(name) => text.eq_ignore_ascii_case(name),
    }
}

impl Clients {
    fn get(&self, proxy: &Proxy, plan: &HttpPlan, ctx: &Ctx) -> Result<Route, Error> {
        let key = format!("{proxy} {} {} {}", plan.is_tls, plan.takes_http2(), ctx.dial.must_be_public());
        let mut routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(route) = routes.get(&key) {
            return Ok(route.clone());
        }
        let route = Route::new(proxy, plan, ctx)?;
        routes.insert(key, route.clone());
        Ok(route)
    }
}

impl Route {
    fn new(proxy: &Proxy, plan: &HttpPlan, ctx: &Ctx) -> Result<Self, Error> {
        let mut config = (*ctx.dial.tls_config_behind(proxy, plan.is_tls)?).clone();
        let http2 = plan.takes_http2().then(|| b"h2".to_vec());
        config.alpn_protocols = http2.into_iter().chain([b"http/1.1".to_vec()]).collect();
        let approved = Approved::default();
        let client = Client::builder()
            .tls_backend_preconfigured(config)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .proxy(for_reqwest(proxy)?)
            .connect_timeout(ctx.deadline.connect_timeout())
            .http1_max_headers(FIELDS)
            .http2_initial_stream_window_size(WINDOW)
            .http2_initial_connection_window_size(WINDOW)
            .dns_resolver(Arc::new(approved.clone()));
        let client = from_interface(client, ctx)?.build();
        let client = client.map_err(|error| {
            Error::new(Code::Internal, Phase::Proxy, "the HTTP client").with_source(error)
        })?;
        Ok(Self { client, approved })
    }
}

/// Connections go out from where the caller says.
fn from_interface(client: reqwest::ClientBuilder, ctx: &Ctx) -> Result<reqwest::ClientBuilder, Error> {
    match ctx.dial.interface() {
        None => Ok(client),
        Some(Interface::Address(address)) => Ok(client.local_address(address.to_owned())),
        #[cfg(target_os = "linux")]
        Some(Interface::Device(name)) => Ok(client.interface(name.as_str())),
        #[cfg(not(target_os = "linux"))]
        Some(Interface::Device(_)) => Err(Error::unsupported("no device can be chosen on this system")),
    }
}

fn for_reqwest(proxy: &Proxy) -> Result<reqwest::Proxy, Error> {
    let made = reqwest::Proxy::all(proxy.to_string())
        .map_err(|error| Error::new(Code::Usage, Phase::Proxy, error.to_string()))?;
    let Some(login) = &proxy.login else { return Ok(made) };
    let text = |octets: &[u8]| String::from_utf8(octets.to_vec());
    match (text(login.user()), text(login.expose().unwrap_or_default())) {
        (Ok(user), Ok(password)) => Ok(made.basic_auth(&user, &password)),
        _ => Err(Error::new(Code::Usage, Phase::Proxy, "the proxy's user and password must be UTF-8")),
    }
}

/// The addresses of the names that may be connected to.
#[derive(Clone, Default)]
struct Approved(Arc<Mutex<HashMap<String, Vec<SocketAddr>>>>);

impl Approved {
    /// From here on, the host is at these addresses.
    fn approve(&self, host: &Host<'_>, addresses: Vec<SocketAddr>) {
        // Of SOCKS, reqwest looks up even what is an address already.
        let name = host.to_string().trim_matches(['[', ']']).to_ascii_lowercase();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, addresses);
    }
}

impl Resolve for Approved {
    fn resolve(&self, name: Name) -> Resolving {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let addresses = table.get(&name.as_str().to_ascii_lowercase()).cloned();
        Box::pin(async move {
            let addresses = addresses.ok_or("the address was not approved")?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
