//! Decides what to do after a failed attempt: another attempt with other commands, an empty listing, or an error.

use fetch_url_proto::ftp::{Command, IacEscaping, ListVerb, Operation, SessionError, Verb};
use fetch_url_proto::text::Reply;

use super::connection::Connection;
use super::driver_error::{
    DriverError, active_mode_error, is_refused_login, range_refused, rejected_repeated_login_error,
};
use super::fallbacks::Fallbacks;
use super::known_servers::KnownServers;
use super::listing;
use super::options::FtpMethod;
use super::plan::FtpPlan;
use super::reply_text::reply_summary;
use super::server_cache::PooledConnection;
use crate::net::trace;
use crate::{Code, Error, Meta, Response, RunContext};

/// Maximum number of times that a server may name a data port of another protocol. A server that chooses from all ports
/// does so from time to time.
const MAX_REFUSED_PORTS: u8 = 2;

/// The action after a failed attempt.
pub(super) enum Recovery {
    /// Run this plan, which has other fallbacks.
    Resend(Box<FtpPlan>),
    /// The failure means an empty listing.
    Respond(Box<Response>),
}

/// Decides what to do after `error`. Returns the connection to the pool if it can serve another request.
pub(super) async fn recover(
    error: DriverError,
    mut pooled: PooledConnection,
    plan: FtpPlan,
    ctx: &RunContext,
) -> Result<Recovery, Error> {
    pooled.connection.discard_pending_data();
    let fallback = next_fallback(&error, &pooled.connection, &plan, pooled.known_servers());
    if let Some((fallbacks, reason)) = fallback {
        trace::note(&reason);
        if leaves_connection_usable(&error, &pooled.connection) {
            pooled.release();
        }
        return Ok(Recovery::Resend(Box::new(plan.with_fallbacks(fallbacks)?)));
    }
    if is_refused_login(&error) {
        let is_accepted = Box::pin(pooled.close_refused_login(ctx)).await;
        return Err(if is_accepted { rejected_repeated_login_error(error) } else { error.into() });
    }
    if listing::may_mean_empty_directory(&error, &plan) {
        let meta = Box::new(Meta::new(plan.url.clone()));
        let response = listing::empty_listing(meta, pooled, &plan, ctx).await?;
        return Ok(Recovery::Respond(Box::new(response)));
    }
    if plan.is_partial() && rejects_restart_position(&error) {
        return Err(range_refused("the server cannot start at this offset"));
    }
    if leaves_connection_usable(&error, &pooled.connection) {
        pooled.release();
    }
    if let (Some(reply), true) = (data_connection_rejection(&error), plan.options.active.is_some()) {
        return Err(active_mode_error(reply));
    }
    Err(error.into())
}

/// Returns the reply of a server that cannot open the data connection.
fn data_connection_rejection(error: &DriverError) -> Option<&Reply> {
    match error {
        DriverError::Session(SessionError::Rejected { reply, .. }) if reply.code == 425 => Some(reply),
        _ => None,
    }
}

/// Returns `true` if the server rejected the offset of REST (RFC 3659 §5).
fn rejects_restart_position(error: &DriverError) -> bool {
    matches!(error, DriverError::Session(SessionError::Rejected { command: Some(command), reply, .. })
        if command.verb() == Verb::Retr && reply.code == 554)
}

/// Returns `true` if an error on a reused connection may not occur on a new one: the server closed the idle connection,
/// its replies are out of order, or the session cannot return to its home directory. The request is then repeated on
/// another connection.
pub(super) fn may_be_caused_by_reuse(error: &DriverError) -> bool {
    match error {
        DriverError::PipelineStalled => true,
        DriverError::ConnectionLost(error) => {
            matches!(error.code(), Code::EmptyReply | Code::PeerMisbehaved | Code::TimedOut | Code::Policy)
        }
        // A reply 421 with another text may mean that the server is overloaded, so a retry waits first.
        DriverError::Session(SessionError::Closing(reply)) => reports_idle_timeout(reply),
        DriverError::Session(error) => matches!(
            error,
            SessionError::UnexpectedReply { .. }
                | SessionError::Rejected { is_return_to_login_dir: true, .. }
                // The server closed the data connection that was opened before this request.
                | SessionError::Rejected { reply: Reply { code: 425, .. }, .. }
        ),
        DriverError::DataConnectionFailed(_) => false,
    }
}

/// Returns `true` if the text of a reply says that the connection was idle for too long.
fn reports_idle_timeout(reply: &Reply) -> bool {
    let text = reply_summary(reply).to_ascii_lowercase();
    ["timeout", "time out", "timed out", "idle", "inactiv"]
        .iter()
        .any(|word| memchr::memmem::find(&text, word.as_bytes()).is_some())
}

