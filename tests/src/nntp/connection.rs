//! One connection of the news server: reads command lines, sends replies and carries out the rules.

use std::convert::Infallible;
use std::io::Error;
use std::mem::take;
use std::time::Duration;

use crate::nntp::reply::{DotStuffer, Next, Reply};
use crate::nntp::rule::{NntpAction, NntpEvent};
use crate::nntp::server::NntpService;
use crate::nntp::session::Session;
use crate::nntp::stream::NntpStream;
use crate::server::plain_or_tls_connection::Ending;
use crate::server::running_server::Shared;
use crate::server::tcp_connection::TcpConnection;
use crate::server::text::{repeated, take_line, without_crlf};

/// The pause between two bytes of a split reply, so that they arrive separately.
const BETWEEN_BYTES: Duration = Duration::from_micros(100);
/// How long replies are held back for the next command.
const HOLD: Duration = Duration::from_millis(300);
/// Maximum length of a command line that is read.
const MAX_LINE: usize = 64 * 1024;
/// Maximum number of bytes in one write.
const BLOCK: usize = 64 * 1024;

/// A connection.
pub(crate) struct Connection<'a> {
    shared: &'a Shared<NntpService>,
    number: usize,
    stream: NntpStream,
    /// Bytes that were read, but not executed yet.
    received: Vec<u8>,
    session: Session<'a>,
    /// The actions of the rules for the current command.
    actions: Vec<NntpAction>,
    /// Bytes that are not sent yet.
    outgoing: Vec<u8>,
    /// The number of bytes that may still be sent before the cut, and the ending.
    cut: Option<(u64, Ending)>,
    held: Option<HeldReplies>,
}

/// Replies that are held back, to be sent in reverse order.
struct HeldReplies {
    wanted: usize,
    replies: Vec<Vec<u8>>,
}

/// The end of a connection.
struct Stop(Ending);

impl From<Error> for Stop {
    fn from(_: Error) -> Self {
        Self(Ending::Fin)
    }
}

impl<'a> Connection<'a> {
    pub(crate) fn new(shared: &'a Shared<NntpService>, number: usize, wire: TcpConnection) -> Self {
        Self {
            shared,
            number,
            stream: NntpStream::new(wire),
            received: Vec::new(),
            session: Session::new(&shared.config),
            actions: Vec::new(),
            outgoing: Vec::new(),
            cut: None,
            held: None,
        }
    }

    pub(crate) fn run(mut self) {
        let Err(Stop(ending)) = self.serve();
        let _ = self.release_held(false);
        self.stream.end(ending);
    }

    fn serve(&mut self) -> Result<Infallible, Stop> {
        self.actions = self.shared.actions(NntpEvent::Accept);
        self.take_actions_before(b"")?;
        self.take_actions_after()?;
        if let Some(config) = &self.shared.tls {
            self.stream.start_tls(config)?;
            self.session.is_tls = true;
        }
        self.actions = self.shared.actions(NntpEvent::Greeting);
        if self.take_actions_before(b"")?.is_some() {
            self.reply(self.session.greeting())?;
        }
        self.take_actions_after()?;
        loop {
            let line = self.next_line()?;
            self.actions = self.shared.actions(NntpEvent::Line(&line));
            let mut next = Next::Command;
            if let Some(line) = self.take_actions_before(&line)? {
                let reply = self.session.execute(&line);
                next = reply.next;
                self.reply(reply)?;
            }
            self.take_actions_after()?;
            self.continue_with(next)?;
        }
    }

    /// Performs the actions before the command. Returns the command line to execute.
    fn take_actions_before(&mut self, line: &[u8]) -> Result<Option<Vec<u8>>, Stop> {
        let mut line = Some(line.to_vec());
        for action in self.actions.clone() {
            match action {
                NntpAction::Answer(bytes) => {
                    line = None;
                    self.send(&bytes)?;
                }
                NntpAction::ExecuteAs(other) => line = line.map(|_| other),
                NntpAction::Before(bytes) => self.send(&bytes)?,
                NntpAction::Flood(bytes, times) => {
                    for block in repeated(&bytes, times) {
                        self.send(&block)?;
                    }
                }
                NntpAction::Pause(length) => {
                    self.flush()?;
                    self.stream.pause(length)?;
                }
                NntpAction::End(ending) => return Err(Stop(ending)),
                NntpAction::Cut(bytes, ending) => self.cut = Some((bytes, ending)),
                NntpAction::ReverseReplies(wanted) if self.held.is_none() => {
                    self.held = Some(HeldReplies { wanted, replies: Vec::new() });
                }
                _ => {}
            }
        }
        Ok(line)
    }

