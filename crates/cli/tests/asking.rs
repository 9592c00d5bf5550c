//! A server that wants to know who asks: Basic and Digest, and where a password comes from that was not
//! given: a program, a person at a terminal, or nobody (SECURITY.md, rows 29, 39 and 89).

#![allow(clippy::expect_used, reason = "a helper of tests")]

#[path = "support/md5.rs"]
mod md5;
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fetch_url_tests::{HttpReply, HttpRequest, HttpServer, Terminal, file_handler};
use md5::md5_hex;
use support::{
    BINARY, Ran, command, content_of, ended, fetch, ran, send_signal, serving, shell, tagged, until,
};

const BASIC: &str = "Basic realm=\"the realm\"";
const DIGEST: &str = "Digest realm=\"the realm\", nonce=\"n0nce\", qop=\"auth\", algorithm=MD5, opaque=\"o\"";

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// Lets `u` with `pw` in (Basic, `dTpwdw==`), and answers everybody else with these challenges.
fn guarded(challenges: &'static [&'static str]) -> HttpServer {
    serving(move |request| match is_let_in(request) {
        true => HttpReply::new(200).body("object"),
        false => challenged(challenges),
    })
}

fn challenged(challenges: &[&str]) -> HttpReply {
    let reply = HttpReply::new(401).body("who are you?\n");
    challenges.iter().fold(reply, |reply, challenge| reply.header("WWW-Authenticate", challenge))
}

/// By Basic, or by a Digest that is right in every part (RFC 7616 §3.4).
fn is_let_in(request: &HttpRequest) -> bool {
    let field = request.header_text("authorization").unwrap_or_default();
    match field.split_once(' ') {
        Some(("Basic", login)) => login == "dTpwdw==",
        Some(("Digest", parts)) => digest_is_right(request, parts),
        _ => false,
    }
}

fn digest_is_right(request: &HttpRequest, parts: &str) -> bool {
    let parts = parameters(parts);
    let of = |name: &str| parts.get(name).map(String::as_str).unwrap_or_default();
    let one = md5_hex(format!("u:{}:pw", of("realm")).as_bytes());
    let two = md5_hex(format!("{}:{}", request.method, request.path()).as_bytes());
    let middle = format!("{}:{}:{}:{}", of("nonce"), of("nc"), of("cnonce"), of("qop"));
    let expected = md5_hex(format!("{one}:{middle}:{two}").as_bytes());
    let is_well_made = of("uri") == request.path() && of("username") == "u" && of("nc").len() == 8;
    let is_ours =
        of("nonce") == "n0nce" && of("opaque") == "o" && of("qop") == "auth" && of("cnonce").len() >= 8;
    is_well_made && is_ours && of("response") == expected
}

/// `a=b, c="d, \"e\""` by name.
fn parameters(text: &str) -> BTreeMap<String, String> {
    let (mut parts, mut rest) = (BTreeMap::new(), text);
    while let Some((name, value)) = rest.split_once('=') {
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"').unwrap_or(quoted.len());
                (&quoted[..end], quoted.get(end + 1..).unwrap_or_default())
            }
            None => value.split_at(value.find(',').unwrap_or(value.len())),
        };
        parts.insert(name.trim_matches([' ', ',']).to_ascii_lowercase(), value.to_owned());
        rest = after;
    }
    parts
}

/// The scheme of authentication of each request, "-" for none.
fn schemes(server: &HttpServer) -> Vec<String> {
    let scheme = |request: &HttpRequest| {
        let field = request.header_text("authorization").unwrap_or("-");
        field.split(' ').next().unwrap_or_default().to_owned()
    };
    server.requests().iter().map(scheme).collect()
}

#[test]
fn the_digest_of_rfc_2617() {
    // RFC 2617 §3.5, the example; RFC 1321, appendix A.5.
    let (one, two) = (md5_hex(b"Mufasa:testrealm@host.com:Circle Of Life"), md5_hex(b"GET:/dir/index.html"));
    let middle = "dcd98b7102dd2f0e8b11d0f600bfb0c093:00000001:0a4f113b:auth";
    assert_eq!(md5_hex(format!("{one}:{middle}:{two}").as_bytes()), "6629fae49393a05397450978507c4ef1");
    assert_eq!(md5_hex(b""), "d41d8cd98f00b204e9800998ecf8427e");
}

