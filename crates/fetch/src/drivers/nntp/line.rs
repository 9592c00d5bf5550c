//! A connection to a news server and its session.

use fetch_url_proto::nntp::{Ask, Session, StartTls as SessionTls, Terms};
use fetch_url_proto::{Event, Refused, Step};

use super::plan::{NntpPlan, login_of};
use crate::engine::dialogue;
use crate::net::contact::Ends;
use crate::net::pump::Pump;
use crate::{Code, Credential, Ctx, Error, Phase, StartTls};

/// The server wants to know who asks (RFC 3977 §3.2.1).
const AUTH_NEEDED: u32 = 480;
/// The server closes the connection.
const CLOSING: u32 = 400;
/// So many articles are named ahead, of which the session asks for as many as it sees fit.
const AHEAD: usize = 192;

/// One connection.
pub(super) struct Line {
    pub(super) pump: Pump<Session>,
    ends: Ends,
    /// Who asks: whom the plan knows, or who was asked for.
    login: Option<Credential>,
}

/// How an answer begins.
pub(super) enum Begun {
    Line(Box<Line>),
    Refused(Box<Refused>, Box<Line>),
}

/// Asks for what the plan says, on a connection that waits or on a new one.
pub(super) async fn begin(plan: &NntpPlan, ctx: &Ctx) -> Result<Begun, Error> {
    if let Some(line) = waiting(plan, ctx) {
        match line.begin(plan, ctx).await {
            // While it waited, the server has had enough of it.
            Err(error) if has_gone(&error, ctx) => {}
            Ok(Begun::Refused(refused, _)) if refused.code == Some(CLOSING) => {}
            // It was not asked for a login before, and its other errands are under way.
            Ok(Begun::Refused(refused, _)) if refused.code == Some(AUTH_NEEDED) => {}
            begun => return begun,
        }
    }
    match Line::open(plan, ctx, false).await?.begin(plan, ctx).await? {
        // Nobody can log in on a compressed connection (RFC 8054 §2.2.2).
        Begun::Refused(refused, line)
            if refused.code == Some(AUTH_NEEDED) && line.pump.machine().is_deflated() =>
        {
            Line::open(plan, ctx, true).await?.begin(plan, ctx).await
        }
        begun => Ok(begun),
    }
}

/// Whether a server has closed a connection that waited, without another word.
fn has_gone(error: &Error, ctx: &Ctx) -> bool {
    let is_heard = ctx.dial.contact().facts().replied.is_some();
    !is_heard && error.is_about_the_peer() && error.code() != Code::TimedOut
}

/// A connection that waits: it was asked for this ahead, or for nothing.
fn waiting(plan: &NntpPlan, ctx: &Ctx) -> Option<Line> {
    let (key, ask) = (plan.servers.key(plan, plan.login.as_ref(), ctx), plan.ask());
    let rank = |line: &Line| {
        let wanted = std::iter::once(ask.clone()).chain(plan.next_asks(0));
        let named = line.pump.machine().asks();
        match named.len() {
            0 => Some(1),
            count => named.cloned().eq(wanted.take(count)).then_some(0),
        }
    };
    while let Some(mut line) = plan.servers.waiting.take(&key, rank) {
        line.pump.meet(ctx.dial.contact());
        if line.pump.machine().is_under_way() || line.pump.is_silent() {
            ctx.dial.uses(line.ends);
            return Some(line);
        }
        dialogue::decided(&"the server has said something that nobody asked for: another connection");
    }
    // What was asked for ahead and is not wanted now stands in the way of what is.
    while plan.servers.waiting.drop_one(&key) {}
    None
}

