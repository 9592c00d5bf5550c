//! The questions of a form: the lines of `+ASK` ("Gopher+" §2.8).

use bytes::Bytes;
use memchr::{memchr, memrchr};

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuestionKind {
    /// With a line.
    Ask,
    /// With the name of a file to save in.
    AskF,
    /// With several lines.
    AskL,
    /// With a line that nobody should see.
    AskP,
    /// With one of the defaults.
    Choose,
    /// With the content of a file.
    ChooseF,
    /// Not at all: it is only shown.
    Note,
    /// With a line, as far as is known.
    Other,
    /// With `0` or `1`.
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

/// One line of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// How it is answered.
    pub kind: QuestionKind,
    /// What to show.
    pub prompt: Bytes,
    /// What the server proposes: a default, or what can be chosen. None of them is empty.
    pub defaults: Vec<Bytes>,
}

impl Question {
    /// What a line says: `Choose: Colour?`, a TAB, `red`, a TAB, `green`. A line that begins with
    /// no word and colon is a note; an empty one is nothing.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let line = Bytes::copy_from_slice(line.trim_ascii());
        if line.is_empty() {
            return None;
        }
        let (kind, rest) = kind(&line);
        let mut fields = rest.split(|&octet| octet == b'\t');
        let prompt = fields.next().unwrap_or_default().trim_ascii();
        let fields = fields.filter(|field| !field.is_empty()).map(|field| line.slice_ref(field));
        let mut question = Self { kind, prompt: line.slice_ref(prompt), defaults: fields.collect() };
        if kind == QuestionKind::Select && question.defaults.is_empty() {
            question.split_switch();
        }
        Some(question)
    }

    /// Whether it wants an answer.
    pub fn is_answered(&self) -> bool {
        self.kind != QuestionKind::Note
    }

    /// What is answered when nobody says otherwise, if the server proposes it.
    ///
    /// Among several choices none is the default; and what is proposed for [`QuestionKind::ChooseF`]
    /// is the name of a file of the user's, not for the server to choose.
    pub fn default_value(&self) -> Option<&[u8]> {
        match self.kind {
            QuestionKind::Choose | QuestionKind::ChooseF | QuestionKind::Note => None,
            _ => self.defaults.first().map(|default| &default[..]),
        }
    }

    /// A switch's default may stand behind the last colon: `News?:0`.
    fn split_switch(&mut self) {
        let Some(at) = memrchr(b':', &self.prompt) else { return };
        let (prompt, default) = (self.prompt.slice(..at), self.prompt.slice(at + 1..));
        if matches!(default.trim_ascii(), b"0" | b"1") {
            self.defaults = vec![default.slice_ref(default.trim_ascii())];
            self.prompt = prompt.slice_ref(prompt.trim_ascii_end());
        }
    }
}

/// How a line is answered, and what it shows and proposes.
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
