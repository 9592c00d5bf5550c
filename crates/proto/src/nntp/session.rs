//! The NNTP client session as a state machine without I/O: which commands to send, and what the replies mean.
//!
//! ```text
//! greeting ─▶ (STARTTLS) ─▶ GROUP ─▶ ARTICLE, ARTICLE, … ─▶ Head, Body …, Done for each
//!                 ▲            │
//!                 └── 480, 483, 401: STARTTLS, AUTHINFO or MODE READER, then the same request again
//! ```
//!
//! The first request on a connection is sent alone because the server may demand a login. After its answer,
//! article requests are pipelined, up to 128 commands. If the server demands a login then (RFC 4643 §2.2), the replies to
//! the pipelined commands are read and discarded, and their requests are sent again after the login.

mod block;
mod prepare;
mod receive;
mod send_commands;

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use bytes::Bytes;

use super::capabilities::Capabilities;
use super::command::{Command, Verb};
use super::reply::{Reply, SHOWN_BYTES, reply_lines};
use super::{GroupName, NewsRequest, SessionOptions, StartTls};
use crate::text::{LineReader, ReadLine, mask_secret};
use crate::{Event, Head, Machine, RecvBuffer, Rejection, Step, WireError};
use block::Block;

/// The client side of one NNTP connection (RFC 3977), a [`Machine`] without I/O. Requests are added with
/// [`Self::add_request`] and answered in order.
#[derive(Debug)]
pub struct Session {
    options: SessionOptions,
    server: ServerState,
    lines: LineReader,
    /// Steps to return before anything else is done.
    ready: VecDeque<Step>,
    /// Commands to send before the current request can continue.
    preparing: VecDeque<Verb>,
    /// The pending replies, in the order of their commands.
    pending: VecDeque<PendingReply>,
    /// The unanswered requests; the first one is the current request.
    requests: VecDeque<NewsRequest>,
    /// The number of requests whose commands were sent.
    sent_requests: usize,
    /// The multi-line block that is being received.
    block: Option<Block>,
    /// The rejection of the current request, not reported yet.
    rejection: Option<Rejection>,
    progress: Progress,
    /// The last list of articles lacks some whose headers the server could not send.
    lacks_heads: bool,
    state: ConnectionState,
    has_wire_trace: bool,
}

/// The command that a pending reply belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PendingReply {
    Greeting,
    /// A command sent before STARTTLS, AUTHINFO or MODE READER: its request was rejected and is sent
    /// again.
    Superseded,
    /// An article requested ahead before a login; its request is sent again. An article that arrives is discarded.
    SupersededArticle(Verb),
    Command(Verb),
    Group(GroupName),
    /// HEAD of one article, to build a list.
    HeadOf(u64),
}

impl PendingReply {
    /// Returns the command as it was sent, without arguments.
    const fn words(&self) -> &'static str {
        match self {
            Self::Greeting | Self::Superseded | Self::SupersededArticle(_) => "",
            Self::Command(verb) => verb.words(),
            Self::Group(_) => Verb::Group.words(),
            Self::HeadOf(_) => Verb::Head.words(),
        }
    }
}

/// The state of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    /// No request was answered yet: the server may demand TLS, a login or MODE READER.
    New,
    /// A request was answered: requests are pipelined.
    Pipelining,
    /// The server has closed the connection, or its next reply cannot be predicted.
    Closed,
}

/// The known state of the server.
#[derive(Debug, Default)]
struct ServerState {
    capabilities: Option<Capabilities>,
    selected: Option<Selected>,
    is_logged_in: bool,
    is_deflated: bool,
    is_mode_reader_done: bool,
    sent_starttls: bool,
    sent_compress: bool,
    sent_login: bool,
    /// The server has sent 480 (login required).
    requires_login: bool,
}

/// The currently selected group, from the reply to GROUP (RFC 3977 §6.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selected {
    /// The name of the group.
    pub group: GroupName,
    /// The estimated number of articles.
    pub count: u64,
    /// The lowest article number.
    pub low: u64,
    /// The highest article number; lower than `low` if the group is empty.
    pub high: u64,
}

/// The progress of the current request, if it takes more than one command.
#[derive(Debug, Default)]
struct Progress {
    /// GROUP was sent for it.
    is_selected: bool,
    /// The command that lists the articles of a group.
    overview: Option<Overview>,
    /// The numbers of the articles whose HEAD is still to be sent.
    heads: Option<RangeInclusive<u64>>,
    /// The server does not support LIST ACTIVE.
    lacks_list_active: bool,
    /// [`Event::Head`] was emitted.
    is_head_emitted: bool,
    /// The message-id in the reply to it.
    message_id: Option<Vec<u8>>,
}

