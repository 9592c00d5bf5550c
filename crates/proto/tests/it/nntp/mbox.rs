//! Articles as entries of an mbox file, in pieces of any size.

use fetch_url_proto::nntp::MboxConverter;

const NOBODY: &str = "From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n";

/// Converts an article that arrives in these pieces.
fn entry<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    let mut mbox = MboxConverter::new();
    let mut entry: Vec<u8> = pieces.into_iter().flat_map(|piece| mbox.push(piece)).collect();
    entry.extend(mbox.finish());
    entry
}

/// Checks the entry of an article for every position at which the article is cut.
fn check(article: &[u8], expected: &str) {
    let article_text = String::from_utf8_lossy(article);
    let complete_entry = entry([article]);
    assert_eq!(String::from_utf8_lossy(&complete_entry), expected, "{article_text:?}");
    assert_eq!(entry(article.chunks(1)), complete_entry, "{article_text:?}");
    for at in 0..=article.len() {
        assert_eq!(entry([&article[..at], &article[at..]]), complete_entry, "{article_text:?} {at}");
    }
}

#[test]
fn article_becomes_an_mbox_entry() {
    check(
        b"Path: a!b\r\nFrom: Joe (the man) <joe@example.org>\r\nDate: Sun, 06 Nov 1994 09:49:37 +0100\r\n\
          Subject: x\r\n\r\nFrom here\r\n>From there\r\n From\r\nlast\r\n",
        "From joe@example.org Sun Nov  6 08:49:37 1994\nPath: a!b\nFrom: Joe (the man) <joe@example.org>\n\
         Date: Sun, 06 Nov 1994 09:49:37 +0100\nSubject: x\n\n>From here\n>>From there\n From\nlast\n\n",
    );
}

/// Bodies and their converted form.
const BODIES: [(&str, &str); 29] = [
    ("", ""),
    ("a", "a\n"),
    ("a\r\n", "a\n"),
    ("a\n", "a\n"),
    ("a\r\n\r\n", "a\n\n"),
    ("\r\n", "\n"),
    ("\r", "\r\n"),
    ("a\r", "a\r\n"),
    ("a\rb\r\r\nc", "a\rb\r\nc\n"),
    ("\r\r\r\n", "\r\r\n"),
    ("From ", ">From \n"),
    ("From", "From\n"),
    ("From\r\n", "From\n"),
    ("From\r", "From\r\n"),
    ("Fro\rm \r\n", "Fro\rm \n"),
    ("From \r\n", ">From \n"),
    ("From\t\r\n", "From\t\n"),
    ("from x\r\n", "from x\n"),
    ("FFrom x\r\n", "FFrom x\n"),
    (" From x\r\n", " From x\n"),
    ("> From x\r\n", "> From x\n"),
    (">>>From x\r\n", ">>>>From x\n"),
    (">F>From x\r\n", ">F>From x\n"),
    (">>>\r\n", ">>>\n"),
    (">", ">\n"),
    ("a\rFrom x\r\n", "a\rFrom x\n"),
    ("\rFrom x\r\n", "\rFrom x\n"),
    ("From x\nFrom y\n>From z", ">From x\n>From y\n>>From z\n"),
    ("\0\u{ff}\u{1f600}\r\n.\r\n", "\0\u{ff}\u{1f600}\n.\n"),
];

#[test]
fn from_lines_of_a_body_are_quoted_and_line_ends_converted() {
    for (body, expected) in BODIES {
        check(format!("X: y\r\n\r\n{body}").as_bytes(), &format!("{NOBODY}X: y\n\n{expected}\n"));
    }
}

#[test]
fn from_lines_of_a_header_are_quoted() {
    for (header, expected) in BODIES {
        check(header.as_bytes(), &format!("{NOBODY}{expected}\n"));
    }
    check(b"From joe Sun\r\nX: y\r\n\r\nb\r\n", &format!("{NOBODY}>From joe Sun\nX: y\n\nb\n\n"));
}

