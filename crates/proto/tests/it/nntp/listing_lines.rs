//! Lines of LIST ACTIVE and of overviews, article headers in place of an overview, dates and wildmats.

use fetch_url_proto::nntp::{
    ArticleDetails, GroupDetails, HeaderReader, format_overview_line, parse_active_line, parse_article_date,
    parse_overview_line, wildmat,
};
use fetch_url_proto::{Details, Entry, EntryKind};

/// Sun, 06 Nov 1994 08:49:37 UTC.
const NOVEMBER: i64 = 784_111_777;

#[test]
fn list_active_lines_are_parsed_or_rejected() {
    let group = |name, high, low, posting| Some((name, high, low, posting));
    for (line, expected) in [
        ("misc.test 3002322 3000234 y", group("misc.test", 3_002_322, 3_000_234, "y")),
        ("comp.risks 0000442001 0000441099 m", group("comp.risks", 442_001, 441_099, "m")),
        ("alt.rfc-writers.recovery 4 1 y", group("alt.rfc-writers.recovery", 4, 1, "y")),
        ("tx.natives.recovery 89 56 n", group("tx.natives.recovery", 89, 56, "n")),
        ("empty.group 0 1 y", group("empty.group", 0, 1, "y")),
        ("old.name 7 8 =new.name", group("old.name", 7, 8, "=new.name")),
        ("a.b\t 12 \t 3  x ", group("a.b", 12, 3, "x")),
        ("a.b 2 1", group("a.b", 2, 1, "")),
        ("a.b 2 1 y and more", group("a.b", 2, 1, "y")),
        ("a 18446744073709551615 0 y", group("a", u64::MAX, 0, "y")),
        ("grün\0 2 1 y", group("grün\0", 2, 1, "y")),
        ("a 18446744073709551616 0 y", None),
        ("a 2 18446744073709551616 y", None),
        ("a +2 1 y", None),
        ("a -2 1 y", None),
        ("a 2 0x1 y", None),
        ("a 2 \u{661} y", None),
        ("a 2", None),
        ("a", None),
        ("a y 2 1", None),
        ("", None),
        (" \t ", None),
    ] {
        let entry = parse_active_line(line.as_bytes());
        let details = entry.as_ref().map(|entry| (entry, group_facts(entry)));
        let found = details
            .map(|(entry, details)| (&entry.name[..], details.high, details.low, &details.posting[..]));
        let expected =
            expected.map(|(name, high, low, posting)| (name.as_bytes(), high, low, posting.as_bytes()));
        assert_eq!(found, expected, "{line:?}");
        assert!(
            entry.is_none_or(|entry| entry.kind == EntryKind::Directory && entry.size.is_none()),
            "{line:?}"
        );
    }
}

#[test]
fn group_name_may_contain_all_bytes_except_blanks() {
    let entry = parse_active_line(b"\xff\0\x80\r 2 1 \xfe").expect("a group");
    assert_eq!(entry.name, b"\xff\0\x80\r");
    assert_eq!(group_facts(&entry).posting, b"\xfe");
    let long = [&[b'g'; 1 << 20][..], b" ", &[b'0'; 1 << 20], b"7 1 y"].concat();
    let entry = parse_active_line(&long).expect("a group");
    assert_eq!((entry.name.len(), group_facts(&entry).high), (1 << 20, 7));
}

fn group_facts(entry: &Entry) -> &GroupDetails {
    let Details::Newsgroup(details) = &entry.details else { panic!("{entry:?}") };
    details
}

const LINE: &str = "3000234\tI am just a test article\t\"Demo User\" <nobody@example.com>\t\
                    6 Nov 1994 08:49:37 -0000\t<45223423@example.com>\t<45454@example.net>\t1234\t17";

/// The parsed line.
fn demo() -> ArticleDetails {
    let mut details = ArticleDetails::default();
    details.number = 3_000_234;
    details.subject = b"I am just a test article".to_vec();
    details.from = b"\"Demo User\" <nobody@example.com>".to_vec();
    details.date = b"6 Nov 1994 08:49:37 -0000".to_vec();
    details.message_id = b"<45223423@example.com>".to_vec();
    details.references = b"<45454@example.net>".to_vec();
    details.bytes = Some(1234);
    details.lines = Some(17);
    details
}

