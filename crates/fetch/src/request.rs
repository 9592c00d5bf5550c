//! What is asked for: made once, handed down, never looked at again above the driver's plan.

use std::fmt;
use std::sync::Arc;

use fetch_url_core::{HostPort, Url, parse};

use crate::engine::gate::is_same_server;
use crate::{Credential, Error, Event, Observe, Turn};

/// One object to fetch.
#[derive(Clone, Debug)]
pub struct Request {
    url: Url<'static>,
    want: Want,
    range: Option<ByteRange>,
    resume: Option<Resume>,
    condition: Option<Condition>,
    login: Option<Credential>,
    news_server: Option<HostPort<'static>>,
    standing: HopStanding,
    observer: Option<Watcher>,
    turn: Option<Arc<Turn>>,
    extras: Vec<Arc<dyn std::any::Any + Send + Sync>>,
}

/// What the hops so far mean for what is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HopStanding {
    /// Some hop has left the server that the caller named: what the caller gave for that server
    /// alone is not shown any more, not even back there.
    pub(crate) is_abroad: bool,
    /// Some answer told to ask for the object plainly: the caller's own method and body are done with.
    pub(crate) is_plain: bool,
    /// The caller's own gateway is asked for it.
    pub(crate) is_for_gateway: bool,
}

/// The object, or only what is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// What is known of the object.
    Head,
    /// The object.
    #[default]
    Object,
}

/// A part of an object, both ends included (RFC 9110 §14.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 9110 has these two")]
pub enum ByteRange {
    /// From `first` to `last`, or to the end.
    Span {
        /// The first octet.
        first: u64,
        /// The last octet.
        last: Option<u64>,
    },
    /// The last so many octets.
    Suffix(u64),
}

/// What is already there from an earlier try, and how to tell that it is still the same object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// How many octets are there.
    pub offset: u64,
    /// How many there were to be.
    pub size: Option<u64>,
    /// What the object was then.
    pub validator: Validator,
    /// Which resource it came from in the end: a validator says nothing about another.
    pub place: Option<String>,
    /// The last of the octets that are there: where a protocol does not tell at which octet its answer
    /// begins, the answer is asked to repeat them.
    pub tail: Vec<u8>,
}

impl Resume {
    /// So many octets of the end are enough.
    pub(crate) const TAIL: usize = 64;
}

/// The object is wanted only if this holds (RFC 9110 §13.1); in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 9110 has these two about time")]
pub enum Condition {
    /// It was changed after this.
    ModifiedSince(i64),
    /// It was not changed after this.
    UnmodifiedSince(i64),
}

impl Condition {
    /// Whether it holds for an object of this time; where that is not known, it does.
    pub(crate) fn holds(self, modified: Option<i64>) -> bool {
        match self {
            Self::ModifiedSince(since) => modified.is_none_or(|modified| modified > since),
            Self::UnmodifiedSince(since) => modified.is_none_or(|modified| modified <= since),
        }
    }
}

/// Tells one version of an object from another (RFC 9110 §8.8).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validator {
    /// A strong entity tag, quotes included.
    ETag(String),
    /// A time of modification, in the words of whoever keeps the object.
    Modified(String),
}