/// Returns `true` if the server rejected only this request, so that the connection can serve others. After a rejected
/// transfer with an offset it cannot: the next transfer might start at the offset.
const fn leaves_connection_usable(error: &DriverError, connection: &Connection) -> bool {
    use Verb::{Acct, Pass, Pbsz, Prot, User};
    if connection.has_unused_offset() {
        return false;
    }
    match error {
        DriverError::Session(SessionError::Rejected { command: Some(command), .. }) => {
            !matches!(command.verb(), User | Pass | Acct | Pbsz | Prot)
        }
        _ => false,
    }
}

/// Returns the fallbacks for the next attempt and the reason for the trace, or `None` if no fallback can help.
fn next_fallback(
    error: &DriverError,
    connection: &Connection,
    plan: &FtpPlan,
    known: &KnownServers,
) -> Option<(Fallbacks, String)> {
    match error {
        DriverError::PipelineStalled if connection.is_pipelining() => {
            Some(fallback_to_sequential(plan, known))
        }
        DriverError::Session(SessionError::UnexpectedReply { .. }) if connection.has_pipelined() => {
            Some(fallback_to_sequential(plan, known))
        }
        DriverError::DataConnectionFailed(error) => fallback_after_data_error(error, plan),
        // The server took 0xFF and the next byte for a Telnet command, and its answer is no FTP reply.
        DriverError::ConnectionLost(error) if error.code() == Code::PeerMisbehaved && sends_iac(plan) => {
            Some(fallback_to_doubled_iac(plan))
        }
        DriverError::Session(SessionError::Rejected { command: Some(command), reply, .. }) => {
            fallback_after_rejection(command, reply.code, plan)
        }
        _ => None,
    }
}

fn fallback_to_sequential(plan: &FtpPlan, known: &KnownServers) -> (Fallbacks, String) {
    known.mark_sequential(&plan.host, plan.port);
    let reason = "the server mishandles pipelined commands: sending one command at a time";
    (Fallbacks { sequential: true, ..plan.fallbacks }, reason.to_owned())
}

/// Returns `true` if a command of the plan contains the byte 0xFF, and it is sent as it is.
fn sends_iac(plan: &FtpPlan) -> bool {
    let commands = plan.ftp_request.commands().unwrap_or_default();
    plan.fallbacks.iac == IacEscaping::Plain && commands.iter().any(Command::contains_iac)
}

fn fallback_to_doubled_iac(plan: &FtpPlan) -> (Fallbacks, String) {
    let reason = "sending each byte 0xFF twice (RFC 854)";
    (Fallbacks { iac: IacEscaping::Doubled, ..plan.fallbacks }, reason.to_owned())
}

fn fallback_after_data_error(error: &Error, plan: &FtpPlan) -> Option<(Fallbacks, String)> {
    let used = plan.fallbacks;
    match error.code() {
        // A firewall may drop the packets to the port of EPSV, and know only PASV.
        Code::ConnectFailed | Code::TimedOut if !used.pasv_only && !plan.options.no_epsv => {
            Some((Fallbacks { pasv_only: true, ..used }, format!("{error}: trying PASV")))
        }
        Code::Policy if used.refused_ports < MAX_REFUSED_PORTS => {
            let refused_ports = used.refused_ports + 1;
            Some((Fallbacks { refused_ports, ..used }, format!("{error}: asking for another port")))
        }
        _ => None,
    }
}

fn fallback_after_rejection(command: &Command, code: u16, plan: &FtpPlan) -> Option<(Fallbacks, String)> {
    let used = plan.fallbacks;
    if command.contains_iac() && used.iac == IacEscaping::Plain {
        return Some(fallback_to_doubled_iac(plan));
    }
    match (command.verb(), &plan.ftp_request.operation) {
        (Verb::Cwd, _) if plan.options.method == FtpMethod::Auto && !used.no_cwd => {
            let reason = "CWD was refused: sending the whole path in one command (nocwd)";
            Some((Fallbacks { no_cwd: true, ..used }, reason.to_owned()))
        }
        (Verb::Mlsd | Verb::List | Verb::Nlst, Operation::List { verb, .. }) if matches!(code, 500..=504) => {
            // The server of Twisted rejects NLST without an argument. An NLST that is itself a fallback is the last
            // attempt.
            let is_first = *verb == ListVerb::Nlst && used.list_verb.is_none();
            let fallback = if is_first { ListVerb::List } else { verb.fallback()? };
            let reason = format!(
                "the server does not support {}: trying {}",
                verb.verb().as_str(),
                fallback.verb().as_str()
            );
            Some((Fallbacks { list_verb: Some(fallback), ..used }, reason))
        }
        _ => None,
    }
}