fn article_facts(entry: &Entry) -> &ArticleDetails {
    let Details::Article(details) = &entry.details else { panic!("{entry:?}") };
    details
}

#[test]
fn overview_line_becomes_an_article_entry() {
    let mut entry = Entry::new(EntryKind::File);
    entry.name = b"3000234".to_vec();
    entry.size = Some(1234);
    entry.modified = Some(NOVEMBER);
    entry.details = Details::Article(Box::new(demo()));
    assert_eq!(parse_overview_line(LINE.as_bytes()), Some(entry.clone()));
    let further = format!("{LINE}\tXref: news.example.com misc.test:3000363\t\t");
    assert_eq!(parse_overview_line(further.as_bytes()), Some(entry));
}

#[test]
fn overview_line_without_an_article_number_is_rejected() {
    for (line, expected) in [
        ("1", Some("1")),
        ("007\ts", Some("7")),
        ("0\ts", Some("0")),
        ("4294967296\ts", Some("4294967296")),
        ("9999999999999999\ts", Some("9999999999999999")),
        ("10000000000000000\ts", None),
        ("18446744073709551615\ts", None),
        ("18446744073709551616\ts", None),
        ("", None),
        ("\t", None),
        ("\t1", None),
        ("-1\ts", None),
        ("+1\ts", None),
        ("1 s", None),
        ("one\ts", None),
        ("224 overview follows", None),
    ] {
        let name = parse_overview_line(line.as_bytes()).map(|entry| entry.name);
        assert_eq!(name.as_deref(), expected.map(str::as_bytes), "{line:?}");
    }
}

#[test]
fn missing_overview_fields_are_unknown() {
    for length in 0..=LINE.len() {
        let cut = &LINE[..length];
        let Some(entry) = parse_overview_line(cut.as_bytes()) else {
            assert_eq!(length, 0);
            continue;
        };
        let details = article_facts(&entry);
        assert_eq!(details.subject.is_empty(), cut.split('\t').nth(1).is_none_or(str::is_empty), "{cut:?}");
        assert_eq!(details.bytes.is_none(), cut.split('\t').nth(6).is_none_or(str::is_empty), "{cut:?}");
        assert_eq!(entry.size, details.bytes, "{cut:?}");
    }
    let entry = parse_overview_line(b"5\t\t\t\t\t\t\t").expect("an article");
    let mut empty = ArticleDetails::default();
    empty.number = 5;
    assert_eq!((article_facts(&entry), entry.modified, entry.size), (&empty, None, None));
}

#[test]
fn invalid_counts_are_unknown() {
    for (count, expected) in [("17", Some(17)), (" 017 ", Some(17)), ("-1", None), ("1k", None), ("", None)] {
        let entry = parse_overview_line(format!("1\ts\tf\td\tm\tr\t{count}\t{count}").as_bytes())
            .expect("an article");
        let details = article_facts(&entry);
        assert_eq!((details.bytes, details.lines), (expected, expected), "{count:?}");
    }
}

#[test]
fn article_facts_format_as_their_overview_line() {
    assert_eq!(format_overview_line(&demo()), LINE.as_bytes());
    assert_eq!(format_overview_line(&ArticleDetails::default()), b"0\t\t\t\t\t\t\t");
    let mut hostile = ArticleDetails::default();
    hostile.subject = b"a\tb\rc\nd\0e\r\n\xff".to_vec();
    hostile.references = b"<a@b>\t<c@d>".to_vec();
    assert_eq!(format_overview_line(&hostile), b"0\ta b c d e  \xff\t\t\t\t<a@b> <c@d>\t\t");
}

