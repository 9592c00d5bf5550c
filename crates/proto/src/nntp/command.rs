//! Commands, as lines (RFC 3977 §3.1).

use std::fmt;

use crate::text::escaped;

/// What a command does. RFC 3977, but for those that name another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Article,
    Body,
    Capabilities,
    /// RFC 8054.
    Compress,
    Group,
    Head,
    /// RFC 977: all groups.
    List,
    ListActive,
    ModeReader,
    Over,
    /// RFC 4643.
    Pass,
    /// RFC 4642.
    StartTls,
    /// RFC 4643.
    User,
    /// RFC 2980: what OVER was before it was a standard.
    Xover,
}

impl Verb {
    /// The words on the wire.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Article => "ARTICLE",
            Self::Body => "BODY",
            Self::Capabilities => "CAPABILITIES",
            Self::Compress => "COMPRESS DEFLATE",
            Self::Group => "GROUP",
            Self::Head => "HEAD",
            Self::List => "LIST",
            Self::ListActive => "LIST ACTIVE",
            Self::ModeReader => "MODE READER",
            Self::Over => "OVER",
            Self::Pass => "AUTHINFO PASS",
            Self::StartTls => "STARTTLS",
            Self::User => "AUTHINFO USER",
            Self::Xover => "XOVER",
        }
    }
}

/// One command. Display is without secrets. What goes into an argument has been checked before.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) verb: Verb,
    argument: Vec<u8>,
}

impl Command {
    pub(super) const fn new(verb: Verb) -> Self {
        Self { verb, argument: Vec::new() }
    }

    pub(super) fn with(verb: Verb, argument: &[u8]) -> Self {
        Self { verb, argument: argument.to_vec() }
    }

    /// Adds its line, line end included, to `lines`.
    pub(super) fn write(&self, lines: &mut Vec<u8>) {
        lines.extend_from_slice(self.verb.words().as_bytes());
        if !self.argument.is_empty() {
            lines.push(b' ');
            lines.extend_from_slice(&self.argument);
        }
        lines.extend_from_slice(b"\r\n");
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb.words())?;
        match self.verb {
            Verb::Pass => f.write_str(" ***"),
            _ if self.argument.is_empty() => Ok(()),
            _ => write!(f, " {}", escaped(&self.argument)),
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Command({self})")
    }
}
