//! A control connection and its session: what the session wants said is said, what it wants heard is
//! heard.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use fetch_url_proto::ftp::{Command, DataRoad, Errand, Facts, Fault, Iac, Pace, Session, Step, Verb};
use fetch_url_proto::text::Reply;
use rustls::ClientConfig;
use rustls::client::Resumption;
use tokio::net::TcpStream;

use super::clear;
use super::control::Control;
use super::data::Arrival;
use super::plan::FtpPlan;
use super::secrets::Secrets;
use crate::engine::dialogue;
use crate::{Code, Ctx, Deadline, Dial, Error, Phase, StartTls};

/// From here on a round trip is worth more than good manners.
const LONG_WAY: Duration = Duration::from_millis(25);
/// How many TLS sessions of one server are kept for its data connections.
const TLS_SESSIONS: usize = 8;

/// Why a line cannot go on.
pub(super) enum Trouble {
    /// By the server's word, or by the lack of one.
    Fault(Fault),
    /// The connection failed, or a deadline passed.
    Lost(Error),
    /// Several commands went out, and no reply comes any more.
    Silent,
    /// The data connection could not be opened; nothing was asked for yet.
    NoData(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Lost(error)
    }
}

/// A data connection that is being opened before it is needed.
type Ahead = Pin<Box<dyn Future<Output = Result<TcpStream, Error>> + Send>>;

/// One logged-in, or soon logged-in, connection.
pub(super) struct Line {
    control: Control,
    session: Session,
    iac: Iac,
    tls: Option<Arc<ClientConfig>>,
    ahead: Option<Ahead>,
    secrets: Secrets,
    /// It has served an errand before.
    pub(super) is_used: bool,
    /// The last word of a transfer was that something is missing.
    was_less: bool,
}

impl Line {
    /// Connects; the session is yet to begin.
    pub(super) async fn open(plan: &FtpPlan, ctx: &Ctx) -> Result<Self, Error> {
        match ctx.dial.start_tls() {
            _ if plan.is_implicit => {
                let config = with_sessions_of_its_own(&ctx.dial)?;
                let deadline = ctx.deadline.connecting();
                let stream = ctx.dial.connect(&plan.host, plan.port, &deadline).await?;
                let stream = ctx.dial.secure(stream, &plan.host, config.clone(), &deadline).await?;
                ctx.dial.contact().note(|facts| facts.secured = Some(std::time::Instant::now()));
                Self::begin(Control::tls(stream, None)?, Some(config), plan, ctx)
            }
            StartTls::Never => {
                let stream = ctx.dial.connect(&plan.host, plan.port, &ctx.deadline).await?;
                Self::begin(Control::plain(stream)?, None, plan, ctx)
            }
            start => Self::start_tls(start, plan, ctx).await,
        }
    }

    async fn start_tls(start: StartTls, plan: &FtpPlan, ctx: &Ctx) -> Result<Self, Error> {
        let config = with_sessions_of_its_own(&ctx.dial)?;
        let mut stream = ctx.dial.connect(&plan.host, plan.port, &ctx.deadline).await?;
        match ctx.deadline.bound(Phase::Reply, clear::auth_tls(&mut stream)).await {
            Ok(greeting) => {
                let deadline = ctx.deadline.connecting();
                let stream = ctx.dial.secure(stream, &plan.host, config.clone(), &deadline).await?;
                ctx.dial.contact().note(|facts| facts.secured = Some(std::time::Instant::now()));
                Self::begin(Control::tls(stream, Some(&greeting))?, Some(config), plan, ctx)
            }
            // Only a server that says no is asked in the clear: a wrong certificate is no such word.
            Err(error) if start == StartTls::Try && clear::is_without_tls(&error) => {
                dialogue::decided(&"no TLS with this server: in the clear");
                let stream = ctx.dial.connect(&plan.host, plan.port, &ctx.deadline).await?;
                Self::begin(Control::plain(stream)?, None, plan, ctx)
            }
            Err(error) => Err(error),
        }
    }

    fn begin(
        control: Control,
        tls: Option<Arc<ClientConfig>>,
        plan: &FtpPlan,
        ctx: &Ctx,
    ) -> Result<Self, Error> {
        // To this machine the way is short, however busy it is.
        let is_long = tls.is_none() && !control.peer.is_loopback() && way(ctx) >= LONG_WAY;
        let login = plan.session_login(tls.is_some())?;
        let mut session = Session::new(plan.pace(is_long), login);
        if plan.servers.has_many_places(plan) {
            session = session.learning_home();
        }
        Ok(Self {
            control,
            session,
            iac: plan.wording.iac,
            tls,
            ahead: None,
            secrets: Secrets::of(plan),
            is_used: false,
            was_less: false,
        })
    }

    /// How many CWDs away the directory of `errand` is.
    pub(super) fn steps_to(&self, errand: &Errand) -> Option<usize> {
        self.session.steps_to(errand)
    }