/// The header of the article that `LINE` describes.
const HEADER: &str = "Path: a!b\r\nSUBJECT:I am\r\n just a\r\n\ttest article \r\n\
     from : \"Demo User\"\r\n <nobody@example.com>\r\nDate: 6 Nov 1994 08:49:37 -0000\r\nSubject: not this\r\n\
     Message-ID: <45223423@example.com>\r\nReferences: <45454@example.net>\r\nLines: 17\r\nBytes:1234\r\n\
     Subjects: nor this\r\nX-From: no\r\n\r\nFrom: body\r\nReferences: body\r\n";

/// Parses a header that arrives in these pieces.
fn read<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Entry {
    let mut reader = HeaderReader::new(3_000_234);
    for piece in pieces {
        reader.push(piece);
    }
    reader.finish()
}

#[test]
fn header_gives_the_entry_of_its_overview_line_at_every_cut() {
    let expected = parse_overview_line(LINE.as_bytes()).expect("an article");
    for header in [HEADER.to_owned(), HEADER.replace("\r\n", "\n")] {
        let header = header.as_bytes();
        assert_eq!(read([header]), expected);
        assert_eq!(read(header.chunks(1)), expected);
        for at in 0..=header.len() {
            assert_eq!(read([&header[..at], &header[at..]]), expected, "{at}");
        }
    }
}

#[test]
fn subject_is_unfolded_and_trimmed() {
    for (header, expected) in [
        ("Subject: a\r\n\r\n", "a"),
        ("Subject: a", "a"),
        ("Subject: a\r", "a"),
        ("Subject:\r\n a\r\n\r\n", "a"),
        ("Subject:\t\t a\t\r\n\r\n", "a"),
        ("Subject: a\r\n \r\n\tb\r\n\r\n", "a  b"),
        ("Subject: a\tb\0c\rd\r\r\n\r\n", "a b c d"),
        ("Subject: a: b\r\n\r\n", "a: b"),
        ("sUbJeCt: a\r\n\r\n", "a"),
        ("Subject:\r\nSubject: b\r\n\r\n", ""),
        ("Subject: a\r\nX: y\r\n b\r\n\r\n", "a"),
        ("Subject: a\r\nno field\r\n b\r\n\r\n", "a"),
        (" b\r\nSubject: a\r\n\r\n", "a"),
        ("Subject: a\r\nSubject: c\r\n b\r\n\r\n", "a"),
        ("\r\nSubject: a\r\n\r\n", ""),
        ("\nSubject: a\r\n\r\n", ""),
        ("\r\r\nSubject: a\r\n\r\n", "a"),
        ("Subject\r\n: a\r\n\r\n", ""),
        (" Subject: a\r\n\r\n", ""),
        ("Subjec: a\r\nSubjectt: b\r\nSub ject: c\r\n: d\r\n\r\n", ""),
        ("", ""),
    ] {
        let entry = read([header.as_bytes()]);
        assert_eq!(String::from_utf8_lossy(&article_facts(&entry).subject), expected, "{header:?}");
        assert_eq!(read(header.as_bytes().chunks(1)), entry, "{header:?}");
    }
}

#[test]
fn long_header_fields_use_bounded_memory() {
    /// The size of the debug output of four fields of 4 KiB, in which each byte is written as `120, `.
    const MAX_DEBUG_BYTES: usize = 4 * 4096 * 5 + 1000;
    let long = [b'x'; 1 << 20];
    let mut reader = HeaderReader::new(1);
    for name in
        ["Subject: ", "From: ", "X-Long: ", "Subject: ", "Date: a\r\n ", "References: ", "", "\u{ff}", " "]
    {
        reader.push(name.as_bytes());
        reader.push(&long);
        let shown = format!("{reader:?}").len();
        assert!(shown < MAX_DEBUG_BYTES, "{name}: {shown}");
        reader.push(b"\r\n");
    }
    reader.push(b"Lines: 12\r\n\r\n");
    reader.push(&long);
    let entry = reader.finish();
    let details = article_facts(&entry);
    let lengths = [details.subject.len(), details.from.len(), details.date.len(), details.references.len()];
    assert_eq!((lengths, details.lines), ([4096; 4], Some(12)));
}

