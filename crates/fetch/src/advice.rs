//! What a URL that names no data object is good for.

/// What a person can do with a URL that names no data object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// Readable in 80 columns.
    pub text: String,
    /// The same for programs.
    pub facts: Vec<(&'static str, Fact)>,
}

/// One thing that a program may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// The URL says nothing of it.
    Absent,
    /// Whether it is so.
    Flag(bool),
    /// A number.
    Number(u64),
    /// Names and values, in order.
    Pairs(Vec<(String, String)>),
    /// A text.
    Text(String),
    /// Several texts.
    Words(Vec<String>),
}

impl Advice {
    /// Advice in these words.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), facts: Vec::new() }
    }

    /// Of a session with a mainframe (RFC 1738 §4 `tn3270`).
    pub(crate) fn of_tn3270(url: &str) -> Self {
        let place = url.trim_start_matches("tn3270://").trim_end_matches('/');
        let command = format!("tn3270 {}", place.replacen(':', " ", 1));
        let text = format!("This is a tn3270 session, not an object that can be fetched.\n  {command}\n");
        Self::new(text).with("command", command)
    }

    /// And this for programs.
    #[must_use]
    pub fn with(mut self, name: &'static str, fact: impl Into<Fact>) -> Self {
        self.facts.push((name, fact.into()));
        self
    }
}

impl From<bool> for Fact {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u16> for Fact {
    fn from(number: u16) -> Self {
        Self::Number(number.into())
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Option<String>> for Fact {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}
