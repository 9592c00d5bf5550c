//! The gopher column of the fault matrix (docs/spec/faults.md, section 3): every fault of [`GOPHER_FAULTS`] and
//! [`GOPHER_PLUS_FAULTS`], with and without TLS, with and without an older file at the output path; then rejected
//! URLs, redirects, forms, retries and signals.

use std::time::Duration;

use super::{run_to_file, start_server};
use crate::support::fault_checks::is_terminal_control;
use crate::support::fault_runner::{FaultRunner, THREADS};
use crate::support::{check_in_parallel, ensure, run_fetch_url, temp_dir};
use fetch_url_tests::{
    Ending, FaultCase, FaultResult, GOPHER_FAULTS, GOPHER_PLUS_FAULTS, GopherAction, GopherAsk, GopherConfig,
    GopherFault, GopherForm, GopherItem, GopherRule, GopherServer, HttpResponse, OldFile, ReservedPort,
    Target, Transport,
};
use serde_json::Value;

#[test]
fn every_plain_gopher_fault_ends_as_in_the_fault_matrix() {
    FaultRunner::new::<GopherServer>().check_table(GOPHER_FAULTS, |_, _| Ok(()));
}

#[test]
fn every_gopher_plus_fault_ends_as_in_the_fault_matrix() {
    FaultRunner::new::<GopherServer>().check_table(GOPHER_PLUS_FAULTS, |_, _| Ok(()));
}

/// A failed gopher transfer leaves no `.part` file, so the next run starts from the beginning.
#[test]
fn run_after_truncated_transfer_downloads_the_whole_file() {
    let names = ["reset_512", "stall_700", "text_reset_512", "plus_short_512", "plus_stall_512", "dot_reset"];
    FaultRunner::new::<GopherServer>().check_restart(GopherFault::all(), &names);
}

#[test]
fn closed_port_exits_7() {
    let port = ReservedPort::tcp().expect("a port");
    for path in ["9/a", "1", "0/t%09%09+", "9/a%09%09!"] {
        for (scheme, before) in
            ["gopher", "gophers"].iter().flat_map(|scheme| OldFile::ALL.map(|before| (scheme, before)))
        {
            let url = format!("{scheme}://{}/{path}", port.addr());
            run_to_file(before, &[&url]).0.assert_exit(7);
        }
    }
}

/// docs/spec/faults.md, rows 5 to 7 and 19, and item types that cannot be fetched: no connection is opened.
#[test]
fn forbidden_url_is_rejected_without_connection() {
    let server = start_server(GopherConfig::new());
    let rows = [
        ("0/a%0D%0AQUIT", 93),
        ("0/a%0AQUIT", 93),
        ("0/a%0D", 93),
        ("0/a%00b", 93),
        ("7/s%09x%0D%0AQUIT", 93),
        ("7/s%09x%00", 93),
        ("9/a%09%09+%0D%0AQUIT", 93),
        ("9/a%09%09+text/plain%0AQUIT", 93),
        ("9/a%09%09!+A%0D%0AQUIT", 93),
        ("9/a%09%09$%00", 93),
        ("9/a%09%09+%091%0D%0A+-1%0D%0Aone%0D%0A.%0D%0AQUIT%0D%0A", 93),
        ("9/a%09%09+%091%0D%0AQUIT%0D%0A", 93),
        ("9/a%09b%09+%09%09c", 93),
        ("9/a\tb", 3),
        ("3/error", 78),
        ("iinfo", 1),
    ];
    for (path, exit) in rows {
        let (result, ..) = run_to_file(OldFile::Present, &[&server.url(path)]);
        result.assert_exit(exit);
    }
    // RFC 1738 §6 describes how a gopher URL can send mail through an SMTP server.
    for port in [1, 25, 79, 110, 1023, 6667] {
        let url = format!("gopher://127.0.0.1:{port}/0EHLO%20x");
        run_to_file(OldFile::Present, &[&url]).0.assert_exit(90);
    }
    assert_eq!(server.connections(), 0);
}