    /// Whether nothing stands before the transfer of `errand` that could be refused.
    pub(super) fn is_ready_for(&self, errand: &Errand) -> bool {
        self.session.is_ready_for(errand)
    }

    /// After a refusal nobody knows what a server makes of a data connection that was to be: the next
    /// errand asks for another.
    pub(super) fn forget_data(&mut self) {
        self.ahead = None;
        let _ = self.session.take_port();
    }

    /// Takes on an errand.
    pub(super) fn go(&mut self, errand: &Errand, road: &DataRoad) -> Result<(), Trouble> {
        self.session.go(errand, road).map_err(Trouble::Fault)
    }

    /// Goes on until something is to be done that a line cannot do by itself: ask for a password, open
    /// the data connection, receive, or nothing more.
    pub(super) async fn advance(&mut self, ctx: &Ctx) -> Result<Step, Trouble> {
        let mut heard = None;
        loop {
            match self.session.next(heard.take()).map_err(Trouble::Fault)? {
                Step::Say(commands) => self.say(&commands, &ctx.deadline).await?,
                Step::Hear => {
                    // The port is known before other replies have come: the way there takes as long.
                    if self.session.is_preparing() && self.ahead.is_none() {
                        self.connect_ahead(&ctx.dial).await;
                    }
                    heard = Some(self.hear(&ctx.deadline).await?);
                }
                Step::Receive => return self.receiving().await,
                step => return Ok(step),
            }
        }
    }

    /// A server that goes on promising the octets will never send them; one that has ended already is
    /// heard in time.
    async fn receiving(&mut self) -> Result<Step, Trouble> {
        // Whatever else is wrong is found at the end.
        match self.control.early().await {
            Ok(Some(reply)) if reply.code < 200 => Err(promised_again(reply.clone())),
            _ => Ok(Step::Receive),
        }
    }

    /// The same while octets are waited for.
    pub(super) fn poll_promises(&mut self, cx: &mut Context<'_>) -> Result<(), Trouble> {
        self.control.poll_promises(cx).map_or(Ok(()), |reply| Err(promised_again(reply)))
    }

    async fn say(&mut self, commands: &[Command], deadline: &Deadline) -> Result<(), Error> {
        let mut lines = Vec::new();
        for command in commands {
            dialogue::said(command);
            command.write(&mut lines, self.iac);
        }
        deadline.bound(Phase::Request, self.control.say(&lines)).await
    }

    async fn hear(&mut self, deadline: &Deadline) -> Result<Reply, Trouble> {
        let hearing = self.control.hear();
        let heard = if self.session.is_overlapping() {
            match deadline.soon(Phase::Reply, hearing).await {
                Ok(None) => return Err(Trouble::Silent),
                Ok(Some(reply)) => Ok(reply),
                Err(error) => Err(error),
            }
        } else {
            deadline.bound(Phase::Reply, hearing).await
        };
        let mut reply = heard.map_err(|error| match self.session.lost() {
            // The connection was closed behind a refusal.
            Some(fault) => Trouble::Fault(fault),
            None => Trouble::Lost(error),
        })?;
        self.secrets.hide(&mut reply, self.session.is_logged_in());
        reply_lines(&reply).for_each(|line| dialogue::heard(&line));
        self.was_less = says_less(&reply);
        Ok(reply)
    }

    /// The password that was asked for.
    pub(super) fn password(&mut self, password: &[u8]) -> Result<(), Trouble> {
        self.secrets.add(password);
        self.session.password(password).map_err(Trouble::Fault)
    }

    /// Whether the server's last word was that it has left something out.
    pub(super) const fn was_less(&self) -> bool {
        self.was_less
    }

    /// Whether commands go out before the replies to others have come.
    pub(super) fn tells_together(&self) -> bool {
        self.session.pace() != Pace::OneByOne
    }

    /// Whether some did: before the login, only where the way is long.
    pub(super) fn has_told_together(&self) -> bool {
        match self.session.pace() {
            Pace::OneByOne => false,
            Pace::Together => self.session.is_logged_in(),
            Pace::Ahead => true,
        }
    }

    pub(super) const fn facts(&self) -> &Facts {
        self.session.facts()
    }

    pub(super) const fn ends(&self) -> (std::net::IpAddr, std::net::IpAddr) {
        (self.control.peer, self.control.local)
    }

    /// The data connection, opened by us.
    pub(super) async fn connect_data(&mut self, ctx: &Ctx) -> Result<TcpStream, Error> {
        if let Some(ahead) = self.ahead.take() {
            return ctx.deadline.connecting().bound(Phase::Connect, ahead).await;
        }
        let Some(port) = self.session.take_port() else {
            return Err(Error::new(Code::Internal, Phase::Connect, "no port was asked for"));
        };
        let connected = ctx.dial.connect_beside(self.control.peer, port);
        ctx.deadline.connecting().bound(Phase::Connect, connected).await
    }

