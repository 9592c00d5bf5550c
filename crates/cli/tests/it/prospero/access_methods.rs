//! Resolution of Prospero names and access methods (docs/spec/prospero.md): the choice of the method, the request to
//! its target, forwarded names, and sanitising of server text.

use crate::support::run_fetch_url;
use fetch_url_tests::{
    HttpResponse, HttpServer, ProsperoAction, ProsperoConfig, ProsperoHost, ProsperoObject, ProsperoPacket,
    ProsperoServer, ProsperoTrigger,
};

/// Methods with a forbidden scheme, port or target are skipped.
#[test]
fn first_access_method_allowed_by_policy_is_used() {
    let contents: &[&str] = &["PROSPERO-CONTENTS", "", "", "", ""];
    for (method, arguments) in [
        (["GOPHER", "INTERNET-D", "127.0.0.1(25)", "ASCII", "0/x"], &[][..]),
        (["GOPHER", "INTERNET-D", "127.0.0.1(7070)", "ASCII", "0/x"], &["--proto-redir", "=ftp"]),
        (["GOPHER", "INTERNET-D", "127.0.0.1(7070)", "ASCII", "0/x"], &["--proto", "=prospero"]),
        (["URL", "INTERNET-D", "h", "ASCII", "file:///etc/passwd"], &[]),
        (["URL", "INTERNET-D", "h", "ASCII", "nntp://h/group/1"], &[]),
    ] {
        let object = ProsperoObject::file(b"octets".to_vec()).intrinsic_access_methods(&[&method, contents]);
        let server = ProsperoServer::start(ProsperoConfig::new().object("/x", object)).expect("start server");
        let url = server.url("/x");
        let result = run_fetch_url(arguments.iter().copied().chain([url.as_str()]));
        assert_eq!(result.assert_exit(0).stdout_text(), "octets", "{method:?}");
    }
}

#[test]
fn request_body_and_login_are_not_sent_to_an_access_method_target() {
    let http = HttpServer::start(|_| HttpResponse::new(200).body("object")).expect("start server");
    let target = http.url("/f");
    let method: &[&str] = &["URL", "INTERNET-D", "h", "ASCII", &target];
    let object = ProsperoObject::attributes_only().access_method(method);
    let server = ProsperoServer::start(ProsperoConfig::new().object("/x", object)).expect("start server");
    let url = server.url("/x");
    let arguments = ["-d", "canary", "-u", "me:secret", "-H", "X-Own: secret", "-b", "c=secret", &url];
    assert_eq!(run_fetch_url(arguments).assert_exit(0).stdout_text(), "object");
    for request in http.requests() {
        assert_eq!(request.method, "GET");
        assert!(!format!("{request:?}").contains("secret") && request.body.is_empty(), "{request:?}");
    }
}

#[test]
fn max_redirs_limits_forwarded_names() {
    let chain = |next: &str| ProsperoObject::forwarded(ProsperoHost::Here, next);
    let config = ProsperoConfig::new()
        .object("/1", chain("/2"))
        .object("/2", chain("/3"))
        .object("/3", chain("/4"))
        .object("/4", ProsperoObject::file(b"octets".to_vec()));
    let server = ProsperoServer::start(config).expect("start server");
    assert_eq!(run_fetch_url([server.url("/1")]).assert_exit(0).stdout_text(), "octets");
    run_fetch_url(["--max-redirs", "1", &server.url("/1")]).assert_exit(47);
}

/// The query for the size is optional.
#[test]
fn rejected_attribute_query_does_not_fail_the_fetch() {
    for reply in [&b"ERROR what\n"[..], b"FAILURE UNIMPLEMENTED\n", b"VERSION 5 x\n", b"SUCCESS\n"] {
        let config = ProsperoConfig::new().object("/x", ProsperoObject::file(b"octets".to_vec()));
        let describes = |text: &[u8]| text.windows(5).any(|word| word == b"SIZE+");
        let packet = ProsperoPacket::data(1, 1, reply);
        let config =
            config.on(ProsperoTrigger::Matches(describes), ProsperoAction::ReplacePackets(vec![packet], 9));
        let server = ProsperoServer::start(config).expect("start server");
        assert_eq!(run_fetch_url([server.url("/x")]).assert_exit(0).stdout_text(), "octets");
    }
}

/// The session is printed as advice.
#[test]
fn open_ignores_a_session_named_by_a_server() {
    let object =
        ProsperoObject::attributes_only().access_method(&["TELNET", "INTERNET-D", "h.example", "ASCII", ""]);
    let server = ProsperoServer::start(ProsperoConfig::new().object("/x", object)).expect("start server");
    let result = run_fetch_url(["--open", &server.url("/x")]);
    assert!(result.assert_exit(0).stdout_text().contains("telnet h.example 23"), "{result:?}");
    run_fetch_url(["--open", "mailto:a@b.example?Attach=/etc/passwd"])
        .assert_exit(90)
        .assert_stderr_contains("Attach");
}

#[test]
fn hostile_server_text_is_sanitised_in_the_verbose_log() {
    let method: &[&str] = &["F\x1b]0;pwn\x07\n* forged", "", "", "", ""];
    let object = ProsperoObject::file(b"octets".to_vec())
        .intrinsic_access_methods(&[method, &["PROSPERO-CONTENTS", "", "", "", ""]]);
    let server = ProsperoServer::start(ProsperoConfig::new().object("/x", object)).expect("start server");
    let result = run_fetch_url(["-v", &server.url("/x")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "octets");
    assert!(result.stderr.contains("PROSPERO-CONTENTS"), "{}", result.stderr);
    assert!(!result.stderr.contains(['\x1b', '\x07']), "{:?}", result.stderr);
    let is_line = |line: &str| ["> ", "< ", "* "].iter().any(|start| line.starts_with(start));
    assert!(result.stderr.lines().all(is_line), "{}", result.stderr);
    assert!(!result.stderr.lines().any(|line| line.starts_with("* FORGED")), "{}", result.stderr);
}
