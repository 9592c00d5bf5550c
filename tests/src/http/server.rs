//! An HTTP/1.1 server on loopback. A handler returns its responses.

use std::borrow::Cow;
use std::fmt;
use std::io::Result;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::http::request::{HttpRequest, KeepAlive, ParsedRequest, parse_request};
use crate::http::response::{HttpResponse, ResponseParts, Step};
use crate::pattern::pattern_blocks;
use crate::server::plain_or_tls_connection::{Ending, PlainOrTlsConnection};
use crate::server::rule::NoTrigger;
use crate::server::running_server::{RunningServer, Service, Shared, TcpService};
use crate::server::tcp_connection::TcpConnection;
use crate::server::text::repeated;

/// Maximum number of bytes in one write.
const BLOCK: usize = 256 * 1024;

/// An HTTP server. It stops when dropped.
pub struct HttpServer(RunningServer<HttpService>);

/// The state that all connections share.
pub(crate) struct HttpService {
    handler: Box<dyn Fn(&HttpRequest) -> HttpResponse + Send + Sync>,
    tls: Option<Arc<ServerConfig>>,
}

impl Service for HttpService {
    type Trigger = NoTrigger;
    type Action = ();
    type Request = HttpRequest;
    type Counters = ();
}

impl TcpService for HttpService {
    const NAME: &'static str = "http";
    const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

    fn serve(server: &Shared<Self>, number: usize, wire: TcpConnection) {
        let plain = PlainOrTlsConnection::Plain(wire);
        let channel = match &server.tls {
            Some(config) => plain.start_tls(config),
            None => Ok(plain),
        };
        if let Ok(channel) = channel {
            serve_connection(server, number, channel);
        }
    }
}

impl HttpServer {
    /// Starts a server without TLS.
    pub fn start(handler: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static) -> Result<Self> {
        Self::serve(HttpService { handler: Box::new(handler), tls: None })
    }

    /// Starts a server with TLS.
    pub fn start_tls(
        handler: impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static,
        cert: &ServerCert,
    ) -> Result<Self> {
        Self::serve(HttpService { handler: Box::new(handler), tls: Some(cert.server_config()?) })
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.0.addr()
    }

    /// Returns the URL of a path, with or without its first slash.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.0.tls.is_some() { "https" } else { "http" };
        let slash = if path.starts_with('/') { "" } else { "/" };
        format!("{scheme}://{}{slash}{path}", self.addr())
    }

    /// Returns the requests in the order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.0.requests()
    }

    /// Returns the number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.0.connections()
    }

    fn serve(service: HttpService) -> Result<Self> {
        Ok(Self(RunningServer::start(service, Vec::new())?))
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").field("url", &self.url("/")).finish_non_exhaustive()
    }
}

/// Reads requests and sends responses until one side ends the connection.
fn serve_connection(server: &Shared<HttpService>, number: usize, mut channel: PlainOrTlsConnection) {
    let mut received = Vec::new();
    let ending = loop {
        let Some((request, keep)) = next_request(&mut channel, &mut received) else { break Ending::Close };
        server.record_request(number, request.clone());
        let parts = if request.method == "HEAD" { SentParts::HeadOnly } else { SentParts::All };
        match send_response(&mut channel, (server.handler)(&request).into_parts(), parts) {
            Ok(None) if keep == KeepAlive::Yes => {}
            Ok(ending) => break ending.unwrap_or(Ending::Close),
            Err(_) => break Ending::Fin,
        }
    };
    channel.end(ending);
}

/// Reads the next request. Returns `None` if there is none.
pub(crate) fn next_request(
    channel: &mut PlainOrTlsConnection,
    received: &mut Vec<u8>,
) -> Option<(HttpRequest, KeepAlive)> {
    loop {
        match parse_request(received) {
            ParsedRequest::Complete(request, keep, length) => {
                received.drain(..length);
                return Some((*request, keep));
            }
            ParsedRequest::Incomplete => {}
            ParsedRequest::Invalid => return None,
        }
        let bytes = channel.receive().ok().filter(|bytes| !bytes.is_empty())?;
        received.extend_from_slice(&bytes);
    }
}

/// Which parts of a response are sent.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum SentParts {
    All,
    HeadOnly,
}

/// Sends a response. Returns an ending if the connection ends then.
pub(crate) fn send_response(
    channel: &mut PlainOrTlsConnection,
    response: ResponseParts,
    parts: SentParts,
) -> Result<Option<Ending>> {
    let left = response.cut.unwrap_or(u64::MAX);
    let is_raw = response.head.is_empty();
    let mut sender = Sender { channel, left, drip: response.drip };
    // Head and body of a short response are sent in one segment, as real servers do.
    let mut first = response.head;
    let mut steps = response.steps.into_iter().peekable();
    if let (true, Some(Step::Bytes(bytes))) = (parts == SentParts::All, steps.peek()) {
        first.extend_from_slice(bytes);
        steps.next();
    }
    sender.send(&first)?;
    let skips_body = parts == SentParts::HeadOnly && !is_raw;
    for step in steps {
        match step {
            Step::End(ending) => return Ok(Some(ending)),
            Step::Stall(length) => sender.channel.pause(length)?,
            _ if skips_body => {}
            Step::Bytes(bytes) => sender.send(&bytes)?,
            Step::Pattern(offset, length) => {
                let end = offset + length.min(sender.left);
                sender.send_blocks(pattern_blocks(offset..end, BLOCK))?;
            }
            Step::Repeat(bytes, times) => sender.send_blocks(repeated(&bytes, times))?,
        }
    }
    Ok(response.ending)
}

/// Sends bytes up to the cut, in pieces if the response is dripped.
struct Sender<'a> {
    channel: &'a mut PlainOrTlsConnection,
    left: u64,
    drip: Option<(usize, Duration)>,
}

impl Sender<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let allowed = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        self.left -= allowed as u64;
        self.channel.send_dripped(&bytes[..allowed], self.drip)
    }

    fn send_blocks<'b>(&mut self, mut blocks: impl Iterator<Item = Cow<'b, [u8]>>) -> Result<()> {
        blocks.try_for_each(|block| self.send(&block))
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
