//! FTP commands. Every argument is checked for bytes that would end the line (RFC 1738 §6).

use std::fmt;

use crate::text::escape_non_ascii;
use crate::{ForbiddenByte, ForbiddenSet};

/// The name of a command (RFC 959 §4.1, unless another RFC is named).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verb {
    /// ACCT: account of the user.
    Acct,
    /// CWD: change the working directory.
    Cwd,
    /// EPRT: the server connects to an address of the client (RFC 2428 §2).
    Eprt,
    /// EPSV: the server listens on a port for the data connection (RFC 2428 §3).
    Epsv,
    /// LIST: a listing in the format of the server, such as that of `ls -l`.
    List,
    /// MDTM: modification time of a file (RFC 3659 §3).
    Mdtm,
    /// MLSD: a listing in a standard format (RFC 3659 §7).
    Mlsd,
    /// NLST: a listing of names.
    Nlst,
    /// NOOP: no action; shows that the server has answered all earlier commands.
    Noop,
    /// PASS: password.
    Pass,
    /// PASV: the server listens on an IPv4 address for the data connection.
    Pasv,
    /// PBSZ: size of the protection buffer (RFC 4217 §9).
    Pbsz,
    /// PORT: the server connects to an IPv4 address of the client.
    Port,
    /// PROT: protection of the data connection (RFC 4217 §9).
    Prot,
    /// PWD: print the working directory.
    Pwd,
    /// QUIT: end of the session.
    Quit,
    /// REST: offset at which the next transfer starts (RFC 3659 §5).
    Rest,
    /// RETR: retrieve a file.
    Retr,
    /// SIZE: the number of bytes that a transfer of the file would send (RFC 3659 §4).
    Size,
    /// TYPE: representation type of the data.
    Type,
    /// USER: user name.
    User,
}

impl Verb {
    /// Returns the command name as it is sent, such as `RETR`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acct => "ACCT",
            Self::Cwd => "CWD",
            Self::Eprt => "EPRT",
            Self::Epsv => "EPSV",
            Self::List => "LIST",
            Self::Mdtm => "MDTM",
            Self::Mlsd => "MLSD",
            Self::Nlst => "NLST",
            Self::Noop => "NOOP",
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

    /// Returns `true` if the argument is a secret.
    const fn is_secret(self) -> bool {
        matches!(self, Self::Acct | Self::Pass)
    }

    /// Returns `true` if the server answers on the data connection: LIST, MLSD, NLST and RETR.
    pub const fn is_transfer(self) -> bool {
        matches!(self, Self::List | Self::Mlsd | Self::Nlst | Self::Retr)
    }

    /// Returns what the argument is, for errors.
    const fn argument_name(self) -> &'static str {
        match self {
            Self::Acct => "account",
            Self::Pass => "password",
            Self::User => "user",
            _ => "path",
        }
    }
}

/// How byte 0xFF is sent in an argument. FTP uses the Telnet protocol, in which 0xFF is IAC and must be doubled
/// (RFC 959 §4.1.3, RFC 854), but most servers expect it undoubled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "RFC 854 knows no other handling")]
pub enum IacEscaping {
    /// Once, as in the URL.
    #[default]
    Plain,
    /// Twice, as the RFCs require.
    Doubled,
}

/// One command with its argument. `Display` and `Debug` mask the arguments of PASS and ACCT.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Command {
    verb: Verb,
    argument: Option<Vec<u8>>,
}

impl Command {
    /// Creates a command without an argument.
    pub const fn new(verb: Verb) -> Self {
        Self { verb, argument: None }
    }

    /// Creates a command with an argument, which may be empty (the null argument of RFC 1738 §3.2.2).
    ///
    /// # Errors
    /// The argument contains CR, LF or NUL.
    pub fn with_argument(verb: Verb, argument: impl Into<Vec<u8>>) -> Result<Self, ForbiddenByte> {
        let argument = argument.into();
        ForbiddenSet::LINE.check(verb.argument_name(), &argument)?;
        Ok(Self { verb, argument: Some(argument) })
    }

    /// Creates a command with an argument that does not come from a URL and needs no check.
    pub(super) fn with_safe_argument(verb: Verb, argument: impl fmt::Display) -> Self {
        Self { verb, argument: Some(argument.to_string().into_bytes()) }
    }

    /// Returns the name of the command.
    pub const fn verb(&self) -> Verb {
        self.verb
    }

    /// Returns the argument, decoded.
    pub fn argument(&self) -> Option<&[u8]> {
        self.argument.as_deref()
    }

    /// Returns `true` if the argument contains the byte 0xFF (Telnet's IAC).
    pub fn contains_iac(&self) -> bool {
        self.argument.as_ref().is_some_and(|argument| argument.contains(&0xff))
    }

    /// Appends the command line, with CR LF, to `lines`.
    pub fn write_line(&self, lines: &mut Vec<u8>, iac: IacEscaping) {
        lines.extend_from_slice(self.verb.as_str().as_bytes());
        if let Some(argument) = &self.argument {
            lines.push(b' ');
            for &byte in argument {
                lines.push(byte);
                if byte == 0xff && iac == IacEscaping::Doubled {
                    lines.push(byte);
                }
            }
        }
        lines.extend_from_slice(b"\r\n");
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.verb.as_str())?;
        match &self.argument {
            Some(_) if self.verb.is_secret() => f.write_str(" ***"),
            Some(argument) => write!(f, " {}", escape_non_ascii(argument)),
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

    fn line(command: &Command, iac: IacEscaping) -> Vec<u8> {
        let mut line = Vec::new();
        command.write_line(&mut line, iac);
        line
    }

    #[test]
    fn arguments_and_iac_are_written_as_configured() {
        let cwd = |argument: &[u8]| Command::with_argument(Verb::Cwd, argument).expect("no forbidden byte");
        assert_eq!(line(&Command::new(Verb::Epsv), IacEscaping::Plain), b"EPSV\r\n");
        assert_eq!(line(&cwd(b""), IacEscaping::Plain), b"CWD \r\n");
        assert_eq!(line(&cwd(b"a \xff"), IacEscaping::Plain), b"CWD a \xff\r\n");
        assert_eq!(line(&cwd(b"a \xff"), IacEscaping::Doubled), b"CWD a \xff\xff\r\n");
    }

    #[test]
    fn arguments_with_cr_lf_or_nul_are_rejected() {
        for byte in 0..=255u8 {
            for verb in [Verb::User, Verb::Pass, Verb::Acct, Verb::Cwd, Verb::Retr, Verb::Nlst] {
                let made = Command::with_argument(verb, [b'a', byte, b'b']);
                assert_eq!(made.is_err(), matches!(byte, b'\r' | b'\n' | 0), "{byte:#x} in {verb:?}");
            }
        }
    }

    #[test]
    fn password_is_masked_in_display_and_debug() {
        let pass = Command::with_argument(Verb::Pass, "canary").expect("no forbidden byte");
        assert_eq!(format!("{pass} {pass:?}"), "PASS *** Command(PASS ***)");
    }
}
