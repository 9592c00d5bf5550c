//! HTTP proxies (forwarding and CONNECT) and SOCKS proxies on loopback, with or without faults. A SOCKS5 proxy without
//! login accepts SOCKS4 and SOCKS4a too.
//!
//! ```
//! use fetch_url_tests::ProxyServer;
//!
//! let proxy = ProxyServer::http_with_login("me", "secret")?;
//! assert!(proxy.url().starts_with("http://127.0.0.1:"));
//! assert!(proxy.requests().is_empty() && proxy.tunnels().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Every host is resolved to 127.0.0.1, and only the requested port counts. Tests can therefore use invented host
//! names, and no request leaves the machine.

use std::fmt;
use std::io::{Result, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::http::request::{HttpRequest, KeepAlive};
use crate::http::response::HttpResponse;
use crate::http::server::{SentParts, next_request, send_response};
use crate::proxy::socks::{self, SocksFault};
use crate::proxy::tunnel::{Tunnel, carry, connect_origin, forward_response};
use crate::server::plain_or_tls_connection::{Ending, PlainOrTlsConnection};
use crate::server::rule::NoTrigger;
use crate::server::running_server::{RunningServer, Service, Shared, TcpService};
use crate::server::tcp_connection::TcpConnection;

/// Header fields between client and proxy, which are not forwarded.
const HOP_BY_HOP: [&str; 4] = ["connection", "keep-alive", "proxy-authorization", "proxy-connection"];
/// The number of 16-byte header fields in an endless head: 1 GiB.
const ENDLESS: u64 = 1 << 26;

/// How an HTTP proxy misbehaves in its response to CONNECT.
#[derive(Clone, Debug)]
pub enum ConnectFault {
    /// Closes without a response.
    Close,
    /// Sends 200 with endless header fields.
    EndlessHead,
    /// Sends 200 and these bytes in the same segment, then opens the tunnel.
    Extra(Vec<u8>),
    /// Sends this response and opens no tunnel.
    Reply(HttpResponse),
}

/// A proxy. It stops when dropped.
pub struct ProxyServer(RunningServer<ProxyService>);

/// The state that all connections share.
enum ProxyService {
    Http {
        /// The Proxy-Authorization that is accepted. `None`: every client is accepted.
        authorization: Option<String>,
        fault: Option<ConnectFault>,
    },
    Socks {
        login: Option<(String, String)>,
        fault: Option<SocksFault>,
    },
}

/// A connection to a proxy.
struct Connection<'a> {
    server: &'a Shared<ProxyService>,
    number: usize,
}

impl Service for ProxyService {
    type Trigger = NoTrigger;
    type Action = ();
    type Request = HttpRequest;
    /// The requested tunnels.
    type Counters = Vec<Tunnel>;
}

impl TcpService for ProxyService {
    const NAME: &'static str = "proxy";
    const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

    fn serve(server: &Shared<Self>, number: usize, wire: TcpConnection) {
        let connection = Connection { server, number };
        match &**server {
            Self::Http { authorization, fault } => {
                connection.serve_http(wire, authorization.as_deref(), fault.as_ref());
            }
            Self::Socks { login, fault } => {
                let _ = connection.serve_socks(wire, login.as_ref(), *fault);
            }
        }
    }
}

impl ProxyServer {
    /// Starts an HTTP proxy without login.
    pub fn http() -> Result<Self> {
        Self::serve(ProxyService::Http { authorization: None, fault: None })
    }

    /// Starts an HTTP proxy that replies 407 to all users except this one (Basic).
    pub fn http_with_login(user: &str, password: &str) -> Result<Self> {
        let login = BASE64_STANDARD.encode(format!("{user}:{password}"));
        Self::serve(ProxyService::Http { authorization: Some(format!("Basic {login}")), fault: None })
    }

    /// Starts an HTTP proxy that misbehaves in its response to CONNECT. It forwards other requests.
    pub fn http_with_fault(fault: ConnectFault) -> Result<Self> {
        Self::serve(ProxyService::Http { authorization: None, fault: Some(fault) })
    }

