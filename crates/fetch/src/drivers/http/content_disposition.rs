//! The file name in a Content-Disposition header (RFC 6266). The name is untrusted: callers sanitise it.

/// Returns `filename*` if it can be decoded, or else `filename`, in any order of the parameters (§4.3).
pub(super) fn file_name(field: &[u8]) -> Option<Vec<u8>> {
    let mut plain = None;
    for (name, value) in Parameters(field) {
        if name.eq_ignore_ascii_case(b"filename*")
            && let Some(extended) = decode_extended_value(&value)
        {
            return Some(extended);
        }
        if name.eq_ignore_ascii_case(b"filename") && plain.is_none() && !value.is_empty() {
            plain = Some(utf8_or_latin1(value));
        }
    }
    plain
}

/// Decodes `charset'language'text`, with the charsets of RFC 8187 §3.2 and RFC 5987 §3.2. A malformed value is
/// ignored (RFC 8187 §3.2.1), so that `filename` is used.
fn decode_extended_value(value: &[u8]) -> Option<Vec<u8>> {
    let mut parts = value.splitn(3, |&byte| byte == b'\'');
    let (charset, _language) = (parts.next()?, parts.next()?);
    let bytes = percent_decoded(parts.next()?)?;
    let is_charset = |names: &[&str]| names.iter().any(|name| charset.eq_ignore_ascii_case(name.as_bytes()));
    let text = if is_charset(&["UTF-8", "UTF8"]) {
        String::from_utf8(bytes).ok()?.into_bytes()
    } else if is_charset(&["ISO-8859-1"]) {
        latin1(&bytes)
    } else {
        return None;
    };
    (!text.is_empty()).then_some(text)
}

/// Decodes percent-escapes. Returns `None` if a `%` is not followed by two hexadecimal digits.
fn percent_decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    loop {
        rest = match rest {
            [] => return Some(bytes),
            [b'%', high, low, rest @ ..] => {
                bytes.push(hex_digit(*high)? << 4 | hex_digit(*low)?);
                rest
            }
            [b'%', ..] => return None,
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Returns the value as UTF-8. Servers send UTF-8 or ISO-8859-1 (RFC 9110 §5.5): a value that is not UTF-8 is taken
/// as ISO-8859-1.
fn utf8_or_latin1(value: Vec<u8>) -> Vec<u8> {
    if std::str::from_utf8(&value).is_ok() { value } else { latin1(&value) }
}

fn latin1(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into_bytes()
}

/// The parameters `name=value` of a header, with tokens and quoted strings as values. Parts without `=` are skipped,
/// such as the disposition type, which some servers omit.
struct Parameters<'f>(&'f [u8]);

impl Iterator for Parameters<'_> {
    type Item = (Vec<u8>, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let end = self.0.iter().position(|byte| matches!(byte, b';' | b'='))?;
            let (name, rest) = self.0.split_at(end);
            match rest {
                [b'=', rest @ ..] => {
                    let (value, after) = parse_value(rest.trim_ascii_start());
                    self.0 = after;
                    return Some((name.trim_ascii().to_vec(), value));
                }
                [_, rest @ ..] => self.0 = rest,
                [] => return None,
            }
        }
    }
}

/// Returns a value, and the text after the semicolon that ends it.
fn parse_value(text: &[u8]) -> (Vec<u8>, &[u8]) {
    match text {
        [b'"', quoted @ ..] => {
            let (value, rest) = parse_quoted_string(quoted);
            // Text between the closing quote and the semicolon is ignored.
            (value, split_at_semicolon(rest).1)
        }
        bare => {
            let (value, rest) = split_at_semicolon(bare);
            (value.trim_ascii_end().to_vec(), rest)
        }
    }
}

