//! What a reviewer found: one connection for several URLs must never give the octets of another file.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::Duration;

use fetch_url_tests::{Act, FtpServer, FtpSite, Rule};
use support::{Ran, fetch};

fn site() -> FtpSite {
    "abcdef".chars().fold(FtpSite::new(), |site, name| site.file(format!("/{name}"), format!("{name};")))
}

fn fetched(site: FtpSite, names: &[&str], more: &[&str]) -> (Ran, FtpServer) {
    let server = FtpServer::start(site).expect("a server");
    let urls: Vec<String> = names.iter().map(|name| server.url(name)).collect();
    let words: Vec<&str> = more.iter().copied().chain(urls.iter().map(String::as_str)).collect();
    (fetch(words), server)
}

#[test]
fn a_missing_file_between_others() {
    for site in [site(), site().no("SIZE"), site().delay(Duration::from_millis(15))] {
        let (ran, server) = fetched(site, &["a", "b", "c", "missing", "d", "e", "f"], &[]);
        assert_eq!((ran.exits(78).text().as_str(), server.connections()), ("a;b;c;d;e;f;", 1));
    }
}

#[test]
fn a_data_connection_that_waited_too_long() {
    let stale = Rule::on("RETR", Act::Answer(b"425 too late\r\n".to_vec())).nth(4);
    let (ran, server) = fetched(site().rule(stale), &["a", "b", "c", "d", "e"], &[]);
    assert_eq!(ran.exits(0).text(), "a;b;c;d;e;", "{:?}", server.dialogue());
}

#[test]
fn an_empty_directory_between_files() {
    for words in [&[][..], &["-B"]] {
        let site = site().dir("/empty");
        let (ran, server) = fetched(site, &["a", "b", "c", "empty;type=d", "d", "e"], words);
        assert_eq!(ran.exits(0).text(), "a;b;c;d;e;", "{:?}", server.dialogue());
    }
}

#[test]
fn a_reply_too_many() {
    let twice = Rule::on("RETR", Act::After(b"226 once more\r\n".to_vec())).nth(3);
    let (ran, server) = fetched(site().rule(twice), &["a", "b", "c", "d", "", "e"], &["--format", "raw"]);
    assert_eq!(ran.exits(0).text(), "a;b;c;d;a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ne;", "{:?}", server.dialogue());
}

#[test]
fn a_login_directory_that_may_not_be_read() {
    for reply in ["550 Permission denied.\r\n", "450 Try again later.\r\n"] {
        let (ran, _server) = fetched(site().answer("NLST", reply), &[""], &[]);
        assert_ne!(ran.exit, 0, "{reply}");
    }
}

#[test]
fn what_is_known_of_a_directory_is_whether_it_is_there() {
    let server = FtpServer::start(site().dir("/d")).expect("a server");
    for (path, exit) in [("d/", 0), ("d;type=d", 0), ("", 0), ("x/", 78), ("x;type=d", 78)] {
        fetch(["-I", &server.url(path)]).exits(exit);
    }
    assert!(!server.dialogue().iter().any(|line| line.starts_with("EPSV")), "{:?}", server.dialogue());
}

#[test]
fn a_reply_without_end_in_lines_without_codes() {
    let mut poem = b"250-x\r\n331 y\r\n".to_vec();
    (0..3000).for_each(|_| poem.extend_from_slice(b"no code\r\n"));
    let (ran, _server) = fetched(site().dir("/d").answer("CWD", poem), &["d/x"], &[]);
    ran.exits(63);
}

#[test]
fn a_password_that_is_repeated_after_the_login() {
    let site = site().user("me", "canary").answer("CWD", "550 denied for canary\r\n");
    let server = FtpServer::start(site).expect("a server");
    let url = server.url("d/x").replace("ftp://", "ftp://me:canary@");
    let ran = fetch(["-v", "--format", "json", &url]);
    ran.exits(78);
    assert!(!ran.stderr.contains("canary") && ran.stderr.contains("***"), "{}", ran.stderr);
}

/// --ssl gives up TLS only for a server that will have none: not for one that is busy.
#[test]
fn a_busy_server_is_not_asked_in_the_clear() {
    for (reply, exit) in [("421 Too many.\r\n", 92), ("431 Later.\r\n", 35)] {
        let server = FtpServer::start(site().answer("AUTH", reply)).expect("a server");
        let ran = fetch(["--ssl", &server.url("a").replace("ftp://", "ftp://me:canary@")]);
        ran.exits(exit);
        assert!(!server.dialogue().iter().any(|line| line.starts_with("USER")), "{:?}", server.dialogue());
    }
}

/// A file that has to be brought from a tape first is waited for.
#[test]
fn a_file_that_opens_slowly() {
    let slow = Rule::on("RETR", Act::Pause(Duration::from_millis(3500))).nth(3);
    let (ran, server) = fetched(site().rule(slow), &["a", "b", "c", "d"], &[]);
    assert_eq!((ran.exits(0).text().as_str(), server.connections()), ("a;b;c;d;", 1));
}

/// Row 81: who answers each question in the last moment is as good as silent.
#[test]
fn a_conversation_without_end() {
    let server = FtpServer::start(site().delay(Duration::from_millis(700))).expect("a server");
    let begun = std::time::Instant::now();
    let ran = fetch(["--read-timeout", "1", "--ftp-method", "rfc1738", &server.url("1/2/3/4/5/6/7/8/a")]);
    ran.exits(28);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// An account may stand in netrc, too; nobody sees it.
#[test]
fn an_account_of_netrc() {
    let server = FtpServer::start(site().user("me", "pw").account("canary")).expect("a server");
    let here = tempfile::tempdir().expect("a directory");
    let netrc = here.path().join("netrc");
    std::fs::write(&netrc, "machine 127.0.0.1 login me password pw account canary\n").expect("a file");
    std::fs::set_permissions(&netrc, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("ours");
    let ran = fetch(["-v", "--netrc-file", netrc.to_str().expect("UTF-8"), &server.url("a")]);
    assert_eq!(ran.exits(0).text(), "a;");
    assert!(ran.stderr.contains("> ACCT ***") && !ran.stderr.contains("canary"), "{}", ran.stderr);
}
