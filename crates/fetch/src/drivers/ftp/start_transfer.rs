//! The commands of a request up to the first byte of data.

use std::future::{Future as _, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use fetch_url_core::Host;
use fetch_url_proto::ftp::{Command, DataMode, Operation, SessionError, SessionStep, Verb, port_argument};
use tokio::io::AsyncReadExt as _;

use super::connection::Connection;
use super::driver_error::{
    ACTIVE_MODE_HINT, DriverError, active_mode_error, range_refused, unexpected_step_error,
};
use super::options::ActiveAddress;
use super::plan::FtpPlan;
use crate::meta::Repetition;
use crate::net::ftp_data::ActiveListener;
use crate::net::server_stream::{RemoteEnd, ServerStream};
use crate::net::trace;
use crate::time::Instant;
use crate::{
    ByteRange, Code, Content, Credential, Error, Hint, Meta, Phase, Response, RunContext, Validator, range,
};

/// Maximum time to wait for unannounced data, or for the end of the data connection of an empty directory.
const MAX_WAIT_FOR_DATA: Duration = Duration::from_secs(1);

/// Which side opens the data connection.
enum DataSetup {
    Passive,
    Active(ActiveListener),
}

/// The state of a request when its data transfer can start.
pub(super) enum TransferStart {
    /// The response is complete without a transfer.
    Complete(Box<Response>),
    /// The server sends data over `stream`. `end` is the offset after the last requested byte, if the size is known.
    Receiving { meta: Box<Meta>, stream: ServerStream, end: Option<u64> },
    /// The server completed a listing command without opening a data connection.
    EmptyListing(Box<Meta>),
}

/// Exchanges all commands of the plan up to the first byte of data.
pub(super) async fn start_transfer(
    connection: &mut Connection,
    plan: &FtpPlan,
    ctx: &RunContext,
) -> Result<TransferStart, DriverError> {
    let (mode, setup) = data_mode(connection.endpoints(), plan).await?;
    if connection.has_pending_data() {
        // If the whole file is wanted, its metadata does not change the commands. If no command comes before the
        // transfer that the server could reject, the pending data connection belongs to this file.
        let is_immediate = plan.wants_whole_file() && connection.is_ready_for(&plan.ftp_request);
        connection.start_request(&plan.ftp_request, &DataMode::AlreadyOpening)?;
        if is_immediate {
            connection.request_transfer(0, plan.may_prefetch_port());
            ctx.connector.connection_info().update(|record| record.sent = Some(Instant::now()));
            let step = connection.run_until_event(ctx).await?;
            let stream = connection.open_data_connection(ctx).await?;
            return handle_transfer_reply(step, Some(stream), setup, 0, connection, plan, ctx).await;
        }
    } else {
        connection.start_request(&plan.ftp_request, &mode)?;
    }
    prepare_transfer(connection, plan, ctx).await?;
    let meta = response_metadata(connection, plan);
    if let Some(content) = content_without_transfer(connection, plan, &meta)? {
        return Ok(TransferStart::Complete(Box::new(Response::new(meta, content))));
    }
    if meta.head.size.is_none() && start_of_unsized_file(plan).is_err() {
        check_file_exists(connection, plan)?;
    }
    let first = requested_range(plan, &meta)?.0;
    let stream = match setup {
        DataSetup::Passive => {
            let opened = connection.open_data_connection(ctx).await;
            Some(opened.map_err(DriverError::DataConnectionFailed)?)
        }
        DataSetup::Active(_) => None,
    };
    let offset = first - plan.overlap_bytes(first).len() as u64;
    connection.request_transfer(offset, stream.is_some() && plan.may_prefetch_port());
    ctx.connector.connection_info().update(|record| record.sent = Some(Instant::now()));
    let step = connection.run_until_event(ctx).await?;
    handle_transfer_reply(step, stream, setup, first, connection, plan, ctx).await
}

/// Exchanges commands until the transfer can be requested. Asks the user for a password if the server requires one.
async fn prepare_transfer(
    connection: &mut Connection,
    plan: &FtpPlan,
    ctx: &RunContext,
) -> Result<(), DriverError> {
    let limited = || RunContext { deadline: ctx.deadline.with_double_reply_timeout(), ..ctx.clone() };
    let mut limited_ctx = limited();
    loop {
        match connection.run_until_event(&limited_ctx).await? {
            SessionStep::AskPassword => {
                connection.send_password(&prompt_for_password(plan, ctx).await?)?;
                // The time of the prompt does not count towards the timeout.
                limited_ctx = limited();
            }
            SessionStep::Ready => return Ok(()),
            _ => return Err(unexpected_step_error().into()),
        }
    }
}

/// Handles the reply to the transfer command.
async fn handle_transfer_reply(
    step: SessionStep,
    stream: Option<ServerStream>,
    setup: DataSetup,
    first: u64,
    connection: &mut Connection,
    plan: &FtpPlan,
    ctx: &RunContext,
) -> Result<TransferStart, DriverError> {
    ctx.connector.connection_info().update(|record| record.first_byte = Some(Instant::now()));
    let mut meta = response_metadata(connection, plan);
    let end = requested_range(plan, &meta)?.1;
    let is_from_start = connection.was_rest_refused();
    let stream = match (step, stream, setup) {
        (SessionStep::Done, stream, _) => {
            check_no_data(stream, ctx).await?;
            return Ok(TransferStart::EmptyListing(meta));
        }
        (SessionStep::ReceiveData, Some(stream), _) => stream,
        (SessionStep::ReceiveData, None, DataSetup::Active(listener)) => {
            accept_data_connection(listener, connection, ctx).await?
        }
        _ => return Err(unexpected_step_error().into()),
    };
    meta.offset = if is_from_start { 0 } else { first };
    if meta.offset != first && plan.range.is_some() {
        return Err(range_refused("the server does not support REST").into());
    }
    if meta.offset != first {
        trace::note(&"REST was refused: downloading from the start");
    }
    Ok(TransferStart::Receiving { meta, stream, end })
}

/// Checks that no data arrives. A server that replied 226 without 150 has an empty directory, or has sent a listing
/// without announcing it, which would be lost.
async fn check_no_data(stream: Option<ServerStream>, ctx: &RunContext) -> Result<(), Error> {
    let Some(mut stream) = stream else { return Ok(()) };
    let mut byte = [0];
    // A data connection that was reset had no data.
    let read = async { Ok(stream.read(&mut byte).await.unwrap_or(0)) };
    match ctx.deadline.bound_probe(MAX_WAIT_FOR_DATA, Phase::Body, read).await? {
        None | Some(0) => Ok(()),
        Some(_) => {
            let detail = "the server sent data without the reply 150, which announces it";
            Err(Error::new(Code::PeerMisbehaved, Phase::Reply, detail))
        }
    }
}

/// Waits for the data connection of the server, or for its reply that it cannot connect.
async fn accept_data_connection(
    listener: ActiveListener,
    connection: &mut Connection,
    ctx: &RunContext,
) -> Result<ServerStream, DriverError> {
    let mut accepting = pin!(listener.accept(&ctx.deadline));
    let accepted = poll_fn(|cx| match accepting.as_mut().poll(cx) {
        Poll::Pending if connection.poll_failure_reply(cx) => Poll::Ready(None),
        accepted => accepted.map(Some),
    });
    match accepted.await {
        Some(accepted) => accepted.map_err(|error| match error.code() {
            Code::TimedOut => error.with_hint(ACTIVE_MODE_HINT).into(),
            _ => error.into(),
        }),
        None => match connection.run_until_event(ctx).await {
            Err(DriverError::Session(SessionError::TransferFailed(reply))) => {
                Err(active_mode_error(&reply).into())
            }
            Err(error) => Err(error),
            Ok(_) => Err(unexpected_step_error().into()),
        },
    }
}

/// Returns the offset of the first requested byte, and the offset after the last one if the size is known.
fn requested_range(plan: &FtpPlan, meta: &Meta) -> Result<(u64, Option<u64>), Error> {
    match meta.head.size {
        Some(size) => {
            let (first, end) = range::select_range(plan.resume.as_ref(), plan.range, meta, size)?;
            Ok((first, Some(end)))
        }
        None => Ok((start_of_unsized_file(plan)?, None)),
    }
}

/// Returns how the data connection is opened. Active mode is used only if the caller selected it.
async fn data_mode(
    (remote, local): (&RemoteEnd, SocketAddr),
    plan: &FtpPlan,
) -> Result<(DataMode, DataSetup), Error> {
    let needs_data = !matches!(plan.ftp_request.operation, Operation::Stat { .. } | Operation::ChangeDir);
    // PASV and PORT have no form for IPv6, so the options that disable EPSV and EPRT have no effect there.
    let is_ipv4 = match remote {
        RemoteEnd::Address(peer) => peer.ip().to_canonical().is_ipv4(),
        // The address of a name is known to the proxy only.
        RemoteEnd::BehindProxy(host) => !matches!(host, Host::V6(_) | Host::V6Zone(..)),
    };
    let local = match plan.options.active.filter(|_| needs_data) {
        None if (plan.options.no_epsv && is_ipv4) || plan.fallbacks.pasv_only => {
            return Ok((DataMode::PasvOnly, DataSetup::Passive));
        }
        None => return Ok((DataMode::Passive, DataSetup::Passive)),
        Some(ActiveAddress::SameAsControl) => local,
        Some(ActiveAddress::At(address)) => SocketAddr::new(address, 0),
    };
    let RemoteEnd::Address(peer) = remote else { return Err(active_mode_refused("a proxy")) };
    let listener = ActiveListener::bind(local, peer.ip()).await?;
    let address = listener.address()?;
    let eprt = if plan.options.no_eprt && is_ipv4 { None } else { port_argument(address, true) };
    let mode = DataMode::Active { eprt, port: port_argument(address, false) };
    Ok((mode, DataSetup::Active(listener)))
}

/// Checks that active mode is not requested through a proxy, which accepts no connections for its clients.
///
/// # Errors
/// `Code::Unsupported`.
pub(super) fn check_active_mode(plan: &FtpPlan, ctx: &RunContext) -> Result<(), Error> {
    match ctx.connector.proxy_for(&plan.host)? {
        Some(proxy) if plan.options.active.is_some() => {
            Err(active_mode_refused(&format!("the proxy {proxy}")))
        }
        _ => Ok(()),
    }
}

fn active_mode_refused(proxy: &str) -> Error {
    let detail = format!("active mode (PORT, EPRT) cannot be used through {proxy}");
    Error::new(Code::Unsupported, Phase::Proxy, detail).with_hint(Hint::PassiveMode)
}

/// Asks the user for the password (RFC 1738 §3.2.1).
async fn prompt_for_password(plan: &FtpPlan, ctx: &RunContext) -> Result<Vec<u8>, Error> {
    let user = plan.login.as_ref().map(Credential::user);
    let answer = ctx.password_prompt.ask(&plan.url, user, None, &ctx.deadline).await?;
    let password = answer.as_ref().and_then(Credential::expose_password);
    password.map(<[u8]>::to_vec).ok_or_else(|| {
        let detail = "the server requires a password, and there is no terminal or program to ask for it";
        Error::new(Code::AuthNeeded, Phase::Request, detail)
    })
}

/// Returns the metadata that the server reported before the transfer.
fn response_metadata(connection: &Connection, plan: &FtpPlan) -> Box<Meta> {
    let file = connection.file_metadata();
    let mut meta = Box::new(Meta::new(plan.url.clone()));
    meta.protocol = Some("FTP");
    meta.head.size = file.size;
    meta.head.modified = file.modified.as_ref().map(|modified| modified.seconds);
    meta.validator = file.modified.as_ref().map(|modified| Validator::Modified(modified.text.clone()));
    meta.is_resumable = meta.validator.is_some() && meta.head.size.is_some();
    meta.repetition = if meta.validator.is_some() { Repetition::Always } else { Repetition::BeforeFirstByte };
    meta
}

/// Returns the content if no data has to be transferred: metadata only, or a condition that is not met.
fn content_without_transfer(
    connection: &Connection,
    plan: &FtpPlan,
    meta: &Meta,
) -> Result<Option<Content>, DriverError> {
    if plan.wants_head {
        if matches!(plan.ftp_request.operation, Operation::Stat { .. }) {
            check_file_exists(connection, plan)?;
        }
        return Ok(Some(Content::Head));
    }
    let is_met = plan.condition.is_none_or(|condition| condition.is_met_by(meta.head.modified));
    Ok((!is_met).then_some(Content::Unchanged))
}

/// Returns an error if the server replied 550 to SIZE and to MDTM: the file does not exist, or it is a directory.
fn check_file_exists(connection: &Connection, plan: &FtpPlan) -> Result<(), DriverError> {
    let file = connection.file_metadata();
    let rejection = file.rejection.as_ref().filter(|reply| reply.code == 550 && !file.is_accepted);
    let (Some(reply), Operation::Stat { name } | Operation::Retrieve { name, .. }) =
        (rejection, &plan.ftp_request.operation)
    else {
        return Ok(());
    };
    let command = Some(Command::with_argument(Verb::Size, name.clone()).map_err(Error::from)?);
    let rejection = SessionError::Rejected { command, is_return_to_login_dir: false, reply: reply.clone() };
    Err(DriverError::Session(rejection))
}

/// Returns the offset of the first requested byte of a file whose size is not known.
fn start_of_unsized_file(plan: &FtpPlan) -> Result<u64, Error> {
    match plan.range {
        None => Ok(0),
        Some(ByteRange::Span { last: None, .. }) if !plan.overlap_proves_offset() => {
            let detail = "the server does not report the size of the file, and the bytes before the offset are also \
                          those at the start of the file, so that nothing would show whether REST is ignored";
            Err(range_refused(detail))
        }
        Some(ByteRange::Span { first, last: None }) => Ok(first),
        Some(_) => Err(range_refused("the server does not report the size of the file")),
    }
}
