//! Parses the questions of a form: the lines of `+ASK` ("Gopher+" §2.8).

use bytes::Bytes;
use memchr::{memchr, memrchr};

/// The kind of answer that a question needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuestionKind {
    /// One line.
    Ask,
    /// The name of a local file to save the result in.
    AskF,
    /// Several lines.
    AskL,
    /// One line that is not displayed, such as a password.
    AskP,
    /// One of the choices.
    Choose,
    /// The contents of a file.
    ChooseF,
    /// No answer: the line is only displayed.
    Note,
    /// An unknown keyword; it is answered with one line.
    Other,
    /// `0` or `1`.
    Select,
}

const KINDS: [(&[u8], QuestionKind); 8] = [
    (b"Ask", QuestionKind::Ask),
    (b"AskF", QuestionKind::AskF),
    (b"AskL", QuestionKind::AskL),
    (b"AskP", QuestionKind::AskP),
    (b"Choose", QuestionKind::Choose),
    (b"ChooseF", QuestionKind::ChooseF),
    (b"Note", QuestionKind::Note),
    (b"Select", QuestionKind::Select),
];

/// One question of a form, a line of `+ASK`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The kind of answer that it needs.
    pub kind: QuestionKind,
    /// The text to display.
    pub prompt: Bytes,
    /// The default, or the choices; empty ones are dropped.
    pub defaults: Vec<Bytes>,
}

impl Question {
    /// Parses a line such as `Choose: Colour?`, TAB, `red`, TAB, `green`. A line without a keyword and a
    /// colon is a note. Returns `None` for an empty line.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let line = Bytes::copy_from_slice(line.trim_ascii());
        if line.is_empty() {
            return None;
        }
        let (kind, rest) = kind(&line);
        let mut fields = rest.split(|&byte| byte == b'\t');
        let prompt = fields.next().unwrap_or_default().trim_ascii();
        let fields = fields.filter(|field| !field.is_empty()).map(|field| line.slice_ref(field));
        let mut question = Self { kind, prompt: line.slice_ref(prompt), defaults: fields.collect() };
        if kind == QuestionKind::Select && question.defaults.is_empty() {
            question.split_switch();
        }
        Some(question)
    }

    /// Returns `true` if the question needs an answer.
    pub fn needs_answer(&self) -> bool {
        self.kind != QuestionKind::Note
    }

    /// Returns the default answer that the server proposes, if any.
    ///
    /// For [`QuestionKind::Choose`] it is the first choice. For [`QuestionKind::ChooseF`] the proposed file name is
    /// ignored: the server must not choose a local file.
    pub fn default_value(&self) -> Option<&[u8]> {
        match self.kind {
            QuestionKind::ChooseF | QuestionKind::Note => None,
            _ => self.defaults.first().map(|default| &default[..]),
        }
    }

    /// Handles `News?:0`: the default of a switch may follow the last colon.
    fn split_switch(&mut self) {
        let Some(at) = memrchr(b':', &self.prompt) else { return };
        let (prompt, default) = (self.prompt.slice(..at), self.prompt.slice(at + 1..));
        if matches!(default.trim_ascii(), b"0" | b"1") {
            self.defaults = vec![default.slice_ref(default.trim_ascii())];
            self.prompt = prompt.slice_ref(prompt.trim_ascii_end());
        }
    }
}

/// Returns the kind of the question and the text after the keyword.
fn kind(line: &[u8]) -> (QuestionKind, &[u8]) {
    let Some((word, rest)) = memchr(b':', line).and_then(|at| line.split_at_checked(at)) else {
        return (QuestionKind::Note, line);
    };
    if word.is_empty() || !word.iter().all(u8::is_ascii_alphanumeric) {
        return (QuestionKind::Note, line);
    }
    let known = KINDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    (known.map_or(QuestionKind::Other, |(_, kind)| *kind), rest.strip_prefix(b":").unwrap_or(rest))
}
