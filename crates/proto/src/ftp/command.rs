//! Commands, and the one gate for what goes into them (RFC 1738 §6).

use std::fmt;

use crate::text::escaped;
use crate::{ForbiddenOctet, Octets};

/// What a command does. RFC 959 §4.1, but for those that name another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// Account.
    Acct,
    /// Change working directory.
    Cwd,
    /// The server is to connect to an address of ours (RFC 2428 §2).
    Eprt,
    /// The server is to listen (RFC 2428 §3).
    Epsv,
    /// A listing for people.
    List,
    /// Time of the last change (RFC 3659 §3).
    Mdtm,
    /// A listing for programs (RFC 3659 §7).
    Mlsd,
    /// A listing of names.
    Nlst,
    /// Password.
    Pass,
    /// The server is to listen, on an IPv4 address.
    Pasv,
    /// Size of the protection buffer (RFC 4217 §9).
    Pbsz,
    /// The server is to connect to an IPv4 address of ours.
    Port,
    /// Protection of the data connection (RFC 4217 §9).
    Prot,
    /// Print working directory.
    Pwd,
    /// The end.
    Quit,
    /// Where in the file to begin (RFC 3659 §5).
    Rest,
    /// Retrieve.
    Retr,
    /// Size in octets, as it would be sent (RFC 3659 §4).
    Size,
    /// Representation type.
    Type,
    /// User.
    User,
}

impl Verb {
    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Acct => "ACCT",
            Self::Cwd => "CWD",
            Self::Eprt => "EPRT",
            Self::Epsv => "EPSV",
            Self::List => "LIST",
            Self::Mdtm => "MDTM",
            Self::Mlsd => "MLSD",
            Self::Nlst => "NLST",
            Self::Pass => "PASS",
            Self::Pasv => "PASV",
            Self::Pbsz => "PBSZ",
            Self::Port => "PORT",
            Self::Prot => "PROT",
            Self::Pwd => "PWD",
            Self::Quit => "QUIT",
            Self::Rest => "REST",
            Self::Retr => "RETR",
            Self::Size => "SIZE",
            Self::Type => "TYPE",
            Self::User => "USER",
        }
    }

    /// Whether its argument opens doors.
    const fn is_secret(self) -> bool {
        matches!(self, Self::Acct | Self::Pass)
    }

    /// Whether it is answered by a data connection.
    pub const fn is_transfer(self) -> bool {
        matches!(self, Self::List | Self::Mlsd | Self::Nlst | Self::Retr)
    }

    /// The part of a URL, or of what goes with it, that its argument is.
    const fn part(self) -> &'static str {
        match self {
            Self::Acct => "account",
            Self::Pass => "password",
            Self::User => "user",
            _ => "path",
        }
    }
}

/// Whether 0xFF in an argument is doubled, as Telnet's IAC must be (RFC 959 §4.1.3, RFC 854): the
/// RFC says so, and few servers know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "it is or it is not")]
pub enum Iac {
    /// As it is.
    #[default]
    Plain,
    /// Twice.
    Doubled,
}

/// One command. Display is without secrets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Command {
    verb: Verb,
    argument: Option<Vec<u8>>,
}

impl Command {
    /// A command without an argument.
    pub const fn new(verb: Verb) -> Self {
        Self { verb, argument: None }
    }

    /// A command with an argument, which may be empty: RFC 1738 §3.2.2's null argument.
    ///
    /// # Errors
    /// CR, LF or NUL in the argument.
    pub fn with(verb: Verb, argument: impl Into<Vec<u8>>) -> Result<Self, ForbiddenOctet> {
        let argument = argument.into();
        Octets::LINE.check(verb.part(), &argument)?;
        Ok(Self { verb, argument: Some(argument) })
    }

    /// A command whose argument is ours: digits and letters.
    pub(super) fn own(verb: Verb, argument: impl fmt::Display) -> Self {
        Self { verb, argument: Some(argument.to_string().into_bytes()) }
    }

    /// What it does.
    pub const fn verb(&self) -> Verb {
        self.verb
    }

    /// Its argument.
    pub fn argument(&self) -> Option<&[u8]> {
        self.argument.as_deref()
    }

    /// Whether Telnet's IAC stands in its argument.
    pub fn has_iac(&self) -> bool {
        self.argument.as_ref().is_some_and(|argument| argument.contains(&0xff))
    }

    /// Adds its line, line end included, to `lines`.
    pub fn write(&self, lines: &mut Vec<u8>, iac: Iac) {
        lines.extend_from_slice(self.verb.word().as_bytes());
        if let Some(argument) = &self.argument {
            lines.push(b' ');
            for &octet in argument {
                lines.push(octet);
                if octet == 0xff && iac == Iac::Doubled {
                    lines.push(octet);
                }
            }
        }
        lines.extend_from_slice(b"\r\n");
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb.word())?;
        match &self.argument {
            Some(_) if self.verb.is_secret() => f.write_str(" ***"),
            Some(argument) => write!(f, " {}", escaped(argument)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Command({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(command: &Command, iac: Iac) -> Vec<u8> {
        let mut line = Vec::new();
        command.write(&mut line, iac);
        line
    }

    #[test]
    fn lines() {
        let cwd = |argument: &[u8]| Command::with(Verb::Cwd, argument).expect("nothing is forbidden");
        assert_eq!(line(&Command::new(Verb::Epsv), Iac::Plain), b"EPSV\r\n");
        assert_eq!(line(&cwd(b""), Iac::Plain), b"CWD \r\n");
        assert_eq!(line(&cwd(b"a \xff"), Iac::Plain), b"CWD a \xff\r\n");
        assert_eq!(line(&cwd(b"a \xff"), Iac::Doubled), b"CWD a \xff\xff\r\n");
    }

    #[test]
    fn nothing_gets_into_a_line_that_ends_it() {
        for octet in 0..=255u8 {
            for verb in [Verb::User, Verb::Pass, Verb::Acct, Verb::Cwd, Verb::Retr, Verb::Nlst] {
                let made = Command::with(verb, [b'a', octet, b'b']);
                assert_eq!(made.is_err(), matches!(octet, b'\r' | b'\n' | 0), "{octet:#x} in {verb:?}");
            }
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        let pass = Command::with(Verb::Pass, "canary").expect("nothing is forbidden");
        assert_eq!(format!("{pass} {pass:?}"), "PASS *** Command(PASS ***)");
    }
}
