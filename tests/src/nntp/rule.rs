//! Where a news server departs from good manners: rules that it asks at each connection and command.
//!
//! A rule says on which command, the how manyeth time, and what then. What is done is in `talk.rs`.

use std::time::Duration;

use crate::ftp::rule::Ending;

/// One departure.
#[derive(Clone, Debug)]
pub struct NntpRule {
    on: NntpOn,
    nth: Option<usize>,
    act: NntpAct,
}

/// When a rule holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NntpOn {
    /// A connection was accepted; no TLS has begun, and what is said is said in clear. Only answers, pauses
    /// and endings hold here.
    Accept,
    /// Any command line.
    Any,
    /// The greeting is due.
    Greeting,
    /// A word alone: this command. With a blank in it: a command line that begins so, up to the end of a word.
    /// Case does not matter.
    Line(Vec<u8>),
    /// A command line of which this is true.
    Which(fn(&[u8]) -> bool),
}

/// When it happens, for [`NntpRule::concerns`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment<'a> {
    Accept,
    Greeting,
    Line(&'a [u8]),
}

/// What the server does. An answer is: first line, block, final dot. Acts on the same command happen in the
/// order of their rules.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NntpAct {
    /// Says this in the place of its answer, and does nothing of what was asked.
    Answer(Vec<u8>),
    /// Does what this command line asks for, and answers that.
    As(Vec<u8>),
    /// Says this first.
    Before(Vec<u8>),
    /// Says this so many times first, or until the client closes.
    Flood(Vec<u8>, u64),
    /// Does nothing for this time first.
    Pause(Duration),
    /// Ends the connection instead.
    End(Ending),
    /// Does what was asked, but says this in the place of the first line, end of line included. Empty: says
    /// nothing there.
    Status(Vec<u8>),
    /// Sends exactly these octets in the place of the block; the final dot follows.
    Block(Vec<u8>),
    /// Sends no final dot.
    NoDot,
    /// Ends the connection after so many octets of the answer.
    Cut(u64, Ending),
    /// Ends the connection after so many octets of the block, as it is on the wire with its final dot.
    CutBlock(u64, Ending),
    /// Sends pieces of so many octets with a pause after each.
    Drip(usize, Duration),
    /// Says this last, in the same segment as its answer where that is short.
    After(Vec<u8>),
    /// Ends the connection when all is said.
    EndAfter(Ending),
    /// This answer and those of the commands after it, so many in all, go out in the reverse order. When the
    /// client sends too few of them, what there is goes out in the right order after a while.
    Reversed(usize),
}

impl NntpRule {
    /// Each time.
    pub fn on(on: impl Into<NntpOn>, act: NntpAct) -> Self {
        Self { on: on.into(), nth: None, act }
    }

    /// Only the `nth` time, from 1, counted over all connections.
    #[must_use]
    pub fn nth(self, nth: usize) -> Self {
        Self { nth: Some(nth), ..self }
    }

    pub(crate) fn act(&self) -> &NntpAct {
        &self.act
    }

    /// Whether it holds when its moment comes for the `count`th time.
    pub(crate) fn is_due(&self, count: usize) -> bool {
        self.nth.is_none_or(|nth| nth == count)
    }

    /// Whether this is its moment.
    pub(crate) fn concerns(&self, moment: Moment<'_>) -> bool {
        match (&self.on, moment) {
            (NntpOn::Accept, Moment::Accept)
            | (NntpOn::Greeting, Moment::Greeting)
            | (NntpOn::Any, Moment::Line(_)) => true,
            (NntpOn::Line(start), Moment::Line(line)) => begins(line, start),
            (NntpOn::Which(predicate), Moment::Line(line)) => predicate(line),
            _ => false,
        }
    }
}

impl From<&str> for NntpOn {
    fn from(start: &str) -> Self {
        Self::Line(start.into())
    }
}

impl From<&[u8]> for NntpOn {
    fn from(start: &[u8]) -> Self {
        Self::Line(start.to_vec())
    }
}

/// Whether the line begins with these words.
fn begins(line: &[u8], start: &[u8]) -> bool {
    let same = line.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    same && (start.ends_with(b" ") || matches!(line.get(start.len()), None | Some(b' ' | b'\t')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_knows_its_moment() {
        let cases: [(NntpOn, &str, bool); 9] = [
            ("ARTICLE".into(), "article 1", true),
            ("ARTICLE".into(), "ARTICLE", true),
            ("ARTICLE".into(), "ARTICLES", false),
            ("ARTICLE 1".into(), "ARTICLE 1", true),
            ("ARTICLE 1".into(), "ARTICLE 12", false),
            ("LIST ".into(), "LIST ACTIVE x", true),
            ("LIST active".into(), "LIST ACTIVE x", true),
            (NntpOn::Any, "x", true),
            (NntpOn::Which(|line| line.len() > 2), "ab", false),
        ];
        for (on, line, expected) in cases {
            let rule = NntpRule::on(on, NntpAct::NoDot);
            assert_eq!(rule.concerns(Moment::Line(line.as_bytes())), expected, "{rule:?} {line}");
            assert!(!rule.concerns(Moment::Accept) && !rule.concerns(Moment::Greeting));
        }
        let greeting = NntpRule::on(NntpOn::Greeting, NntpAct::NoDot);
        assert!(greeting.concerns(Moment::Greeting) && !greeting.concerns(Moment::Accept));
        assert!(greeting.clone().nth(2).is_due(2) && !greeting.nth(2).is_due(1));
    }
}
