//! HTTP authentication challenges: Basic and Digest, and prompts for a missing password by an `--askpass` program
//! (docs/spec/faults.md, rows 29, 39 and 89). `terminal_prompts.rs` has those on the terminal.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::md5::md5_hex;
use crate::support::{
    RunResult, fetch_url_command, http_server, read_text_file, run_command, run_fetch_url, run_shell,
    send_signal, strong_etag_headers, temp_dir, wait_for_exit, wait_until,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, file_handler};

pub(super) const BASIC: &str = "Basic realm=\"the realm\"";
pub(super) const DIGEST: &str =
    "Digest realm=\"the realm\", nonce=\"n0nce\", qop=\"auth\", algorithm=MD5, opaque=\"o\"";

/// Protection of the body, as the only choice, and with an algorithm in lower case.
const DIGEST_INT: &str =
    "Digest realm=\"the realm\", nonce=\"n0nce\", qop=\"auth-int\", algorithm=md5, opaque=\"o\"";
const DIGEST_BOTH: &str = "Digest realm=\"the realm\", nonce=\"n0nce\", qop=\"auth, auth-int\", opaque=\"o\"";

/// Starts a server that accepts user `u` with password `pw` and sends `challenges` with status 401 otherwise.
pub(super) fn start_protected_server(challenges: &'static [&'static str]) -> HttpServer {
    http_server(move |request| match is_authorized(request) {
        true => HttpResponse::new(200).body("object"),
        false => unauthorized_response(challenges),
    })
}

pub(super) fn unauthorized_response(challenges: &[&str]) -> HttpResponse {
    let reply = HttpResponse::new(401).body("who are you?\n");
    challenges.iter().fold(reply, |reply, challenge| reply.header("WWW-Authenticate", challenge))
}

/// Returns `true` for the right Basic credentials (`dTpwdw==`) or a correct Digest response (RFC 7616 §3.4).
fn is_authorized(request: &HttpRequest) -> bool {
    let field = request.header_text("authorization").unwrap_or_default();
    match field.split_once(' ') {
        Some(("Basic", login)) => login == "dTpwdw==",
        Some(("Digest", parameters)) => is_digest_correct(request, parameters),
        _ => false,
    }
}

fn is_digest_correct(request: &HttpRequest, parameters: &str) -> bool {
    let parameters = parse_parameters(parameters);
    let of = |name: &str| parameters.get(name).map(String::as_str).unwrap_or_default();
    let user_hash = md5_hex(format!("u:{}:pw", of("realm")).as_bytes());
    let mut request_text = format!("{}:{}", request.method, request.path());
    if of("qop") == "auth-int" {
        request_text = format!("{request_text}:{}", md5_hex(&request.body));
    }
    let request_hash = md5_hex(request_text.as_bytes());
    let middle = format!("{}:{}:{}:{}", of("nonce"), of("nc"), of("cnonce"), of("qop"));
    let expected = md5_hex(format!("{user_hash}:{middle}:{request_hash}").as_bytes());
    let is_well_made = of("uri") == request.path() && of("username") == "u" && of("nc").len() == 8;
    let matches_challenge = of("nonce") == "n0nce"
        && of("opaque") == "o"
        && ["auth", "auth-int"].contains(&of("qop"))
        && of("cnonce").len() >= 8;
    is_well_made && matches_challenge && of("response") == expected
}

/// Parses `a=b, c="d, e"` into a map by name.
fn parse_parameters(text: &str) -> BTreeMap<String, String> {
    let (mut parameters, mut rest) = (BTreeMap::new(), text);
    while let Some((name, value)) = rest.split_once('=') {
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"').unwrap_or(quoted.len());
                (&quoted[..end], quoted.get(end + 1..).unwrap_or_default())
            }
            None => value.split_at(value.find(',').unwrap_or(value.len())),
        };
        parameters.insert(name.trim_matches([' ', ',']).to_ascii_lowercase(), value.to_owned());
        rest = after;
    }
    parameters
}

