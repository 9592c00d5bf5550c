//! Secrets on their way back: there are servers that repeat what they were told.

use bytes::Bytes;
use memchr::memmem;

/// `line` with `***` wherever `secret` stands in it; nothing hides an empty secret.
pub fn hidden(line: &Bytes, secret: &[u8]) -> Bytes {
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
    fn what_a_server_repeats_is_hidden() {
        for (line, secret, shown) in [
            ("canary is wrong", "canary", "*** is wrong"),
            ("canarycanary", "canary", "******"),
            ("***", "*", "*********"),
            ("x", "canary", "x"),
            ("x", "", "x"),
        ] {
            assert_eq!(hidden(&Bytes::from_static(line.as_bytes()), secret.as_bytes()), shown, "{line}");
        }
    }
}
