//! Telnet sessions on a terminal: displayed text, local echo, ways to leave the session, and sanitising of hostile
//! server data.

use std::process::Command;
use std::time::Duration;

use crate::support::telnet_server::{TelnetConnection, TelnetServer, run_session};
use crate::support::{BINARY, check_in_parallel, ensure};
use fetch_url_tests::Terminal;

/// A shell script that runs the command, then prints its exit status and whether the terminal modes are restored.
const FRAME_SCRIPT: &str = "trap : INT TERM HUP; before=$(stty -a); \"$@\"; echo \"status $?\"; \
                      test \"$before\" = \"$(stty -a)\" && echo restored; echo over";

/// Starts a session in a terminal of 80 columns.
fn run_in_terminal(options: &[&str], url: &str) -> Terminal {
    run_script_in_terminal(FRAME_SCRIPT, options, url)
}

/// Starts a session from a shell script that runs it as `"$@"`.
fn run_script_in_terminal(script: &str, options: &[&str], url: &str) -> Terminal {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", BINARY, "--retry", "0", "--connect"]).args(options).arg(url);
    for name in ["all_proxy", "ALL_PROXY", "NO_COLOR"] {
        command.env_remove(name);
    }
    Terminal::start(&command, 80).expect("start terminal")
}

/// Waits for the end of the session, asserts its exit status and that the terminal is restored, and returns the
/// screen.
#[track_caller]
fn assert_session_end(terminal: &mut Terminal, status: u8) -> String {
    terminal.expect("\nover").unwrap_or_else(|error| panic!("the session does not end: {error}"));
    let screen = terminal.screen();
    assert!(screen.contains(&format!("status {status}\n")), "{screen:?}");
    assert!(screen.contains("\nrestored\n"), "terminal modes are not restored: {screen:?}");
    screen
}

/// Returns the bytes that the terminal receives when the server sends `bytes` in chunks of this size (0: all at once).
fn displayed_bytes(bytes: &'static [u8], chunk_size: usize) -> Vec<u8> {
    let server = TelnetServer::start(move |connection| {
        connection.send(b"<<<");
        connection.send_in_chunks(bytes, chunk_size);
        connection.send(b"@@@@@@\r\n"); // some may be swallowed by an unterminated sequence
    });
    let mut terminal = run_in_terminal(&[], &server.url());
    assert_session_end(&mut terminal, 0);
    let bytes = terminal.bytes();
    let at = |mark: &[u8]| bytes.windows(3).position(|window| window == mark).expect("marker");
    bytes[at(b"<<<") + 3..at(b"@@@")].to_vec()
}

#[test]
fn colours_and_cursor_movements_are_passed_to_the_terminal() {
    let rows: [&[u8]; 14] = [
        b"\x1b[1;31mred\x1b[0m",
        b"\x1b[mplain",
        b"\x1b[38;5;208mmany\x1b[39m",
        b"\x1b[2J\x1b[H",
        b"\x1b[2;3Hhere",
        b"\x1b[A\x1b[2B\x1b[3C\x1b[4D",
        b"a\x1b[K",
        b"a\tb",
        b"a\x08b",
        b"gr\xc3\xbc\xc3\x9fe",
        b"\xe7\xb4\x8d\xe8\xb1\x86",
        b"\x1b[1K\x1b[0J",
        b"\x1b[5G",
        b"plain",
    ];
    let rows: Vec<(&[u8], usize)> = rows.into_iter().flat_map(|row| [(row, 0), (row, 1)]).collect();
    check_in_parallel(&rows, 6, |&(row, chunk_size)| {
        let displayed = displayed_bytes(row, chunk_size);
        ensure(displayed == row, || {
            format!("{} by {chunk_size}: {}", row.escape_ascii(), displayed.escape_ascii())
        })
    });
}

