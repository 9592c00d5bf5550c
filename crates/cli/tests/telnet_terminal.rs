//! A telnet session with a person: what is shown, what is hidden, how it is left, and what servers cannot do to it.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;
#[path = "support/telnet_peer.rs"]
mod telnet_peer;

use std::process::Command;
use std::time::Duration;

use fetch_url_tests::Terminal;
use support::{BINARY, ensure, in_parallel};
use telnet_peer::{Line, Peer, talk};

/// Runs what follows, then says its status and whether the terminal is as it was before.
const FRAMED: &str = "trap : INT TERM HUP; before=$(stty -a); \"$@\"; echo \"status $?\"; \
                      test \"$before\" = \"$(stty -a)\" && echo restored; echo over";

/// The program in a terminal.
fn person(options: &[&str], url: &str) -> Terminal {
    framed(FRAMED, options, url)
}

fn framed(script: &str, options: &[&str], url: &str) -> Terminal {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", BINARY, "--retry", "0", "--connect"]).args(options).arg(url);
    for name in ["all_proxy", "ALL_PROXY", "NO_COLOR"] {
        command.env_remove(name);
    }
    Terminal::start(&command, 80).expect("a terminal")
}

/// It is over with this status, the terminal is as it was; the screen.
#[track_caller]
fn over(terminal: &mut Terminal, status: u8) -> String {
    terminal.expect("\nover").unwrap_or_else(|error| panic!("no end: {error}"));
    let screen = terminal.screen();
    assert!(screen.contains(&format!("status {status}\n")), "{screen:?}");
    assert!(screen.contains("\nrestored\n"), "other modes than before: {screen:?}");
    screen
}

/// What a terminal gets of a session in which the server says this.
fn shown(octets: &'static [u8], piece: usize) -> Vec<u8> {
    let peer = Peer::start(move |line| {
        line.send(b"<<<");
        line.send_pieces(octets, piece);
        line.send(b"@@@@@@\r\n"); // the first ones may belong to what has no end
    });
    let mut terminal = person(&[], &peer.url());
    over(&mut terminal, 0);
    let octets = terminal.octets();
    let at = |mark: &[u8]| octets.windows(3).position(|window| window == mark).expect("a mark");
    octets[at(b"<<<") + 3..at(b"@@@")].to_vec()
}

/// Colours and where the cursor is are what a session is made of.
#[test]
fn colours_and_moves() {
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
    in_parallel(&rows, 6, |&(row, piece)| {
        let seen = shown(row, piece);
        ensure(seen == row, || format!("{} by {piece}: {}", row.escape_ascii(), seen.escape_ascii()))
    });
}

/// What speaks to the terminal, so that it answers for the person, changes its ways, or keeps something.
#[test]
fn nothing_speaks_to_the_terminal() {
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
    in_parallel(&rows, 6, |&(row, piece)| {
        let seen = shown(row, piece);
        let text = String::from_utf8_lossy(&seen);
        let what = || format!("{} by {piece}: {}", row.escape_ascii(), seen.escape_ascii());
        ensure(!text.contains(char::is_control), what)?;
        ensure(!text.contains('\u{fffd}') || row[0] == 0x9d, what)
    });
}

/// What an unfinished sequence holds back, and controls inside of one.
#[test]
fn sequences_without_an_end() {
    in_parallel(&BROKEN, 4, |&row| {
        for piece in [0, 1] {
            let seen = shown(row, piece);
            let what = || format!("{} by {piece}: {}", row.escape_ascii(), seen.escape_ascii());
            let escapes = seen.iter().filter(|&&octet| octet == 0x1b).count();
            let orders = seen.windows(2).filter(|window| window == b"\x1b[").count();
            ensure(escapes == orders && !seen.windows(4).any(|window| window == b"\x1b[6n"), what)?;
            let is_bad = |octet: u8| octet < 0x1b && !b"\t\r\n\x08\x07".contains(&octet) || octet == 0x7f;
            ensure(!seen.iter().any(|&octet| is_bad(octet)), what)?;
        }
        Ok(())
    });
    // An order without an end does not swallow the session.
    let peer = Peer::start(|line| {
        line.send(b"\x1b]0;");
        for _ in 0..200 {
            line.send(&[b'x'; 8192]);
        }
        line.send(b"\r\nstill here\r\n\x07\r\nafter\r\n");
    });
    let mut terminal = person(&[], &peer.url());
    assert!(over(&mut terminal, 0).contains("\nafter\n"));
}

