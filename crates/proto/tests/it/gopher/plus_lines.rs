//! Status lines, refusals, views and dates, line by line.

use bytes::Bytes;
use fetch_url_proto::gopher_plus::{Admin, ErrorResponse, Framing, MAX_STATUS_BYTES, Status, View, status};

#[test]
fn status_line_gives_error_flag_and_framing() {
    let length = |is_error, length| Some(Status { is_error, framing: Framing::Length(length) });
    for (line, expected) in [
        ("+40", length(false, 40)),
        ("+0", length(false, 0)),
        ("+0040 ", length(false, 40)),
        ("-12", length(true, 12)),
        ("-1", length(true, 1)),
        ("-2", length(true, 2)),
        ("+9999999999999999999", length(false, 9_999_999_999_999_999_999)),
        ("+10000000000000000000", None),
        ("+-1", Some(Status { is_error: false, framing: Framing::Dot })),
        ("+-2", Some(Status { is_error: false, framing: Framing::End })),
        ("--1", Some(Status { is_error: true, framing: Framing::Dot })),
        ("--2 ", Some(Status { is_error: true, framing: Framing::End })),
        ("+-3", None),
        ("+-0", None),
        ("+-12", None),
        ("+--1", None),
        ("++1", None),
        ("+", None),
        ("-", None),
        ("", None),
        (" ", None),
        (" +1", None),
        ("+1  ", None),
        ("+ 1", None),
        ("+1\t", None),
        ("+1\r", None),
        ("+12x", None),
        ("+1.", None),
        ("+0x10", None),
        ("+\u{661}", None),
        ("40", None),
        ("0About\t/about.txt\t127.0.0.1\t70\t+", None),
        ("+INFO: 1\t/\t127.0.0.1\t70", None),
        ("+Mirror\t/odd\t127.0.0.1\t70", None),
        ("-----", None),
    ] {
        assert_eq!(status(line.as_bytes()), expected, "{line:?}");
        assert!(expected.is_none() || line.len() <= MAX_STATUS_BYTES, "{line:?}");
    }
    let longest = format!("-{} ", "9".repeat(19));
    assert_eq!((longest.len(), status(longest.as_bytes()).is_some()), (MAX_STATUS_BYTES, true));
}

/// Body, code, administrator, and text lines joined by ` | `.
const REFUSALS: [(&str, Option<u32>, &str, &str); 24] = [
    (
        "1 Test Admin <admin@example.org>\r\n'/nope' does not exist (no handler found)\r\n",
        Some(1),
        "Test Admin <admin@example.org>",
        "'/nope' does not exist (no handler found)",
    ),
    (
        "7 R. Madeup <r@h>\r\nbad.\r\n\r\n very bad.\r\n.\r\n",
        Some(7),
        "R. Madeup <r@h>",
        "bad. |  |  very bad.",
    ),
    ("1 <a@h>", Some(1), "<a@h>", ""),
    ("1 a@h\nNo.", Some(1), "a@h", "No."),
    ("1 Not found: a@h\nNo.", Some(1), "", "Not found: a@h | No."),
    ("1 root <root>\nNo.", Some(1), "root <root>", "No."),
    ("1 No such view <text>", Some(1), "", "No such view <text>"),
    ("1 No <text> here\nSo it is.", Some(1), "", "No <text> here | So it is."),
    ("1 > no < mail\nNo.", Some(1), "", "> no < mail | No."),
    ("2 A <a@h> Too many of us.\nLater.", Some(2), "A <a@h>", "Too many of us. | Later."),
    ("2 Try again later", Some(2), "", "Try again later"),
    ("  12\nwords\n", Some(12), "", "words"),
    ("1\r\n", Some(1), "", ""),
    ("999999999", Some(999_999_999), "", ""),
    ("1000000000 x", None, "", "1000000000 x"),
    ("'/nope' does not exist", None, "", "'/nope' does not exist"),
    ("0'/nope' does not exist\n", None, "", "0'/nope' does not exist"),
    ("3'/nope' does not exist\t\terror.host\t1\r\n", None, "", "3'/nope' does not exist\t\terror.host\t1"),
    ("Ask A <a@h>\nNo.", None, "", "Ask A <a@h> | No."),
    ("-1 x", None, "", "-1 x"),
    ("", None, "", ""),
    (".\r\n", None, "", ""),
    ("\r\n \r\n1 x", Some(1), "", "x"),
    ("1 A <a@h>\n.\nb\n.\n", Some(1), "A <a@h>", ". | b"),
];

