//! The file name of a Content-Disposition field (RFC 6266): octets of a stranger.

/// `filename*` where it can be read, else `filename`.
pub(super) fn file_name(field: &[u8]) -> Option<Vec<u8>> {
    let mut plain = None;
    for (name, value) in Parameters(field) {
        if name.eq_ignore_ascii_case(b"filename*")
            && let Some(extended) = extended(&value)
        {
            return Some(extended);
        }
        if name.eq_ignore_ascii_case(b"filename") && plain.is_none() {
            plain = Some(value);
        }
    }
    plain
}

/// `charset'language'text`, for the two charsets of RFC 8187 §3.2.
fn extended(value: &[u8]) -> Option<Vec<u8>> {
    let mut parts = value.splitn(3, |&octet| octet == b'\'');
    let charset = parts.next()?;
    let text = std::str::from_utf8(parts.nth(1)?).ok()?;
    let octets = fetch_url_core::Escaped::from(text).decode().into_owned();
    if charset.eq_ignore_ascii_case(b"UTF-8") {
        Some(octets)
    } else if charset.eq_ignore_ascii_case(b"ISO-8859-1") {
        Some(octets.iter().map(|&octet| char::from(octet)).collect::<String>().into_bytes())
    } else {
        None
    }
}

/// `; name=value` again and again, values bare or quoted.
struct Parameters<'f>(&'f [u8]);

impl Iterator for Parameters<'_> {
    type Item = (Vec<u8>, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        let semicolon = self.0.iter().position(|&octet| octet == b';')?;
        let rest = self.0[semicolon + 1..].trim_ascii_start();
        let equals = rest.iter().position(|&octet| octet == b'=')?;
        let name = rest[..equals].trim_ascii_end().to_vec();
        let (value, used) = value(rest[equals + 1..].trim_ascii_start());
        let after = rest[equals + 1..].trim_ascii_start();
        self.0 = &after[used..];
        Some((name, value))
    }
}

/// A value and how many octets it took.
fn value(text: &[u8]) -> (Vec<u8>, usize) {
    if text.first() != Some(&b'"') {
        let end = text.iter().position(|&octet| octet == b';').unwrap_or(text.len());
        return (text[..end].trim_ascii_end().to_vec(), end);
    }
    let mut value = Vec::new();
    let mut at = 1;
    while let Some(&octet) = text.get(at) {
        match octet {
            b'"' => return (value, at + 1),
            b'\\' if at + 1 < text.len() => {
                value.push(text[at + 1]);
                at += 2;
            }
            _ => {
                value.push(octet);
                at += 1;
            }
        }
    }
    (value, text.len())
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names() {
        for (field, name) in [
            ("attachment; filename=a.txt", Some("a.txt")),
            ("attachment; filename=\"a;b.txt\"; x=y", Some("a;b.txt")),
            ("attachment; filename=\"a\\\"b\"", Some("a\"b")),
            ("attachment; filename=x; filename*=UTF-8''caf%C3%A9", Some("caf\u{e9}")),
            ("attachment; filename*=iso-8859-1'en'caf%E9", Some("caf\u{e9}")),
            ("attachment; filename*=x-unknown''a; filename=b", Some("b")),
            ("attachment; FILENAME = a ; ", Some("a")),
            ("inline", None),
            ("attachment; filename", None),
            ("attachment; filename=\"unclosed", Some("unclosed")),
        ] {
            assert_eq!(file_name(field.as_bytes()), name.map(|name| name.as_bytes().to_vec()), "{field}");
        }
    }
}