/// Sequences that make the terminal reply, change its modes, or store data.
#[test]
fn queries_and_mode_changes_are_removed() {
    let rows: [&[u8]; 42] = [
        b"\x1b]0;title\x07",
        b"\x1b]0;title\x1b\\",
        b"\x1b]52;c;cm0gLXJm\x07",
        b"\x1b]8;;http://evil/\x1b\\link\x1b]8;;\x1b\\",
        b"\x1b]4;0;?\x07",
        b"\x1b]11;?\x07",
        b"\x1bP$qm\x1b\\",
        b"\x1bP+q544e\x1b\\",
        b"\x1bP1$r0m\x1b\\",
        b"\x1b_apc\x1b\\",
        b"\x1b^pm\x1b\\",
        b"\x1bXsos\x1b\\",
        b"\x1b[c",
        b"\x1b[0c",
        b"\x1b[>c",
        b"\x1b[=c",
        b"\x1b[5n",
        b"\x1b[6n",
        b"\x1b[?6n",
        b"\x1b[x",
        b"\x1b[>q",
        b"\x1bZ",
        b"\x05",
        b"\x1b[21t",
        b"\x1b[8;1;1t",
        b"\x1b[?1049h",
        b"\x1b[?1000h",
        b"\x1b[?2004h",
        b"\x1b[?25l",
        b"\x1b[4h",
        b"\x1b[20l",
        b"\x1b[5i",
        b"\x1b[!p",
        b"\x1bc",
        b"\x1b=",
        b"\x1b(0",
        b"\x1b#8",
        b"\x0e",
        b"\x9d0;title\x9c",
        b"\xc2\x9d0;title\xc2\x9c",
        b"\xc2\x9b6n",
        b"\xc2\x90$qm\xc2\x9c",
    ];
    let rows: Vec<(&[u8], usize)> = rows.into_iter().flat_map(|row| [(row, 0), (row, 1)]).collect();
    check_in_parallel(&rows, 6, |&(row, chunk_size)| {
        let displayed = displayed_bytes(row, chunk_size);
        let text = String::from_utf8_lossy(&displayed);
        let context = || format!("{} by {chunk_size}: {}", row.escape_ascii(), displayed.escape_ascii());
        ensure(!text.contains(char::is_control), context)?;
        ensure(!text.contains('\u{fffd}') || row[0] == 0x9d, context)
    });
}

/// Tests sequences with controls inside them; the session continues after an endless sequence.
#[test]
fn unterminated_sequences_are_sanitised() {
    check_in_parallel(&BROKEN_SEQUENCES, 4, |&row| {
        for chunk_size in [0, 1] {
            let displayed = displayed_bytes(row, chunk_size);
            let context = || format!("{} by {chunk_size}: {}", row.escape_ascii(), displayed.escape_ascii());
            let escapes = displayed.iter().filter(|&&byte| byte == 0x1b).count();
            let control_sequences = displayed.windows(2).filter(|window| window == b"\x1b[").count();
            ensure(
                escapes == control_sequences && !displayed.windows(4).any(|window| window == b"\x1b[6n"),
                context,
            )?;
            let is_bad = |byte: u8| byte < 0x1b && !b"\t\r\n\x08\x07".contains(&byte) || byte == 0x7f;
            ensure(!displayed.iter().any(|&byte| is_bad(byte)), context)?;
        }
        Ok(())
    });
    // An unterminated sequence does not hide the rest of the session.
    let server = TelnetServer::start(|connection| {
        connection.send(b"\x1b]0;");
        for _ in 0..200 {
            connection.send(&[b'x'; 8192]);
        }
        connection.send(b"\r\nstill here\r\n\x07\r\nafter\r\n");
    });
    let mut terminal = run_in_terminal(&[], &server.url());
    assert!(assert_session_end(&mut terminal, 0).contains("\nafter\n"));
}

