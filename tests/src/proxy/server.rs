//! Proxies on loopback: HTTP (whole URLs forwarded, CONNECT) and SOCKS5, honest or hostile.
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
//! Whatever host a client asks for, the origin is the asked port of 127.0.0.1: names can be made up, and no
//! test leaves the machine.

use std::io::Result;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::channel::{Channel, End};
use crate::http::reply::HttpReply;
use crate::http::request::{HttpRequest, KeepAlive};
use crate::http::server::{Wants, next_request, play};
use crate::listener::{Listener, locked};
use crate::proxy::socks::{self, SocksFault};
use crate::proxy::tunnel::{Tunnel, Tunnels, answer, carry, origin};
use crate::wire::Wire;

/// The longest wait for either side.
const PATIENCE: Duration = Duration::from_secs(30);
/// Fields that are between the client and the proxy, and go no further.
const OURS: [&str; 4] = ["connection", "keep-alive", "proxy-authorization", "proxy-connection"];
/// So many fields of 16 octets are a head without an end: 1 GiB.
const ENDLESS: u64 = 1 << 26;

/// How an HTTP proxy answers CONNECT.
#[derive(Clone, Debug)]
pub enum ConnectFault {
    /// It closes without an answer.
    Close,
    /// It answers 200 and fields without end.
    EndlessHead,
    /// It answers 200, then says these octets itself, in the same segment, and only then opens the tunnel.
    Extra(Vec<u8>),
    /// It answers this, and there is no tunnel.
    Reply(HttpReply),
}

/// The proxy; it stops when dropped.
#[derive(Debug)]
pub struct ProxyServer {
    listener: Listener,
    scheme: &'static str,
    record: Arc<Record>,
}

/// What a proxy saw.
#[derive(Debug, Default)]
struct Record {
    requests: Mutex<Vec<HttpRequest>>,
    tunnels: Tunnels,
}

impl ProxyServer {
    /// An HTTP proxy for everybody.
    pub fn http() -> Result<Self> {
        Self::start_http(HttpSide::default())
    }

    /// An HTTP proxy that answers 407 to all but this user (Basic).
    pub fn http_with_login(user: &str, password: &str) -> Result<Self> {
        let login = BASE64_STANDARD.encode(format!("{user}:{password}"));
        Self::start_http(HttpSide { login: Some(format!("Basic {login}")), ..HttpSide::default() })
    }

    /// An HTTP proxy that answers CONNECT as no proxy should. It forwards whole URLs all the same.
    pub fn http_with_fault(fault: ConnectFault) -> Result<Self> {
        Self::start_http(HttpSide { fault: Some(fault), ..HttpSide::default() })
    }

    /// A SOCKS5 proxy for everybody.
    pub fn socks5() -> Result<Self> {
        Self::start_socks(None, None)
    }

    /// A SOCKS5 proxy for this user only.
    pub fn socks5_with_login(user: &str, password: &str) -> Result<Self> {
        Self::start_socks(Some((user.to_owned(), password.to_owned())), None)
    }

    /// A SOCKS5 proxy that misbehaves.
    pub fn socks5_with_fault(fault: SocksFault) -> Result<Self> {
        Self::start_socks(None, Some(fault))
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// `http://127.0.0.1:PORT`, `socks5://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.addr())
    }

    /// The URL with something between `://` and the host, such as `me:secret`.
    #[must_use]
    pub fn url_as(&self, login: &str) -> String {
        format!("{}://{login}@{}", self.scheme, self.addr())
    }

    /// The HTTP requests so far, CONNECT and refused ones included, with all their fields. What goes through
    /// a tunnel is not among them.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        locked(&self.record.requests).clone()
    }

    /// The tunnels that were asked for so far by CONNECT, after the login if there must be one, or by SOCKS5.
    #[must_use]
    pub fn tunnels(&self) -> Vec<Tunnel> {
        self.record.tunnels.all()
    }

    /// How many connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.listener.accepted()
    }

    fn start_http(side: HttpSide) -> Result<Self> {
        let record = Arc::new(Record::default());
        let seen = Arc::clone(&record);
        let listener = Listener::start(PATIENCE, move |_, wire| side.talk(wire, &seen))?;
        Ok(Self { listener, scheme: "http", record })
    }

    fn start_socks(login: Option<(String, String)>, fault: Option<SocksFault>) -> Result<Self> {
        let record = Arc::new(Record::default());
        let seen = Arc::clone(&record);
        let listener = Listener::start(PATIENCE, move |_, wire| {
            let _ = talk_socks(wire, login.as_ref(), fault, &seen.tunnels);
        })?;
        Ok(Self { listener, scheme: "socks5", record })
    }
}

/// What an HTTP proxy was told to be.
#[derive(Default)]
struct HttpSide {
    /// The only Proxy-Authorization that is let in.
    login: Option<String>,
    fault: Option<ConnectFault>,
}

