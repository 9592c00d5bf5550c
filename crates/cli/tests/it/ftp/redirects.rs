//! Redirects from HTTP to FTP (docs/spec/faults.md, rows 26, 29 and 46): followed only with `--proto-redir`, without
//! the user's login, and under all rules for a URL on the command line.

use crate::support::{RunResult, http_server, run_fetch_url};
use fetch_url_tests::{FtpConfig, FtpServer, HttpResponse, HttpServer};

const ALLOW_FTP: &str = "--proto-redir =http,https,ftp";

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

fn redirect_to(url: String) -> HttpServer {
    http_server(move |_| HttpResponse::new(302).header("Location", &url))
}

fn fetch_redirect(server: &HttpServer, options: &str) -> RunResult {
    run_fetch_url(options.split_whitespace().chain([server.url("/away").as_str()]))
}

#[test]
fn redirect_to_ftp_is_followed_only_if_allowed() {
    let target = start_server(FtpConfig::new().file("/a/x", "object"));
    let redirect_server = redirect_to(target.url("/a/x"));
    for options in ["", "-L", "--proto-redir =http,https"] {
        let result = fetch_redirect(&redirect_server, options);
        assert_eq!((result.exit, result.stdout.len()), (90, 0), "{options}: {}", result.stderr);
    }
    assert_eq!(target.connections(), 0);
    assert_eq!(fetch_redirect(&redirect_server, ALLOW_FTP).assert_exit(0).stdout_text(), "object");
    assert_eq!(target.received_text()[..2], ["USER anonymous", "PASS anonymous@"]);
}

/// docs/spec/faults.md, row 29: credentials belong to the server of the original URL.
#[test]
fn login_and_account_are_not_sent_to_the_ftp_server() {
    let target = start_server(FtpConfig::new().file("/x", "object"));
    let redirect_server = redirect_to(target.url("/x"));
    let options =
        format!("{ALLOW_FTP} -u u:KanarienVogel --ftp-account KanarienVogel --oauth2-bearer KanarienVogel");
    let result = fetch_redirect(&redirect_server, &options);
    assert!(
        !target.received_text().iter().any(|line| line.contains("KanarienVogel") || line == "USER u"),
        "{result:?}"
    );
    // The account is not sent, even if the FTP server requests one.
    let target =
        start_server(FtpConfig::new().file("/x", "object").user("anonymous", "").account("KanarienVogel"));
    let redirect_server = redirect_to(target.url("/x"));
    fetch_redirect(&redirect_server, &format!("{ALLOW_FTP} --ftp-account KanarienVogel"));
    assert!(
        !target.received_text().iter().any(|line| line.contains("KanarienVogel")),
        "{:?}",
        target.received_text()
    );
}

/// docs/spec/faults.md, rows 1 and 19: forbidden bytes and ports in the redirect target.
#[test]
fn redirect_target_is_checked_like_a_command_line_url() {
    let target = start_server(FtpConfig::new().file("/x", "object"));
    let addr = target.addr();
    for (location, expected_exit) in [
        (format!("ftp://{addr}/x%0D%0ADELE%20x"), 93),
        (format!("ftp://u%0a:p@{addr}/x"), 93),
        (format!("ftp://{addr}/missing"), 78),
        ("ftp://127.0.0.1:25/x".to_owned(), 90),
    ] {
        let result = fetch_redirect(&redirect_to(location.clone()), ALLOW_FTP);
        assert_eq!((result.exit, result.stdout.len()), (expected_exit, 0), "{location}: {}", result.stderr);
    }
    assert!(!target.received_text().iter().any(|line| line.contains("DELE")));
}
