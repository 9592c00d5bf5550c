//! Encodes the answers to a form as a data block (RFC 1738 §3.4.9, "Gopher+" §2.8).

use std::fmt;

use super::{Question, QuestionKind};
use crate::ForbiddenSet;

/// The reason why a form cannot be sent. Questions are numbered from 1; notes are not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// The answer is not one of the choices.
    Choice {
        /// The number of the question.
        question: usize,
    },
    /// The number of answers differs from the number of questions.
    Count {
        /// The number of questions.
        wanted: usize,
        /// The number of answers.
        given: usize,
    },
    /// The answer contains a byte that would change the request.
    ForbiddenByte {
        /// The number of the question.
        question: usize,
        /// The forbidden byte.
        byte: u8,
    },
    /// The answer to a `Select` question is not on or off.
    Switch {
        /// The number of the question.
        question: usize,
    },
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Choice { question } => {
                write!(f, "the answer to question {question} is not one of its choices")
            }
            Self::Count { wanted, given } => {
                let number = |count: &usize, word| match count {
                    1 => format!("1 {word}"),
                    _ => format!("{count} {word}s"),
                };
                let (wanted, given) = (number(wanted, "question"), number(given, "answer"));
                write!(f, "the form has {wanted}, but got {given}")
            }
            Self::ForbiddenByte { question, byte } => {
                let name = match byte {
                    0 => "NUL",
                    b'\n' => "LF",
                    b'\r' => "CR",
                    _ => "this byte",
                };
                write!(
                    f,
                    "%{byte:02X} ({name}) in the answer to question {question} would change the request"
                )
            }
            Self::Switch { question } => {
                write!(f, "the answer to question {question} is not 0 or 1, yes or no, on or off")
            }
        }
    }
}

impl std::error::Error for AnswerError {}

/// Encodes the data block of a filled form. `values` are the answers, in order, to the questions that need one.
///
/// The block ends with a line of one dot, and answers are sent unchanged: known servers do not remove a doubled dot.
/// If a line of an answer is a single dot, the length of the block is sent instead (`+<bytes>`).
///
/// # Errors
/// [`AnswerError`] if the number of answers is wrong or an answer is not allowed.
pub fn encode_answers(questions: &[Question], values: &[Vec<u8>]) -> Result<Vec<u8>, AnswerError> {
    let answered = || questions.iter().filter(|question| question.needs_answer());
    let (wanted, given) = (answered().count(), values.len());
    if wanted != given {
        return Err(AnswerError::Count { wanted, given });
    }
    let mut block = Vec::new();
    for ((question, value), number) in answered().zip(values).zip(1..) {
        match question.kind {
            QuestionKind::AskL | QuestionKind::ChooseF => push_lines(&mut block, value, number)?,
            QuestionKind::Choose => push_line(&mut block, choice(question, value, number)?, number)?,
            QuestionKind::Select => push_line(&mut block, switch(value, number)?, number)?,
            _ => push_line(&mut block, value, number)?,
        }
    }
    Ok(framed(&block))
}

/// Adds the framing of a data block to its lines.
fn framed(lines: &[u8]) -> Vec<u8> {
    if lines.split_inclusive(|&byte| byte == b'\n').any(|line| line == b".\r\n") {
        [format!("+{}\r\n", lines.len()).as_bytes(), lines].concat()
    } else {
        [b"+-1\r\n", lines, b".\r\n"].concat()
    }
}

/// Writes the number of lines and the lines of a multi-line answer. Lines end in LF or CRLF; the last line end is
/// optional.
fn push_lines(block: &mut Vec<u8>, value: &[u8], question: usize) -> Result<(), AnswerError> {
    let lines = || value.split_inclusive(|&byte| byte == b'\n');
    push_line(block, lines().count().to_string().as_bytes(), question)?;
    lines().try_for_each(|line| push_line(block, without_end(line), question))
}

fn without_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n")).unwrap_or(line)
}

/// Writes one line.
fn push_line(block: &mut Vec<u8>, line: &[u8], question: usize) -> Result<(), AnswerError> {
    let line = ForbiddenSet::LINE
        .check("answer", line)
        .map_err(|forbidden| AnswerError::ForbiddenByte { question, byte: forbidden.byte })?;
    block.extend_from_slice(line);
    block.extend_from_slice(b"\r\n");
    Ok(())
}

/// Returns the choice with this text or, if there is none, the choice with this number (from 1).
fn choice<'q>(question: &'q Question, value: &[u8], number: usize) -> Result<&'q [u8], AnswerError> {
    let by_number = || {
        let index = std::str::from_utf8(value).ok()?.parse::<usize>().ok()?.checked_sub(1)?;
        question.defaults.get(index)
    };
    let chosen = question.defaults.iter().find(|choice| *choice == value).or_else(by_number);
    chosen.map(|choice| &choice[..]).ok_or(AnswerError::Choice { question: number })
}

fn switch(value: &[u8], question: usize) -> Result<&'static [u8], AnswerError> {
    let is = |words: [&[u8]; 3]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    match () {
        () if is([b"1", b"yes", b"on"]) => Ok(b"1"),
        () if is([b"0", b"no", b"off"]) => Ok(b"0"),
        () => Err(AnswerError::Switch { question }),
    }
}
