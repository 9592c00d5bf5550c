//! How a client proves to the NATS server who it is.

use std::fmt;
use std::path::PathBuf;

/// The login and the TLS files of a connection to NATS. `Debug` shows no secret.
#[derive(Clone, Default)]
pub struct Login {
    /// The user of a login with a password.
    pub user: Option<String>,
    /// The password.
    pub password: Option<String>,
    /// The token, instead of user and password.
    pub token: Option<String>,
    /// The text of a credentials file (JWT and seed), instead of user and password.
    pub credentials: Option<String>,
    /// A PEM file with the certificate authorities to trust instead of those of the system.
    pub authorities: Option<PathBuf>,
    /// PEM files with the certificate and the private key of the client.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}