impl HttpSide {
    /// One connection: refusals until a request is let in, which is the last one.
    fn talk(&self, wire: Wire, record: &Record) {
        let mut channel = Channel::Plain(wire);
        let mut inbox = Vec::new();
        while let Some((request, keep)) = next_request(&mut channel, &mut inbox) {
            locked(&record.requests).push(request.clone());
            if self.admits(&request) {
                let _ = match request.method.as_str() {
                    "CONNECT" => self.connect(channel, &request, &inbox, &record.tunnels),
                    _ => forward(channel, &request),
                };
                return;
            }
            let refusal = HttpReply::new(407).header("Proxy-Authenticate", "Basic realm=\"the proxy\"");
            let wants = if request.method == "HEAD" { Wants::Head } else { Wants::All };
            let played = play(&mut channel, refusal.into_parts(), wants);
            if played.is_err() || keep == KeepAlive::No {
                break;
            }
        }
        channel.end(End::Close);
    }

    fn admits(&self, request: &HttpRequest) -> bool {
        let given = request.header_text("proxy-authorization");
        self.login.is_none() || self.login.as_deref() == given
    }

    fn connect(
        &self,
        mut channel: Channel,
        request: &HttpRequest,
        early: &[u8],
        tunnels: &Tunnels,
    ) -> Result<()> {
        let Some((host, port)) = authority(&request.target, None) else {
            return refuse(channel, HttpReply::new(400));
        };
        let number = tunnels.open(Tunnel::new(&host, port));
        let mut head = b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec();
        match &self.fault {
            Some(ConnectFault::Close) => return refuse(channel, HttpReply::raw("")),
            Some(ConnectFault::EndlessHead) => {
                let begun = HttpReply::raw("HTTP/1.1 200 OK\r\n");
                return refuse(channel, begun.then_repeat("X-Endless: abc\r\n", ENDLESS));
            }
            Some(ConnectFault::Reply(reply)) => return refuse(channel, reply.clone()),
            Some(ConnectFault::Extra(octets)) => head.extend_from_slice(octets),
            None => {}
        }
        let wire = match &mut channel {
            Channel::Plain(wire) => wire,
            Channel::Tls(_) => unreachable!("proxies listen in clear"),
        };
        let Ok(origin) = origin(wire, port) else { return refuse(channel, HttpReply::new(502)) };
        channel.send(&head)?;
        carry(channel.into_wire(), origin, early, number, tunnels)
    }
}

/// Answers this, and ends.
fn refuse(mut channel: Channel, reply: HttpReply) -> Result<()> {
    let end = play(&mut channel, reply.into_parts(), Wants::All)?;
    channel.end(end.unwrap_or(End::Close));
    Ok(())
}

/// Hands a request for a whole URL to its origin, and the answer back.
fn forward(mut channel: Channel, request: &HttpRequest) -> Result<()> {
    let Some((port, octets)) = forwarded(request) else { return refuse(channel, HttpReply::new(400)) };
    let Channel::Plain(wire) = &mut channel else { unreachable!("proxies listen in clear") };
    let Ok(mut origin) = origin(wire, port) else { return refuse(channel, HttpReply::new(502)) };
    std::io::Write::write_all(&mut origin, &octets)?;
    answer(origin, wire)?;
    channel.end(End::Close);
    Ok(())
}

/// The port of the origin, and the request as the origin must see it.
fn forwarded(request: &HttpRequest) -> Option<(u16, Vec<u8>)> {
    let rest = request.target.strip_prefix(b"http://")?;
    let end = rest.iter().position(|octet| matches!(octet, b'/' | b'?')).unwrap_or(rest.len());
    let (_, port) = authority(&rest[..end], Some(80))?;
    let slash: &[u8] = if rest[end..].starts_with(b"/") { b"" } else { b"/" };
    let mut octets =
        [request.method.as_bytes(), b" ", slash, &rest[end..], b" HTTP/1.1\r\nConnection: close\r\n"]
            .concat();
    let passes = |name: &str| !OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours));
    for (name, value) in request.headers.iter().filter(|(name, _)| passes(name)) {
        octets.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    octets.extend_from_slice(&[b"\r\n", request.body.as_slice()].concat());
    Some((port, octets))
}

/// Host and port of an authority.
fn authority(octets: &[u8], default: Option<u16>) -> Option<(String, u16)> {
    let text = str::from_utf8(octets).ok()?;
    let text = text.rsplit_once('@').map_or(text, |(_, text)| text);
    match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => Some((host.to_owned(), port.parse().ok()?)),
        _ => Some((text.to_owned(), default?)),
    }
}

/// One connection to a SOCKS5 proxy.
fn talk_socks(
    mut wire: Wire,
    login: Option<&(String, String)>,
    fault: Option<SocksFault>,
    tunnels: &Tunnels,
) -> Result<()> {
    let Some(tunnel) = socks::request(&mut wire, login, fault)? else { return farewell(wire) };
    let port = tunnel.port;
    let number = tunnels.open(tunnel);
    match fault {
        Some(SocksFault::HalfReply) => socks::half_reply(&mut wire)?,
        Some(SocksFault::Refuse(code)) => socks::reply(&mut wire, code)?,
        Some(_) => {}
        None => match origin(&wire, port) {
            Ok(origin) => {
                socks::reply(&mut wire, socks::GRANTED)?;
                return carry(wire, origin, b"", number, tunnels);
            }
            Err(_) => socks::reply(&mut wire, socks::CONNECTION_REFUSED)?,
        },
    }
    farewell(wire)
}

/// A clean end.
fn farewell(wire: Wire) -> Result<()> {
    Channel::Plain(wire).end(End::Close);
    Ok(())
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
