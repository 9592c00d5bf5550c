//! FTP over TLS: `--ssl`, `--ssl-reqd` and `ftps:`, with TLS before the login and on every data connection.

use crate::live::ftp_server::{FtpServer, PROFTPD, VSFTPD, each_ftp_server};
use crate::live::server::CA;
use crate::live::tree::{BIG, HELLO, files};
use crate::live::work_dir::{WorkDir, fetch, key};
use fetch_url_tests::sha256;

each_ftp_server![
    ssl_reqd_encrypts_or_exits_35,
    ssl_encrypts_if_the_server_supports_it,
    each_tls_version_transfers_the_file,
    untrusted_ca_exits_60_before_the_login,
    certificate_for_another_name_exits_60_before_the_login,
    auth_tls_precedes_the_login_and_prot_the_data,
    login_requires_tls,
    data_connections_resume_the_tls_session,
    files_and_listings_over_tls_equal_the_tree,
    login_over_tls_is_accepted_or_exits_67,
    range_over_tls_returns_its_bytes,
];

const REQUIRED: [&str; 3] = ["--cacert", CA, "--ssl-reqd"];

#[track_caller]
fn fetch_by_tls(more: &[&str]) -> crate::live::program::RunResult {
    fetch(&[&REQUIRED, more].concat())
}

/// Asserts that a server without TLS receives no login and the run fails.
#[track_caller]
fn assert_refused(server: FtpServer) {
    fetch_by_tls(&["-v", &server.url("/hello.txt")])
        .assert_exit(35)
        .assert_stdout("")
        .assert_stderr_contains("502")
        .assert_stderr_omits("> USER");
}

fn ssl_reqd_encrypts_or_exits_35(server: FtpServer) {
    let Some(url) = server.tls_url("/hello.txt") else { return assert_refused(server) };
    fetch_by_tls(&["--require-complete", &url]).assert_success(HELLO);
    fetch_by_tls(&["-v", &url])
        .assert_exit(0)
        .assert_stderr_contains("> AUTH TLS")
        .assert_stderr_contains("> USER anonymous");
}

/// `--ssl` continues in plaintext if the server has no TLS, and uses TLS if it has.
fn ssl_encrypts_if_the_server_supports_it(server: FtpServer) {
    let own = ["--cacert", CA, "--ssl", "-v"];
    match server.tls_url("/hello.txt") {
        None => drop(
            fetch(&[&own[..], &[&server.url("/hello.txt")]].concat()).assert_exit(0).assert_stdout(HELLO),
        ),
        Some(url) => {
            let result = fetch(&[&own[..], &[&url]].concat()).assert_exit(0).assert_stdout(HELLO);
            result.assert_stderr_contains("> AUTH TLS").assert_stderr_contains("234");
            // After AUTH TLS was accepted, an invalid certificate is an error.
            fetch(&["--ssl", "-v", &url]).assert_exit(60).assert_stdout("").assert_stderr_omits("> USER");
        }
    }
}

fn each_tls_version_transfers_the_file(server: FtpServer) {
    let Some(url) = server.tls_url("/range.txt") else { return assert_refused(server) };
    let range = crate::live::tree::range();
    for options in [&["--tls-max", "1.2"][..], &["--tlsv1.3"], &["--tlsv1.2"], &["--tls-max", "1.3"]] {
        fetch_by_tls(&[options, &["--require-complete", &url]].concat()).assert_success(&range);
        // The second data connection resumes the TLS session of the control connection, too.
        fetch_by_tls(&[options, &[&url, &url]].concat()).assert_success([&range[..], &range].concat());
    }
}

fn untrusted_ca_exits_60_before_the_login(server: FtpServer) {
    let Some(url) = server.tls_url("/hello.txt") else { return assert_refused(server) };
    let dir = WorkDir::new();
    dir.fetch(&["-v", "--ssl-reqd", "-o", "here", &url]).assert_exit(60).assert_stderr_omits("> USER");
    dir.assert_entries(&[]);
    fetch(&["-k", "--ssl-reqd", &url]).assert_exit(0).assert_stdout(HELLO);
}