fn split_at_semicolon(text: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = text.splitn(2, |&byte| byte == b';');
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

/// Parses a quoted string after its first quote (RFC 9110 §5.6.4). If the closing quote is missing, the rest is its
/// value.
fn parse_quoted_string(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut value = Vec::new();
    let mut rest = text;
    loop {
        rest = match rest {
            [] => return (value, rest),
            [b'"', rest @ ..] => return (value, rest),
            [b'\\', byte, rest @ ..] | [byte, rest @ ..] => {
                value.push(*byte);
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::file_name;
    use crate::safe_name;

    const TABLE: &str = include_str!("../../../tests/data/hostile_names.tsv");

    #[test]
    fn file_name_is_taken_from_the_best_parameter() {
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
            ("attachment; filename=\"ends\\", Some("ends\\")),
        ] {
            assert_eq!(file_name(field.as_bytes()), name.map(|name| name.as_bytes().to_vec()), "{field}");
        }
    }

    /// Returns the rows of the table: the bytes of a header or a name, the sanitised name, and the expected name.
    fn rows() -> impl Iterator<Item = (Vec<u8>, Option<String>, Option<&'static str>)> {
        TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).map(|line| {
            let columns: Vec<_> = line.split('\t').collect();
            let [kind, bytes, expected] = columns[..] else { panic!("{line}: not three columns") };
            let bytes = unescaped(bytes);
            let name = match kind {
                "field" => file_name(&bytes).as_deref().and_then(safe_name),
                "name" => safe_name(&bytes),
                _ => panic!("{line}: neither a field nor a name"),
            };
            (bytes, name, Some(expected).filter(|&expected| expected != "-"))
        })
    }

    /// Decodes the escapes `\\`, `\xHH` and `\u{…}`.
    fn unescaped(text: &str) -> Vec<u8> {
        let Some((before, after)) = text.split_once('\\') else { return text.as_bytes().to_vec() };
        let hex = |digits: &str| u32::from_str_radix(digits, 16).expect("hexadecimal digits");
        let (bytes, rest) = if let Some(rest) = after.strip_prefix('\\') {
            (vec![b'\\'], rest)
        } else if let Some(rest) = after.strip_prefix('x') {
            (vec![u8::try_from(hex(&rest[..2])).expect("a byte")], &rest[2..])
        } else {
            let rest = after.strip_prefix("u{").unwrap_or_else(|| panic!("{text}: no such escape"));
            let (digits, rest) = rest.split_once('}').expect("a closing brace");
            (char::from_u32(hex(digits)).expect("a character").to_string().into_bytes(), rest)
        };
        [before.as_bytes(), &bytes, &unescaped(rest)].concat()
    }

    #[test]
    fn hostile_names_are_sanitised_as_the_table_says() {
        let unescape_expected = |name: &str| String::from_utf8(unescaped(name)).expect("text");
        for (bytes, name, expected) in rows() {
            assert_eq!(name, expected.map(unescape_expected), "{}", bytes.escape_ascii());
        }
        assert!(rows().count() >= 60);
    }

    #[test]
    fn hostile_names_stay_in_their_directory() {
        let directory = Path::new("/safe/directory");
        for (bytes, name, _) in rows() {
            let Some(name) = name else { continue };
            let what = format!("{} became {name:?}", bytes.escape_ascii());
            let components: Vec<_> = Path::new(&name).components().collect();
            assert_eq!(components, [Component::Normal(name.as_ref())], "{what}");
            assert_eq!(directory.join(&name).parent(), Some(directory), "{what}");
            let is_control = |character: char| character.is_control();
            let is_bidi = |character| {
                matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            };
            assert!(!name.contains(is_control) && !name.contains(is_bidi), "{what}");
            assert!(!name.starts_with(['.', '-', '~']) && !name.ends_with(['.', ' ']), "{what}");
            assert!(!name.contains(['/', '\\', ':', '|', '*', '?', '<', '>', '"']), "{what}");
            let stem = name.split('.').next().unwrap_or_default().trim_end().to_uppercase();
            let devices =
                ["CON", "PRN", "AUX", "NUL", "COM1", "COM9", "COM0", "LPT1", "COM\u{b9}", "CONIN$", "CLOCK$"];
            assert!(!devices.contains(&&*stem), "{what}");
            let lower = name.to_lowercase();
            assert!(
                ![".fetch-url.part", ".fetch-url.json", ".fetch-url.new"]
                    .iter()
                    .any(|suffix| lower.ends_with(suffix)),
                "{what}"
            );
            assert!(name.len() <= 200, "{what}");
        }
    }

    #[test]
    fn long_headers_are_parsed_in_linear_time() {
        for part in [";", "=", "a=;", "\"", "\\", "filename*='';", "filename*=%;", "x=\"\";"] {
            let _ = file_name(part.repeat(200_000).as_bytes());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_header_yields_no_name_or_a_nonempty_name(parts in prop::collection::vec(
            prop_oneof![any::<u8>().prop_map(|byte| vec![byte]), prop::sample::select(vec![
                b"attachment".to_vec(), b"; filename=".to_vec(), b"; filename*=".to_vec(), b"UTF-8''".to_vec(),
                b"iso-8859-1'en'".to_vec(), b"%C3%A9".to_vec(), b"%".to_vec(), b"\"".to_vec(), b"\\".to_vec(),
                b";".to_vec(), b"=".to_vec(), b"../".to_vec(),
            ])],
            0..20,
        )) {
            prop_assert!(file_name(&parts.concat()).is_none_or(|name| !name.is_empty()));
        }

        #[test]
        fn quoted_names_are_unquoted(name in "[ -~\u{e9}\u{4e2d}]{1,30}") {
            let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
            let field = format!("attachment; filename=\"{quoted}\"; x=\"y;filename=z\"");
            prop_assert_eq!(file_name(field.as_bytes()), Some(name.into_bytes()));
        }
    }
}
