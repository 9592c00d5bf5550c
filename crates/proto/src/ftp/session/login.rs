//! The login of a session: USER, PASS, ACCT (RFC 959 §5.4, RFC 1738 §3.2.1).

use std::fmt;

use super::Pipelining;
use crate::ForbiddenByte;
use crate::ftp::{Command, Verb};

/// The login of a [`Session`](super::Session). `Debug` masks the password.
pub struct Login {
    user: Command,
    password: Option<Command>,
    account: Option<Command>,
    is_anonymous: bool,
    protects: bool,
    is_done: bool,
}

impl Login {
    /// Creates the login of `user`. Without a password, the session returns
    /// [`SessionStep::AskPassword`](super::SessionStep::AskPassword) if the server asks for one.
    ///
    /// # Errors
    /// An argument contains CR, LF or NUL.
    pub fn new(user: &[u8], password: Option<&[u8]>, account: Option<&[u8]>) -> Result<Self, ForbiddenByte> {
        Ok(Self {
            user: Command::with_argument(Verb::User, user)?,
            password: password.map(|password| Command::with_argument(Verb::Pass, password)).transpose()?,
            account: account.map(|account| Command::with_argument(Verb::Acct, account)).transpose()?,
            is_anonymous: false,
            protects: false,
            is_done: false,
        })
    }

    /// Creates an anonymous login, with an e-mail address as the password, which is not treated as a secret
    /// (RFC 1738 §3.2.1).
    ///
    /// # Errors
    /// An argument contains CR, LF or NUL.
    pub fn anonymous(address: &[u8], account: Option<&[u8]>) -> Result<Self, ForbiddenByte> {
        let login = Self::new(b"anonymous", Some(address), account)?;
        Ok(Self { is_anonymous: true, ..login })
    }

    /// Sends PBSZ and PROT before the login, for a control connection in TLS, so that data connections are protected
    /// too (RFC 4217 §9).
    #[must_use]
    pub fn with_protection(mut self) -> Self {
        self.protects = true;
        self
    }

    /// Returns the commands of the login in order. [`must_await_reply`](Self::must_await_reply) decides after which of them the
    /// session waits. ACCT is sent only if the server asks for it.
    pub(super) fn commands(&self) -> Vec<Command> {
        let mut commands = Vec::new();
        if self.protects {
            commands.extend([
                Command::with_safe_argument(Verb::Pbsz, 0),
                Command::with_safe_argument(Verb::Prot, 'P'),
            ]);
        }
        commands.push(self.user.clone());
        commands.extend(self.password.clone());
        commands
    }

    /// Returns `true` if the reply to `verb` decides which command is next, so that it must be awaited.
    pub(super) fn must_await_reply(&self, verb: Verb, pipelining: Pipelining) -> bool {
        match verb {
            // A secret password is sent only after the server has asked for it.
            Verb::User => !(self.is_anonymous && pipelining == Pipelining::BeforeGreeting),
            Verb::Pass => self.account.is_some() || pipelining != Pipelining::BeforeGreeting,
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

    pub(super) const fn complete(&mut self) {
        self.is_done = true;
    }

    pub(super) const fn is_complete(&self) -> bool {
        self.is_done
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({})", self.user)
    }
}
