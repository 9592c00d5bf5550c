//! The interface of a session: its settings, the steps it asks for, and its errors.

use crate::ForbiddenByte;
use crate::ftp::{Command, Verb};
use crate::text::Reply;

/// How many commands may be sent before their replies arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "callers match all variants")]
pub enum Pipelining {
    /// Each command waits for the reply to the one before it (RFC 959 §5.4).
    Off,
    /// After the login, all commands that do not depend on a reply are sent together. The default.
    #[default]
    AfterLogin,
    /// The login is pipelined too, even before the greeting of the server, to save round trips on connections with high
    /// latency. A password other than the anonymous one is still sent only after the server has asked for it.
    BeforeGreeting,
}

/// How the data connection is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "callers match all variants")]
pub enum DataMode {
    /// Active: the server connects to the client.
    Active {
        /// The argument of EPRT (see [`port_argument`](crate::ftp::port_argument)), or `None` to send PORT only.
        eprt: Option<String>,
        /// The argument of PORT, if the address of the client is IPv4.
        port: Option<String>,
    },
    /// The data connection is being opened already; no command is needed.
    AlreadyOpening,
    /// Passive: the client connects to the port that the server returns to EPSV or, if that fails, to PASV.
    Passive,
    /// Passive, with PASV only.
    PasvOnly,
}

/// The next action for the caller of a [`Session`](super::Session).
#[derive(Debug, PartialEq, Eq)]
#[must_use]
#[allow(clippy::exhaustive_enums, reason = "the caller of a session must handle every step")]
pub enum SessionStep {
    /// Pass a password to [`Session::provide_password`](super::Session::provide_password).
    AskPassword,
    /// Receive the next reply and pass it to [`Session::next_step`](super::Session::next_step).
    AwaitReply,
    /// The request is complete, and the server has confirmed it.
    Done,
    /// Everything that precedes the transfer is known: call
    /// [`Session::start_transfer`](super::Session::start_transfer), or start another request.
    Ready,
    /// Receive the data connection up to its end, then call [`Session::next_step`](super::Session::next_step) without a
    /// reply.
    ReceiveData,
    /// Send these commands in one write.
    Send(Vec<Command>),
}

/// Why a session cannot continue with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the caller of a session must handle every error")]
pub enum SessionError {
    /// The server requires an account (reply 332), and none was given.
    AccountNeeded(Reply),
    /// The server is about to close the connection (reply 421).
    Closing(Reply),
    /// An argument contains a byte that would change the command. Nothing was sent.
    Forbidden(ForbiddenByte),
    /// The server rejected a command, or the connection in its greeting.
    Rejected {
        /// The rejected command; `None` for the greeting.
        command: Option<Command>,
        /// The command was the CWD back to the login directory. A new session may succeed.
        is_return_to_login_dir: bool,
        /// The reply.
        reply: Reply,
    },
    /// The data connection ended, and the server reports that the transfer is incomplete.
    TransferFailed(Reply),
    /// The reply is not one that the protocol allows for the command.
    UnexpectedReply {
        /// The command; `None` for the greeting or if no command was pending.
        command: Option<Verb>,
        /// The reply.
        reply: Reply,
    },
    /// The directory cannot be reached from the current directory of the session. Nothing was sent.
    UnreachableDir,
}

impl From<ForbiddenByte> for SessionError {
    fn from(forbidden: ForbiddenByte) -> Self {
        Self::Forbidden(forbidden)
    }
}
