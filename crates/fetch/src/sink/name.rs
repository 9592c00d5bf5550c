//! A file name made of a stranger's octets: it can never leave its directory, hide, or be taken for
//! something else.

/// The longest name, in octets, so that `.part.json` fits behind it.
const MAX: usize = 200;

/// Names that only our own files in the making may have.
const OURS: [&str; 3] = [".part", ".part.json", ".part.json.new"];

/// A safe file name made of `suggested`, or none when nothing is left of it.
///
/// Only what stands behind the last slash or backslash counts. Control and deceptive characters,
/// octets that are not UTF-8, and `: * ? " < > |` become `_`, as do a leading dot, dash or tilde
/// and a trailing dot or space; a device name of DOS gets a `_` in front; a long name keeps its
/// extension.
pub fn safe_name(suggested: &[u8]) -> Option<String> {
    let last = suggested.rsplit(|octet| matches!(octet, b'/' | b'\\')).next()?;
    let text: String = last.utf8_chunks().flat_map(safe_characters).collect();
    let mut name = text.trim_start().to_owned();
    if name.is_empty() || name.chars().all(|character| character == '.') {
        return None;
    }
    if name.starts_with(['.', '-', '~']) {
        name.replace_range(..1, "_");
    }
    while name.ends_with(['.', ' ']) {
        name.pop();
        name.push('_');
    }
    if OURS.iter().any(|suffix| name.ends_with(suffix)) {
        name.push('_');
    }
    if is_device(&name) {
        name.insert(0, '_');
    }
    Some(shortened(name))
}

fn safe_characters(chunk: std::str::Utf8Chunk<'_>) -> Vec<char> {
    let unsafe_ones = chunk.invalid().iter().map(|_| '_');
    chunk.valid().chars().map(safe_character).chain(unsafe_ones).collect()
}

fn safe_character(character: char) -> char {
    let is_shown = fetch_url_proto::text::printable(character.encode_utf8(&mut [0; 4]).as_bytes())
        .chars()
        .eq([character]);
    if is_shown && !":*?\"<>|".contains(character) { character } else { '_' }
}

/// CON, PRN, AUX, NUL, COM1 to COM9 and LPT1 to LPT9, with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    let is_numbered =
        |prefix: &str| stem.strip_prefix(prefix).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']));
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") || is_numbered("COM") || is_numbered("LPT")
}

fn shortened(name: String) -> String {
    if name.len() <= MAX {
        return name;
    }
    let extension =
        name.rfind('.').map(|dot| &name[dot..]).filter(|extension| extension.len() <= 20).unwrap_or("");
    let mut end = MAX - extension.len();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{extension}", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::safe_name;

    #[test]
    fn hostile_names() {
        for (suggested, safe) in [
            (&b"a.txt"[..], Some("a.txt")),
            (b"../../etc/evil", Some("evil")),
            (b"..\\..\\evil.exe", Some("evil.exe")),
            (b"/etc/passwd", Some("passwd")),
            (b"a/", None),
            (b"", None),
            (b".", None),
            (b"..", None),
            (b"...", None),
            (b" ", None),
            (b".bashrc", Some("_bashrc")),
            (b"-rf", Some("_rf")),
            (b"~root", Some("_root")),
            (b"|sh", Some("_sh")),
            (b"a\0b\r\nc\x1b[31m\x7f", Some("a_b__c_[31m_")),
            (b"a\xff\xe9", Some("a__")),
            ("x\u{202e}gpj.exe".as_bytes(), Some("x_gpj.exe")),
            ("caf\u{e9}".as_bytes(), Some("caf\u{e9}")),
            (b"a. ", Some("a._")),
            (b"a.", Some("a_")),
            (b"con", Some("_con")),
            (b"NUL.txt", Some("_NUL.txt")),
            (b"com1", Some("_com1")),
            (b"com10", Some("com10")),
            (b"file:stream", Some("file_stream")),
            (b"  x", Some("x")),
            (b"x.part", Some("x.part_")),
            (b"x.part.json", Some("x.part.json_")),
        ] {
            assert_eq!(safe_name(suggested).as_deref(), safe, "{suggested:?}");
        }
        let long = [&b"x".repeat(300)[..], b".tar.gz"].concat();
        let name = safe_name(&long).expect("a name");
        assert!(name.len() == 200 && name.ends_with(".gz"));
    }
}
