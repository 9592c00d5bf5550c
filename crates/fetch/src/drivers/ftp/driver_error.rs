//! The reasons why an FTP request fails, and the errors that the caller gets for them.

use fetch_url_proto::ftp::{Command, SessionError, Verb};
use fetch_url_proto::text::Reply;

use super::reply_text::reply_summary;
use crate::drivers::connection_limit::reports_connection_limit;
use crate::net::tls;
use crate::{Code, Error, Hint, Phase};

/// The hint for a server that cannot open the data connection.
pub(super) const ACTIVE_MODE_HINT: &str = "without -P (--ftp-port), the client opens the data connection";

/// The reason why a request on a control connection failed.
pub(super) enum DriverError {
    /// A reply of the server, or a command that cannot be sent.
    Session(SessionError),
    /// The control connection failed, or a timeout expired.
    ConnectionLost(Error),
    /// No reply arrives after several commands were sent together.
    PipelineStalled,
    /// The data connection could not be opened; the transfer command was not sent yet.
    DataConnectionFailed(Error),
}

impl From<Error> for DriverError {
    fn from(error: Error) -> Self {
        Self::ConnectionLost(error)
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::ConnectionLost(error) | DriverError::DataConnectionFailed(error) => error,
            DriverError::PipelineStalled => {
                Self::new(Code::TimedOut, Phase::Reply, "no reply to pipelined commands")
            }
            DriverError::Session(error) => session_error(error),
        }
    }
}

fn session_error(error: SessionError) -> Error {
    let with_reply = |code, phase, detail: &str, reply: &Reply| {
        Error::new(code, phase, detail).with_reply(&reply_summary(reply))
    };
    match error {
        SessionError::AccountNeeded(reply) => {
            let error =
                with_reply(Code::AuthNeeded, Phase::Request, "the server requires an account (ACCT)", &reply);
            error.with_hint(Hint::FtpAccount)
        }
        SessionError::TransferFailed(reply) => {
            with_reply(Code::Truncated, Phase::Body, "the server aborted the transfer", &reply)
        }
        SessionError::Closing(reply) => with_reply(Code::Busy, Phase::Request, "", &reply),
        SessionError::Forbidden(byte) => byte.into(),
        SessionError::UnreachableDir => {
            let detail = "the pooled connection cannot reach the directory of the URL";
            Error::new(Code::Internal, Phase::Plan, detail)
        }
        SessionError::UnexpectedReply { command, reply } => {
            let detail = match command {
                Some(verb) => format!("unexpected reply to {}", verb.as_str()),
                None => "unexpected reply instead of a greeting".to_owned(),
            };
            with_reply(Code::PeerMisbehaved, Phase::Reply, &detail, &reply)
        }
        SessionError::Rejected { command, reply, .. } => rejection_error(command.as_ref(), &reply),
    }
}

/// Returns the error for a first reply that is not a greeting (220).
pub(super) fn greeting_error(reply: Reply) -> Error {
    match reply.code {
        400..=599 => rejection_error(None, &reply),
        _ => session_error(SessionError::UnexpectedReply { command: None, reply }),
    }
}

/// Returns the error for a rejected command; without a command, the server rejected the connection.
fn rejection_error(command: Option<&Command>, reply: &Reply) -> Error {
    let verb = command.map(Command::verb);
    let is_empty_cwd = verb == Some(Verb::Cwd) && command.and_then(Command::argument) == Some(b"");
    let is_connecting = matches!(verb, None | Some(Verb::User | Verb::Pass | Verb::Acct));
    let code = match code_for_reply(verb, reply.code) {
        Code::AuthNeeded | Code::Denied if is_connecting && has_too_many_connections(reply) => Code::Busy,
        code => code,
    };
    let phase = if code == Code::TlsFailed { Phase::Tls } else { Phase::Request };
    let detail = verb.map_or("", Verb::as_str);
    let error = Error::new(code, phase, detail).with_reply(&reply_summary(reply));
    let is_transient = reply.code / 100 == 4 || reply.code == 120 || code == Code::Busy;
    let error = if is_transient { error.as_transient() } else { error };
    match (verb, code) {
        _ if is_empty_cwd => error.with_hint(
            "an empty path segment is a CWD without an argument (RFC 1738 §3.2.2); /%2F is the root directory",
        ),
        (Some(Verb::User | Verb::Pass), Code::AuthNeeded) => error.as_permanent().with_refused_login(),
        _ => error,
    }
}

