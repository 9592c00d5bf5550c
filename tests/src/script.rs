//! Transcripts of line protocols: the text format, its steps and its parser.
//!
//! Each line is one step. Empty lines and lines that start with `#` are ignored.
//!
//! ```text
//! C: USER me            the client must send exactly this and CRLF
//! S: 331 ok             the server sends this and CRLF
//! @line                 the client must send any line
//! @expect \xff\xfd\x18  the client must send exactly this, without CRLF
//! @raw half a line      the server sends this, without CRLF
//! @split 1              from here on the server sends pieces of this many bytes (0: no limit)
//! @stall 200            the server sends nothing for this many milliseconds
//! @tls                  a TLS handshake (as the first step: implicit TLS)
//! @eof                  the client must close without sending anything
//! @close                a clean end (under TLS close_notify and FIN), as after the last step
//! @fin                  FIN: under TLS an end without close_notify
//! @reset                RST
//! ```
//!
//! Escapes: `\xHH`, `\r`, `\n`, `\t`, `\\`. One space after the colon or the word is not part of the bytes.
//! In text that the server sends, `{port}` is replaced by the port of the server and `{pasv}` by its address in the
//! format of the FTP reply 227.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// One step of a transcript.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// Closes the connection. Under TLS close_notify is sent.
    Close,
    /// Expects the end of the connection.
    Eof,
    /// Expects these bytes.
    Expect(Vec<u8>),
    /// Closes the TCP connection. Under TLS close_notify is not sent.
    Fin,
    /// Expects any line.
    Line,
    /// Resets the connection.
    Reset,
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends later bytes in pieces of this size. 0 means no limit.
    Split(usize),
    /// Sends nothing for this time.
    Stall(Duration),
    /// Starts TLS.
    Tls,
}

/// A parsed transcript.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Script {
    lines: Vec<(usize, Step)>,
}

impl Script {
    /// Parses a transcript. The error contains the number of the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let step = parse_step(line).map_err(|why| format!("line {}: {why}: {line}", index + 1))?;
            lines.push((index + 1, step));
        }
        Ok(Self { lines })
    }

    /// Converts the output of `fetch-url --trace` for one connection of a line protocol into a transcript that
    /// replays the connection. A line in which the trace hides a secret becomes [`Step::Line`].
    pub fn from_trace(trace: &str) -> Result<Self, String> {
        // Raw bytes, if the trace contains them, are more exact than lines.
        let is_raw = trace.lines().any(|line| after_marker(line, "<< ").is_some());
        let received = if is_raw { "<< " } else { "< " };
        let mut lines = Vec::new();
        for (index, line) in trace.lines().enumerate() {
            let at = |why| format!("line {}: {why}: {line}", index + 1);
            let step = if let Some(text) = after_marker(line, "> ") {
                match text {
                    "(an empty line)" => Ok(Step::Expect(b"\r\n".to_vec())),
                    text if text.contains("***") => Ok(Step::Line),
                    text => unescaped_line(text).map(Step::Expect),
                }
            } else if let Some(text) = after_marker(line, received) {
                if is_raw { unescape(text).map(Step::Send) } else { unescaped_line(text).map(Step::Send) }
            } else {
                continue;
            };
            lines.push((index + 1, step.map_err(at)?));
        }
        Ok(Self { lines })
    }

    /// Reads a transcript of this crate, such as `nntp/article.script`.
    pub fn load(name: impl AsRef<Path>) -> Result<Self, String> {
        let path = Self::directory().join(name);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Returns the directory of the transcripts. It has one subdirectory per protocol.
    #[must_use]
    pub fn directory() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts")
    }

    /// Returns the steps in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.lines.iter().map(|(_, step)| step)
    }

    /// Returns the steps, each with the number of its line.
    pub(crate) fn lines(&self) -> &[(usize, Step)] {
        &self.lines
    }
}

/// Returns the text after the time and `marker` in a line of a trace.
fn after_marker<'l>(line: &'l str, marker: &str) -> Option<&'l str> {
    let (time, rest) = line.trim_start().split_once(' ')?;
    time.strip_suffix('s')?.parse::<f64>().ok()?;
    rest.strip_prefix(marker)
}

fn parse_step(line: &str) -> Result<Step, String> {
    if let Some(rest) = line.strip_prefix("C:") {
        return text_line(rest).map(Step::Expect);
    }
    if let Some(rest) = line.strip_prefix("S:") {
        return text_line(rest).map(Step::Send);
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "@expect" => unescape(rest).map(Step::Expect),
        "@raw" => unescape(rest).map(Step::Send),
        "@split" => parse_number(rest).map(|n| Step::Split(n as usize)),
        "@stall" => parse_number(rest).map(|n| Step::Stall(Duration::from_millis(n.into()))),
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
    unescaped_line(rest.strip_prefix(' ').unwrap_or(rest))
}

fn unescaped_line(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = unescape(text)?;
    bytes.extend_from_slice(b"\r\n");
    Ok(bytes)
}

fn parse_number(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| "a number is missing".to_owned())
}

fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'\\') => b'\\',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'x') => hex(rest.next())? * 16 + hex(rest.next())?,
            _ => return Err("no such escape".to_owned()),
        });
    }
    Ok(bytes)
}

fn hex(digit: Option<u8>) -> Result<u8, String> {
    let value = digit.and_then(|d| char::from(d).to_digit(16));
    value.map(|v| v as u8).ok_or_else(|| "\\x needs two hex digits".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_steps_are_parsed() {
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
    fn trace_becomes_a_transcript() {
        let trace =
            "   0.001s < 200 ready\n   0.002s > USER a\n   0.002s > PASS ***\n   0.003s * decided\nx\n";
        let send = |text: &str| Step::Send(text.as_bytes().to_vec());
        let user = Step::Expect(b"USER a\r\n".to_vec());
        let steps = |trace: &str| Script::from_trace(trace).unwrap().steps().cloned().collect::<Vec<_>>();
        assert_eq!(steps(trace), [send("200 ready\r\n"), user.clone(), Step::Line]);
        let bytes = format!("   0.001s << 200 rea\n   0.001s << dy\\x0D\\x0A\n{trace}");
        assert_eq!(steps(&bytes), [send("200 rea"), send("dy\r\n"), user, Step::Line]);
    }

    #[test]
    fn space_at_the_start_of_a_traced_line_is_kept() {
        let script = Script::from_trace("0.001s <  211-x\n0.002s >  USER\n").unwrap();
        let expected = [Step::Send(b" 211-x\r\n".to_vec()), Step::Expect(b" USER\r\n".to_vec())];
        assert!(script.steps().eq(&expected), "{script:?}");
    }

    #[test]
    fn error_contains_the_line_number() {
        for bad in ["X: y", "@split", "@split x", "@reset now", "S: \\q", "S: \\x1", "C: \\xg0", "@nothing"] {
            let error = Script::parse(&format!("S: 200 ok\n{bad}\n")).unwrap_err();
            assert!(error.starts_with("line 2: "), "{bad}: {error}");
        }
    }

    #[test]
    fn all_scripts_of_the_crate_parse() {
        for folder in std::fs::read_dir(Script::directory()).into_iter().flatten().flatten() {
            for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                if file.path().extension().is_some_and(|e| e == "script") {
                    Script::load(file.path()).unwrap();
                }
            }
        }
    }
}
