//! A control connection and its FTP session: sends the commands that the session returns, passes replies to it, and
//! opens data connections ahead of time.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use fetch_url_proto::ftp::{
    Command, DataMode, FileMetadata, FtpRequest, IacEscaping, Pipelining, Session, SessionStep,
};
use fetch_url_proto::text::Reply;
use rustls::ClientConfig;

use super::control::ControlConnection;
use super::data_connection::{DataConnection, tls_config_with_own_sessions};
use super::driver_error::{DriverError, repeated_preliminary_reply};
use super::greeting;
use super::known_servers::KnownServers;
use super::logins::LoginAttempt;
use super::plan::FtpPlan;
use super::reply_text::{announced_size, reply_wire_lines, reports_incomplete_listing};
use super::round_trip::{probe_time, round_trip_time};
use super::secrets::ReplySecrets;
use crate::net::server_stream::{RemoteEnd, ServerStream};
use crate::net::trace;
use crate::time::Instant;
use crate::{Code, Connector, Deadline, Error, Phase, RunContext, StartTls};

/// The minimum round-trip time at which the login is sent before the greeting has arrived.
const PIPELINING_RTT: Duration = Duration::from_millis(25);

/// A data connection that is opened before it is needed.
type PendingDataConnection = Pin<Box<dyn Future<Output = Result<ServerStream, Error>> + Send>>;

/// A control connection, the state of its session, and the next data connection.
pub(super) struct Connection {
    control: ControlConnection,
    session: Session,
    iac: IacEscaping,
    tls: Option<Arc<ClientConfig>>,
    pending_data: Option<PendingDataConnection>,
    secrets: ReplySecrets,
    /// The login, until the server accepts it.
    pub(super) login_attempt: Option<LoginAttempt>,
    /// Maximum time to wait for a reply to pipelined commands, before they are sent one at a time.
    probe_time: Duration,
    /// A transfer was started on this connection before.
    is_used: bool,
    /// The last reply stated that the listing is incomplete.
    reported_incomplete: bool,
    /// The size in the reply 125 or 150 to the last transfer.
    pub(super) announced_size: Option<u64>,
}

impl Connection {
    /// Connects to the server of `plan`, with TLS if the scheme or caller requires it. Does not read the greeting.
    pub(super) async fn open(plan: &FtpPlan, known: &KnownServers, ctx: &RunContext) -> Result<Self, Error> {
        match ctx.connector.start_tls() {
            _ if plan.is_implicit_tls => {
                let config = tls_config_with_own_sessions(&ctx.connector)?;
                let deadline = ctx.deadline.connecting();
                let stream = ctx.connector.connect(&plan.host, plan.port, &deadline).await?;
                let stream = ctx.connector.handshake(stream, &plan.host, config.clone(), &deadline).await?;
                ctx.connector.connection_info().update(|record| record.tls_done = Some(Instant::now()));
                Self::start_session(ControlConnection::new_tls(stream, None)?, Some(config), plan, known, ctx)
            }
            StartTls::Never => {
                let stream = ctx.connector.connect(&plan.host, plan.port, &ctx.deadline).await?;
                Self::start_session(ControlConnection::new_plain(stream)?, None, plan, known, ctx)
            }
            start => Self::open_with_auth_tls(start, plan, known, ctx).await,
        }
    }

    async fn open_with_auth_tls(
        start: StartTls,
        plan: &FtpPlan,
        known: &KnownServers,
        ctx: &RunContext,
    ) -> Result<Self, Error> {
        let config = tls_config_with_own_sessions(&ctx.connector)?;
        let mut stream = ctx.connector.connect(&plan.host, plan.port, &ctx.deadline).await?;
        match ctx.deadline.bound(Phase::Reply, greeting::request_auth_tls(&mut stream)).await {
            Ok(greeting) => {
                let deadline = ctx.deadline.connecting();
                let stream = ctx.connector.handshake(stream, &plan.host, config.clone(), &deadline).await?;
                ctx.connector.connection_info().update(|record| record.tls_done = Some(Instant::now()));
                let control = ControlConnection::new_tls(stream, Some(greeting))?;
                Self::start_session(control, Some(config), plan, known, ctx)
            }
            // Only a rejected AUTH permits plain text; a wrong certificate does not.
            Err(error) if start == StartTls::Try && greeting::is_tls_refused(&error) => {
                trace::note(&"the server does not support TLS: continuing in plain text");
                let stream = ctx.connector.connect(&plan.host, plan.port, &ctx.deadline).await?;
                Self::start_session(ControlConnection::new_plain(stream)?, None, plan, known, ctx)
            }
            Err(error) => Err(error),
        }
    }

