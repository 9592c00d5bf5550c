//! Arbitrary text as a trace, and arbitrary bytes as a session that was traced: no panic; a transcript that is written
//! out parses to the same steps; the transcript of a trace has the bytes of the session.
//!
//! The module is one of the tests and is compiled here a second time.
#![no_main]
#![allow(dead_code, reason = "the scripted server uses the rest")]

#[path = "../../src/script.rs"]
mod script;

use fetch_url_proto::text::escape_non_ascii;
use libfuzzer_sys::fuzz_target;
use script::{Script, Step};

/// Ends a piece of a session in the input. The pieces are received and sent in turns.
const SEPARATOR: u8 = b'|';

fuzz_target!(|data: &[u8]| {
    check_session(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    for script in [Script::from_trace(text), Script::parse(text)].into_iter().flatten() {
        let written: String = script.steps().map(|step| format!("{}\n", written(step))).collect();
        let again = Script::parse(&written).unwrap_or_else(|error| panic!("{written}: {error}"));
        assert!(again.steps().eq(script.steps()), "{written}");
    }
    if let Err(error) = Script::from_trace(text) {
        let number = error.strip_prefix("line ").and_then(|rest| rest.split(':').next()?.parse().ok());
        assert!(number.is_some_and(|number: usize| (1..=text.lines().count()).contains(&number)), "{error}");
    }
});

/// Traces a session as fetch-url does, and compares the transcript with it.
fn check_session(data: &[u8]) {
    let (mut trace, mut expected) = (String::new(), Vec::new());
    for (index, piece) in data.split(|&byte| byte == SEPARATOR).enumerate() {
        let text = escape_non_ascii(piece);
        if index % 2 == 0 {
            trace += &format!("   {index}.001s << {text}\n   {index}.002s < {}\n", text.replace('\\', "/"));
            expected.push(Step::Send(piece.to_vec()));
        } else if text.contains("***") {
            trace += &format!("{index}.1s > {text}\n");
            expected.push(Step::Line);
        } else if text == "(an empty line)" {
            continue;
        } else {
            trace += &format!(" {index}.123s > {text}\n {index}.2s * a decision\n");
            expected.push(Step::Expect([piece, b"\r\n"].concat()));
        }
    }
    let script = Script::from_trace(&trace).unwrap_or_else(|error| panic!("{trace}: {error}"));
    assert!(script.steps().eq(&expected), "{trace}: {script:?}");
}

/// Writes a step as a line of a transcript.
fn written(step: &Step) -> String {
    let escaped = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
    match step {
        Step::Close => "@close".to_owned(),
        Step::Eof => "@eof".to_owned(),
        Step::Expect(bytes) => format!("@expect {}", escaped(bytes)),
        Step::Fin => "@fin".to_owned(),
        Step::Line => "@line".to_owned(),
        Step::Reset => "@reset".to_owned(),
        Step::Send(bytes) => format!("@raw {}", escaped(bytes)),
        Step::Split(size) => format!("@split {size}"),
        Step::Stall(time) => format!("@stall {}", time.as_millis()),
        Step::Tls => "@tls".to_owned(),
    }
}