#[test]
fn many_header_fields_use_bounded_memory() {
    let mut reader = HeaderReader::new(1);
    for _ in 0..10_000 {
        reader.push(b"Subject: a\r\nReceived: b\r\n c\r\n");
    }
    assert!(format!("{reader:?}").len() < 1000);
}

#[test]
fn random_header_gives_the_same_entry_at_every_cut() {
    let mut random = Random(7);
    for _ in 0..2000 {
        let bytes = random.bytes(b"SubjectFrom:: \t\r\n\n\r\0\xff", 60);
        let expected = read([&bytes[..]]);
        let at = random.below(bytes.len() + 1);
        assert_eq!(read([&bytes[..at], &bytes[at..]]), expected, "{bytes:?} {at}");
        let line = format_overview_line(article_facts(&expected));
        assert_eq!(parse_overview_line(&line), Some(expected), "{bytes:?}");
    }
}

#[test]
fn usual_date_formats_give_the_same_time() {
    for date in [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 +0000",
        "sun, 6 NOV 1994 08:49:37 gmt",
        "6 Nov 1994 08:49:37 -0000",
        "6 Nov 94 08:49:37 UT",
        "6 Nov 094 08:49:37 Z",
        "6 Nov 94 8:49:37",
        "Mon, 6 Nov 1994 08:49:37 UTC",
        "Sun 6 November 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 09:49:37 +0100",
        "Sun, 06 Nov 1994 14:19:37 +0530",
        "Sat, 05 Nov 1994 22:49:37 -1000",
        "Sun, 06 Nov 1994 09:49:37 GMT+0100",
        "Sun, 06 Nov 1994 03:49:37 EST",
        "Sun, 06 Nov 1994 04:49:37 EDT",
        "Sun, 06 Nov 1994 02:49:37 CST",
        "Sun, 06 Nov 1994 03:49:37 cdt",
        "Sun, 06 Nov 1994 01:49:37 MST",
        "Sun, 06 Nov 1994 02:49:37 MDT",
        "Sun, 06 Nov 1994 00:49:37 PST",
        "Sun, 06 Nov 1994 01:49:37 PDT",
        "Sun, 06 Nov 1994 08:49:37 A",
        "Sun, 06 Nov 1994 08:49:37 M",
        "Sun, 06 Nov 1994 08:49:37 y",
        "Sun, 06 Nov 1994 08:49:37 MEZ",
        "Sun, 06 Nov 1994 08:49:37 Mitteleuropäische Zeit",
        "Sun, 06 Nov 1994 08:49:37 MET DST",
        "Sun, 06 Nov 1994 09:49:37 +0100 (MET)",
        "Sun, 06 Nov 1994 09:49:37 +0100 MET",
        "(a)Sun(b(c)\\)),(d)6(e)Nov(f)1994(g)08(h):(i)49(j):(k)37(l)GMT(m",
        "  Sun ,\r\n\t6\tNov  1994 08 : 49 : 37  GMT  ",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sunday, 6-Nov-1994 03:49:37 EST",
        "06-Nov-94 08:49:37",
        "Sun Nov  6 08:49:37 1994",
        "Nov 06 08:49:37 1994",
        "Sun Nov  6 08:49:37 94",
        "Sun Nov  6 00:49:37 PST 1994",
        "Sun Nov  6 09:49:37 1994 +0100",
        "Sun Nov  6 03:49:37 1994 EST",
    ] {
        assert_eq!(parse_article_date(date.as_bytes()), Some(NOVEMBER), "{date:?}");
    }
}

#[test]
fn two_digit_years_and_seconds_are_converted() {
    for (date, expected) in [
        ("6 Nov 1994 08:49 GMT", NOVEMBER - 37),
        ("31 Dec 1998 23:59:60 GMT", 915_148_799),
        ("1 Jan 1970 00:00:00 GMT", 0),
        ("1 Jan 1970 00:00 +0001", -60),
        ("1 Jan 00 00:00 GMT", 946_684_800),
        ("1 Jan 49 00:00 GMT", 2_493_072_000),
        ("1 Jan 50 00:00 GMT", -631_152_000),
        ("1 Jan 99 00:00 GMT", 915_148_800),
        ("1 Jan 100 00:00 GMT", 946_684_800),
        ("29 Feb 2000 00:00 GMT", 951_782_400),
        ("1 Jan 0000 00:00 GMT", -62_167_219_200),
        ("31 Dec 9999 23:59:59 -9999", 253_402_300_799 + 99 * 3600 + 99 * 60),
    ] {
        assert_eq!(parse_article_date(date.as_bytes()), Some(expected), "{date:?}");
    }
}

