//! Completions in real shells at a terminal. A test is skipped, with a message, if its shell is not installed.

use std::process::Command;

use fetch_url_tests::Terminal;

use crate::support::{BINARY, run_shell, temp_dir};

/// Text typed before the TAB key, and the word that the shell must complete.
const TYPED: [(&str, &str); 5] = [
    ("fetch-url --remote-n", "--remote-name"),
    ("fetch-url mirr", "mirror"),
    ("fetch-url mirror --page-re", "--page-requisites"),
    ("fetch-url explain --dialect rfc", "rfc1738"),
    ("fetch-url -# --http1.1 --skip-ex", "--skip-existing"),
];

/// Starts a shell that reads the completion script, or returns `None` if it is not installed.
#[allow(clippy::print_stdout, reason = "a test that was skipped must say so")]
fn shell_with_completions(
    shell: &str,
    arguments: &[&str],
    setup: &str,
) -> Option<(Terminal, tempfile::TempDir)> {
    if Command::new(shell).arg("--version").output().is_err() {
        println!("skipped: {shell} is not installed");
        return None;
    }
    let dir = temp_dir();
    let script = run_shell("\"$F\" completions \"$1\"", [shell]).assert_exit(0).stdout_text();
    std::fs::write(dir.path().join("script"), script).expect("a file");
    let path = std::path::Path::new(BINARY).parent().expect("a directory").display().to_string();
    let mut command = Command::new("env");
    let home = format!("HOME={}", dir.path().display());
    let path = format!("PATH={path}:/usr/sbin:/usr/bin:/sbin:/bin");
    command.args(["-i", &home, &path, "LC_ALL=C.UTF-8", "TERM=xterm", "PS1=ready$ ", shell]);
    command.args(arguments).current_dir(dir.path());
    let mut terminal = Terminal::start(&command, 200).expect("a terminal");
    terminal.type_line(setup).expect("a shell");
    terminal.type_line("echo lo''aded").expect("a shell");
    terminal.expect("loaded\r\n").expect("the script is read");
    Some((terminal, dir))
}

/// Types each text and TAB, and waits for the completed text. Ctrl-U clears the line.
fn check(mut terminal: Terminal) {
    for (typed, shown) in TYPED {
        let last = typed.rsplit(' ').next().expect("a word");
        let rest = &shown[last.len()..];
        terminal.type_bytes(typed.as_bytes()).expect("a shell");
        terminal.expect(last).expect("an echo");
        terminal.type_bytes(b"\t").expect("a shell");
        terminal.expect(rest).unwrap_or_else(|error| panic!("{typed}: {error}"));
        terminal.type_bytes(b"\x15").expect("a shell");
    }
    let screen = terminal.screen();
    for error in ["not found", "option requires", "Invalid", "syntax error"] {
        assert!(!screen.contains(error), "{screen}");
    }
    terminal.type_line("exit").expect("a shell");
}

#[test]
fn bash_completes_options_sub_commands_and_values() {
    let arguments = ["--norc", "--noprofile", "-i"];
    let shell = shell_with_completions("bash", &arguments, "bind 'set bell-style none'; source ./script");
    shell.into_iter().for_each(|(terminal, _dir)| check(terminal));
}

#[test]
fn fish_completes_options_sub_commands_and_values() {
    // Suggestions from the history and the current directory are not completions.
    let setup =
        "set -g fish_autosuggestion_enabled 0; function fish_prompt; echo 'ready$ '; end; source ./script";
    let shell = shell_with_completions("fish", &["--no-config", "-i"], setup);
    shell.into_iter().for_each(|(terminal, _dir)| check(terminal));
}

#[test]
fn zsh_completes_options_sub_commands_and_values() {
    let setup = "autoload -U compinit; compinit -u -D; source ./script";
    let shell = shell_with_completions("zsh", &["-f", "-i"], setup);
    shell.into_iter().for_each(|(terminal, _dir)| check(terminal));
}
