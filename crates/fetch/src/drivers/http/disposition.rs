//! The file name of a Content-Disposition field (RFC 6266): octets of a stranger.

/// `filename*` where it can be read, else `filename`; the order of the parameters is nothing (§4.3).
pub(super) fn file_name(field: &[u8]) -> Option<Vec<u8>> {
    let mut plain = None;
    for (name, value) in Parameters(field) {
        if name.eq_ignore_ascii_case(b"filename*")
            && let Some(extended) = extended(&value)
        {
            return Some(extended);
        }
        if name.eq_ignore_ascii_case(b"filename") && plain.is_none() && !value.is_empty() {
            plain = Some(utf8_or_latin1(value));
        }
    }
    plain
}

/// `charset'language'text`, for the charsets of RFC 8187 §3.2 and RFC 5987 §3.2. One that is not well
/// formed is as if it were not there (RFC 8187 §3.2.1), so that `filename` counts.
fn extended(value: &[u8]) -> Option<Vec<u8>> {
    let mut parts = value.splitn(3, |&octet| octet == b'\'');
    let (charset, _language) = (parts.next()?, parts.next()?);
    let octets = percent_decoded(parts.next()?)?;
    let is_charset = |names: &[&str]| names.iter().any(|name| charset.eq_ignore_ascii_case(name.as_bytes()));
    let text = if is_charset(&["UTF-8", "UTF8"]) {
        String::from_utf8(octets).ok()?.into_bytes()
    } else if is_charset(&["ISO-8859-1"]) {
        latin1(&octets)
    } else {
        return None;
    };
    (!text.is_empty()).then_some(text)
}

/// None where a `%` is not followed by two digits.
fn percent_decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut octets = Vec::new();
    let mut rest = text;
    loop {
        rest = match rest {
            [] => return Some(octets),
            [b'%', high, low, rest @ ..] => {
                octets.push(digit(*high)? << 4 | digit(*low)?);
                rest
            }
            [b'%', ..] => return None,
            [octet, rest @ ..] => {
                octets.push(*octet);
                rest
            }
        };
    }
}

fn digit(octet: u8) -> Option<u8> {
    char::from(octet).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// A field was ISO-8859-1 once (RFC 9110 §5.5), and servers send UTF-8; each is told by its look.
fn utf8_or_latin1(value: Vec<u8>) -> Vec<u8> {
    if std::str::from_utf8(&value).is_ok() { value } else { latin1(&value) }
}

fn latin1(octets: &[u8]) -> Vec<u8> {
    octets.iter().map(|&octet| char::from(octet)).collect::<String>().into_bytes()
}

/// `name=value` again and again, values bare or quoted. What has no `=` is passed over, the
/// type at the beginning too, which some servers leave out.
struct Parameters<'f>(&'f [u8]);

impl Iterator for Parameters<'_> {
    type Item = (Vec<u8>, Vec<u8>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let end = self.0.iter().position(|octet| matches!(octet, b';' | b'='))?;
            let (name, rest) = self.0.split_at(end);
            match rest {
                [b'=', rest @ ..] => {
                    let (value, after) = value(rest.trim_ascii_start());
                    self.0 = after;
                    return Some((name.trim_ascii().to_vec(), value));
                }
                [_, rest @ ..] => self.0 = rest,
                [] => return None,
            }
        }
    }
}

/// A value, and what stands behind the semicolon after it.
fn value(text: &[u8]) -> (Vec<u8>, &[u8]) {
    match text {
        [b'"', quoted @ ..] => {
            let (value, rest) = unquoted(quoted);
            // Rubbish behind the closing quote is no part of anything.
            (value, up_to_semicolon(rest).1)
        }
        bare => {
            let (value, rest) = up_to_semicolon(bare);
            (value.trim_ascii_end().to_vec(), rest)
        }
    }
}