/// Incomplete, interrupted and overlong control sequences.
const BROKEN_SEQUENCES: [&[u8]; 11] = [
    b"\x1b",
    b"\x1b[",
    b"\x1b[1;2",
    b"\x1b\x1b]0;x\x07",
    b"\x1b[\x1b]0;x\x07",
    b"\x1b[1\x07m",
    b"\x1b[1\x1b[6n",
    b"\x1b]0;\x1b[6n\x07",
    b"\x1b]\xff\xff\x07",
    b"\x1b[999999999999999999999999999999999999;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1n",
    b"\x01\x02\x0b\x0c\x7f\0",
];

#[test]
fn chunk_size_does_not_change_the_output() {
    check_in_parallel(&BROKEN_SEQUENCES, 4, |&row| {
        let (unchunked, chunked) = (displayed_bytes(row, 0), displayed_bytes(row, 1));
        let texts =
            || format!("{}: {} and {}", row.escape_ascii(), unchunked.escape_ascii(), chunked.escape_ascii());
        ensure(unchunked == chunked, texts)
    });
}

#[test]
fn other_controls_are_shown_in_escaped_form() {
    assert_eq!(displayed_bytes(b"a\x01\x7f\x0b", 0), b"a\\x01\\x7F\\x0B");
}

/// A pipe receives the exact bytes, even if standard input is a terminal.
#[test]
fn pipe_receives_the_exact_bytes() {
    let bytes = b"\x1b]0;t\x07\x1b[6n\x9b\x01\0x\xe2\x80\xae\x1b";
    let server = TelnetServer::start(|connection| connection.send(bytes));
    assert_eq!(run_session(b"", &[], &server.url()).assert_exit(0).stdout, bytes);
    let file = tempfile::NamedTempFile::new().expect("create temporary file");
    let path = file.path().to_str().expect("valid UTF-8");
    let mut terminal = run_script_in_terminal(
        &FRAME_SCRIPT.replace("\"$@\"", &format!("\"$@\" >{path}")),
        &[],
        &server.url(),
    );
    assert_session_end(&mut terminal, 0);
    assert_eq!(std::fs::read(file.path()).expect("read file"), bytes);
    // With standard output on a terminal and standard input from a pipe, the output is sanitised.
    let mut terminal = run_script_in_terminal(
        &format!("printf 'x\\n' | {{ {FRAME_SCRIPT}; }}").replace("stty -a", "true"),
        &[],
        &server.url(),
    );
    assert_session_end(&mut terminal, 0);
    assert!(!terminal.bytes().contains(&0x1b), "{}", terminal.bytes().escape_ascii());
}

/// Sends a prompt and answers each line in capitals, three times.
fn echo_in_capitals(connection: &mut TelnetConnection) {
    for _ in 0..3 {
        connection.send(b"> ");
        let line = connection.read_line().to_uppercase();
        connection.send(format!("{line}\r\n").as_bytes());
    }
}

#[test]
fn typed_lines_are_echoed_once_and_sent_with_crlf() {
    let server = TelnetServer::start(echo_in_capitals);
    let mut terminal = run_in_terminal(&[], &server.url());
    for word in ["one", "two", "gr\u{fc}\u{df}e"] {
        terminal.expect("> ").expect("prompt appears");
        terminal.type_line(word).expect("write to terminal");
    }
    let screen = assert_session_end(&mut terminal, 0);
    assert!(screen.starts_with("> one\nONE\n> two\nTWO\n> gr\u{fc}\u{df}e\nGR\u{dc}SSE\n"), "{screen}");
    assert_eq!(server.received(), "one\r\ntwo\r\ngr\u{fc}\u{df}e\r\n".as_bytes());
}

