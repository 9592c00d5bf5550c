//! Bytes that must not appear in logs, such as passwords of a netrc file and values of cookies.

use std::fmt;

/// A header field whose name contains one of these words is secret.
const SECRET_NAME_PARTS: &[&str] = &["auth", "cookie", "key", "passw", "secret", "session", "token"];

/// Returns `true` if the value of this header field, of a request or a response, is a secret.
pub(crate) fn is_secret_field(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAME_PARTS.iter().any(|word| name.contains(word))
}

/// Bytes whose `Debug` output shows neither their values nor their number.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct SecretBytes(Vec<u8>);

impl SecretBytes {
    /// Returns the bytes, for the request that sends them.
    pub(crate) fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for SecretBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretBytes(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::{SecretBytes, is_secret_field};

    #[test]
    fn fields_of_logins_and_sessions_are_secret() {
        for name in ["Set-Cookie", "WWW-Authenticate", "Authentication-Info", "X-Session-Id", "X-API-Key"] {
            assert!(is_secret_field(name), "{name}");
        }
        for name in ["ETag", "Server", "Location", "Content-Type"] {
            assert!(!is_secret_field(name), "{name}");
        }
    }

    #[test]
    fn debug_hides_the_bytes() {
        let secret = SecretBytes::from(b"canary".to_vec());
        assert_eq!(format!("{secret:?}"), "SecretBytes(***)");
        assert_eq!(format!("{secret:#?}"), "SecretBytes(***)");
        assert_eq!(secret.expose(), b"canary");
    }
}
