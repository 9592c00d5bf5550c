//! Removes comments from header fields (RFC 5322 §3.2.2).

/// Returns the field with each comment replaced by a blank (RFC 5322 §3.2.2).
pub(super) fn without_comments(field: &[u8]) -> Vec<u8> {
    let mut bare = Vec::with_capacity(field.len());
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for &byte in field {
        match byte {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' => is_escaped = true,
            b'"' if depth == 0 => is_quoted = !is_quoted,
            b'(' if !is_quoted => depth += 1,
            b')' if depth > 0 => {
                depth -= 1;
                bare.push(b' ');
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            bare.push(byte);
        }
    }
    bare
}
