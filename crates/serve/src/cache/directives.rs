//! The directives of `Cache-Control` and `Pragma` (RFC 9111 §5.2).

/// The largest number of seconds that is accepted; larger ones count as this.
pub(super) const MAX_SECONDS: u64 = 1 << 31;

/// Returns the directives in lower case, without quotes and without numbers that overflow. Other quoted arguments are
/// removed: `no-cache="x"` is `no-cache`. Returns `None` for text that is not ASCII, and for a quote that is not closed.
pub(super) fn normalised(value: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(value).ok().filter(|text| text.is_ascii())?.to_ascii_lowercase();
    if !closes_quotes(&text) {
        return None;
    }
    let directives = split(&text).map(|directive| {
        let Some((name, argument)) = directive.split_once('=') else { return directive.to_owned() };
        let (name, argument) = (name.trim(), argument.trim());
        let digits = argument.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(argument);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match is_number {
            true => format!("{name}={}", digits.parse().unwrap_or(MAX_SECONDS).min(MAX_SECONDS)),
            false if argument.contains('"') => name.to_owned(),
            false => directive.to_owned(),
        }
    });
    Some(directives.collect::<Vec<_>>().join(", ").into_bytes())
}

/// Returns `true` if one of these directives is in the value of a field.
pub(super) fn contains(value: &[u8], names: &[&str]) -> bool {
    split(&String::from_utf8_lossy(value)).any(|directive| names.contains(&&*name_of(directive)))
}

/// Returns the value of a field without a directive.
pub(super) fn without(value: &[u8], name: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(value);
    let others = split(&text).filter(|directive| name_of(directive) != name);
    others.collect::<Vec<_>>().join(", ").into_bytes()
}

fn name_of(directive: &str) -> String {
    directive.split('=').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The state of a reader of quoted strings (RFC 9110 §5.6.4).
#[derive(Default)]
struct Quoting {
    is_quoted: bool,
    is_escaped: bool,
}

impl Quoting {
    /// Reads a character. Returns `true` if the text after it is in a quoted string.
    const fn read(&mut self, letter: char) -> bool {
        let was_escaped = self.is_escaped;
        self.is_escaped = self.is_quoted && !was_escaped && letter == '\\';
        self.is_quoted ^= letter == '"' && !was_escaped;
        self.is_quoted
    }
}

/// Splits at the commas that are not in a quoted string.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut quoting = Quoting::default();
    text.split(move |letter| !quoting.read(letter) && letter == ',').map(str::trim)
}

fn closes_quotes(text: &str) -> bool {
    let mut quoting = Quoting::default();
    !text.chars().fold(false, |_, letter| quoting.read(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_split_outside_quotes_and_their_numbers_are_bounded() {
        for (value, expected) in [
            ("Max-Age=60,no-store", "max-age=60, no-store"),
            ("max-age=\"60\"", "max-age=60"),
            ("max-age=99999999999999999999", "max-age=2147483648"),
            ("ext=\"x, max-age=1000\", max-age=0", "ext, max-age=0"),
            ("ext=\"a\\\", b\", private", "ext, private"),
            ("no-cache=\"set-cookie\"", "no-cache"),
        ] {
            let normalised = normalised(value.as_bytes()).expect("ASCII");
            assert_eq!(String::from_utf8_lossy(&normalised), expected, "{value}");
        }
        for value in ["\u{fc}", "private=\"a, max-age=5", "ext=\"a\\\", no-store"] {
            assert_eq!(normalised(value.as_bytes()), None, "{value}");
        }
        assert!(contains(b"a=1, S-MaxAge=2", &["s-maxage"]) && !contains(b"a=\"s-maxage\"", &["s-maxage"]));
        assert_eq!(without(b"max-stale=5, no-store", "max-stale"), b"no-store");
    }
}
