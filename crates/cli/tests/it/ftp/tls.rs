//! FTP over TLS (RFC 4217; docs/spec/semantics.md §2, "FTPS"; docs/spec/faults.md, rows 40 to 42 and 102): no login in
//! plain text if TLS was requested, no reply from before the handshake is used, and control and data connections follow
//! the same certificate rules.

use std::time::Duration;

use crate::support::{RunResult, run_fetch_url};
use fetch_url_tests::{CertFiles, Ending, FtpAction, FtpConfig, FtpRule, FtpServer, ServerCert, pattern_vec};

const SIZE: u64 = 100_000;
/// The password that must not appear in any output. It has only letters, so that no encoding changes it.
const CANARY: &str = "KanarienVogel";

/// A server certificate, and the files of its CA for the client.
struct TlsServers {
    cert: ServerCert,
    files: CertFiles,
}

impl TlsServers {
    fn new(cert: ServerCert) -> Self {
        let files = cert.write_files().expect("write certificate files");
        Self { cert, files }
    }

    fn good() -> Self {
        Self::new(ServerCert::good().expect("create certificate"))
    }

    fn start_explicit(&self, config: FtpConfig) -> FtpServer {
        FtpServer::start_tls(config, &self.cert).expect("start server")
    }

    fn start_implicit(&self, config: FtpConfig) -> FtpServer {
        FtpServer::start_implicit(config, &self.cert).expect("start server")
    }

    /// Fetches `/a/x` with user name and password; the client trusts the CA of this certificate.
    fn fetch_x(&self, server: &FtpServer, options: &str) -> RunResult {
        let url = server.url("/a/x").replacen("://", &format!("://u:{CANARY}@"), 1);
        let ca = self.files.ca.to_str().expect("valid UTF-8");
        let common = ["--cacert", ca, "--read-timeout", "2"];
        run_fetch_url(common.into_iter().chain(options.split_whitespace()).chain([url.as_str()]))
    }
}

fn test_config() -> FtpConfig {
    FtpConfig::new().pattern("/a/x", SIZE).pattern("/a/y", SIZE).user("u", CANARY)
}

#[track_caller]
fn assert_complete(result: &RunResult, case: &str) {
    assert_eq!(result.exit, 0, "{case}: {}", result.stderr);
    assert!(result.stdout == pattern_vec(0, SIZE as usize), "{case}: {} bytes", result.stdout.len());
}

fn has_command(server: &FtpServer, start: &str) -> bool {
    server.received_text().iter().any(|line| line.starts_with(start))
}

/// The position of a command among all received commands.
fn command_position(server: &FtpServer, start: &str) -> usize {
    let lines = server.received_text();
    lines.iter().position(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start} in {lines:?}"))
}

#[test]
fn tls_options_protect_control_and_data_connection() {
    let tls = TlsServers::good();
    for options in ["--ssl-reqd", "--ssl"] {
        let server = tls.start_explicit(test_config());
        assert_complete(&tls.fetch_x(&server, options), options);
        assert!(
            command_position(&server, "AUTH TLS") < command_position(&server, "USER"),
            "{:?}",
            server.received_text()
        );
        assert!(command_position(&server, "PBSZ 0") < command_position(&server, "PROT P"));
        assert!(command_position(&server, "PROT P") < command_position(&server, "RETR"));
        assert_eq!(server.resumed_sessions().len(), 1, "the data connection was not encrypted");
    }
    let server = tls.start_implicit(test_config());
    assert_complete(&tls.fetch_x(&server, ""), "ftps");
    assert!(
        !has_command(&server, "AUTH")
            && has_command(&server, "PROT P")
            && server.resumed_sessions().len() == 1
    );
    // Without a TLS option, an `ftp:` URL uses no TLS.
    let server = tls.start_explicit(test_config());
    assert_complete(&tls.fetch_x(&server, ""), "plain");
    assert!(!has_command(&server, "AUTH") && server.resumed_sessions().is_empty());
}

