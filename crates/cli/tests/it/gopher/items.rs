//! Fetching gopher items by type (docs/spec/semantics.md §4; docs/spec/faults.md, rows 98, 100 and 102): unchanged
//! bytes of binary items, the framing of Gopher+ answers, server errors, advice for session items, and output files.

use super::{assert_output, fetch_path, server_sending, start_server};
use crate::support::{entry_names, read_text_file, run_fetch_url_in, temp_dir};
use fetch_url_tests::{
    Ending, GopherAction, GopherConfig, GopherItem, GopherLength, GopherServer, GopherTrigger, OldFile,
    ServerCert, Target,
};

/// Dots, menu lines and Gopher+ headers in the content of a binary item have no meaning.
#[test]
fn binary_items_are_delivered_unchanged() {
    let all: Vec<u8> = (0..=255).collect();
    for bytes in [
        &b"..a\r\n.b\r\n.\r\n"[..],
        b".\r\n",
        b"iinfo\tx\tx\t0\r\n.\r\n",
        b"+5\r\nabcde",
        b"a\nb\rc",
        b"\r\n.\r\n\r\n",
        &all,
    ] {
        let server = server_sending(bytes);
        for kind in "4569gIsdh:;<pPMc~".chars() {
            assert_output(&server, &format!("{kind}/x"), "", bytes);
        }
    }
    let result = fetch_path(&server_sending("x"), "9/x", "--require-complete");
    assert!(result.assert_exit(18).stdout.is_empty() || result.stdout_text() == "x", "{result:?}");
}

/// Bytes after the end of the frame are ignored.
#[test]
fn gopher_plus_framing_is_removed_from_the_body() {
    let rows: [(&str, &str, i32, &str); 16] = [
        ("9", "+5\r\nabcde", 0, "abcde"),
        ("9", "+5\r\nabcde.\r\n", 0, "abcde"),
        ("0", "+5\r\nabcde\r\n.\r\nmore", 0, "abcde"),
        ("0", "+6\r\n..a\r\n.", 0, "..a\r\n."),
        ("9", "+0\r\n", 0, ""),
        ("9", "+5\nabcde", 0, "abcde"),
        ("9", "+-2\r\nabc\r\n.\r\n", 0, "abc\r\n.\r\n"),
        ("0", "+-2\r\nabc", 0, "abc"),
        ("0", "+-1\r\nabc\r\n.\r\n", 0, "abc\r\n"),
        ("0", "+-1\r\n..abc\r\n.\r\n", 0, ".abc\r\n"),
        ("9", "+-1\r\nabc\r\n..\r\n.\r\n", 0, "abc\r\n.\r\n"),
        ("9", "+5\r\nabc", 18, ""),
        ("9", "+5\r\n", 18, ""),
        ("9", "--1\r\n1 <a@b.c>\r\nno such thing\r\n.\r\n", 78, ""),
        ("9", "--2\r\n2 <a@b.c>\r\ncome back later\r\n", 92, ""),
        ("9", "-38\r\n1 Me <me@h.example>\r\nnot to be found\r\nmore", 78, ""),
    ];
    for (kind, sent, exit, body) in rows {
        for path in ["/x%09%09+", "/x%09%09+text/plain", "/x%09w%09+"] {
            let server = server_sending(sent);
            let target = Target::new(OldFile::Present).expect("create temporary directory");
            let file = target.path();
            let result = fetch_path(&server, &format!("{kind}{path}"), &format!("-s -o {}", file.display()));
            result.assert_exit(exit);
            let content = target.content().expect("read target directory").unwrap_or_default();
            let expected = if exit == 0 { body.as_bytes() } else { OldFile::CONTENT };
            assert!(content == expected, "{sent:?} {path}: {}", content.escape_ascii());
        }
    }
    // A byte count proves completeness; the end of the connection does not.
    fetch_path(&server_sending("+5\r\nabcde"), "9/x%09%09+", "--require-complete").assert_exit(0);
    fetch_path(&server_sending("+-2\r\nabcde"), "9/x%09%09+", "--require-complete").assert_exit(18);
    fetch_path(&server_sending("+5000\r\nabcde"), "9/x%09%09+", "--max-filesize 100").assert_exit(63);
}

