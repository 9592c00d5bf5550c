//! Every line of the table says what the table says: whole, octet by octet, and whatever is cut off.

#![allow(clippy::expect_used, clippy::panic, reason = "a table that cannot be read fails the test")]

use std::fmt::Write as _;

use bytes::Bytes;
use fetch_url_proto::ftp_list::{ListForm, ListReader, Listed, mlst};
use fetch_url_proto::{Details, Entry, EntryKind, Inbox, WireError, calendar};

const TABLE: &str = include_str!("data/ftp_list.tsv");
/// 2026-11-21 12:00:00 UTC.
const NOW: i64 = 1_795_262_400;

/// A row of the table.
struct Row {
    form: String,
    line: Vec<u8>,
    /// As [`shown`] would show what it says.
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
        ["note"] => shown(&Listed::Note(line.clone().into())),
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
        None if form == "list" => ListReader::new(ListForm::List, Some(NOW)),
        None if form == "mlsd" => ListReader::new(ListForm::Mlsd, Some(NOW)),
        None => ListReader::nlst(None),
    }
}

fn shown(listed: &Listed) -> String {
    let entry = match listed {
        Listed::Entry(entry) => entry.clone(),
        Listed::Note(line) => return format!("note {line:?}\n"),
    };
    let Entry { kind, name, size, modified, url: None, details: Details::None } = entry else {
        panic!("{entry:?}")
    };
    let name = Bytes::from(name);
    let size = size.map_or("-".to_owned(), |size| size.to_string());
    format!("{} {size} {} {name:?}\n", kind.word(), modified.map_or("-".to_owned(), date))
}

