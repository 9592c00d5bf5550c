//! Wildmat patterns for group names (RFC 3977 §4).

/// Returns `true` if the name matches. Of several patterns, separated by commas, the last one that matches
/// decides.
pub(crate) fn wildmat(pattern: &[u8], name: &[u8]) -> bool {
    let patterns = pattern.split(|byte| *byte == b',');
    patterns.fold(false, |before, pattern| match pattern.strip_prefix(b"!") {
        Some(pattern) => before && !matches(pattern, name),
        None => before || matches(pattern, name),
    })
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
        ([b'?', rest @ ..], [_, tail @ ..]) => matches(rest, tail),
        ([first, rest @ ..], [head, tail @ ..]) => first == head && matches(rest, tail),
        (pattern, name) => pattern.is_empty() && name.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_matching_pattern_decides() {
        let rows = [
            ("*", "a.b", true),
            ("a.*", "a.b", true),
            ("a.*", "ab", false),
            ("a.?", "a.b", true),
            ("a.?", "a.bc", false),
            ("a.*,!a.b", "a.b", false),
            ("a.*,!a.b", "a.c", true),
            ("!a.b,a.*", "a.b", true),
            ("*b*", "abc", true),
            ("", "a", false),
        ];
        for (pattern, name, expected) in rows {
            assert_eq!(wildmat(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
