//! Resolution of Prospero names and access methods (docs/spec/prospero.md): the choice of the method, the request to
//! its target, forwarded names, and sanitising of server text.

use crate::support::{run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{
    CutPoint, HttpResponse, HttpServer, ProsperoAction, ProsperoAttribute, ProsperoConfig, ProsperoHost,
    ProsperoLink, ProsperoObject, ProsperoPacket, ProsperoRule, ProsperoServer, ProsperoTrigger,
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
    run_fetch_url(["-d", "canary", &url]).assert_exit(2);
    let arguments = ["-X", "POST", "-u", "me:secret", "-H", "X-Own: secret", "-b", "c=secret", &url];
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

#[test]
fn unresolved_links_of_a_directory_are_noted_and_not_complete() {
    let text = "LINK  L FILE a INTERNET-D h.test ASCII /a 0\nUNRESOLVED x\n";
    let config = ProsperoConfig::new().object("/d", ProsperoObject::directory([]));
    let answer = ProsperoAction::Answer(text.into());
    let server = ProsperoServer::start(config.on(ProsperoTrigger::List, answer)).expect("start server");
    let result = run_fetch_url(["--format", "json", &server.url("/d")]);
    assert!(result.assert_exit(0).stdout_text().contains("\"a\""), "{result:?}");
    result.assert_stderr_contains("were not resolved").assert_stderr_contains("may be incomplete");
    run_fetch_url(["--require-complete", &server.url("/d")]).assert_exit(18);
}

/// The failed query only asks for the size, which is optional.
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

/// docs/spec/prospero.md, row 6.22: the attributes of links are requested, and shown.
#[test]
fn listing_shows_size_and_time_of_links() {
    let link = ProsperoLink::file("a", "/a")
        .attribute(ProsperoAttribute::intrinsic("SIZE", &[b"26 bytes"]))
        .attribute(ProsperoAttribute::intrinsic("LAST-MODIFIED", &[b"20261120235539Z"]));
    let config = ProsperoConfig::new().object("/d", ProsperoObject::directory([link]));
    let server = ProsperoServer::start(config).expect("start server");
    let listing = run_fetch_url(["--format", "json", &server.url("/d")]).assert_exit(0).stdout_text();
    let entry: serde_json::Value =
        serde_json::from_str(listing.lines().next().expect("an entry")).expect("JSON");
    assert_eq!((&entry["size"], &entry["modified"]), (&26.into(), &1_795_218_939.into()), "{listing}");
}

/// docs/spec/prospero.md, rule 9.21.
#[test]
fn truncated_contents_are_requested_again_if_their_time_is_known() {
    let asks_for_contents = |text: &[u8]| text.windows(9).any(|word| word == b" CONTENTS");
    let broken = |object: ProsperoObject| {
        let cut = ProsperoRule::on(
            ProsperoTrigger::Matches(asks_for_contents),
            ProsperoAction::Cut(CutPoint::Half),
        );
        let config = ProsperoConfig::new().object("/x", object).rule(cut.nth(1));
        ProsperoServer::start(config).expect("start server")
    };
    let content: Vec<u8> = (0..100_000_u32).flat_map(u32::to_be_bytes).collect();
    let dir = temp_dir();
    let fetch = |server: &ProsperoServer| {
        run_fetch_url_in(dir.path(), &["--retry", "1", "--retry-delay", "0.1", "-o", "x", &server.url("/x")])
    };
    let server = broken(ProsperoObject::file(content.clone()));
    fetch(&server).assert_exit(0);
    assert!(std::fs::read(dir.path().join("x")).expect("read file") == content);
}

/// docs/spec/semantics.md, row 10.20.
#[test]
fn internal_failure_of_the_server_exits_8_after_retries() {
    let config = ProsperoConfig::new().replace_text(b"FAILURE SERVER-FAILED 'disk on fire'\n".to_vec());
    let server = ProsperoServer::start(config).expect("start server");
    let options = ["--retry", "1", "--retry-delay", "0.1"];
    let url = server.url("/x");
    let result = run_fetch_url(options.into_iter().chain([url.as_str()]));
    result.assert_exit(8).assert_stderr_contains("retrying").assert_stderr_contains("disk on fire");
}
