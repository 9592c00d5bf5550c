//! The forms of Gopher+: the questions of an +ASK block, and whether answers fit them.

/// What a question asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GopherAsk {
    /// A line.
    Ask,
    /// The name of a file for what comes.
    AskF,
    /// Lines.
    AskL,
    /// A password.
    AskP,
    /// One of the choices that follow the text.
    Choose,
    /// The lines of a file.
    ChooseF,
    /// Nothing.
    Note,
    /// 0 or 1.
    Select,
}

/// A form. Without a reply, its reply is a text of all answers.
#[derive(Clone, Debug, Default)]
pub struct GopherForm {
    questions: Vec<(GopherAsk, Vec<u8>)>,
    reply: Option<Vec<u8>>,
}

impl GopherForm {
    /// No question.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more question. Its text may be followed by defaults or choices, with a TAB before each.
    #[must_use]
    pub fn ask(mut self, kind: GopherAsk, text: impl AsRef<[u8]>) -> Self {
        self.questions.push((kind, text.as_ref().to_vec()));
        self
    }

    /// What is sent for answers that fit.
    #[must_use]
    pub fn reply(self, octets: impl Into<Vec<u8>>) -> Self {
        Self { reply: Some(octets.into()), ..self }
    }

    /// The lines of the +ASK block.
    pub(crate) fn lines(&self) -> Vec<Vec<u8>> {
        let line = |(kind, text): &(GopherAsk, Vec<u8>)| [format!("{kind:?}: ").as_bytes(), text].concat();
        self.questions.iter().map(line).collect()
    }

    /// One answer for each question that wants one; those of several lines are joined by LF.
    pub(crate) fn answers(&self, octets: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let mut lines =
            octets.split(|octet| *octet == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        // What follows the last line end is no line.
        let count = lines.clone().count() - usize::from(octets.is_empty() || octets.ends_with(b"\n"));
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

    /// What is sent for these answers.
    pub(crate) fn answered(&self, answers: &[Vec<u8>]) -> Vec<u8> {
        match &self.reply {
            Some(octets) => octets.clone(),
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
    fn answers_fit_or_it_is_said_why_not() {
        assert_eq!(form().lines()[1..3], [b"Ask: Name?\tnobody".to_vec(), b"AskL: Tell us".to_vec()]);
        let fit = form().answers(b"Joe\r\n2\r\na\r\n\r\n1\r\n0\r\n").unwrap();
        assert_eq!(fit, [b"Joe".to_vec(), b"a\n".to_vec(), b"1".to_vec(), b"".to_vec()]);
        assert_eq!(form().answers(b"Joe\n0\n1\n1\nx").unwrap()[3], b"x");
        assert_eq!(form().answered(&fit), b"Joe\na\n\n1\n\n");
        assert_eq!(form().reply("thanks").answered(&fit), b"thanks");
        let cases: [(&[u8], &str); 5] = [
            (b"", "no answer to Ask Name?\\tnobody"),
            (b"Joe\r\n", "no answer to AskL Tell us"),
            (b"Joe\r\nmany\r\n", "many is no number of lines"),
            (b"Joe\r\n3\r\na\r\nb\r\n", "no answer to AskL Tell us"),
            (b"Joe\r\n0\r\n1\r\n0\r\nmore\r\n", "1 lines too many"),
        ];
        for (octets, why) in cases {
            assert_eq!(form().answers(octets).unwrap_err(), why);
        }
    }
}
