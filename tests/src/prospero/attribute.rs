//! An attribute of a Prospero object or link.

use crate::prospero::token::joined;

/// `ATTRIBUTE precedence nature name value…`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProsperoAttribute {
    precedence: String,
    nature: &'static str,
    name: String,
    values: Vec<Vec<u8>>,
}

impl ProsperoAttribute {
    /// One that an application made, such as `DESCRIPTION`.
    #[must_use]
    pub fn new(name: &str, values: &[&[u8]]) -> Self {
        Self::of("APPLICATION", name, &[&[b"SEQUENCE".as_slice()], values].concat())
    }

    /// One with a place of its own in the protocol, such as `ACCESS-METHOD`: without the word `SEQUENCE`.
    #[must_use]
    pub fn field(name: &str, values: &[&[u8]]) -> Self {
        Self::of("FIELD", name, values)
    }

    /// One that the object has by itself, such as `SIZE`.
    #[must_use]
    pub fn intrinsic(name: &str, values: &[&[u8]]) -> Self {
        Self::of("INTRINSIC", name, &[&[b"SEQUENCE".as_slice()], values].concat())
    }

    /// A way to the octets, token by token.
    #[must_use]
    pub fn access(tokens: &[&str]) -> Self {
        let tokens: Vec<&[u8]> = tokens.iter().map(|token| token.as_bytes()).collect();
        Self::field("ACCESS-METHOD", &tokens)
    }

    /// Whose it is: `OBJECT` if nothing is said, `LINK`, `CACHED`, `REPLACEMENT` or `ADDITIONAL`.
    #[must_use]
    pub fn precedence(mut self, word: &str) -> Self {
        word.clone_into(&mut self.precedence);
        self
    }

    pub(crate) fn line(&self) -> Vec<u8> {
        let words = ["ATTRIBUTE", &self.precedence, self.nature, &self.name].map(str::as_bytes);
        let mut line = joined(words.into_iter().chain(self.values.iter().map(Vec::as_slice)));
        line.push(b'\n');
        line
    }

    fn of(nature: &'static str, name: &str, values: &[&[u8]]) -> Self {
        let values = values.iter().map(|value| value.to_vec()).collect();
        Self { precedence: "OBJECT".to_owned(), nature, name: name.to_owned(), values }
    }
}