    fn start_session(
        control: ControlConnection,
        tls: Option<Arc<ClientConfig>>,
        plan: &FtpPlan,
        known: &KnownServers,
        ctx: &RunContext,
    ) -> Result<Self, Error> {
        // On a busy machine, the measured time to a loopback address can exceed the limit.
        let is_loopback = matches!(control.remote, RemoteEnd::Address(peer) if peer.ip().is_loopback());
        let is_distant = tls.is_none() && !is_loopback && round_trip_time(ctx) >= PIPELINING_RTT;
        let login = plan.session_login(tls.is_some())?;
        let is_sequential = known.needs_sequential_commands(&plan.host, plan.port);
        let mut session = Session::new(plan.pipelining(is_distant, is_sequential), login);
        if known.uses_several_directories(&plan.host, plan.port) {
            session = session.querying_login_dir();
        }
        Ok(Self {
            control,
            session,
            iac: plan.fallbacks.iac,
            tls,
            pending_data: None,
            secrets: ReplySecrets::for_plan(plan),
            login_attempt: None,
            probe_time: probe_time(ctx),
            is_used: false,
            reported_incomplete: false,
            announced_size: None,
        })
    }

    /// Returns the number of CWD commands to the directory of `request`, or `None` if it cannot be reached.
    pub(super) fn cwd_distance_to(&self, request: &FtpRequest) -> Option<usize> {
        self.session.cwds_needed(request)
    }

    /// Returns `true` if the transfer of `request` needs no command before it that the server could reject.
    pub(super) fn is_ready_for(&self, request: &FtpRequest) -> bool {
        self.session.is_ready_for(request)
    }

    /// Drops the data connection that was prepared. After a rejected command its state is not known, so the next
    /// request asks for another port.
    pub(super) fn discard_pending_data(&mut self) {
        self.pending_data = None;
        let _ = self.session.take_port();
    }

    /// Starts a request on this connection.
    pub(super) fn start_request(&mut self, request: &FtpRequest, mode: &DataMode) -> Result<(), DriverError> {
        self.session.start_request(request, mode).map_err(DriverError::Session)
    }

    /// Exchanges commands and replies until the session needs its caller: for a password, for the data connection,
    /// for the transfer, or because the request is complete.
    pub(super) async fn run_until_event(&mut self, ctx: &RunContext) -> Result<SessionStep, DriverError> {
        let mut reply = None;
        loop {
            let next = self.session.next_step(reply.take());
            if self.session.is_logged_in() {
                self.login_attempt.take().into_iter().for_each(LoginAttempt::accept);
            }
            match next.map_err(DriverError::Session)? {
                SessionStep::Send(commands) => {
                    self.send_commands(&commands, &ctx.deadline).await?;
                }
                SessionStep::AwaitReply => {
                    // The data port may be known before other replies arrive, so the data connection is opened at once.
                    if self.session.is_preparing() && self.pending_data.is_none() {
                        self.start_data_connection(&ctx.connector).await;
                    }
                    reply = Some(self.receive_reply(&ctx.deadline).await?);
                }
                SessionStep::ReceiveData => return self.check_transfer_start().await,
                step => return Ok(step),
            }
        }
    }

    /// Rejects a second preliminary reply (1yz): a server that repeats it never sends the data. Any other early reply
    /// is read after the data.
    async fn check_transfer_start(&mut self) -> Result<SessionStep, DriverError> {
        match self.control.peek_reply().await {
            Ok(Some(reply)) if reply.code < 200 => Err(repeated_preliminary_reply(reply.clone())),
            _ => Ok(SessionStep::ReceiveData),
        }
    }

