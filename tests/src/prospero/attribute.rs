//! An attribute of a Prospero object or link.

use crate::prospero::token::join_quoted;

/// An attribute: `ATTRIBUTE precedence nature name value…`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProsperoAttribute {
    precedence: String,
    nature: &'static str,
    name: String,
    values: Vec<Vec<u8>>,
}

impl ProsperoAttribute {
    /// An application attribute, such as `DESCRIPTION`.
    #[must_use]
    pub fn new(name: &str, values: &[&[u8]]) -> Self {
        Self::of("APPLICATION", name, &[&[b"SEQUENCE".as_slice()], values].concat())
    }

    /// A field of the protocol, such as `ACCESS-METHOD`. It has no `SEQUENCE`.
    #[must_use]
    pub fn field(name: &str, values: &[&[u8]]) -> Self {
        Self::of("FIELD", name, values)
    }

    /// An intrinsic attribute, such as `SIZE`.
    #[must_use]
    pub fn intrinsic(name: &str, values: &[&[u8]]) -> Self {
        Self::of("INTRINSIC", name, &[&[b"SEQUENCE".as_slice()], values].concat())
    }

    /// An access method, token by token.
    #[must_use]
    pub fn access_method(tokens: &[&str]) -> Self {
        let tokens: Vec<&[u8]> = tokens.iter().map(|token| token.as_bytes()).collect();
        Self::field("ACCESS-METHOD", &tokens)
    }

    /// Sets the precedence: `OBJECT` (the default), `LINK`, `CACHED`, `REPLACEMENT` or `ADDITIONAL`.
    #[must_use]
    pub fn precedence(mut self, word: &str) -> Self {
        word.clone_into(&mut self.precedence);
        self
    }

    pub(crate) fn is_access_method(&self) -> bool {
        self.name == "ACCESS-METHOD"
    }

    pub(crate) fn line(&self) -> Vec<u8> {
        let words = ["ATTRIBUTE", &self.precedence, self.nature, &self.name].map(str::as_bytes);
        let mut line = join_quoted(words.into_iter().chain(self.values.iter().map(Vec::as_slice)));
        line.push(b'\n');
        line
    }

    fn of(nature: &'static str, name: &str, values: &[&[u8]]) -> Self {
        let values = values.iter().map(|value| value.to_vec()).collect();
        Self { precedence: "OBJECT".to_owned(), nature, name: name.to_owned(), values }
    }
}
