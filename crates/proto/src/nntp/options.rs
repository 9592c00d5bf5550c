//! The options of an NNTP session: TLS, compression and login.

use std::fmt;

use crate::{ForbiddenByte, ForbiddenSet};

/// The options of one NNTP session.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SessionOptions {
    /// The connection uses TLS from its first byte (`nntps`).
    pub is_secure: bool,
    /// Whether STARTTLS is sent before the first request on a plain connection.
    pub start_tls: StartTls,
    /// Do not request compression (COMPRESS DEFLATE) for lists.
    pub uncompressed_lists: bool,
    /// Allow sending the password over a connection without TLS.
    pub allow_plaintext_login: bool,
    /// The caller can prompt for a login after a 480 reply.
    pub can_prompt: bool,
    /// The login to send if the server requires one.
    pub login: Option<Login>,
}

/// The use of STARTTLS (RFC 4642) before the first request. A login and a 483 reply start TLS in every mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "these are all the ways")]
pub enum StartTls {
    /// Send STARTTLS, and fail if the server refuses it.
    Must,
    /// Do not send STARTTLS before the first request.
    #[default]
    Never,
    /// Send STARTTLS, and continue without TLS if the server refuses it.
    Try,
}

/// A user name and password for AUTHINFO (RFC 4643). `Debug` shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub(super) user: Vec<u8>,
    pub(super) password: Vec<u8>,
}

impl Login {
    /// Validates a user name and a password.
    ///
    /// # Errors
    /// [`ForbiddenByte`] if one of them contains CR, LF or NUL, which would end the command line.
    pub fn new(user: &[u8], password: &[u8]) -> Result<Self, ForbiddenByte> {
        let user = ForbiddenSet::LINE.check("user", user)?.to_vec();
        let password = ForbiddenSet::LINE.check("password", password)?.to_vec();
        Ok(Self { user, password })
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(***)")
    }
}