#[test]
fn error_body_gives_code_administrator_and_text() {
    for (body, code, admin, text) in REFUSALS {
        let refusal = ErrorResponse::parse(body.as_bytes());
        let lines: Vec<_> = refusal.text.iter().map(|line| String::from_utf8_lossy(line)).collect();
        let parsed = (refusal.code, &refusal.admin[..], lines.join(" | "));
        assert_eq!(parsed, (code, admin.as_bytes(), text.to_owned()), "{body:?}");
        assert_eq!(refusal.moved_to(), None, "{body:?}");
        let words = String::from_utf8(refusal.words()).unwrap_or_default();
        let expected: Vec<&str> = text.split(" | ").map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(words, expected.join(" "), "{body:?}");
        for length in 0..body.len() {
            let _ = ErrorResponse::parse(body.get(..length).unwrap_or(body).as_bytes());
        }
    }
}

#[test]
fn code_3_gives_the_new_item() {
    let item = "0New\t/new\th\t70\t+";
    for (body, expected) in [
        ("3 A <a@h>\r\n0New\t/new\th\t70\t+\r\n", Some(item)),
        ("3 A <a@h>\r\nIt has moved.\r\n+INFO: 0New\t/new\th\t70\t+\r\n.\r\n", Some(item)),
        ("3 0New\t/new\th\t70\t+", Some(item)),
        ("3\n0New\t/new\th\t70\t+", Some(item)),
        ("3 A <a@h> 0New\t/new\th\t70\t+", Some(item)),
        ("3 A <a@h>\r\nIt has moved.\r\n", None),
        ("1 A <a@h>\r\n0New\t/new\th\t70\t+\r\n", None),
        ("0New\t/new\th\t70\t+", None),
    ] {
        let refusal = ErrorResponse::parse(body.as_bytes());
        assert_eq!(refusal.moved_to(), expected.map(str::as_bytes), "{body:?}");
    }
}

#[test]
fn long_refusals_are_shortened() {
    let refusal = ErrorResponse::parse("1 A <a@h>\nwords and words\n".repeat(10_000).as_bytes());
    assert_eq!((refusal.text.len(), refusal.words().len()), (99, 1024));
    let refusal = ErrorResponse::parse("x".repeat(1_000_000).as_bytes());
    assert_eq!((refusal.text.first().map(Bytes::len), refusal.words().len()), (Some(64 * 1024), 1024));
}