const BROKEN: [&[u8]; 11] = [
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

/// However it comes, it is the same.
#[test]
fn pieces_make_no_difference() {
    in_parallel(&BROKEN, 4, |&row| {
        let (whole, pieces) = (shown(row, 0), shown(row, 1));
        let texts =
            || format!("{}: {} and {}", row.escape_ascii(), whole.escape_ascii(), pieces.escape_ascii());
        ensure(whole == pieces, texts)
    });
}

/// Other controls are shown as what they are.
#[test]
fn other_controls_are_seen() {
    assert_eq!(shown(b"a\x01\x7f\x0b", 0), b"a\\x01\\x7F\\x0B");
}

/// A pipe gets what came, whoever types.
#[test]
fn a_pipe_gets_the_octets() {
    let octets = b"\x1b]0;t\x07\x1b[6n\x9b\x01\0x\xe2\x80\xae\x1b";
    let peer = Peer::start(|line| line.send(octets));
    assert_eq!(talk(b"", &[], &peer.url()).exits(0).stdout, octets);
    let place = tempfile::NamedTempFile::new().expect("a file");
    let path = place.path().to_str().expect("UTF-8");
    let mut terminal = framed(&FRAMED.replace("\"$@\"", &format!("\"$@\" >{path}")), &[], &peer.url());
    over(&mut terminal, 0);
    assert_eq!(std::fs::read(place.path()).expect("a file"), octets);
    // Standard output a terminal and standard input none: it is a terminal all the same.
    let mut terminal =
        framed(&format!("printf 'x\\n' | {{ {FRAMED}; }}").replace("stty -a", "true"), &[], &peer.url());
    over(&mut terminal, 0);
    assert!(!terminal.octets().contains(&0x1b), "{}", terminal.octets().escape_ascii());
}

/// Answers each line in capitals, after a prompt.
fn shouts(line: &mut Line) {
    for _ in 0..3 {
        line.send(b"> ");
        let said = line.read_line().to_uppercase();
        line.send(format!("{said}\r\n").as_bytes());
    }
}

#[test]
fn each_line_is_shown_once() {
    let peer = Peer::start(shouts);
    let mut terminal = person(&[], &peer.url());
    for word in ["one", "two", "gr\u{fc}\u{df}e"] {
        terminal.expect("> ").expect("a prompt");
        terminal.type_line(word).expect("typed");
    }
    let screen = over(&mut terminal, 0);
    assert!(screen.starts_with("> one\nONE\n> two\nTWO\n> gr\u{fc}\u{df}e\nGR\u{dc}SSE\n"), "{screen}");
    assert_eq!(peer.seen(), "one\r\ntwo\r\ngr\u{fc}\u{df}e\r\n".as_bytes());
}

/// Each way out, at a line and at a password, restores the terminal.
#[test]
fn every_way_out() {
    let rows: Vec<(&[u8], u8, &[u8])> = [&b"> "[..], b"Password: "]
        .into_iter()
        .flat_map(|prompt| {
            [
                (prompt, 0, &b"\x1d"[..]),
                (prompt, 0, b"half\x1d"),
                (prompt, 130, b"\x03"),
                (prompt, 130, b"half\x03"),
                (prompt, 0, b"one\ntwo\n\x1d"),
                // An end of what is typed is no end of the session.
                (prompt, 0, b"\x04\x1d"),
                (prompt, 0, b"one\n\x04two\x04\x1d"),
            ]
        })
        .collect();
    in_parallel(&rows, 4, |&(prompt, status, keys)| {
        let peer = Peer::start(move |line| {
            line.send(prompt);
            line.read_for(Duration::from_secs(3));
            line.send(b"too late\r\n");
        });
        let mut terminal = person(&[], &peer.url());
        terminal.expect(std::str::from_utf8(prompt).expect("text")).expect("a prompt");
        if prompt != b"> " {
            terminal.type_secret("x").expect("no echo");
            terminal.expect("\n").expect("a new line");
        }
        for key in keys.split_inclusive(|key| *key < b' ') {
            terminal.type_octets(key).expect("typed");
            std::thread::sleep(Duration::from_millis(20));
        }
        let what = || format!("{} at {}", keys.escape_ascii(), prompt.escape_ascii());
        let outcome = terminal.expect("\nover").map_err(|error| format!("{}: {error}", what()));
        outcome?;
        let screen = terminal.screen();
        ensure(!screen.contains("too late"), || format!("{} does not leave", what()))?;
        ensure(screen.contains(&format!("status {status}\n")), || format!("{}: {screen:?}", what()))?;
        ensure(screen.contains("\nrestored\n"), || format!("{}: {screen:?}", what()))
    });
}

#[test]
fn ways_out_of_others() {
    in_parallel(&["> ", "Password: "], 2, |&prompt| {
        // A reset is what becomes of an end when not all was read that the client said: it may pass for one.
        for (is_cut, statuses) in [(false, &[0][..]), (true, &[0, 7, 8, 18, 52, 56])] {
            let peer = Peer::start(move |line| {
                line.send(prompt.as_bytes());
                std::thread::sleep(Duration::from_millis(100));
                if is_cut {
                    line.cut();
                }
            });
            let mut terminal = person(&[], &peer.url());
            terminal.expect("\nover").expect("an end");
            let screen = terminal.screen();
            assert!(screen.contains("\nrestored\n"), "{prompt} {is_cut}: {screen}");
            assert!(statuses.iter().any(|status| screen.contains(&format!("status {status}\n"))), "{screen}");
        }
        let held = Peer::start(move |line| {
            line.send(prompt.as_bytes());
            line.read_all();
        });
        over(&mut person(&["-m", "0.3"], &held.url()), 28);
        for (name, status) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
            let script = format!("(sleep 0.3; kill -{name} 0) & {FRAMED}");
            over(&mut framed(&script, &[], &held.url()), status);
        }
        Ok(())
    });
}

