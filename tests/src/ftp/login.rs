//! Logins of the FTP server: USER, PASS, ACCT, and the TLS commands of RFC 4217.

use crate::ftp::rule::FtpAction;
use crate::ftp::session::{Session, Stop};

/// The state of the login.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Login {
    None,
    /// USER was received.
    User(Vec<u8>),
    /// The password was right, and ACCT is due.
    NeedsAccount,
    Done,
}

impl Login {
    pub(crate) fn is_done(&self) -> bool {
        *self == Self::Done
    }
}

impl Session<'_> {
    pub(crate) fn user(&mut self, name: &[u8]) -> Result<(), Stop> {
        if self.shared.config.behaviour.needs_no_password {
            return self.finish_login();
        }
        self.login = Login::User(name.to_vec());
        self.reply("331 Please specify the password.\r\n")
    }

    pub(crate) fn pass(&mut self, password: &[u8]) -> Result<(), Stop> {
        match self.login.clone() {
            Login::None | Login::NeedsAccount => self.reply("503 Login with USER first.\r\n"),
            Login::Done => self.reply("230 Already logged in.\r\n"),
            Login::User(name) if self.is_valid(&name, password) => match self.shared.config.account {
                Some(_) => {
                    self.login = Login::NeedsAccount;
                    self.reply("332 Need account for login.\r\n")
                }
                None => self.finish_login(),
            },
            Login::User(_) => {
                self.login = Login::None;
                self.reply("530 Login incorrect.\r\n")
            }
        }
    }

    pub(crate) fn acct(&mut self, account: &[u8]) -> Result<(), Stop> {
        match self.login {
            Login::NeedsAccount if self.shared.config.account.as_deref() == Some(account) => {
                self.finish_login()
            }
            Login::NeedsAccount => {
                self.login = Login::None;
                self.reply("530 Login incorrect.\r\n")
            }
            Login::Done => self.reply("202 No account needed.\r\n"),
            Login::None | Login::User(_) => self.reply("503 Login with USER first.\r\n"),
        }
    }

    /// Checks name and password. A user with an empty password accepts any password, as `anonymous` does.
    fn is_valid(&self, name: &[u8], password: &[u8]) -> bool {
        let users = &self.shared.config.users;
        users.is_empty() || users.iter().any(|(n, p)| n == name && (p.is_empty() || p == password))
    }

    fn finish_login(&mut self) -> Result<(), Stop> {
        self.login = Login::Done;
        self.working_directory = self.shared.config.login_directory.clone();
        self.reply("230 Login successful.\r\n")
    }

    pub(crate) fn auth(&mut self, mechanism: &[u8]) -> Result<(), Stop> {
        let is_known =
            ["TLS", "TLS-C", "SSL"].iter().any(|name| mechanism.eq_ignore_ascii_case(name.as_bytes()));
        if self.shared.tls.is_none() {
            return self.reply("500 Unknown command.\r\n");
        }
        if self.is_tls || self.login != Login::None {
            return self.reply("503 Too late.\r\n");
        }
        if !is_known {
            return self.reply("504 Unknown mechanism.\r\n");
        }
        self.reply("234 Proceed with negotiation.\r\n")?;
        self.start_tls()
    }

    pub(crate) fn pbsz(&mut self) -> Result<(), Stop> {
        match self.is_tls {
            true => self.reply("200 PBSZ=0\r\n"),
            false => self.reply("503 AUTH first.\r\n"),
        }
    }

    pub(crate) fn prot(&mut self, level: &[u8]) -> Result<(), Stop> {
        if !self.is_tls {
            return self.reply("503 AUTH and PBSZ first.\r\n");
        }
        match level.to_ascii_uppercase().as_slice() {
            b"P" => {
                let stays_plain = self.actions.iter().any(|it| matches!(it, FtpAction::PlaintextData));
                self.data.is_private = !stays_plain;
                self.reply("200 Protection set to Private.\r\n")
            }
            b"C" => {
                self.data.is_private = false;
                self.reply("200 Protection set to Clear.\r\n")
            }
            _ => self.reply("536 Protection level not supported.\r\n"),
        }
    }
}
