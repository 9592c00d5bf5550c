//! Transcripts of line protocols as text: parsing and the steps. Nothing here opens a socket.
//!
//! One step a line; empty lines and lines that begin with `#` are comments.
//!
//! ```text
//! C: USER me            the client must send exactly this and CRLF
//! S: 331 ok             the server sends this and CRLF
//! @line                 the client must send a line, whatever it says
//! @expect \xff\xfd\x18  the client must send exactly this, without CRLF
//! @raw half a line      the server sends this, without CRLF
//! @split 1              from here on in pieces of so many octets (0: whole again)
//! @stall 200            nothing for so many milliseconds
//! @tls                  TLS from here on (at the head of a script: from the beginning)
//! @eof                  the client must close, and say nothing before
//! @close                a clean end (under TLS close_notify and FIN), as after the last line
//! @fin                  FIN alone: under TLS an end without close_notify
//! @reset                RST
//! ```
//!
//! Escapes: `\xHH`, `\r`, `\n`, `\t`, `\\`. One space after the colon or the word is not part of the octets.
//! In what the server sends, `{port}` becomes the server's own port and `{pasv}` its address in the form of
//! FTP's reply 227.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// One step of a transcript.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// End cleanly.
    Close,
    /// The client must close.
    Eof,
    /// The client must send these octets.
    Expect(Vec<u8>),
    /// End with FIN alone.
    Fin,
    /// The client must send a line, whatever it says.
    Line,
    /// End with RST.
    Reset,
    /// Send these octets.
    Send(Vec<u8>),
    /// Send what follows in pieces of this size; 0 is whole.
    Split(usize),
    /// Do nothing for this time.
    Stall(Duration),
    /// Begin TLS.
    Tls,
}

/// A parsed transcript.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Script {
    lines: Vec<(usize, Step)>,
}

impl Script {
    /// Parses a transcript; the error names the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let step = step(line).map_err(|why| format!("line {}: {why}: {line}", index + 1))?;
            lines.push((index + 1, step));
        }
        Ok(Self { lines })
    }

    /// What `fetch-url --trace` has written of one connection of a line protocol, to be played again. Where the trace
    /// hides a secret, any line will do.
    pub fn of_trace(trace: &str) -> Result<Self, String> {
        // Octets as they came tell more than lines do.
        let heard = if trace.lines().any(|line| said(line, "<< ").is_some()) { "<< " } else { "< " };
        let mut lines = Vec::new();
        for (index, line) in trace.lines().enumerate() {
            let at = |why| format!("line {}: {why}: {line}", index + 1);
            let step = if let Some(text) = said(line, "> ") {
                match text {
                    "(an empty line)" => Ok(Step::Expect(b"\r\n".to_vec())),
                    text if text.contains("***") => Ok(Step::Line),
                    text => text_line(text).map(Step::Expect),
                }
            } else if let Some(text) = said(line, heard) {
                if heard == "<< " { unescaped(text).map(Step::Send) } else { text_line(text).map(Step::Send) }
            } else {
                continue;
            };
            lines.push((index + 1, step.map_err(at)?));
        }
        Ok(Self { lines })
    }

    /// Reads a transcript of this package, such as `nntp/article.script`.
    pub fn named(name: impl AsRef<Path>) -> Result<Self, String> {
        let path = Self::folder().join(name);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// The folder of the transcripts, one folder per protocol in it.
    #[must_use]
    pub fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts")
    }

    /// The steps in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.lines.iter().map(|(_, step)| step)
    }

    /// The steps, each with the number of its line.
    pub(crate) fn lines(&self) -> &[(usize, Step)] {
        &self.lines
    }
}

/// What stands behind the time and `mark` in a line of a trace.
fn said<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    let (time, rest) = line.trim_start().split_once(' ')?;
    time.strip_suffix('s')?.parse::<f64>().ok()?;
    rest.strip_prefix(mark)
}