/// Ctrl-Z, at a line and at a password: the shell has its terminal as it was, and the session goes on.
#[test]
fn away_for_a_while() {
    let script = "set -m; before=$(stty -a); \"$@\"; test \"$before\" = \"$(stty -a)\" && echo shell; \
                  fg >/dev/null; echo \"status $?\"; test \"$before\" = \"$(stty -a)\" && echo restored; echo over";
    in_parallel(&["> ", "Password: "], 2, |&prompt| {
        let peer = Peer::start(move |line| {
            line.send(prompt.as_bytes());
            let said = line.read_line().to_uppercase();
            line.send(format!("got {said}\r\n").as_bytes());
        });
        let mut terminal = framed(script, &[], &peer.url());
        terminal.expect(prompt.trim_end()).expect("a prompt");
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_octets(&[26]).expect("Ctrl-Z");
        terminal.expect("shell\r\n").map_err(|error| format!("{prompt}: {error}"))?;
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_line("kanarienvogel").expect("typed");
        terminal.expect("got KANARIENVOGEL\r\n").map_err(|error| format!("{prompt}: {error}"))?;
        let screen = over(&mut terminal, 0);
        ensure(screen.contains("kanarienvogel") == (prompt == "> "), || format!("{prompt}: {screen:?}"))
    });
}

/// At a prompt that ends like this nobody looks on; afterwards what is typed is seen again.
#[test]
fn passwords_are_hidden() {
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
    in_parallel(&rows, 4, |&(prompt, piece)| {
        let peer = Peer::start(move |line| {
            line.send_pieces(prompt, piece);
            let said = line.read_line().to_uppercase();
            line.send(format!("got {said}\r\nname? ").as_bytes());
            line.read_line();
        });
        let mut terminal = person(&[], &peer.url());
        let what = |error| format!("{} by {piece}: {error}", prompt.escape_ascii());
        terminal.expect(":").map_err(what)?;
        terminal.type_secret("kanarienvogel").map_err(what)?;
        terminal.expect("got KANARIENVOGEL").map_err(what)?;
        terminal.expect("name? ").map_err(what)?;
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_line("joe").map_err(what)?;
        terminal.expect("joe").map_err(what)?;
        let screen = over(&mut terminal, 0);
        ensure(!screen.contains("kanarienvogel"), || screen)
    });
    // Not at what only looks like one.
    for prompt in ["Password: expired\r\n> ", "password\r\n", "passwords: none "] {
        let peer = Peer::start(move |line| {
            line.send(prompt.as_bytes());
            line.read_line();
        });
        let mut terminal = person(&[], &peer.url());
        terminal.expect(prompt.trim_end()).expect("a prompt");
        std::thread::sleep(Duration::from_millis(100));
        terminal.type_line("visible").expect("typed");
        assert!(over(&mut terminal, 0).contains("visible"), "{prompt:?}");
    }
}

// FAILS now and then: the prompt is seen before the echo is off.
/// Who types as soon as the prompt is seen is not seen.
#[test]
fn hidden_before_it_is_asked() {
    let peer = Peer::start(|line| {
        line.send(b"Password: ");
        line.read_line();
    });
    in_parallel(&[(); 60], 6, |()| {
        let mut terminal = person(&[], &peer.url());
        terminal.expect("Password:").map_err(|error| error.to_string())?;
        terminal.type_line("kanarienvogel").map_err(|error| error.to_string())?;
        let screen = over(&mut terminal, 0);
        ensure(!screen.contains("kana"), || screen)
    });
}

/// The end of the colour is behind the colon.
#[test]
fn a_coloured_prompt_hides() {
    let peer = Peer::start(|line| {
        line.send(b"\x1b[1mPassword:\x1b[0m ");
        line.read_line();
    });
    let mut terminal = person(&[], &peer.url());
    terminal.expect("Password:").expect("a prompt");
    std::thread::sleep(Duration::from_millis(100));
    terminal.type_line("kanarienvogel").expect("typed");
    let screen = over(&mut terminal, 0);
    assert!(!screen.contains("kanarienvogel"), "{screen:?}");
}
