//! Who the client of the FTP server is: USER, PASS, ACCT, and the TLS that goes before (RFC 4217).

use crate::ftp::rule::Act;
use crate::ftp::session::{Session, Stop};

/// How far the login is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Login {
    Out,
    /// USER came.
    Named(Vec<u8>),
    /// PASS was right, and the server wants an account.
    NoAccount,
    Done,
}

impl Login {
    pub(crate) fn is_done(&self) -> bool {
        *self == Self::Done
    }
}

impl Session<'_> {
    pub(crate) fn user(&mut self, name: &[u8]) -> Result<(), Stop> {
        if self.shared.site.manners.trusting {
            return self.let_in();
        }
        self.login = Login::Named(name.to_vec());
        self.reply("331 Please specify the password.\r\n")
    }

    pub(crate) fn pass(&mut self, password: &[u8]) -> Result<(), Stop> {
        match self.login.clone() {
            Login::Out | Login::NoAccount => self.reply("503 Login with USER first.\r\n"),
            Login::Done => self.reply("230 Already logged in.\r\n"),
            Login::Named(name) if self.knows(&name, password) => match self.shared.site.account {
                Some(_) => {
                    self.login = Login::NoAccount;
                    self.reply("332 Need account for login.\r\n")
                }
                None => self.let_in(),
            },
            Login::Named(_) => {
                self.login = Login::Out;
                self.reply("530 Login incorrect.\r\n")
            }
        }
    }

    pub(crate) fn acct(&mut self, account: &[u8]) -> Result<(), Stop> {
        match self.login {
            Login::NoAccount if self.shared.site.account.as_deref() == Some(account) => self.let_in(),
            Login::NoAccount => {
                self.login = Login::Out;
                self.reply("530 Login incorrect.\r\n")
            }
            Login::Done => self.reply("202 No account needed.\r\n"),
            Login::Out | Login::Named(_) => self.reply("503 Login with USER first.\r\n"),
        }
    }

    /// A name with an empty password on the list takes any, as anonymous does.
    fn knows(&self, name: &[u8], password: &[u8]) -> bool {
        let users = &self.shared.site.users;
        users.is_empty() || users.iter().any(|(n, p)| n == name && (p.is_empty() || p == password))
    }

    fn let_in(&mut self) -> Result<(), Stop> {
        self.login = Login::Done;
        self.cwd = self.shared.site.home.clone();
        self.reply("230 Login successful.\r\n")
    }

    pub(crate) fn auth(&mut self, mechanism: &[u8]) -> Result<(), Stop> {
        let known =
            ["TLS", "TLS-C", "SSL"].iter().any(|name| mechanism.eq_ignore_ascii_case(name.as_bytes()));
        if self.shared.tls.is_none() {
            return self.reply("500 Unknown command.\r\n");
        }
        if self.is_secure || self.login != Login::Out {
            return self.reply("503 Too late.\r\n");
        }
        if !known {
            return self.reply("504 Unknown mechanism.\r\n");
        }
        self.reply("234 Proceed with negotiation.\r\n")?;
        self.begin_tls()
    }

    pub(crate) fn pbsz(&mut self) -> Result<(), Stop> {
        match self.is_secure {
            true => self.reply("200 PBSZ=0\r\n"),
            false => self.reply("503 AUTH first.\r\n"),
        }
    }

    pub(crate) fn prot(&mut self, level: &[u8]) -> Result<(), Stop> {
        if !self.is_secure {
            return self.reply("503 AUTH and PBSZ first.\r\n");
        }
        match level.to_ascii_uppercase().as_slice() {
            b"P" => {
                self.data.is_private = !self.acts.iter().any(|act| matches!(act, Act::ClearData));
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