    /// Asks for the transfer, and, when this line has been of use before, for the next port with it.
    pub(super) fn transfer(&mut self, offset: u64, is_passive: bool) {
        self.session.transfer(offset, is_passive && self.is_used);
        self.is_used = true;
    }

    /// Whether REST was refused.
    pub(super) const fn began_at_start(&self) -> bool {
        self.session.began_at_start()
    }

    /// The octets of the data connection, in TLS where the commands are.
    pub(super) async fn receive(
        &mut self,
        stream: TcpStream,
        plan: &FtpPlan,
        ctx: &Ctx,
    ) -> Result<Arrival, Error> {
        let Some(config) = &self.tls else { return Ok(Arrival::new(ctx.dial.plain_stream(stream))) };
        let deadline = ctx.deadline.connecting();
        let stream = ctx.dial.secure(stream, &plan.host, config.clone(), &deadline).await?;
        Ok(Arrival::new(ctx.dial.tls_stream(stream)))
    }

    /// Once the errand is done: hears where the next file can be fetched, if that was asked for and the
    /// answer is here, and begins to connect there. Whether the line is good for another errand.
    pub(super) async fn prepare(&mut self, dial: &Dial) -> bool {
        if !self.session.has_asked_ahead() {
            return true;
        }
        match Deadline::at_once(self.control.hear()).await {
            None => true,
            Some(Err(_)) => false,
            Some(Ok(reply)) => {
                let is_sound = self.hear_ahead(reply);
                if is_sound {
                    self.connect_ahead(dial).await;
                }
                is_sound
            }
        }
    }

    /// Takes the reply that was asked for ahead.
    fn hear_ahead(&mut self, mut reply: Reply) -> bool {
        self.secrets.hide(&mut reply, self.session.is_logged_in());
        reply_lines(&reply).for_each(|line| dialogue::heard(&line));
        matches!(self.session.next(Some(reply)), Ok(Step::Done))
    }

    /// Whether nothing waits to be heard but what was asked for: a reply too many would be taken for that to
    /// the next command.
    pub(super) async fn is_quiet(&mut self) -> bool {
        loop {
            match self.control.early().await {
                Ok(None) => return true,
                Ok(Some(reply)) if self.session.has_asked_ahead() => {
                    let reply = reply.clone();
                    self.control.forget_early();
                    if !self.hear_ahead(reply) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }

    /// Whether the next data connection is under way.
    pub(super) const fn has_begun_to_connect(&self) -> bool {
        self.ahead.is_some()
    }

    /// Begins to open the data connection, without waiting for it.
    async fn connect_ahead(&mut self, dial: &Dial) {
        // For a port that belongs to somebody else another one is asked for, when it is needed.
        let port = self.session.take_port().filter(|&port| dial.takes_data_from(port));
        let Some(port) = port else { return };
        let (dial, peer) = (dial.clone(), self.control.peer);
        let mut connecting: Ahead = Box::pin(async move { dial.connect_beside(peer, port).await });
        // One look sends the first packet out.
        let begun = std::future::poll_fn(|cx| Poll::Ready(connecting.as_mut().poll(cx))).await;
        self.ahead = Some(match begun {
            Poll::Pending => connecting,
            Poll::Ready(connected) => Box::pin(async { connected }),
        });
    }
}

/// How long the way to the server is: the first packet to come back took so long.
fn way(ctx: &Ctx) -> Duration {
    let facts = ctx.dial.contact().facts();
    let way = facts.resolved.zip(facts.connected).map(|(from, to)| to.saturating_duration_since(from));
    way.unwrap_or_default()
}

fn promised_again(reply: Reply) -> Trouble {
    Trouble::Fault(Fault::OutOfStep { asked: Some(Verb::Retr), reply })
}

/// Servers that give a part of a listing, or none, may still say 226: "Output truncated to 10000 matches", "Transfer
/// done (but failed to open directory)".
fn says_less(reply: &Reply) -> bool {
    let says = |word: &str| {
        reply.lines.iter().any(|line| String::from_utf8_lossy(line).to_ascii_lowercase().contains(word))
    };
    matches!(reply.code, 226 | 250) && (says("truncated") || says("failed"))
}

/// The lines of a reply as they came.
fn reply_lines(reply: &Reply) -> impl Iterator<Item = Vec<u8>> + '_ {
    let last = reply.lines.len().saturating_sub(1);
    reply.lines.iter().enumerate().map(move |(index, line)| match index {
        _ if index == last => [format!("{} ", reply.code).as_bytes(), line].concat(),
        0 => [format!("{}-", reply.code).as_bytes(), line].concat(),
        // The reader leaves the inner ones as they are.
        _ => line.to_vec(),
    })
}

/// Servers want the data connection to go on with the TLS session of its control connection, not with
/// that of another.
fn with_sessions_of_its_own(dial: &Dial) -> Result<Arc<ClientConfig>, Error> {
    let mut config = (*dial.tls_config()?).clone();
    config.resumption = Resumption::in_memory_sessions(TLS_SESSIONS);
    Ok(Arc::new(config))
}
