//! Patterns of group names (RFC 3977 §4), for servers that do not match them themselves.

/// Whether a name matches a wildmat: patterns with commas between them, of which the rightmost that
/// matches decides; `!` before it means no. `*` is any characters, `?` is one; an octet that belongs to no
/// character of UTF-8 counts as one.
pub fn wildmat(pattern: &[u8], name: &[u8]) -> bool {
    for pattern in pattern.rsplit(|&octet| octet == b',') {
        let (is_wanted, pattern) = match pattern.strip_prefix(b"!") {
            Some(pattern) => (false, pattern),
            None => (true, pattern),
        };
        if is_match(pattern, name) {
            return is_wanted;
        }
    }
    false
}

/// Only the last `*` is ever asked to take more: if those before it could have taken less, then so could it.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    // What is behind the last `*`, and what it has left of the name.
    let mut last = None;
    loop {
        match (split_character(pattern), split_character(name)) {
            (Some((b"*", behind)), _) => {
                pattern = behind;
                last = Some((pattern, name));
            }
            (Some((wanted, pattern_rest)), Some((is, name_rest))) if wanted == b"?" || wanted == is => {
                (pattern, name) = (pattern_rest, name_rest);
            }
            (None, None) => return true,
            _ => {
                let Some((behind, left)) = last else { return false };
                let Some((_, left)) = split_character(left) else { return false };
                (pattern, name) = (behind, left);
                last = Some((behind, left));
            }
        }
    }
}

/// The first character and what follows; an octet where there is no character.
fn split_character(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_character =
        |length: &usize| octets.get(..*length).is_some_and(|start| str::from_utf8(start).is_ok());
    let length = (1..=4).find(is_character).unwrap_or(1);
    octets.split_at_checked(length)
}
