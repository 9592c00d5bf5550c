//! A filled form, as it follows the request line (RFC 1738 §3.4.9, "Gopher+" §2.8).

use std::fmt;

use super::{Question, QuestionKind};
use crate::Octets;

/// Why a form cannot be sent. Questions are numbered from 1, notes not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// Not one of what can be chosen.
    Choice {
        /// The number of the question.
        question: usize,
    },
    /// There are more answers than questions, or fewer.
    Count {
        /// How many are wanted.
        wanted: usize,
        /// How many there are.
        given: usize,
    },
    /// An octet that would change what is sent.
    Octet {
        /// The number of the question.
        question: usize,
        /// The octet.
        octet: u8,
    },
    /// Neither on nor off.
    Switch {
        /// The number of the question.
        question: usize,
    },
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Choice { question } => {
                write!(f, "the answer to question {question} is none of its choices")
            }
            Self::Count { wanted, given } => write!(f, "the form wants {wanted} answers, not {given}"),
            Self::Octet { question, octet } => {
                let name = match octet {
                    0 => "NUL",
                    b'\n' => "LF",
                    b'\r' => "CR",
                    _ => "this octet",
                };
                write!(
                    f,
                    "%{octet:02X} ({name}) in the answer to question {question} would change what is sent"
                )
            }
            Self::Switch { question } => {
                write!(f, "the answer to question {question} is not 0 or 1, yes or no, on or off")
            }
        }
    }
}

impl std::error::Error for AnswerError {}

/// The data block of a filled form: `values` answer, in order, the questions that are answered.
///
/// # Errors
/// The answers are too many or too few, or one of them cannot be sent.
pub fn answers(questions: &[Question], values: &[Vec<u8>]) -> Result<Vec<u8>, AnswerError> {
    let answered = || questions.iter().filter(|question| question.is_answered());
    let (wanted, given) = (answered().count(), values.len());
    if wanted != given {
        return Err(AnswerError::Count { wanted, given });
    }
    let mut block = b"+-1\r\n".to_vec();
    for ((question, value), number) in answered().zip(values).zip(1..) {
        match question.kind {
            QuestionKind::AskL | QuestionKind::ChooseF => push_lines(&mut block, value, number)?,
            QuestionKind::Choose => push_line(&mut block, choice(question, value, number)?, number)?,
            QuestionKind::Select => push_line(&mut block, switch(value, number)?, number)?,
            _ => push_line(&mut block, value, number)?,
        }
    }
    block.extend_from_slice(b".\r\n");
    Ok(block)
}

/// How many lines, then the lines: each ends in LF or CR LF, the last one perhaps in nothing.
fn push_lines(block: &mut Vec<u8>, value: &[u8], question: usize) -> Result<(), AnswerError> {
    let lines = || value.split_inclusive(|&octet| octet == b'\n');
    push_line(block, lines().count().to_string().as_bytes(), question)?;
    lines().try_for_each(|line| push_line(block, without_end(line), question))
}

fn without_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n")).unwrap_or(line)
}

/// A line that begins with a dot gets a second one: it cannot be the last.
fn push_line(block: &mut Vec<u8>, line: &[u8], question: usize) -> Result<(), AnswerError> {
    let line = Octets::LINE
        .check("answer", line)
        .map_err(|forbidden| AnswerError::Octet { question, octet: forbidden.octet })?;
    if line.starts_with(b".") {
        block.push(b'.');
    }
    block.extend_from_slice(line);
    block.extend_from_slice(b"\r\n");
    Ok(())
}

/// A choice by its text; or by its number, from 1, where no text is the same.
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