/// Before AUTH TLS, 230 says nothing about the session inside TLS; inside TLS it replaces the login.
#[test]
fn greeting_230_replaces_the_login_only_inside_tls() {
    let tls = TlsServers::good();
    let config = || test_config().greeting("230 You are logged in");
    let server = tls.start_explicit(config());
    assert_complete(&tls.fetch_x(&server, "--ssl-reqd"), "explicit");
    assert!(command_position(&server, "AUTH TLS") < command_position(&server, "USER"));
    let server = tls.start_implicit(config());
    assert_complete(&tls.fetch_x(&server, ""), "implicit");
    assert!(!has_command(&server, "USER") && has_command(&server, "PROT P"));
}

#[test]
fn delay_reply_before_the_greeting_of_an_implicit_server_is_skipped() {
    let tls = TlsServers::good();
    let server = tls.start_implicit(test_config().greeting("120 Soon\r\n220 Now"));
    assert_complete(&tls.fetch_x(&server, ""), "implicit");
}

/// docs/spec/faults.md, row 40: no fallback with `--ssl-reqd`, and no USER before TLS.
#[test]
fn required_tls_fails_before_user_when_server_has_no_tls() {
    let tls = TlsServers::good();
    for refusal in [
        "500 What?\r\n",
        "502 No.\r\n",
        "504 No.\r\n",
        "431 Not now.\r\n",
        "534 Policy.\r\n",
        "230 In.\r\n",
        "220 Hello.\r\n",
    ] {
        let server = tls.start_explicit(test_config().answer("AUTH", refusal));
        let result = tls.fetch_x(&server, "--ssl-reqd");
        assert_eq!((result.exit, result.stdout.len()), (35, 0), "{refusal:?}: {}", result.stderr);
        assert!(
            !has_command(&server, "USER") && !has_command(&server, "PASS"),
            "{refusal:?}: {:?}",
            server.received_text()
        );
    }
    // `--ssl` continues without TLS if AUTH is not supported.
    let server = tls.start_explicit(test_config().answer("AUTH", "502 No.\r\n"));
    assert_complete(&tls.fetch_x(&server, "--ssl"), "--ssl");
    // A failed handshake is not a refusal: an attacker on the network path could cause it.
    let server = tls.start_explicit(test_config().answer("AUTH", "234 Go on.\r\n"));
    for options in ["--ssl-reqd", "--ssl"] {
        let result = tls.fetch_x(&server, options);
        assert!([28, 35].contains(&result.exit), "{options}: {result:?}");
    }
    assert!(!has_command(&server, "PASS"), "{:?}", server.received_text());
    // An `ftps:` URL for a server without TLS.
    let plain = FtpServer::start(test_config()).expect("start server");
    let url = plain.url("/a/x").replacen("ftp:", "ftps:", 1).replacen("://", &format!("://u:{CANARY}@"), 1);
    let result = run_fetch_url(["--read-timeout", "2", &url]);
    assert!(
        [35, 28].contains(&result.exit) && !has_command(&plain, "USER"),
        "{result:?} {:?}",
        plain.received_text()
    );
    // The greeting is 230 instead of 220: logged in without a login.
    let server = tls.start_explicit(test_config().greeting("230 In already."));
    let result = tls.fetch_x(&server, "--ssl-reqd");
    assert!(
        result.exit != 0 && !has_command(&server, "USER") || has_command(&server, "PROT P"),
        "{result:?}"
    );
}

