//! Gopher requests (RFC 1738 §3.4, docs/spec/semantics.md §4): the exact bytes of the three forms of a request; bytes
//! and ports that are rejected (docs/spec/faults.md, rows 5 to 8 and 19); the requests shown by `explain` and `-v`.

use super::{fetch_path, fetch_with_short_timeouts, start_server};
use crate::support::{RunResult, run_fetch_url, temp_dir};
use fetch_url_tests::{
    GopherAction, GopherAsk, GopherConfig, GopherForm, GopherItem, GopherRule, GopherServer, GopherTrigger,
    ServerCert,
};

/// The URL suffix of a filled form with two answers (RFC 1738 §3.4.9).
const FILLED_FORM: &str = "%09%09+%091%0D%0A+-1%0D%0Ared%0D%0A%0D%0A.%0D%0A";

/// A Gopher+ server with a form of two questions at `/ask`.
fn form_config() -> GopherConfig {
    let form = GopherForm::new().ask(GopherAsk::Ask, "Colour?").ask(GopherAsk::Ask, "Shape?").reply("thanks");
    GopherConfig::new().plus().item(GopherItem::text("/ask", "").form(form))
}

/// URL paths and the bytes of the request line.
const REQUEST_LINES: [(&str, &[u8]); 36] = [
    ("", b""),
    ("1", b""),
    ("0", b""),
    ("R", b""),
    ("9", b""),
    ("00/x", b"0/x"),
    ("11", b"1"),
    ("000", b"00"),
    ("0x", b"x"),
    ("0/x", b"/x"),
    ("0//x//", b"//x//"),
    ("1/a/../b/./c", b"/a/../b/./c"),
    ("1/%2e%2e/a", b"/../a"),
    ("0/a%2Fb", b"/a/b"),
    ("0/a%252Fb", b"/a%2Fb"),
    ("0/a%20b%20", b"/a b "),
    ("0/a?b=c&d", b"/a?b=c&d"),
    ("0/a%3Fb%23c", b"/a?b#c"),
    ("0/a#part", b"/a"),
    ("0/a;type=i", b"/a;type=i"),
    ("0/a+b", b"/a+b"),
    ("0user@host:70/x", b"user@host:70/x"),
    ("0/caf%C3%A9", b"/caf\xc3\xa9"),
    ("0/%E9%FF", b"/\xe9\xff"),
    ("0/a%01%1B%7Fb", b"/a\x01\x1b\x7fb"),
    ("%30/x", b"/x"),
    ("7/s", b"/s"),
    ("7/s%09", b"/s\t"),
    ("7/s%09two%20words", b"/s\ttwo words"),
    ("7/s%09a+b%26c", b"/s\ta+b&c"),
    ("1/m%09w", b"/m\tw"),
    ("7/s%09w%09", b"/s\tw\t"),
    ("7/s%09w%09+", b"/s\tw\t+"),
    ("0/a%09%09+", b"/a\t+"),
    ("0/a%09%09+text/plain%20En_US", b"/a\t+text/plain En_US"),
    ("9%09%09+", b"\t+"),
];

#[test]
fn request_line_contains_the_exact_bytes_of_the_selector() {
    let server = start_server(GopherConfig::new().answer("0x\r\n"));
    for (index, (path, line)) in REQUEST_LINES.iter().enumerate() {
        let result = fetch_path(&server, path, "-s");
        let all = server.requests();
        assert_eq!(all.len(), index + 1, "{path}: {:?} {}", server.received_text(), result.stderr);
        let expected = [*line, b"\r\n"].concat();
        assert!(all[index] == expected, "{path}: {} {}", all[index].escape_ascii(), result.stderr);
        result.assert_exit(0);
    }
}

