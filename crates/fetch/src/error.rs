//! Errors: a stable code, the phase in which the request failed, and the reply of the server.

mod code;
mod hint;
mod io;

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use fetch_url_core::{ParseError, Url};
use fetch_url_proto::{ForbiddenByte, WireError, text};

use crate::timings::Timings;

pub use code::{CODES, Code, CodeRow};
pub use hint::Hint;

/// The step of a request in which an error occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// While the bytes of the object were transferred.
    Body,
    /// While the server's certificate was checked.
    Certificate,
    /// While the connection was opened.
    Connect,
    /// While the object was written to its destination.
    Deliver,
    /// While a redirect was followed.
    Redirect,
    /// While the URL was parsed and the commands were planned; nothing was sent.
    Plan,
    /// While the proxy opened the connection.
    Proxy,
    /// While the client waited for the first byte of the reply.
    Reply,
    /// The request was sent, and the server refused it.
    Request,
    /// While the host name was resolved.
    Resolve,
    /// During the TLS handshake.
    Tls,
}

impl Phase {
    /// Returns the stable name of the phase, as JSON output shows it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Certificate => "certificate",
            Self::Connect => "connect",
            Self::Deliver => "deliver",
            Self::Redirect => "hop",
            Self::Plan => "plan",
            Self::Proxy => "proxy",
            Self::Reply => "reply",
            Self::Request => "request",
            Self::Resolve => "resolve",
            Self::Tls => "tls",
        }
    }
}

