//! NNTP logins: sent only after a 480 reply, and by default only with TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::live::nntp_server::{INN, INN_TLS, SN};
use crate::live::program::RunResult;
use crate::live::server::CA;
use crate::live::work_dir::{WorkDir, fetch, key};

const BOB: &str = "p@ss/w:rd#%41 x";
const ALICE: [&str; 2] = ["-u", "alice:secret"];

/// Returns a URL without TLS at the start, with the host name of the certificate.
fn plain(path: &str) -> String {
    format!("nntp://localhost:{}/{path}", INN.port())
}

fn tls(path: &str) -> String {
    format!("nntps://{INN_TLS}/{path}")
}

#[track_caller]
fn trusting(arguments: &[&str]) -> RunResult {
    fetch(&[&["--cacert", CA], arguments].concat())
}

/// Returns the block of a raw request with the login of alice, without TLS.
fn as_alice(commands: &[&str]) -> Vec<u8> {
    INN.block(&[&["AUTHINFO USER alice", "AUTHINFO PASS secret"], commands].concat())
}

#[test]
#[ignore = "needs the servers of docker/"]
fn login_over_tls_or_starttls_fetches_private_articles() {
    let article = as_alice(&["GROUP private.secret", "ARTICLE 7"]);
    let range =
        [5, 6, 7].map(|number| as_alice(&["GROUP private.secret", &format!("ARTICLE {number}")])).concat();
    let overview = as_alice(&["GROUP private.secret", "OVER 1-50"]);
    let login = [&ALICE[..], &["--format", "raw"]].concat();
    for url in [plain, tls] {
        trusting(&[&login[..], &[&url("private.secret/7")]].concat()).assert_success(&article);
        trusting(&[&login[..], &[&url("private.secret/5-7")]].concat()).assert_success(&range);
        trusting(&[&login[..], &[&url("private.secret")]].concat()).assert_success(&overview);
    }
    for url in [format!("news://localhost:{}/", INN.port()), format!("snews://{INN_TLS}/")] {
        trusting(&[&login[..], &[&format!("{url}secret-7@test.invalid")]].concat()).assert_success(&article);
        trusting(&[&login[..], &[&format!("{url}private.secret")]].concat()).assert_success(&overview);
    }
}

/// If the server requires a login in plaintext, STARTTLS is sent before user name and password.
#[test]
#[ignore = "needs the servers of docker/"]
fn starttls_precedes_the_login() {
    let user = key();
    let watch = INN.watch();
    trusting(&["-u", &format!("{user}:x"), &plain("private.secret/1")]).assert_exit(67);
    let received = watch.commands_for(&user);
    let at = |start: &str| received.iter().position(|line| line.starts_with(start));
    let (tls, name) = (at("STARTTLS").expect("it asks for TLS"), at("AUTHINFO").expect("it logs in"));
    assert!(tls < name, "{received:?}");
    assert_eq!(
        received[name..name + 2],
        [format!("AUTHINFO USER {user}"), "AUTHINFO PASS ********".to_owned()]
    );
    assert_eq!(watch.sessions(&user), 1);
}