/// A server that accepts the names gets a single request.
#[test]
fn attribute_request_contains_the_block_names_of_the_url() {
    let config = GopherConfig::new()
        .plus()
        .item(GopherItem::text("/a", "x").abstract_text(&["x"]))
        .item(GopherItem::menu("/m", &["/a"]));
    let rows = [
        ("0/a%09%09!", "/a\t!"),
        ("0/a%09%09!+ABSTRACT", "/a\t!+ABSTRACT"),
        ("0/a%09%09!+ABSTRACT+SMELL", "/a\t!+ABSTRACT+SMELL"),
        ("0/a%09%09!+ABSTRACT%20+SMELL", "/a\t!+ABSTRACT +SMELL"),
        ("1/m%09%09$", "/m\t$"),
        ("1/m%09%09$+VIEWS", "/m\t$+VIEWS"),
        ("1%09%09$", "\t$"),
    ];
    for (path, line) in rows {
        let server = start_server(config.clone());
        fetch_path(&server, path, "").assert_exit(0);
        assert_eq!(server.received_text(), [format!("{line}\r\n")], "{path}");
    }
}

#[test]
fn empty_path_requests_the_root_menu() {
    let server = start_server(GopherConfig::new().item(GopherItem::text("/a", "")));
    let bare = server.url("");
    let bare = bare.trim_end_matches('/');
    for url in
        [bare.to_owned(), format!("{bare}/"), format!("{bare}/1"), bare.replacen("gopher", "GOPHER", 1)]
    {
        let text = run_fetch_url([&url]).assert_exit(0).stdout_text();
        assert!(text.contains("0/a"), "{url}: {text}");
    }
    assert_eq!(server.received_text(), ["\r\n"; 4]);
}

/// The Gopher+ attributes of the item are requested first, to check that it has a form.
#[test]
fn filled_form_in_url_is_sent_after_the_form_was_requested() {
    let server = start_server(form_config());
    let result = fetch_path(&server, &format!("0/ask{FILLED_FORM}"), "");
    assert_eq!(result.assert_exit(0).stdout_text(), "thanks");
    assert_eq!(server.received_text(), ["/ask\t!\r\n", "/ask\t+\t1\r\n+-1\r\nred\r\n\r\n.\r\n"]);
    assert_eq!(server.form_answers(), [[b"red".to_vec(), b"".to_vec()]]);
    // A form together with a view.
    let server = start_server(form_config());
    let view = FILLED_FORM.replacen("%09+%09", "%09+text/plain%09", 1);
    fetch_path(&server, &format!("0/ask{view}"), "").assert_exit(0);
    assert_eq!(server.received_text()[1], "/ask\t+text/plain\t1\r\n+-1\r\nred\r\n\r\n.\r\n");
}

/// To a server of another protocol the lines of a form could be commands.
#[test]
fn filled_form_is_not_sent_to_an_item_without_form() {
    let other = GopherItem::text("/ask", "no form here");
    let rows = [
        ("no Gopher+", GopherConfig::new().item(other.clone())),
        ("no form", GopherConfig::new().plus().item(other)),
        ("no item", GopherConfig::new().plus()),
        ("220 at once", GopherConfig::new().answer("220 mail.example ESMTP\r\n")),
        ("nothing", GopherConfig::new().answer("")),
    ];
    for (case, config) in rows {
        let server = start_server(config);
        let result = fetch_path(&server, &format!("0/ask{FILLED_FORM}"), "");
        assert!([78, 8, 52].contains(&result.exit) && result.stdout.is_empty(), "{case}: {result:?}");
        assert_eq!(server.received_text(), ["/ask\t!\r\n"], "{case}");
    }
}

/// docs/spec/faults.md, rows 5 to 7: in every part of the URL and in options; `explain` rejects them, too.
#[test]
fn cr_lf_nul_and_tab_in_a_request_are_rejected() {
    let server = start_server(GopherConfig::new().answer("0x\r\n"));
    let bytes = [("%0D", "CR"), ("%0A", "LF"), ("%00", "NUL"), ("%0d%0a", "CR"), ("%0D%0AQUIT%0D%0A", "CR")];
    let templates =
        ["0/a{}b", "0{}", "7/s%09w{}", "0/a%09%09+{}", "0/a%09%09+text/plain{}x", "0/a%09%09!{}", "8me{}"];
    for (template, (byte, name)) in templates.iter().flat_map(|template| bytes.map(|byte| (template, byte))) {
        let path = template.replace("{}", byte);
        fetch_path(&server, &path, "").assert_exit(93).assert_stderr_contains(name);
        run_fetch_url(["explain", &server.url(&path)]).assert_exit(93).assert_stderr_contains(name);
    }
    // TAB is allowed in two positions only.
    for path in ["7/s%09a%09+%09b", "7/s%09a%09%09b", "0/a%09%09+%091", "0/a%09%09!%09x"] {
        fetch_path(&server, path, "").assert_exit(93).assert_stderr_contains("TAB");
    }
    for view in ["text/plain\r\nQUIT", "a\tb", "a\nb"] {
        let result = run_fetch_url(["--view", view, &server.url("0/a")]);
        assert!([2, 93].contains(&result.exit), "{view:?}: {result:?}");
    }
    // Unescaped control characters are not valid in a URL.
    for raw in ["0/a\tb", "0/a\r\nb", "0/a\nb", "0/a\u{7f}b"] {
        fetch_path(&server, "", "").assert_exit(0);
        run_fetch_url([server.url(raw)]).assert_exit(3);
    }
    assert_eq!(server.received_text(), ["\r\n"; 4]);
}