#[test]
fn who_is_let_in() {
    for (challenges, words, asked) in [
        (&[BASIC][..], "-u u:pw", &["Basic"][..]),
        // Nothing is shown before the server has said what it takes.
        (&[DIGEST], "-u u:pw --digest", &["-", "Digest"]),
        (&[BASIC, DIGEST], "-u u:pw --digest", &["-", "Digest"]),
        (&[DIGEST, BASIC], "-u u:pw --anyauth", &["-", "Digest"]),
        (&["Negotiate", "Bearer realm=\"x\"", DIGEST], "-u u:pw --digest", &["-", "Digest"]),
        (
            &[
                "Basic realm=\"the realm\", Digest realm=\"the realm\", nonce=\"n0nce\", qop=\"auth\", opaque=\"o\"",
            ],
            "-u u:pw --digest",
            &["-", "Digest"],
        ),
        // Where the server can do no better, it is shown when asked for.
        (&[BASIC], "-u u:pw --digest", &["-", "Basic"]),
        (&["basic realm=x"], "-u u:pw --digest", &["-", "Basic"]),
    ] {
        let server = guarded(challenges);
        let ran = fetch(words.split(' ').chain([server.url("/a%20b?c=%22d%22").as_str()]));
        assert_eq!((ran.exit, ran.text().as_str()), (0, "object"), "{words} {challenges:?}: {}", ran.stderr);
        assert_eq!(schemes(&server), asked, "{words} {challenges:?}");
    }
    // From the URL and from netrc just the same.
    let server = guarded(&[DIGEST]);
    fetch(["--digest", &server.url("/x").replacen("://", "://u:pw@", 1)]).exits(0);
    assert_eq!(schemes(&server), ["-", "Digest"]);
}

/// The body goes out again, whole, and in the end it is answered once.
#[test]
fn data_behind_a_question() {
    let server = guarded(&[DIGEST]);
    fetch(["--digest", "-u", "u:pw", "-d", "a=b", &server.url("/x")]).exits(0);
    let last = server.requests().pop().expect("a request");
    assert_eq!((last.method.as_str(), last.body.as_slice()), ("POST", &b"a=b"[..]));
    let server = guarded(&[DIGEST]);
    let ran = fetch(["--digest", "-u", "u:pw", "-I", &server.url("/x")]);
    assert!(ran.exits(0).text().contains("200"), "{}", ran.text());
}

/// The rest of a body is asked for by the same user, who is let in again.
#[test]
fn a_body_that_broke_off_behind_a_question() {
    let (cut, honest) = (AtomicBool::new(false), file_handler(b"object".to_vec(), tagged()));
    let server = serving(move |request| match is_let_in(request) {
        false => challenged(&[DIGEST]),
        true if !cut.swap(true, Ordering::SeqCst) => honest(request).cut_body_at(3),
        true => honest(request),
    });
    let ran = fetch(["--digest", "-u", "u:pw", "--retry-delay", "0.05", &server.url("/x")]);
    assert_eq!((ran.exit, ran.text().as_str()), (0, "object"), "{}", ran.stderr);
    let last = server.requests().pop().expect("a request");
    assert_eq!(last.header_text("range"), Some("bytes=3-"));
}

/// Row 89: a wrong password is refused once, whatever the server goes on asking.
#[test]
fn who_is_not_let_in() {
    for (challenges, words, most) in [
        (&[BASIC][..], "-u u:wrong", 1),
        (&[BASIC], "-u u:wrong --digest", 2),
        (&[DIGEST], "-u u:wrong --digest", 2),
        (&[BASIC, DIGEST], "-u v:pw --digest", 2),
        // Nobody to ask, or nothing that is understood.
        (&[BASIC], "", 1),
        (&[BASIC], "-u u", 1),
        (&[], "-u u:pw --digest", 1),
        (&["Negotiate"], "-u u:pw --digest", 1),
        (&["Digest realm=\"r\""], "-u u:pw --digest", 1),
        (&["Digest realm=\"r\", nonce=\"n\", algorithm=MD4"], "-u u:pw --digest", 1),
        (&["Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\""], "-u u:pw --digest", 2),
        (&["Digest"], "-u u:pw --digest", 1),
        (&["Digest realm=\"unclosed, nonce=\"n\""], "-u u:pw --digest", 2),
        // Always a new nonce, always out of date: an end all the same.
        (&["Digest realm=\"r\", nonce=\"n\", qop=\"auth\", stale=true"], "-u u:wrong --digest", 4),
    ] {
        let server = guarded(challenges);
        let ran =
            fetch(words.split_whitespace().chain(["--retry", "3", "--retry-delay", "0", &server.url("/x")]));
        assert_eq!((ran.exit, ran.stdout.len()), (67, 0), "{words} {challenges:?}: {}", ran.stderr);
        assert!(server.requests().len() <= most, "{words} {challenges:?}: {:?}", schemes(&server));
    }
}

