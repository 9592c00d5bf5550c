//! One connection to a server: what to say next, and what the replies mean. No socket, no clock.
//!
//! ```text
//! greeting ─▶ (STARTTLS) ─▶ GROUP ─▶ ARTICLE, ARTICLE, … ─▶ Head, Body …, Done for each
//!                 ▲            │
//!                 └── 480, 483, 401: a detour by STARTTLS, AUTHINFO or MODE READER, and once more
//! ```
//!
//! The first errand on a connection goes alone: its reply may be that we must log in. Once one was answered,
//! articles are asked for ahead, as many as the window takes.

mod block;
mod detour;
mod hear;
mod say;

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use bytes::Bytes;

use super::capabilities::Capabilities;
use super::command::{Command, Verb};
use super::reply::{Reply, SHOWN_OCTETS, reply_lines};
use super::{Ask, GroupName, Login, StartTls, Terms};
use crate::text::{Line, LineReader, hidden};
use crate::{Event, Head, Inbox, Machine, Refused, Step, WireError};
use block::Block;

/// One connection's side of the conversation.
#[derive(Debug)]
pub struct Session {
    terms: Terms,
    known: Known,
    lines: LineReader,
    /// What is told before anything else is done.
    ready: VecDeque<Step>,
    /// What must be said before the errand can go on.
    first: VecDeque<Verb>,
    /// Their replies are still to come, in this order.
    asked: VecDeque<Asked>,
    /// The errands; the first of them is being answered.
    asks: VecDeque<Ask>,
    /// So many of them have been asked for.
    begun: usize,
    /// What follows the reply that came last.
    block: Option<Block>,
    /// The answer to the first errand.
    refused: Option<Refused>,
    progress: Progress,
    stage: Stage,
    tells: bool,
}

/// What a reply will be the reply to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Greeting,
    /// What was asked for before a detour: the refusal is known already.
    Before,
    Command(Verb),
    Group(GroupName),
    /// HEAD of an article in a list.
    HeadOf(u64),
}

impl Asked {
    /// The words of the command.
    const fn words(&self) -> &'static str {
        match self {
            Self::Greeting | Self::Before => "",
            Self::Command(verb) => verb.words(),
            Self::Group(_) => Verb::Group.words(),
            Self::HeadOf(_) => Verb::Head.words(),
        }
    }
}

/// How far the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No errand has been answered: a detour may be needed.
    New,
    /// Errands are asked for ahead.
    Answering,
    /// The server has closed it, or nobody knows what it says next.
    Over,
}

/// What is known of the server.
#[derive(Debug, Default)]
struct Known {
    capabilities: Option<Capabilities>,
    selected: Option<Selected>,
    is_logged_in: bool,
    is_deflated: bool,
    said_mode_reader: bool,
    said_starttls: bool,
    said_compress: bool,
    said_login: bool,
    /// The server has said that it wants one.
    wants_login: bool,
}

/// The group that is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selected {
    /// Its name.
    pub group: GroupName,
    /// About how many articles there are.
    pub count: u64,
    /// The lowest number.
    pub low: u64,
    /// The highest number; below `low` when there is no article.
    pub high: u64,
}

/// How far the first errand is, where it takes more than one command.
#[derive(Debug, Default)]
struct Progress {
    /// GROUP was said for it.
    is_selected: bool,
    /// How the server lists the articles of a group.
    overview: Option<Overview>,
    /// Articles whose header is to be asked for.
    heads: Option<RangeInclusive<u64>>,
    /// The server knows no LIST ACTIVE.
    by_list: bool,
    /// Its Head has been told.
    is_told: bool,
}

/// How the articles of a group are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overview {
    Over,
    Xover,
    Heads,
}

