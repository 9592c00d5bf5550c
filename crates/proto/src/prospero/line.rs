//! The lines of an answer.

use super::facts::{Attribute, LinkFacts, ObjectFacts, ObjectName};
use super::tokens::Tokens;

/// One line, read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Attribute(Attribute),
    /// The request is malformed: the server's words.
    Error(Vec<u8>),
    /// There is no answer: the code, and the server's words.
    Failure(Vec<u8>),
    /// The object is elsewhere.
    Forwarded(ObjectName),
    Link(LinkFacts),
    /// Nothing has that name, or nothing is known; or all is well, and there is nothing to tell.
    NoneFound,
    /// What the server tells besides, and what nobody knows.
    Other,
    /// The link before leads on to a directory in which these are to be looked up.
    Unresolved(Tokens),
    /// A line whose words are too few.
    Short,
    /// The server does not speak version 5: its words.
    VersionRefused(Vec<u8>),
}

/// A word of the protocol: upper and lower case are one.
pub(super) fn keyword(token: &[u8]) -> String {
    String::from_utf8_lossy(token).to_ascii_uppercase()
}

impl Line {
    pub(super) fn of(mut tokens: Tokens) -> Self {
        let Some(first) = tokens.first() else { return Self::Other };
        let words = |tokens: &Tokens| tokens[1..].join(&b' ');
        match keyword(first).as_str() {
            "ATTRIBUTE" => attribute(tokens).map_or(Self::Short, Self::Attribute),
            "ERROR" => Self::Error(words(&tokens)),
            "FAILURE" => Self::Failure(words(&tokens)),
            "FORWARDED" => object(&tokens[1..]).map_or(Self::Short, Self::Forwarded),
            "LINK" => link(&tokens[1..]).map_or(Self::Short, Self::Link),
            "NONE-FOUND" | "SUCCESS" => Self::NoneFound,
            "UNRESOLVED" => {
                tokens.remove(0);
                Self::Unresolved(tokens)
            }
            "VERSION-NOT-SUPPORTED" => Self::VersionRefused(tokens.join(&b' ')),
            _ => Self::Other,
        }
    }
}

/// `ATTRIBUTE precedence nature name [SEQUENCE] value…`; fields whose names are known come without SEQUENCE.
fn attribute(tokens: Tokens) -> Option<Attribute> {
    let mut tokens = tokens.into_iter().skip(1);
    let (precedence, nature, name) = (tokens.next()?, tokens.next()?, tokens.next()?);
    let mut values: Tokens = tokens.collect();
    if values.first().is_some_and(|first| first.eq_ignore_ascii_case(b"SEQUENCE")) {
        values.remove(0);
    }
    Some(Attribute { precedence, nature, name, values })
}

/// `L target name hosttype host hsonametype hsoname version`.
fn link(tokens: &[Vec<u8>]) -> Option<LinkFacts> {
    let [kind, target, name, object_of @ ..] = tokens else { return None };
    Some(LinkFacts {
        target: target.clone(),
        name: name.clone(),
        is_union: kind.eq_ignore_ascii_case(b"U"),
        object: object(object_of)?,
        facts: ObjectFacts::default(),
    })
}

/// `hosttype host hsonametype hsoname version`.
fn object(tokens: &[Vec<u8>]) -> Option<ObjectName> {
    let [host_type, host, _, name, rest @ ..] = tokens else { return None };
    let version = rest.first().map_or_else(|| b"0".to_vec(), Clone::clone);
    Some(ObjectName { host_type: host_type.clone(), host: host.clone(), name: name.clone(), version })
}