fn up_to_semicolon(text: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = text.splitn(2, |&octet| octet == b';');
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

/// A quoted-string behind its first quote (RFC 9110 §5.6.4); one that does not end takes all.
fn unquoted(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut value = Vec::new();
    let mut rest = text;
    loop {
        rest = match rest {
            [] => return (value, rest),
            [b'"', rest @ ..] => return (value, rest),
            [b'\\', octet, rest @ ..] | [octet, rest @ ..] => {
                value.push(*octet);
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
            ("attachment; filename=\"ends\\", Some("ends\\")),
        ] {
            assert_eq!(file_name(field.as_bytes()), name.map(|name| name.as_bytes().to_vec()), "{field}");
        }
    }

    /// The table's rows: whether it is a field or a name, its octets, and the safe name of it.
    fn rows() -> impl Iterator<Item = (Vec<u8>, Option<String>, Option<&'static str>)> {
        TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).map(|line| {
            let columns: Vec<_> = line.split('\t').collect();
            let [kind, octets, expected] = columns[..] else { panic!("{line}: not three columns") };
            let octets = unescaped(octets);
            let name = match kind {
                "field" => file_name(&octets).as_deref().and_then(safe_name),
                "name" => safe_name(&octets),
                _ => panic!("{line}: neither a field nor a name"),
            };
            (octets, name, Some(expected).filter(|&expected| expected != "-"))
        })
    }

    /// `\\`, `\xHH` and `\u{…}`.
    fn unescaped(text: &str) -> Vec<u8> {
        let Some((before, after)) = text.split_once('\\') else { return text.as_bytes().to_vec() };
        let hex = |digits: &str| u32::from_str_radix(digits, 16).expect("hexadecimal digits");
        let (octets, rest) = if let Some(rest) = after.strip_prefix('\\') {
            (vec![b'\\'], rest)
        } else if let Some(rest) = after.strip_prefix('x') {
            (vec![u8::try_from(hex(&rest[..2])).expect("an octet")], &rest[2..])
        } else {
            let rest = after.strip_prefix("u{").unwrap_or_else(|| panic!("{text}: no such escape"));
            let (digits, rest) = rest.split_once('}').expect("a closing brace");
            (char::from_u32(hex(digits)).expect("a character").to_string().into_bytes(), rest)
        };
        [before.as_bytes(), &octets, &unescaped(rest)].concat()
    }

    #[test]
    fn hostile_names_are_made_safe_as_the_table_says() {
        let unescape_expected = |name: &str| String::from_utf8(unescaped(name)).expect("text");
        for (octets, name, expected) in rows() {
            assert_eq!(name, expected.map(unescape_expected), "{}", octets.escape_ascii());
        }
        assert!(rows().count() >= 60);
    }

    #[test]
    fn hostile_names_stay_in_their_directory() {
        let directory = Path::new("/safe/directory");
        for (octets, name, _) in rows() {
            let Some(name) = name else { continue };
            let what = format!("{} became {name:?}", octets.escape_ascii());
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
            assert!(![".part", ".part.json"].iter().any(|ours| lower.ends_with(ours)), "{what}");
            assert!(name.len() <= 200, "{what}");
        }
    }

    #[test]
    fn a_long_field_takes_a_short_time() {
        for part in [";", "=", "a=;", "\"", "\\", "filename*='';", "filename*=%;", "x=\"\";"] {
            let _ = file_name(part.repeat(200_000).as_bytes());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_field_has_a_name_or_none(parts in prop::collection::vec(
            prop_oneof![any::<u8>().prop_map(|octet| vec![octet]), prop::sample::select(vec![
                b"attachment".to_vec(), b"; filename=".to_vec(), b"; filename*=".to_vec(), b"UTF-8''".to_vec(),
                b"iso-8859-1'en'".to_vec(), b"%C3%A9".to_vec(), b"%".to_vec(), b"\"".to_vec(), b"\\".to_vec(),
                b";".to_vec(), b"=".to_vec(), b"../".to_vec(),
            ])],
            0..20,
        )) {
            prop_assert!(file_name(&parts.concat()).is_none_or(|name| !name.is_empty()));
        }

        #[test]
        fn a_name_in_quotes_is_read_back(name in "[ -~\u{e9}\u{4e2d}]{1,30}") {
            let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
            let field = format!("attachment; filename=\"{quoted}\"; x=\"y;filename=z\"");
            prop_assert_eq!(file_name(field.as_bytes()), Some(name.into_bytes()));
        }
    }
}
