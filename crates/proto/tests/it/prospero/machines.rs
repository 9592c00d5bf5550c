//! Prospero queries and responses: quoting, truncation and rejections.

use crate::prospero::transcript::{QueryKind, Random, check, events_of, lines, object, versioned};
use fetch_url_core::{Url, parse};
use fetch_url_proto::prospero::{ObjectId, Query};

/// After quoting, every name of bytes other than CR, LF and NUL is one token (section 5).
#[test]
fn random_name_is_one_token_after_quoting() {
    let mut random = Random(5);
    for round in 0..5000 {
        let mut name = random.bytes(if round % 2 == 0 { 6 } else { 60 });
        if round % 3 == 0 {
            name.iter_mut().for_each(|byte| *byte = b"' +/,\t\x0b\x0c''ab"[usize::from(*byte) % 12]);
        }
        name.retain(|byte| !b"\r\n\0".contains(byte));
        assert_request_lines(&name);
    }
    (0..=255_u8).filter(|byte| !b"\r\n\0".contains(byte)).for_each(|byte| assert_request_lines(&[byte]));
    for name in [&b""[..], b"'", b"''", b"'''", b"a'", b"'a", b"a' ASCII 'b", b" ", b"0", b"it's a file"] {
        assert_request_lines(name);
    }
}

fn assert_request_lines(name: &[u8]) {
    let prefix = [words(b"VERSION 5"), words(b"AUTHENTICATE . UNAUTHENTICATED anonymous")];
    let info = |wanted: &[u8]| {
        [
            &words(b"GET-OBJECT-INFO")[..],
            &[wanted.to_vec()],
            &words(b"ASCII"),
            &[name.to_vec(), b"0".to_vec()],
        ]
        .concat()
    };
    for (query, expected) in [
        (Query::AccessMethods, vec![info(b"ACCESS-METHOD+UNIX-MODES")]),
        (Query::Contents, vec![info(b"CONTENTS")]),
        (Query::All, vec![info(b"#ALL")]),
        (Query::Attributes(vec!["SIZE".into(), "LAST-MODIFIED".into()]), vec![info(b"SIZE+LAST-MODIFIED")]),
        (
            Query::Links,
            vec![
                [words(b"DIRECTORY ASCII"), vec![name.to_vec()]].concat(),
                words(b"LIST ATTRIBUTES COMPONENTS"),
            ],
        ),
    ] {
        let text = query.text(&object(name));
        let expected = [&prefix[..], &expected].concat();
        assert_eq!(lines(&text), Some(expected), "{}", text.escape_ascii());
        assert!(text.ends_with(b"\n") && !text.contains(&b'\r'));
        assert_eq!(query.lines(&object(name)).join(&b'\n'), text[..text.len() - 1]);
    }
}

/// Splits a line into words; `.` is an empty word.
fn words(line: &[u8]) -> Vec<Vec<u8>> {
    line.split(|&byte| byte == b' ')
        .map(|word| if word == b"." { Vec::new() } else { word.to_vec() })
        .collect()
}

#[test]
fn version_of_the_url_is_the_last_token() {
    for (url, version) in [
        ("prospero://h/n", "0"),
        ("prospero://h/n;VERSION=7", "7"),
        ("prospero://h/n;OBJECT-VERSION=7", "7"),
        ("prospero://h/n;version=7;x=y", "7"),
        ("prospero://h/n;VERSION=", "0"),
        ("prospero://h/n%007", "7"),
        ("prospero://h/n%00", "0"),
        ("prospero://h/n;VERSION=a'%20b", "a' b"),
        ("prospero://h/n;x=y", "0"),
    ] {
        let text = Query::AccessMethods.text(&versioned(url));
        let last = lines(&text).expect("lines").pop().expect("a line");
        assert_eq!(last[3..], [b"n".to_vec(), version.as_bytes().to_vec()], "{url}");
        let text = Query::Links.text(&versioned(url));
        let directory = lines(&text).expect("lines").swap_remove(2);
        let expected: &[&str] = if version == "0" { &["n"] } else { &["n", version] };
        assert_eq!(
            directory[2..],
            expected.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>(),
            "{url}"
        );
    }
}

/// docs/spec/faults.md, row 16: rejected before any datagram is sent.
#[test]
fn forbidden_bytes_are_rejected() {
    for byte in ["%0A", "%0D", "%0d%0a", "%00"] {
        for form in ["a*b;VERSION=3", "a;VERSION=3*", "a;x=y*z", "a;x*=y", "*", "a;VERSION=*"] {
            let text = format!("prospero://h/{}", form.replace('*', byte));
            let Url::Prospero(url) = parse(&text).expect("a URL").url else { panic!("{text}") };
            // In the name, a NUL starts a version.
            let is_name = byte == "%00" && matches!(form, "a*b;VERSION=3" | "*");
            assert_eq!(ObjectId::from_url(&url).is_ok(), is_name, "{text}");
        }
    }
}

