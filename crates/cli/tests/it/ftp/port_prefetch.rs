//! EPSV for the next data connection is sent together with RETR, before the transfer ends. This is done only for
//! servers that are known to finish the transfer first, and only if another file follows. pyftpdlib and other servers
//! abort the transfer.

use crate::support::{RunResult, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{FtpAction, FtpConfig, FtpRule, FtpServer};

const PYFTPDLIB: &str = "220 pyftpdlib 1.5.10 ready.";

/// 20 files; the content of each is its name.
fn site() -> FtpConfig {
    (0..20).fold(FtpConfig::new(), |config, number| config.file(format!("/{number}"), format!("{number};")))
}

/// A server that aborts a transfer when another command arrives during it.
fn aborting_site() -> FtpConfig {
    ["RETR", "NLST", "MLSD"]
        .iter()
        .fold(site(), |config, verb| config.rule(FtpRule::on(*verb, FtpAction::AbortOnCommand)))
}

fn start(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

fn fetch_files(server: &FtpServer, count: u32, options: &[&str]) -> RunResult {
    let urls = (0..count).map(|number| server.url(&number.to_string()));
    run_fetch_url(options.iter().map(ToString::to_string).chain(urls))
}

fn expected(count: u32) -> String {
    (0..count).map(|number| format!("{number};")).collect()
}

fn commands(server: &FtpServer, verb: &str) -> usize {
    server.received_text().iter().filter(|line| line.starts_with(verb)).count()
}

/// Returns `true` if EPSV or PASV was sent directly after a transfer command.
fn requests_port_behind_transfer(server: &FtpServer) -> bool {
    let lines = server.received_text();
    lines.windows(2).any(|pair| pair[0].starts_with("RETR") && matches!(pair[1].as_str(), "EPSV" | "PASV"))
}

#[test]
fn no_port_is_requested_during_transfers_of_an_unknown_server() {
    let server = start(aborting_site().greeting(PYFTPDLIB));
    let result = fetch_files(&server, 20, &[]);
    assert_eq!(result.assert_exit(0).stdout_text(), expected(20), "{:?}", server.received_text());
    assert_eq!((server.connections(), commands(&server, "RETR")), (1, 20));
}

#[test]
fn parallel_files_of_an_unknown_server_are_all_complete() {
    let server = start(aborting_site().greeting(PYFTPDLIB));
    let directory = temp_dir();
    let urls = (0..20).map(|number| server.url(&number.to_string()));
    let options = ["-Z", "--remote-name-all"].map(str::to_owned);
    run_fetch_url_in(directory.path(), options.into_iter().chain(urls)).assert_exit(0);
    for number in 0..20 {
        let content = std::fs::read_to_string(directory.path().join(number.to_string())).expect("a file");
        assert_eq!(content, format!("{number};"));
    }
}

/// The greeting names another server software than the one that runs. After the first aborted transfer the file is
/// fetched again, and commands are sent one at a time from then on.
#[test]
fn server_that_aborts_despite_its_greeting_is_remembered() {
    let server = start(aborting_site().greeting("220 (vsFTPd 3.0.3)"));
    let result = fetch_files(&server, 6, &["--retry-delay", "0"]);
    assert_eq!(result.assert_exit(0).stdout_text(), expected(6), "{:?}", server.received_text());
    assert_eq!(commands(&server, "RETR"), 7, "{:?}", server.received_text());
}

#[test]
fn ports_are_requested_during_all_transfers_of_a_known_server_but_the_last() {
    let server = start(site());
    fetch_files(&server, 4, &[]).assert_exit(0);
    assert!(requests_port_behind_transfer(&server));
    assert_eq!(commands(&server, "EPSV"), 4, "{:?}", server.received_text());
    assert!(server.received_text().last().is_some_and(|line| line.starts_with("RETR")));
}

#[test]
fn disable_epsv_disables_the_request_during_transfers() {
    let server = start(site());
    let result = fetch_files(&server, 4, &["--disable-epsv"]);
    assert_eq!(result.assert_exit(0).stdout_text(), expected(4));
    assert!(!requests_port_behind_transfer(&server), "{:?}", server.received_text());
    assert_eq!((commands(&server, "EPSV"), commands(&server, "PASV")), (0, 4));
}

/// An unexpected final reply counts as an abort only if EPSV was sent after the transfer command.
#[test]
fn unexpected_final_reply_without_a_requested_port_is_a_protocol_error() {
    let server = start(site().rule(FtpRule::on("RETR", FtpAction::ReplaceReply(b"331 odd\r\n".to_vec()))));
    let result = fetch_files(&server, 1, &["--retry", "3", "--retry-delay", "0"]);
    result.assert_exit(8);
    assert!(!result.stderr.contains("pipelined"), "{}", result.stderr);
    assert_eq!(commands(&server, "RETR"), 1, "{:?}", server.received_text());
}
