//! The state of one control connection: the commands to send next, and the meaning of the replies.
//!
//! ```text
//! greeting ─▶ (TLS) ─▶ USER ─▶ (PASS) ─▶ (ACCT) ─▶ CWD … ─▶ TYPE, SIZE, MDTM ─▶ EPSV ─▶ Ready
//!                                                    ▲                                     │
//!                                                    └── Done ◀── 226 ◀── ReceiveData ◀── RETR
//! ```
//!
//! Commands that do not depend on a pending reply are sent together. Replies are matched to commands in order.

mod login;
mod replies;
mod server_software;
mod step;
mod working_dir;

use std::collections::VecDeque;

use super::{Command, FileMetadata, FtpRequest, Operation, TransferType, Verb};
use crate::text::Reply;

pub use login::Login;
pub use step::{DataMode, Pipelining, SessionError, SessionStep};

/// A greeting or command whose reply has not arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pending {
    Greeting,
    Command(Command),
}

/// The client side of one FTP control connection, without a socket.
///
/// Call [`Session::start_request`], then perform the steps that [`Session::next_step`] returns until it returns
/// [`SessionStep::Done`]. A session serves several requests, one after another.
#[derive(Debug)]
pub struct Session {
    pipelining: Pipelining,
    login: Login,
    /// The greeting and the commands whose replies have not arrived, in order.
    pending: VecDeque<Pending>,
    /// Commands that have not been sent.
    queued: VecDeque<Command>,
    /// A step to return before anything else is sent or received.
    urgent: Option<SessionStep>,
    stage: RequestStage,
    /// The first rejection. It is reported after the replies to all pending commands have arrived.
    rejection: Option<SessionError>,
    working_dir: working_dir::WorkingDir,
    /// The type that the last TYPE set; `None` for the default of RFC 959, ASCII.
    transfer_type: Option<TransferType>,
    metadata: FileMetadata,
    /// The LIST, MLSD, NLST or RETR of the current request.
    transfer_command: Option<Command>,
    data: DataState,
    /// The server is known to finish a transfer before it executes a command that arrives during it.
    finishes_transfers_first: bool,
    /// Commands were sent before the replies to others had arrived, and replies are still pending.
    is_pipelined: bool,
}

/// The progress of the current request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestStage {
    /// Commands before the transfer are being sent.
    Preparing,
    /// The transfer command was queued or sent.
    Transferring,
    /// The server has started the transfer.
    Receiving,
    /// The transfer is over or was rejected.
    Ended,
}

/// The state of data connections.
#[derive(Debug, Default)]
struct DataState {
    /// The port on which the server listens.
    port: Option<u16>,
    /// The server has rejected EPSV.
    no_epsv: bool,
    /// The argument of PORT, to be sent if EPRT is rejected.
    plain_port: Option<String>,
    /// The server has rejected REST, so the transfer starts at the beginning.
    rest_rejected: bool,
    /// REST was sent, and no transfer has used its offset.
    has_unused_offset: bool,
}

impl Session {
    /// Creates a session with a server whose greeting has not arrived, and queues the login.
    ///
    /// For a control connection in TLS, use [`Login::with_protection`], so that the data connection is protected too.
    pub fn new(pipelining: Pipelining, login: Login) -> Self {
        let mut this = Self {
            pipelining,
            login,
            pending: VecDeque::from([Pending::Greeting]),
            queued: VecDeque::new(),
            urgent: None,
            stage: RequestStage::Preparing,
            rejection: None,
            working_dir: working_dir::WorkingDir::default(),
            transfer_type: None,
            metadata: FileMetadata::default(),
            transfer_command: None,
            data: DataState::default(),
            finishes_transfers_first: false,
            is_pipelined: false,
        };
        this.queued.extend(this.login.commands());
        this
    }

    /// Queues PWD after the login, so that the session can return to the login directory for a later request
    /// (RFC 1738 §3.2.5).
    #[must_use]
    pub fn querying_login_dir(mut self) -> Self {
        self.queued.push_back(Command::new(Verb::Pwd));
        self
    }

    /// Returns the number of CWD commands that lead from the current directory to that of `request`, or `None` if it
    /// cannot be reached.
    pub fn cwds_needed(&self, request: &FtpRequest) -> Option<usize> {
        self.working_dir.cwds_to(&request.cwds).map(|cwds| cwds.len())
    }

    /// Returns `true` if directory and representation type are already those of `request`, so that no command before
    /// its transfer can fail.
    pub fn is_ready_for(&self, request: &FtpRequest) -> bool {
        let has_type = match &request.operation {
            Operation::Stat { .. } | Operation::ChangeDir => false,
            Operation::List { .. } => {
                self.transfer_type.as_ref().is_none_or(|current| *current == TransferType::Ascii)
            }
            Operation::Retrieve { transfer_type, .. } => {
                *transfer_type == TransferType::Image && self.transfer_type.as_ref() == Some(transfer_type)
            }
        };
        has_type && self.cwds_needed(request) == Some(0)
    }

