//! One connection of the Gopher server: reads the request, sends the response and carries out the rules.

use std::borrow::Cow;
use std::io::Result;
use std::net::SocketAddr;
use std::time::Duration;

use crate::gopher::answer::{Answer, RequestHandler, Terminator};
use crate::gopher::content::Content;
use crate::gopher::request::{DataBlock, Request};
use crate::gopher::rule::GopherAction;
use crate::gopher::server::GopherService;
use crate::server::plain_or_tls_connection::{Ending, PlainOrTlsConnection};
use crate::server::running_server::Shared;
use crate::server::tcp_connection::TcpConnection;
use crate::server::text::{repeated, replace_all, take_line};

/// Maximum length of a request, with its data block.
const MAX_REQUEST: usize = 1 << 20;

/// Serves a connection to its end.
pub(crate) fn serve_connection(shared: &Shared<GopherService>, number: usize, wire: TcpConnection) {
    let Ok(addr) = wire.local_addr() else { return };
    let mut channel = PlainOrTlsConnection::Plain(wire);
    let ending = match take_accept_actions(&mut channel, &shared.actions(None)) {
        Ok(Some(ending)) => ending,
        Err(_) => Ending::Fin,
        Ok(None) => {
            if let Some(tls) = &shared.tls {
                let Ok(encrypted) = channel.start_tls(tls) else { return };
                channel = encrypted;
            }
            let received = Vec::new();
            let mut connection =
                Connection { shared, addr, number, channel: &mut channel, received, is_end: false };
            connection.serve().unwrap_or(Ending::Fin)
        }
    };
    let late = channel.end(ending);
    shared.record_request(number, late);
}

/// Performs the actions before a request is read. Returns an ending if no request is to be read.
fn take_accept_actions(
    channel: &mut PlainOrTlsConnection,
    actions: &[GopherAction],
) -> Result<Option<Ending>> {
    for action in actions {
        match action {
            GopherAction::Answer(bytes) | GopherAction::Before(bytes) => channel.send(bytes)?,
            GopherAction::Pause(length) => channel.pause(*length)?,
            GopherAction::End(ending) => return Ok(Some(*ending)),
            _ => {}
        }
    }
    Ok(None)
}

/// A connection.
struct Connection<'a> {
    shared: &'a Shared<GopherService>,
    addr: SocketAddr,
    number: usize,
    channel: &'a mut PlainOrTlsConnection,
    received: Vec<u8>,
    /// The client has closed its sending side.
    is_end: bool,
}

impl Connection<'_> {
    fn serve(&mut self) -> Result<Ending> {
        let line = self.next_line()?;
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let actions = self.shared.actions(Some(text));
        let config = &self.shared.config;
        let is_search = |selector: &[u8]| config.find(selector).is_some_and(|item| item.kind == b'7');
        let request = Request::parse(text, config.plus.is_supported, is_search);
        let data = if request.has_data { Some(self.read_form(&request)?) } else { None };
        for action in &actions {
            if let GopherAction::Pause(length) = action {
                self.channel.pause(*length)?;
            }
        }
        let answer = RequestHandler { config, addr: self.addr }.answer(&request, data.as_ref());
        let mut sender = Sender::new(self.shared, self.addr, self.channel, &actions);
        sender.send_answer(&actions, &answer)?;
        Ok(sender.ending(&actions))
    }

    /// Reads the request line, with its end if it has one.
    fn next_line(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some(line) = take_line(&mut self.received) {
                return Ok(line);
            }
            if self.is_end || self.received.len() > MAX_REQUEST {
                return Ok(std::mem::take(&mut self.received));
            }
            self.receive()?;
        }
    }

    /// Reads the data block of a request. Returns the answers in it, or the reason why they do not match the form.
    fn read_form(&mut self, request: &Request<'_>) -> Result<std::result::Result<Vec<Vec<u8>>, String>> {
        let content = loop {
            match DataBlock::parse(&self.received, self.is_end) {
                DataBlock::Invalid(why) => return Ok(Err(why)),
                DataBlock::Incomplete if self.is_end || self.received.len() > MAX_REQUEST => {
                    return Ok(Err("the data are not complete".to_owned()));
                }
                DataBlock::Incomplete => self.receive()?,
                DataBlock::Complete(content, length) => {
                    self.received.drain(..length);
                    break content;
                }
            }
        };
        let form = self.shared.config.find(request.selector).and_then(|item| item.form.as_ref());
        let answers = form.map_or(Err("there is no form".to_owned()), |form| form.parse_answers(&content));
        if let Ok(answers) = &answers {
            self.shared.record(|log| log.counters.form_answers.push(answers.clone()));
        }
        Ok(answers)
    }

    fn receive(&mut self) -> Result<()> {
        let bytes = self.channel.receive()?;
        self.is_end = bytes.is_empty();
        self.received.extend_from_slice(&bytes);
        self.shared.record_request(self.number, bytes);
        Ok(())
    }
}

