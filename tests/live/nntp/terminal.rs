//! Articles and groups on a terminal: they fit the width, and control characters of the server are escaped.

use std::process::Command;

use fetch_url_tests::Terminal;

use crate::live::nntp_server::{INN, INN_TLS, NewsServer, each_news_server};
use crate::live::program::fetch_url;
use crate::live::server::CA;
use crate::live::work_dir::WorkDir;

each_news_server![
    control_characters_are_escaped_on_a_terminal,
    lists_fit_80_columns,
    binary_body_on_a_terminal_is_refused_or_escaped
];

fn run(arguments: &[&str]) -> Terminal {
    let mut command = Command::new(fetch_url());
    let dir = WorkDir::new();
    command.args(["--retry", "0"]).args(arguments).current_dir(dir.folder()).env("TERM", "xterm");
    for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY", "NO_COLOR"] {
        command.env_remove(name);
    }
    Terminal::start(&command, 80).expect("a terminal")
}

/// Returns the terminal at the end of the run, and the exit status.
fn shown(arguments: &[&str]) -> (Terminal, i32) {
    let mut terminal = run(arguments);
    let exit = terminal.exit_status().expect("an end");
    (terminal, exit)
}

fn control_characters_are_escaped_on_a_terminal(server: NewsServer) {
    let utf8 = server.id_url("utf8-7@test.invalid");
    for arguments in [&[utf8.as_str()][..], &["-I", &utf8], &["-v", &utf8]] {
        let (terminal, exit) = shown(arguments);
        assert_eq!(exit, 0, "{}", terminal.screen());
        assert!(terminal.screen().contains("Zo\u{eb}"), "{}", terminal.screen());
    }
    for id in ["latin1-7", "dots", "folded"] {
        let (terminal, exit) = shown(&[&server.id_url(&format!("{id}@test.invalid"))]);
        assert_eq!(exit, 0, "{id}: {}", terminal.screen());
        let is_evil = |byte: &u8| *byte < b' ' && !b"\r\n\t".contains(byte);
        assert!(!terminal.bytes().iter().any(is_evil), "{}", terminal.bytes().escape_ascii());
    }
}

fn lists_fit_80_columns(server: NewsServer) {
    let all = format!("news://{}/*", server.authority());
    for url in [&all, &server.url("fetch.8bit"), &server.url("fetch.test")] {
        let (terminal, exit) = shown(&[url]);
        let screen = terminal.screen();
        assert_eq!(exit, 0, "{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    }
}

/// A yEnc body is binary data.
fn binary_body_on_a_terminal_is_refused_or_escaped(server: NewsServer) {
    let (terminal, _) = shown(&[&server.id_url("yenc-1@test.invalid")]);
    let is_evil = |byte: &u8| *byte < b' ' && !b"\r\n\t".contains(byte);
    assert!(!terminal.bytes().iter().any(is_evil), "{}", terminal.bytes().escape_ascii());
}

/// A prompt names the user, and the typed password is not shown.
#[test]
#[ignore = "needs the servers of docker/"]
fn typed_password_logs_in_or_exits_67() {
    let url = format!("nntps://{INN_TLS}/private.secret/1");
    for (password, expected) in [("secret", 0), ("wr0ng-canary", 67)] {
        let mut terminal = run(&["--cacert", CA, "-u", "alice", &url]);
        terminal.expect("assword").expect("it asks");
        terminal.type_secret(password).expect("the echo is off");
        let exit = terminal.exit_status().expect("an end");
        let screen = terminal.screen();
        assert_eq!(exit, expected, "{screen}");
        assert!(screen.contains("alice") && !screen.contains("wr0ng-canary"), "{screen}");
        assert_eq!(screen.contains("only for alice"), expected == 0, "{screen}");
    }
    let (terminal, exit) = shown(&[&INN.url("fetch.test/1")]);
    assert_eq!(exit, 0, "nobody asks: {}", terminal.screen());
}
