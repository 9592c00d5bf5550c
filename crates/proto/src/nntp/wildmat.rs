//! Matches group names against wildmat patterns (RFC 3977 §4), for servers that ignore the pattern of LIST
//! ACTIVE.

/// Returns `true` if `name` matches the wildmat `pattern` (RFC 3977 §4).
///
/// A wildmat is a comma-separated list of patterns; the rightmost one that matches decides, and `!` before it
/// negates it. `*` matches any characters, `?` one character; a byte that is not valid UTF-8 counts as one
/// character.
pub fn wildmat(pattern: &[u8], name: &[u8]) -> bool {
    for pattern in pattern.rsplit(|&byte| byte == b',') {
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

/// Matches one pattern. Only the last `*` is ever extended: if extending an earlier one led to a match, extending
/// the last one would, too.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    // The pattern after the last `*`, and the part of the name that it starts at.
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

/// Splits off the first character, or the first byte if it is not valid UTF-8.
fn split_character(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_character =
        |length: &usize| bytes.get(..*length).is_some_and(|start| str::from_utf8(start).is_ok());
    let length = (1..=4).find(is_character).unwrap_or(1);
    bytes.split_at_checked(length)
}
