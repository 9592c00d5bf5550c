//! Why there is no answer: a stable code, the phase it happened in, and the peer's own words.

mod code;

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use fetch_url_core::{ParseError, Url};
use fetch_url_proto::{ForbiddenOctet, WireError, text};

pub use code::{CODES, Code, CodeRow};

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// The octets of the object.
    Body,
    /// Checking who the server is.
    Certificate,
    /// Opening the connection.
    Connect,
    /// Writing what came.
    Deliver,
    /// Going where the answer pointed.
    Hop,
    /// Reading the URL and working out what to send.
    Plan,
    /// Talking to a proxy.
    Proxy,
    /// Waiting for the answer to begin.
    Reply,
    /// The request was answered, with a refusal.
    Request,
    /// Looking up the host.
    Resolve,
    /// The TLS handshake.
    Tls,
}

impl Phase {
    /// A stable word for machines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Certificate => "certificate",
            Self::Connect => "connect",
            Self::Deliver => "deliver",
            Self::Hop => "hop",
            Self::Plan => "plan",
            Self::Proxy => "proxy",
            Self::Reply => "reply",
            Self::Request => "request",
            Self::Resolve => "resolve",
            Self::Tls => "tls",
        }
    }
}

/// A failure. Display is one line without the URL and without any secret.
pub struct Error(Box<Inner>);

struct Inner {
    code: Code,
    phase: Phase,
    detail: String,
    reply: Option<String>,
    hint: Option<String>,
    url: Option<String>,
    parse: Option<ParseError>,
    retry_after: Option<Duration>,
    is_temporary: bool,
    is_void: bool,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// A failure of kind `code` in `phase`; `detail` says more than the code, or nothing.
    pub fn new(code: Code, phase: Phase, detail: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            phase,
            detail: detail.into(),
            reply: None,
            hint: None,
            url: None,
            parse: None,
            retry_after: None,
            is_temporary: code.is_temporary(),
            is_void: false,
            source: None,
        }))
    }

    /// The same, with `after` in the place of `before` in what it says.
    #[must_use]
    pub(crate) fn with_other_words(mut self, before: &str, after: &str) -> Self {
        self.0.detail = self.0.detail.replace(before, after);
        self
    }

    /// The peer's own words; made safe to print.
    #[must_use]
    pub fn with_reply(mut self, reply: &[u8]) -> Self {
        self.0.reply = Some(text::printable(reply));
        self
    }

    /// What the caller could do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// What lies beneath.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// How long the peer asked to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.retry_after = wait;
        self
    }

    /// It may pass: the same request may succeed later.
    #[must_use]
    pub fn passing(mut self) -> Self {
        self.0.is_temporary = true;
        self
    }

    /// It will not pass, whatever its code says of others.
    #[must_use]
    pub fn lasting(mut self) -> Self {
        self.0.is_temporary = false;
        self
    }

    /// It shows that the octets that came are not those of the object: nothing of them is kept.
    #[must_use]
    pub fn voiding(mut self) -> Self {
        self.0.is_void = true;
        self
    }

    /// The URL it happened to, kept without its password; the first one stays.
    #[must_use]
    pub fn at(mut self, url: &Url<'_>) -> Self {
        if self.0.url.is_none() {
            self.0.url = Some(url.redacted().to_string());
        }
        self
    }

    /// What kind of failure it is.
    pub const fn code(&self) -> Code {
        self.0.code
    }

    /// What was being done.
    pub const fn phase(&self) -> Phase {
        self.0.phase
    }

    /// The exit status of the command line for it.
    pub fn exit(&self) -> u8 {
        self.0.code.exit(self.0.phase)
    }

    /// The peer's own words, safe to print.
    pub fn reply(&self) -> Option<&str> {
        self.0.reply.as_deref()
    }

    /// What the caller could do about it.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The URL it happened to, without its password.
    pub fn url(&self) -> Option<&str> {
        self.0.url.as_deref()
    }

    /// Where in the text the fault is, when the text is no URL.
    pub const fn parse_error(&self) -> Option<&ParseError> {
        self.0.parse.as_ref()
    }

    /// How long the peer asked to wait.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Whether the same request may succeed later.
    pub const fn is_temporary(&self) -> bool {
        self.0.is_temporary
    }

    /// Whether the octets that came are void.
    pub(crate) const fn is_void(&self) -> bool {
        self.0.is_void
    }

    /// Whether the other side had a part in it: not the text of the URL, the caller's rules, or our disk.
    pub(crate) const fn is_about_the_peer(&self) -> bool {
        !matches!(
            self.0.code,
            Code::BadUrl
                | Code::ForbiddenOctet
                | Code::Internal
                | Code::LimitReached
                | Code::Policy
                | Code::SinkFailed
                | Code::TooManyHops
                | Code::Unsupported
                | Code::Usage
        )
    }

    /// Whether whoever read our output has gone.
    pub fn is_broken_pipe(&self) -> bool {
        let io = self.0.source.as_deref().and_then(|source| source.downcast_ref::<std::io::Error>());
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn unsupported(detail: impl Into<String>) -> Self {
        Self::new(Code::Unsupported, Phase::Plan, detail)
    }

    pub(crate) fn io(code: Code, phase: Phase, what: &str, error: std::io::Error) -> Self {
        Self::new(code, phase, format!("{what}: {error}")).with_source(error)
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        let mut this = Self::new(Code::BadUrl, Phase::Plan, error.to_string());
        this.0.hint = error.hint().map(str::to_owned);
        this.0.parse = Some(error);
        this
    }
}

impl From<ForbiddenOctet> for Error {
    fn from(error: ForbiddenOctet) -> Self {
        Self::new(Code::ForbiddenOctet, Phase::Plan, error.to_string())
    }
}

impl From<WireError> for Error {
    fn from(error: WireError) -> Self {
        let code = match error {
            WireError::Cut { .. } => Code::Truncated,
            WireError::Limit { .. } => Code::LimitReached,
            _ => Code::PeerMisbehaved,
        };
        Self::new(code, Phase::Reply, error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        f.write_str(inner.code.words())?;
        if !inner.detail.is_empty() {
            write!(f, ": {}", text::printable(inner.detail.as_bytes()))?;
        }
        match &inner.reply {
            Some(reply) => write!(f, " ({reply})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url().unwrap_or("-");
        write!(f, "Error({} in {}: {self}; {url})", self.0.code.word(), self.0.phase.word())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