fn step(line: &str) -> Result<Step, String> {
    if let Some(rest) = line.strip_prefix("C:") {
        return text_line(rest).map(Step::Expect);
    }
    if let Some(rest) = line.strip_prefix("S:") {
        return text_line(rest).map(Step::Send);
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "@expect" => unescaped(rest).map(Step::Expect),
        "@raw" => unescaped(rest).map(Step::Send),
        "@split" => number(rest).map(|n| Step::Split(n as usize)),
        "@stall" => number(rest).map(|n| Step::Stall(Duration::from_millis(n.into()))),
        _ if !rest.trim().is_empty() => Err("no such step, or it takes no argument".to_owned()),
        "@close" => Ok(Step::Close),
        "@eof" => Ok(Step::Eof),
        "@fin" => Ok(Step::Fin),
        "@line" => Ok(Step::Line),
        "@reset" => Ok(Step::Reset),
        "@tls" => Ok(Step::Tls),
        _ => Err("no such step".to_owned()),
    }
}

fn text_line(rest: &str) -> Result<Vec<u8>, String> {
    let mut octets = unescaped(rest.strip_prefix(' ').unwrap_or(rest))?;
    octets.extend_from_slice(b"\r\n");
    Ok(octets)
}

fn number(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| "a number is missing".to_owned())
}

fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(octet) = rest.next() {
        if octet != b'\\' {
            octets.push(octet);
            continue;
        }
        octets.push(match rest.next() {
            Some(b'\\') => b'\\',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'x') => hex(rest.next())? * 16 + hex(rest.next())?,
            _ => return Err("no such escape".to_owned()),
        });
    }
    Ok(octets)
}

fn hex(digit: Option<u8>) -> Result<u8, String> {
    let value = digit.and_then(|d| char::from(d).to_digit(16));
    value.map(|v| v as u8).ok_or_else(|| "\\x needs two hex digits".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_every_kind() {
        let text = "# comment\n\nC: USER a\\x20b\nS:\nS: \\ttab \n@raw \\x00\\xff\\\\\n\
            @expect \\r\n@split 3\n@stall 20\n@tls\n@eof\n@fin\n@line\n@reset\n@close\n";
        let script = Script::parse(text).unwrap();
        let expected = [
            Step::Expect(b"USER a b\r\n".to_vec()),
            Step::Send(b"\r\n".to_vec()),
            Step::Send(b"\ttab \r\n".to_vec()),
            Step::Send(b"\0\xff\\".to_vec()),
            Step::Expect(b"\r".to_vec()),
            Step::Split(3),
            Step::Stall(Duration::from_millis(20)),
            Step::Tls,
            Step::Eof,
            Step::Fin,
            Step::Line,
            Step::Reset,
            Step::Close,
        ];
        assert_eq!(script.steps().cloned().collect::<Vec<_>>(), expected);
        assert_eq!(script.lines()[0].0, 3);
    }

    #[test]
    fn a_trace_is_a_transcript() {
        let trace =
            "   0.001s < 200 ready\n   0.002s > USER a\n   0.002s > PASS ***\n   0.003s * decided\nx\n";
        let send = |text: &str| Step::Send(text.as_bytes().to_vec());
        let user = Step::Expect(b"USER a\r\n".to_vec());
        let steps = |trace: &str| Script::of_trace(trace).unwrap().steps().cloned().collect::<Vec<_>>();
        assert_eq!(steps(trace), [send("200 ready\r\n"), user.clone(), Step::Line]);
        let octets = format!("   0.001s << 200 rea\n   0.001s << dy\\x0D\\x0A\n{trace}");
        assert_eq!(steps(&octets), [send("200 rea"), send("dy\r\n"), user, Step::Line]);
    }

    #[test]
    fn errors_name_the_line() {
        for bad in ["X: y", "@split", "@split x", "@reset now", "S: \\q", "S: \\x1", "C: \\xg0", "@nothing"] {
            let error = Script::parse(&format!("S: 200 ok\n{bad}\n")).unwrap_err();
            assert!(error.starts_with("line 2: "), "{bad}: {error}");
        }
    }

    #[test]
    fn every_script_of_the_package_parses() {
        for folder in std::fs::read_dir(Script::folder()).into_iter().flatten().flatten() {
            for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                if file.path().extension().is_some_and(|e| e == "script") {
                    Script::named(file.path()).unwrap();
                }
            }
        }
    }
}