/// Tests Ctrl-] and Ctrl-C, at a line prompt and at a password prompt.
#[test]
fn leaving_the_session_restores_the_terminal() {
    let rows: Vec<(&[u8], u8, &[u8])> = [&b"> "[..], b"Password: "]
        .into_iter()
        .flat_map(|prompt| {
            [
                (prompt, 0, &b"\x1d"[..]),
                (prompt, 0, b"half\x1d"),
                (prompt, 130, b"\x03"),
                (prompt, 130, b"half\x03"),
                (prompt, 0, b"one\ntwo\n\x1d"),
                // Ctrl-D does not end the session.
                (prompt, 0, b"\x04\x1d"),
                (prompt, 0, b"one\n\x04two\x04\x1d"),
            ]
        })
        .collect();
    check_in_parallel(&rows, 4, |&(prompt, status, keys)| {
        let server = TelnetServer::start(move |connection| {
            connection.send(prompt);
            connection.receive_for(Duration::from_secs(3));
            connection.send(b"too late\r\n");
        });
        let mut terminal = run_in_terminal(&[], &server.url());
        terminal.expect(std::str::from_utf8(prompt).expect("valid UTF-8")).expect("prompt appears");
        if prompt != b"> " {
            terminal.type_secret("x").expect("terminal echo is off");
            terminal.expect("\n").expect("line break appears");
        }
        for key in keys.split_inclusive(|key| *key < b' ') {
            terminal.type_bytes(key).expect("write to terminal");
            std::thread::sleep(Duration::from_millis(20));
        }
        let context = || format!("{} at {}", keys.escape_ascii(), prompt.escape_ascii());
        let outcome = terminal.expect("\nover").map_err(|error| format!("{}: {error}", context()));
        outcome?;
        let screen = terminal.screen();
        ensure(!screen.contains("too late"), || format!("{} does not end the session", context()))?;
        ensure(screen.contains(&format!("status {status}\n")), || format!("{}: {screen:?}", context()))?;
        ensure(screen.contains("\nrestored\n"), || format!("{}: {screen:?}", context()))
    });
}

#[test]
fn close_timeout_or_signal_restores_the_terminal() {
    check_in_parallel(&["> ", "Password: "], 2, |&prompt| {
        for (is_reset, status) in [(false, 0), (true, 18)] {
            let server = TelnetServer::start(move |connection| {
                connection.send(prompt.as_bytes());
                std::thread::sleep(Duration::from_millis(100));
                if is_reset {
                    connection.reset();
                }
            });
            let mut terminal = run_in_terminal(&[], &server.url());
            terminal.expect("\nover").expect("process exits");
            let screen = terminal.screen();
            assert!(screen.contains("\nrestored\n"), "{prompt} {is_reset}: {screen}");
            assert!(screen.contains(&format!("status {status}\n")), "{screen}");
        }
        let silent_server = TelnetServer::start(move |connection| {
            connection.send(prompt.as_bytes());
            connection.receive_to_end();
        });
        assert_session_end(&mut run_in_terminal(&["-m", "0.3"], &silent_server.url()), 28);
        for (name, status) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
            let script = format!("(sleep 0.3; kill -{name} 0) & {FRAME_SCRIPT}");
            assert_session_end(&mut run_script_in_terminal(&script, &[], &silent_server.url()), status);
        }
        Ok(())
    });
}

/// While the session is suspended, the shell has its terminal modes back. Tested at a line prompt and at a password
/// prompt.
#[test]
fn ctrl_z_suspends_and_resumes_the_session() {
    let script = "set -m; before=$(stty -a); \"$@\"; test \"$before\" = \"$(stty -a)\" && echo shell; \
                  fg >/dev/null; echo \"status $?\"; test \"$before\" = \"$(stty -a)\" && echo restored; echo over";
    check_in_parallel(&["> ", "Password: "], 2, |&prompt| {
        let server = TelnetServer::start(move |connection| {
            connection.send(prompt.as_bytes());
            let line = connection.read_line().to_uppercase();
            connection.send(format!("got {line}\r\n").as_bytes());
        });
        let mut terminal = run_script_in_terminal(script, &[], &server.url());
        terminal.expect(prompt.trim_end()).expect("prompt appears");
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_bytes(&[26]).expect("Ctrl-Z");
        terminal.expect("shell\r\n").map_err(|error| format!("{prompt}: {error}"))?;
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_line("kanarienvogel").expect("write to terminal");
        terminal.expect("got KANARIENVOGEL\r\n").map_err(|error| format!("{prompt}: {error}"))?;
        let screen = assert_session_end(&mut terminal, 0);
        ensure(screen.contains("kanarienvogel") == (prompt == "> "), || format!("{prompt}: {screen:?}"))
    });
}

