//! Masks secrets in received lines: some servers repeat the password in their replies.

use bytes::Bytes;
use memchr::memmem;

/// Returns `line` with every occurrence of `secret` replaced by `***`. An empty secret masks nothing.
pub fn mask_secret(line: &Bytes, secret: &[u8]) -> Bytes {
    if secret.is_empty() || memmem::find(line, secret).is_none() {
        return line.clone();
    }
    let (mut shown, mut from) = (Vec::new(), 0);
    for at in memmem::find_iter(line, secret) {
        shown.extend_from_slice(&line[from..at]);
        shown.extend_from_slice(b"***");
        from = at + secret.len();
    }
    shown.extend_from_slice(&line[from..]);
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_of_the_secret_is_masked() {
        for (line, secret, shown) in [
            ("canary is wrong", "canary", "*** is wrong"),
            ("canarycanary", "canary", "******"),
            ("***", "*", "*********"),
            ("x", "canary", "x"),
            ("x", "", "x"),
        ] {
            assert_eq!(mask_secret(&Bytes::from_static(line.as_bytes()), secret.as_bytes()), shown, "{line}");
        }
    }
}