/// Returns `true` if a line of the reply says that the client or user has too many connections.
fn has_too_many_connections(reply: &Reply) -> bool {
    reply.lines.iter().any(|line| reports_connection_limit(line))
}

/// Returns `true` if the server has refused the connection or the login with 530, and the text does not name the limit
/// of connections. The reason may then be a wrong password or this limit.
pub(super) fn is_refused_login(error: &DriverError) -> bool {
    matches!(error, DriverError::Session(SessionError::Rejected { command, reply, .. })
        if reply.code == 530
            && matches!(command.as_ref().map(Command::verb), None | Some(Verb::User | Verb::Pass))
            && !has_too_many_connections(reply))
}

/// Returns the error for a refused login that the server has accepted on another connection of this run. The reason is
/// probably the limit of connections: most servers reject the login of connections above it, with different texts.
pub(super) fn rejected_repeated_login_error(error: DriverError) -> Error {
    match error {
        DriverError::Session(SessionError::Rejected { command, reply, .. }) => {
            let refused = command.as_ref().map_or("connection", |command| command.verb().as_str());
            let detail = format!("{refused} refused, although the login was accepted before");
            Error::new(Code::Busy, Phase::Request, detail).with_reply(&reply_summary(&reply)).as_transient()
        }
        error => error.into(),
    }
}

/// Returns the error for a server that cannot open the data connection in active mode. A retry would fail for the same
/// reason: a firewall or address translation in front of this computer.
pub(super) fn active_mode_error(reply: &Reply) -> Error {
    Error::new(Code::ConnectFailed, Phase::Connect, "the server cannot connect to this computer")
        .with_reply(&reply_summary(reply))
        .with_hint(ACTIVE_MODE_HINT)
        .as_permanent()
}

/// Maps a reply code to an error code (RFC 959 §4.2.2, RFC 4217 §12, RFC 2228 §6).
fn code_for_reply(verb: Option<Verb>, reply: u16) -> Code {
    match (verb, reply) {
        (None, 120 | 400..=499) => Code::Busy,
        // For EPSV and EPRT, 522 means another network protocol (RFC 2428 §2).
        (Some(Verb::Epsv | Verb::Eprt), 522) => Code::Unsupported,
        (Some(Verb::Pbsz | Verb::Prot), _) | (_, 431 | 522 | 533..=535) => Code::TlsFailed,
        (Some(Verb::User | Verb::Pass | Verb::Acct), 430 | 500..=599) | (_, 532) => Code::AuthNeeded,
        (Some(Verb::Type), 500..=599) => Code::Unsupported,
        (_, 425) => Code::ConnectFailed,
        (_, 426) => Code::Truncated,
        (_, 400..=499) => Code::Busy,
        (_, 550) => Code::NotFound,
        _ => Code::Denied,
    }
}

/// Returns the error for a server that closed the control connection.
pub(super) fn connection_closed_error() -> Error {
    Error::new(Code::EmptyReply, Phase::Reply, "the server closed the connection")
}

/// Returns the error for an I/O error on the control connection.
pub(super) fn connection_lost_error(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => connection_closed_error(),
        _ => tls::lost_connection_error(Code::EmptyReply, Phase::Reply, "the control connection", error),
    }
}

/// Returns the error for a byte range that the server cannot deliver.
pub(super) fn range_refused(detail: &str) -> Error {
    Error::new(Code::RangeRefused, Phase::Request, detail)
}

/// Returns the error for a step of the session that its caller does not expect: a bug in this program.
pub(super) fn unexpected_step_error() -> Error {
    Error::new(Code::Internal, Phase::Request, "the FTP session returned an unexpected step")
}

/// Returns the error for a server that repeats a preliminary reply (1yz). Such a server never sends the data.
pub(super) fn repeated_preliminary_reply(reply: Reply) -> DriverError {
    DriverError::Session(SessionError::UnexpectedReply { command: Some(Verb::Retr), reply })
}