/// Form data must be exactly one block with its terminator.
#[test]
fn malformed_form_data_is_rejected() {
    let server = start_server(form_config());
    for data in [
        "%0D%0A+-1%0D%0Ared%0D%0A%0D%0A.%0D%0AQUIT%0D%0A",
        "%0D%0A+-1%0D%0Ared%0D%0A",
        "%0D%0AQUIT%0D%0A",
        "%0D%0A+-1%0D%0Ared%00%0D%0A.%0D%0A",
        "%0D%0A+-1%0D%0Aa%0Db%0D%0A.%0D%0A",
        "%0D%0A+-1%0D%0A.%0D%0Ared%0D%0A.%0D%0A",
        "%0D%0A",
    ] {
        let path = format!("0/ask%09%09+%091{data}");
        fetch_path(&server, &path, "").assert_exit(93);
        run_fetch_url(["explain", &server.url(&path)]).assert_exit(93);
    }
    assert_eq!(server.connections(), 0);
}

/// docs/spec/faults.md, row 19: ports of other protocols are refused.
#[test]
fn ports_of_other_services_are_rejected_without_allow_port() {
    for port in [1, 7, 22, 25, 80, 110, 143, 443, 587, 1023, 2049, 6000, 6667] {
        for scheme in ["gopher", "gophers"] {
            let url = format!("{scheme}://127.0.0.1:{port}/0a");
            run_fetch_url([&url]).assert_exit(90).assert_stderr_contains(&port.to_string());
        }
    }
    // With `--allow-port` fetch-url connects; the port is closed.
    run_fetch_url(["--allow-port", "1", "gopher://127.0.0.1:1/0a"]).assert_exit(7);
}

#[test]
fn explain_lists_the_request_lines_that_are_sent() {
    let server = start_server(form_config().item(GopherItem::search("/s", |_| b"0x\t\th\t70\r\n".to_vec())));
    for path in ["00/x", "7/s%09two%20words", "7/s%09w%09+", "0/ask%09%09!+ASK", "0/ask%09%09+", ""] {
        let before = server.received_text().len();
        let explained = run_fetch_url(["explain", "--json", &server.url(path)]).assert_exit(0).stdout_text();
        let value: serde_json::Value = serde_json::from_str(&explained).expect("valid JSON");
        assert_eq!(value["standing"], "built_in", "{explained}");
        fetch_path(&server, path, "");
        let sent = server.received_text()[before..].concat();
        let shown = |line: &str| {
            if line.is_empty() { "(an empty line)".to_owned() } else { line.replace('\t', "\\t") }
        };
        let sent: Vec<String> = sent.split_terminator("\r\n").map(shown).collect();
        assert_eq!(value["commands"], serde_json::json!(sent), "{path}: {explained}");
        let text = run_fetch_url(["explain", &server.url(path)]).assert_exit(0).stdout_text();
        assert!(sent.iter().all(|line| text.contains(&format!("    {line}\n"))), "{path}: {text}");
    }
    // For a form, the attribute request is listed; the answers are part of the URL.
    let text =
        run_fetch_url(["explain", &server.url(&format!("0/ask{FILLED_FORM}"))]).assert_exit(0).stdout_text();
    assert!(text.contains("    /ask\\t!\n    (then the filled form"), "{text}");
    // URLs that need no server are marked so, and control characters are escaped.
    for path in ["8me", "Tme", "2book", "hURL:http://h.example/"] {
        let text = run_fetch_url(["explain", &server.url(path)]).assert_exit(0).stdout_text();
        assert!(text.contains("(no request: "), "{path}: {text}");
    }
    let text = run_fetch_url(["explain", &server.url("0/%1B%5B2J")]).assert_exit(0).stdout_text();
    assert!(!text.contains('\u{1b}') && text.contains("    /\\x1B[2J\n"), "{text}");
}

