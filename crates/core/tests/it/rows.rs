//! Reads the rows of `data/*.tsv`: five columns, with escapes in the second (see `data/README.md`).

use fetch_url_core::Dialect;

/// One row of a table.
pub(crate) struct Row {
    /// File name and line number.
    pub(crate) place: String,
    pub(crate) dialects: Vec<Dialect>,
    pub(crate) url: String,
    pub(crate) verdict: String,
    #[allow(dead_code, reason = "not every test uses every column")]
    pub(crate) parts: String,
}

const FILES: [(&str, &str); 11] = [
    ("file.tsv", include_str!("../data/file.tsv")),
    ("ftp.tsv", include_str!("../data/ftp.tsv")),
    ("gopher.tsv", include_str!("../data/gopher.tsv")),
    ("http.tsv", include_str!("../data/http.tsv")),
    ("mailto.tsv", include_str!("../data/mailto.tsv")),
    ("news.tsv", include_str!("../data/news.tsv")),
    ("nntp.tsv", include_str!("../data/nntp.tsv")),
    ("other.tsv", include_str!("../data/other.tsv")),
    ("prospero.tsv", include_str!("../data/prospero.tsv")),
    ("telnet.tsv", include_str!("../data/telnet.tsv")),
    ("wais.tsv", include_str!("../data/wais.tsv")),
];

/// Returns all rows of all files.
pub(crate) fn rows() -> Vec<Row> {
    let of_file = |(name, text): &(&str, &'static str)| {
        let name = (*name).to_owned();
        let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        lines.map(move |(index, line)| row(format!("{name}:{}", index + 1), line)).collect::<Vec<_>>()
    };
    FILES.iter().flat_map(of_file).collect()
}

fn row(place: String, line: &str) -> Row {
    let columns: Vec<_> = line.split('\t').collect();
    let [dialects, url, verdict, parts, _wire] = columns[..] else {
        panic!("{place}: {} columns instead of 5", columns.len());
    };
    let known = |letter| match letter {
        'C' => Dialect::Cern1993,
        'L' => Dialect::Lenient,
        'R' => Dialect::Rfc1738,
        _ => panic!("{place}: unknown dialect {letter:?}"),
    };
    let dialects = dialects.chars().map(known).collect();
    let url = unescaped(url).unwrap_or_else(|| panic!("{place}: invalid escape"));
    Row { place, dialects, url, verdict: verdict.to_owned(), parts: parts.to_owned() }
}

/// Replaces the escapes `\t`, `\n`, `\r`, `\\`, `\xHH` and `\u{…}`.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let (character, length) = escaped(after)?;
        plain.push(character);
        rest = &after[length..];
    }
    plain.push_str(rest);
    Some(plain)
}

fn escaped(after: &str) -> Option<(char, usize)> {
    let hexadecimal = |digits| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    Some(match after.as_bytes().first()? {
        b't' => ('\t', 1),
        b'n' => ('\n', 1),
        b'r' => ('\r', 1),
        b'\\' => ('\\', 1),
        b'x' => (hexadecimal(after.get(1..3)?)?, 3),
        b'u' => {
            let close = after.find('}')?;
            (hexadecimal(after.get(2..close)?)?, close + 1)
        }
        _ => return None,
    })
}
