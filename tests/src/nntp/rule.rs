//! The triggers and actions of the news server's rules. The actions are carried out in `connection.rs`.

use std::time::Duration;

use crate::server::plain_or_tls_connection::Ending;
use crate::server::rule::{Rule, Trigger};

/// A rule of a news server.
pub type NntpRule = Rule<NntpTrigger, NntpAction>;

/// When a rule applies.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NntpTrigger {
    /// A connection was accepted and TLS has not started: bytes are sent in plaintext. Only answers, pauses
    /// and endings apply here.
    Accept,
    /// Any command line.
    Any,
    /// The greeting is due.
    Greeting,
    /// A word without a space: this command. With a space: a command line that starts with these words. Upper
    /// and lower case are the same.
    Line(Vec<u8>),
    /// A command line for which the function returns `true`.
    Matches(fn(&[u8]) -> bool),
}

/// An event on the server, to which rules apply.
#[derive(Clone, Copy, Debug)]
pub enum NntpEvent<'a> {
    /// A connection was accepted.
    Accept,
    /// The greeting is due.
    Greeting,
    /// A command line without CR LF.
    Line(&'a [u8]),
}

/// What the server does. A reply is: status line, data block, terminating dot. Actions for the same command
/// are taken in the order of their rules.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NntpAction {
    /// Sends these bytes instead of executing the command.
    Answer(Vec<u8>),
    /// Executes this command line instead.
    ExecuteAs(Vec<u8>),
    /// Sends these bytes before the reply.
    Before(Vec<u8>),
    /// Sends these bytes repeatedly, this many times or until the client closes, before the reply.
    Flood(Vec<u8>, u64),
    /// Waits before it executes the command.
    Pause(Duration),
    /// Ends the connection instead of executing the command.
    End(Ending),
    /// Executes the command, but sends this status line, which includes its line end. Empty: sends no status line.
    StatusLine(Vec<u8>),
    /// Sends exactly these bytes as the data block. The terminating dot follows.
    Block(Vec<u8>),
    /// Does not send the terminating dot.
    NoTerminator,
    /// Ends the connection after this many bytes of the reply.
    Cut(u64, Ending),
    /// Ends the connection after this many bytes of the data block, counted as sent, with the terminating
    /// dot.
    CutBlock(u64, Ending),
    /// Sends pieces of this many bytes with a pause after each.
    Drip(usize, Duration),
    /// Sends these bytes after the reply; in the same segment if the reply is short.
    After(Vec<u8>),
    /// Ends the connection after the reply.
    EndAfter(Ending),
    /// Holds back this reply and those of the following commands, this many in all, and sends them in reverse
    /// order. If the client sends fewer commands, the replies are sent in order after 300 ms.
    ReverseReplies(usize),
}

impl Trigger for NntpTrigger {
    type Event<'e> = NntpEvent<'e>;

    fn matches(&self, event: NntpEvent<'_>) -> bool {
        match (self, event) {
            (Self::Accept, NntpEvent::Accept)
            | (Self::Greeting, NntpEvent::Greeting)
            | (Self::Any, NntpEvent::Line(_)) => true,
            (Self::Line(start), NntpEvent::Line(line)) => starts_with(line, start),
            (Self::Matches(predicate), NntpEvent::Line(line)) => predicate(line),
            _ => false,
        }
    }
}

impl From<&str> for NntpTrigger {
    fn from(start: &str) -> Self {
        Self::Line(start.into())
    }
}

impl From<&[u8]> for NntpTrigger {
    fn from(start: &[u8]) -> Self {
        Self::Line(start.to_vec())
    }
}

/// Returns `true` if the line starts with these words.
fn starts_with(line: &[u8], start: &[u8]) -> bool {
    let is_prefix = line.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    is_prefix && (start.ends_with(b" ") || matches!(line.get(start.len()), None | Some(b' ' | b'\t')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigger_matches_its_command_lines() {
        let cases: [(NntpTrigger, &str, bool); 9] = [
            ("ARTICLE".into(), "article 1", true),
            ("ARTICLE".into(), "ARTICLE", true),
            ("ARTICLE".into(), "ARTICLES", false),
            ("ARTICLE 1".into(), "ARTICLE 1", true),
            ("ARTICLE 1".into(), "ARTICLE 12", false),
            ("LIST ".into(), "LIST ACTIVE x", true),
            ("LIST active".into(), "LIST ACTIVE x", true),
            (NntpTrigger::Any, "x", true),
            (NntpTrigger::Matches(|line| line.len() > 2), "ab", false),
        ];
        for (trigger, line, expected) in cases {
            assert_eq!(trigger.matches(NntpEvent::Line(line.as_bytes())), expected, "{trigger:?} {line}");
            assert!(!trigger.matches(NntpEvent::Accept) && !trigger.matches(NntpEvent::Greeting));
        }
        let greeting = NntpTrigger::Greeting;
        assert!(greeting.matches(NntpEvent::Greeting) && !greeting.matches(NntpEvent::Accept));
    }
}