#[test]
fn invalid_dates_are_ignored() {
    for date in [
        "",
        " ",
        "(Sun, 06 Nov 1994 08:49:37 GMT)",
        "Sun, 06 Nov 1994",
        "Sun, 06 Nov 1994 08",
        "Sun, 06 Nov 1994 08:",
        "Sun, 06 Nov 1994 08:4:37 GMT",
        "Sun, 06 Nov 1994 08:49: GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 008:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37.5 +0100",
        "Sun, 06 Nov 1994 08:49:37 +100",
        "Sun, 06 Nov 1994 08:49:37 +",
        "Sun, 06 Nov 1994 08:49:37 GMT 7",
        "Sun, 06 Nov 4 08:49:37 GMT",
        "Sun, 06 Nov 19940 08:49:37 GMT",
        "Sun, 006 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT",
        "Sun, 0 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nop 1994 08:49:37 GMT",
        "Sun, 06 No 1994 08:49:37 GMT",
        "Xyz, 06 Nov 1994 08:49:37 GMT",
        "Sun, Sun, 06 Nov 1994 08:49:37 GMT",
        "1994-11-06 08:49:37",
        "Sun Nov  6 08:49:37",
        "Nov",
        "784111777",
        "Sun, 06 Nov 1994 08:49:37 \0",
        "\0Sun, 06 Nov 1994 08:49:37",
    ] {
        assert_eq!(parse_article_date(date.as_bytes()), None, "{date:?}");
    }
    for byte in [b'\0', b'\xff', b'9', b'(', b')', b'\\', b'"', b' ', b'-', b':', b'a'] {
        assert_eq!(parse_article_date(&vec![byte; 1 << 20]), None, "{byte}");
    }
}

#[test]
fn every_date_from_1980_to_2038_is_parsed() {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    for day in 3652..25_000 {
        let (year, month, date, ..) = fetch_url_proto::calendar::from_timestamp(day * 86_400);
        let month = months[usize::try_from(month - 1).expect("a month")];
        for text in [
            format!("{date} {month} {year} 00:00:00 GMT"),
            format!("{date:02}-{month}-{:02} 00:00:00", year % 100),
            format!("{month} {date:2} 00:00:00 {year}"),
        ] {
            assert_eq!(parse_article_date(text.as_bytes()), Some(day * 86_400), "{text}");
        }
    }
}

#[test]
fn damaged_dates_cause_no_panic() {
    let mut random = Random(11);
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = b"Sun, 06 Nov 1994 08:49:37 +0100 (MET)".to_vec();
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = b"0169:,+-( )\\\"aZ\0\xff"[random.below(17)];
        }
        bytes.truncate(random.below(bytes.len() + 1).max(10));
        read += usize::from(parse_article_date(&bytes).is_some());
    }
    assert!(read > 1000, "{read}");
}

