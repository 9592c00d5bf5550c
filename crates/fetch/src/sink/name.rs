//! Sanitised file names from untrusted bytes: they cannot leave their directory, be hidden, or deceive with invisible
//! characters.

use super::temporary_names::is_temporary_name;

/// The maximum length in bytes of the part of a name that is kept. With a `_` on each side a name has at most 200
/// bytes, so that names with the suffix of a temporary file have at most 255 bytes.
const MAX_KEPT: usize = 198;

/// The maximum length of an extension, including its dot.
const MAX_EXTENSION: usize = 20;

/// Returns a sanitised file name, or `None` if nothing is left of `suggested`.
///
/// Only the part after the last slash or backslash is used. Control and deceptive characters, invalid UTF-8 and `: * ?
/// " < > |` become `_`, as do a leading dot, dash or tilde and a trailing dot or space. Device names of DOS get a
/// leading `_`, suffixes of temporary files a trailing `_`. Long names keep their extension. The result has at most
/// 200 bytes.
pub fn safe_name(suggested: &[u8]) -> Option<String> {
    let last = suggested.rsplit(|byte| matches!(byte, b'/' | b'\\')).next()?;
    let text: String = last.utf8_chunks().flat_map(safe_characters).collect();
    let text = text.trim_start();
    if text.chars().all(|character| character == '.') {
        return None;
    }
    // The name is shortened first, because this may produce a first or last character that must be replaced.
    let mut name = shortened(text);
    if name.starts_with(['.', '-', '~']) {
        name.replace_range(..1, "_");
    }
    if name.ends_with(['.', ' ']) {
        name.pop();
        name.push('_');
    }
    if is_temporary_name(name.as_bytes()) {
        name.push('_');
    }
    if is_device(&name) {
        name.insert(0, '_');
    }
    Some(name)
}

/// Like [`safe_name`], but a leading dot is kept, except in names of journals.
pub fn safe_dot_name(suggested: &[u8]) -> Option<String> {
    let last = suggested.rsplit(|byte| matches!(byte, b'/' | b'\\')).next()?;
    match last.strip_prefix(b".") {
        None => safe_name(last),
        Some(rest) if rest.starts_with(b".") => safe_name(last),
        Some(rest) => safe_name(rest).map(|name| {
            let suffix = if is_journal(&name) { "_" } else { "" };
            format!(".{name}{suffix}")
        }),
    }
}

/// Returns `true` if `name` is the name of a journal without its leading dot.
fn is_journal(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("fetch-url") || name.ends_with(".journal")
}

fn safe_characters(chunk: std::str::Utf8Chunk<'_>) -> impl Iterator<Item = char> {
    chunk.valid().chars().map(safe_character).chain(chunk.invalid().iter().map(|_| '_'))
}

fn safe_character(character: char) -> char {
    let is_shown = matches!(character, ' '..='~')
        || fetch_url_proto::text::sanitise(character.encode_utf8(&mut [0; 4]).as_bytes())
            .chars()
            .eq([character]);
    let is_plain = is_shown && !is_blank_glyph(character) && !":*?\"<>|".contains(character);
    if is_plain { character } else { '_' }
}

/// Invisible characters, and those that HFS+ ignores when it compares names.
const fn is_blank_glyph(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns `true` for device names of DOS and Windows with any extension: CON, PRN, AUX, NUL, CONIN$, CONOUT$, CLOCK$,
/// COM0 to COM9, LPT0 to LPT9, also with superscript digits.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    let is_digit = |rest: &str| {
        let mut rest = rest.chars();
        matches!((rest.next(), rest.next()), (Some('0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'), None))
    };
    let is_numbered = |prefix: &str| stem.strip_prefix(prefix).is_some_and(is_digit);
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$")
        || is_numbered("COM")
        || is_numbered("LPT")
}