    /// Starts a SOCKS5 proxy without login.
    pub fn socks5() -> Result<Self> {
        Self::serve(ProxyService::Socks { login: None, fault: None })
    }

    /// Starts a SOCKS5 proxy for this user only.
    pub fn socks5_with_login(user: &str, password: &str) -> Result<Self> {
        let login = Some((user.to_owned(), password.to_owned()));
        Self::serve(ProxyService::Socks { login, fault: None })
    }

    /// Starts a SOCKS5 proxy that misbehaves.
    pub fn socks5_with_fault(fault: SocksFault) -> Result<Self> {
        Self::serve(ProxyService::Socks { login: None, fault: Some(fault) })
    }

    /// Returns the address of the proxy.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.0.addr()
    }

    /// Returns `http://127.0.0.1:PORT` or `socks5://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme(), self.addr())
    }

    /// Returns the URL with user information, such as `me:secret`.
    #[must_use]
    pub fn url_as(&self, login: &str) -> String {
        format!("{}://{login}@{}", self.scheme(), self.addr())
    }

    /// Returns the HTTP requests, including CONNECT and refused ones, with all header fields. Requests within
    /// tunnels are not included.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.0.requests()
    }

    /// Returns the tunnels that were requested by CONNECT or SOCKS5, after login if one is required.
    #[must_use]
    pub fn tunnels(&self) -> Vec<Tunnel> {
        self.0.read_log(|log| log.counters.clone())
    }

    /// Returns the number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.0.connections()
    }

    fn scheme(&self) -> &'static str {
        match &**self.0 {
            ProxyService::Http { .. } => "http",
            ProxyService::Socks { .. } => "socks5",
        }
    }

    fn serve(service: ProxyService) -> Result<Self> {
        Ok(Self(RunningServer::start(service, Vec::new())?))
    }
}

impl fmt::Debug for ProxyServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyServer").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Connection<'_> {
    /// Reads requests until one is accepted, which is then the last one of the connection.
    fn serve_http(&self, wire: TcpConnection, authorization: Option<&str>, fault: Option<&ConnectFault>) {
        let mut channel = PlainOrTlsConnection::Plain(wire);
        let mut received = Vec::new();
        while let Some((request, keep)) = next_request(&mut channel, &mut received) {
            self.server.record_request(self.number, request.clone());
            if authorization.is_none() || request.header_text("proxy-authorization") == authorization {
                let _ = match request.method.as_str() {
                    "CONNECT" => self.connect(channel, &request, &received, fault),
                    _ => forward_request(channel, &request),
                };
                return;
            }
            let refusal = HttpResponse::new(407).header("Proxy-Authenticate", "Basic realm=\"the proxy\"");
            let parts = if request.method == "HEAD" { SentParts::HeadOnly } else { SentParts::All };
            let sent = send_response(&mut channel, refusal.into_parts(), parts);
            if sent.is_err() || keep == KeepAlive::No {
                break;
            }
        }
        channel.end(Ending::Close);
    }

    fn connect(
        &self,
        mut channel: PlainOrTlsConnection,
        request: &HttpRequest,
        early: &[u8],
        fault: Option<&ConnectFault>,
    ) -> Result<()> {
        let Some((host, port)) = parse_authority(&request.target, None) else {
            return send_last_response(channel, HttpResponse::new(400));
        };
        let tunnel = self.log_tunnel(Tunnel::new(&host, port));
        let mut head = b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec();
        match fault {
            Some(ConnectFault::Close) => return send_last_response(channel, HttpResponse::raw("")),
            Some(ConnectFault::EndlessHead) => {
                let start = HttpResponse::raw("HTTP/1.1 200 OK\r\n");
                return send_last_response(channel, start.then_repeat("X-Endless: abc\r\n", ENDLESS));
            }
            Some(ConnectFault::Reply(response)) => return send_last_response(channel, response.clone()),
            Some(ConnectFault::Extra(bytes)) => head.extend_from_slice(bytes),
            None => {}
        }
        let Ok(origin) = connect_origin(channel.wire(), port) else {
            return send_last_response(channel, HttpResponse::new(502));
        };
        channel.send(&head)?;
        carry(channel.into_wire(), origin, early, |bytes| self.log_opening(tunnel, bytes))
    }

    fn serve_socks(
        &self,
        mut wire: TcpConnection,
        login: Option<&(String, String)>,
        fault: Option<SocksFault>,
    ) -> Result<()> {
        let Some(tunnel) = socks::read_request(&mut wire, login, fault)? else { return close(wire) };
        let (port, is_socks4) = (tunnel.port, tunnel.is_socks4);
        let tunnel = self.log_tunnel(tunnel);
        match fault {
            Some(SocksFault::HalfReply) => socks::send_half_reply(&mut wire)?,
            Some(SocksFault::Refuse(code)) => socks::send_reply(&mut wire, code, is_socks4)?,
            Some(_) => {}
            None => match connect_origin(&wire, port) {
                Ok(origin) => {
                    socks::send_reply(&mut wire, socks::SUCCEEDED, is_socks4)?;
                    return carry(wire, origin, b"", |bytes| self.log_opening(tunnel, bytes));
                }
                Err(_) => socks::send_reply(&mut wire, socks::CONNECTION_REFUSED, is_socks4)?,
            },
        }
        close(wire)
    }

    /// Logs a tunnel and returns its index.
    fn log_tunnel(&self, tunnel: Tunnel) -> usize {
        let mut index = 0;
        self.server.record(|log| {
            index = log.counters.len();
            log.counters.push(tunnel);
        });
        index
    }

    fn log_opening(&self, tunnel: usize, bytes: &[u8]) {
        self.server.record(|log| log.counters[tunnel].append_opening(bytes));
    }
}