/// With `--ssl-reqd`, data is transferred encrypted or not at all.
#[test]
fn refused_data_protection_exits_35_without_data() {
    let tls = TlsServers::good();
    for (verb, reply) in [
        ("PROT", "534 No.\r\n"),
        ("PROT", "536 No.\r\n"),
        ("PROT", "500 What?\r\n"),
        ("PBSZ", "500 What?\r\n"),
        ("PBSZ", "503 No.\r\n"),
    ] {
        let server = tls.start_explicit(test_config().answer(verb, reply));
        let result = tls.fetch_x(&server, "--ssl-reqd");
        assert_eq!((result.exit, result.stdout.len()), (35, 0), "{verb} {reply:?}: {}", result.stderr);
        assert_eq!(server.bytes_sent(), 0, "{verb} {reply:?}");
    }
    // The server replies 200 to PROT P, but does not encrypt the data connection.
    let server = tls.start_explicit(test_config().on("PROT", FtpAction::PlaintextData));
    let result = tls.fetch_x(&server, "--ssl-reqd");
    assert!([18, 28, 35].contains(&result.exit) && result.stdout.is_empty(), "{result:?}");
}

/// docs/spec/faults.md, row 41: plain text received before the handshake is never used as a reply.
#[test]
fn replies_injected_before_the_handshake_are_not_used() {
    let tls = TlsServers::good();
    for injected in [
        "230 In.\r\n",
        "331 Password?\r\n",
        "230 In.\r\n200 P\r\n200 P\r\n257 \"/\"\r\n250 Ok\r\n",
        "220 Hello.\r\n",
        "x",
    ] {
        let server = tls.start_explicit(test_config().inject_after_auth(injected));
        let result = tls.fetch_x(&server, "--ssl-reqd");
        // Either the run fails with 35, or the injected text is discarded and the complete login follows.
        let is_discarded = result.exit == 0 && has_command(&server, &format!("PASS {CANARY}"));
        assert!(
            result.exit == 35 && !has_command(&server, "USER") || is_discarded,
            "{injected:?}: {} {}",
            result.exit,
            result.stderr
        );
    }
}

/// docs/spec/faults.md, row 42, for the control connection.
#[test]
fn invalid_server_certificate_exits_60_before_user() {
    for cert in [
        ServerCert::expired(),
        ServerCert::not_yet_valid(),
        ServerCert::wrong_name(),
        ServerCert::client_only(),
    ] {
        let tls = TlsServers::new(cert.expect("create certificate"));
        for (server, options) in [
            (tls.start_explicit(test_config()), "--ssl-reqd"),
            (tls.start_explicit(test_config()), "--ssl"),
            (tls.start_implicit(test_config()), ""),
        ] {
            tls.fetch_x(&server, options).assert_exit(60);
            assert!(!has_command(&server, "USER"), "{options}: {:?}", server.received_text());
        }
    }
    // A certificate of another CA is refused; `-k` accepts it; `--pinnedpubkey` is checked in any case.
    let (tls, other_ca) = (TlsServers::good(), TlsServers::good());
    other_ca.fetch_x(&tls.start_explicit(test_config()), "--ssl-reqd").assert_exit(60);
    assert_complete(&other_ca.fetch_x(&tls.start_explicit(test_config()), "--ssl-reqd -k"), "-k");
    let pin = "--pinnedpubkey sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let server = tls.start_explicit(test_config());
    let result = tls.fetch_x(&server, &format!("--ssl-reqd {pin}"));
    assert!([60, 35, 90].contains(&result.exit) && !has_command(&server, "USER"), "{result:?}");
}

/// The certificate of the data connection must be valid for the same name and issued by a trusted CA.
#[test]
fn invalid_data_connection_certificate_exits_60() {
    for bad in
        [ServerCert::expired(), ServerCert::wrong_name(), ServerCert::good(), ServerCert::self_signed()]
    {
        let tls = TlsServers::good();
        let server = tls.start_explicit(test_config().data_cert(&bad.expect("create certificate")));
        let result = tls.fetch_x(&server, "--ssl-reqd");
        assert_eq!((result.exit, result.stdout.len()), (60, 0), "{}", result.stderr);
    }
    let tls = TlsServers::good();
    let server =
        tls.start_explicit(test_config().data_cert(&ServerCert::wrong_name().expect("create certificate")));
    assert_complete(&tls.fetch_x(&server, "--ssl-reqd -k"), "-k");
}