#[test]
fn view_line_gives_type_language_and_size() {
    for (line, media_type, language, size) in [
        ("text/plain: <0k>", "text/plain", None, Some(0)),
        ("text/plain En_US: <10k>", "text/plain", Some("En_US"), Some(10_240)),
        ("Text/plain:", "Text/plain", None, None),
        ("application/gopher+-menu:", "application/gopher+-menu", None, None),
        ("application/octet-stream: <65536k>", "application/octet-stream", None, Some(67_108_864)),
        ("application/postscript: <.5k>", "application/postscript", None, Some(512)),
        ("application/postscript Es_ES:<.03k>", "application/postscript", Some("Es_ES"), Some(31)),
        ("text/plain: <1234b>", "text/plain", None, Some(1234)),
        ("text/plain: <1234>", "text/plain", None, Some(1234)),
        ("text/plain: < 2 M >", "text/plain", None, Some(2_097_152)),
        ("text/html: <.77KB>", "text/html", None, Some(788)),
        ("a: <1.5g>", "a", None, Some(1_610_612_736)),
        ("a: <0.5b>", "a", None, Some(1)),
        ("a: <0.4b>", "a", None, Some(0)),
        ("a: <2.>", "a", None, Some(2)),
        ("a: <999999999999999b>", "a", None, Some(999_999_999_999_999)),
        ("a: <1000000000000000b>", "a", None, None),
        ("a: <99999999999999G>", "a", None, None),
        ("a: <k>", "a", None, None),
        ("a: <.>", "a", None, None),
        ("a: <1.2.3k>", "a", None, None),
        ("a: <-1k>", "a", None, None),
        ("a: <1t>", "a", None, None),
        ("a: <1k", "a", None, None),
        ("a: <>", "a", None, None),
        ("a: 10k", "a", None, None),
        ("  text/plain   De_DE : <1k>", "text/plain", Some("De_DE"), Some(1024)),
        ("text/plain; charset=utf-8: <1k>", "text/plain; charset=utf-8", None, Some(1024)),
        ("text/plain;charset=utf-8 De_DE:", "text/plain;charset=utf-8", Some("De_DE"), None),
        ("text/plain charset=utf-8:", "text/plain charset=utf-8", None, None),
        ("text/plain ;x:", "text/plain ;x", None, None),
        ("text/plain ; x:", "text/plain ; x", None, None),
        ("text/plain", "text/plain", None, None),
        ("text/plain <1k>", "text/plain", None, Some(1024)),
    ] {
        let view = View::parse(line.as_bytes());
        let parsed = view.map(|view| (view.media_type, view.language, view.size));
        assert_eq!(parsed, Some((media_type.into(), language.map(Bytes::from), size)), "{line:?}");
    }
    for line in ["", "  ", ":", " : <1k>", "<1k>"] {
        assert_eq!(View::parse(line.as_bytes()), None, "{line:?}");
    }
}

#[test]
fn admin_block_gives_administrator_and_date() {
    const ADMIN: &str = "Admin: Test Admin <admin@example.org>";
    let modified = |date: &str| Admin::parse(&[Bytes::from(format!("Mod-Date: {date}"))]).modified;
    for (date, expected) in [
        ("Mon Aug  8 16:52:03 1994 <19940808165203>", Some(776_364_723)),
        ("<19940808165203>", Some(776_364_723)),
        ("< 19940808165203 > UTC", Some(776_364_723)),
        ("<x> Thu Jan  1 1970 <19700101000000>", Some(0)),
        ("<19691231235959>", Some(-1)),
        ("<19940229000000>", None),
        ("<19941301000000>", None),
        ("<19940808240000>", None),
        ("<1994080816520>", None),
        ("<199408081652030>", None),
        ("<19940808165203.5>", None),
        ("<+9940808165203>", None),
        ("19940808165203", None),
        ("<19940808165203", None),
        ("19940808165203>", None),
        ("<>", None),
        ("", None),
    ] {
        assert_eq!(modified(date), expected, "{date:?}");
    }
    let parse = |lines: &[&'static str]| {
        let admin = Admin::parse(&lines.iter().map(|line| Bytes::from(*line)).collect::<Vec<_>>());
        (admin.admin, admin.modified)
    };
    let admin = Some(Bytes::from("Test Admin <admin@example.org>"));
    assert_eq!(parse(&[ADMIN, "mod-date:<19700101000000>", "TTL: 3600"]), (admin.clone(), Some(0)));
    assert_eq!(parse(&["Site: Admin: x", "no colon", ADMIN, "Admin: y"]), (admin, None));
    assert_eq!(parse(&["Admin:  ", "Mod-Dates: <19700101000000>", "Mod-Date"]), (None, None));
    assert_eq!(parse(&["Mod-Date: <x>", "Mod-Date: <19700101000000>"]), (None, None));
}