#[test]
fn from_line_has_the_address_of_the_from_field() {
    for (from, expected) in [
        ("joe@example.org", "joe@example.org"),
        ("joe@example.org (Joe)", "joe@example.org"),
        ("(Joe (the \\) man)) joe@example.org", "joe@example.org"),
        ("(5\" disks) joe@example.org (Joe)", "joe@example.org"),
        ("Joe <joe@example.org>", "joe@example.org"),
        ("<joe@example.org>", "joe@example.org"),
        ("\"Joe <jim@example.org>\" < joe@example.org >", "joe@example.org"),
        ("\"Joe \\\" <jim@example.org>\" <joe@example.org>", "joe@example.org"),
        ("\"(\" <joe@example.org>", "joe@example.org"),
        ("Joe (<jim@example.org>) <joe@example.org>", "joe@example.org"),
        ("Joe\r\n\t<joe@example.org>", "joe@example.org"),
        ("joe@example.org, jim@example.org", "joe@example.org"),
        ("Joe <joe@example.org>, jim@example.org", "joe@example.org"),
        ("\"a,b\"@example.org", "\"a,b\"@example.org"),
        ("decvax!ucbvax!joe (Joe)", "decvax!ucbvax!joe"),
        ("jö@example.org", "jö@example.org"),
        ("joe@example.org\r\nFrom: jim@example.org", "joe@example.org"),
        ("", "MAILER-DAEMON"),
        ("Joe", "MAILER-DAEMON"),
        ("Joe Bloggs", "MAILER-DAEMON"),
        ("Joe <>", "MAILER-DAEMON"),
        ("Joe <joe@example.org", "MAILER-DAEMON"),
        ("joe at@example.org", "MAILER-DAEMON"),
        ("\"joe bloggs\"@example.org", "MAILER-DAEMON"),
        ("<joe\t@example.org>", "MAILER-DAEMON"),
        ("<joe\u{7f}@example.org>", "MAILER-DAEMON"),
        ("<joe\u{1b}[31m@example.org>", "MAILER-DAEMON"),
        ("<joe\0@example.org>", "MAILER-DAEMON"),
        ("<joe\r@example.org>", "MAILER-DAEMON"),
        ("(joe@example.org", "MAILER-DAEMON"),
        ("\"joe@example.org", "\"joe@example.org"),
    ] {
        let text = entry([format!("From: {from}\r\n\r\n").as_bytes()]);
        let line = format!("From {expected} Thu Jan  1 00:00:00 1970\n");
        assert!(text.starts_with(line.as_bytes()), "{from:?}: {:?}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn from_line_has_the_date_in_utc() {
    for (date, expected) in [
        ("Thu, 1 Jan 1970 00:00:00 GMT", "Thu Jan  1 00:00:00 1970"),
        ("31 Dec 1969 23:59:59 GMT", "Wed Dec 31 23:59:59 1969"),
        ("29 Feb 2000 12:00 PST", "Tue Feb 29 20:00:00 2000"),
        ("Fri, 19-Nov-82 16:14:55 EST", "Fri Nov 19 21:14:55 1982"),
        ("1 Mar 0001 00:00 GMT", "Thu Mar  1 00:00:00 0001"),
        ("yesterday", "Thu Jan  1 00:00:00 1970"),
        ("", "Thu Jan  1 00:00:00 1970"),
    ] {
        let text = entry([format!("Date: {date}\r\n\r\n").as_bytes()]);
        let line = format!("From MAILER-DAEMON {expected}\n");
        assert!(text.starts_with(line.as_bytes()), "{date:?}: {:?}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn from_field_in_the_body_is_ignored() {
    check(b"X: y\r\n\r\nFrom: joe@example.org\r\n", &format!("{NOBODY}X: y\n\nFrom: joe@example.org\n\n"));
    check(b"\r\nFrom: joe@example.org\r\n", &format!("{NOBODY}\nFrom: joe@example.org\n\n"));
}

#[test]
fn several_articles_become_consecutive_entries() {
    let mut mbox = MboxConverter::new();
    let mut text = Vec::new();
    for article in ["From: a@b\r\n\r\nFrom", "From: c@d\r\nDate: 6 Nov 94 08:49 Z\r\n\r\n>", "", "X: y\r"] {
        text.extend(mbox.push(article.as_bytes()));
        text.extend(mbox.finish());
    }
    let expected = format!(
        "From a@b Thu Jan  1 00:00:00 1970\nFrom: a@b\n\nFrom\n\n\
         From c@d Sun Nov  6 08:49:00 1994\nFrom: c@d\nDate: 6 Nov 94 08:49 Z\n\n>\n\n{NOBODY}\n{NOBODY}X: y\r\n\n"
    );
    assert_eq!(String::from_utf8_lossy(&text), expected);
}

#[test]
fn header_is_buffered_until_it_ends() {
    let mut mbox = MboxConverter::new();
    assert_eq!(mbox.push(b"From: a@b\r\n\r"), b"");
    assert_eq!(mbox.push(b"\nbody"), b"From a@b Thu Jan  1 00:00:00 1970\nFrom: a@b\n\nbody");
    assert_eq!(mbox.push(b"\r\nFrom"), b"\n");
    assert_eq!(mbox.push(b" x"), b">From x");
    assert_eq!(mbox.finish(), b"\n\n");
}

#[test]
fn at_most_64_kib_of_a_header_are_buffered() {
    let header = [&b"From: a@b\r\nX: "[..], &[b'x'; 1 << 17], b"\r\nDate: 6 Nov 94 08:49 Z\r\n\r\n"].concat();
    let mut mbox = MboxConverter::new();
    for byte in &header[..(1 << 16) - 1] {
        assert_eq!(mbox.push(&[*byte]), b"");
    }
    let out = mbox.push(&header[(1 << 16) - 1..1 << 16]);
    let line = b"From a@b Thu Jan  1 00:00:00 1970\n";
    assert!(out.starts_with(line));
    // One CR LF becomes LF.
    assert_eq!(out.len(), line.len() + (1 << 16) - 1);
    let complete_entry = entry([&header[..]]);
    assert!(complete_entry.starts_with(&out));
    for cut in [(1 << 16) - 1, 1 << 16, (1 << 16) + 1] {
        assert_eq!(entry([&header[..cut], &header[cut..]]), complete_entry);
    }
}

#[test]
fn long_body_lines_are_not_buffered() {
    for byte in [b'>', b'x', b'F', b'\r', b'\xff', b'\0'] {
        let mut mbox = MboxConverter::new();
        mbox.push(b"\r\n");
        let piece = vec![byte; 1 << 20];
        let sent: Vec<usize> = (0..4).map(|_| mbox.push(&piece).len()).collect();
        assert!(sent.iter().all(|sent| sent.abs_diff(1 << 20) <= 5), "{byte}: {sent:?}");
        assert!(format!("{mbox:?}").len() < 200, "{mbox:?}");
    }
    let mut marks = vec![b'>'; 1 << 20];
    marks.extend(b"From x\r\n");
    let expected = [NOBODY.as_bytes(), b"\n>", &marks[..marks.len() - 2], b"\n\n"].concat();
    assert!(entry([&b"\r\n"[..], &marks]) == expected);
}

/// The expected entry, computed from the complete article.
fn quoted(article: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in article.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        let marks = line.iter().take_while(|&&byte| byte == b'>').count();
        if line[marks..].starts_with(b"From ") {
            text.push(b'>');
        }
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text.push(b'\n');
    text
}

#[test]
fn random_articles_are_quoted_as_the_reference_does() {
    let mut state = 5_u64;
    let mut below = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % most
    };
    let parts = ["From ", "From", "Fr", "o", ">", ">", "\r\n", "\n", "\r", " ", "x", "\0", "F"];
    let mut quotes = 0;
    for _ in 0..5000 {
        let article: String = (0..below(20)).map(|_| parts[below(parts.len())]).collect();
        let expected = [NOBODY.as_bytes(), &quoted(article.as_bytes())].concat();
        quotes += usize::from(expected.len() > NOBODY.len() + article.len() + 1);
        let (first, rest) = article.as_bytes().split_at(below(article.len() + 1));
        let (second, third) = rest.split_at(below(rest.len() + 1));
        assert_eq!(entry([first, second, third]), expected, "{first:?} {second:?} {third:?}");
    }
    assert!(quotes > 500, "{quotes}");
}
