//! Prompts for a password on the terminal: what is typed is hidden, and every end of the program shows it again
//! (docs/spec/cli.md, section 25).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::prompts::{BASIC, DIGEST, start_protected_server, unauthorized_response};
use crate::support::{BINARY, http_server, temp_dir, write_file};
use fetch_url_tests::{HttpResponse, Terminal};
use tempfile::TempDir;

/// Runs fetch-url in a terminal with an empty environment except for PATH.
fn run_in_terminal(options: &str, url: &str) -> Terminal {
    let arguments = ["-i", "PATH=/usr/bin:/bin", BINARY, "--retry", "0"];
    let arguments: Vec<&str> = arguments.into_iter().chain(options.split_whitespace()).chain([url]).collect();
    Terminal::run("env", &arguments, 100).expect("start terminal")
}

#[test]
fn missing_credentials_are_prompted_on_the_terminal() {
    let server = start_protected_server(&[BASIC]);
    let mut terminal = run_in_terminal("-u u", &server.url("/x"));
    terminal.expect("assword").expect("prompt appears");
    terminal.type_secret("pw").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    let screen = terminal.screen();
    assert!(screen.contains("object") && screen.contains("the realm") && !screen.contains("pw"), "{screen}");
    // User name and password, one after the other; only the user name is echoed.
    let mut terminal = run_in_terminal("", &server.url("/x"));
    terminal.expect("User").expect("prompt appears");
    terminal.type_line("u").expect("type line");
    terminal.expect("assword").expect("second prompt appears");
    terminal.type_secret("pw").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    // After a rejected password there is no second prompt.
    let mut terminal = run_in_terminal("-u u", &server.url("/x"));
    terminal.expect("assword").expect("prompt appears");
    terminal.type_secret("Kanarienvogel").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 67, "{}", terminal.screen());
    assert!(!terminal.screen().contains("Kanarienvogel"));
    // `--ask-password` prompts before the first request.
    let before = server.requests().len();
    let mut terminal = run_in_terminal("-u u --ask-password", &server.url("/x"));
    terminal.expect("assword").expect("prompt appears");
    assert_eq!(server.requests().len(), before, "a request was sent before the prompt");
    terminal.type_secret("pw").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    assert_eq!(server.requests().len(), before + 1);
}

/// A prompt needs standard input and standard error on the terminal.
#[test]
fn redirected_stdin_or_stderr_disables_the_prompt() {
    let server = start_protected_server(&[BASIC]);
    for (redirection, options) in [("2>/dev/null", "-u u"), ("</dev/null", "-u u"), ("2>/dev/null", "")] {
        let line = format!("exec \"$0\" --retry 0 {options} \"$1\" {redirection}");
        let url = server.url("/x");
        let mut terminal = Terminal::run("sh", &["-c", &line, BINARY, &url], 80).expect("start terminal");
        assert_eq!(
            terminal.exit_status().expect("exit without a prompt"),
            67,
            "{redirection}: {}",
            terminal.screen()
        );
    }
    // Standard output may be redirected.
    let line = "exec \"$0\" --retry 0 -u u \"$1\" >/dev/null";
    let mut terminal =
        Terminal::run("sh", &["-c", line, BINARY, &server.url("/x")], 80).expect("start terminal");
    terminal.expect("assword").expect("prompt appears");
    terminal.type_secret("pw").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0);
}

/// Ctrl-C at a prompt terminates the program by SIGINT and restores the echo of the terminal.
#[test]
fn ctrl_c_at_a_prompt_restores_the_echo() {
    let server = start_protected_server(&[BASIC]);
    for (options, prompt) in [("-u u", "assword"), ("", "User"), ("-u u --ask-password", "assword")] {
        let mut terminal = run_in_terminal(options, &server.url("/x"));
        terminal.expect(prompt).expect("prompt appears");
        terminal.type_bytes(&[3]).expect("type Ctrl-C");
        assert_eq!(terminal.exit_status().expect("process exits"), -2, "{prompt}: {}", terminal.screen());
        let line = format!(
            "trap : INT; \"$0\" --retry 0 {options} \"$1\"; echo \"status $?\"; stty -a | tr ' ;' '\\n\\n' | grep '^-*echo$'"
        );
        let mut terminal =
            Terminal::run("sh", &["-c", &line, BINARY, &server.url("/x")], 80).expect("start terminal");
        terminal.expect(prompt).expect("prompt appears");
        std::thread::sleep(Duration::from_millis(50));
        terminal.type_bytes(&[3]).expect("type Ctrl-C");
        terminal.expect("status 130").expect("exit by SIGINT");
        terminal.expect("\necho").expect("echo is on again");
        terminal.exit_status().expect("process exits");
    }
    // Ctrl-D and an empty line are no password, and there is no second prompt.
    for typed in ["\u{4}", ""] {
        let mut terminal = run_in_terminal("-u u", &server.url("/x"));
        terminal.expect("assword").expect("prompt appears");
        terminal.type_secret(typed).expect("terminal echo is off");
        assert_eq!(terminal.exit_status().expect("process exits"), 67, "{typed:?}: {}", terminal.screen());
    }
}

