//! One connection of the WAIS server: reads a request, sends a response, and so on.

use std::io::Result;

use crate::server::plain_or_tls_connection::{Ending, PlainOrTlsConnection};
use crate::server::running_server::Shared;
use crate::server::tcp_connection::TcpConnection;
use crate::wais::request::{Message, ParsedMessage, ParsedRequest, WaisRequest};
use crate::wais::response::Response;
use crate::wais::rule::WaisAction;
use crate::wais::server::WaisService;
use crate::wais::session::Session;

/// A connection.
pub(crate) struct Connection<'a> {
    shared: &'a Shared<WaisService>,
    number: usize,
    session: Session<'a>,
    channel: PlainOrTlsConnection,
    received: Vec<u8>,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(shared: &'a Shared<WaisService>, number: usize, wire: TcpConnection) -> Self {
        let (session, channel) = (Session::new(&shared.config), PlainOrTlsConnection::Plain(wire));
        Self { shared, number, session, channel, received: Vec::new() }
    }

    pub(crate) fn run(mut self) {
        let ending = self.serve().unwrap_or(Ending::Fin);
        self.channel.end(ending);
    }

    fn serve(&mut self) -> Result<Ending> {
        if let Some(ending) = self.take_accept_actions()? {
            return Ok(ending);
        }
        loop {
            let message = match Message::take(&mut self.received) {
                ParsedMessage::Complete(message) => message,
                ParsedMessage::Invalid => {
                    self.shared.record_request(self.number, WaisRequest::Other(0));
                    return Ok(Ending::Close);
                }
                ParsedMessage::Incomplete => {
                    let bytes = self.channel.receive()?;
                    if bytes.is_empty() {
                        return Ok(Ending::Close);
                    }
                    self.received.extend_from_slice(&bytes);
                    continue;
                }
            };
            if let Some(ending) = self.answer(&message)? {
                return Ok(ending);
            }
        }
    }

    /// Performs the actions before a request is read. Returns an ending if no request is to be read.
    fn take_accept_actions(&mut self) -> Result<Option<Ending>> {
        for action in self.shared.actions(None) {
            match action {
                WaisAction::Answer(bytes) | WaisAction::Before(bytes) => self.channel.send(&bytes)?,
                WaisAction::Pause(length) => self.channel.pause(length)?,
                WaisAction::End(ending) => return Ok(Some(ending)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Answers a request. Returns an ending if the connection ends then.
    fn answer(&mut self, message: &Message) -> Result<Option<Ending>> {
        let parsed = ParsedRequest::parse(&message.apdu);
        let request = parsed.log_entry(&message.apdu);
        let actions = self.shared.actions(Some(&request));
        self.shared.record_request(self.number, request);
        let endless = actions.iter().find_map(|action| match action {
            WaisAction::Endless(byte) => Some(*byte),
            _ => None,
        });
        let answer = match (&parsed, endless) {
            (ParsedRequest::Retrieval(retrieval), Some(byte)) => Session::endless(retrieval, byte),
            _ => self.session.answer(&parsed),
        };
        for action in &actions {
            if let WaisAction::Pause(length) = action {
                self.channel.pause(*length)?;
            }
        }
        self.drop_pending()?;
        let max_apdu = self.session.max_apdu();
        let Some(response) = Response::new(&actions, &message.header, answer, max_apdu) else {
            return Ok(Some(Ending::Close));
        };
        let shared = self.shared;
        response.send(&mut self.channel, |bytes| shared.record_sent(bytes))
    }

    /// Discards the data that was received together with the request, as real servers do, and logs its length.
    fn drop_pending(&mut self) -> Result<()> {
        while self.channel.wire().has_pending() {
            let bytes = self.channel.receive()?;
            if bytes.is_empty() {
                break;
            }
            self.received.extend_from_slice(&bytes);
        }
        let mut pending = 1;
        while let ParsedMessage::Complete(_) = Message::take(&mut self.received) {
            pending += 1;
        }
        pending += usize::from(!self.received.is_empty());
        self.received.clear();
        self.shared.record(|log| log.counters.max_pending = log.counters.max_pending.max(pending));
        Ok(())
    }
}