/// The certificate is for localhost and 127.0.0.1, and not for another name of this machine.
fn certificate_for_another_name_exits_60_before_the_login(server: FtpServer) {
    let Some(url) = server.tls_url("/hello.txt") else { return assert_refused(server) };
    fetch_by_tls(&[&url.replace("localhost", "127.0.0.1")]).assert_success(HELLO);
    let other = url.replace("localhost", "wrong.example");
    let port = other.rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("a port").to_owned();
    let to_here = format!("wrong.example:{port}:127.0.0.1");
    fetch_by_tls(&["-v", "--resolve", &to_here, &other])
        .assert_exit(60)
        .assert_stdout("")
        .assert_stderr_omits("> USER");
}

/// RFC 4217: AUTH, USER, PASS, and PBSZ 0 and PROT P before any data connection.
fn auth_tls_precedes_the_login_and_prot_the_data(server: FtpServer) {
    let name = key();
    let Some(url) = server.tls_url(&format!("/pub/{name}")) else { return assert_refused(server) };
    let watch = server.watch();
    fetch_by_tls(&[&url]).assert_exit(78).assert_stdout("");
    let received = watch.commands_for(&name);
    let position = |command: &str| {
        received
            .iter()
            .position(|line| line == command)
            .unwrap_or_else(|| panic!("no {command}: {received:?}"))
    };
    assert_eq!(position("AUTH TLS"), 0, "{received:?}");
    assert!(position("PBSZ 0") < position("PROT P"), "{received:?}");
    assert!(position("PROT P") < position("EPSV"), "{received:?}");
    assert!(position("USER anonymous") < position("CWD pub"), "{received:?}");
    assert_eq!(received.iter().filter(|line| line.starts_with("USER")).count(), 1, "{received:?}");
}

/// With `--ssl-reqd` no USER command is sent without TLS, neither with the given user nor anonymous.
fn login_requires_tls(server: FtpServer) {
    if let Some(url) = server.tls_url("/here.txt") {
        let result =
            fetch_by_tls(&["-v", "-u", "alice:secret", &url]).assert_exit(0).assert_stderr_omits("secret");
        let (before, _) = result.err.split_once("> USER alice").expect("a login");
        assert!(before.contains("> AUTH TLS") && before.contains("< 234"), "{}", result.err);
        return;
    }
    let (user, later) = (key(), key());
    let watch = server.watch();
    let url = server.url_as(&user, "secret-canary", "/here.txt");
    fetch_by_tls(&["-v", &url])
        .assert_exit(35)
        .assert_stderr_omits("secret-canary")
        .assert_stderr_omits("> USER");
    fetch(&[&server.url(&format!("/{later}"))]).assert_exit(78);
    watch.commands_for(&later);
    assert!(!watch.contains(&user) && !watch.contains("secret-canary"), "{} has seen it", server.name);
    // With --ssl the run continues in plaintext, so the server receives the login.
    fetch(&["--ssl", "--cacert", CA, &url]).assert_exit(67);
    assert!(watch.contains(&user));
}