    /// Queues the commands of `request` up to its transfer. `mode` states how the data connection is opened.
    ///
    /// # Errors
    /// [`SessionError::Forbidden`] for an argument that cannot be sent, [`SessionError::UnreachableDir`] if
    /// [`Self::cwds_needed`] returns `None`.
    pub fn start_request(&mut self, request: &FtpRequest, mode: &DataMode) -> Result<(), SessionError> {
        // From another directory, the same names would name another file.
        let cwds = self.working_dir.cwds_to(&request.cwds).ok_or(SessionError::UnreachableDir)?;
        (self.stage, self.metadata) = (RequestStage::Preparing, FileMetadata::default());
        self.transfer_command = request.transfer_command()?;
        let data = if self.transfer_command.is_some() { self.data_command(mode) } else { None };
        // With high latency, the data connection is opened while other replies are pending.
        let (first, last) =
            if self.pipelining == Pipelining::BeforeGreeting { (data, None) } else { (None, data) };
        self.queued.extend(first);
        for cwd in cwds {
            self.queued.push_back(Command::with_argument(Verb::Cwd, cwd)?);
        }
        match &request.operation {
            Operation::Stat { name } => self.queue_stat(name)?,
            Operation::List { .. } => {
                if self.transfer_type.as_ref().is_some_and(|current| *current != TransferType::Ascii) {
                    self.queued.push_back(Command::with_safe_argument(Verb::Type, TransferType::Ascii));
                }
            }
            Operation::ChangeDir => {}
            Operation::Retrieve { name, transfer_type: TransferType::Image } => self.queue_stat(name)?,
            Operation::Retrieve { transfer_type, name } => {
                self.queued.push_back(Command::with_safe_argument(Verb::Type, transfer_type));
                if request.queries_time_of_text {
                    self.queued.push_back(Command::with_argument(Verb::Mdtm, name.as_slice())?);
                }
            }
        }
        self.queued.extend(last);
        Ok(())
    }

    /// Queues SIZE and MDTM, after TYPE, which SIZE depends on (RFC 3659 §4).
    fn queue_stat(&mut self, name: &[u8]) -> Result<(), SessionError> {
        if self.transfer_type != Some(TransferType::Image) {
            self.queued.push_back(Command::with_safe_argument(Verb::Type, TransferType::Image));
        }
        self.queued.push_back(Command::with_argument(Verb::Size, name)?);
        self.queued.push_back(Command::with_argument(Verb::Mdtm, name)?);
        Ok(())
    }

    /// Returns the command that opens the data connection, or `None` if it was sent before.
    fn data_command(&mut self, mode: &DataMode) -> Option<Command> {
        Some(match mode {
            DataMode::AlreadyOpening => return None,
            DataMode::Passive | DataMode::PasvOnly if self.data.port.is_some() || self.is_port_pending() => {
                return None;
            }
            DataMode::Passive if !self.data.no_epsv => Command::new(Verb::Epsv),
            DataMode::Passive | DataMode::PasvOnly => Command::new(Verb::Pasv),
            DataMode::Active { eprt: Some(eprt), port } => {
                self.data.plain_port.clone_from(port);
                Command::with_safe_argument(Verb::Eprt, eprt)
            }
            DataMode::Active { eprt: None, port } => {
                Command::with_safe_argument(Verb::Port, port.as_deref().unwrap_or_default())
            }
        })
    }

    /// Returns `true` if the reply with the port of the data connection is pending.
    pub fn is_port_pending(&self) -> bool {
        self.is_pending(|verb| matches!(verb, Verb::Epsv | Verb::Pasv))
    }

    /// Returns `true` if the reply to a command with a matching verb is pending.
    fn is_pending(&self, matches: impl Fn(Verb) -> bool) -> bool {
        self.pending.iter().any(|pending| match pending {
            Pending::Greeting => false,
            Pending::Command(command) => matches(command.verb()),
        })
    }

    /// Returns the pipelining that the session was created with.
    pub const fn pipelining(&self) -> Pipelining {
        self.pipelining
    }

    /// Returns size and modification time of the file; complete after [`SessionStep::Ready`].
    pub const fn metadata(&self) -> &FileMetadata {
        &self.metadata
    }

    /// Returns `true` until [`Self::start_transfer`] is called for the current request.
    pub fn is_preparing(&self) -> bool {
        self.stage == RequestStage::Preparing
    }

    /// Takes the port on which the server listens; `None` in active mode, or if it was taken before.
    pub const fn take_port(&mut self) -> Option<u16> {
        self.data.port.take()
    }

