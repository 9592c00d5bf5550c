//! Who we are to an FTP server (SEMANTICS.md §2, "Login"; SECURITY.md, rows 31, 36 to 39): what is sent, where
//! it comes from, and that it is never a guess and never seen.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use fetch_url_tests::{FtpServer, FtpSite, Terminal};
use support::{BINARY, Ran, command, ensure, in_parallel, names, ran, shell};

/// Letters only, so that no encoding changes it.
const CANARY: &str = "KanarienVogel";

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

fn site() -> FtpSite {
    FtpSite::new().file("/x", "object")
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn put(directory: &Path, name: &str, text: &str, mode: u32) {
    fs::write(directory.join(name), text).expect("a file");
    fs::set_permissions(directory.join(name), fs::Permissions::from_mode(mode)).expect("its mode");
}

/// The commands of the login.
fn shown(server: &FtpServer) -> Vec<String> {
    let mut lines = server.dialogue();
    lines.retain(|line| ["USER", "PASS", "ACCT"].iter().any(|verb| line.starts_with(verb)));
    lines
}

fn url(server: &FtpServer, login: &str) -> String {
    server.url("/x").replacen("://", &format!("://{login}"), 1)
}

/// Runs in the directory, which is the home too.
fn run(directory: &Path, words: &str, url: &str) -> Ran {
    let mut command = command();
    command.env("HOME", directory).current_dir(directory).args(["--retry", "0"]);
    command.args(words.split_whitespace()).arg(url);
    ran(command)
}

#[test]
fn as_much_as_the_server_asks_for() {
    let named = || site().user("u", "pw");
    for (site, words, expected) in [
        (site().without_passwords(), "-u u:pw", &["USER u"][..]),
        (site().without_passwords(), "-u u", &["USER u"]),
        (site().without_passwords(), "", &["USER anonymous"]),
        (named(), "-u u:pw", &["USER u", "PASS pw"]),
        (named().account("acc"), "-u u:pw --ftp-account acc", &["USER u", "PASS pw", "ACCT acc"]),
        // An account nobody wants is not told.
        (named(), "-u u:pw --ftp-account acc", &["USER u", "PASS pw"]),
        (named().reword("PASS", "202 Superfluous.\r\n"), "-u u:pw", &["USER u", "PASS pw"]),
        (site().anonymous(), "", &["USER anonymous", "PASS anonymous@"]),
        (
            site().anonymous(),
            "--ftp-anonymous-email me@example.org",
            &["USER anonymous", "PASS me@example.org"],
        ),
        // The address is for those without a name.
        (named(), "-u u:pw --ftp-anonymous-email me@example.org", &["USER u", "PASS pw"]),
    ] {
        let server = serve(site);
        let ran = run(place().path(), words, &server.url("/x"));
        assert_eq!((ran.exit, ran.text().as_str()), (0, "object"), "{words}: {}", ran.stderr);
        assert_eq!(shown(&server), expected, "{words}");
    }
}

/// 332 to USER: an account in the place of a password.
#[test]
fn an_account_at_once() {
    let site = || site().answer("USER", "332 Need account.\r\n").answer("ACCT", "230 In.\r\n");
    let server = serve(site().answer("PWD", "257 \"/\"\r\n"));
    run(place().path(), "-u u:pw --ftp-account acc", &server.url("/x"));
    assert_eq!(shown(&server), ["USER u", "ACCT acc"]);
}

#[test]
fn no_account() {
    for site in [site().user("u", "pw").account("acc"), site().answer("USER", "332 Need account.\r\n")] {
        let server = serve(site);
        let ran = run(place().path(), "-u u:pw", &server.url("/x"));
        ran.exits(67).says("hint:").says("--ftp-account");
        assert!(!shown(&server).iter().any(|line| line.starts_with("ACCT")));
    }
    let server = serve(site().user("u", "pw").account("acc"));
    run(place().path(), "-u u:pw --ftp-account wrong", &server.url("/x")).exits(67);
    assert_eq!(shown(&server), ["USER u", "PASS pw", "ACCT wrong"]);
}

const NETRC: &str = "machine 127.0.0.1 login n password pn account an\n\
                     machine 127.0.0.1 login m password pm\n\
                     default login d password pd\n";

#[test]
fn where_it_comes_from() {
    for (words, login, expected) in [
        ("-u u:pw", "", "USER u|PASS pw"),
        ("-u u:p:w", "", "USER u|PASS p:w"),
        ("", "v:pv@", "USER v|PASS pv"),
        ("", "v%40h:p%2Fv%3A%20@", "USER v@h|PASS p/v: "),
        ("", "v%FF:%E9@", "USER v\u{fffd}|PASS \u{fffd}"),
        // Empty is not absent (RFC 1738 §3.1).
        ("", "v:@", "USER v|PASS "),
        ("", ":pv@", "USER |PASS pv"),
        ("-n", "", "USER n|PASS pn"),
        ("-n", "m@", "USER m|PASS pm"),
        ("-n", "v:pv@", "USER v|PASS pv"),
        ("-n -u m", "", "USER m|PASS pm"),
        ("--netrc-file ./.netrc", "", "USER n|PASS pn"),
        ("--netrc-file ./.netrc -u u:pw", "", "USER u|PASS pw"),
        ("-u u --password-file ./pw", "", "USER u|PASS from file"),
        ("-u u --askpass ./ask", "", "USER u|PASS from program"),
        ("--askpass ./ask", "v@", "USER v|PASS from program"),
        ("-n --askpass ./ask", "m@", "USER m|PASS pm"),
        ("-n --askpass ./ask", "v@", "USER v|PASS from program"),
    ] {
        let here = place();
        put(here.path(), ".netrc", NETRC, 0o600);
        put(here.path(), "pw", "from file\nnot this\n", 0o600);
        put(here.path(), "ask", "#!/bin/sh\necho from program\n", 0o700);
        let server = serve(site());
        let ran = run(here.path(), words, &url(&server, login));
        assert_eq!((ran.exit, ran.text().as_str()), (0, "object"), "{words} {login}: {}", ran.stderr);
        assert_eq!(shown(&server).join("|"), expected, "{words} {login}");
    }
}

/// An account of netrc is for the server that wants one; where it is not supported, it is asked for.
#[test]
fn an_account_from_netrc() {
    let here = place();
    put(here.path(), ".netrc", NETRC, 0o600);
    let server = serve(site().user("n", "pn").account("an"));
    let ran = run(here.path(), "-n", &server.url("/x"));
    assert!([0, 67].contains(&ran.exit), "{ran:?}");
    assert_eq!(ran.exit == 0, shown(&server).contains(&"ACCT an".to_owned()));
}

/// Row 39: a name without a password, and nobody to ask.
#[test]
fn never_a_guess() {
    let server = serve(site());
    for (words, login) in [("-u u", ""), ("", "u@"), ("-n", "u@"), ("-u anonymous2", ""), ("", "@")] {
        let here = place();
        put(here.path(), ".netrc", "machine 127.0.0.1 login other password po\n", 0o600);
        let begun = Instant::now();
        let script = format!("HOME=. setsid -w \"$F\" --retry 0 {words} \"$1\" </dev/null");
        let mut shell = std::process::Command::new("sh");
        support::alone(&mut shell);
        shell.env("F", BINARY).arg("-c").arg(script).arg("sh").arg(url(&server, login));
        shell.current_dir(here.path());
        let ran = ran(shell);
        assert_eq!(ran.exit, 67, "{words} {login}: {}", ran.stderr);
        assert!(begun.elapsed() < Duration::from_secs(2), "{words}: {:?}", begun.elapsed());
    }
    assert!(!shown(&server).iter().any(|line| line.starts_with("PASS")), "{:?}", shown(&server));
}

#[test]
fn a_wrong_password_goes_out_once() {
    for (site, words) in [
        (site().user("u", "pw"), "-u u:wrong"),
        (site().user("u", "pw"), "-u v:pw"),
        (site().user("u", "pw"), ""),
        (site().answer("USER", "530 Not you.\r\n"), "-u u:pw"),
        (site().answer("PASS", "530 Too many users.\r\n"), "-u u:pw"),
        (site().one_at_a_time().user("u", "pw"), "-u u:wrong"),
    ] {
        let server = serve(site);
        let words = format!("--retry 3 --retry-delay 0 {words}");
        let mut command = command();
        command.args(words.split_whitespace()).arg(server.url("/x"));
        let ran = ran(command);
        ran.exits(67);
        let passes = shown(&server).iter().filter(|line| line.starts_with("PASS")).count();
        assert!(passes <= 1 && shown(&server).len() <= 2, "{words}: {:?}", shown(&server));
        assert!(ran.stderr.contains("530"), "the server's words: {}", ran.stderr);
    }
    // Nor by the program that is asked, nor for the next URL of the same server.
    let here = place();
    put(here.path(), "ask", "#!/bin/sh\necho once >>asked\necho wrong\n", 0o700);
    let server = serve(site().user("u", "pw"));
    run(here.path(), "-u u --askpass ./ask", &server.url("/x")).exits(67);
    assert_eq!(fs::read_to_string(here.path().join("asked")).expect("asked"), "once\n");
    assert_eq!(shown(&server), ["USER u", "PASS wrong"]);
}

/// 530 is "not logged in" before the login, and "denied" for a file after it.
#[test]
fn denied_is_not_the_login() {
    let server = serve(site().answer("RETR", "530 Not for you.\r\n"));
    run(place().path(), "-u u:pw", &server.url("/x")).exits(9);
}

#[test]
fn a_server_that_is_full() {
    for site in [
        site().greeting("421 Too many connections."),
        site().answer("USER", "421 Too many users.\r\n"),
        site().answer("PASS", "421 Too many users.\r\n"),
    ] {
        let server = serve(site);
        run(place().path(), "-u u:pw", &server.url("/x")).exits(92);
    }
}

#[test]
fn a_person_types() {
    let server = serve(site().user("u", CANARY));
    for login in ["u@", ""] {
        let words = if login.is_empty() { "-u u" } else { "-vvv" };
        let url = url(&server, login);
        let arguments = ["-i", "PATH=/usr/bin:/bin", BINARY, "--retry", "0"];
        let arguments: Vec<&str> =
            arguments.into_iter().chain(words.split_whitespace()).chain([url.as_str()]).collect();
        let mut person = Terminal::run("env", &arguments, 100).expect("a terminal");
        person.expect("assword").expect("a question");
        person.type_secret(CANARY).expect("no echo");
        assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
        let screen = person.screen();
        assert!(screen.contains("object") && !screen.contains(CANARY), "{screen}");
    }
    assert_eq!(shown(&server).iter().filter(|line| line.starts_with("PASS")).count(), 2);
    // Nobody is asked when the server does not want to know, and Ctrl-D is no password.
    let open = serve(site().without_passwords());
    let mut person = Terminal::run(BINARY, &["-u", "u", &open.url("/x")], 100).expect("a terminal");
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    let mut person = Terminal::run(BINARY, &["-u", "u", &server.url("/x")], 100).expect("a terminal");
    person.expect("assword").expect("a question");
    person.type_secret("\u{4}").expect("no echo");
    assert_eq!(person.exit().expect("an end"), 67, "{}", person.screen());
}

/// A person who thinks longer than the server has patience for loses nothing but time.
#[test]
fn a_slow_person() {
    let server = serve(site().user("u", "pw"));
    let mut person =
        Terminal::run(BINARY, &["--read-timeout", "0.5", "-u", "u", &server.url("/x")], 100).expect("a pty");
    person.expect("assword").expect("a question");
    std::thread::sleep(Duration::from_millis(1200));
    person.type_secret("pw").expect("no echo");
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
}

/// Row 36: whatever is asked for, wherever one looks.
#[test]
fn nobody_sees_it() {
    let user = || FtpSite::new().pattern("/x", 300_000).user("u", CANARY);
    let sites = [
        ("fine", user()),
        ("wrong", FtpSite::new().user("u", "pw")),
        ("account", user().account(CANARY)),
        ("cut", user().close_data_after(100_000)),
        ("reset", user().reset_data_after(100_000)),
        ("garbage", user().answer("PASS", "what?\r\n")),
        ("closed", user().close_at("PASS")),
        ("early", user().one_at_a_time()),
        ("echo", user().answer("PASS", format!("530 {CANARY} is wrong.\r\n"))),
    ];
    let told = Mutex::new(Vec::new());
    in_parallel(&sites, 6, |(name, site)| {
        let server = serve(site.clone());
        // One that must be asked one thing at a time takes three seconds to be known.
        let all = ["-vvv", "", "--format json -v", "-I -vv", "--list -vvv", "-w %{json}"];
        let rounds = if *name == "early" { 1 } else { all.len() };
        for words in &all[..rounds] {
            told.lock().expect("no panic").extend(leaks(name, words, &url(&server, &format!("u:{CANARY}@"))));
        }
        let wrote = server.dialogue().contains(&format!("PASS {CANARY}"));
        ensure(wrote, || format!("{name}: it never went out: {:?}", server.dialogue()))
    });
    let mut told = told.into_inner().expect("no panic");
    told.sort();
    assert!(told.is_empty(), "{} leaks: {:#?}", told.len(), &told[..told.len().min(12)]);
}

/// Every line of what is said, shown and written that holds the canary.
fn leaks(name: &str, words: &str, url: &str) -> Vec<String> {
    let here = place();
    let loud = format!("{words} --ftp-account {CANARY} --trace trace --events events -o out -R");
    let ran = run(here.path(), &loud, url);
    let mut texts = vec![("stderr".to_owned(), ran.stderr.clone()), ("stdout".to_owned(), ran.text())];
    for file in names(here.path()) {
        let octets = fs::read(here.path().join(&file)).expect("a file");
        texts.push((file, String::from_utf8_lossy(&octets).into_owned()));
    }
    let lines = texts.iter().flat_map(|(place, text)| text.lines().map(move |line| (place, line)));
    let leaks = lines.filter(|(_, line)| line.contains(CANARY));
    leaks.map(|(place, line)| format!("{name} {words} in {place}: {line}")).collect()
}

/// Row 38: from a file and from standard input, so that no list of processes shows it.
#[test]
fn from_standard_input() {
    let server = serve(site().user("u", "pw"));
    let script = "printf 'pw\\nnot this' | \"$F\" -u u --password-file - \"$1\"";
    assert_eq!(shell(script, [server.url("/x")]).exits(0).text(), "object");
    assert_eq!(shown(&server), ["USER u", "PASS pw"]);
}

/// The login of one host is not for another, nor for another port (row 33).
#[test]
fn each_server_its_own() {
    let (one, two) = (serve(site()), serve(site()));
    let here = place();
    run(here.path(), &url(&one, "u:pw@"), &two.url("/x")).exits(0);
    assert_eq!(shown(&one), ["USER u", "PASS pw"]);
    assert_eq!(shown(&two), ["USER anonymous", "PASS anonymous@"]);
    // Another login at the same server is another connection.
    let server = serve(site());
    run(here.path(), &url(&server, "u:pw@"), &url(&server, "v:pv@")).exits(0);
    assert_eq!((server.connections(), shown(&server).len()), (2, 4), "{:?}", shown(&server));
}

/// Row 111: RFC 959 forbids a bare `331 ` within `220-`; whoever says it is a server all the same, or none.
#[test]
fn a_banner_with_look_alikes() {
    for greeting in ["220-Hello\r\n331 not yet\r\n220 Here", "220-Hello\r\n 331 not yet\r\n220-\r\n220 Here"]
    {
        let server = serve(site().greeting(greeting));
        let ran = run(place().path(), "-u u:pw", &server.url("/x"));
        let is_in = ran.exit == 0 && shown(&server) == ["USER u", "PASS pw"];
        assert!(is_in || ran.exit == 8, "{greeting:?}: {ran:?} {:?}", shown(&server));
    }
    // `331-` is ended by `331 ` alone: the padded 230 between is a line of it.
    let server = serve(site().reword("USER", "331-Almost\r\n 230 not you\r\n331-230 \r\n331 Well?\r\n"));
    run(place().path(), "-u u:pw", &server.url("/x")).exits(0);
    assert_eq!(shown(&server), ["USER u", "PASS pw"]);
}
