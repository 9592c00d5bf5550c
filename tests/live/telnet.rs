//! `telnet:` with a real telnetd: a login at a terminal, input from a pipe, and the data that the server receives.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fetch_url_tests::Terminal;

use super::program::fetch_url;
use super::work_dir::{WorkDir, fetch};

/// Runs `docker/telnetd/session`, which repeats its input.
const SESSION: &str = "telnet://127.0.0.1:17023/";
/// The login is alice with password secret.
const LOGIN: &str = "telnet://127.0.0.1:17024/";

/// Runs the program, then prints its status and whether the terminal modes are restored.
const FRAMED: &str = "trap : INT TERM; stty -a >before; \"$@\"; echo \"status $?\"; stty -a >after; \
                      cmp -s before after && echo restored; echo over";

/// Environment variables that the server must not receive.
const CANARIES: [(&str, &str); 4] =
    [("USER", "canary"), ("DISPLAY", "canary:0"), ("TERM", "xterm-canary"), ("LOGNAME", "canary")];

fn run(dir: &WorkDir, options: &[&str], url: &str) -> Terminal {
    let mut command = Command::new("sh");
    command.args(["-c", FRAMED, "sh"]).arg(fetch_url()).args(["--connect"]).args(options).arg(url);
    command.current_dir(dir.folder()).envs(CANARIES);
    Terminal::start(&command, 80).expect("a terminal")
}

/// Asserts that the session ended with this status and that the terminal modes are restored.
#[track_caller]
fn assert_ends_with_status(terminal: &mut Terminal, status: u8) {
    terminal.expect("\nover").expect("an end");
    let screen = terminal.screen();
    assert!(screen.contains(&format!("status {status}\n")), "{screen}");
    assert!(screen.contains("\nrestored\n"), "other modes than before: {screen}");
}

fn expect_and_type(terminal: &mut Terminal, prompt: &str, line: &str) {
    terminal.expect(prompt).expect("a prompt");
    terminal.type_line(line).expect("typed");
}

fn log_in(dir: &WorkDir) -> Terminal {
    let mut terminal = run(dir, &[], LOGIN);
    expect_and_type(&mut terminal, "login: ", "alice");
    terminal.expect("assword: ").expect("a prompt");
    terminal.type_secret("secret").expect("the echo is off");
    terminal.expect("\n$ ").expect("alice's shell");
    terminal
}

#[test]
#[ignore = "needs the servers of docker/"]
fn session_at_a_terminal_logs_in_and_restores_it() {
    let dir = WorkDir::new();
    let mut terminal = log_in(&dir);
    terminal.type_line("echo $((6*7)) of $(id -un)").expect("typed");
    terminal.expect("42 of alice\r\n").expect("an answer");
    expect_and_type(&mut terminal, "$ ", "seq 1 5000");
    terminal.expect("\n5000\r\n").expect("all of it");
    expect_and_type(&mut terminal, "$ ", "exit");
    assert_ends_with_status(&mut terminal, 0);
    let screen = terminal.screen();
    assert!(!screen.contains("secret"), "{screen}");
    let numbers: Vec<u32> = screen.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(numbers.iter().copied().eq(1..=5000), "{} numbers", numbers.len());
}

/// This telnetd echoes although the option was refused, because the shell turns the echo on again.
#[test]
#[ignore = "needs the servers of docker/"]
fn typed_lines_are_shown_once() {
    let dir = WorkDir::new();
    let mut terminal = log_in(&dir);
    terminal.type_line("echo $((6*7))").expect("typed");
    terminal.expect("\n42\r\n").expect("an answer");
    expect_and_type(&mut terminal, "$ ", "exit");
    assert_ends_with_status(&mut terminal, 0);
    let screen = terminal.screen();
    for typed in ["telnetd login: alice", "$ echo $((6*7))", "$ exit"] {
        assert!(screen.lines().any(|line| line == typed), "no {typed:?} in {screen}");
    }
    for again in ["alice", "echo $((6*7))", "exit"] {
        assert!(!screen.lines().any(|line| line == again), "{again:?} again in {screen}");
    }
}

/// A typed password is hidden; later input is visible again.
#[test]
#[ignore = "needs the servers of docker/"]
fn echo_is_off_for_a_password_only() {
    let dir = WorkDir::new();
    let mut terminal = log_in(&dir);
    for word in ["first", "second"] {
        terminal.type_line(&format!("echo {word} | tr a-z A-Z")).expect("typed");
        terminal.expect(&format!("echo {word} |")).expect("what was typed");
        terminal.expect(&format!("\n{}\r\n", word.to_uppercase())).expect("an answer");
    }
    // A program on the server asks for a password, too.
    terminal
        .type_line("stty -echo; printf 'Your passphrase: '; read x; stty echo; echo; echo $x | tr a-z A-Z")
        .expect("typed");
    terminal.expect("\nYour passphrase: ").expect("a prompt");
    terminal.type_secret("kanarienvogel").expect("the echo is off");
    terminal.expect("\nKANARIENVOGEL\r\n").expect("an answer");
    expect_and_type(&mut terminal, "$ ", "exit");
    assert_ends_with_status(&mut terminal, 0);
    assert!(!terminal.screen().contains("kanarienvogel"), "{}", terminal.screen());
}