/// Why a request failed.
///
/// `Display` is one line without the URL and without any secret. [`code`](Self::code) is stable and meant for programs;
/// [`hint`](Self::hint) suggests what the caller can do.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: Code,
    phase: Phase,
    detail: String,
    reply: Option<String>,
    hint: Option<Hint>,
    url: Option<String>,
    redirect_target: Option<String>,
    timings: Timings,
    parse: Option<ParseError>,
    retry_after: Option<Duration>,
    is_temporary: bool,
    has_invalid_body: bool,
    /// The server has refused user and password.
    is_refused_login: bool,
    allows_restart: bool,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    /// Returns an error of kind `code` that occurred in `phase`. `detail` describes it further, or is empty.
    pub fn new(code: Code, phase: Phase, detail: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            phase,
            detail: detail.into(),
            reply: None,
            hint: None,
            url: None,
            redirect_target: None,
            timings: Timings::default(),
            parse: None,
            retry_after: None,
            is_temporary: code.is_temporary(),
            has_invalid_body: false,
            is_refused_login: false,
            allows_restart: false,
            source: None,
        }))
    }

    /// Replaces `before` by `after` in the detail.
    #[must_use]
    pub(crate) fn replace_in_detail(mut self, before: &str, after: &str) -> Self {
        self.0.detail = self.0.detail.replace(before, after);
        self
    }

    /// Puts the name of the peer in front of the detail.
    #[must_use]
    pub(crate) fn about(mut self, peer: &str) -> Self {
        self.0.detail = format!("{peer}: {}", self.0.detail);
        self
    }

    /// Adds the reply of the server; control characters are escaped.
    #[must_use]
    pub fn with_reply(mut self, reply: &[u8]) -> Self {
        self.0.reply = Some(text::sanitise(reply));
        self
    }

    /// Adds the target of a redirect that was not followed, without password.
    #[must_use]
    pub(crate) fn with_redirect_target(mut self, target: String) -> Self {
        self.0.redirect_target = Some(target);
        self
    }

    /// Adds the times and the connection of the request that failed.
    #[must_use]
    pub(crate) fn with_timings(mut self, timings: Timings) -> Self {
        self.0.timings = timings;
        self
    }

    /// Adds a suggestion for the caller.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Hint>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// Adds the time that the server asked to wait (such as `Retry-After`, RFC 9110 §10.2.3).
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.retry_after = wait;
        self
    }

    /// Marks the error as transient: the same request may succeed later, and is retried.
    #[must_use]
    pub fn as_transient(mut self) -> Self {
        self.0.is_temporary = true;
        self
    }

    /// Marks the error as permanent: it is not retried, whatever its code.
    #[must_use]
    pub fn as_permanent(mut self) -> Self {
        self.0.is_temporary = false;
        self
    }

    /// Marks the error as the refusal of a user and password that were sent: the message says so.
    #[must_use]
    pub(crate) fn with_refused_login(mut self) -> Self {
        self.0.is_refused_login = true;
        self
    }

    /// Marks the bytes received so far as invalid, so that they are not kept for a resume.
    #[must_use]
    pub fn with_invalid_body(mut self) -> Self {
        self.0.has_invalid_body = true;
        self
    }

    /// Adds the URL that failed, without its password. An error that already has a URL keeps it.
    #[must_use]
    pub fn with_url(mut self, url: &Url<'_>) -> Self {
        if self.0.url.is_none() {
            self.0.url = Some(url.redacted().to_string());
        }
        self
    }

    /// Replaces each text that a server may have sent, or that contains a URL, by `change` of it.
    #[must_use]
    pub(crate) fn map_texts(mut self, change: impl Fn(&str) -> String) -> Self {
        let hint = self.0.hint.as_mut().and_then(Hint::text_mut);
        let texts = [self.0.reply.as_mut(), self.0.url.as_mut(), self.0.redirect_target.as_mut(), hint];
        let texts = texts.into_iter().flatten().chain([&mut self.0.detail]);
        texts.for_each(|text| *text = change(text));
        self
    }

    /// Returns the kind of error: stable, and meant for programs.
    pub const fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the step in which the error occurred.
    pub const fn phase(&self) -> Phase {
        self.0.phase
    }

    /// Returns the exit status that the command `fetch-url` has for this error.
    pub fn exit_status(&self) -> u8 {
        self.0.code.exit_status(self.0.phase)
    }

    /// Returns the reply of the server, safe to print on a terminal.
    pub fn reply(&self) -> Option<&str> {
        self.0.reply.as_deref()
    }

    /// Returns the target of the redirect that was not followed, such as one beyond the limit, without password.
    pub fn redirect_target(&self) -> Option<&str> {
        self.0.redirect_target.as_deref()
    }

    /// Returns the times and the connection of a request that failed before its final response. For an error after the
    /// response arrived, or before a request was sent, all are `None` or 0; a response has its own in `Meta::timings`.
    pub const fn timings(&self) -> &Timings {
        &self.0.timings
    }

    /// Returns what the caller can do about the error.
    pub fn hint(&self) -> Option<&Hint> {
        self.0.hint.as_ref()
    }

    /// Returns the URL that failed, without its password.
    pub fn url(&self) -> Option<&str> {
        self.0.url.as_deref()
    }

    /// Returns the position and reason of a syntax error, if the code is [`Code::BadUrl`].
    pub const fn parse_error(&self) -> Option<&ParseError> {
        self.0.parse.as_ref()
    }

    /// Returns the time that the server asked to wait.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns `true` if the same request may succeed later.
    pub const fn is_transient(&self) -> bool {
        self.0.is_temporary
    }

    /// Marks an error that this client caused by pipelining: the request may be sent again if no byte of the
    /// body was delivered, even if the object has no validator.
    #[cfg(feature = "ftp")]
    pub(crate) fn with_restart_allowed(mut self) -> Self {
        self.0.allows_restart = true;
        self
    }

    /// Returns `true` if the request may be sent again while no byte of the body was delivered.
    pub(crate) const fn allows_restart(&self) -> bool {
        self.0.allows_restart
    }

    /// Returns `true` if the bytes received so far are invalid ([`with_invalid_body`](Self::with_invalid_body)), for
    /// example because the server may have ignored the requested offset.
    pub const fn has_invalid_body(&self) -> bool {
        self.0.has_invalid_body
    }

    /// Returns `true` if the server or the network may be the cause: not the URL, the caller's policy, or the disk.
    pub(crate) const fn is_peer_error(&self) -> bool {
        !matches!(
            self.0.code,
            Code::BadUrl
                | Code::ForbiddenByte
                | Code::Internal
                | Code::LimitReached
                | Code::Policy
                | Code::SinkFailed
                | Code::TooManyRedirects
                | Code::Unsupported
                | Code::Usage
        )
    }

    /// Returns `true` if a server may refuse only the metadata, but send the object: some HTTP servers answer HEAD with 403
    /// (signed URLs), 404, 405 or 500, or close the connection, and some FTP servers answer SIZE and MDTM with 550.
    pub fn may_refuse_only_head(&self) -> bool {
        let has_scheme = |scheme: &str| self.url().is_some_and(|url| url.starts_with(scheme));
        let is_status = matches!(self.code(), Code::Busy | Code::Denied | Code::HttpError | Code::NotFound);
        has_scheme("http") && (is_status && self.reply().is_some() || self.code() == Code::EmptyReply)
            || has_scheme("ftp") && self.code() == Code::NotFound
    }

    /// Returns `true` if the reader of the output has closed its end of the pipe.
    pub fn is_broken_pipe(&self) -> bool {
        self.io_kind() == Some(std::io::ErrorKind::BrokenPipe)
    }

    /// Returns the kind of the I/O error that caused this one.
    fn io_kind(&self) -> Option<std::io::ErrorKind> {
        Some(self.0.source.as_deref()?.downcast_ref::<std::io::Error>()?.kind())
    }

    /// Marks the error of a request that must not be sent twice as permanent, unless the request cannot have been sent.
    pub(crate) fn retry_only_if_unsent(self) -> Self {
        match self.0.phase {
            Phase::Resolve | Phase::Connect => self,
            _ => self.as_permanent(),
        }
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
        this.0.hint = error.hint().map(Hint::from);
        this.0.parse = Some(error);
        this
    }
}

impl From<ForbiddenByte> for Error {
    fn from(error: ForbiddenByte) -> Self {
        Self::new(Code::ForbiddenByte, Phase::Plan, error.to_string())
    }
}

impl From<WireError> for Error {
    fn from(error: WireError) -> Self {
        let code = match error {
            WireError::UnexpectedEnd { .. } => Code::Truncated,
            WireError::LimitExceeded { .. } => Code::LimitReached,
            _ => Code::PeerMisbehaved,
        };
        Self::new(code, Phase::Reply, error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        f.write_str(if inner.is_refused_login { "login refused" } else { inner.code.summary() })?;
        if !inner.detail.is_empty() {
            write!(f, ": {}", text::sanitise(inner.detail.as_bytes()))?;
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
        write!(f, "Error({} in {}: {self}; {url})", self.0.code.name(), self.0.phase.word())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