/// An answer to a Gopher+ request that does not start with a valid status line is delivered unchanged, with a note.
#[test]
fn answer_without_gopher_plus_status_is_the_object() {
    for sent in [
        "plain",
        "+plus\r\n",
        "5\r\nabcde",
        "+\r\n",
        "-\r\n",
        "+-3\r\n",
        "++5\r\nabcde",
        "+5 x\r\n",
        "-- signature\r\n",
    ] {
        let result = fetch_path(&server_sending(sent), "9/x%09%09+", "");
        assert_eq!(result.assert_exit(0).stdout_text(), sent);
        result.assert_stderr_contains("fetch-url: note: ").assert_stderr_contains("Gopher+");
        assert_output(&server_sending(sent), "9/x%09%09+", "-s", sent.as_bytes());
        assert_eq!(fetch_path(&server_sending(sent), "9/x%09%09+", "-s").stderr, "");
    }
}

/// Server errors of gopher (type 3 items) and of Gopher+ (`--` status); the message is sanitised.
#[test]
fn server_error_is_reported_and_leaves_the_file_untouched() {
    let line = "3'/x' is not here\tfake\t(NULL)\t0\r\n.\r\n";
    let hosted = "3'/x' is not here\t\terror.host\t1\r\n.\r\n";
    for (path, sent, exit, expected) in [
        ("1/x", line, 78, "'/x' is not here"),
        ("7/x%09w", line, 78, "'/x' is not here"),
        ("0/x", hosted, 78, "'/x' is not here"),
        ("9/x", hosted, 78, "'/x' is not here"),
        ("g/x", hosted.trim_end_matches(".\r\n"), 78, "'/x' is not here"),
        ("0/x", "0'/x' does not exist!!\t\terror.host\t1\r\n.\r\n", 78, "'/x' does not exist!!"),
        ("1/x", "0'/x' does not exist!!\t\terror.host\t1\r\n.\r\n", 78, "'/x' does not exist!!"),
        ("9/x", "3not found\tfake\t(NULL)\t0\r\n", 78, "not found"),
        ("0/x", "3not found\t\t\t\r\n", 78, "not found"),
        ("1/x", "3Access denied\t\terror.host\t1\r\n.\r\n", 9, "Access denied"),
        ("1/x", "3evil \u{1b}[2J\u{9b}\t\terror.host\t1\r\n.\r\n", 78, "evil \\x1B[2J"),
        ("0/x%09%09+", "--1\r\n1 Me <me@h>\r\ngone\r\nfor good\r\n.\r\n", 78, "gone for good"),
        ("0/x%09%09+", "--2\r\n1 Me <me@h>\r\nevil \u{1b}[2J\r\n", 78, "evil \\x1B[2J"),
    ] {
        let target = Target::new(OldFile::Present).expect("create temporary directory");
        let result = fetch_path(&server_sending(sent), path, &format!("-o {}", target.path().display()));
        result.assert_exit(exit).assert_stderr_contains(expected);
        assert!(
            target.is_untouched().expect("read target directory") && result.stderr.lines().count() == 1,
            "{sent:?}: {result:?}"
        );
        assert!(!result.stderr.contains(['\u{1b}', '\u{9b}']), "{:?}", result.stderr);
        let json = fetch_path(&server_sending(sent), path, "--format json");
        let value: serde_json::Value = serde_json::from_str(json.stderr.trim_end()).unwrap_or_default();
        assert_eq!(value["exit"], exit, "{json:?}");
        assert!(value["reply"].as_str().is_some_and(|reply| !reply.is_empty()), "{value}");
    }
    // A text that starts with 3, and an error item after another item, are content.
    for text in ["3 little pigs\r\n", "3\tcolumns\there\r\n", "3a\t\th\t1\r\nand more\r\n"] {
        assert_output(&server_sending(text), "0/x", "-s", text.as_bytes());
    }
    let text = fetch_path(&server_sending("0a\t/a\th\t70\r\n3oops\t\th\t1\r\n.\r\n"), "1/x", "")
        .assert_exit(0)
        .stdout_text();
    assert!(text.contains("oops") && text.contains("gopher://h/0/a"), "{text}");
    // An empty answer has no content.
    let result = fetch_path(&server_sending(""), "0/x%09%09+", "");
    assert!([52, 8, 0].contains(&result.exit) && result.stdout.is_empty(), "{result:?}");
}