/// vsftpd and proftpd refuse a data connection that does not resume the session of the control connection.
fn data_connections_resume_the_tls_session(server: FtpServer) {
    let name = key();
    let Some(last) = server.tls_url(&format!("/many/{name}")) else { return assert_refused(server) };
    let url = |number: u32| server.tls_url(&format!("/many/f{number}.txt")).expect("it has TLS");
    let mut urls: Vec<String> = (4201..4207).map(url).collect();
    urls.push(last);
    let expected: String = (4201..4207).map(|number| format!("{number}\n")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    for options in [&[][..], &["--tls-max", "1.2"]] {
        let watch = server.watch();
        fetch_by_tls(&[options, &urls].concat()).assert_exit(78).assert_stdout(&expected);
        let received = watch.commands_for(&name);
        let count = |verb: &str| received.iter().filter(|line| line.starts_with(verb)).count();
        assert_eq!((count("USER"), count("AUTH"), count("CWD")), (1, 1, 1), "{received:?}");
        assert!(count("RETR f42") == 6, "{received:?}");
    }
}

fn files_and_listings_over_tls_equal_the_tree(server: FtpServer) {
    let Some(url) = server.tls_url("") else { return assert_refused(server) };
    for (path, bytes) in files() {
        fetch_by_tls(&["--require-complete", &format!("{url}{path}")]).assert_success(&bytes);
    }
    let big = fetch_by_tls(&["--require-complete", &format!("{url}/big.bin")]).assert_exit(0).out;
    assert_eq!(sha256(&big), BIG);
    let listing = fetch_by_tls(&["--format", "json", &format!("{url}/many/")]).assert_exit(0).text();
    assert_eq!(listing.lines().count(), 5000);
    let listing = fetch_by_tls(&["--list-format", "long", "--format", "json", &format!("{url}/many/")]);
    assert_eq!(listing.assert_exit(0).text().lines().count(), 5000);
    // An empty listing over TLS is proven by the server's reply.
    fetch_by_tls(&[&format!("{url}/empty-dir/")]).assert_success("");
    fetch_by_tls(&[&format!("{url}/no-such-dir/")]).assert_exit(78);
    fetch_by_tls(&["--disable-epsv", &format!("{url}/hello.txt")]).assert_success(HELLO);
    fetch_by_tls(&[&format!("{url}/lf.txt;type=a")]).assert_exit(0);
}

fn login_over_tls_is_accepted_or_exits_67(server: FtpServer) {
    let Some(url) = server.tls_url("/here.txt") else { return assert_refused(server) };
    fetch_by_tls(&["-u", "alice:secret", &url]).assert_success("in the login directory of alice\n");
    fetch_by_tls(&["-u", "alice:wrong", &url]).assert_exit(67).assert_stdout("");
}

/// A range ends with an early close of the data connection, in TLS and in TCP.
fn range_over_tls_returns_its_bytes(server: FtpServer) {
    let Some(url) = server.tls_url("/range.txt") else { return assert_refused(server) };
    let range = crate::live::tree::range();
    fetch_by_tls(&["-r", "8-15", &url]).assert_success(&range[8..16]);
    fetch_by_tls(&["-r", "-8", &url]).assert_success(&range[79_992..]);
    fetch_by_tls(&["-r", "80000-", &url]).assert_exit(33).assert_stdout("");
    fetch_by_tls(&["-r", "8-15", &url, &url]).assert_success([&range[8..16], &range[8..16]].concat());
}

/// TLS starts with the first byte.
#[test]
#[ignore = "needs the servers of docker/"]
fn ftps_uses_tls_from_the_first_byte() {
    let url = |path: &str| PROFTPD.implicit_url(path).expect("it has such a port");
    for options in [&[][..], &["--ssl-reqd"], &["--ssl"], &["--tls-max", "1.2"], &["--tlsv1.3"]] {
        let hello = url("/hello.txt");
        let own = [&["--cacert", CA, "-v"], options, &[&hello]].concat();
        fetch(&own).assert_exit(0).assert_stdout(HELLO).assert_stderr_omits("> AUTH");
    }
    for (path, bytes) in files() {
        fetch(&["--cacert", CA, "--require-complete", &url(path)]).assert_success(&bytes);
    }
    let big = fetch(&["--cacert", CA, &url("/big.bin")]).assert_exit(0).out;
    assert_eq!(sha256(&big), BIG);
    let listing = fetch(&["--cacert", CA, "--format", "json", &url("/many/")]).assert_exit(0).text();
    assert_eq!(listing.lines().count(), 5000);
    fetch(&["-v", &url("/hello.txt")]).assert_exit(60).assert_stdout("").assert_stderr_omits("> USER");
    fetch(&["-k", &url("/hello.txt")]).assert_exit(0).assert_stdout(HELLO);
    let many: Vec<String> = (4301..4307).map(|number| url(&format!("/many/f{number}.txt"))).collect();
    let many: Vec<&str> = ["--cacert", CA].into_iter().chain(many.iter().map(String::as_str)).collect();
    fetch(&many).assert_success((4301..4307).map(|number| format!("{number}\n")).collect::<String>());
}

/// On a plain FTP port, a TLS handshake fails.
#[test]
#[ignore = "needs the servers of docker/"]
fn ftps_to_a_plain_port_exits_35() {
    let url = VSFTPD.tls_url("/hello.txt").expect("it has TLS").replace("ftp:", "ftps:");
    fetch(&["-v", "--cacert", CA, &url]).assert_exit(35).assert_stdout("").assert_stderr_omits("> USER");
}