/// The authentication scheme of each request, `"-"` if there is none.
fn authentication_schemes(server: &HttpServer) -> Vec<String> {
    let scheme = |request: &HttpRequest| {
        let field = request.header_text("authorization").unwrap_or("-");
        field.split(' ').next().unwrap_or_default().to_owned()
    };
    server.requests().iter().map(scheme).collect()
}

#[test]
fn digest_helper_matches_the_example_of_rfc_2617() {
    // RFC 2617 §3.5, the example; RFC 1321, appendix A.5.
    let (user_hash, request_hash) =
        (md5_hex(b"Mufasa:testrealm@host.com:Circle Of Life"), md5_hex(b"GET:/dir/index.html"));
    let middle = "dcd98b7102dd2f0e8b11d0f600bfb0c093:00000001:0a4f113b:auth";
    assert_eq!(
        md5_hex(format!("{user_hash}:{middle}:{request_hash}").as_bytes()),
        "6629fae49393a05397450978507c4ef1"
    );
    assert_eq!(md5_hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
}

#[test]
fn right_credentials_answer_basic_and_digest_challenges() {
    for (challenges, options, expected_schemes) in [
        (&[BASIC][..], "-u u:pw", &["Basic"][..]),
        // With `--digest` and `--anyauth`, no credentials are sent before the challenge.
        (&[DIGEST], "-u u:pw --digest", &["-", "Digest"]),
        (&[BASIC, DIGEST], "-u u:pw --digest", &["-", "Digest"]),
        (&[DIGEST_INT], "-u u:pw --digest", &["-", "Digest"]),
        (&[DIGEST_INT], "-u u:pw --digest -d a=b", &["-", "Digest"]),
        (&[DIGEST_BOTH], "-u u:pw --digest -d a=b", &["-", "Digest"]),
        (&[DIGEST, BASIC], "-u u:pw --anyauth", &["-", "Digest"]),
        (&["Negotiate", "Bearer realm=\"x\"", DIGEST], "-u u:pw --digest", &["-", "Digest"]),
        (
            &[
                "Basic realm=\"the realm\", Digest realm=\"the realm\", nonce=\"n0nce\", qop=\"auth\", opaque=\"o\"",
            ],
            "-u u:pw --digest",
            &["-", "Digest"],
        ),
        // If the server offers only Basic, the password is sent after the challenge.
        (&[BASIC], "-u u:pw --anyauth", &["-", "Basic"]),
        (&["basic realm=x"], "-u u:pw --anyauth", &["-", "Basic"]),
    ] {
        let server = start_protected_server(challenges);
        let result = run_fetch_url(options.split(' ').chain([server.url("/a%20b?c=%22d%22").as_str()]));
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "object"),
            "{options} {challenges:?}: {}",
            result.stderr
        );
        assert_eq!(authentication_schemes(&server), expected_schemes, "{options} {challenges:?}");
    }
    // Credentials from the URL.
    let server = start_protected_server(&[DIGEST]);
    run_fetch_url(["--digest", &server.url("/x").replacen("://", "://u:pw@", 1)]).assert_exit(0);
    assert_eq!(authentication_schemes(&server), ["-", "Digest"]);
}

/// An attacker on the path can replace the challenges of the server.
#[test]
fn digest_option_sends_no_password_to_a_server_without_digest() {
    const UNSUPPORTED: &str = "Digest realm=\"r\", nonce=\"n\", algorithm=MD4";
    for challenges in [&[BASIC][..], &["basic realm=x"], &[UNSUPPORTED, BASIC], &[]] {
        for login in ["-u u:pw", "-u u"] {
            let dir = temp_dir();
            write_askpass_program(dir.path(), "echo pw");
            let server = start_protected_server(challenges);
            let options = format!("--digest {login}");
            let result = fetch_with_askpass(dir.path(), &options, &server.url("/x"));
            assert_eq!(result.exit, 67, "{challenges:?}: {}", result.stderr);
            let has_reason = ["the server offers no supported Digest authentication", "--anyauth"]
                .iter()
                .all(|text| result.stderr.contains(text));
            assert!(has_reason, "{challenges:?}: {}", result.stderr);
            assert_eq!(authentication_schemes(&server), ["-"], "{challenges:?}");
            assert!(!dir.path().join("prompts").exists(), "{challenges:?}: the user was asked");
        }
    }
}

