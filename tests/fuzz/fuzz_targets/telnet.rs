//! Arbitrary bytes in both directions of a Telnet session, and as a `telnet:` URL: no panic; the text and the answers do
//! not depend on where the bytes are cut, and are those of a second implementation below; every option is refused once;
//! sent text is decoded to the same text; the command of the advice has the words of the URL.
//!
//! The module of the advice is private to its crate and is compiled here a second time.
#![no_main]
#![allow(dead_code, unused_imports, reason = "the engine uses the rest")]

#[path = "../../../crates/fetch/src"]
mod fetch {
    pub mod advice;
    pub mod error;
    #[path = "drivers/telnet/advice.rs"]
    mod telnet_advice;

    use fetch_url_core::TelnetUrl;

    pub fn advice_of(url: &TelnetUrl<'_>) -> advice::NotFetchable {
        telnet_advice::telnet_advice(url, 23)
    }
    pub mod timings;
}

use fetch::advice::{self, AdviceValue, NotFetchable};
use fetch::error::{Error, Hint};
use fetch::timings;
use fetch_url_core::{Url, parse};
use fetch_url_proto::telnet::TelnetSession;
use fetch_url_proto::text::sanitise;
use fetch_url_proto::{Event, Machine, RecvBuffer, Step};
use libfuzzer_sys::fuzz_target;

const SE: u8 = 240;
const SB: u8 = 250;
const WILL: u8 = 251;
const WONT: u8 = 252;
const DO: u8 = 253;
const DONT: u8 = 254;
const IAC: u8 = 255;
const TIMING_MARK: u8 = 6;
const MAX_TIMING_MARKS: usize = 256;

fuzz_target!(|data: &[u8]| {
    let expected = reference(data);
    for length in [data.len().max(1), 1, 2, 7] {
        assert_eq!(receive(data, length), expected, "{length}");
    }
    check_refusals(&expected.1);
    check_sent(data);
    if let Ok(text) = std::str::from_utf8(data) {
        check_advice(text);
    }
});

/// Returns the text and the answers of a session that receives the bytes in pieces of at most `length`.
fn receive(data: &[u8], length: usize) -> (Vec<u8>, Vec<u8>) {
    let (mut session, mut buffer, mut pieces) =
        (TelnetSession::new(), RecvBuffer::new(), data.chunks(length));
    let (mut text, mut sent) = (Vec::new(), Vec::new());
    loop {
        match session.step(&mut buffer).expect("telnet has no errors") {
            Step::Emit(Event::Body(bytes)) => text.extend_from_slice(&bytes),
            Step::Send(bytes) => sent.extend_from_slice(&bytes),
            Step::NeedMore => match pieces.next() {
                Some(piece) => buffer.push(piece),
                None => buffer.mark_closed(),
            },
            Step::Done => return (text, sent),
            step => panic!("{step:?}"),
        }
    }
}

/// Returns the same as [`receive`], for all bytes at once.
fn reference(mut rest: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut text, mut sent, mut answered, mut marks) = (Vec::new(), Vec::new(), Vec::new(), 0);
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'\r', [0, after @ ..]) => (text.push(b'\r'), rest = after).1,
            (b'\r', [b'\n', after @ ..]) => (text.push(b'\n'), rest = after).1,
            (IAC, [IAC, after @ ..]) => (text.push(IAC), rest = after).1,
            (IAC, [SB, after @ ..]) => rest = after_subnegotiation(after),
            (IAC, [verb @ WILL..=DONT, after @ ..]) => {
                let Some((&option, after)) = after.split_first() else { break };
                rest = after;
                let answer = match *verb {
                    WILL => [IAC, DONT, option],
                    DO => [IAC, WONT, option],
                    _ => continue,
                };
                let is_mark = option == TIMING_MARK && marks < MAX_TIMING_MARKS;
                marks += usize::from(is_mark);
                if is_mark || !answered.contains(&answer) {
                    sent.extend_from_slice(&answer);
                }
                answered.push(answer);
            }
            (IAC, [_, after @ ..]) => rest = after,
            (IAC, []) => {}
            (byte, _) => text.push(byte),
        }
    }
    (text, sent)
}