    /// Sends the reply to a command, as the rules change it.
    fn reply(&mut self, reply: Reply<'_>) -> Result<(), Stop> {
        let actions = self.actions.clone();
        let status = actions.iter().find_map(|action| match action {
            NntpAction::StatusLine(line) => Some(line),
            _ => None,
        });
        self.send(status.unwrap_or(&reply.status))?;
        let Some(pieces) = reply.block else { return Ok(()) };
        for action in &actions {
            if let NntpAction::CutBlock(bytes, ending) = action {
                self.cut = Some((*bytes, *ending));
            }
        }
        let replaced = actions.iter().find_map(|action| match action {
            NntpAction::Block(bytes) => Some(bytes),
            _ => None,
        });
        let has_terminator = !actions.iter().any(|action| matches!(action, NntpAction::NoTerminator));
        let mut stuffer = DotStuffer::new();
        match replaced {
            Some(bytes) => self.send(bytes)?,
            None => {
                for piece in pieces {
                    self.send(&stuffer.stuff(&piece))?;
                }
            }
        }
        self.send(stuffer.end(has_terminator))
    }

    /// Sends or holds back the reply, with the data that the rules add after it.
    fn take_actions_after(&mut self) -> Result<(), Stop> {
        self.cut = None;
        for action in take(&mut self.actions) {
            match action {
                NntpAction::After(bytes) => self.outgoing.extend_from_slice(&bytes),
                NntpAction::EndAfter(ending) => return Err(Stop(ending)),
                // `flush` performs this action.
                NntpAction::Drip(..) => self.actions.push(action),
                _ => {}
            }
        }
        match &mut self.held {
            Some(held) => {
                held.replies.push(take(&mut self.outgoing));
                if held.replies.len() >= held.wanted { self.release_held(true) } else { Ok(()) }
            }
            None => self.flush(),
        }
    }

    fn continue_with(&mut self, next: Next) -> Result<(), Stop> {
        match next {
            Next::Close => return Err(Stop(Ending::Close)),
            Next::Command => {}
            Next::Deflate => self.stream.start_compression(),
            Next::Tls => {
                let config = self.shared.starttls.as_ref().ok_or(Stop(Ending::Fin))?;
                self.stream.start_tls(config)?;
                // The state from before TLS is discarded (RFC 4642 §2.2.2).
                self.received.clear();
                self.session = Session::new(&self.shared.config);
                self.session.is_tls = true;
            }
        }
        Ok(())
    }

    /// Adds bytes to the reply, up to the cut.
    fn send(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let allowed = self.cut.map_or(bytes.len(), |(left, _)| usize::try_from(left).unwrap_or(usize::MAX));
        let bytes = &bytes[..bytes.len().min(allowed)];
        self.outgoing.extend_from_slice(bytes);
        if self.outgoing.len() >= BLOCK {
            self.flush()?;
        }
        if let Some((left, ending)) = &mut self.cut {
            *left -= bytes.len() as u64;
            if *left == 0 {
                return Err(Stop(*ending));
            }
        }
        Ok(())
    }

    /// Sends the outgoing bytes, unless replies are held back.
    fn flush(&mut self) -> Result<(), Stop> {
        if self.outgoing.is_empty() || self.held.is_some() {
            return Ok(());
        }
        let bytes = take(&mut self.outgoing);
        self.stream.pause(self.shared.config.behaviour.delay)?;
        let drip = self.actions.iter().find_map(|action| match action {
            NntpAction::Drip(size, pause) => Some((*size, *pause)),
            _ => None,
        });
        let split = self.shared.config.behaviour.splits_replies.then_some((1, BETWEEN_BYTES));
        self.shared.record_sent(bytes.len());
        Ok(self.stream.send(&bytes, drip.or(split))?)
    }

    /// Sends the replies that were held back.
    fn release_held(&mut self, is_reversed: bool) -> Result<(), Stop> {
        if let Some(mut held) = self.held.take() {
            if is_reversed {
                held.replies.reverse();
            }
            held.replies.push(take(&mut self.outgoing));
            self.outgoing = held.replies.concat();
        }
        self.flush()
    }

    /// Reads and logs the next command line.
    fn next_line(&mut self) -> Result<Vec<u8>, Stop> {
        loop {
            let pending = self.received.iter().filter(|byte| **byte == b'\n').count();
            if let Some(line) = take_line(&mut self.received).map(without_crlf) {
                self.log_command(&line, pending);
                return Ok(line);
            }
            if self.held.is_some() && !self.stream.wait_for_bytes(HOLD)? {
                self.release_held(false)?;
            }
            let bytes = self.stream.receive()?;
            if bytes.is_empty() || self.received.len() > MAX_LINE {
                return Err(Stop(Ending::Close));
            }
            self.received.extend_from_slice(&bytes);
        }
    }

    fn log_command(&self, line: &[u8], pending: usize) {
        let is_tls = self.stream.is_tls();
        self.shared.record_request(self.number, line.to_vec());
        self.shared.record(|log| {
            log.counters.max_pending = log.counters.max_pending.max(pending);
            if !is_tls {
                log.counters.plaintext_commands.push(line.to_vec());
            }
        });
    }
}
