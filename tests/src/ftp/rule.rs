//! Where an FTP server departs from good manners: rules that it asks at each command.
//!
//! A rule says on which command, the how manyeth time, and what then. What is done is in `session.rs`
//! and `transfer.rs`.

use std::time::Duration;

/// One departure.
#[derive(Clone, Debug)]
pub struct Rule {
    on: On,
    nth: Option<usize>,
    act: Act,
}

/// When a rule holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum On {
    /// A control connection was accepted.
    Greeting,
    /// A word alone: this command. With a blank in it: a command line that begins so. Case does not matter.
    Line(Vec<u8>),
    /// A command line of which this is true.
    Which(fn(&[u8]) -> bool),
}

/// What the server does. Acts on the same command happen in the order of their rules.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Act {
    /// Says this in the place of its reply, and does nothing of what was asked.
    Answer(Vec<u8>),
    /// Says this first.
    Before(Vec<u8>),
    /// Says this so many times first, or until the client closes.
    Flood(Vec<u8>, u64),
    /// Does nothing for this time first.
    Pause(Duration),
    /// Ends the control connection instead.
    End(Ending),
    /// Does what was asked, but says this in the place of its reply; of a transfer: of the final one. In it
    /// `{port}`, `{high}`, `{low}` and `{host}` (with commas) tell of the passive port. Empty: says nothing.
    Reword(Vec<u8>),
    /// Says this last, in the same segment as its reply where there is one.
    After(Vec<u8>),
    /// EPSV and PASV: names a port where nobody listens.
    DeadPort,
    /// Of a transfer: says this in the place of its 150. Empty: says nothing.
    Mark(Vec<u8>),
    /// Of a transfer: sends these octets in the place of the true ones.
    Data(Vec<u8>),
    /// Of a transfer: sends these octets after the true ones.
    MoreData(Vec<u8>),
    /// Of a transfer: ends the data connection after so many octets. The final reply is 426 unless reworded;
    /// a stall has none.
    CutData(u64, Ending),
    /// Of a transfer: sends pieces of so many octets with a pause after each.
    Drip(usize, Duration),
    /// Of a transfer: takes the data connection and sends the final reply, and only then the data.
    FinalFirst,
    /// Of a transfer: ends the control connection in the place of the final reply.
    EndAtFinal(Ending),
    /// Of a transfer: does not answer the TLS handshake of the data connection for this time.
    NoDataHandshake(Duration),
    /// PROT: says 200, and sends in clear what the client wants under TLS.
    ClearData,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// A clean end: under TLS with close_notify.
    Close,
    /// FIN alone: under TLS without close_notify.
    Fin,
    /// RST.
    Reset,
    /// Silence of this length, then a clean end.
    Stall(Duration),
}

impl Rule {
    /// Each time.
    pub fn on(on: impl Into<On>, act: Act) -> Self {
        Self { on: on.into(), nth: None, act }
    }

    /// Only the `nth` time, from 1, counted over all connections.
    #[must_use]
    pub fn nth(self, nth: usize) -> Self {
        Self { nth: Some(nth), ..self }
    }

    pub(crate) fn act(&self) -> &Act {
        &self.act
    }

    /// Whether it holds when its moment comes for the `count`th time.
    pub(crate) fn is_due(&self, count: usize) -> bool {
        self.nth.is_none_or(|nth| nth == count)
    }

    /// Whether this is its moment; without a line: the greeting.
    pub(crate) fn concerns(&self, line: Option<&[u8]>) -> bool {
        match (&self.on, line) {
            (On::Greeting, None) => true,
            (On::Line(start), Some(line)) => begins(line, start),
            (On::Which(predicate), Some(line)) => predicate(line),
            _ => false,
        }
    }
}

impl From<&str> for On {
    fn from(start: &str) -> Self {
        Self::Line(start.into())
    }
}

impl From<&[u8]> for On {
    fn from(start: &[u8]) -> Self {
        Self::Line(start.to_vec())
    }
}

impl<const N: usize> From<&[u8; N]> for On {
    fn from(start: &[u8; N]) -> Self {
        Self::Line(start.to_vec())
    }
}

fn begins(line: &[u8], start: &[u8]) -> bool {
    let same = line.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    same && (start.contains(&b' ') || matches!(line.get(start.len()), None | Some(b' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_command_and_more_is_a_beginning() {
        let cases: [(&str, &str, bool); 6] = [
            ("RETR", "retr x", true),
            ("RETR", "RETR", true),
            ("RETR", "RETRX y", false),
            ("CWD a", "CWD ab", true),
            ("CWD ", "CWD", false),
            ("CWD b", "CWD ab", false),
        ];
        for (start, line, expected) in cases {
            let rule = Rule::on(start, Act::DeadPort);
            assert_eq!(rule.concerns(Some(line.as_bytes())), expected, "{start} {line}");
        }
        assert!(!Rule::on("RETR", Act::DeadPort).concerns(None));
        assert!(Rule::on(On::Greeting, Act::DeadPort).concerns(None));
        assert!(Rule::on("RETR", Act::DeadPort).nth(2).is_due(2));
        assert!(!Rule::on("RETR", Act::DeadPort).nth(2).is_due(1));
    }
}