/// By default, vsftpd and proftpd require that a data connection resumes the TLS session of its control connection.
#[test]
fn data_connections_resume_the_tls_session() {
    let good = || ServerCert::good().expect("create certificate");
    for (case, cert) in [("1.2", good().only_tls12()), ("1.3", good().only_tls13()), ("any", good())] {
        let tls = TlsServers::new(cert);
        for implicit in [false, true] {
            let config = test_config().requires_session_reuse();
            let server = if implicit { tls.start_implicit(config) } else { tls.start_explicit(config) };
            let options = if implicit { "" } else { "--ssl-reqd" };
            let first = server.url("/a/y").replacen("://", &format!("://u:{CANARY}@"), 1);
            let result = tls.fetch_x(&server, &format!("{options} -v {first} {first}"));
            assert_eq!(result.exit, 0, "{case} {implicit}: {}", result.stderr);
            assert_eq!(result.stdout.len() as u64, 3 * SIZE, "{case}");
            assert_eq!(server.resumed_sessions(), [true; 3], "{case} {implicit}");
        }
    }
    // If the server closes the data connection because of that rule, the run fails; the file is not empty.
    let tls = TlsServers::good();
    let other = TlsServers::good();
    let server = tls.start_explicit(test_config().requires_session_reuse().data_cert(&other.cert));
    let result = tls.fetch_x(&server, "--ssl-reqd -k");
    assert!(result.exit != 0 && result.stdout.is_empty(), "{result:?}");
}

/// docs/spec/faults.md, row 102: an attacker can end a TCP connection, so the end of data needs a close_notify.
#[test]
fn data_end_without_close_notify_exits_18() {
    let tls = TlsServers::good();
    for (config, case) in [
        (
            test_config().on("RETR", FtpAction::CutData(60_000, Ending::Fin)).final_reply("226 Done.\r\n"),
            "short",
        ),
        (
            test_config()
                .without("SIZE")
                .on("RETR", FtpAction::CutData(60_000, Ending::Fin))
                .final_reply("226 Done.\r\n"),
            "no size",
        ),
        (
            test_config()
                .without("SIZE")
                .on("RETR", FtpAction::CutData(SIZE, Ending::Fin))
                .final_reply("226 Done.\r\n"),
            "all, no size",
        ),
        (
            test_config().on("RETR", FtpAction::CutData(60_000, Ending::Reset)).final_reply("226 Done.\r\n"),
            "reset",
        ),
    ] {
        for implicit in [false, true] {
            let server = if implicit {
                tls.start_implicit(config.clone())
            } else {
                tls.start_explicit(config.clone())
            };
            let result = tls.fetch_x(&server, if implicit { "" } else { "--ssl-reqd" });
            assert_eq!(result.exit, 18, "{case} {implicit}: {}", result.stderr);
        }
    }
}

/// SIZE and 226 are received over the protected control connection, so an attacker cannot have truncated the data.
#[test]
fn size_and_226_prove_the_end_of_data_without_close_notify() {
    let tls = TlsServers::good();
    let config = || test_config().on("RETR", FtpAction::CutData(SIZE, Ending::Fin));
    let server = tls.start_explicit(config().final_reply("226 Done.\r\n"));
    let result = tls.fetch_x(&server, "--ssl-reqd");
    assert_eq!((result.exit, result.stdout.len() as u64), (0, SIZE), "{}", result.stderr);
    let server = tls.start_implicit(config().final_reply("451 Error.\r\n"));
    assert_eq!(tls.fetch_x(&server, "--retry 0").exit, 18);
}

