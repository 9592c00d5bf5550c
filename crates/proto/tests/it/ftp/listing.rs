//! Listing lines against the table `ftp_list.tsv`: received at once, byte by byte, split at every position, and truncated.

#![allow(clippy::expect_used, clippy::panic, reason = "a table that cannot be read fails the test")]

use std::fmt::Write as _;

use bytes::Bytes;
use fetch_url_proto::ftp_list::{ListFormat, ListLine, ListReader, parse_mlst_line};
use fetch_url_proto::{Details, Entry, EntryKind, RecvBuffer, WireError, calendar};

const TABLE: &str = include_str!("../../data/ftp_list.tsv");
/// 2026-11-21 12:00:00 UTC.
const NOW: i64 = 1_795_262_400;

/// A row of the table.
struct Row {
    form: String,
    line: Vec<u8>,
    /// The result in the format of [`format_line`].
    expected: String,
}

fn rows() -> Vec<Row> {
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let columns: Vec<&str> = line.split('\t').collect();
    let (form, line) = (columns[0].to_owned(), unescape(columns[1]));
    let expected = match columns[2..] {
        ["-"] => String::new(),
        ["note"] => format_line(&ListLine::Unparsed(line.clone().into())),
        [kind, size, modified, name] => {
            format!("{kind} {size} {modified} {:?}\n", Bytes::from(unescape(name)))
        }
        _ => panic!("{columns:?}"),
    };
    Row { form, line, expected }
}

fn reader(form: &str) -> ListReader {
    match form.split_once(':') {
        Some((_, asked)) => ListReader::nlst(Some(asked.into())),
        None if form.starts_with("nlst@") => ListReader::nlst(None).with_path(form["nlst@".len()..].into()),
        None if form == "list" => ListReader::new(ListFormat::List, Some(NOW)),
        None if form == "mlsd" => ListReader::new(ListFormat::Mlsd, Some(NOW)),
        None => ListReader::nlst(None),
    }
}

fn format_line(line: &ListLine) -> String {
    let entry = match line {
        ListLine::Entry(entry) => entry.clone(),
        ListLine::Unparsed(line) => return format!("note {line:?}\n"),
    };
    let Entry { kind, name, size, modified, url: None, details: Details::None, .. } = entry else {
        panic!("{entry:?}")
    };
    let name = Bytes::from(name);
    let size = size.map_or("-".to_owned(), |size| size.to_string());
    format!("{} {size} {} {name:?}\n", kind.as_str(), modified.map_or("-".to_owned(), date))
}

fn date(seconds: i64) -> String {
    let (year, month, day, hour, minute, second) = calendar::from_timestamp(seconds);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Parses `pieces`, received one after another. Returns the lines and how the listing ended.
fn play(mut reader: ListReader, pieces: &[&[u8]]) -> (String, Result<(), WireError>) {
    let (mut buffer, mut parsed, mut pieces) = (RecvBuffer::new(), String::new(), pieces.iter());
    loop {
        match reader.next_line(&mut buffer) {
            Ok(Some(listed)) => parsed.push_str(&format_line(&listed)),
            Ok(None) if buffer.is_ended() => break,
            Ok(None) => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None => buffer.mark_closed(),
            },
            Err(error) => return (parsed, Err(error)),
        }
    }
    assert_eq!(reader.next_line(&mut buffer), Ok(None), "the end is reported once");
    assert!(buffer.bytes().is_empty());
    (parsed, Ok(()))
}

/// Checks that a listing is parsed as `expected`, however it is split.
fn check(form: &str, bytes: &[u8], expected: &str) {
    let expected = (expected.to_owned(), Ok(()));
    assert_eq!(play(reader(form), &[bytes]), expected, "{form}");
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(play(reader(form), &single), expected, "{form}, byte by byte");
    for (head, tail) in (0..bytes.len()).map(|at| bytes.split_at(at)) {
        assert_eq!(play(reader(form), &[head, tail]), expected, "{form}, cut at {}", head.len());
        // A truncated listing may have any result, but no error.
        assert_eq!(play(reader(form), &[head]).1, Ok(()));
    }
}