#[test]
#[ignore = "needs the servers of docker/"]
fn terminal_session_sends_no_information_about_the_client() {
    let dir = WorkDir::new();
    let mut terminal = run(&dir, &[], SESSION);
    expect_and_type(&mut terminal, "> ", "size");
    expect_and_type(&mut terminal, "> ", "env");
    expect_and_type(&mut terminal, "> ", "8bit");
    expect_and_type(&mut terminal, "> ", "gr\u{fc}\u{df}e");
    // Since BINARY is refused, this server clears the eighth bit and so sends a control character, which is shown
    // escaped.
    terminal.expect("you said: grC<C\\x1Fe\r\n").expect("what came back");
    expect_and_type(&mut terminal, "> ", "quit");
    assert_ends_with_status(&mut terminal, 0);
    let screen = terminal.screen();
    assert!(screen.contains("\nbye\n") && !screen.contains("canary"), "{screen}");
    assert!(screen.contains("> size\n0 0\n"), "its size is nobody's business: {screen}");
    assert!(std::str::from_utf8(terminal.bytes()).is_ok(), "{}", terminal.bytes().escape_ascii());
    for line in ["> size\n", "> env\n", "> 8bit\n", "> quit\n"] {
        assert_eq!(screen.matches(line).count(), 1, "{screen}");
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn ctrl_bracket_exits_0_and_ctrl_c_exits_130() {
    for (key, status) in [(0x1d, 0), (3, 130)] {
        let dir = WorkDir::new();
        let mut terminal = run(&dir, &[], SESSION);
        expect_and_type(&mut terminal, "> ", "one");
        terminal.expect("you said: one\r\n> ").expect("an answer");
        terminal.type_bytes(&[key]).expect("a key");
        assert_ends_with_status(&mut terminal, status);
    }
    // At a password prompt, with hidden input, in the middle of a line.
    for (key, status) in [(0x1d, 0), (3, 130)] {
        let dir = WorkDir::new();
        let mut terminal = run(&dir, &[], LOGIN);
        expect_and_type(&mut terminal, "login: ", "alice");
        terminal.expect("assword: ").expect("a prompt");
        terminal.type_bytes(b"half a secr").expect("typed");
        terminal.type_bytes(&[key]).expect("a key");
        assert_ends_with_status(&mut terminal, status);
        assert!(!terminal.screen().contains("a secr"), "{}", terminal.screen());
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn session_closed_by_the_server_exits_0() {
    let dir = WorkDir::new();
    let mut terminal = log_in(&dir);
    terminal.type_line("kill -9 $$").expect("typed");
    assert_ends_with_status(&mut terminal, 0);
}

#[test]
#[ignore = "needs the servers of docker/"]
fn session_exits_28_after_max_time() {
    let dir = WorkDir::new();
    let mut terminal = run(&dir, &["-m", "1"], LOGIN);
    expect_and_type(&mut terminal, "login: ", "alice");
    terminal.expect("assword: ").expect("a prompt");
    assert_ends_with_status(&mut terminal, 28);
    let began = Instant::now();
    fetch(&["--connect", "-m", "0.5", SESSION]).assert_exit(28);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

/// Runs with these lines on standard input. Returns exit status, standard output and standard error.
fn run_with_input(dir: &WorkDir, input: &str, url: &str) -> (i32, Vec<u8>, String) {
    dir.write("input", input);
    let input = fs::File::open(dir.path("input")).expect("our own file");
    let mut command = Command::new(fetch_url());
    command.args(["--connect", "-m", "10", url]).env_clear().envs(CANARIES);
    command.current_dir(dir.folder()).stdin(Stdio::from(input));
    let output = command.output().expect("it runs");
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), output.stdout, talk)
}

#[test]
#[ignore = "needs the servers of docker/"]
fn piped_input_is_sent_until_the_server_closes() {
    let dir = WorkDir::new();
    let (exit, out, talk) = run_with_input(&dir, "8bit\nenv\nsize\nhallo\nquit\n", SESSION);
    assert_eq!(exit, 0, "{talk}");
    let shown = out.escape_ascii();
    let has = |part: &[u8]| out.windows(part.len()).any(|window| window == part);
    assert!(has(b"na\xefve \xff end\n"), "{shown}");
    assert!(has(b"0 0\n") && has(b"you said: hallo\n") && out.ends_with(b"> bye\n"), "{shown}");
    assert!(!has(b"canary") && !has(b"\r"), "{shown}");
    // The session ends when the server closes, even with input left; after the end of the input it waits for the
    // server.
    let (exit, out, talk) = run_with_input(&dir, "quit\nmore\nand more\n", SESSION);
    assert_eq!((exit, out.ends_with(b"bye\n")), (0, true), "{talk}");
}

/// Without `--connect` no connection is opened and no program is run.
#[test]
#[ignore = "needs the servers of docker/"]
fn url_without_connect_prints_advice_only() {
    let result =
        fetch(&["telnet://alice:secret@127.0.0.1:17024/"]).assert_exit(0).assert_stderr_omits("secret");
    assert!(result.text().contains("telnet -l alice 127.0.0.1 17024") && !result.text().contains("secret"));
    let json = fetch(&["--format", "json", "telnet://alice:secret@127.0.0.1:17024/"]).assert_exit(0).text();
    assert!(json.contains("\"port\":17024") && json.contains("\"user\":\"alice\""), "{json}");
    assert!(!json.contains("secret"), "{json}");
}

/// With `--connect` and a login in the URL, the server still asks for the login, because it is only advice.
#[test]
#[ignore = "needs the servers of docker/"]
fn login_in_the_url_is_not_sent() {
    let dir = WorkDir::new();
    let mut terminal = run(&dir, &[], "telnet://alice:secret@127.0.0.1:17024/");
    terminal.expect("login: ").expect("a prompt");
    sleep(Duration::from_millis(300));
    terminal.type_bytes(&[0x1d]).expect("Ctrl-]");
    assert_ends_with_status(&mut terminal, 0);
    let screen = terminal.screen();
    assert!(!screen.contains("secret") && !screen.contains("assword:"), "{screen}");
}
