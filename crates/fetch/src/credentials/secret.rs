//! Bytes that must not appear in logs, such as passwords of a netrc file and values of cookies.

use std::fmt;

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
    use super::SecretBytes;

    #[test]
    fn debug_hides_the_bytes() {
        let secret = SecretBytes::from(b"canary".to_vec());
        assert_eq!(format!("{secret:?}"), "SecretBytes(***)");
        assert_eq!(format!("{secret:#?}"), "SecretBytes(***)");
        assert_eq!(secret.expose(), b"canary");
    }
}
