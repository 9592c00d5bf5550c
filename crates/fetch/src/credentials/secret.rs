//! Bytes that no log may show: a password of a file, the value of a cookie.

use std::fmt;

/// Owned bytes whose Debug says nothing of them, not even how many there are.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct SecretBytes(Vec<u8>);

impl SecretBytes {
    /// The bytes themselves. Only for the command that needs them.
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
    use super::SecretBytes;

    #[test]
    fn debug_prints_nothing() {
        let secret = SecretBytes::from(b"canary".to_vec());
        assert_eq!(format!("{secret:?}"), "SecretBytes(***)");
        assert_eq!(format!("{secret:#?}"), "SecretBytes(***)");
        assert_eq!(secret.expose(), b"canary");
    }
}