/// Returns the bytes after IAC SE. Any other byte after an IAC continues the subnegotiation.
fn after_subnegotiation(mut rest: &[u8]) -> &[u8] {
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == IAC {
            let Some((&command, after)) = rest.split_first() else { break };
            rest = after;
            if command == SE {
                break;
            }
        }
    }
    rest
}

fn check_refusals(sent: &[u8]) {
    assert_eq!(sent.len() % 3, 0);
    let answers: Vec<&[u8]> = sent.chunks(3).collect();
    assert!(answers.iter().all(|answer| answer[0] == IAC && matches!(answer[1], WONT | DONT)));
    let others: Vec<_> = answers.iter().filter(|answer| answer[2] != TIMING_MARK).collect();
    assert!(others.iter().enumerate().all(|(index, answer)| !others[..index].contains(answer)));
}

/// Decodes the sent bytes as a server does (CR LF to LF, CR NUL to CR, IAC IAC to IAC): they are the queued text, no
/// matter how it was split.
fn check_sent(data: &[u8]) {
    let send = |length: usize| {
        let mut session = TelnetSession::new();
        data.chunks(length).for_each(|piece| session.queue_text(piece));
        session.finish_sending_text();
        match session.step(&mut RecvBuffer::new()) {
            Ok(Step::Send(bytes)) => bytes.to_vec(),
            step => (assert!(data.is_empty(), "{step:?}"), Vec::new()).1,
        }
    };
    let sent = send(data.len().max(1));
    assert!([1, 2, 7].iter().all(|&length| send(length) == sent));
    let (mut decoded, mut rest) = (Vec::new(), &sent[..]);
    while let Some((&byte, after)) = rest.split_first() {
        let (byte, after) = match (byte, after) {
            (b'\r', [b'\n', after @ ..]) => (b'\n', after),
            (b'\r', [0, after @ ..]) => (b'\r', after),
            (IAC, [IAC, after @ ..]) => (IAC, after),
            (b'\r' | b'\n' | IAC, _) => panic!("{sent:?}"),
            (byte, after) => (byte, after),
        };
        decoded.push(byte);
        rest = after;
    }
    let crlf = |pair: &[u8]| pair == b"\r\n";
    let local: Vec<u8> =
        (0..data.len()).filter(|&at| !data.get(at..at + 2).is_some_and(crlf)).map(|at| data[at]).collect();
    assert_eq!(decoded, local);
}

fn check_advice(text: &str) {
    let text = format!("telnet://{text}");
    let Ok(parsed) = parse(&text) else { return };
    let Url::Telnet(url) = &parsed.url else { panic!("{text}") };
    let advice = fetch::advice_of(url);
    assert!(advice.text.chars().all(|character| character == '\n' || !character.is_control()), "{text}");
    let command = advice.values.iter().find_map(|(name, value)| match value {
        AdviceValue::Text(command) if *name == "command" => Some(command),
        _ => None,
    });
    let command = command.expect("a command");
    assert!(advice.text.contains(command.as_str()));
    let host = url.authority().host_port().host().to_string();
    let user = url.authority().user().map(|user| sanitise(&user.decode())).filter(|user| !user.is_empty());
    let mut expected = vec!["telnet".to_owned()];
    expected.extend(user.into_iter().flat_map(|user| ["-l".to_owned(), user]));
    expected.extend([host.trim_matches(['[', ']']).replace("%25", "%"), "23".to_owned()]);
    assert_eq!(shell_words(command), expected);
}

/// Splits a command line as a POSIX shell does: spaces, single quotes and `\'`. Every other special character outside
/// quotes is an error.
fn shell_words(command: &str) -> Vec<String> {
    let (mut words, mut characters, mut is_quoted) = (vec![String::new()], command.chars(), false);
    while let Some(character) = characters.next() {
        let word = words.last_mut().expect("a word");
        match character {
            '\'' => is_quoted = !is_quoted,
            character if is_quoted => word.push(character),
            ' ' => words.push(String::new()),
            '\\' => word.push(characters.next().expect("a character after the backslash")),
            character => {
                let is_special = "|&;<>()$`\"*?[]#=!{}\t\n".contains(character);
                // A tilde has a meaning at the start of a word only.
                assert!(!is_special && !(character == '~' && word.is_empty()), "{command}");
                word.push(character);
            }
        }
    }
    assert!(!is_quoted, "{command}");
    words
}