/// If the certificate is not trusted, no login is sent.
#[test]
#[ignore = "needs the servers of docker/"]
fn untrusted_certificate_receives_no_login() {
    let (user, watch) = (key(), INN.watch());
    let login = format!("{user}:x");
    let dir = WorkDir::new();
    for url in [plain("private.secret/1"), tls("private.secret/1")] {
        dir.fetch(&["-u", &login, "-o", "here", &url]).assert_exit(60);
    }
    let port = INN.port();
    let named = plain("private.secret/1").replace("localhost", "wrong.example");
    let to_here = format!("wrong.example:{port}:127.0.0.1");
    let arguments = ["--cacert", CA, "--resolve", &to_here, "-u", &login, "-o", "here", &named];
    dir.fetch(&arguments).assert_exit(60).assert_stderr_contains("wrong.example");
    dir.assert_entries(&[]);
    let later = key();
    INN.reply(&[&format!("GROUP {later}")]);
    watch.commands_for(&later);
    assert_eq!(watch.sessions(&user), 0);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn plaintext_login_needs_insecure_auth() {
    let article = as_alice(&["GROUP private.secret", "ARTICLE 7"]);
    let result = fetch(&[&ALICE[..], &["-v", "--insecure-auth", &INN.url("private.secret/7")]].concat());
    result
        .assert_exit(0)
        .assert_stdout(&article)
        .assert_stderr_omits("AUTHINFO PASS secret")
        .assert_stderr_contains("AUTHINFO USER alice");
    // By default the login is not sent in plaintext.
    let result = fetch(&[&ALICE[..], &["-v", &INN.url("private.secret/7")]].concat());
    result.assert_exit(60).assert_stdout("").assert_stderr_omits("AUTHINFO");
}

/// The password is sent once, the error contains the server's reply, and the password is not shown.
#[test]
#[ignore = "needs the servers of docker/"]
fn wrong_password_is_sent_once_and_exits_67() {
    let dir = WorkDir::new();
    for url in [plain("private.secret/1"), tls("private.secret/1"), tls("private.secret")] {
        let retry = ["--retry", "2", "--retry-delay", "0"];
        let arguments = ["-v", "--cacert", CA, "-u", "alice:wr0ng-canary", "-o", "here", &url];
        let result =
            dir.fetch(&[&retry[..], &arguments].concat()).assert_exit(67).assert_stderr_omits("wr0ng-canary");
        assert_eq!(result.err.matches("> AUTHINFO PASS").count(), 1, "{}", result.err);
        result.assert_stderr_contains("(481 Authentication failed)");
        dir.assert_entries(&[]);
    }
    trusting(&["-u", "nobody:secret", &tls("private.secret/1")])
        .assert_exit(67)
        .assert_stdout("")
        .assert_stderr_contains("481");
}

/// RFC 4643 §2.3.2 allows every byte above the space in a password; INN also accepts the space.
#[test]
#[ignore = "needs the servers of docker/"]
fn password_with_reserved_bytes_logs_in() {
    let article = as_alice(&["GROUP private.secret", "ARTICLE 7"]);
    let login = format!("bob:{BOB}");
    trusting(&["-u", &login, &tls("private.secret/7")]).assert_success(&article);
    let result =
        trusting(&["-v", "-u", &login, &plain("private.secret/7")]).assert_exit(0).assert_stdout(&article);
    result.assert_stderr_omits("p@ss").assert_stderr_omits("rd#%41");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn netrc_and_password_file_supply_the_password() {
    let dir = WorkDir::new();
    dir.write("netrc", "machine localhost login alice password secret\n");
    dir.write("other", "machine example.org login alice password secret\n");
    dir.write("password", "secret\n");
    for name in ["netrc", "other", "password"] {
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o600)).expect("our own file");
    }
    let article = as_alice(&["GROUP private.secret", "ARTICLE 7"]);
    let url = tls("private.secret/7");
    dir.fetch(&["--cacert", CA, "--netrc-file", "netrc", &url]).assert_success(&article);
    dir.fetch(&["--cacert", CA, "-u", "alice", "--password-file", "password", &url]).assert_success(&article);
    dir.fetch(&["--cacert", CA, "--netrc-file", "other", &url]).assert_exit(67).assert_stdout("");
    dir.fetch(&["--cacert", CA, &url]).assert_exit(67).assert_stdout("");
}

/// The login is not sent for public articles; sn has no logins.
#[test]
#[ignore = "needs the servers of docker/"]
fn login_is_not_sent_unless_required() {
    let result = trusting(&[&ALICE[..], &["-v", &tls("fetch.test/1")]].concat());
    result.assert_exit(0).assert_stdout(INN.nth("ARTICLE", "fetch.test", 1)).assert_stderr_omits("AUTHINFO");
    let result = fetch(&[&ALICE[..], &["-v", &SN.nth_url("private.secret", 1)]].concat());
    result
        .assert_exit(0)
        .assert_stdout(SN.nth("ARTICLE", "private.secret", 1))
        .assert_stderr_omits("AUTHINFO")
        .assert_stderr_omits("STARTTLS");
}

/// One login for all URLs of a server, also for public groups after it.
#[test]
#[ignore = "needs the servers of docker/"]
fn one_login_serves_several_urls() {
    let urls = ["private.secret/1", "fetch.test/1", "private.secret/2-4", "private.secret/5"].map(plain);
    let urls = urls.each_ref().map(String::as_str);
    let result = trusting(&[&ALICE[..], &["-v"], &urls].concat()).assert_exit(0);
    for (line, count) in [("> STARTTLS", 1), ("> AUTHINFO USER", 1), ("< 200 ", 1)] {
        assert_eq!(result.err.matches(line).count(), count, "{line}\n{}", result.err);
    }
    let secret = |number: u32| as_alice(&["GROUP private.secret", &format!("ARTICLE {number}")]);
    let free = INN.nth("ARTICLE", "fetch.test", 1);
    let expected = [secret(1), free, secret(2), secret(3), secret(4), secret(5)];
    result.assert_stdout(expected.concat());
}

/// The password appears in no trace, error, JSON output or event.
#[test]
#[ignore = "needs the servers of docker/"]
fn password_appears_in_no_output() {
    for (url, password, exit) in [
        (tls("fetch.test/9000"), BOB, 78),
        (tls("private.secret/9000"), BOB, 78),
        (plain("private.secret/1"), "s3cr3t-canary", 67),
    ] {
        for options in
            [&["-vvv", "--trace", "-"][..], &["--format", "json", "--events", "-"], &["-w", "%{json}"]]
        {
            let result =
                trusting(&[options, &["-u", &format!("bob:{password}"), &url]].concat()).assert_exit(exit);
            let shown = result.text() + &result.err;
            assert!(!shown.contains(password), "{options:?} {url}: {shown}");
        }
    }
}

/// RFC 1738 §3.7: the URL cannot contain a login; its password is not shown.
#[test]
#[ignore = "needs the built program"]
fn login_in_an_nntp_url_exits_3() {
    fetch(&["nntp://alice:s3cr3t-canary@localhost:17119/private.secret/1"])
        .assert_exit(3)
        .assert_stderr_omits("s3cr3t-canary");
}
