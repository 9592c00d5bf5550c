//! Password prompts at a terminal: the prompt names the user, and the typed password is not shown.

use std::process::Command;

use fetch_url_tests::Terminal;

use crate::live::ftp_server::{FtpServer, VSFTPD, each_ftp_server};
use crate::live::program::fetch_url;
use crate::live::work_dir::WorkDir;

each_ftp_server![typed_password_logs_in_and_is_not_shown, typed_password_with_reserved_bytes_logs_in];

fn run(dir: &WorkDir, arguments: &[&str]) -> Terminal {
    let mut command = Command::new(fetch_url());
    command.args(["--retry", "0"]).args(arguments).current_dir(dir.folder()).env("TERM", "xterm");
    for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY", "NO_COLOR"] {
        command.env_remove(name);
    }
    Terminal::start(&command, 80).expect("a terminal")
}

/// Types the password and returns the screen and the exit status.
fn typed(arguments: &[&str], user: &str, password: &str) -> (String, i32) {
    let dir = WorkDir::new();
    let mut terminal = run(&dir, arguments);
    terminal.expect("assword").expect("it asks");
    terminal.type_secret(password).expect("the echo is off");
    assert!(terminal.screen().contains(user), "who logs in is named: {}", terminal.screen());
    let exit = terminal.exit_status().expect("an end");
    (terminal.screen(), exit)
}

fn typed_password_logs_in_and_is_not_shown(server: FtpServer) {
    let url = server.url("/here.txt").replace("://", "://alice@");
    for arguments in [&["-v", &url][..], &["-v", "-u", "alice", &server.url("/here.txt")]] {
        let (screen, exit) = typed(arguments, "alice", "secret");
        assert_eq!(exit, 0, "{screen}");
        assert_eq!(screen.matches("in the login directory of alice").count(), 1, "{screen}");
        assert!(!screen.contains("secret"), "{screen}");
    }
}

fn typed_password_with_reserved_bytes_logs_in(server: FtpServer) {
    let url = server.url("/here.txt").replace("://", "://bob@");
    let (screen, exit) = typed(&[&url], "bob", "p@ss/w:rd#%41 x");
    assert_eq!(exit, 0, "{screen}");
    assert!(screen.contains("in the login directory of bob"), "{screen}");
    assert!(!screen.contains("p@ss"), "{screen}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn wrong_typed_password_exits_67() {
    let url = VSFTPD.url("/here.txt").replace("://", "://alice@");
    let (screen, exit) = typed(&[&url], "alice", "wr0ng-canary");
    assert_eq!(exit, 67, "{screen}");
    assert!(!screen.contains("wr0ng-canary") && !screen.contains("in the login"), "{screen}");
}

/// Ctrl-C at the prompt ends the run, and no file is left.
#[test]
#[ignore = "needs the servers of docker/"]
fn ctrl_c_at_the_prompt_leaves_no_file() {
    let dir = WorkDir::new();
    let url = VSFTPD.url("/here.txt").replace("://", "://alice@");
    let mut terminal = run(&dir, &["-o", "here", &url]);
    terminal.expect("assword").expect("it asks");
    terminal.type_bytes(&[3]).expect("Ctrl-C");
    let exit = terminal.exit_status().expect("an end");
    assert!([-2, 67].contains(&exit), "{exit}: {}", terminal.screen());
    dir.assert_entries(&[]);
}

/// An anonymous login needs no password, so there is no prompt.
#[test]
#[ignore = "needs the servers of docker/"]
fn anonymous_login_shows_no_prompt() {
    let mut terminal = run(&WorkDir::new(), &[&VSFTPD.url("/hello.txt")]);
    assert_eq!(terminal.exit_status().expect("an end"), 0, "{}", terminal.screen());
    assert_eq!(terminal.screen(), "Hello, world\n");
}
