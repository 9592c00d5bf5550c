//! What a scheme must bring: a [`Driver`] that plans, and a [`Plan`] that runs.

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use crate::{Asking, Deadline, Dial, Error, Gate, Request, Response};

/// Knows how to fetch some schemes.
pub trait Driver: Send + Sync {
    /// A name for messages.
    fn id(&self) -> &'static str;

    /// The schemes, in lower case.
    fn schemes(&self) -> &'static [&'static str];

    /// What would be done for `request`, without doing any of it.
    ///
    /// # Errors
    /// The request cannot be sent: `forbidden_octet`, `unsupported`.
    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error>;
}

/// What a [`Plan`] becomes when it runs.
pub type RunFuture = Pin<Box<dyn Future<Output = Result<Outcome, Error>> + Send>>;

/// One request, ready to be sent; Display shows what would be sent, a line for each command.
pub trait Plan: Display + Send {
    /// Does it, once: no retry, no redirect, no clock of its own.
    fn run(self: Box<Self>, ctx: Ctx) -> RunFuture;

    /// Whether it tells the dialogue line by line as it goes; otherwise its Display is told first.
    fn speaks_for_itself(&self) -> bool {
        false
    }
}

/// What a running plan may use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ctx {
    /// The only way to a socket.
    pub dial: Dial,
    /// How long things may take.
    pub deadline: Deadline,
    /// Who can be asked for a password.
    pub asking: Asking,
    /// Where an answer may lead.
    pub gate: Gate,
}

/// How a run ended.
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "the engine's loop knows every outcome")]
pub enum Outcome {
    /// An answer.
    Answer(Response),
    /// The object is elsewhere; the engine judges whether to go there.
    Follow(Hop),
    /// The server wants the request in other words, such as who asks.
    Again(Again),
}

/// The same request in other words.
#[non_exhaustive]
pub struct Again {
    /// What the server said to the first.
    pub answer: Response,
    /// The other words.
    pub plan: Box<dyn Plan>,
}

impl Again {
    /// After this answer, `plan`.
    pub fn new(answer: Response, plan: Box<dyn Plan>) -> Self {
        Self { answer, plan }
    }
}

impl std::fmt::Debug for Again {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Again({:?})", self.answer.meta.reply)
    }
}

/// Where an answer points.
#[derive(Debug)]
#[non_exhaustive]
pub struct Hop {
    /// The reference, as the peer wrote it.
    pub to: String,
    /// Why: the first line of the answer.
    pub why: String,
    /// What kind of answer it is.
    pub kind: HopKind,
    /// The answer itself, for a caller that does not follow.
    pub answer: Response,
    /// There, the object is asked for plainly: the method and body of this request are done with.
    pub is_plain: bool,
    /// What the answer is for a caller that does not follow, where it is no object.
    pub instead: Option<Error>,
    /// The answer changed what we are to the server (a cookie): to be sent to a place once more is
    /// then no circle.
    pub changes_state: bool,
}

impl Hop {
    /// A hop to `to` because of `why`.
    pub fn new(to: impl Into<String>, why: impl Into<String>, answer: Response) -> Self {
        let (to, why) = (to.into(), why.into());
        let kind = HopKind::Redirect;
        Self { to, why, kind, answer, is_plain: false, instead: None, changes_state: false }
    }

    /// The same, of a name service.
    #[must_use]
    pub fn of_name_service(mut self) -> Self {
        self.kind = HopKind::Access;
        self
    }
}

/// What kind of answer points elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HopKind {
    /// A name service tells a way to the object: that is what it is asked for.
    Access,
    /// A server sends us elsewhere.
    Redirect,
}