/// Returns the lines of `-v` output that show sent data.
fn sent_lines(result: &RunResult) -> Vec<String> {
    result.stderr.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}

#[test]
fn verbose_log_shows_the_request_lines_that_are_sent() {
    let server = start_server(form_config());
    for (path, lines) in [
        ("00/x", &["0/x"][..]),
        ("7/s%09w%09+", &["/s\\tw\\t+"]),
        ("0/%1B%5B2J%E9", &["/\\x1B[2J\\xE9"]),
        ("0/ask%09%09!", &["/ask\\t!"]),
    ] {
        let result = fetch_path(&server, path, "-v");
        assert_eq!(sent_lines(&result), lines, "{path}: {}", result.stderr);
    }
    // If the server rejects block names, a second request is sent and shown.
    let server = start_server(GopherConfig::new().item(GopherItem::text("/a", "x")));
    let result = fetch_path(&server, "0/a%09%09!+ABSTRACT", "-v");
    let sent: Vec<String> =
        server.received_text().iter().map(|line| line.trim_end().replace('\t', "\\t")).collect();
    assert_eq!(sent_lines(&result), sent, "{}", result.stderr);
}

/// The wire trace shows neither the answers of a sent form nor those of a form that was not sent.
#[test]
fn verbose_log_does_not_show_form_answers() {
    for config in [form_config(), GopherConfig::new().plus().item(GopherItem::text("/ask", ""))] {
        let server = start_server(config);
        let result = fetch_path(&server, &format!("0/ask{FILLED_FORM}"), "-v");
        let (notes, lines): (Vec<_>, Vec<_>) =
            sent_lines(&result).into_iter().partition(|line| line.starts_with('('));
        assert_eq!(lines, ["/ask\\t!"], "{}", result.stderr);
        assert!(notes.len() == 1 && notes[0].contains("form"), "{notes:?}");
    }
}

#[test]
fn options_that_gopher_does_not_support_are_rejected() {
    let server = start_server(GopherConfig::new().item(GopherItem::binary("/b", "0123456789")));
    for (options, exit) in [
        ("-r 2-4", 33),
        ("--proto =http", 90),
        ("--proto -gopher", 90),
        ("--max-filesize 3", 63),
        ("--view", 2),
    ] {
        let result = fetch_path(&server, "9/b", options);
        assert_eq!(result.exit, exit, "{options}: {result:?}");
    }
    for (options, path) in [("--view a/b", "9/b%09%09!"), ("--form x", "9/b"), ("--gopher-dots some", "0/b")]
    {
        fetch_path(&server, path, options).assert_exit(2);
    }
}

/// Gopher has no ranges: several connections would fetch the whole item several times.
#[test]
fn segments_and_resume_fetch_the_whole_item_once() {
    let dir = temp_dir();
    let server = start_server(GopherConfig::new().plus().item(GopherItem::pattern("/b", 5 << 20)));
    let path = dir.path().join("b");
    fetch_path(&server, "9/b%09%09+", &format!("--segments 4 -o {}", path.display())).assert_exit(0);
    assert!(std::fs::read(&path).expect("read file") == fetch_url_tests::pattern_vec(0, 5 << 20));
    assert_eq!(server.received_text(), ["/b\t+\r\n"]);
    // With `-C -` an existing file is replaced or kept, never continued.
    std::fs::write(dir.path().join("c"), "old").expect("write file");
    fetch_path(&server, "9/b", &format!("-C - -o {}", dir.path().join("c").display()));
    let content = std::fs::read(dir.path().join("c")).expect("read file");
    assert!(content == b"old" || content.len() == 5 << 20, "{}", content.len());
}