/// Items of types 2, 8 and T name an interactive service: fetch-url prints how to reach it.
#[test]
fn session_item_prints_advice_without_connection() {
    let server = start_server(GopherConfig::new());
    for (path, expected) in
        [("8/me", "telnet"), ("T/me", "tn3270"), ("2/book", "CSO"), ("8a%1B%5B2Jb", "telnet")]
    {
        let result = run_fetch_url([server.url(path)]);
        assert!(
            result.assert_exit(0).stdout_text().contains(expected)
                && !result.stdout_text().contains('\u{1b}'),
            "{result:?}"
        );
    }
    assert_eq!(server.connections(), 0);
}

/// An `h` item with the selector `URL:` is a redirect; the redirect policy decides which targets are allowed.
#[test]
fn url_selector_is_followed_like_a_redirect() {
    let page = crate::support::echo_server();
    let server = start_server(GopherConfig::new().item(GopherItem::text("/t", "secret")));
    let other = start_server(GopherConfig::new());
    let elsewhere = other.url("0/t");
    for path in ["hURL:", "h/URL:", "hurl:"] {
        let (result, _, content) =
            run_to_file(OldFile::Present, &[&server.url(&format!("{path}{}", page.url("/there")))]);
        result.assert_exit(0);
        assert_eq!(content.as_deref(), Some(b"/there".as_slice()), "{path}");
    }
    for target in ["file:///etc/passwd", "telnet://127.0.0.1:23/", &elsewhere, "mailto:a@example.org"] {
        let (result, ..) = run_to_file(OldFile::Present, &[&server.url(&format!("hURL:{target}"))]);
        result.assert_exit(90);
    }
    for target in ["http:%0d%0ax", "javascript:alert(1)", "", "%FF", "http://127.0.0.1:25/"] {
        let (result, ..) = run_to_file(OldFile::Present, &[&server.url(&format!("hURL:{target}"))]);
        assert!([1, 3, 90, 93].contains(&result.exit), "{target}: {} {}", result.exit, result.stderr);
    }
    assert_eq!((server.connections(), other.connections(), page.requests().len()), (0, 0, 3));
    let (result, _, content) =
        run_to_file(OldFile::Present, &[&server.url(&format!("hURL:{}", server.url("0/t")))]);
    result.assert_exit(0);
    assert_eq!((content.as_deref(), server.connections()), (Some(b"secret\r\n".as_slice()), 1));
}

/// Every line of a faulty menu, malformed lines included, is an entry with a URL or `null`.
#[test]
fn every_line_of_a_faulty_menu_becomes_valid_json() {
    let runner = FaultRunner::new::<GopherServer>();
    let is_menu = |case: &FaultCase<GopherServer>| {
        case.fault.path.starts_with(['1', '7'])
            && case.fault.arguments.is_empty()
            && case.fault.exit == 0
            && case.transport == Transport::Plain
            && case.old_file == OldFile::Absent
    };
    let mut menus = FaultCase::all(GOPHER_FAULTS);
    menus.retain(is_menu);
    assert!(menus.len() > 20, "{}", menus.len());
    check_in_parallel(&menus, THREADS, |case| {
        let (fault, prepared) = (case.fault, runner.prepare(case));
        let result = run_fetch_url(["--format", "json", &prepared.url]);
        let fail = |why: &str| {
            format!("{}: {why}: {} {}{}", fault.name, result.exit, result.stdout_text(), result.stderr)
        };
        ensure(result.exit == 0, || fail("exit status is not 0"))?;
        ensure(!result.stdout_text().contains(is_terminal_control), || {
            fail("unsanitised control characters")
        })?;
        for line in result.stdout_text().lines() {
            let entry: Value = serde_json::from_str(line).map_err(|error| fail(&error.to_string()))?;
            ensure(entry["name"].is_string() && entry["kind"].is_string(), || {
                fail("an entry without name or kind")
            })?;
            let is_url =
                |text: &str| text.contains("://") && text.bytes().all(|byte| byte.is_ascii_graphic());
            ensure(entry["url"].as_str().is_none_or(is_url), || fail("an invalid URL"))?;
        }
        let FaultResult::Contains(expected) = fault.result else { return Ok(()) };
        let missing = expected.iter().find(|word| !result.stdout_text().contains(word.trim()));
        ensure(missing.is_none(), || fail(&format!("{missing:?} is missing")))
    });
}