impl Session {
    /// A session with a server that has not greeted yet.
    pub fn new(terms: Terms) -> Self {
        let first = match terms.start_tls {
            StartTls::Never => None,
            _ if terms.is_secure => None,
            StartTls::Must | StartTls::Try => Some(Verb::StartTls),
        };
        Self {
            terms,
            known: Known::default(),
            lines: reply_lines(),
            ready: VecDeque::new(),
            first: first.into_iter().collect(),
            asked: VecDeque::from([Asked::Greeting]),
            asks: VecDeque::new(),
            begun: 0,
            block: None,
            refused: None,
            progress: Progress::default(),
            stage: Stage::New,
            tells: false,
        }
    }

    /// The dialogue is told, line by line.
    #[must_use]
    pub const fn telling(mut self, tells: bool) -> Self {
        self.tells = tells;
        self
    }

    /// One more errand. Each is answered by [`Event::Head`], what belongs to it, and [`Step::Done`]; or by
    /// [`Event::Refused`], which ends a list even after some of it.
    pub fn ask(&mut self, ask: Ask) {
        self.asks.push_back(ask);
    }

    /// The errands that are not answered yet, the next one first.
    pub fn asks(&self) -> impl ExactSizeIterator<Item = &Ask> {
        self.asks.iter()
    }

    /// Whether a login could be of use after a refusal: one may be sent, or TLS can still be had for it.
    pub fn can_log_in(&self) -> bool {
        let has_way = self.terms.is_secure || self.terms.clear_login || self.can_start_tls();
        let is_known = self.known.is_logged_in || self.terms.login.is_some();
        self.stage == Stage::New && !is_known && has_way && !self.known.is_deflated
    }

    /// Who we are, after the server has refused `ask` with 480: it is asked for once more.
    pub fn log_in(&mut self, login: Login, ask: Ask) {
        self.terms.login = Some(login);
        self.asks.push_front(ask);
        self.begin_login();
    }

    /// The group that is selected.
    pub const fn selected(&self) -> Option<&Selected> {
        self.known.selected.as_ref()
    }

    /// Whether both sides compress what they say: then nobody can log in any more.
    pub const fn is_deflated(&self) -> bool {
        self.known.is_deflated
    }

    /// Whether what comes next is the answer to the first errand; before that, anything that comes is none.
    pub const fn is_under_way(&self) -> bool {
        self.begun > 0
    }

    /// Whether the last errand has its answer, and the connection can take another.
    pub fn is_open(&self) -> bool {
        self.stage != Stage::Over && self.block.is_none() && self.refused.is_none() && self.ready.is_empty()
    }

    /// What to do next; none when something was taken in, and nothing is to be done for it.
    fn advance(&mut self, inbox: &mut Inbox) -> Result<Option<Step>, WireError> {
        if let Some(step) = self.ready.pop_front() {
            return Ok(Some(step));
        }
        if self.block.is_some() {
            return self.read_block(inbox);
        }
        if self.refused.is_some() && !self.awaits_rest() {
            self.end_refused();
            return Ok(None);
        }
        let is_silent = self.asked.is_empty();
        if self.refused.is_none()
            && let Some(commands) = self.say()
        {
            if is_silent {
                self.check_silence(inbox)?;
            }
            return Ok(Some(self.send(&commands)));
        }
        match (self.ready.is_empty(), self.asked.is_empty()) {
            (false, _) => Ok(None),
            (true, true) if !self.asks.is_empty() => Err(WireError::Cut { what: "the dialogue" }),
            (true, true) => Ok(Some(Step::Done)),
            (true, false) => self.hear(inbox),
        }
    }

    /// Whether replies are still to come that belong to the errand that was refused.
    fn awaits_rest(&self) -> bool {
        let has_several = self.stage == Stage::New || self.progress.heads.is_some();
        has_several && self.stage != Stage::Over && !self.asked.is_empty()
    }

