//! Parses the lines of a response.

use super::metadata::{LinkDetails, ObjectMetadata};
use super::object::{Attribute, ObjectName};
use super::tokens::{Tokens, keyword};

/// A parsed response line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Attribute(Attribute),
    /// The server rejected the request as malformed; the error text.
    Error(Vec<u8>),
    /// The request failed; the code and the text.
    Failure(Vec<u8>),
    /// The object has moved.
    Forwarded(ObjectName),
    Link(LinkDetails),
    /// There is no such object, no such attribute, or nothing to report.
    NoneFound,
    /// Another or unknown line, which is ignored.
    Other,
    /// The preceding link leads to a directory in which these names must be looked up.
    Unresolved(Tokens),
    /// A line with too few words.
    Short,
    /// The server does not support version 5; the error text.
    VersionRefused(Vec<u8>),
}

impl Line {
    pub(super) fn parse(mut tokens: Tokens) -> Self {
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

/// Parses `ATTRIBUTE precedence nature name [SEQUENCE] value…`. Known fields are sent without SEQUENCE.
fn attribute(tokens: Tokens) -> Option<Attribute> {
    let mut tokens = tokens.into_iter().skip(1);
    let (precedence, nature, name) = (tokens.next()?, tokens.next()?, tokens.next()?);
    let mut values: Tokens = tokens.collect();
    if values.first().is_some_and(|first| first.eq_ignore_ascii_case(b"SEQUENCE")) {
        values.remove(0);
    }
    Some(Attribute { precedence, nature, name, values })
}

/// Parses `L target name hosttype host hsonametype hsoname version`.
fn link(tokens: &[Vec<u8>]) -> Option<LinkDetails> {
    let [kind, target, name, object_of @ ..] = tokens else { return None };
    Some(LinkDetails {
        target: target.clone(),
        name: name.clone(),
        is_union: kind.eq_ignore_ascii_case(b"U"),
        object: object(object_of)?,
        metadata: ObjectMetadata::default(),
    })
}

/// Parses `hosttype host hsonametype hsoname version`.
fn object(tokens: &[Vec<u8>]) -> Option<ObjectName> {
    let [host_type, host, _, name, rest @ ..] = tokens else { return None };
    let version = rest.first().map_or_else(|| b"0".to_vec(), Clone::clone);
    Some(ObjectName { host_type: host_type.clone(), host: host.clone(), name: name.clone(), version })
}
