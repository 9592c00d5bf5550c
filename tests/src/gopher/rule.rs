//! Where a gopher server departs from good manners: rules that it asks at each connection and request.
//!
//! A rule says at which request, the how manyeth time, and what then. What is done is in `talk.rs`.

use std::time::Duration;

use crate::ftp::rule::Ending;

/// One departure.
#[derive(Clone, Debug)]
pub struct GopherRule {
    on: GopherOn,
    nth: Option<usize>,
    act: GopherAct,
}

/// When a rule holds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum GopherOn {
    /// A connection was accepted; nothing was read, and no TLS has begun.
    Accept,
    /// Any request.
    Any,
    /// A request line, without its end, that begins with these octets.
    Begins(Vec<u8>),
    /// This selector, whatever follows it.
    Selector(Vec<u8>),
    /// A request line, without its end, of which this is true.
    Which(fn(&[u8]) -> bool),
}

/// What the server does. An answer is: first octets, status line, body, final dot, last octets, end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum GopherAct {
    /// These exact octets are the whole answer.
    Answer(Vec<u8>),
    /// These octets stand before the answer.
    First(Vec<u8>),
    /// These octets stand after the answer.
    Last(Vec<u8>),
    /// These octets so many times after the answer, or until the client closes.
    Flood(Vec<u8>, u64),
    /// These octets in the place of Gopher+'s status line; empty: none.
    Status(Vec<u8>),
    /// The body is another one; length and dot are told of the true one.
    Body(Vec<u8>),
    /// No final dot.
    NoDot,
    /// Nothing for this time first.
    Pause(Duration),
    /// The answer is cut after so many octets, and this is the end.
    Cut(u64, Ending),
    /// Pieces of so many octets with a pause after each.
    Drip(usize, Duration),
    /// This is the end after the whole answer. With [`GopherOn::Accept`] it is all that happens.
    End(Ending),
}

impl GopherRule {
    /// Each time.
    pub fn on(on: impl Into<GopherOn>, act: GopherAct) -> Self {
        Self { on: on.into(), nth: None, act }
    }

    /// Only the `nth` time, from 1, counted over all connections.
    #[must_use]
    pub fn nth(self, nth: usize) -> Self {
        Self { nth: Some(nth), ..self }
    }

    pub(crate) fn act(&self) -> &GopherAct {
        &self.act
    }

    /// Whether it holds when its moment comes for the `count`th time.
    pub(crate) fn is_due(&self, count: usize) -> bool {
        self.nth.is_none_or(|nth| nth == count)
    }

    /// Whether this is its moment; without a line: a connection.
    pub(crate) fn concerns(&self, line: Option<&[u8]>) -> bool {
        match (&self.on, line) {
            (GopherOn::Accept, None) | (GopherOn::Any, Some(_)) => true,
            (GopherOn::Begins(start), Some(line)) => line.starts_with(start),
            (GopherOn::Selector(selector), Some(line)) => {
                line.split(|octet| *octet == b'\t').next() == Some(selector.as_slice())
            }
            (GopherOn::Which(predicate), Some(line)) => predicate(line),
            _ => false,
        }
    }
}

impl From<&str> for GopherOn {
    fn from(selector: &str) -> Self {
        Self::Selector(selector.into())
    }
}

impl From<&[u8]> for GopherOn {
    fn from(selector: &[u8]) -> Self {
        Self::Selector(selector.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_knows_its_moment() {
        let cases: [(GopherOn, &str, bool); 7] = [
            ("/a".into(), "/a", true),
            ("/a".into(), "/a\t+", true),
            ("/a".into(), "/ab", false),
            (GopherOn::Begins(b"/a\t!".to_vec()), "/a\t!+ASK", true),
            (GopherOn::Begins(b"/a\t!".to_vec()), "/a\t+", false),
            (GopherOn::Any, "", true),
            (GopherOn::Which(|line| line.len() > 2), "/a", false),
        ];
        for (on, line, expected) in cases {
            let rule = GopherRule::on(on, GopherAct::NoDot);
            assert_eq!(rule.concerns(Some(line.as_bytes())), expected, "{rule:?} {line}");
            assert!(!rule.concerns(None));
        }
        let accept = GopherRule::on(GopherOn::Accept, GopherAct::NoDot);
        assert!(accept.concerns(None) && !accept.concerns(Some(b"")));
        assert!(accept.clone().nth(2).is_due(2) && !accept.nth(2).is_due(1));
    }
}