impl Line {
    async fn open(plan: &NntpPlan, ctx: &Ctx, plain_lists: bool) -> Result<Self, Error> {
        let mut terms = Terms::default();
        terms.is_secure = plan.is_tls;
        terms.start_tls = match ctx.dial.start_tls() {
            StartTls::Never => SessionTls::Never,
            StartTls::Try => SessionTls::Try,
            StartTls::Require => SessionTls::Must,
        };
        terms.clear_login = plan.options.clear_login;
        terms.plain_lists = plain_lists;
        terms.may_ask = ctx.asking.can_ask();
        let key = plan.servers.key(plan, plan.login.as_ref(), ctx);
        let has_refused = plan.servers.has_refused(&key);
        terms.login = if has_refused { None } else { plan.session_login()? };
        let stream = if plan.is_tls {
            let stream = ctx.dial.connect_tls(&plan.host, plan.port, &[], &ctx.deadline).await?;
            ctx.dial.tls_stream(stream)
        } else {
            let stream = ctx.dial.connect(&plan.host, plan.port, &ctx.deadline).await?;
            ctx.dial.plain_stream(stream)
        };
        let contact = ctx.dial.contact();
        let facts = contact.facts();
        let session = Session::new(terms).telling(dialogue::is_heard());
        let (ends, login) = ((facts.peer, facts.local), plan.login.clone());
        Ok(Self { pump: Pump::new(session, stream, contact), ends, login })
    }

    /// Asks for what the plan says, and for what comes next.
    async fn begin(mut self, plan: &NntpPlan, ctx: &Ctx) -> Result<Begun, Error> {
        if self.pump.machine().asks().len() == 0 {
            self.pump.machine_mut().ask(plan.ask());
        }
        self.ask_ahead(plan);
        self.answered(plan, ctx).await
    }

    /// Goes on until the answer to the first errand begins.
    pub(super) async fn answered(mut self, plan: &NntpPlan, ctx: &Ctx) -> Result<Begun, Error> {
        let Some(ask) = self.pump.machine().asks().next().cloned() else { return Err(disagree()) };
        loop {
            match ctx.deadline.bound(Phase::Reply, self.pump.step()).await? {
                Step::Emit(Event::Head(_)) => return Ok(Begun::Line(Box::new(self))),
                Step::Emit(Event::Refused(refused)) => match self.login_after(&refused, plan, ctx).await? {
                    Some(login) => {
                        let Some(known) = login_of(&login)? else { return Err(disagree()) };
                        self.pump.machine_mut().log_in(known, ask.clone());
                        self.login = Some(login);
                    }
                    None => return Ok(Begun::Refused(refused, Box::new(self))),
                },
                Step::Secure => {
                    self.pump = self.pump.secured(&plan.host, &ctx.dial, &ctx.deadline).await?;
                }
                _ => return Err(disagree()),
            }
        }
    }

    /// Names what will be wanted next.
    fn ask_ahead(&mut self, plan: &NntpPlan) {
        let named = self.pump.machine().asks().len();
        let asks: Vec<Ask> = plan.next_asks(named - 1).take(AHEAD.saturating_sub(named)).collect();
        asks.into_iter().for_each(|ask| self.pump.machine_mut().ask(ask));
    }

    /// Who somebody says we are, where the server wants to know and nobody has said so.
    async fn login_after(
        &self,
        refused: &Refused,
        plan: &NntpPlan,
        ctx: &Ctx,
    ) -> Result<Option<Credential>, Error> {
        if refused.code != Some(AUTH_NEEDED) || !self.pump.machine().can_log_in() {
            return Ok(None);
        }
        let user = plan.login.as_ref().map(Credential::user);
        let answer = ctx.asking.ask(&plan.url, user, None, &ctx.deadline).await?;
        Ok(answer.filter(|answer| answer.expose().is_some()))
    }

    /// Waits for the next URL of who asked, if it can.
    pub(super) fn wait(self, plan: &NntpPlan, ctx: &Ctx) {
        if self.pump.machine().is_open() {
            let key = plan.servers.key(plan, self.login.as_ref(), ctx);
            plan.servers.waiting.put(key, self);
        }
    }
}

pub(super) fn disagree() -> Error {
    Error::new(Code::Internal, Phase::Reply, "the session and its driver disagree")
}