/// The question of a stranger is not answered with the caller's password (row 29).
#[test]
fn a_question_of_a_stranger() {
    let stranger = guarded(&[DIGEST, BASIC]);
    let there = stranger.url("/x");
    let home = serving(move |_| HttpReply::new(302).header("Location", &there));
    for words in ["-u u:pw", "-u u:pw --digest", "-u u:pw --digest --oauth2-bearer t"] {
        let ran = fetch(words.split(' ').chain([home.url("/x").as_str()]));
        ran.exits(67);
    }
    assert!(schemes(&stranger).iter().all(|scheme| scheme == "-"), "{:?}", schemes(&stranger));
}

/// A program of a few lines that writes its arguments to `asked`.
fn program(directory: &Path, script: &str) {
    let path = directory.join("ask me");
    fs::write(&path, format!("#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" >>asked\n{script}\n"))
        .expect("a program");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("its mode");
}

fn run(directory: &Path, words: &str, url: &str) -> Ran {
    let mut command = command();
    command.current_dir(directory).args(["--retry", "0", "--askpass", "./ask me"]);
    command.args(words.split_whitespace()).arg(url);
    ran(command)
}

#[test]
fn a_program_is_asked() {
    for script in ["echo pw", "printf pw", "printf 'pw\\r\\nmore\\n'", "echo pw; echo talk >&2"] {
        for words in ["-u u", "-u u --digest", "-u u --ask-password"] {
            let here = place();
            program(here.path(), script);
            let server = guarded(&[BASIC]);
            let ran = run(here.path(), words, &server.url("/x"));
            assert_eq!((ran.exit, ran.text().as_str()), (0, "object"), "{script} {words}: {}", ran.stderr);
            let asked = content_of(here.path(), "asked");
            assert!(asked.starts_with("1|") && asked.matches('|').count() == 2, "one question: {asked}");
            assert!(asked.contains('u') && !asked.contains("pw"), "{asked}");
        }
    }
    // Who does not say who it is, is asked that first; a URL may say it.
    let here = place();
    program(here.path(), "case $1 in User*) echo u;; *) echo pw;; esac");
    let server = guarded(&[BASIC]);
    assert_eq!(run(here.path(), "", &server.url("/x")).exits(0).text(), "object");
    let asked = content_of(here.path(), "asked");
    assert!(asked.matches("1|").count() == 2 && asked.contains(&server.addr().to_string()), "{asked}");
    run(here.path(), "", &server.url("/x").replacen("://", "://u@", 1)).exits(0);
    assert_eq!(content_of(here.path(), "asked").matches("1|").count(), 3);
    // One answer for all URLs of the same server.
    let here = place();
    program(here.path(), "echo pw");
    run(here.path(), &format!("-u u {}", server.url("/a")), &server.url("/b")).exits(0);
    assert_eq!(content_of(here.path(), "asked").matches("1|").count(), 1, "asked twice for one server");
}

#[test]
fn a_program_is_not_asked() {
    let open = serving(|_| HttpReply::new(200).body("object"));
    let closed = serving(|_| HttpReply::new(403));
    for (server, words, exit) in
        [(&open, "-u u", 0), (&open, "", 0), (&closed, "-u u", 9), (&open, "-u u:pw", 0)]
    {
        let here = place();
        program(here.path(), "echo pw");
        run(here.path(), words, &server.url("/x")).exits(exit);
        assert!(!here.path().join("asked").exists(), "{words}: nobody wanted to know");
    }
}

#[test]
fn a_program_that_does_not_know() {
    for (script, words) in [
        ("exit 1", "-u u"),
        ("echo pw; exit 3", "-u u"),
        ("kill -9 $$", "-u u"),
        ("", "-u u"),
        ("echo wrong", "-u u"),
    ] {
        let here = place();
        program(here.path(), script);
        let server = guarded(&[BASIC]);
        let ran = run(here.path(), words, &server.url("/x"));
        ran.exits(67);
        assert_eq!(
            content_of(here.path(), "asked").matches("1|").count(),
            1,
            "{script:?}: asked more than once"
        );
        assert!(server.requests().len() <= 2 && ran.stdout.is_empty(), "{script:?}");
        assert!(!ran.stderr.is_empty() && !ran.stderr.contains("wrong"), "{script:?}: {}", ran.stderr);
    }
    let here = place();
    let ran = run(here.path(), "-u u", &guarded(&[BASIC]).url("/x"));
    assert!([67, 2].contains(&ran.exit), "no such program: {ran:?}");
}

/// A realm need not be English (RFC 7617 §2.1, RFC 9110 §5.5).
#[test]
fn a_realm_in_other_letters() {
    for challenge in [&b"Basic realm=\"caf\xc3\xa9\", charset=\"UTF-8\""[..], b"Basic realm=\"caf\xe9\""] {
        let here = place();
        program(here.path(), "echo pw");
        let server = serving(move |request| match is_let_in(request) {
            true => HttpReply::new(200).body("object"),
            false => HttpReply::new(401).header("WWW-Authenticate", challenge),
        });
        run(here.path(), "-u u", &server.url("/x")).exits(0);
        assert!(content_of(here.path(), "asked").contains("caf"));
    }
}

/// What it is asked holds nothing of the server that a terminal would obey, and no shell sees it.
#[test]
fn a_hostile_realm() {
    let here = place();
    program(here.path(), "echo pw");
    let server = guarded(&["Basic realm=\"$(touch evil)`touch evil`; touch evil\""]);
    run(here.path(), "-u u", &server.url("/x")).exits(0);
    assert!(content_of(here.path(), "asked").contains("touch evil"), "it is shown as it is");
    assert!(!here.path().join("evil").exists());
    // Letters that turn others around, and controls in other clothes: escaped, or no question.
    let server = guarded(&["Basic realm=\"\u{9b}2J\u{202e}\u{200b}\""]);
    assert!([0, 67].contains(&run(here.path(), "-u u", &server.url("/x")).exit));
    let asked = content_of(here.path(), "asked");
    let is_hostile = |letter: char| letter.is_control() || letter == '\u{202e}';
    assert!(!asked.contains(is_hostile), "{asked:?}");
    // An escape in a field is no HTTP: nobody is asked in its name.
    let server = guarded(&["Basic realm=\"\u{1b}]0;x\u{7}\""]);
    assert!([8, 67].contains(&run(here.path(), "-u u", &server.url("/x")).exit));
    assert!(!content_of(here.path(), "asked").contains('\u{1b}'));
}

/// Row 39: where there is no terminal, there is no question.
#[test]
fn nobody_to_ask() {
    let server = guarded(&[BASIC]);
    for words in ["", "-u u", "-u u --ask-password", "-u u --digest"] {
        let begun = Instant::now();
        let script = format!("setsid -w \"$F\" {words} \"$1\" </dev/null");
        let ran = shell(&script, [server.url("/x")]);
        assert_eq!(ran.exit, 67, "{words}: {}", ran.stderr);
        assert!(begun.elapsed() < Duration::from_secs(2), "{words}: {:?}", begun.elapsed());
        assert!(
            !ran.stderr.contains("assword of") && !ran.stderr.contains("User for"),
            "{words}: {}",
            ran.stderr
        );
    }
}

/// The program in a terminal, with nothing of the tests' own environment.
fn terminal(words: &str, url: &str) -> Terminal {
    let arguments = ["-i", "PATH=/usr/bin:/bin", BINARY, "--retry", "0"];
    let arguments: Vec<&str> = arguments.into_iter().chain(words.split_whitespace()).chain([url]).collect();
    Terminal::run("env", &arguments, 100).expect("a terminal")
}

#[test]
fn a_person_is_asked() {
    let server = guarded(&[BASIC]);
    let mut person = terminal("-u u", &server.url("/x"));
    person.expect("assword").expect("a question");
    person.type_secret("pw").expect("no echo");
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    let screen = person.screen();
    assert!(screen.contains("object") && screen.contains("the realm") && !screen.contains("pw"), "{screen}");
    // Both, one after the other; the name may be seen.
    let mut person = terminal("", &server.url("/x"));
    person.expect("User").expect("a question");
    person.type_line("u").expect("a line");
    person.expect("assword").expect("a second question");
    person.type_secret("pw").expect("no echo");
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    // A wrong one is not asked for again.
    let mut person = terminal("-u u", &server.url("/x"));
    person.expect("assword").expect("a question");
    person.type_secret("Kanarienvogel").expect("no echo");
    assert_eq!(person.exit().expect("an end"), 67, "{}", person.screen());
    assert!(!person.screen().contains("Kanarienvogel"));
    // Before anything is fetched.
    let before = server.requests().len();
    let mut person = terminal("-u u --ask-password", &server.url("/x"));
    person.expect("assword").expect("a question");
    assert_eq!(server.requests().len(), before, "it was to be asked for first");
    person.type_secret("pw").expect("no echo");
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    assert_eq!(server.requests().len(), before + 1);
}

/// A person who reads standard error somewhere else cannot see a question.
#[test]
fn half_a_terminal() {
    let server = guarded(&[BASIC]);
    for (redirection, words) in [("2>/dev/null", "-u u"), ("</dev/null", "-u u"), ("2>/dev/null", "")] {
        let line = format!("exec \"$0\" --retry 0 {words} \"$1\" {redirection}");
        let url = server.url("/x");
        let mut person = Terminal::run("sh", &["-c", &line, BINARY, &url], 80).expect("a terminal");
        assert_eq!(
            person.exit().expect("an end without a question"),
            67,
            "{redirection}: {}",
            person.screen()
        );
    }
    // Where the object goes does not matter.
    let line = "exec \"$0\" --retry 0 -u u \"$1\" >/dev/null";
    let mut person = Terminal::run("sh", &["-c", line, BINARY, &server.url("/x")], 80).expect("a terminal");
    person.expect("assword").expect("a question");
    person.type_secret("pw").expect("no echo");
    assert_eq!(person.exit().expect("an end"), 0);
}

/// Ctrl-C at the question: dead of SIGINT, and what is typed next is seen again.
#[test]
fn away_from_the_question() {
    let server = guarded(&[BASIC]);
    for (words, question) in [("-u u", "assword"), ("", "User")] {
        let mut person = terminal(words, &server.url("/x"));
        person.expect(question).expect("a question");
        person.type_octets(&[3]).expect("Ctrl-C");
        assert_eq!(person.exit().expect("an end"), -2, "{question}: {}", person.screen());
        let line = format!(
            "trap : INT; \"$0\" --retry 0 {words} \"$1\"; echo \"status $?\"; stty -a | tr ' ;' '\\n\\n' | grep '^-*echo$'"
        );
        let mut person =
            Terminal::run("sh", &["-c", &line, BINARY, &server.url("/x")], 80).expect("a terminal");
        person.expect(question).expect("a question");
        std::thread::sleep(Duration::from_millis(50));
        person.type_octets(&[3]).expect("Ctrl-C");
        person.expect("status 130").expect("dead of SIGINT");
        person.expect("\necho").expect("echo as before");
        person.exit().expect("an end");
    }
    // Ctrl-D, and an empty line: no password, and no second question.
    for typed in ["\u{4}", ""] {
        let mut person = terminal("-u u", &server.url("/x"));
        person.expect("assword").expect("a question");
        person.type_secret(typed).expect("no echo");
        assert_eq!(person.exit().expect("an end"), 67, "{typed:?}: {}", person.screen());
    }
}

/// A signal from elsewhere leaves the terminal as it was.
#[test]
fn stopped_at_the_question() {
    let server = guarded(&[BASIC]);
    let kill = "(sleep 0.4; kill -TERM $$) & exec \"$0\" --retry 0 -u u \"$1\"";
    let echo = "stty -a | tr ' ;' '\\n\\n' | grep '^-*echo$'";
    let line = format!("sh -c '{kill}' \"$0\" \"$1\"; echo \"status $?\"; {echo}");
    let mut person = Terminal::run("sh", &["-c", &line, BINARY, &server.url("/x")], 80).expect("a terminal");
    person.expect("assword").expect("a question");
    person.expect("status 143").expect("dead of SIGTERM");
    person.expect("\necho").expect("echo as before");
    person.exit().expect("an end");
}

/// SECURITY.md, 3.4: dead of the signal within a second, whomever we are waiting for.
#[test]
fn stopped_while_a_program_thinks() {
    let server = guarded(&[BASIC]);
    let here = place();
    program(here.path(), "sleep 4; echo pw");
    let mut command = command();
    command.current_dir(here.path()).args(["-u", "u", "--askpass", "./ask me", &server.url("/x")]);
    let child = command.stderr(std::process::Stdio::null()).spawn().expect("the binary can be started");
    let is_asked = || here.path().join("asked").exists();
    assert!(until(Duration::from_secs(5), is_asked), "nobody is asked");
    send_signal(&child, "TERM");
    let sent = Instant::now();
    assert_eq!(ended(child).signal, Some(15));
    assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
}

/// Waiting for a program counts as waiting.
#[test]
fn a_program_that_takes_its_time() {
    let here = place();
    // It lets go of our standard error, for which the test would wait otherwise.
    program(here.path(), "exec 2>/dev/null; sleep 4; echo pw");
    let begun = Instant::now();
    run(here.path(), "-u u --max-time 0.5", &guarded(&[BASIC]).url("/x")).exits(28);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    // One that never ends its line is heard up to a limit.
    let here = place();
    program(here.path(), "exec cat /dev/zero");
    let ran = run(here.path(), "-u u", &guarded(&[BASIC]).url("/x"));
    assert!([67, 93].contains(&ran.exit), "{ran:?}");
}
