//! Menus, texts and forms on a terminal: control characters are escaped, and forms are filled interactively.

use std::process::Command;

use fetch_url_tests::Terminal;

use crate::live::gopher_server::{GopherServer, PYGOPHERD, each_gopher_server};
use crate::live::program::fetch_url;
use crate::live::work_dir::{WorkDir, key};

each_gopher_server![
    control_characters_are_escaped_on_a_terminal,
    menu_fits_80_columns,
    binary_item_on_a_terminal_exits_23
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

/// As a menu, as a text and raw, control characters are escaped.
fn control_characters_are_escaped_on_a_terminal(server: GopherServer) {
    for gtype in ["0", "1"] {
        for options in [&[][..], &["--format", "raw"], &["--format", "json"], &["-v"]] {
            let url = server.url(&format!("/{gtype}/cgi-bin/odd-menu"));
            let (terminal, exit) = shown(&[options, &[&url]].concat());
            let screen = terminal.screen();
            assert_eq!(exit, 0, "{screen}");
            assert!(screen.contains("the last one"), "{options:?} {gtype}: {screen}");
            let is_evil = |byte: &u8| *byte < b' ' && !b"\r\n\t".contains(byte);
            assert!(!terminal.bytes().iter().any(is_evil), "{options:?} {gtype}: {}", screen.escape_debug());
        }
    }
}

fn menu_fits_80_columns(server: GopherServer) {
    for path in ["", "/1/odd", "/1/plus"] {
        let (terminal, exit) = shown(&[&server.url(path)]);
        assert_eq!(exit, 0, "{}", terminal.screen());
        let screen = terminal.screen();
        let long: Vec<&str> = screen
            .lines()
            .filter(|line| line.chars().count() > 80 && !line.trim().starts_with("gopher:"))
            .collect();
        assert_eq!(long, [""; 0], "{screen}");
    }
}

fn binary_item_on_a_terminal_exits_23(server: GopherServer) {
    let (terminal, exit) = shown(&[&server.url("/9/all-bytes.bin")]);
    assert_eq!(exit, 23, "{}", terminal.screen());
    assert!(!terminal.bytes().contains(&0), "{}", terminal.screen());
}

/// The questions are asked one after the other, below the notes of the form; a typed secret is not shown.
#[test]
#[ignore = "needs the servers of docker/"]
fn form_questions_are_asked_in_order() {
    let (key, watch) = (key(), PYGOPHERD.watch());
    let mut terminal = run(&[&PYGOPHERD.url(&format!("/0/plus/ask.txt%09{key}%09?"))]);
    terminal.expect("Your name?").expect("the first question");
    terminal.type_line("somebody").expect("it reads");
    terminal.expect("A password?").expect("the second question");
    terminal.type_secret("x-canary-x").expect("the echo is off");
    terminal.expect("Colour?").expect("the third question");
    assert!(terminal.screen().contains("a form"), "the note above: {}", terminal.screen());
    assert!(!terminal.screen().contains("x-canary-x"), "{}", terminal.screen());
    drop(terminal);
    // The process ended during the form: no answer was sent.
    PYGOPHERD.answer(format!("/{key}-last"));
    watch.line(&format!("{key}-last"));
    assert_eq!(watch.all(&key).len(), 2, "{:?}", watch.all(&key));
}