#[test]
fn repeated_attribute_block_is_shown_twice() {
    let config =
        GopherConfig::new().answer("+-1\r\n+INFO: 9a\t/a\th\t70\r\n+A:\r\n one\r\n+A:\r\n two\r\n.\r\n");
    let server = start_server(config);
    for format in ["text", "json"] {
        let result = run_fetch_url(["--format", format, &server.url("9/a%09%09!")]);
        assert!(
            result.assert_exit(0).stdout_text().contains("one") && result.stdout_text().contains("two"),
            "{format}: {}",
            result.stdout_text()
        );
    }
}

/// RFC 1738 §3.4.9: without this check a filled form in a URL could send commands to a server of another protocol. A
/// redirect can never send one.
#[test]
fn filled_form_in_url_is_sent_only_to_a_server_with_that_form() {
    let path = "0/f%09%09+%091%0D%0A+-1%0D%0AQUIT%0D%0A.%0D%0A";
    let mail = start_server(GopherConfig::new().answer("220 mail ready\r\n"));
    run_to_file(OldFile::Present, &[&mail.url(path)]).0.assert_exit(78);
    assert_eq!(mail.received_text(), ["/f\t!\r\n"]);
    let form = GopherForm::new().ask(GopherAsk::Ask, "Name?").reply("thanks");
    let item = GopherItem::text("/f", "").form(form);
    let server = start_server(GopherConfig::new().plus().item(item));
    let (result, _, content) = run_to_file(OldFile::Present, &[&server.url(path)]);
    result.assert_exit(0);
    assert_eq!(
        (content.as_deref(), server.form_answers()),
        (Some(b"thanks".as_slice()), vec![vec![b"QUIT".to_vec()]])
    );
    let connections = server.connections();
    let target = server.url(path);
    let page = crate::support::http_server(move |_| HttpResponse::new(302).header("Location", &target));
    for more in [&["--proto-redir", "=gopher"][..], &[]] {
        run_to_file(OldFile::Present, &[more, &[&page.url("/")]].concat()).0.assert_exit(90);
    }
    assert_eq!(server.connections(), connections);
}

#[test]
fn form_answers_do_not_appear_in_any_output() {
    let form = GopherForm::new().ask(GopherAsk::AskP, "Password?").reply("thanks");
    let server = start_server(GopherConfig::new().plus().item(GopherItem::text("/f", "").form(form)));
    let dir = temp_dir();
    let trace = dir.path().join("trace");
    let options = ["-vvv", "--trace", trace.to_str().expect("valid UTF-8"), "--events", "-", "-w", "%{json}"];
    let answer = ["--form", "Password?=s3cr3t", "-o", "f", &server.url("0/f%09%09?")].map(str::to_owned);
    let result =
        crate::support::run_fetch_url_in(dir.path(), options.map(str::to_owned).into_iter().chain(answer));
    result.assert_exit(0);
    assert_eq!(server.form_answers(), [[b"s3cr3t"]]);
    let outputs =
        [result.stdout_text(), result.stderr, std::fs::read_to_string(trace).expect("read trace")].concat();
    assert!(outputs.contains("/f") && !outputs.contains("s3cr3t"), "{outputs}");
}

/// RFC 4266: the selector and the search words are percent-decoded exactly once.
#[test]
fn request_line_is_the_selector_decoded_once() {
    let server = start_server(GopherConfig::new().plus().answer("."));
    let rows = [
        ("", "\r\n"),
        ("1", "\r\n"),
        ("00/x", "0/x\r\n"),
        ("9/a%20b%2520", "/a b%20\r\n"),
        ("9/../a/./b//", "/../a/./b//\r\n"),
        ("9/a?b", "/a?b\r\n"),
        ("9/%01%7F", "/\u{1}\u{7f}\r\n"),
        ("7/s%09two%20words", "/s\ttwo words\r\n"),
        ("7/s%09", "/s\t\r\n"),
        ("9/a%09%09+", "/a\t+\r\n"),
        ("9/a%09%09+text/plain%20En_US", "/a\t+text/plain En_US\r\n"),
        ("7/s%09w%09+", "/s\tw\t+\r\n"),
        ("9/a%09%09!", "/a\t!\r\n"),
        ("1/a%09%09$", "/a\t$\r\n"),
    ];
    for (path, _) in rows {
        run_fetch_url([server.url(path)]);
    }
    assert_eq!(server.received_text(), rows.map(|(_, request)| request));
}