/// The command that lists the articles of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overview {
    Over,
    Xover,
    Heads,
}

impl Session {
    /// Creates a session for a new connection; the server's greeting is read first.
    pub fn new(options: SessionOptions) -> Self {
        let first = match options.start_tls {
            StartTls::Never => None,
            _ if options.is_secure => None,
            StartTls::Must | StartTls::Try => Some(Verb::StartTls),
        };
        Self {
            options,
            server: ServerState::default(),
            lines: reply_lines(),
            ready: VecDeque::new(),
            preparing: first.into_iter().collect(),
            pending: VecDeque::from([PendingReply::Greeting]),
            requests: VecDeque::new(),
            sent_requests: 0,
            block: None,
            rejection: None,
            progress: Progress::default(),
            lacks_heads: false,
            state: ConnectionState::New,
            has_wire_trace: false,
        }
    }

    /// Enables or disables the wire trace: [`Event::Sent`] and [`Event::Received`] for each line.
    #[must_use]
    pub const fn with_wire_trace(mut self, is_enabled: bool) -> Self {
        self.has_wire_trace = is_enabled;
        self
    }

    /// Adds a request. It is answered by [`Event::Head`], its data and [`Step::Done`], or by
    /// [`Event::Rejected`], which can also end a partly received list.
    pub fn add_request(&mut self, request: NewsRequest) {
        self.requests.push_back(request);
    }

    /// Returns the unanswered requests, the next one first.
    pub fn pending_requests(&self) -> impl ExactSizeIterator<Item = &NewsRequest> {
        self.requests.iter()
    }

    /// Returns the currently selected group, if any.
    pub const fn selected(&self) -> Option<&Selected> {
        self.server.selected.as_ref()
    }

    /// Returns the message-id that the reply to the current request names, with its angle brackets. It is known from
    /// [`Event::Head`] to [`Step::Done`]; some servers do not name it.
    pub fn message_id(&self) -> Option<&[u8]> {
        self.progress.message_id.as_deref()
    }

    /// Returns `true` if the connection is compressed. A login is no longer possible then (RFC 8054 §2.2.2).
    pub const fn is_deflated(&self) -> bool {
        self.server.is_deflated
    }

    /// Returns `true` if a command of the current request was sent. Data received before that is not its
    /// answer.
    pub const fn has_sent_commands(&self) -> bool {
        self.sent_requests > 0
    }

    /// Returns `true` if the last request was answered completely and the connection can be reused.
    pub fn is_open(&self) -> bool {
        self.state != ConnectionState::Closed
            && self.block.is_none()
            && self.rejection.is_none()
            && self.ready.is_empty()
    }

    /// Returns the next step, or `None` if input was processed that needs no step.
    fn advance(&mut self, buffer: &mut RecvBuffer) -> Result<Option<Step>, WireError> {
        if let Some(step) = self.ready.pop_front() {
            return Ok(Some(step));
        }
        if self.block.is_some() {
            return self.read_block(buffer);
        }
        if self.rejection.is_some() && !self.has_pending_replies() {
            self.finish_rejected();
            return Ok(None);
        }
        let is_idle = self.pending.is_empty();
        if self.rejection.is_none()
            && let Some(commands) = self.next_commands()
        {
            if is_idle {
                self.check_no_unrequested_data(buffer)?;
            }
            return Ok(Some(self.send(&commands)));
        }
        match (self.ready.is_empty(), self.pending.is_empty()) {
            (false, _) => Ok(None),
            (true, true) if !self.requests.is_empty() => {
                Err(WireError::UnexpectedEnd { what: "the session" })
            }
            (true, true) => Ok(Some(Step::Done)),
            (true, false) => self.read_reply(buffer),
        }
    }

    /// Returns `true` if replies to the rejected request are still pending.
    fn has_pending_replies(&self) -> bool {
        let has_several_commands = self.state == ConnectionState::New || self.progress.heads.is_some();
        has_several_commands && self.state != ConnectionState::Closed && !self.pending.is_empty()
    }