/// `stale=true` (RFC 7616 §3.3): the password was right, only the nonce was too old. A third 401 is final.
#[test]
fn stale_nonce_is_answered_once_more() {
    for (stale, exit, requests) in [(1, 0, 3), (2, 67, 3)] {
        let rounds = AtomicUsize::new(0);
        let server = http_server(move |request| {
            let round = rounds.fetch_add(1, Ordering::SeqCst);
            let has_nonce =
                |nonce: &str| request.header_text("authorization").is_some_and(|text| text.contains(nonce));
            match round {
                0 => unauthorized_response(&[DIGEST]),
                round if round <= stale => {
                    let challenge = DIGEST.replace("n0nce", &format!("nonce{round}"));
                    unauthorized_response(&[&format!("{challenge}, stale=TRUE")])
                }
                _ if has_nonce(&format!("nonce{stale}")) => HttpResponse::new(200).body("object"),
                _ => unauthorized_response(&[DIGEST]),
            }
        });
        let result = run_fetch_url(["-u", "u:pw", "--digest", &server.url("/x")]);
        assert_eq!((result.exit, server.requests().len()), (exit, requests), "{stale}: {result:?}");
    }
}

/// The body of a 401 that is answered is not decoded.
#[test]
fn challenge_with_an_unknown_content_coding_is_answered() {
    let server = http_server(|request| match request.header_text("authorization") {
        Some(_) => HttpResponse::new(200).body("object"),
        None => unauthorized_response(&[BASIC]).header("Content-Encoding", "weird").body("xyz"),
    });
    let result = run_fetch_url(["-u", "u:pw", "--anyauth", "--compressed", &server.url("/x")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "object");
}

/// The request body is sent again after the challenge.
#[test]
fn request_body_is_sent_again_after_a_challenge() {
    let server = start_protected_server(&[DIGEST]);
    run_fetch_url(["--digest", "-u", "u:pw", "-d", "a=b", &server.url("/x")]).assert_exit(0);
    let last = server.requests().pop().expect("at least one request");
    assert_eq!((last.method.as_str(), last.body.as_slice()), ("POST", &b"a=b"[..]));
    let server = start_protected_server(&[DIGEST]);
    let result = run_fetch_url(["--digest", "-u", "u:pw", "-I", &server.url("/x")]);
    assert!(result.assert_exit(0).stdout_text().contains("200"), "{}", result.stdout_text());
}

/// The range request of the retry is authenticated as well.
#[test]
fn truncated_body_behind_digest_is_resumed() {
    let (is_truncated_once, complete_handler) =
        (AtomicBool::new(false), file_handler(b"object".to_vec(), strong_etag_headers()));
    let server = http_server(move |request| match is_authorized(request) {
        false => unauthorized_response(&[DIGEST]),
        true if !is_truncated_once.swap(true, Ordering::SeqCst) => complete_handler(request).cut_body_at(3),
        true => complete_handler(request),
    });
    let result = run_fetch_url(["--digest", "-u", "u:pw", "--retry-delay", "0.05", &server.url("/x")]);
    assert_eq!((result.exit, result.stdout_text().as_str()), (0, "object"), "{}", result.stderr);
    let last = server.requests().pop().expect("at least one request");
    assert_eq!(last.header_text("range"), Some("bytes=1-"));
}

/// docs/spec/faults.md, row 89: a rejected password is not sent again, even with `--retry`.
#[test]
fn rejected_or_missing_credentials_exit_67_with_few_requests() {
    for (challenges, options, max_requests) in [
        (&[BASIC][..], "-u u:wrong", 1),
        (&[BASIC], "-u u:wrong --anyauth", 2),
        (&[BASIC], "-u u:wrong --digest", 1),
        (&[DIGEST], "-u u:wrong --digest", 2),
        (&[BASIC, DIGEST], "-u v:pw --digest", 2),
        // No credentials and no terminal, or no supported challenge.
        (&[BASIC], "", 1),
        (&[BASIC], "-u u", 1),
        (&[], "-u u:pw --digest", 1),
        (&["Negotiate"], "-u u:pw --digest", 1),
        (&["Digest realm=\"r\""], "-u u:pw --digest", 1),
        (&["Digest realm=\"r\", nonce=\"n\", algorithm=MD4"], "-u u:pw --digest", 1),
        (&["Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""], "-u u:pw --digest", 2),
        (&["Digest"], "-u u:pw --digest", 1),
        (&["Digest realm=\"unclosed, nonce=\"n\""], "-u u:pw --digest", 2),
        // `stale=true` in every challenge: the number of attempts is limited.
        (&["Digest realm=\"r\", nonce=\"n\", qop=\"auth\", stale=true"], "-u u:wrong --digest", 4),
    ] {
        let server = start_protected_server(challenges);
        let result = run_fetch_url(options.split_whitespace().chain([
            "--retry",
            "3",
            "--retry-delay",
            "0",
            &server.url("/x"),
        ]));
        assert_eq!(
            (result.exit, result.stdout.len()),
            (67, 0),
            "{options} {challenges:?}: {}",
            result.stderr
        );
        assert!(
            server.requests().len() <= max_requests,
            "{options} {challenges:?}: {:?}",
            authentication_schemes(&server)
        );
    }
}

/// A challenge from a redirect target on another server (docs/spec/faults.md, row 29).
#[test]
fn credentials_do_not_answer_a_challenge_of_another_server() {
    let other_server = start_protected_server(&[DIGEST, BASIC]);
    let other_url = other_server.url("/x");
    let origin = http_server(move |_| HttpResponse::new(302).header("Location", &other_url));
    for options in ["-u u:pw", "-u u:pw --digest", "-u u:pw --digest --oauth2-bearer t"] {
        let result = run_fetch_url(options.split(' ').chain([origin.url("/x").as_str()]));
        result.assert_exit(67);
    }
    assert!(
        authentication_schemes(&other_server).iter().all(|scheme| scheme == "-"),
        "{:?}",
        authentication_schemes(&other_server)
    );
}

/// Writes an `--askpass` program that appends its arguments to the file `prompts` and then runs `script`.
fn write_askpass_program(directory: &Path, script: &str) {
    let path = directory.join("ask me");
    fs::write(&path, format!("#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" >>prompts\n{script}\n"))
        .expect("write program");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("set file mode");
}

fn fetch_with_askpass(directory: &Path, options: &str, url: &str) -> RunResult {
    let mut command = fetch_url_command();
    command.current_dir(directory).args(["--retry", "0", "--askpass", "./ask me"]);
    command.args(options.split_whitespace()).arg(url);
    run_command(command)
}

#[test]
fn askpass_program_supplies_user_and_password() {
    for script in ["echo pw", "printf pw", "printf 'pw\\r\\nmore\\n'", "echo pw; echo talk >&2"] {
        for options in ["-u u", "-u u --anyauth", "-u u --ask-password"] {
            let dir = temp_dir();
            write_askpass_program(dir.path(), script);
            let server = start_protected_server(&[BASIC]);
            let result = fetch_with_askpass(dir.path(), options, &server.url("/x"));
            assert_eq!(
                (result.exit, result.stdout_text().as_str()),
                (0, "object"),
                "{script} {options}: {}",
                result.stderr
            );
            let prompts = read_text_file(dir.path(), "prompts");
            assert!(
                prompts.starts_with("1|") && prompts.matches('|').count() == 2,
                "not exactly one prompt: {prompts}"
            );
            assert!(prompts.contains('u') && !prompts.contains("pw"), "{prompts}");
        }
    }
    // Without a user name, the program is called for it first; a URL can supply it.
    let dir = temp_dir();
    write_askpass_program(dir.path(), "case $1 in User*) echo u;; *) echo pw;; esac");
    let server = start_protected_server(&[BASIC]);
    assert_eq!(fetch_with_askpass(dir.path(), "", &server.url("/x")).assert_exit(0).stdout_text(), "object");
    let prompts = read_text_file(dir.path(), "prompts");
    assert!(prompts.matches("1|").count() == 2 && prompts.contains(&server.addr().to_string()), "{prompts}");
    fetch_with_askpass(dir.path(), "", &server.url("/x").replacen("://", "://u@", 1)).assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "prompts").matches("1|").count(), 3);
    // One prompt for all URLs of the same server.
    let dir = temp_dir();
    write_askpass_program(dir.path(), "echo pw");
    fetch_with_askpass(dir.path(), &format!("-u u {}", server.url("/a")), &server.url("/b")).assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "prompts").matches("1|").count(), 1, "two prompts for one server");
}

#[test]
fn askpass_program_is_not_called_without_a_challenge() {
    let open_server = http_server(|_| HttpResponse::new(200).body("object"));
    let forbidden_server = http_server(|_| HttpResponse::new(403));
    for (server, options, exit) in [
        (&open_server, "-u u", 0),
        (&open_server, "", 0),
        (&forbidden_server, "-u u", 9),
        (&open_server, "-u u:pw", 0),
    ] {
        let dir = temp_dir();
        write_askpass_program(dir.path(), "echo pw");
        fetch_with_askpass(dir.path(), options, &server.url("/x")).assert_exit(exit);
        assert!(
            !dir.path().join("prompts").exists(),
            "{options}: the program was called without a challenge"
        );
    }
}

#[test]
fn failing_askpass_program_exits_67_after_one_call() {
    for (script, options) in [
        ("exit 1", "-u u"),
        ("echo pw; exit 3", "-u u"),
        ("kill -9 $$", "-u u"),
        ("", "-u u"),
        ("echo wrong", "-u u"),
    ] {
        let dir = temp_dir();
        write_askpass_program(dir.path(), script);
        let server = start_protected_server(&[BASIC]);
        let result = fetch_with_askpass(dir.path(), options, &server.url("/x"));
        result.assert_exit(67);
        assert_eq!(
            read_text_file(dir.path(), "prompts").matches("1|").count(),
            1,
            "{script:?}: more than one prompt"
        );
        assert!(server.requests().len() <= 2 && result.stdout.is_empty(), "{script:?}");
        assert!(
            !result.stderr.is_empty() && !result.stderr.contains("wrong"),
            "{script:?}: {}",
            result.stderr
        );
    }
    let dir = temp_dir();
    let result = fetch_with_askpass(dir.path(), "-u u", &start_protected_server(&[BASIC]).url("/x"));
    assert!([67, 2].contains(&result.exit), "missing program: {result:?}");
}

/// The realm in UTF-8 and in Latin-1 (RFC 7617 §2.1, RFC 9110 §5.5).
#[test]
fn non_ascii_realm_is_accepted() {
    for challenge in [&b"Basic realm=\"caf\xc3\xa9\", charset=\"UTF-8\""[..], b"Basic realm=\"caf\xe9\""] {
        let dir = temp_dir();
        write_askpass_program(dir.path(), "echo pw");
        let server = http_server(move |request| match is_authorized(request) {
            true => HttpResponse::new(200).body("object"),
            false => HttpResponse::new(401).header("WWW-Authenticate", challenge),
        });
        fetch_with_askpass(dir.path(), "-u u", &server.url("/x")).assert_exit(0);
        assert!(read_text_file(dir.path(), "prompts").contains("caf"));
    }
}

/// The realm is sanitised in the prompt and never interpreted by a shell.
#[test]
fn hostile_realm_is_sanitised_in_the_prompt() {
    let dir = temp_dir();
    write_askpass_program(dir.path(), "echo pw");
    let server = start_protected_server(&["Basic realm=\"$(touch evil)`touch evil`; touch evil\""]);
    fetch_with_askpass(dir.path(), "-u u", &server.url("/x")).assert_exit(0);
    assert!(read_text_file(dir.path(), "prompts").contains("touch evil"), "the realm is not in the prompt");
    assert!(!dir.path().join("evil").exists());
    // C1 control characters and bidirectional controls: escaped, or no prompt.
    let server = start_protected_server(&["Basic realm=\"\u{9b}2J\u{202e}\u{200b}\""]);
    assert!([0, 67].contains(&fetch_with_askpass(dir.path(), "-u u", &server.url("/x")).exit));
    let prompts = read_text_file(dir.path(), "prompts");
    let is_control_character = |letter: char| letter.is_control() || letter == '\u{202e}';
    assert!(!prompts.contains(is_control_character), "{prompts:?}");
    // An ESC in a header field is invalid HTTP: the prompt never contains it.
    let server = start_protected_server(&["Basic realm=\"\u{1b}]0;x\u{7}\""]);
    assert!([8, 67].contains(&fetch_with_askpass(dir.path(), "-u u", &server.url("/x")).exit));
    assert!(!read_text_file(dir.path(), "prompts").contains('\u{1b}'));
}

/// docs/spec/faults.md, row 39: a run without a terminal does not prompt.
#[test]
fn missing_password_without_a_terminal_exits_67_without_a_prompt() {
    let server = start_protected_server(&[BASIC]);
    for options in ["", "-u u", "-u u --ask-password", "-u u --digest", "-u u --anyauth"] {
        let started = Instant::now();
        let script = format!("setsid -w \"$F\" {options} \"$1\" </dev/null");
        let result = run_shell(&script, [server.url("/x")]);
        assert_eq!(result.exit, 67, "{options}: {}", result.stderr);
        assert!(started.elapsed() < Duration::from_secs(2), "{options}: {:?}", started.elapsed());
        assert!(
            !result.stderr.contains("assword for") && !result.stderr.contains("User name for"),
            "{options}: {}",
            result.stderr
        );
    }
}

/// docs/spec/faults.md, section 3.4: the program exits within 1 s of the signal.
#[test]
fn sigterm_while_askpass_runs_exits_within_a_second() {
    let server = start_protected_server(&[BASIC]);
    let dir = temp_dir();
    write_askpass_program(dir.path(), "sleep 4; echo pw");
    let mut command = fetch_url_command();
    command.current_dir(dir.path()).args(["-u", "u", "--askpass", "./ask me", &server.url("/x")]);
    let child = command.stderr(std::process::Stdio::null()).spawn().expect("start process");
    let is_prompted = || dir.path().join("prompts").exists();
    assert!(wait_until(Duration::from_secs(5), is_prompted), "the askpass program was not called");
    send_signal(&child, "TERM");
    let sent = Instant::now();
    assert_eq!(wait_for_exit(child).signal, Some(15));
    assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
}

/// The time of the `--askpass` program counts against `--max-time`, and its output is limited.
#[test]
fn slow_or_endless_askpass_program_is_limited() {
    let dir = temp_dir();
    // The program closes the inherited standard error; otherwise the test would wait until the program ends.
    write_askpass_program(dir.path(), "exec 2>/dev/null; sleep 4; echo pw");
    let started = Instant::now();
    fetch_with_askpass(dir.path(), "-u u --max-time 0.5", &start_protected_server(&[BASIC]).url("/x"))
        .assert_exit(28);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    // A program whose output line never ends: the output is read up to a limit.
    let dir = temp_dir();
    write_askpass_program(dir.path(), "exec cat /dev/zero");
    let result = fetch_with_askpass(dir.path(), "-u u", &start_protected_server(&[BASIC]).url("/x"));
    assert!([67, 93].contains(&result.exit), "{result:?}");
}