/// The Gopher+ error "try again later" is retried. A truncated body is not restarted after bytes were written to
/// standard output.
#[test]
fn retry_follows_busy_status_and_never_duplicates_output() {
    let busy_answer = b"--1\r\n2 x\r\nlater\r\n.\r\n".to_vec();
    let config = || GopherConfig::new().plus().item(GopherItem::binary("/a", "hello"));
    let busy = start_server(config().rule(GopherRule::on("/a", GopherAction::Answer(busy_answer)).nth(1)));
    let again = ["--retry", "2", "--retry-delay", "0.01"];
    let result = run_fetch_url([&again[..], &[&busy.url("9/a%09%09+")]].concat());
    assert_eq!((result.assert_exit(0).stdout_text().as_str(), busy.connections()), ("hello", 2));
    let cut = start_server(config().rule(GopherRule::on("/a", GopherAction::Cut(2, Ending::Reset)).nth(1)));
    let result = run_fetch_url([&again[..], &[&cut.url("9/a")]].concat());
    assert!(["he", "hello"].contains(&result.stdout_text().as_str()), "{result:?}");
    assert_eq!(result.exit == 0, result.stdout_text() == "hello", "{result:?}");
    let cut = start_server(config().rule(GopherRule::on("/a", GopherAction::Cut(2, Ending::Reset)).nth(1)));
    let (result, _, content) = run_to_file(OldFile::Absent, &[&again[..], &[&cut.url("9/a")]].concat());
    assert_eq!(content.as_deref(), (result.exit == 0).then_some(b"hello".as_slice()), "{result:?}");
}

#[test]
fn reset_before_the_first_byte_is_retried_for_every_item_type() {
    for (path, item) in [
        ("0/a", GopherItem::text("/a", "hello\r\n")),
        ("1/a", GopherItem::menu("/a", &["iinfo\t\tx\t70"])),
        ("9/a", GopherItem::binary("/a", "hello")),
    ] {
        let reset = GopherRule::on("/a", GopherAction::Cut(0, Ending::Reset)).nth(1);
        let server = start_server(GopherConfig::new().item(item).rule(reset));
        let result = run_fetch_url(["--retry", "1", "--retry-delay", "0.01", &server.url(path)]);
        assert_eq!((result.assert_exit(0).exit, server.connections()), (0, 2), "{path}");
    }
}

/// SIGKILL leaves a `.part` file behind; the next run discards it.
#[test]
fn signal_removes_part_file_and_sigkill_leftover_is_not_reused() {
    let config = GopherConfig::new().item(GopherItem::binary("/a", vec![b'x'; 300_000]));
    let server = start_server(
        config.rule(GopherRule::on("/a", GopherAction::Cut(200_000, Ending::Stall(Duration::from_secs(20))))),
    );
    let target = Target::new(OldFile::Present).expect("create temporary directory");
    let (path, url) = (target.path(), server.url("9/a"));
    let arguments = ["-o", path.to_str().expect("valid UTF-8"), &url];
    for (signal, number) in [("TERM", 15), ("INT", 2), ("KILL", 9)] {
        let child = crate::support::spawn_fetch_url(arguments);
        let part = crate::support::part_path(&path);
        let has_begun = || part.metadata().is_ok_and(|metadata| metadata.len() > 0);
        assert!(crate::support::wait_until(Duration::from_secs(10), has_begun), "SIG{signal}: no .part");
        crate::support::send_signal(&child, signal);
        assert_eq!(crate::support::wait_for_exit(child).signal, Some(number));
        assert!(target.is_untouched().expect("read target directory"), "SIG{signal}");
        assert!(
            signal == "KILL" || target.leftovers().expect("read target directory").is_empty(),
            "SIG{signal}"
        );
    }
    server.disable_rules();
    run_fetch_url(arguments).assert_exit(0);
    assert_eq!(target.content().expect("read target directory"), Some(vec![b'x'; 300_000]));
    assert!(target.leftovers().expect("read target directory").is_empty());
}
