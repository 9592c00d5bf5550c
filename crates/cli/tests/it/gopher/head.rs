//! `-I`, `-w` and `--events` for gopher URLs (docs/spec/cli.md): `-I` shows the Gopher+ attributes or the item type
//! and never downloads the item.

use std::fs;

use super::{MODIFIED, fetch_path, start_server};
use crate::support::{RunResult, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{
    GopherAction, GopherAsk, GopherConfig, GopherForm, GopherItem, GopherLength, GopherServer, GopherTrigger,
    ServerCert,
};
use serde_json::{Value, json};

fn parse_json(result: &RunResult) -> Value {
    serde_json::from_str(&result.stdout_text())
        .unwrap_or_else(|error| panic!("{error}: {}", result.stdout_text()))
}

/// A Gopher+ server with an item of 3 MiB that has attributes, and a text.
fn attribute_config() -> GopherConfig {
    let item = GopherItem::pattern("/big", 3 << 20)
        .name("A thing")
        .modified("19941201123456")
        .abstract_text(&["What it is."]);
    GopherConfig::new().plus().item(item).item(GopherItem::text("/t", "text"))
}

#[test]
fn head_shows_gopher_plus_attributes_without_downloading_the_item() {
    let server = start_server(attribute_config());
    let text = fetch_path(&server, "9/big", "-I").assert_exit(0).stdout_text();
    let host_and_port = format!("127.0.0.1\\x09{}", server.addr().port());
    let info = format!("INFO: 9A thing\\x09/big\\x09{host_and_port}\\x09+\n");
    for expected in ["Type: 9 binary\n", &info, "<3072k>", "1994-12-01 12:34", "What it is.", "Test Admin"] {
        assert!(text.contains(expected), "no {expected:?} in {text}");
    }
    let head = parse_json(fetch_path(&server, "9/big", "-I --format json").assert_exit(0));
    assert_eq!((&head["modified"], &head["url"]), (&json!(MODIFIED), &json!(server.url("9/big"))));
    let fields = head["fields"].as_array().expect("fields is an array");
    assert!(fields.contains(&json!(["ABSTRACT", "What it is."])), "{head}");
    assert_eq!(server.received_text(), ["/big\t!\r\n"; 2]);
    assert!(server.bytes_sent() < 2000, "the item itself was sent: {}", server.bytes_sent());
}

/// docs/spec/cli.md, rule 5.5.
#[test]
fn included_header_is_not_requested_in_addition_to_the_item() {
    let server = start_server(attribute_config());
    assert_eq!(fetch_path(&server, "0/t", "-i").assert_exit(0).stdout_text(), "text\r\n");
    assert_eq!(fetch_path(&server, "0/t%09%09+", "-i").assert_exit(0).stdout_text(), "size: 4\n\ntext");
    assert_eq!(server.received_text(), ["/t\r\n", "/t\t+\r\n"]);
}

#[test]
fn head_is_shown_in_every_output_format() {
    for format in ["text", "json", "raw"] {
        let text = fetch_path(&start_server(attribute_config()), "9/big", &format!("-I --format {format}"))
            .assert_exit(0)
            .stdout_text();
        assert!(text.contains("What it is.") && text.contains("A thing"), "{format}: {text}");
    }
}

/// The request is the same for a plain URL, a view, an attribute request, a form and a search.
#[test]
fn head_of_any_gopher_url_requests_its_attributes() {
    let server = start_server(attribute_config().item(GopherItem::search("/s", |_| Vec::new())));
    for (path, line) in [
        ("0/t", "/t\t!"),
        ("0/t%09%09+", "/t\t!"),
        ("0/t%09%09!+ADMIN", "/t\t!"),
        ("0/t%09%09+text/plain", "/t\t!"),
        ("0/t%09%09?", "/t\t!"),
        ("7/s%09w", "/s\tw\t!"),
        ("", "\t!"),
    ] {
        fetch_path(&server, path, "-I").assert_exit(0);
        assert_eq!(server.received_text().last(), Some(&format!("{line}\r\n")), "{path}");
    }
    // `-I` never submits a form.
    let form = GopherForm::new().ask(GopherAsk::Ask, "Name");
    let server = start_server(GopherConfig::new().plus().item(GopherItem::text("/ask", "").form(form)));
    fetch_path(&server, "0/ask%09%09+%091%0D%0A+-1%0D%0Aa%0D%0A.%0D%0A", "-I").assert_exit(0);
    fetch_path(&server, "0/ask", "-I --form Name=a").assert_exit(0);
    assert!(server.form_answers().is_empty());
}

/// The connection is closed early; the item is not downloaded.
#[test]
fn head_without_gopher_plus_shows_the_item_type() {
    for (path, expected) in [
        ("0/x", "0 text"),
        ("1/x", "1 menu"),
        ("4/x", "4 binhex"),
        ("5/x", "5 archive"),
        ("6/x", "6 uuencode"),
        ("7/x%09w", "7 search"),
        ("9/x", "9 binary"),
        ("g/x", "g gif"),
        ("I/x", "I image"),
        ("s/x", "s sound"),
        ("h/x", "h html"),
        ("~/x", "~ item"),
    ] {
        let server = start_server(GopherConfig::new().item(GopherItem::pattern("/x", 256 << 20)));
        let result = fetch_path(&server, path, "-I");
        assert_eq!(result.assert_exit(0).stdout_text().trim_end(), format!("Type: {expected}"), "{path}");
        assert!(server.bytes_sent() < 32 << 20, "{path}: {} bytes", server.bytes_sent());
        let head = parse_json(fetch_path(&server, path, "-I --format json").assert_exit(0));
        assert_eq!(json!([head["size"], head["modified"]]), json!([null, null]), "{path}: {head}");
    }
}

/// A missing item is an error, a session item prints advice, and a `URL:` selector is followed.
#[test]
fn head_of_missing_session_or_redirect_item() {
    for config in [GopherConfig::new(), GopherConfig::new().plus()] {
        fetch_path(&start_server(config), "0/missing", "-I")
            .assert_exit(78)
            .assert_stderr_contains("does not exist");
    }
    let busy = GopherConfig::new().plus().item(GopherItem::error('0', "/busy", 2, "too busy"));
    fetch_path(&start_server(busy), "0/busy", "-I").assert_exit(92).assert_stderr_contains("too busy");
    let server = start_server(GopherConfig::new());
    for path in ["8me", "Tme", "2book"] {
        fetch_path(&server, path, "-I").assert_exit(0);
    }
    fetch_path(&server, "3x", "-I").assert_exit(78);
    let page = crate::support::echo_server();
    let text = fetch_path(&server, &format!("hURL:{}", page.url("/x")), "-I").assert_exit(0).stdout_text();
    assert!(text.starts_with("HTTP/1.1 200") && page.requests()[0].method == "HEAD", "{text}");
    assert_eq!(server.connections(), 0);
    fetch_path(&start_server(GopherConfig::new().answer("")), "0/x", "-I --require-complete");
}

#[test]
fn head_is_written_to_the_output_file() {
    let (server, dir) = (start_server(attribute_config()), temp_dir());
    run_fetch_url_in(dir.path(), ["-I", "-o", "head", &server.url("9/big")]).assert_exit(0);
    let text = fs::read_to_string(dir.path().join("head")).expect("read file");
    assert!(text.contains("What it is.") && text.len() < 1000, "{text}");
}

#[test]
fn head_over_tls_requires_a_trusted_certificate() {
    let cert = ServerCert::good().expect("create certificate");
    let files = cert.write_files().expect("write certificate files");
    let server = GopherServer::start_tls(attribute_config(), &cert).expect("start server");
    let text = fetch_path(&server, "9/big", &format!("-I --cacert {}", files.ca.display()))
        .assert_exit(0)
        .stdout_text();
    assert!(text.contains("What it is."), "{text}");
    fetch_path(&server, "9/big", "-I").assert_exit(60);
}

/// Variables without a meaning for gopher have curl's neutral value, such as `000` for `http_code`.
#[test]
fn write_out_variables_are_set_for_gopher() {
    let server = start_server(attribute_config());
    let port = server.addr().port();
    let url = server.url("9/big%09%09+");
    let format = "%{scheme} %{size_download} %{exitcode} %{remote_ip} %{remote_port} %{num_connects} %{http_code} %{url_effective}";
    let result = run_fetch_url(["-o", "/dev/null", "-w", format, &url]);
    assert_eq!(result.assert_exit(0).stdout_text(), format!("gopher 3145728 0 127.0.0.1 {port} 1 000 {url}"));
    let result = run_fetch_url(["-o", "/dev/null", "-w", "%{json}", &url]);
    let values = parse_json(result.assert_exit(0));
    assert_eq!(
        json!([values["scheme"], values["size_download"], values["exitcode"], values["url"]]),
        json!(["gopher", 3_145_728, 0, url])
    );
    assert!(values["time_total"].as_f64() >= values["time_starttransfer"].as_f64(), "{values}");
    assert!(values["time_starttransfer"].as_f64() > Some(0.0), "{values}");
    // Exit status and message of an error.
    let missing = server.url("0/none%09%09+");
    let result = run_fetch_url(["-s", "-w", "%{exitcode} %{errormsg} %{http_code}", &missing]);
    let text = result.assert_exit(78).stdout_text();
    assert!(text.starts_with("78 ") && text.contains("does not exist") && text.ends_with(" 000"), "{text}");
    // The effective URL after a redirect.
    let page = crate::support::echo_server();
    let link = server.url(&format!("hURL:{}", page.url("/p")));
    let result =
        run_fetch_url(["-o", "/dev/null", "-w", "%{scheme} %{num_redirects} %{url_effective}", &link]);
    assert_eq!(result.assert_exit(0).stdout_text(), format!("http 1 {}", page.url("/p")));
}

/// Fetches with `--events` and returns the parsed events.
fn fetch_with_events(options: &[&str]) -> (Vec<Value>, RunResult) {
    let dir = temp_dir();
    let result = run_fetch_url_in(dir.path(), [&["--events", "events", "-o", "out"], options].concat());
    let text = fs::read_to_string(dir.path().join("events")).expect("read file");
    (text.lines().map(|line| serde_json::from_str(line).expect("valid JSON")).collect(), result)
}

#[test]
fn events_report_start_redirect_error_and_completeness() {
    let server =
        start_server(attribute_config().item(GopherItem::binary("/end", "12345").length(GopherLength::End)));
    for (path, bytes, is_proven) in
        [("9/big%09%09+", 3 << 20, true), ("0/t", 6, true), ("9/end", 5, false), ("9/end%09%09+", 5, false)]
    {
        let (events, result) = fetch_with_events(&[&server.url(path)]);
        let (first, last) = (events.first().expect("first event"), events.last().expect("last event"));
        result.assert_exit(0);
        assert_eq!((&first["event"], &first["url"]), (&json!("start"), &json!(server.url(path))), "{path}");
        assert_eq!(
            (&last["event"], &last["octets"], &last["retries"]),
            (&json!("done"), &json!(bytes), &json!(0)),
            "{last}"
        );
        let proof = last["proof"].as_str().expect("proof is a string");
        assert_eq!(proof.starts_with("assumed"), !is_proven, "{path}: {proof}");
    }
    let (events, result) = fetch_with_events(&["--retry", "1", "--retry-delay", "0", &server.url("0/none")]);
    let last = events.last().expect("last event");
    result.assert_exit(78);
    assert_eq!(
        (&last["event"], &last["code"], &last["exit"]),
        (&json!("error"), &json!("not_found"), &json!(78))
    );
    assert_eq!((events.len(), &last["temporary"]), (2, &json!(false)), "unexpected retry: {events:?}");
    assert!(last["reply"].as_str().is_some_and(|reply| reply.contains("does not exist")), "{last}");
    let page = crate::support::echo_server();
    let (events, result) = fetch_with_events(&[&server.url(&format!("hURL:{}", page.url("/p")))]);
    result.assert_exit(0);
    assert_eq!(
        (&events[1]["event"], &events[1]["to"]),
        (&json!("hop"), &json!(page.url("/p"))),
        "{events:?}"
    );
}

#[test]
fn item_of_a_server_that_rejects_attribute_requests_exists() {
    let is_for_attributes = |line: &[u8]| line.ends_with(b"\t!");
    let config = GopherConfig::new().item(GopherItem::text("/t", "text"));
    let rejection = GopherAction::Answer(b"3not here\terror\th\t1\r\n.\r\n".to_vec());
    let server = start_server(config.on(GopherTrigger::Matches(is_for_attributes), rejection));
    assert_eq!(fetch_path(&server, "0/t", "-I").assert_exit(0).stdout_text().trim_end(), "Type: 0 text");
    fetch_path(&server, "0/missing", "-I").assert_exit(78);
}

/// A server without Gopher+ ignores what follows the TAB, and sends nothing for an empty item.
#[test]
fn empty_item_of_a_server_that_ignores_the_attribute_request_exists() {
    for (path, expected) in [("0/e", "Type: 0 text"), ("9/e", "Type: 9 binary")] {
        let server = start_server(GopherConfig::new().answer(""));
        let result = fetch_path(&server, path, "-I --retry 0");
        assert_eq!(result.assert_exit(0).stdout_text().trim_end(), expected, "{path}");
        assert_eq!(server.received_text(), ["/e\t!\r\n", "/e\r\n"], "{path}");
    }
}