/// Returns the bytes between apostrophes.
fn quoted(bytes: &[u8]) -> Vec<u8> {
    let inside = bytes.split(|&byte| byte == b'\'').collect::<Vec<_>>().join(&b"''"[..]);
    [b"'", &inside[..], b"'"].concat()
}

/// Quotes as dirsrv does: from the first byte that needs quotes.
fn late_quoted(bytes: &[u8]) -> Vec<u8> {
    let needs = |byte: &u8| b" \t\x0b\x0c\n\r/'+,".contains(byte);
    match bytes.iter().position(needs) {
        Some(at) => [&bytes[..at], &quoted(&bytes[at..])].concat(),
        None if bytes.is_empty() => b"''".to_vec(),
        None => bytes.to_vec(),
    }
}

fn contents(how: &str, bytes: &[u8]) -> Vec<u8> {
    [b"ATTRIBUTE OBJECT INTRINSIC CONTENTS ", how.as_bytes(), b" ", bytes, b"\n"].concat()
}

const FORMS: [&str; 5] = ["SEQUENCE DATA", "SEQUENCE TAGGED tag", "DATA", "TAGGED 'a tag'", "sequence data"];

#[test]
fn contents_with_every_byte_are_unchanged() {
    let all: Vec<u8> = (0..=255).collect();
    let body = |bytes: &[u8]| format!("head | body {} | done", bytes.escape_ascii());
    for form in FORMS {
        check(QueryKind::Contents, &contents(form, &quoted(&all)), &body(&all));
        check(QueryKind::Contents, &contents(form, &late_quoted(&all)), &body(&all));
        check(QueryKind::Contents, &contents(form, b"''"), "head | done");
    }
    for byte in 0..=255 {
        let bytes = [byte, byte, b'x', byte];
        check(QueryKind::Contents, &contents(FORMS[0], &quoted(&bytes)), &body(&bytes));
        check(QueryKind::Contents, &contents(FORMS[1], &late_quoted(&bytes)), &body(&bytes));
    }
    for bytes in [&b"'"[..], b"''", b"'''", b"a'", b"'a'", b"''a''", b"\n'\n", b"' '"] {
        check(QueryKind::Contents, &contents(FORMS[0], &quoted(bytes)), &body(bytes));
        check(QueryKind::Contents, &contents(FORMS[0], &late_quoted(bytes)), &body(bytes));
    }
}

#[test]
fn contents_of_300_000_bytes_are_unchanged() {
    let mut random = Random(9);
    let bytes: Vec<_> = (0..300_000).map(|_| random.next() as u8).collect();
    let text = contents(FORMS[0], &quoted(&bytes));
    let expected = ["head".to_owned(), format!("body {}", bytes.escape_ascii()), "done".to_owned()];
    assert!(events_of(QueryKind::Contents, &text, &|at| at % 1250 == 0) == expected);
    assert!(events_of(QueryKind::Contents, &text, &|_| false) == expected);
}

/// Truncated contents are an error: the answer is complete only with its line end.
#[test]
fn truncated_contents_are_an_error() {
    let text = contents(FORMS[0], b"'a''b\nc'");
    for end in 0..text.len() {
        let words = events_of(QueryKind::Contents, &text[..end], &|_| false);
        let last = words.last().map(String::as_str);
        // A response that is truncated before its data delivers no data. An apostrophe at the end may be the first of
        // two.
        assert!(!words.contains(&"body a\\'b\\nc".to_owned()) || last == Some("cut"), "{end}: {words:?}");
        assert!(
            last == Some("cut") || last == Some("unexpected") || words == ["refused", "done"],
            "{end}: {words:?}"
        );
    }
}

#[test]
fn contents_response_with_other_lines_is_parsed_or_rejected() {
    check(QueryKind::Contents, b"SUCCESS\nATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE '1 bytes'\nATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA x\nWARNING MESSAGE hm\n", "head | body x | done");
    check(QueryKind::Contents, b"", "refused | done");
    check(QueryKind::Contents, b"NONE-FOUND\n", "refused | done");
    check(QueryKind::Contents, b"failure NOT-FOUND 'no such'\n", "refused NOT-FOUND no such | done");
    check(QueryKind::Contents, b"ERROR what\n", "unexpected");
    for values in ["SEQUENCE DATA", "SEQUENCE DATA ", "SEQUENCE TAGGED t", "SEQUENCE OTHER x", "SEQUENCE", ""]
    {
        check(
            QueryKind::Contents,
            format!("ATTRIBUTE OBJECT INTRINSIC CONTENTS {values}\n").as_bytes(),
            "unexpected",
        );
    }
}