/// Sends a response.
struct Sender<'a> {
    shared: &'a Shared<GopherService>,
    addr: SocketAddr,
    channel: &'a mut PlainOrTlsConnection,
    /// The number of bytes to send before the connection is cut, and the ending.
    left: u64,
    cut: Option<Ending>,
    drip: Option<(usize, Duration)>,
    last_byte: u8,
}

impl<'a> Sender<'a> {
    fn new(
        shared: &'a Shared<GopherService>,
        addr: SocketAddr,
        channel: &'a mut PlainOrTlsConnection,
        actions: &[GopherAction],
    ) -> Self {
        let mut sender =
            Self { shared, addr, channel, left: u64::MAX, cut: None, drip: None, last_byte: b'\n' };
        for action in actions {
            match action {
                GopherAction::Cut(bytes, ending) => (sender.left, sender.cut) = (*bytes, Some(*ending)),
                GopherAction::Drip(bytes, pause) => sender.drip = Some((*bytes, *pause)),
                _ => {}
            }
        }
        sender
    }

    fn send_answer(&mut self, actions: &[GopherAction], answer: &Answer) -> Result<()> {
        let find = |wanted: fn(&GopherAction) -> Option<&Vec<u8>>| actions.iter().find_map(wanted);
        let fixed = find(|it| if let GopherAction::Answer(bytes) = it { Some(bytes) } else { None });
        if let Some(bytes) = fixed {
            let port = self.addr.port().to_string();
            self.send(&replace_all(bytes, b"{port}", port.as_bytes()))?;
        } else {
            for action in actions {
                if let GopherAction::Before(bytes) = action {
                    self.send(bytes)?;
                }
            }
            let status = find(|it| if let GopherAction::StatusLine(line) = it { Some(line) } else { None });
            self.send(status.unwrap_or(&answer.status))?;
            let body = find(|it| if let GopherAction::Body(bytes) = it { Some(bytes) } else { None });
            let body = body.map(|bytes| Content::bytes(bytes.as_slice()));
            self.last_byte = b'\n';
            self.send_blocks(answer.blocks(body.as_ref().unwrap_or(&answer.body)))?;
            self.send_terminator(answer.terminator, actions)?;
        }
        for action in actions {
            match action {
                GopherAction::After(bytes) => self.send(bytes)?,
                GopherAction::Flood(bytes, times) => self.send_blocks(repeated(bytes, *times))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn send_terminator(&mut self, terminator: Terminator, actions: &[GopherAction]) -> Result<()> {
        let is_omitted = actions.iter().any(|action| matches!(action, GopherAction::NoTerminator));
        if terminator == Terminator::None || is_omitted {
            return Ok(());
        }
        if terminator == Terminator::Stuffed && self.last_byte != b'\n' {
            self.send(b"\r\n")?;
        }
        self.send(b".\r\n")
    }

    fn send_blocks<'b>(&mut self, blocks: impl Iterator<Item = Cow<'b, [u8]>>) -> Result<()> {
        for block in blocks {
            self.send(&block)?;
            if self.left == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Sends the bytes up to the cut.
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let allowed = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let bytes = &bytes[..allowed];
        self.channel.send_dripped(bytes, self.drip)?;
        self.left -= bytes.len() as u64;
        self.last_byte = bytes.last().copied().unwrap_or(self.last_byte);
        self.shared.record_sent(bytes.len());
        Ok(())
    }

    fn ending(&self, actions: &[GopherAction]) -> Ending {
        let after = actions.iter().find_map(|action| match action {
            GopherAction::End(ending) => Some(*ending),
            _ => None,
        });
        self.cut.or(after).unwrap_or(Ending::Close)
    }
}
