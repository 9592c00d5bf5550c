//! The triggers and actions of the FTP server's rules. The actions are carried out in `session.rs` and
//! `transfer.rs`.

use std::time::Duration;

use crate::server::plain_or_tls_connection::Ending;
use crate::server::rule::{Rule, Trigger};

/// A rule of an FTP server.
pub type FtpRule = Rule<FtpTrigger, FtpAction>;

/// When a rule applies.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FtpTrigger {
    /// A control connection was accepted and the greeting is due.
    Greeting,
    /// A word without a space: this command. With a space: a command line that starts with these bytes.
    /// Upper and lower case are the same.
    Line(Vec<u8>),
    /// A command line for which the function returns `true`.
    Matches(fn(&[u8]) -> bool),
}

/// An action of the server. Actions for the same command are taken in the order of their rules.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FtpAction {
    /// Sends these bytes instead of executing the command.
    Answer(Vec<u8>),
    /// Sends these bytes before the reply.
    Before(Vec<u8>),
    /// Sends these bytes repeatedly, this many times or until the client closes, before the reply.
    Flood(Vec<u8>, u64),
    /// Waits before it executes the command.
    Pause(Duration),
    /// Ends the control connection instead of executing the command.
    End(Ending),
    /// Executes the command, but sends these bytes as its reply; of a transfer: as the final reply.
    /// `{port}`, `{high}`, `{low}` and `{host}` (with commas) are replaced by the passive address. Empty:
    /// sends no reply.
    ReplaceReply(Vec<u8>),
    /// Sends these bytes after the reply, in the same segment.
    After(Vec<u8>),
    /// EPSV and PASV: names a port on which connections are refused.
    ClosedPort,
    /// Transfers: sends these bytes instead of the preliminary reply 150. Empty: sends none.
    PreliminaryReply(Vec<u8>),
    /// Transfers: sends these bytes instead of the file.
    Data(Vec<u8>),
    /// Transfers: sends these bytes after the file.
    AppendData(Vec<u8>),
    /// Transfers: ends the data connection after this many bytes. The final reply is 426 unless replaced;
    /// after a stall there is none.
    CutData(u64, Ending),
    /// Transfers: sends pieces of this many bytes with a pause after each.
    Drip(usize, Duration),
    /// Transfers: if another command arrives before the data is sent, closes the data connection and sends no final
    /// reply, as pyftpdlib does with EPSV and PASV.
    AbortOnCommand,
    /// Transfers: accepts the data connection and sends the final reply before the data.
    FinalReplyFirst,
    /// Transfers: ends the control connection instead of sending the final reply.
    EndBeforeFinalReply(Ending),
    /// Transfers: does not answer the TLS handshake of the data connection for this time.
    StallDataHandshake(Duration),
    /// PROT P: replies 200, but sends data in plaintext.
    PlaintextData,
}

impl Trigger for FtpTrigger {
    /// A command line without CR LF; `None` is the greeting.
    type Event<'e> = Option<&'e [u8]>;

    fn matches(&self, line: Option<&[u8]>) -> bool {
        match (self, line) {
            (Self::Greeting, None) => true,
            (Self::Line(start), Some(line)) => starts_with(line, start),
            (Self::Matches(predicate), Some(line)) => predicate(line),
            _ => false,
        }
    }
}

impl From<&str> for FtpTrigger {
    fn from(start: &str) -> Self {
        Self::Line(start.into())
    }
}

impl From<&[u8]> for FtpTrigger {
    fn from(start: &[u8]) -> Self {
        Self::Line(start.to_vec())
    }
}

impl<const N: usize> From<&[u8; N]> for FtpTrigger {
    fn from(start: &[u8; N]) -> Self {
        Self::Line(start.to_vec())
    }
}

fn starts_with(line: &[u8], start: &[u8]) -> bool {
    let is_prefix = line.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    is_prefix && (start.contains(&b' ') || matches!(line.get(start.len()), None | Some(b' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_matches_its_command_and_text_with_space_matches_prefix() {
        let cases: [(&str, &str, bool); 6] = [
            ("RETR", "retr x", true),
            ("RETR", "RETR", true),
            ("RETR", "RETRX y", false),
            ("CWD a", "CWD ab", true),
            ("CWD ", "CWD", false),
            ("CWD b", "CWD ab", false),
        ];
        for (start, line, expected) in cases {
            assert_eq!(FtpTrigger::from(start).matches(Some(line.as_bytes())), expected, "{start} {line}");
        }
        assert!(!FtpTrigger::from("RETR").matches(None));
        assert!(FtpTrigger::Greeting.matches(None) && !FtpTrigger::Greeting.matches(Some(b"")));
    }
}