/// Items of types 8, T and 2 name an interactive service: fetch-url prints how to reach it.
#[test]
fn session_item_prints_advice() {
    let server = server_sending("");
    let port = server.addr().port();
    for (path, expected) in [
        ("8", format!("telnet 127.0.0.1 {port}\n")),
        ("8me", "Log in as: me\n".to_owned()),
        ("Tme", format!("tn3270 127.0.0.1 {port}\n")),
        ("2book", format!("127.0.0.1 -p {port}\n")),
        ("8a%1B%5B2J%3Btouch%20x", "a\\x1B[2J;touch x\n".to_owned()),
    ] {
        let result = fetch_path(&server, path, "");
        assert!(result.assert_exit(0).stdout_text().contains(&expected), "{path}: {}", result.stdout_text());
        assert!(
            result.stdout_text().lines().all(|line| line.len() <= 80) && result.stderr.is_empty(),
            "{path}: {result:?}"
        );
        // docs/spec/cli.md: `--format` applies to advice, too.
        let text = fetch_path(&server, path, "--format json").assert_exit(0).stdout_text();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{path}: {text}");
    }
    assert_eq!(server.connections(), 0);
}

/// `h` items with a `URL:` selector obey the same options as HTTP redirects.
#[test]
fn url_selector_follows_redirect_policy() {
    let page = crate::support::echo_server();
    let server = server_sending("never asked");
    let link = |target: &str| format!("hURL:{target}");
    let there = page.url("/there?x=1");
    assert_output(&server, &link(&there), "", b"/there?x=1");
    fetch_path(&server, &link(&there), "--max-redirs 0").assert_exit(47);
    // A link has no content: without following it, the error names its target.
    assert!(
        fetch_path(&server, &link(&there), "--no-location")
            .assert_exit(78)
            .assert_stderr_contains(&there)
            .stdout
            .is_empty()
    );
    fetch_path(&server, &link("http://127.0.0.1:25/"), "").assert_exit(90);
    fetch_path(&server, &link(&there), "--proto-redir =https").assert_exit(90).assert_stderr_contains(&there);
    fetch_path(&server, &link("gopher://h.example/0/x"), "")
        .assert_exit(90)
        .assert_stderr_contains("gopher://h.example/0/x");
    for target in ["file:///etc/passwd", "telnet://h/", "mailto:a@h.example", "ftp://127.0.0.1/x"] {
        fetch_path(&server, &link(target), "").assert_exit(90);
        fetch_path(&server, &link(target), "--no-location").assert_exit(78).assert_stderr_contains(target);
    }
    // A link to the same server is allowed: the server could send that content directly.
    assert_output(&server, &link(&server.url("9/x")), "", b"never asked");
    assert_eq!((server.received_text(), page.requests().len()), (vec!["/x\r\n".to_owned()], 1));
    // Only the selector makes a link; the content of an HTML item is not examined.
    assert_output(&server_sending("<a href=URL:x>"), "h/page.html", "", b"<a href=URL:x>");
}

#[test]
fn remote_name_is_the_sanitised_last_selector_segment() {
    for (path, name) in [
        ("0/dir/a%20b.txt", Some("a b.txt")),
        ("9a.gif", Some("a.gif")),
        ("0/dir/a.txt%09%09+", Some("a.txt")),
        ("7/find%09words", Some("find")),
        ("0/..%2F..%2Fetc%2Fpasswd", Some("passwd")),
        ("0/x/..%5C..%5Cboot.ini", Some("boot.ini")),
        ("0/.bashrc", Some("_bashrc")),
        ("0/-rf", Some("_rf")),
        ("0/a%1B%5B2Jb", Some("a_[2Jb")),
        ("0/CON", Some("_CON")),
        ("0/a;type=i", Some("a;type=i")),
        ("", None),
        ("1/", None),
        ("0/..", None),
        ("0/dir/", None),
    ] {
        let dir = temp_dir();
        let server = server_sending("0a\t/a\th.example\t70\r\n.\r\n");
        let result = run_fetch_url_in(dir.path(), ["-O", &server.url(path)]);
        assert_eq!(result.exit, if name.is_some() { 0 } else { 2 }, "{path}: {}", result.stderr);
        assert_eq!(entry_names(dir.path()), name.into_iter().collect::<Vec<_>>(), "{path}");
    }
    let dir = temp_dir();
    let server = start_server(
        GopherConfig::new().item(GopherItem::text("/a", "a\r\n")).item(GopherItem::binary("/b", "b")),
    );
    run_fetch_url_in(
        dir.path(),
        ["--remote-name-all", "--output-dir", "new", "--create-dirs", &server.url("0/a"), &server.url("9/b")],
    )
    .assert_exit(0);
    assert_eq!(
        (read_text_file(&dir.path().join("new"), "a"), read_text_file(&dir.path().join("new"), "b")),
        ("a\r\n".to_owned(), "b".to_owned())
    );
}