#[test]
fn forwarded_response_gives_the_other_server() {
    check(
        QueryKind::Attributes,
        b"FORWARDED INTERNET-D h.test(2525) ASCII '/a b' 3 DEST-EXP 0\n",
        "elsewhere INTERNET-D h.test(2525) /a b 3 | done",
    );
    check(
        QueryKind::Attributes,
        b"VERSION 5 x\nSUCCESS\nID REMOTE 4\nforwarded INTERNET-D h ASCII n 0\n",
        "elsewhere INTERNET-D h n 0 | done",
    );
    check(
        QueryKind::Attributes,
        b"LINK  L DIRECTORY d INTERNET-D h ASCII /d 0\nUNRESOLVED a 'b c'\n",
        "elsewhere INTERNET-D h /d/a/b c 0 | done",
    );
    check(QueryKind::Attributes, b"LINK L DIRECTORY c INTERNET-D g ASCII /c 0\nLINK L DIRECTORY d INTERNET-D h ASCII /d 0\nUNRESOLVED a\n", "elsewhere INTERNET-D h /d/a 0 | done");
    check(QueryKind::Attributes, b"UNRESOLVED a\n", "done");
    check(QueryKind::Attributes, b"NONE-FOUND", "done");
    check(QueryKind::Attributes, b"FORWARDED INTERNET-D h\n", "unexpected");
    check(QueryKind::Attributes, b"FAILURE NOT-AUTHORIZED", "refused NOT-AUTHORIZED | done");
    check(QueryKind::Attributes, b"ERROR ERROR Received empty", "unexpected");
    check(QueryKind::Attributes, b"ATTRIBUTE OBJECT INTRINSIC\n", "unexpected");
    check(QueryKind::Attributes, b"ATTRIBUTE OBJECT INTRINSIC UNIX-MODES SEQUENCE 'drwx\n", "cut");
    // Nested attributes (§7) and unknown lines are skipped, also with CR.
    check(QueryKind::Attributes, b">ATTRIBUTE OBJECT INTRINSIC UNIX-MODES SEQUENCE drwx\n> ATTRIBUTE OBJECT INTRINSIC UNIX-MODES SEQUENCE drwx\nNEW x\n\nSUCCESS\r\n\t\n", "done");
    check(QueryKind::Attributes, b"attribute object intrinsic unix-modes sequence drwxr-xr-x\nATTRIBUTE\tOBJECT  INTRINSIC SIZE SEQUENCE '26' bytes\n", "directory true | size 26 | done");
    check(QueryKind::Attributes, b"ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE LOCAL '' ''\n", "done");
}

#[test]
fn link_lines_become_entries() {
    const LINK: &str = "LINK  L FILE a INTERNET-D h.test ASCII /a 0\n";
    const ENTRY: &str = "entry file a prospero://h.test//a";
    // An empty response is not an answer; NONE-FOUND is one.
    check(QueryKind::Links, b"", "unexpected");
    check(QueryKind::Links, b"NEW x\n\n", "unexpected");
    check(QueryKind::Links, b"NONE-FOUND\n", "head | done");
    check(QueryKind::Links, LINK.as_bytes(), &format!("head | {ENTRY} | done"));
    check(QueryKind::Links, format!("{LINK}{LINK}").as_bytes(), &format!("head | {ENTRY} | {ENTRY} | done"));
    check(QueryKind::Links, b"FAILURE NOT-FOUND\n", "refused NOT-FOUND | done");
    check(QueryKind::Links, b"ERROR no\n", "unexpected");
    check(QueryKind::Links, b"LINK  L FILE a INTERNET-D\n", "unexpected");
    check(QueryKind::Links, b"LINK  L FILE 'a INTERNET-D h ASCII /a 0\n", "cut");
    check(QueryKind::Links, b"LINK  L FILE a INTERNET-D h@x ASCII /a 0\n", "head | entry file a - | done");
    check(QueryKind::Links, b"LINK  L FILE a INTERNET-D h ASCII '/a\n' 0\n", "head | entry file a - | done");
    check(QueryKind::Links, b"LINK  L EXTERNAL a INTERNET-D h ASCII /a 0\n", "head | entry link a - | done");
    check(
        QueryKind::Links,
        b"LINK  L EXTERNAL a INTERNET-D h ASCII /a 0\nATTRIBUTE CACHED FIELD ACCESS-METHOD NFS '' '' '' '' x\nATTRIBUTE CACHED FIELD ACCESS-METHOD AFTP '' '' '' '' TEXT\nATTRIBUTE CACHED FIELD ACCESS-METHOD GOPHER '' '' '' '' 0\n",
        "head | entry link a ftp://h/a;type=a | done",
    );
    check(
        QueryKind::Links,
        b"LINK  L EXTERNAL a INTERNET-D h ASCII /a 0\nATTRIBUTE CACHED FIELD ACCESS-METHOD LOCAL '' '' '' /etc/passwd\nATTRIBUTE CACHED FIELD ACCESS-METHOD URL '' '' '' file:///etc/passwd\n",
        "head | entry link a - | done",
    );
}