/// Replies in pieces and late, a server without EPSV, active mode.
#[test]
fn tls_works_with_unusual_servers_and_active_mode() {
    let tls = TlsServers::good();
    for (case, config) in [
        ("pieces", test_config().split_replies()),
        ("late", test_config().delay(Duration::from_millis(100))),
        ("final reply after the client closes", test_config().final_after_client_closes()),
        ("no EPSV", test_config().without("EPSV")),
        (
            "slow PASS reply",
            test_config().rule(FtpRule::on("PASS", FtpAction::Pause(Duration::from_millis(1500))).nth(1)),
        ),
    ] {
        let server = tls.start_explicit(config.clone());
        assert_complete(&tls.fetch_x(&server, "--ssl-reqd"), case);
        assert_eq!(server.connections(), 1, "{case}: {:?}", server.received_text());
        assert_complete(&tls.fetch_x(&tls.start_implicit(config), ""), case);
    }
    let server = tls.start_explicit(test_config());
    assert_complete(&tls.fetch_x(&server, "--ssl-reqd -P -"), "active");
    assert!(has_command(&server, "EPRT") && server.resumed_sessions().len() == 1);
}

/// docs/spec/faults.md, row 45: a plain connection is never reused for a TLS request. `-vvv` masks the password.
#[test]
fn every_connection_with_required_tls_starts_with_auth() {
    let tls = TlsServers::good();
    let server = tls.start_explicit(test_config());
    let result = tls.fetch_x(&server, "--ssl-reqd -vvv");
    assert!(!result.stderr.contains(CANARY) && result.exit == 0, "{}", result.stderr);
    let url = server.url("/a/y").replacen("://", &format!("://u:{CANARY}@"), 1);
    let before = server.connections();
    tls.fetch_x(&server, &format!("--ssl-reqd {url}")).assert_exit(0);
    let all_start_with_auth = server.commands()[before..]
        .iter()
        .all(|lines| lines.first().is_some_and(|line| line.starts_with(b"AUTH")));
    assert!(all_start_with_auth, "{:?}", server.received_text());
}

/// `--ssl` continues without TLS only if the server does not support AUTH, not if it is temporarily unavailable, and not
/// after a reply that does not belong to AUTH.
#[test]
fn reply_to_auth_that_is_no_permanent_refusal_never_leads_to_plain_text() {
    for (reply, exit) in [
        ("421 Too many.\r\n", 92),
        ("431 Later.\r\n", 35),
        ("150 Here.\r\n", 35),
        ("200 Fine.\r\n", 35),
        ("220 Hello.\r\n", 35),
        ("230 In.\r\n", 35),
        ("331 Password.\r\n", 35),
    ] {
        let server =
            FtpServer::start(FtpConfig::new().file("/a", "a;").answer("AUTH", reply)).expect("start server");
        let result = run_fetch_url(["--ssl", &server.url("a").replace("ftp://", "ftp://me:canary@")]);
        result.assert_exit(exit);
        assert!(
            !server.received_text().iter().any(|line| line.starts_with("USER")),
            "{:?}",
            server.received_text()
        );
    }
}

/// A second, late reply to an earlier command looks like that of an empty directory.
#[test]
fn listing_after_a_late_226_is_not_empty() {
    let (tls, late) = (TlsServers::good(), FtpAction::Before(b"226 Transfer complete.\r\n".to_vec()));
    for (verb, format) in [("NLST", "names"), ("LIST", "long"), ("MLSD", "long")] {
        for (is_repeated, exit, expected) in [(false, 0, "x"), (true, 8, "")] {
            let rule = FtpRule::on(verb, late.clone());
            let config = test_config().rule(if is_repeated { rule } else { rule.nth(1) });
            let config = if verb == "LIST" { config.without("MLSD") } else { config };
            let server = tls.start_implicit(config);
            let url = server.url("/a/").replacen("://", &format!("://u:{CANARY}@"), 1);
            let ca = tls.files.ca.to_str().expect("valid UTF-8");
            let options = ["--cacert", ca, "--retry", "0", "--list-format", format, &url];
            let result = run_fetch_url(options);
            assert_eq!(result.exit, exit, "{verb}: {}", result.stderr);
            assert!(result.stdout_text().contains(expected), "{verb}: {result:?}");
            assert_eq!(result.stdout.is_empty(), is_repeated, "{verb}: {result:?}");
        }
    }
}
