//! Who we are to the server: USER, PASS, ACCT (RFC 959 §5.4, RFC 1738 §3.2.1).

use std::fmt;

use super::Pace;
use crate::ForbiddenOctet;
use crate::ftp::{Command, Verb};

/// A login. Debug shows no password.
pub struct Login {
    user: Command,
    password: Option<Command>,
    account: Option<Command>,
    is_anonymous: bool,
    protects: bool,
    is_done: bool,
}

impl Login {
    /// The login of `user`. A password that is not known is asked for, if the server wants one.
    ///
    /// # Errors
    /// CR, LF or NUL in one of them.
    pub fn new(user: &[u8], password: Option<&[u8]>, account: Option<&[u8]>) -> Result<Self, ForbiddenOctet> {
        Ok(Self {
            user: Command::with(Verb::User, user)?,
            password: password.map(|password| Command::with(Verb::Pass, password)).transpose()?,
            account: account.map(|account| Command::with(Verb::Acct, account)).transpose()?,
            is_anonymous: false,
            protects: false,
            is_done: false,
        })
    }

    /// Nobody in particular: an address in place of a password, which is no secret.
    ///
    /// # Errors
    /// CR, LF or NUL in it.
    pub fn anonymous(address: &[u8], account: Option<&[u8]>) -> Result<Self, ForbiddenOctet> {
        let login = Self::new(b"anonymous", Some(address), account)?;
        Ok(Self { is_anonymous: true, ..login })
    }

    /// In TLS from the first octet: the data connection is to be protected too, before anybody logs in
    /// (RFC 4217 §9).
    #[must_use]
    pub fn protecting(mut self) -> Self {
        self.protects = true;
        self
    }

    /// What is said without being asked.
    pub(super) fn commands(&self) -> Vec<Command> {
        let mut commands = Vec::new();
        if self.protects {
            commands.extend([Command::own(Verb::Pbsz, 0), Command::own(Verb::Prot, 'P')]);
        }
        commands.push(self.user.clone());
        commands.extend(self.password.clone());
        commands
    }

    /// Whether the reply to `verb` decides what is said next.
    pub(super) fn closes(&self, verb: Verb, pace: Pace) -> bool {
        match verb {
            // A password goes out only when it is asked for.
            Verb::User => !(self.is_anonymous && pace == Pace::Ahead),
            Verb::Pass => self.account.is_some() || pace != Pace::Ahead,
            Verb::Acct | Verb::Prot => true,
            _ => false,
        }
    }

    pub(super) const fn password(&self) -> Option<&Command> {
        self.password.as_ref()
    }

    pub(super) fn take_account(&mut self) -> Option<Command> {
        self.account.take()
    }

    pub(super) const fn done(&mut self) {
        self.is_done = true;
    }

    pub(super) const fn is_done(&self) -> bool {
        self.is_done
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({})", self.user)
    }
}