/// Returns a directory, and a shell command that waits until the test writes the file `prompted` in it.
fn wait_for_prompt() -> (TempDir, String) {
    let dir = temp_dir();
    let wait = format!("until [ -e {}/prompted ]; do sleep 0.05; done", dir.path().display());
    (dir, wait)
}

/// Every end of the program restores the echo of the terminal.
#[test]
fn signal_or_timeout_at_a_prompt_restores_the_echo() {
    let server = start_protected_server(&[BASIC]);
    for (signal, options, status) in [
        ("TERM", "", 143),
        ("HUP", "", 129),
        ("QUIT", "", 131),
        ("URG", "-m 2", 28),
        // This prompt comes before the first transfer.
        ("TERM", "--ask-password", 143),
        ("INT", "--ask-password", 130),
        ("HUP", "--ask-password", 129),
    ] {
        let (dir, wait) = wait_for_prompt();
        let kill = format!("({wait}; kill -{signal} $$) & exec \"$0\" --retry 0 {options} -u u \"$1\"");
        let echo = "stty -a | tr ' ;' '\\n\\n' | grep '^-*echo$'";
        let line =
            format!("ulimit -c 0; trap : HUP; sh -c '{kill}' \"$0\" \"$1\"; echo \"status $?\"; {echo}");
        let mut terminal =
            Terminal::run("sh", &["-c", &line, BINARY, &server.url("/x")], 80).expect("start terminal");
        terminal.expect("assword").expect("prompt appears");
        write_file(dir.path(), "prompted", "");
        terminal.expect(&format!("status {status}")).unwrap_or_else(|error| panic!("{signal}: {error}"));
        terminal.expect("\necho").unwrap_or_else(|error| panic!("{signal}: echo is on again: {error}"));
        terminal.exit_status().expect("process exits");
        let screen = terminal.screen();
        assert_eq!(screen.contains("\nfetch-url: "), status == 28, "{signal}: {screen}");
    }
}

/// The input is hidden again after the program was stopped and continued.
#[test]
fn stop_at_a_prompt_shows_what_is_typed_only_while_it_lasts() {
    let server = start_protected_server(&[BASIC]);
    let (dir, wait) = wait_for_prompt();
    let shows_echo = "stty -a </dev/tty | tr ' ;' '\\n\\n' | grep '^echo$'";
    let stop = format!(
        "{wait}; kill -TSTP $$; until {shows_echo}; do sleep 0.05; done; kill -CONT $$; \
         while {shows_echo} >/dev/null; do sleep 0.05; done; echo continued"
    );
    let line = format!("({stop}) & exec \"$0\" --retry 0 -u u \"$1\"");
    let mut terminal =
        Terminal::run("sh", &["-c", &line, BINARY, &server.url("/x")], 80).expect("start terminal");
    terminal.expect("assword").expect("prompt appears");
    write_file(dir.path(), "prompted", "");
    terminal.expect("echo").expect("echo is on while the program is stopped");
    terminal.expect("continued").expect("the program continues");
    terminal.type_secret("pw").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
}

/// RFC 7616 §3.3: the user is not asked again.
#[test]
fn typed_password_answers_a_stale_nonce_without_a_second_prompt() {
    let rounds = AtomicUsize::new(0);
    let server = http_server(move |request| {
        match (rounds.fetch_add(1, Ordering::SeqCst), request.header_text("authorization")) {
            (1, Some(_)) => unauthorized_response(&[&format!("{DIGEST}, stale=true")]),
            (_, Some(_)) => HttpResponse::new(200).body("object"),
            _ => unauthorized_response(&[DIGEST]),
        }
    });
    let mut terminal = run_in_terminal("-u u", &server.url("/x"));
    terminal.expect("assword").expect("prompt appears");
    terminal.type_secret("pw").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    assert_eq!(terminal.screen().matches("assword").count(), 1, "{}", terminal.screen());
}

/// `nohup` and `trap '' HUP` hold after a prompt, too.
#[test]
fn ignored_signal_stays_ignored_after_a_prompt() {
    let server = http_server(|request| match request.header_text("authorization") {
        Some(_) => HttpResponse::new(200).body("0123456789").drip(1, Duration::from_millis(150)),
        None => unauthorized_response(&[BASIC]),
    });
    let line = "trap '' HUP; (sleep 1; kill -HUP $$) & exec \"$0\" --retry 0 -o /dev/null -u u \"$1\"";
    let mut terminal =
        Terminal::run("sh", &["-c", line, BINARY, &server.url("/x")], 80).expect("start terminal");
    terminal.expect("assword").expect("prompt appears");
    terminal.type_secret("pw").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
}