/// Without its LF, the last word of a line may be cut (rule 5.22): `hel` for `hello.txt`. A rejection has no LF.
#[test]
fn answer_that_ends_within_a_line_is_cut_unless_the_line_rejects_the_request() {
    let answers: [(QueryKind, &[u8]); 3] = [
        (
            QueryKind::Links,
            b"LINK  L FILE a INTERNET-D h.test ASCII /a 0\nLINK  L FILE b INTERNET-D h.test ASCII /b 12\n",
        ),
        (QueryKind::Attributes, b"ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE '26' bytes\n"),
        (QueryKind::Attributes, b"FORWARDED INTERNET-D other.test ASCII /moved/here 0\n"),
    ];
    for (query, text) in answers {
        let ends = |end: usize| end == 0 || text[end - 1] == b'\n';
        for end in (1..text.len()).filter(|&end| !ends(end)) {
            let words = events_of(query, &text[..end], &|_| false);
            let last = words.last().map(String::as_str);
            // The start of a keyword alone is no answer.
            let is_keyword = !text[..end].contains(&b'\n') && !text[..end].contains(&b' ');
            let expected = if is_keyword && last != Some("cut") { "unexpected" } else { "cut" };
            assert_eq!(last, Some(expected), "{}", text[..end].escape_ascii());
        }
    }
    for query in [QueryKind::Links, QueryKind::Attributes, QueryKind::Contents] {
        check(query, b"FAILURE NOT-FOUND", "refused NOT-FOUND | done");
        let words = events_of(query, b"VERSION-NOT-SUPPORTED TRY 1-5", &|_| false);
        assert!(words.iter().any(|word| word.starts_with("refused")), "{words:?}");
    }
}

/// Rule 7.36: the list lacks the links that the server could not follow.
#[test]
fn unresolved_line_in_a_listing_marks_its_end() {
    let link = |name: &str| format!("LINK  L FILE {name} INTERNET-D h.test ASCII /{name} 0\n");
    let entry = |name: &str| format!("entry file {name} prospero://h.test//{name}");
    let (a, b) = (entry("a"), entry("b"));
    for (text, expected) in [
        ("UNRESOLVED x\n".to_owned(), "head | note | unmarked | done".to_owned()),
        (link("a") + "UNRESOLVED x y\n", format!("head | note | {a} | unmarked | done")),
        (
            format!("{}UNRESOLVED x\n{}UNRESOLVED y\n", link("a"), link("b")),
            format!("head | note | {a} | note | {b} | unmarked | done"),
        ),
    ] {
        check(QueryKind::Links, text.as_bytes(), &expected);
    }
}

/// The first FAILURE ends the message: earlier entries are delivered, later lines are ignored.
#[test]
fn failure_within_a_listing_ends_it() {
    let text = b"LINK  L FILE a INTERNET-D h.test ASCII /a 0\nFAILURE SERVER-FAILED\n";
    let words = events_of(QueryKind::Links, text, &|_| false);
    let at = |word: &str| words.iter().position(|event| event.starts_with(word));
    assert!(at("refused").is_some() || words.last().is_some_and(|last| last == "unexpected"), "{words:?}");
    assert!(at("refused").is_none_or(|refused| at("entry").is_none_or(|entry| entry < refused)), "{words:?}");
}

#[test]
fn response_over_a_limit_is_rejected() {
    let long = |count: usize| [b"X ", &vec![b'x'; count][..], b"\n"].concat();
    let end = |ask, text: &[u8]| events_of(ask, text, &|at| at % 1250 == 0).pop();
    for ask in [QueryKind::Attributes, QueryKind::Links, QueryKind::Contents] {
        assert_eq!(end(ask, &long(10_000_000)).as_deref(), Some("limit"), "{ask:?}");
        assert_eq!(end(ask, &b"x ".repeat(100_000)).as_deref(), Some("limit"), "{ask:?}");
        assert_eq!(
            end(ask, &[b"'", &vec![b'\n'; 1_000_000][..]].concat()).as_deref(),
            Some("limit"),
            "{ask:?}"
        );
    }
    let attribute = b"ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 1\n".repeat(50_000);
    assert_eq!(end(QueryKind::Attributes, &attribute).as_deref(), Some("limit"));
    let link = [&b"LINK  L FILE a INTERNET-D h ASCII /a 0\n"[..], &attribute].concat();
    assert_eq!(end(QueryKind::Links, &link).as_deref(), Some("limit"));
    assert_eq!(end(QueryKind::Attributes, &b"SUCCESS\n".repeat(1_000_000)).as_deref(), Some("limit"));
}