    /// Runs the check of [`Self::check_transfer_start`] while the client waits for data.
    pub(super) fn poll_repeated_preliminary(&mut self, cx: &mut Context<'_>) -> Result<(), DriverError> {
        match self.control.poll_reply(cx) {
            Some(reply) if reply.code < 200 => Err(repeated_preliminary_reply(reply.clone())),
            _ => Ok(()),
        }
    }

    /// Returns `true` if the server has replied that the transfer failed. Wakes the task when a reply arrives.
    pub(super) fn poll_failure_reply(&mut self, cx: &mut Context<'_>) -> bool {
        self.control.poll_reply(cx).is_some_and(|reply| reply.code >= 400)
    }

    async fn send_commands(&mut self, commands: &[Command], deadline: &Deadline) -> Result<(), Error> {
        let mut lines = Vec::new();
        for command in commands {
            trace::sent(command);
            command.write_line(&mut lines, self.iac);
        }
        deadline.bound(Phase::Request, self.control.send(&lines)).await
    }

    async fn receive_reply(&mut self, deadline: &Deadline) -> Result<Reply, DriverError> {
        let received = {
            // Pinned here, because moving a future copies it.
            let receiving = pin!(self.control.receive_reply());
            if self.session.is_pipeline_pending() {
                match deadline.bound_probe(self.probe_time, Phase::Reply, receiving).await {
                    Ok(None) => return Err(DriverError::PipelineStalled),
                    Ok(Some(reply)) => Ok(reply),
                    Err(error) => Err(error),
                }
            } else {
                deadline.bound(Phase::Reply, receiving).await
            }
        };
        let mut reply = received.map_err(|error| match self.session.take_rejection() {
            // The server rejected a command and closed the connection: the rejection is the better error.
            Some(rejection) => DriverError::Session(rejection),
            None => DriverError::ConnectionLost(error),
        })?;
        self.redact_and_trace(&mut reply);
        self.reported_incomplete = reports_incomplete_listing(&reply);
        if reply.code < 200 {
            self.announced_size = announced_size(&reply);
        }
        Ok(reply)
    }

    fn redact_and_trace(&self, reply: &mut Reply) {
        self.secrets.redact(reply, self.session.is_logged_in());
        reply_wire_lines(reply).for_each(|line| trace::received(&line));
    }

    /// Passes the password that the session requires.
    pub(super) fn send_password(&mut self, password: &[u8]) -> Result<(), DriverError> {
        self.secrets.add(password);
        self.session.provide_password(password).map_err(DriverError::Session)
    }

    /// Returns `true` if the last reply stated that the listing is incomplete.
    pub(super) const fn reported_incomplete(&self) -> bool {
        self.reported_incomplete
    }

    /// Returns `true` if commands may be sent before the replies to earlier ones arrive.
    pub(super) fn is_pipelining(&self) -> bool {
        self.session.pipelining() != Pipelining::Off
    }

    /// Returns `true` if commands were sent before the replies to earlier ones arrived.
    pub(super) fn has_pipelined(&self) -> bool {
        match self.session.pipelining() {
            Pipelining::Off => false,
            Pipelining::AfterLogin => self.session.is_logged_in(),
            Pipelining::BeforeGreeting => true,
        }
    }

    /// Returns `true` if the reply with the port of the next data connection is pending.
    pub(super) fn has_requested_next_port(&self) -> bool {
        self.session.is_port_pending()
    }

    /// Returns the size and modification time that the server reported.
    pub(super) const fn file_metadata(&self) -> &FileMetadata {
        self.session.metadata()
    }

    /// Returns the server's and the client's end of the control connection.
    pub(super) const fn endpoints(&self) -> (&RemoteEnd, SocketAddr) {
        (&self.control.remote, self.control.local)
    }

    /// Returns the passive data connection: the one prepared, or a new one to the port that the server named.
    pub(super) async fn open_data_connection(&mut self, ctx: &RunContext) -> Result<ServerStream, Error> {
        let deadline = ctx.deadline.connecting();
        if let Some(pending) = self.pending_data.take() {
            return deadline.bound(Phase::Connect, pending).await;
        }
        let Some(port) = self.session.take_port() else {
            return Err(Error::new(Code::Internal, Phase::Connect, "no data port was requested"));
        };
        let connecting = ctx.connector.connect_data(&self.control.remote, port, &deadline);
        deadline.bound(Phase::Connect, connecting).await
    }

