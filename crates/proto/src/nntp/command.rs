//! NNTP commands and their encoding as lines (RFC 3977 §3.1).

use std::fmt;

use crate::text::escape_non_ascii;

/// The verb of a command, from RFC 3977 where no other RFC is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Article,
    Body,
    Capabilities,
    /// COMPRESS DEFLATE (RFC 8054).
    Compress,
    Group,
    Head,
    /// LIST without a keyword: all groups (RFC 977).
    List,
    ListActive,
    ModeReader,
    Over,
    /// AUTHINFO PASS (RFC 4643).
    Pass,
    /// STARTTLS (RFC 4642).
    StartTls,
    /// AUTHINFO USER (RFC 4643).
    User,
    /// XOVER, the predecessor of OVER (RFC 2980).
    Xover,
}

impl Verb {
    /// Returns the verb as it is sent.
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

/// A command with its argument, which has been validated. `Display` replaces the password with `***`.
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

    /// Appends the command line, with CRLF, to `lines`.
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
            _ => write!(f, " {}", escape_non_ascii(&self.argument)),
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Command({self})")
    }
}