/// The echo is off for one line only: input after it is visible again.
#[test]
fn password_prompt_turns_the_echo_off() {
    let prompts: [&[u8]; 7] = [
        b"Password: ",
        b"password:",
        b"PASSWORD: ",
        b"\r\nlogin\r\nPassword: ",
        b"alice@host's password: ",
        b"Enter passphrase: ",
        b"Passphrase:",
    ];
    let rows: Vec<(&[u8], usize)> =
        prompts.into_iter().flat_map(|prompt| [(prompt, 0), (prompt, 1)]).collect();
    check_in_parallel(&rows, 4, |&(prompt, chunk_size)| {
        let server = TelnetServer::start(move |connection| {
            connection.send_in_chunks(prompt, chunk_size);
            let line = connection.read_line().to_uppercase();
            connection.send(format!("got {line}\r\nname? ").as_bytes());
            connection.read_line();
        });
        let mut terminal = run_in_terminal(&[], &server.url());
        let context = |error| format!("{} by {chunk_size}: {error}", prompt.escape_ascii());
        terminal.expect(":").map_err(context)?;
        terminal.type_secret("kanarienvogel").map_err(context)?;
        terminal.expect("got KANARIENVOGEL").map_err(context)?;
        terminal.expect("name? ").map_err(context)?;
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_line("joe").map_err(context)?;
        terminal.expect("joe").map_err(context)?;
        let screen = assert_session_end(&mut terminal, 0);
        ensure(!screen.contains("kanarienvogel"), || screen)
    });
    // Other texts with "password" are not password prompts.
    for prompt in ["Password: expired\r\n> ", "password\r\n", "passwords: none "] {
        let server = TelnetServer::start(move |connection| {
            connection.send(prompt.as_bytes());
            connection.read_line();
        });
        let mut terminal = run_in_terminal(&[], &server.url());
        terminal.expect(prompt.trim_end()).expect("prompt appears");
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_line("visible").expect("write to terminal");
        assert!(assert_session_end(&mut terminal, 0).contains("visible"), "{prompt:?}");
    }
}

// The prompt and the mode of the terminal are changed by two threads, so a slow machine can show the prompt first.
/// A password typed as soon as the prompt appears must not be visible.
#[test]
fn echo_is_off_before_the_password_prompt_is_displayed() {
    let server = TelnetServer::start(|connection| {
        connection.send(b"Password: ");
        connection.read_line();
    });
    check_in_parallel(&[(); 60], 6, |()| {
        let mut terminal = run_in_terminal(&[], &server.url());
        terminal.expect("Password:").map_err(|error| error.to_string())?;
        terminal.type_line("kanarienvogel").map_err(|error| error.to_string())?;
        let screen = assert_session_end(&mut terminal, 0);
        ensure(!screen.contains("kana"), || screen)
    });
}

/// The colour ends after the colon.
#[test]
fn coloured_password_prompt_turns_the_echo_off() {
    let server = TelnetServer::start(|connection| {
        connection.send(b"\x1b[1mPassword:\x1b[0m ");
        connection.read_line();
    });
    let mut terminal = run_in_terminal(&[], &server.url());
    terminal.expect("Password:").expect("prompt appears");
    std::thread::sleep(Duration::from_millis(100));
    terminal.type_line("kanarienvogel").expect("write to terminal");
    let screen = assert_session_end(&mut terminal, 0);
    assert!(!screen.contains("kanarienvogel"), "{screen:?}");
}