    /// Requests the transfer from `offset` on. From the second transfer of a connection on, the port of the next data
    /// connection may be requested too.
    pub(super) fn request_transfer(&mut self, offset: u64, may_prefetch_port: bool) {
        // A tunnel for data is opened when it is needed.
        let may_prefetch = may_prefetch_port && matches!(self.control.remote, RemoteEnd::Address(_));
        self.session.start_transfer(offset, may_prefetch && self.is_used);
        self.is_used = true;
    }

    /// Returns `true` if the server rejected REST, so that the transfer starts at offset 0.
    pub(super) const fn was_rest_refused(&self) -> bool {
        self.session.was_rest_rejected()
    }

    /// Returns `true` if the server may apply the offset of an earlier REST to the next transfer.
    pub(super) const fn has_unused_offset(&self) -> bool {
        self.session.has_unused_offset()
    }

    /// Returns the data connection, with TLS if the control connection uses TLS.
    pub(super) async fn secure_data_connection(
        &mut self,
        stream: ServerStream,
        plan: &FtpPlan,
        ctx: &RunContext,
    ) -> Result<DataConnection, Error> {
        let Some(config) = &self.tls else {
            return Ok(DataConnection::new(ctx.connector.plain_stream(stream)));
        };
        let deadline = ctx.deadline.connecting();
        let stream = ctx.connector.handshake(stream, &plan.host, config.clone(), &deadline).await?;
        Ok(DataConnection::new(ctx.connector.tls_stream(stream)))
    }

    /// Starts to connect to the next data port after a completed request, if the port was requested and its reply
    /// arrives within 50 ms. Returns `true` if the connection can serve another request.
    pub(super) async fn prefetch_data_connection(&mut self, connector: &Connector) -> bool {
        if !self.session.is_next_port_pending() {
            return true;
        }
        match Deadline::try_briefly(self.control.receive_reply()).await {
            None => true,
            Some(Err(_)) => false,
            Some(Ok(reply)) => {
                let is_expected = self.accept_prefetched_reply(reply);
                if is_expected {
                    self.start_data_connection(connector).await;
                }
                is_expected
            }
        }
    }

    /// Passes the reply to the request for the next port to the session. Returns `true` if it was expected.
    fn accept_prefetched_reply(&mut self, mut reply: Reply) -> bool {
        self.redact_and_trace(&mut reply);
        matches!(self.session.next_step(Some(reply)), Ok(SessionStep::Done))
    }

    /// Returns `true` if no unexpected reply has arrived, which would be read as the reply to the next command.
    pub(super) async fn is_idle(&mut self) -> bool {
        loop {
            match self.control.peek_reply().await {
                Ok(None) => return true,
                Ok(Some(reply)) if self.session.is_next_port_pending() => {
                    let reply = reply.clone();
                    self.control.discard_peeked();
                    if !self.accept_prefetched_reply(reply) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }

    /// Returns `true` if the next data connection is being opened.
    pub(super) const fn has_pending_data(&self) -> bool {
        self.pending_data.is_some()
    }

    /// Starts to open a direct data connection, without waiting for it.
    async fn start_data_connection(&mut self, connector: &Connector) {
        let RemoteEnd::Address(peer) = self.control.remote else { return };
        // A port that is not allowed is dropped: the next request asks for another.
        let port = self.session.take_port().filter(|&port| connector.allows_data_port(port));
        let Some(port) = port else { return };
        let connector = connector.clone();
        let mut connecting: PendingDataConnection =
            Box::pin(async move { connector.connect_data_directly(peer, port).await });
        // The first poll sends the SYN.
        let first_poll = std::future::poll_fn(|cx| Poll::Ready(connecting.as_mut().poll(cx))).await;
        self.pending_data = Some(match first_poll {
            Poll::Pending => connecting,
            Poll::Ready(connected) => Box::pin(async { connected }),
        });
    }
}
