//! A connection to a news server, with its NNTP session.

use std::task::{Context, Poll};

use fetch_url_proto::nntp::{Login, NewsRequest, Session, SessionOptions, StartTls as SessionStartTls};
use fetch_url_proto::{Event, Rejection, Step};
use tokio::runtime::{Handle, Id};

use super::plan::{NntpPlan, session_login};
use crate::net::connection::Connection;
use crate::net::connection_info::{ConnectionInfo, Endpoints};
use crate::net::trace;
use crate::{Code, Credential, Error, Phase, RunContext, StartTls};

/// 480: the server requires authentication (RFC 3977 §3.2.1).
pub(super) const AUTHENTICATION_REQUIRED: u32 = 480;
/// Maximum number of requests that are queued in the session. The session decides how many of them it pipelines.
pub(super) const MAX_QUEUED: usize = 192;

/// A connection to a news server.
pub(super) struct NntpConnection {
    inner: Connection<Session>,
    endpoints: Endpoints,
    /// The login of the plan, or the one that the user typed.
    login: Option<Credential>,
    /// The runtime that has opened the connection.
    runtime: Id,
}

/// The reply to a request, or to the first of several.
pub(super) enum FirstReply {
    /// The data of the request follows on this connection.
    Accepted(Box<NntpConnection>),
    Rejected(Box<Rejection>, Box<NntpConnection>),
}

impl NntpConnection {
    /// Connects to the server of the plan. With `uncompressed_lists`, the session does not request compression (RFC 8054).
    pub(super) async fn open(
        plan: &NntpPlan,
        ctx: &RunContext,
        login: Option<Login>,
        uncompressed_lists: bool,
    ) -> Result<Self, Error> {
        let mut options = SessionOptions::default();
        options.is_secure = plan.is_tls;
        options.start_tls = match ctx.connector.start_tls() {
            StartTls::Never => SessionStartTls::Never,
            StartTls::Try => SessionStartTls::Try,
            StartTls::Require => SessionStartTls::Must,
        };
        options.allow_plaintext_login = plan.options.insecure_auth;
        options.uncompressed_lists = uncompressed_lists;
        options.can_prompt = ctx.password_prompt.can_prompt();
        options.login = login;
        let stream = if plan.is_tls {
            let stream = ctx.connector.connect_tls(&plan.host, plan.port, &[], &ctx.deadline).await?;
            ctx.connector.tls_stream(stream)
        } else {
            let stream = ctx.connector.connect(&plan.host, plan.port, &ctx.deadline).await?;
            ctx.connector.plain_stream(stream)
        };
        let info = ctx.connector.connection_info();
        let record = info.snapshot();
        let session = Session::new(options).with_wire_trace(trace::is_enabled());
        let (endpoints, login) = ((record.remote_addr, record.local_addr), plan.login.clone());
        let runtime = Handle::current().id();
        Ok(Self { inner: Connection::new(session, stream, info), endpoints, login, runtime })
    }

    pub(super) const fn session(&self) -> &Session {
        self.inner.machine()
    }

    pub(super) const fn session_mut(&mut self) -> &mut Session {
        self.inner.machine_mut()
    }

    pub(super) async fn step(&mut self) -> Result<Step, Error> {
        self.inner.step().await
    }

    pub(super) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Step, Error>> {
        self.inner.poll_step(cx)
    }

    /// Returns the login of the session, if any.
    pub(super) const fn login(&self) -> Option<&Credential> {
        self.login.as_ref()
    }

    pub(super) const fn endpoints(&self) -> Endpoints {
        self.endpoints
    }

    /// Returns the runtime that has opened the connection.
    pub(super) const fn runtime(&self) -> Id {
        self.runtime
    }

    /// Prepares an idle connection for another request, and records its times in `info` from now on. Returns `false` if
    /// the server has sent unexpected data, or has closed the connection.
    pub(super) fn reuse(&mut self, info: &ConnectionInfo) -> bool {
        self.inner.reuse(info);
        self.session().has_sent_commands() || self.inner.is_idle()
    }

    /// Sends the request of the plan, followed by those for the upcoming articles, and waits for the first reply.
    pub(super) async fn send_requests(
        mut self,
        plan: &NntpPlan,
        ctx: &RunContext,
    ) -> Result<FirstReply, Error> {
        if self.session().pending_requests().len() == 0 {
            self.session_mut().add_request(plan.first_request());
        }
        self.queue_upcoming(plan);
        self.next_reply(plan, ctx).await
    }

    /// Waits until the reply to the next queued request arrives. Logs in if the server requires it and the user
    /// provides the password, and starts TLS if the session requires it.
    pub(super) async fn next_reply(mut self, plan: &NntpPlan, ctx: &RunContext) -> Result<FirstReply, Error> {
        let Some(request) = self.session().pending_requests().next().cloned() else {
            return Err(unexpected_step_error());
        };
        // Several replies may precede the step, such as those to a login, so the reply timeout begins again after each
        // line. It does not after each byte, so that a server cannot delay a line for ever.
        let last_line = || ctx.connector.connection_info().snapshot().last_line;
        loop {
            match ctx.deadline.bound_reply(last_line, self.step()).await? {
                Step::Emit(Event::Head(_)) => return Ok(FirstReply::Accepted(Box::new(self))),
                Step::Emit(Event::Rejected(rejection)) => {
                    match self.prompt_for_login(&rejection, plan, ctx).await? {
                        Some(login) => {
                            let Some(session_login) = session_login(&login)? else {
                                return Err(unexpected_step_error());
                            };
                            self.session_mut().log_in(session_login, request.clone());
                            self.login = Some(login);
                        }
                        None => return Ok(FirstReply::Rejected(rejection, Box::new(self))),
                    }
                }
                Step::StartTls => {
                    self = self.upgrade_to_tls(plan, ctx).await?;
                }
                _ => return Err(unexpected_step_error()),
            }
        }
    }

    /// Starts TLS after STARTTLS.
    pub(super) async fn upgrade_to_tls(mut self, plan: &NntpPlan, ctx: &RunContext) -> Result<Self, Error> {
        self.inner = self.inner.upgrade_to_tls(&plan.host, &ctx.connector, &ctx.deadline).await?;
        Ok(self)
    }

    fn queue_upcoming(&mut self, plan: &NntpPlan) {
        let queued = self.session().pending_requests().len();
        let requests: Vec<NewsRequest> =
            plan.upcoming_requests(queued - 1).take(MAX_QUEUED.saturating_sub(queued)).collect();
        requests.into_iter().for_each(|request| self.session_mut().add_request(request));
    }

    /// Asks the user for a login, if the server requires one and none is known.
    async fn prompt_for_login(
        &self,
        rejection: &Rejection,
        plan: &NntpPlan,
        ctx: &RunContext,
    ) -> Result<Option<Credential>, Error> {
        if rejection.code != Some(AUTHENTICATION_REQUIRED) || !self.session().can_log_in() {
            return Ok(None);
        }
        let user = plan.login.as_ref().map(Credential::user);
        let answer = ctx.password_prompt.ask(&plan.url, user, None, &ctx.deadline).await?;
        Ok(answer.filter(|answer| answer.expose_password().is_some()))
    }
}

/// The error for a step that the driver does not expect: a bug in this program.
pub(super) fn unexpected_step_error() -> Error {
    Error::new(Code::Internal, Phase::Reply, "unexpected step of the NNTP session")
}