fn date(seconds: i64) -> String {
    let (year, month, day, hour, minute, second) = calendar::civil(seconds);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// What `pieces` say, one after the other, and how it ended.
fn play(mut reader: ListReader, pieces: &[&[u8]]) -> (String, Result<(), WireError>) {
    let (mut inbox, mut said, mut pieces) = (Inbox::new(), String::new(), pieces.iter());
    loop {
        match reader.read(&mut inbox) {
            Ok(Some(listed)) => said.push_str(&shown(&listed)),
            Ok(None) if inbox.is_ended() => break,
            Ok(None) => match pieces.next() {
                Some(piece) => inbox.push(piece),
                None => inbox.end(),
            },
            Err(error) => return (said, Err(error)),
        }
    }
    assert_eq!(reader.read(&mut inbox), Ok(None), "the end comes once");
    assert!(inbox.octets().is_empty());
    (said, Ok(()))
}

/// Holds one listing against what it says, however it is cut into pieces.
fn check(form: &str, octets: &[u8], expected: &str) {
    let expected = (expected.to_owned(), Ok(()));
    assert_eq!(play(reader(form), &[octets]), expected, "{form}");
    let single: Vec<&[u8]> = octets.chunks(1).collect();
    assert_eq!(play(reader(form), &single), expected, "{form}, octet by octet");
    for (head, tail) in (0..octets.len()).map(|at| octets.split_at(at)) {
        assert_eq!(play(reader(form), &[head, tail]), expected, "{form}, cut at {}", head.len());
        // What was cut off for good may say anything, but does not go wrong.
        assert_eq!(play(reader(form), &[head]).1, Ok(()));
    }
}

#[test]
fn every_row() {
    let mut failures = String::new();
    let rows = rows();
    assert!(rows.len() > 250, "only {} rows were found", rows.len());
    for row in rows {
        let (said, end) = play(reader(&row.form), &[&row.line]);
        if said != row.expected || end.is_err() {
            let line = String::from_utf8_lossy(&row.line);
            let _ = writeln!(failures, "{} {line}\n  says {said}  not  {}", row.form, row.expected);
            continue;
        }
        for end in [&b""[..], b"\r\n", b"\n", b"\r"] {
            check(&row.form, &[&row.line, end].concat(), &row.expected);
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn all_rows_of_a_form_are_one_listing() {
    for form in ["list", "mlsd", "nlst", "nlst:pub", "nlst:odd"] {
        let (mut octets, mut expected) = (Vec::new(), String::new());
        for row in rows().into_iter().filter(|row| row.form == form) {
            octets.extend_from_slice(&row.line);
            octets.extend_from_slice(if expected.len() % 2 == 0 { b"\r\n" } else { b"\n" });
            expected.push_str(&row.expected);
        }
        for length in [1, 7, octets.len()] {
            let pieces: Vec<&[u8]> = octets.chunks(length).collect();
            let (said, end) = play(reader(form), &pieces);
            let difference = said.lines().zip(expected.lines()).find(|(said, expected)| said != expected);
            assert_eq!((difference, said.len(), end), (None, expected.len(), Ok(())), "{form}");
        }
    }
}

#[test]
fn a_name_that_stands_alone_waits_for_one_line() {
    let octets = b"A.TXT;1\r\nB.TXT;1\r\n 2/4 1-JAN-1998 10:00\r\n";
    check("list", octets, "note b\"A.TXT;1\"\nfile - 1998-01-01 10:00:00 b\"B.TXT;1\"\n");
    check("list", b"A.TXT;1\r\n\r\ntotal 8\r\n", "note b\"A.TXT;1\"\n");
    check("mlsd", b"A;1\r\ntype=file; x\r\n", "note b\"A;1\"\nfile - - b\"x\"\n");
}

#[test]
fn without_a_clock_a_year_that_is_not_told_is_not_known() {
    for (date, now, modified) in [
        ("Nov 21 00:35", None, None),
        ("Nov 21  2020", None, Some("2020-11-21 00:00:00")),
        ("Jan  1 00:00", Some(0), Some("1970-01-01 00:00:00")),
        ("Jan  3 00:00", Some(0), Some("1969-01-03 00:00:00")),
        ("Feb 29 00:00", Some(-2_000_000_000), Some("1904-02-29 00:00:00")),
        ("Jan  1 00:00", Some(i64::MAX), None),
        ("Jan  1 00:00", Some(i64::MIN), None),
    ] {
        let (mut reader, mut inbox) = (ListReader::new(ListForm::List, now), Inbox::new());
        inbox.push(format!("-rw-r--r-- 1 a b 1 {date} f\n").as_bytes());
        let Ok(Some(Listed::Entry(entry))) = reader.read(&mut inbox) else { panic!("{date}") };
        assert_eq!(entry.modified.map(self::date).as_deref(), modified, "{date} {now:?}");
    }
}

#[test]
fn a_line_of_mlst() {
    let octets = b" modify=19941201123456;perm=adfr;size=13;type=file;unique=2FU232007; /hello.txt";
    let modified = calendar::seconds(1994, 12, 1, 12, 34, 56);
    let entry =
        |kind, name: &[u8], size, modified| Entry { name: name.to_vec(), size, modified, ..Entry::new(kind) };
    assert_eq!(mlst(octets), Some(entry(EntryKind::File, b"/hello.txt", Some(13), modified)));
    assert_eq!(mlst(b"Type=cdir; /"), Some(entry(EntryKind::Directory, b"/", None, None)));
    assert_eq!(mlst(b" End"), None);
}

#[test]
fn a_line_has_a_limit() {
    const MOST: usize = 64 * 1024;
    let limit = WireError::Limit { limit: "the length of a line of a listing", most: MOST };
    for (length, is_whole) in [(MOST, true), (MOST + 1, false), (MOST + 2, false)] {
        for end in [&b""[..], b"\r", b"\n", b"\r\n"] {
            let octets = [&vec![b'x'; length], end].concat();
            let (said, error) = play(ListReader::nlst(None), &[&octets]);
            assert_eq!((said.is_empty(), error.is_ok()), (!is_whole, is_whole), "{length} {end:?}");
        }
    }
    let (_, error) = play(ListReader::new(ListForm::List, None), &[&vec![b' '; 10 * MOST]]);
    assert_eq!(error, Err(limit));
}

/// Rows with octets changed, doubled and left out: nothing panics, and no line is lost.
#[test]
fn rows_gone_wrong() {
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
                1 => line.insert(at, u8::try_from(next(256)).expect("an octet")),
                2 => line.insert(at, b" 0:;/-.,+[<>=;1\r"[next(16)]),
                _ if at < line.len() => drop(line.remove(at)),
                _ => {}
            }
        }
        assert_eq!(play(reader(&row.form), &[&line]).1, Ok(()), "{line:?}");
    }
}

/// The table's own escapes.
fn unescape(text: &str) -> Vec<u8> {
    let (mut octets, mut rest) = (Vec::new(), text.chars());
    while let Some(character) = rest.next() {
        if character != '\\' {
            octets.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        octets.push(match rest.next() {
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
    octets
}
