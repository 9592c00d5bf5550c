//! What holds for a connection: TLS, and who we are.

use std::fmt;

use crate::{ForbiddenOctet, Octets};

/// What holds for a connection.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Terms {
    /// It is in TLS from its first octet.
    pub is_secure: bool,
    /// What is done about TLS otherwise, before anything is asked for.
    pub start_tls: StartTls,
    /// Lists are not compressed.
    pub plain_lists: bool,
    /// A login may go out in the clear.
    pub clear_login: bool,
    /// Somebody can be asked who we are.
    pub may_ask: bool,
    /// Who we are, when the server wants to know.
    pub login: Option<Login>,
}

/// What is done about TLS (RFC 4642) before anything is asked for. A login, and a server that wants TLS,
/// bring it about in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "these are all the ways")]
pub enum StartTls {
    /// Nothing is sent in the clear.
    Must,
    /// Nothing.
    #[default]
    Never,
    /// It is asked for; a server that has none is talked to in the clear.
    Try,
}

/// A user and a password (RFC 4643). Debug shows no password.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub(super) user: Vec<u8>,
    pub(super) password: Vec<u8>,
}

impl Login {
    /// Who we are.
    ///
    /// # Errors
    /// CR, LF or NUL in one of them: they would end the line.
    pub fn new(user: &[u8], password: &[u8]) -> Result<Self, ForbiddenOctet> {
        let user = Octets::LINE.check("user", user)?.to_vec();
        let password = Octets::LINE.check("password", password)?.to_vec();
        Ok(Self { user, password })
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(***)")
    }
}