    /// Sends the commands in one write.
    fn send(&mut self, commands: &[Command]) -> Step {
        let mut lines = Vec::new();
        for command in commands {
            command.write(&mut lines);
            if self.has_wire_trace {
                self.ready.push_back(Step::Emit(Event::Sent(command.to_string())));
            }
        }
        self.ready.push_back(Step::Send(lines.into()));
        // The wire trace events come before the write.
        self.ready.pop_front().unwrap_or(Step::Done)
    }

    fn read_reply(&mut self, buffer: &mut RecvBuffer) -> Result<Option<Step>, WireError> {
        match self.lines.read_line(buffer) {
            Ok(ReadLine::NeedMore) => Ok(Some(Step::NeedMore)),
            Ok(ReadLine::Line(line)) => {
                let shown = self.masked(&line);
                if self.has_wire_trace {
                    self.ready.push_back(Step::Emit(Event::Received(shown.clone())));
                }
                match Reply::parse(&line, shown) {
                    Ok(reply) => self.process_reply(&reply)?,
                    Err(_) if self.rejection.is_some() => self.close(),
                    Err(error) => return Err(error),
                }
                Ok(None)
            }
            // A connection error after a rejection does not replace the rejection.
            Ok(ReadLine::End) | Err(_) if self.rejection.is_some() => {
                self.close();
                Ok(None)
            }
            Ok(ReadLine::End) => Err(WireError::UnexpectedEnd { what: "the session" }),
            Err(error) => Err(error),
        }
    }

    /// Returns an error if data was received before any command was sent: an attacker on the network path could have
    /// injected it, to be read as the reply to the next command.
    fn check_no_unrequested_data(&self, buffer: &RecvBuffer) -> Result<(), WireError> {
        if buffer.bytes().is_empty() {
            return Ok(());
        }
        let mut got = self.masked(&Bytes::copy_from_slice(buffer.bytes()));
        got.truncate(SHOWN_BYTES);
        Err(WireError::Unexpected { what: "a reply to a pending command", got })
    }

    /// Marks the connection as unusable: no more commands are sent, and replies are ignored.
    fn close(&mut self) {
        self.state = ConnectionState::Closed;
        self.preparing.clear();
        self.pending.clear();
    }

    /// Returns the line with the password masked, because some servers repeat it.
    fn masked(&self, line: &Bytes) -> Bytes {
        match &self.options.login {
            Some(login) => mask_secret(line, &login.password),
            None => line.clone(),
        }
    }

    /// Ends the current request successfully.
    fn finish_request(&mut self) {
        self.remove_current_request();
        self.ready.push_back(Step::Done);
        if self.state == ConnectionState::New {
            self.state = ConnectionState::Pipelining;
        }
    }

    /// Removes the current request.
    fn remove_current_request(&mut self) {
        self.requests.pop_front();
        self.sent_requests = self.sent_requests.saturating_sub(1);
        self.progress = Progress::default();
    }

    /// Emits [`Event::Head`] once per request.
    fn emit_head(&mut self) {
        if !std::mem::replace(&mut self.progress.is_head_emitted, true) {
            self.ready.push_back(Step::Emit(Event::Head(Head::default())));
        }
    }

    /// Ends the current request with an empty answer.
    fn finish_empty(&mut self) {
        self.emit_head();
        self.finish_request();
    }

    /// Ends the rejected request.
    fn finish_rejected(&mut self) {
        let Some(rejection) = self.rejection.take() else { return };
        self.remove_current_request();
        self.ready.push_back(Step::Emit(Event::Rejected(Box::new(rejection))));
    }

    /// Reads more of the multi-line block.
    fn read_block(&mut self, buffer: &mut RecvBuffer) -> Result<Option<Step>, WireError> {
        let Some(block) = &mut self.block else { return Ok(None) };
        match block.step(buffer)? {
            Step::Done => {
                let block = self.block.take();
                self.end_block(block);
                Ok(None)
            }
            step => Ok(Some(step)),
        }
    }

    fn end_block(&mut self, block: Option<Block>) {
        match block {
            Some(Block::Capabilities(list)) => self.server.capabilities = Some(list.capabilities()),
            Some(Block::Discarded(_)) => {}
            Some(Block::Header(header)) => self.ready.push_back(Step::Emit(header.event())),
            _ => self.finish_request(),
        }
    }
}

impl Machine for Session {
    fn may_echo_secrets(&self) -> bool {
        self.options.login.is_some()
    }

    fn step(&mut self, buffer: &mut RecvBuffer) -> Result<Step, WireError> {
        loop {
            if let Some(step) = self.advance(buffer)? {
                return Ok(step);
            }
        }
    }
}