#[test]
fn every_row_is_parsed_as_the_table_says() {
    let mut failures = String::new();
    let rows = rows();
    assert!(rows.len() > 250, "only {} rows were found", rows.len());
    for row in rows {
        let (parsed, end) = play(reader(&row.form), &[&row.line]);
        if parsed != row.expected || end.is_err() {
            let line = String::from_utf8_lossy(&row.line);
            let _ =
                writeln!(failures, "{} {line}\n  parsed as {parsed}  expected {}", row.form, row.expected);
            continue;
        }
        for end in [&b""[..], b"\r\n", b"\n", b"\r"] {
            check(&row.form, &[&row.line, end].concat(), &row.expected);
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn rows_of_one_format_are_parsed_as_one_listing() {
    for form in ["list", "mlsd", "nlst", "nlst:pub", "nlst:odd"] {
        let (mut bytes, mut expected) = (Vec::new(), String::new());
        for row in rows().into_iter().filter(|row| row.form == form) {
            bytes.extend_from_slice(&row.line);
            bytes.extend_from_slice(if expected.len() % 2 == 0 { b"\r\n" } else { b"\n" });
            expected.push_str(&row.expected);
        }
        for length in [1, 7, bytes.len()] {
            let pieces: Vec<&[u8]> = bytes.chunks(length).collect();
            let (parsed, end) = play(reader(form), &pieces);
            let difference =
                parsed.lines().zip(expected.lines()).find(|(parsed, expected)| parsed != expected);
            assert_eq!((difference, parsed.len(), end), (None, expected.len(), Ok(())), "{form}");
        }
    }
}

#[test]
fn vms_name_without_attributes_waits_for_the_next_line() {
    let bytes = b"A.TXT;1\r\nB.TXT;1\r\n 2/4 1-JAN-1998 10:00\r\n";
    check("list", bytes, "note b\"A.TXT;1\"\nfile - 1998-01-01 10:00:00 b\"B.TXT;1\"\n");
    check("list", b"A.TXT;1\r\n\r\ntotal 8\r\n", "note b\"A.TXT;1\"\n");
    check("mlsd", b"A;1\r\ntype=file; x\r\n", "note b\"A;1\"\nfile - - b\"x\"\n");
}

#[test]
fn missing_year_is_unknown_without_the_current_time() {
    for (date, now, modified) in [
        ("Nov 21 00:35", None, None),
        ("Nov 21  2020", None, Some("2020-11-21 00:00:00")),
        ("Jan  1 00:00", Some(0), Some("1970-01-01 00:00:00")),
        ("Jan  3 00:00", Some(0), Some("1969-01-03 00:00:00")),
        ("Feb 29 00:00", Some(-2_000_000_000), Some("1904-02-29 00:00:00")),
        ("Jan  1 00:00", Some(i64::MAX), None),
        ("Jan  1 00:00", Some(i64::MIN), None),
    ] {
        let (mut reader, mut buffer) = (ListReader::new(ListFormat::List, now), RecvBuffer::new());
        buffer.push(format!("-rw-r--r-- 1 a b 1 {date} f\n").as_bytes());
        let Ok(Some(ListLine::Entry(entry))) = reader.next_line(&mut buffer) else { panic!("{date}") };
        assert_eq!(entry.modified.map(self::date).as_deref(), modified, "{date} {now:?}");
    }
}

#[test]
fn mlst_line_is_parsed() {
    let bytes = b" modify=19941201123456;perm=adfr;size=13;type=file;unique=2FU232007; /hello.txt";
    let modified = calendar::to_timestamp(1994, 12, 1, 12, 34, 56);
    let entry =
        |kind, name: &[u8], size, modified| Entry { name: name.to_vec(), size, modified, ..Entry::new(kind) };
    assert_eq!(parse_mlst_line(bytes), Some(entry(EntryKind::File, b"/hello.txt", Some(13), modified)));
    assert_eq!(parse_mlst_line(b"Type=cdir; /"), Some(entry(EntryKind::Directory, b"/", None, None)));
    assert_eq!(parse_mlst_line(b" End"), None);
}

#[test]
fn line_over_64_kib_is_an_error() {
    const MOST: usize = 64 * 1024;
    let limit = WireError::LimitExceeded { quantity: "bytes in a line of a listing", max: MOST };
    for (length, is_whole) in [(MOST, true), (MOST + 1, false), (MOST + 2, false)] {
        for end in [&b""[..], b"\r", b"\n", b"\r\n"] {
            let bytes = [&vec![b'x'; length], end].concat();
            let (parsed, error) = play(ListReader::nlst(None), &[&bytes]);
            assert_eq!((parsed.is_empty(), error.is_ok()), (!is_whole, is_whole), "{length} {end:?}");
        }
    }
    let (_, error) = play(ListReader::new(ListFormat::List, None), &[&vec![b' '; 10 * MOST]]);
    assert_eq!(error, Err(limit));
}

/// Rows with random bytes changed, inserted and removed.
#[test]
fn damaged_rows_cause_no_panic_and_no_error() {
    let (rows, mut state) = (rows(), 0x2545_F491_4F6C_DD1D_u64);
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).expect("a small number")).expect("a small number")
    };
    for _ in 0..100_000 {
        let row = &rows[next(rows.len())];
        let mut line = row.line.clone();
        for _ in 0..=next(3) {
            let at = next(line.len() + 1);
            match next(4) {
                0 => line.truncate(at),
                1 => line.insert(at, u8::try_from(next(256)).expect("a byte")),
                2 => line.insert(at, b" 0:;/-.,+[<>=;1\r"[next(16)]),
                _ if at < line.len() => drop(line.remove(at)),
                _ => {}
            }
        }
        assert_eq!(play(reader(&row.form), &[&line]).1, Ok(()), "{line:?}");
    }
}

/// Undoes the escapes of the table.
fn unescape(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.chars());
    while let Some(character) = rest.next() {
        if character != '\\' {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        bytes.push(match rest.next() {
            Some('t') => b'\t',
            Some('r') => b'\r',
            Some('n') => b'\n',
            Some('\\') => b'\\',
            Some('x') => {
                let digits: String = rest.by_ref().take(2).collect();
                u8::from_str_radix(&digits, 16).expect("two digits")
            }
            other => panic!("\\{other:?}"),
        });
    }
    bytes
}