    /// Queues the transfer, starting `offset` bytes into the file. With `prefetch_port`, EPSV or PASV for the next
    /// transfer is sent together with it, unless pipelining is off or the server might then abort the transfer.
    pub fn start_transfer(&mut self, offset: u64, prefetch_port: bool) {
        self.stage = RequestStage::Transferring;
        self.data.rest_rejected = false;
        if offset > 0 {
            self.data.has_unused_offset = true;
            self.queued.push_back(Command::with_safe_argument(Verb::Rest, offset));
        }
        self.queued.extend(self.transfer_command.take());
        if prefetch_port && self.finishes_transfers_first && self.pipelining != Pipelining::Off {
            let verb = if self.data.no_epsv { Verb::Pasv } else { Verb::Epsv };
            self.queued.push_back(Command::new(verb));
        }
    }

    /// Returns `true` if the server rejected REST, so that the transfer starts at the beginning of the file.
    pub const fn was_rest_rejected(&self) -> bool {
        self.data.rest_rejected
    }

    /// Returns `true` if the server may apply the offset of REST to the next transfer, because it rejected the transfer that
    /// REST was sent for. RFC 3659 §5 does not say which commands clear it.
    pub const fn has_unused_offset(&self) -> bool {
        self.data.has_unused_offset
    }

    /// Returns what to do next. `reply` is the reply that [`SessionStep::AwaitReply`] asked for, and `None` after every
    /// other step; after [`SessionStep::ReceiveData`], call it once the data connection has ended.
    ///
    /// # Errors
    /// The request failed. Only after [`SessionError::Rejected`] can the session be used for another request.
    pub fn next_step(&mut self, reply: Option<Reply>) -> Result<SessionStep, SessionError> {
        if let Some(reply) = reply {
            self.handle_reply(reply)?;
            self.is_pipelined &= !self.pending.is_empty();
        }
        if let Some(step) = self.urgent.take() {
            return Ok(step);
        }
        let sendable = self.sendable_count();
        if sendable > 0 {
            let commands: Vec<Command> = self.queued.drain(..sendable).collect();
            self.is_pipelined |= !self.pending.is_empty() || commands.len() > 1;
            self.pending.extend(commands.iter().cloned().map(Pending::Command));
            return Ok(SessionStep::Send(commands));
        }
        if self.must_await_reply() {
            return Ok(SessionStep::AwaitReply);
        }
        if let Some(rejection) = self.rejection.take() {
            return Err(rejection);
        }
        Ok(if self.stage == RequestStage::Preparing { SessionStep::Ready } else { SessionStep::Done })
    }

    /// Returns `true` if a reply must arrive before the request can continue. The reply to an EPSV or PASV that was sent
    /// ahead is awaited only when its port is needed.
    fn must_await_reply(&self) -> bool {
        match self.stage {
            RequestStage::Ended => self.pending.len() > usize::from(self.is_port_pending()),
            _ => !self.pending.is_empty(),
        }
    }

    /// Returns `true` if the request is over and the reply with the port of the next transfer is pending.
    pub fn is_next_port_pending(&self) -> bool {
        self.stage == RequestStage::Ended && self.is_port_pending()
    }

    /// Returns `true` if the server has accepted the login.
    pub const fn is_logged_in(&self) -> bool {
        self.login.is_complete()
    }

    /// Takes the rejection that has not been reported yet. Use it after the connection was lost.
    pub fn take_rejection(&mut self) -> Option<SessionError> {
        self.rejection.take()
    }

    /// Returns `true` if replies to pipelined commands are pending, so that a silent server probably does not support
    /// pipelining.
    ///
    /// Pending greetings, logins and transfers do not count: servers may take long to answer them for other reasons.
    pub fn is_pipeline_pending(&self) -> bool {
        let may_be_slow = match self.pending.front() {
            Some(Pending::Command(command)) => {
                let verb = command.verb();
                verb.is_transfer() || matches!(verb, Verb::User | Verb::Pass | Verb::Acct)
            }
            _ => true,
        };
        self.is_pipelined && !may_be_slow
    }

    /// Provides the password that [`SessionStep::AskPassword`] asked for.
    ///
    /// # Errors
    /// [`SessionError::Forbidden`] if it contains CR, LF or NUL.
    pub fn provide_password(&mut self, password: &[u8]) -> Result<(), SessionError> {
        self.queued.push_front(Command::with_argument(Verb::Pass, password)?);
        Ok(())
    }

    /// Returns how many of the queued commands can be sent now.
    fn sendable_count(&self) -> usize {
        if self.pipelining == Pipelining::Off {
            return usize::from(self.pending.is_empty() && !self.queued.is_empty());
        }
        if self.queued.is_empty() {
            return 0;
        }
        let must_await_reply =
            |command: &Command| self.login.must_await_reply(command.verb(), self.pipelining);
        let is_blocked = self.pending.iter().any(|pending| match pending {
            Pending::Greeting => self.pipelining != Pipelining::BeforeGreeting,
            Pending::Command(command) => must_await_reply(command),
        });
        if is_blocked {
            return 0;
        }
        self.queued.iter().position(must_await_reply).map_or(self.queued.len(), |last| last + 1)
    }
}