#[test]
fn wildmat_matches_as_the_table_says() {
    for (pattern, name, expected) in [
        ("misc.test", "misc.test", true),
        ("misc.test", "misc.tests", false),
        ("misc.test", "amisc.test", false),
        ("misc.test", "Misc.Test", false),
        ("*", "", true),
        ("*", "anything", true),
        ("", "", true),
        ("", "a", false),
        ("?", "", false),
        ("?", "a", true),
        ("?", "ab", false),
        ("*.?", "a.b", true),
        ("comp.*", "comp.", true),
        ("comp.*", "comp", false),
        ("*.linux.*", "comp.os.linux.misc", true),
        ("*.linux.*", "comp.os.linux", false),
        ("a*b*c", "aXbXbXc", true),
        ("a*b*c", "aXbXbX", false),
        ("**a**", "bab", true),
        ("*?*?*", "a", false),
        ("*?*?*", "ab", true),
        // RFC 3977 §4.2 and §4.4: the rightmost matching pattern decides.
        ("a*,!*b,*c*", "aaa", true),
        ("a*,!*b,*c*", "abb", false),
        ("a*,!*b,*c*", "ccb", true),
        ("a*,!*b,*c*", "xxx", false),
        ("a*,!*b", "ab", false),
        ("!*b,a*", "ab", true),
        ("!a", "b", false),
        ("*,!a", "b", true),
        ("*,!a", "a", false),
        ("*,!", "", false),
        ("*,!", "a", true),
        (",", "", true),
        ("a,", "a", true),
        (",a", "b", false),
        ("!!a", "!a", false),
        ("*,!!a", "a", true),
        ("a!b", "a!b", true),
        // `?` matches a character, not a byte.
        ("?", "é", true),
        ("??", "é", false),
        ("?", "\u{1f600}", true),
        ("*??", "\u{1f600}", false),
        ("*??*", "\u{1f600}é", true),
        ("gr?n.*", "grün.test", true),
        ("*ü?", "grün", true),
        // Sets and escapes are not part of a wildmat.
        ("[a-z]", "a", false),
        ("[a-z]", "[a-z]", true),
        ("\\*", "*", false),
        ("\\*", "\\a", true),
    ] {
        assert_eq!(wildmat(pattern.as_bytes(), name.as_bytes()), expected, "{pattern:?} {name:?}");
    }
}

#[test]
fn invalid_utf8_matches_byte_by_byte() {
    for (pattern, name, expected) in [
        (&b"?"[..], &b"\xff"[..], true),
        (b"??", b"\xff\xfe", true),
        (b"??", b"\xc3(", true),
        (b"?", b"\xc3(", false),
        (b"?\xff*", b"\0\xff\xff", true),
        (b"\xff", b"\xfe", false),
        (b"\xc3?", b"\xc3\xa9", false),
        (b"???", b"\xed\xa0\x80", true),
        (b"??", b"\xc0\x80", true),
    ] {
        assert_eq!(wildmat(pattern, name), expected, "{pattern:?} {name:?}");
    }
}

/// Matches by trying all possibilities, as a reference.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', behind)), rest) => {
            matches(behind, name) || rest.is_some_and(|(_, rest)| matches(pattern, rest))
        }
        (Some((wanted, behind)), Some((is, rest))) => {
            (*wanted == b'?' || wanted == is) && matches(behind, rest)
        }
        _ => false,
    }
}

/// Returns all words of up to `most` letters.
fn words(letters: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut words = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..most {
        let end = words.len();
        for at in start..end {
            words.extend(
                letters.iter().map(|&letter| [&words[at][..], &[letter]].concat()).collect::<Vec<_>>(),
            );
        }
        start = end;
    }
    words
}

#[test]
fn every_short_pattern_matches_as_the_reference_does() {
    let names = words(b"ab", 5);
    for pattern in words(b"a*?b", 5) {
        for name in &names {
            assert_eq!(wildmat(&pattern, name), matches(&pattern, name), "{pattern:?} {name:?}");
        }
    }
}

#[test]
fn hostile_patterns_take_bounded_time() {
    let name = vec![b'a'; 5000];
    let stars = "*a".repeat(500);
    assert!(wildmat(stars.as_bytes(), &name));
    assert!(!wildmat(format!("{stars}*b").as_bytes(), &name));
    assert!(!wildmat(format!("{}b", "*".repeat(5000)).as_bytes(), &name));
    assert!(!wildmat(format!("*{}b", "a".repeat(200)).as_bytes(), &name));
    assert!(wildmat(",".repeat(100_000).as_bytes(), b""));
}

/// A pseudo-random generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn bytes(&mut self, of: &[u8], most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| of[self.below(of.len())]).collect()
    }
}
