//! The forms of Gopher+: the questions of an +ASK block, and the answers to them.

/// The kind of a question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GopherAsk {
    /// A line.
    Ask,
    /// The name of a file for the response.
    AskF,
    /// Several lines.
    AskL,
    /// A password.
    AskP,
    /// One of the choices that follow the text.
    Choose,
    /// The lines of a file.
    ChooseF,
    /// Nothing: text to show.
    Note,
    /// 0 or 1.
    Select,
}

/// A form. Unless [`reply`](Self::reply) is set, the response is a text of all answers.
#[derive(Clone, Debug, Default)]
pub struct GopherForm {
    questions: Vec<(GopherAsk, Vec<u8>)>,
    reply: Option<Vec<u8>>,
}

impl GopherForm {
    /// A form without questions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a question. Defaults or choices follow the text, each after a TAB.
    #[must_use]
    pub fn ask(mut self, kind: GopherAsk, text: impl AsRef<[u8]>) -> Self {
        self.questions.push((kind, text.as_ref().to_vec()));
        self
    }

    /// Sets the response to answers that fit the questions.
    #[must_use]
    pub fn reply(self, bytes: impl Into<Vec<u8>>) -> Self {
        Self { reply: Some(bytes.into()), ..self }
    }

    /// Returns the lines of the +ASK block.
    pub(crate) fn lines(&self) -> Vec<Vec<u8>> {
        let line = |(kind, text): &(GopherAsk, Vec<u8>)| [format!("{kind:?}: ").as_bytes(), text].concat();
        self.questions.iter().map(line).collect()
    }

    /// Parses a data block. Returns one answer for each question that needs one, with LF between the lines of
    /// an answer.
    ///
    /// # Errors
    /// Why the answers do not fit the questions.
    pub(crate) fn parse_answers(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let mut lines =
            bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        // Bytes after the last line end count as a line; an empty rest does not.
        let count = lines.clone().count() - usize::from(bytes.is_empty() || bytes.ends_with(b"\n"));
        let mut left = count;
        let mut next = || {
            left = left.checked_sub(1)?;
            lines.next()
        };
        let mut answers = Vec::new();
        for (kind, text) in &self.questions {
            let missing = || format!("no answer to {kind:?} {}", text.escape_ascii());
            let wanted = match kind {
                GopherAsk::Note => continue,
                GopherAsk::AskL | GopherAsk::ChooseF => {
                    let line = next().ok_or_else(missing)?;
                    let number = std::str::from_utf8(line).ok().and_then(|text| text.parse().ok());
                    number.ok_or_else(|| format!("{} is no number of lines", line.escape_ascii()))?
                }
                _ => 1,
            };
            let mut parts = Vec::new();
            for _ in 0..wanted {
                parts.push(next().ok_or_else(missing)?);
            }
            answers.push(parts.join(&b'\n'));
        }
        if left == 0 { Ok(answers) } else { Err(format!("{left} lines too many")) }
    }

    /// Returns the response to these answers.
    pub(crate) fn response(&self, answers: &[Vec<u8>]) -> Vec<u8> {
        match &self.reply {
            Some(bytes) => bytes.clone(),
            None => answers.iter().flat_map(|answer| [answer, b"\n".as_slice()].concat()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> GopherForm {
        let form = GopherForm::new().ask(GopherAsk::Note, "a form").ask(GopherAsk::Ask, "Name?\tnobody");
        form.ask(GopherAsk::AskL, "Tell us")
            .ask(GopherAsk::Select, "News?:0")
            .ask(GopherAsk::ChooseF, "File?")
    }

    #[test]
    fn answers_fit_the_form_or_the_error_says_why() {
        assert_eq!(form().lines()[1..3], [b"Ask: Name?\tnobody".to_vec(), b"AskL: Tell us".to_vec()]);
        let fit = form().parse_answers(b"Joe\r\n2\r\na\r\n\r\n1\r\n0\r\n").unwrap();
        assert_eq!(fit, [b"Joe".to_vec(), b"a\n".to_vec(), b"1".to_vec(), b"".to_vec()]);
        assert_eq!(form().parse_answers(b"Joe\n0\n1\n1\nx").unwrap()[3], b"x");
        assert_eq!(form().response(&fit), b"Joe\na\n\n1\n\n");
        assert_eq!(form().reply("thanks").response(&fit), b"thanks");
        let cases: [(&[u8], &str); 5] = [
            (b"", "no answer to Ask Name?\\tnobody"),
            (b"Joe\r\n", "no answer to AskL Tell us"),
            (b"Joe\r\nmany\r\n", "many is no number of lines"),
            (b"Joe\r\n3\r\na\r\nb\r\n", "no answer to AskL Tell us"),
            (b"Joe\r\n0\r\n1\r\n0\r\nmore\r\n", "1 lines too many"),
        ];
        for (bytes, why) in cases {
            assert_eq!(form().parse_answers(bytes).unwrap_err(), why);
        }
    }
}