impl Validator {
    /// Reads what Display wrote; nothing that no header field could hold.
    pub fn from_text(text: &str) -> Option<Self> {
        if text.chars().any(char::is_control) {
            return None;
        }
        match text.split_once(' ')? {
            ("etag", tag) => Some(Self::ETag(tag.to_owned())),
            ("modified", time) => Some(Self::Modified(time.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ETag(tag) => write!(f, "etag {tag}"),
            Self::Modified(time) => write!(f, "modified {time}"),
        }
    }
}

/// An extra for the file driver: FIFOs and devices may be read.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SpecialFiles {}

impl Request {
    /// Asks for the object that `text` names.
    ///
    /// # Errors
    /// `bad_url` when the text is not a URL.
    pub fn new(text: &str) -> Result<Self, Error> {
        Ok(Self::from_url(parse(text)?.into_owned().url))
    }

    /// Asks for the object that `url` names.
    pub const fn from_url(url: Url<'static>) -> Self {
        let standing = HopStanding { is_abroad: false, is_plain: false, is_for_gateway: false };
        Self {
            url,
            want: Want::Object,
            range: None,
            resume: None,
            condition: None,
            login: None,
            news_server: None,
            standing,
            observer: None,
            turn: None,
            extras: Vec::new(),
        }
    }

    /// Asks only for what is known of the object.
    #[must_use]
    pub const fn head(mut self) -> Self {
        self.want = Want::Head;
        self
    }

    /// Asks for a part of the object.
    #[must_use]
    pub const fn range(mut self, range: ByteRange) -> Self {
        self.range = Some(range);
        self
    }

    /// Asks for what is missing, if the object is still the same; for all of it otherwise.
    #[must_use]
    pub fn resuming(mut self, resume: Option<Resume>) -> Self {
        self.resume = resume;
        self
    }

    /// Asks for the object only if `condition` holds; otherwise the answer is
    /// [`crate::Content::Unchanged`].
    #[must_use]
    pub const fn only_if(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// The server for URLs that name none: `news:` (RFC 1738 §3.6).
    #[must_use]
    pub fn news_server(mut self, at: HostPort<'static>) -> Self {
        self.url = self.url.on_news_server(&at);
        self.news_server = Some(at);
        self
    }

    /// Tells `observer` of hops and retries.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observe>) -> Self {
        self.observer = Some(Watcher(observer));
        self
    }

    /// It is one of many: when its host is busy, it gives `turn` away and waits for another.
    #[must_use]
    pub fn in_turn(mut self, turn: Option<Arc<Turn>>) -> Self {
        self.turn = turn;
        self
    }

    /// Something that one driver understands, such as [`SpecialFiles`].
    #[must_use]
    pub fn with_extra<T: Send + Sync + 'static>(mut self, extra: T) -> Self {
        self.extras.push(Arc::new(extra));
        self
    }

    /// The URL.
    pub const fn url(&self) -> &Url<'static> {
        &self.url
    }

    /// The object, or only what is known of it.
    pub const fn want(&self) -> Want {
        self.want
    }

    /// The part that is wanted.
    pub const fn wanted_range(&self) -> Option<ByteRange> {
        self.range
    }

    /// What is already there.
    pub const fn resume(&self) -> Option<&Resume> {
        self.resume.as_ref()
    }

    /// The extra of type `T`, if it was given.
    pub fn extra<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extras.iter().find_map(|extra| extra.downcast_ref())
    }

    /// The condition that was set.
    pub const fn condition(&self) -> Option<Condition> {
        self.condition
    }

    /// Who we are to the server: the engine has decided it.
    pub const fn login(&self) -> Option<&Credential> {
        self.login.as_ref()
    }

    /// Whether some hop has left the server that the caller named: what the caller gave for that
    /// server alone must not be shown any more.
    pub const fn is_abroad(&self) -> bool {
        self.standing.is_abroad
    }

    /// Whether some answer told to ask for the object plainly, without the caller's method and body.
    pub const fn is_plain(&self) -> bool {
        self.standing.is_plain
    }

    pub(crate) fn turn(&self) -> Option<&Turn> {
        self.turn.as_deref()
    }

    pub(crate) fn tell(&self, event: &Event<'_>) {
        if let Some(Watcher(observer)) = &self.observer {
            observer.observe(event);
        }
    }

    /// The same request for the whole object.
    pub(crate) const fn without_range(mut self) -> Self {
        self.range = None;
        self
    }

    /// Asks for all of another object, which stands beside this one: what is meant for this one's server goes to no
    /// other.
    #[must_use]
    pub fn beside(&self, url: Url<'static>) -> Self {
        let is_abroad = self.is_abroad() || !is_same_server(&self.url, &url);
        let standing = HopStanding { is_abroad, is_plain: true, is_for_gateway: false };
        let mut this = self.clone().moved_to(url, standing);
        (this.want, this.range, this.resume, this.condition) = (Want::Object, None, None, None);
        this
    }

    /// The same request, asked of a gateway: what is meant for the server is not for it.
    pub(crate) fn through_gateway(self, url: Url<'static>) -> Self {
        let is_plain = self.is_plain() || !matches!(self.url, Url::Http(_));
        let standing = HopStanding { is_abroad: true, is_plain, is_for_gateway: true };
        self.moved_to(url, standing)
    }

    /// Whether the caller's own gateway is asked for it.
    pub(crate) const fn is_for_gateway(&self) -> bool {
        self.standing.is_for_gateway
    }

    /// The same request for another URL.
    pub(crate) fn moved_to(mut self, url: Url<'static>, standing: HopStanding) -> Self {
        self.url = match &self.news_server {
            Some(at) => url.on_news_server(at),
            None => url,
        };
        self.standing = standing;
        self
    }

    /// The same request, made by somebody the server may know.
    pub(crate) fn made_by(mut self, login: Option<Credential>) -> Self {
        self.login = login;
        self
    }
}

/// An observer, silent in Debug.
#[derive(Clone)]
struct Watcher(Arc<dyn Observe>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
