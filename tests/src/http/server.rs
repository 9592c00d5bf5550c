//! An HTTP/1.1 server on loopback that answers what its handler says, in clear or under TLS.

use std::fmt;
use std::io::Result;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::ServerConfig;

use crate::cert::ServerCert;
use crate::channel::{Channel, End};
use crate::http::reply::{Action, HttpReply, ReplyParts};
use crate::http::request::{HttpRequest, KeepAlive, Parsed, parse_request};
use crate::listener::{Listener, locked};
use crate::pattern::pattern_part;

/// The longest wait for a client, idle connections included.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server; it stops when dropped.
pub struct HttpServer {
    listener: Listener,
    scheme: &'static str,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
}

impl HttpServer {
    /// Starts a server in clear.
    pub fn start(handler: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static) -> Result<Self> {
        Self::serve(handler, None)
    }

    /// Starts a server under TLS.
    pub fn start_tls(
        handler: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static,
        cert: &ServerCert,
    ) -> Result<Self> {
        Self::serve(handler, Some(cert.server_config()?))
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.listener.addr()
    }

    /// The URL of a path on this server.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        let slash = if path.starts_with('/') { "" } else { "/" };
        format!("{}://{}{slash}{path}", self.scheme, self.addr())
    }

    /// The requests so far, in the order of their arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<HttpRequest> {
        locked(&self.requests).clone()
    }

    /// How many connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.listener.accepted()
    }

    fn serve(
        handler: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static,
        tls: Option<Arc<ServerConfig>>,
    ) -> Result<Self> {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let scheme = if tls.is_some() { "https" } else { "http" };
        let listener = Listener::start(PATIENCE, move |_, wire| {
            let plain = Channel::Plain(wire);
            let channel = match &tls {
                Some(config) => plain.secured(config),
                None => Ok(plain),
            };
            if let Ok(channel) = channel {
                talk(channel, &handler, &seen);
            }
        })?;
        Ok(Self { listener, scheme, requests })
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").field("url", &self.url("/")).finish_non_exhaustive()
    }
}

/// One connection: requests and answers until one of the two ends it.
fn talk(mut channel: Channel, handler: &impl Fn(&HttpRequest) -> HttpReply, seen: &Mutex<Vec<HttpRequest>>) {
    let mut inbox = Vec::new();
    let end = loop {
        let Some((request, keep)) = next_request(&mut channel, &mut inbox) else { break End::Close };
        locked(seen).push(request.clone());
        let wants = if request.method == "HEAD" { Wants::Head } else { Wants::All };
        match play(&mut channel, handler(&request).into_parts(), wants) {
            Ok(None) if keep == KeepAlive::Yes => {}
            Ok(end) => break end.unwrap_or(End::Close),
            Err(_) => break End::Fin,
        }
    };
    channel.end(end);
}

/// The next request; `None` if there will be none.
pub(crate) fn next_request(channel: &mut Channel, inbox: &mut Vec<u8>) -> Option<(HttpRequest, KeepAlive)> {
    loop {
        match parse_request(inbox) {
            Parsed::Whole(request, keep, used) => {
                inbox.drain(..used);
                return Some((*request, keep));
            }
            Parsed::Partial => {}
            Parsed::Bad => return None,
        }
        let octets = channel.receive().ok().filter(|octets| !octets.is_empty())?;
        inbox.extend_from_slice(&octets);
    }
}

/// What of an answer the request asked for.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Wants {
    All,
    Head,
}

/// Plays an answer; `Some` ends the connection.
pub(crate) fn play(channel: &mut Channel, reply: ReplyParts, wants: Wants) -> Result<Option<End>> {
    let left = reply.cut.unwrap_or(u64::MAX);
    let headless = reply.head.is_empty();
    let mut sender = Sender { channel, left, drip: reply.drip };
    // A short answer leaves in one segment, as an honest server would send it.
    let mut begin = reply.head;
    let mut actions = reply.actions.into_iter().peekable();
    if let (true, Some(Action::Octets(octets))) = (wants == Wants::All, actions.peek()) {
        begin.extend_from_slice(octets);
        actions.next();
    }
    sender.send(&begin)?;
    let silent = wants == Wants::Head && !headless;
    for action in actions {
        match action {
            Action::End(end) => return Ok(Some(end)),
            Action::Stall(length) => sender.channel.pause(length)?,
            _ if silent => {}
            Action::Octets(octets) => sender.send(&octets)?,
            Action::Pattern(offset, length) => sender.send_pattern(offset, length)?,
            Action::Repeat(octets, times) => sender.send_repeated(&octets, times)?,
        }
    }
    Ok(reply.ends)
}

/// Sends up to the cut, in pieces if so asked.
struct Sender<'a> {
    channel: &'a mut Channel,
    left: u64,
    drip: Option<(usize, Duration)>,
}

impl Sender<'_> {
    /// As much as goes into one write.
    const BLOCK: usize = 256 * 1024;

    fn send(&mut self, octets: &[u8]) -> Result<()> {
        let allowed = usize::try_from(self.left).unwrap_or(usize::MAX).min(octets.len());
        self.left -= allowed as u64;
        match self.drip {
            Some((piece, pause)) => self.channel.send_pieces(&octets[..allowed], piece, pause),
            None => self.channel.send(&octets[..allowed]),
        }
    }

    fn send_pattern(&mut self, mut offset: u64, length: u64) -> Result<()> {
        let end = offset + length.min(self.left);
        while offset < end {
            let limit = (end - offset).min(Self::BLOCK as u64) as usize;
            let part = pattern_part(offset, limit);
            self.send(part)?;
            offset += part.len() as u64;
        }
        Ok(())
    }

    fn send_repeated(&mut self, octets: &[u8], times: u64) -> Result<()> {
        let per_block = (Self::BLOCK / octets.len().max(1)).max(1) as u64;
        let block = octets.repeat(times.min(per_block) as usize);
        for _ in 0..times / per_block {
            self.send(&block)?;
        }
        self.send(&octets.repeat((times % per_block) as usize))
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