#[test]
fn gophers_requires_a_valid_certificate_and_never_falls_back_to_clear_text() {
    let cert = ServerCert::good().expect("create certificate");
    let files = cert.write_files().expect("write certificate files");
    let ca = format!("--cacert {}", files.ca.display());
    let config = GopherConfig::new().item(GopherItem::text("/t", "in secret\r\n"));
    let server = GopherServer::start_tls(config.clone(), &cert).expect("start server");
    assert_eq!(fetch_path(&server, "0/t", &ca).assert_exit(0).stdout_text(), "in secret\r\n");
    assert_eq!(fetch_path(&server, "0/t", "-k").assert_exit(0).stdout_text(), "in secret\r\n");
    assert_eq!(server.received_text(), ["/t\r\n", "/t\r\n"]);
    fetch_path(&server, "0/t", "").assert_exit(60);
    assert!(server.received_text()[2..].iter().all(String::is_empty), "{:?}", server.received_text());
    for wrong in [ServerCert::expired(), ServerCert::wrong_name(), ServerCert::self_signed()] {
        let wrong = wrong.expect("create certificate");
        let server = GopherServer::start_tls(config.clone(), &wrong).expect("start server");
        fetch_path(&server, "0/t", &ca).assert_exit(60);
        assert!(server.received_text().iter().all(String::is_empty), "{:?}", server.received_text());
    }
    // A server without TLS receives no request.
    let plain = start_server(config);
    let result = run_fetch_url(["-k", &plain.url("0/t").replacen("gopher", "gophers", 1)]);
    assert!([35, 60].contains(&result.exit), "{result:?}");
    assert!(
        plain.received_text().iter().all(|request| !request.contains("/t")),
        "{:?}",
        plain.received_text()
    );
}

#[test]
fn busy_status_is_retried_with_the_same_request() {
    let busy = GopherAction::Answer(b"--1\r\n2 <a@b.example>\r\ntoo many\r\n.\r\n".to_vec());
    let config = GopherConfig::new().plus().item(GopherItem::text("/t", "now"));
    let config = config.rule(GopherRule::on(GopherTrigger::Any, busy).nth(1));
    fetch_path(&start_server(config.clone()), "0/t%09%09+", "--retry 0")
        .assert_exit(92)
        .assert_stderr_contains("too many");
    let server = start_server(config);
    assert_eq!(
        fetch_path(&server, "0/t%09%09+", "--retry 1 --retry-delay 0").assert_exit(0).stdout_text(),
        "now"
    );
    assert_eq!(server.received_text(), ["/t\t+\r\n"; 2]);
}

/// UMN gopherd reports that it is busy with an item of type 0, also in reply to a Gopher+ request.
#[test]
fn busy_umn_server_is_retried() {
    for path in ["0/t", "0/t%09%09+"] {
        let busy = b"0Too Many Users at this time, try again later\t\terror.host\t1\r\n".to_vec();
        let rule = || GopherRule::on(GopherTrigger::Any, GopherAction::Answer(busy.clone()));
        let site = || GopherConfig::new().item(GopherItem::text("/t", "now"));
        let server = start_server(site().rule(rule().nth(1)));
        let result = fetch_path(&server, path, "--retry 1 --retry-delay 0");
        let text = result.assert_exit(0).stdout_text();
        assert_eq!((text.trim_end(), server.requests().len()), ("now", 2));
        let result = fetch_path(&start_server(site().rule(rule())), path, "--retry 0");
        assert_eq!(result.assert_exit(92).assert_stderr_contains("Too Many Users").stdout_text(), "");
    }
}

/// Servers without Gopher+ answer an attribute request with an error.
#[test]
fn segments_option_sends_no_attribute_request() {
    let config = GopherConfig::new().item(GopherItem::binary("/f", "octets"));
    let no = GopherAction::Answer(b"3no\t\terror.host\t1\r\n".to_vec());
    let server = start_server(config.on(GopherTrigger::Matches(|line| line.contains(&b'\t')), no));
    assert_eq!(
        fetch_with_short_timeouts("--segments 4", &server.url("9/f")).assert_exit(0).stdout_text(),
        "octets"
    );
    assert_eq!(server.requests().len(), 1);
}