/// Sends a response and ends the connection.
fn send_last_response(mut channel: PlainOrTlsConnection, response: HttpResponse) -> Result<()> {
    let ending = send_response(&mut channel, response.into_parts(), SentParts::All)?;
    channel.end(ending.unwrap_or(Ending::Close));
    Ok(())
}

/// Forwards a request to its origin, and the response to the client.
fn forward_request(mut channel: PlainOrTlsConnection, request: &HttpRequest) -> Result<()> {
    let Some((port, bytes)) = origin_request(request) else {
        return send_last_response(channel, HttpResponse::new(400));
    };
    let Ok(mut origin) = connect_origin(channel.wire(), port) else {
        return send_last_response(channel, HttpResponse::new(502));
    };
    origin.write_all(&bytes)?;
    forward_response(origin, &mut channel)?;
    channel.end(Ending::Close);
    Ok(())
}

/// Returns the port of the origin, and the request as it is forwarded.
fn origin_request(request: &HttpRequest) -> Option<(u16, Vec<u8>)> {
    let rest = request.target.strip_prefix(b"http://")?;
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (_, port) = parse_authority(&rest[..end], Some(80))?;
    let slash: &[u8] = if rest[end..].starts_with(b"/") { b"" } else { b"/" };
    let mut bytes =
        [request.method.as_bytes(), b" ", slash, &rest[end..], b" HTTP/1.1\r\nConnection: close\r\n"]
            .concat();
    let is_forwarded = |name: &str| !HOP_BY_HOP.iter().any(|hop| name.eq_ignore_ascii_case(hop));
    for (name, value) in request.headers.iter().filter(|(name, _)| is_forwarded(name)) {
        bytes.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    bytes.extend_from_slice(&[b"\r\n", request.body.as_slice()].concat());
    Some((port, bytes))
}

/// Parses an authority. Returns host and port.
fn parse_authority(bytes: &[u8], default: Option<u16>) -> Option<(String, u16)> {
    let text = str::from_utf8(bytes).ok()?;
    let text = text.rsplit_once('@').map_or(text, |(_, text)| text);
    match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => Some((host.to_owned(), port.parse().ok()?)),
        _ => Some((text.to_owned(), default?)),
    }
}

fn close(wire: TcpConnection) -> Result<()> {
    PlainOrTlsConnection::Plain(wire).end(Ending::Close);
    Ok(())
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