    /// These go out, in one piece.
    fn send(&mut self, commands: &[Command]) -> Step {
        let mut lines = Vec::new();
        for command in commands {
            command.write(&mut lines);
            if self.tells {
                self.ready.push_back(Step::Emit(Event::Said(command.to_string())));
            }
        }
        self.ready.push_back(Step::Send(lines.into()));
        // The words first, then what they are about.
        self.ready.pop_front().unwrap_or(Step::Done)
    }

    fn hear(&mut self, inbox: &mut Inbox) -> Result<Option<Step>, WireError> {
        match self.lines.read(inbox) {
            Ok(Line::Need) => Ok(Some(Step::Need)),
            Ok(Line::Whole(line)) => {
                let shown = self.shown(&line);
                if self.tells {
                    self.ready.push_back(Step::Emit(Event::Heard(shown.clone())));
                }
                match Reply::parse(&line, shown) {
                    Ok(reply) => self.take(&reply)?,
                    Err(_) if self.refused.is_some() => self.give_up(),
                    Err(error) => return Err(error),
                }
                Ok(None)
            }
            // What was refused is refused, whatever becomes of the connection.
            Ok(Line::End) | Err(_) if self.refused.is_some() => {
                self.give_up();
                Ok(None)
            }
            Ok(Line::End) => Err(WireError::Cut { what: "the dialogue" }),
            Err(error) => Err(error),
        }
    }

    /// Before something is asked for, there is no answer: whoever is on the way could have put it there, to be
    /// taken for the next.
    fn check_silence(&self, inbox: &Inbox) -> Result<(), WireError> {
        if inbox.octets().is_empty() {
            return Ok(());
        }
        let mut got = self.shown(&Bytes::copy_from_slice(inbox.octets()));
        got.truncate(SHOWN_OCTETS);
        Err(WireError::Unexpected { what: "something that was asked for", got })
    }

    /// The connection is of no use any more: nothing is said, and nothing that comes is an answer.
    fn give_up(&mut self) {
        self.stage = Stage::Over;
        self.first.clear();
        self.asked.clear();
    }

    /// A line without the password, which there are servers that repeat.
    fn shown(&self, line: &Bytes) -> Bytes {
        match &self.terms.login {
            Some(login) => hidden(line, &login.password),
            None => line.clone(),
        }
    }

    /// The first errand has its answer.
    fn finish(&mut self) {
        self.drop_first();
        self.ready.push_back(Step::Done);
        if self.stage == Stage::New {
            self.stage = Stage::Answering;
        }
    }

    fn drop_first(&mut self) {
        self.asks.pop_front();
        self.begun = self.begun.saturating_sub(1);
        self.progress = Progress::default();
    }

    /// What is known of the first errand's object, told once.
    fn tell_head(&mut self) {
        if !std::mem::replace(&mut self.progress.is_told, true) {
            self.ready.push_back(Step::Emit(Event::Head(Head::default())));
        }
    }

    /// An answer that nothing follows.
    fn finish_empty(&mut self) {
        self.tell_head();
        self.finish();
    }

    fn end_refused(&mut self) {
        let Some(refused) = self.refused.take() else { return };
        self.drop_first();
        self.ready.push_back(Step::Emit(Event::Refused(Box::new(refused))));
    }

    /// Goes on with what follows a reply.
    fn read_block(&mut self, inbox: &mut Inbox) -> Result<Option<Step>, WireError> {
        let Some(block) = &mut self.block else { return Ok(None) };
        match block.step(inbox)? {
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
            Some(Block::Capabilities(list)) => self.known.capabilities = Some(list.capabilities()),
            Some(Block::Header(header)) => self.ready.push_back(Step::Emit(header.event())),
            _ => self.finish(),
        }
    }
}

impl Machine for Session {
    fn has_secrets(&self) -> bool {
        self.terms.login.is_some()
    }

    fn step(&mut self, inbox: &mut Inbox) -> Result<Step, WireError> {
        loop {
            if let Some(step) = self.advance(inbox)? {
                return Ok(step);
            }
        }
    }
}
