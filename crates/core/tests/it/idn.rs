//! Non-ASCII host names: an error with a hint or, with the feature `idn`, converted to their xn-- form.

use fetch_url_core::{Dialect, ParseErrorKind, parse, parse_with};

#[test]
fn strict_dialects_reject_non_ascii_names() {
    for dialect in [Dialect::Rfc1738, Dialect::Cern1993] {
        let error = parse_with("http://bücher.example/", dialect).expect_err("not ASCII");
        assert_eq!((error.kind(), error.span()), (ParseErrorKind::NonAsciiHost, 7..22));
    }
}

#[test]
fn non_ascii_digits_do_not_become_an_address() {
    for host in [
        "１２７.0.0.1",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "127．0．0．1",
        "０x7f000001",
        "２１３０７０６４３３",
        "127.0.0.¹",
    ] {
        let text = format!("http://{host}/");
        let error = parse(&text).expect_err("not an address");
        assert_eq!(error.kind(), ParseErrorKind::NonAsciiHost, "{text}");
    }
}

#[test]
fn characters_that_map_to_delimiters_are_rejected() {
    for host in [
        "a／b.example",
        "a＠b.example",
        "a：80",
        "a？b",
        "a＃b",
        "a％2fb",
        "é%00.example",
        "é_\u{200b} .example",
    ] {
        let text = format!("http://{host}/");
        assert!(parse(&text).is_err(), "{text}: {:?}", parse(&text));
    }
}

#[cfg(feature = "idn")]
#[test]
fn name_is_converted_to_its_ascii_form_with_a_note() {
    for (host, ascii) in [
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("faß.example", "xn--fa-hia.example"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
    ] {
        let text = format!("ftp://u:p@{host}:2121/a");
        let parsed = parse(&text).expect("a name");
        assert_eq!(parsed.url.to_string(), format!("ftp://u:p@{ascii}:2121/a"));
        assert_eq!(parsed.notes.iter().map(|note| note.kind().code()).collect::<Vec<_>>(), ["idn"]);
        assert_eq!(&text[parsed.notes[0].span()], host);
    }
}

#[cfg(feature = "idn")]
#[test]
fn final_dot_of_a_converted_name_is_kept() {
    let parsed = parse("http://é.test.:81/").expect("a name");
    assert_eq!(parsed.url.to_string(), "http://xn--9ca.test.:81/");
    let notes: Vec<_> = parsed.notes.iter().map(|note| note.kind().code()).collect();
    assert_eq!(notes, ["idn", "trailing_dot"]);
    for text in ["http://é../", "http://é.。/", "http://./"] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[cfg(not(feature = "idn"))]
#[test]
fn error_has_a_hint_without_the_feature() {
    let error = parse("http://bücher.example/").expect_err("not ASCII");
    assert_eq!(error.kind(), ParseErrorKind::NonAsciiHost);
    assert!(error.hint().is_some_and(|hint| hint.contains("xn--")));
}