fn shortened(name: &str) -> String {
    if name.len() <= MAX_KEPT {
        return name.to_owned();
    }
    let extension = name.rfind('.').and_then(|dot| name.get(dot..));
    let extension = extension.filter(|extension| extension.len() <= MAX_EXTENSION).unwrap_or_default();
    let mut end = MAX_KEPT - extension.len();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{extension}", &name[..end])
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::*;

    /// Checks the properties of every sanitised name.
    fn check(name: &str) {
        let joined = Path::new("directory").join(name);
        let components: Vec<_> = joined.components().collect();
        assert_eq!(components, [Component::Normal("directory".as_ref()), Component::Normal(name.as_ref())]);
        assert!(!name.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|']), "{name:?}");
        assert!(!name.starts_with(['.', '-', '~', ' ']) && !name.ends_with(['.', ' ']), "{name:?}");
        assert_eq!(fetch_url_proto::text::sanitise(name.as_bytes()), name);
        assert!(!name.is_empty() && name.len() <= 200, "{name:?}");
        assert!(!is_temporary_name(name.as_bytes()) && !is_device(name), "{name:?}");
        if name.len() <= MAX_KEPT {
            assert_eq!(safe_name(name.as_bytes()).as_deref(), Some(name), "a safe name stays as it is");
        }
    }

    #[test]
    fn unsafe_parts_of_names_are_removed_or_replaced() {
        for (suggested, safe) in [
            (&b"a.txt"[..], Some("a.txt")),
            (b"../../etc/evil", Some("evil")),
            (b"a/", None),
            (b"", None),
            (b"...", None),
            (b" ", None),
            (b"a\0b\r\nc\x1b[31m\x7f", Some("a_b__c_[31m_")),
            (b"a\xff\xe9", Some("a__")),
            ("caf\u{e9}".as_bytes(), Some("caf\u{e9}")),
            (b"x.part.json", Some("x.part.json")),
            (b"x.fetch-url.json", Some("x.fetch-url.json_")),
            (b"x.FETCH-URL.PART", Some("x.FETCH-URL.PART_")),
        ] {
            assert_eq!(safe_name(suggested).as_deref(), safe, "{suggested:?}");
            safe.iter().for_each(|safe| check(safe));
        }
    }

    #[test]
    fn safe_dot_name_keeps_one_leading_dot() {
        for (suggested, safe) in [
            (&b".rc"[..], Some(".rc")),
            (b"d/.rc", Some(".rc")),
            (b"a.rc", Some("a.rc")),
            (b".", None),
            (b"..", None),
            (b"...", None),
            (b"..a", Some("_.a")),
            (b".-x", Some("._x")),
            (b".a.fetch-url.part", Some(".a.fetch-url.part_")),
            (b".fetch-url-mirror", Some(".fetch-url-mirror_")),
            (b".LIST.Journal", Some(".LIST.Journal_")),
        ] {
            assert_eq!(safe_dot_name(suggested).as_deref(), safe, "{suggested:?}");
        }
    }

    #[test]
    fn long_names_are_shortened_and_keep_their_extension() {
        let long = |length: usize, end: &str| safe_name(format!("{}{end}", "x".repeat(length)).as_bytes());
        for (length, end, kept) in [
            (300, ".tar.gz", ".gz"),
            (198, "", "x"),
            (300, "", "x"),
            (300, ".jpeg", ".jpeg"),
            // Longer than an extension may be.
            (300, ".abcdefghijklmnopqrstuvwxyz", "x"),
            // Shortening must not produce a temporary name, or a dot or space at the end.
            (183, ".fetch-url.partzzzzzzzzzzzzzzzzzzzzzzzzzzz", ".fetch-url.part_"),
            (197, ".zzzzzzzzzzzzzzzzzzzzzzzzzzz", "x_"),
            (197, " zzzzzzzzzzzzzzzzzzzzzzzzzzz", "x_"),
            (300, ".part", ".part"),
            (194, ".fetch-url.part", ".part"),
            (178, ".fetch-url.new", ".fetch-url.new_"),
        ] {
            let name = long(length, end).expect("a name");
            assert!(name.ends_with(kept), "{name}");
            check(&name);
        }
        check(&safe_name("\u{20ac}".repeat(100).as_bytes()).expect("a name"));
        check(&safe_name(format!("con.{}", "x".repeat(300)).as_bytes()).expect("a name"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_make_a_safe_name_or_none(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            safe_name(&bytes).iter().for_each(|name| check(name));
        }

        #[test]
        fn hostile_parts_make_a_safe_name_or_none(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    ".", "..", "/", "\\", "-", "~", " ", ":", "con", "COM", "1", "\u{b9}", ".fetch-url", ".part", ".PART", ".json", ".new",
                    "\u{202e}", "\u{200b}", "\u{ad}", "\0", "\r\n", "x", "\u{e9}", "\u{3000}", "\u{85}", "$",
                    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                    "CONIN$", "lpt9", "NUL",
                ]),
                0..10,
            ),
        ) {
            safe_name(parts.concat().as_bytes()).iter().for_each(|name| check(name));
        }
    }
}