#[test]
fn failed_fetch_leaves_existing_file_untouched() {
    let cut =
        |kind: char| GopherItem::new(kind, "/x", "0a\t/a\th\t70\r\n".repeat(500)).length(GopherLength::Known);
    for (case, config, path, exit) in [
        ("missing item", GopherConfig::new(), "0/x", 78),
        ("connection reset", GopherConfig::new().item(cut('9')).cut(3000, Ending::Reset), "9/x", 18),
        (
            "body shorter than its length",
            GopherConfig::new().plus().item(cut('9')).cut(3000, Ending::Close),
            "9/x%09%09+",
            18,
        ),
        (
            "menu with connection reset",
            GopherConfig::new().item(cut('1')).cut(3000, Ending::Reset),
            "1/x",
            18,
        ),
        ("too large", GopherConfig::new().item(cut('9')), "9/x --max-filesize 1000", 63),
        ("no proof of completeness", GopherConfig::new().item(cut('9')), "9/x --require-complete", 18),
        (
            "stalled connection",
            GopherConfig::new().item(cut('9')).cut(3000, Ending::Stall(std::time::Duration::from_secs(15))),
            "9/x --read-timeout 0.4",
            28,
        ),
        ("form answer without form", GopherConfig::new().plus().item(cut('0')), "0/x --form 1=x", 78),
    ] {
        let server = start_server(config);
        for before in OldFile::ALL {
            let target = Target::new(before).expect("create temporary directory");
            let (path, options) = path.split_once(' ').unwrap_or((path, ""));
            let result = fetch_path(&server, path, &format!("{options} -o {}", target.path().display()));
            assert_eq!(result.exit, exit, "{case}: {}", result.stderr);
            assert!(target.is_untouched().expect("read target directory"), "{case} {before:?}");
            assert!(
                target.leftovers().expect("read target directory").is_empty(),
                "{case} {before:?}: unexpected leftover file"
            );
        }
    }
}

/// docs/spec/faults.md, row 102: without close_notify the end of the connection may be an attack. It is accepted if a
/// terminator or byte count proves the end, or with `--allow-tls-truncation`.
#[test]
fn missing_tls_close_notify_fails_unless_the_end_is_proven() {
    let cert = ServerCert::good().expect("create certificate");
    let files = cert.write_files().expect("write certificate files");
    let config = GopherConfig::new()
        .plus()
        .item(GopherItem::text("/t", "text"))
        .item(GopherItem::binary("/b", "octets"));
    let config = config.item(GopherItem::menu("/m", &["/t"]));
    let server_ending_with = |ending| {
        let config = config.clone().on(GopherTrigger::Any, GopherAction::End(ending));
        GopherServer::start_tls(config, &cert).expect("start server")
    };
    let (open, closed) = (server_ending_with(Ending::Fin), server_ending_with(Ending::Close));
    for (path, exit, body) in [
        ("9/b", 18, "octets"),
        ("0/t", 0, "text\r\n"),
        ("1/m", 0, "text      t\n"),
        ("9/b%09%09+", 0, "octets"),
        ("0/t%09%09!", 0, "text/plain"),
    ] {
        let options = format!("-s --cacert {}", files.ca.display());
        fetch_path(&open, path, &options).assert_exit(exit);
        for (server, more) in [(&open, " --allow-tls-truncation"), (&closed, "")] {
            let result = fetch_path(server, path, &format!("{options}{more}"));
            assert!(
                result.assert_exit(0).stdout_text().contains(body),
                "{path}{more}: {}",
                result.stdout_text()
            );
        }
    }
    fetch_path(
        &open,
        "9/b",
        &format!("--cacert {} --allow-tls-truncation --require-complete", files.ca.display()),
    )
    .assert_exit(18);
}
