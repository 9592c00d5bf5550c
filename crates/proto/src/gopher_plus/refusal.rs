//! The body of an error: a code, who to tell, and words ("Gopher+" §2.3).

use bytes::Bytes;
use memchr::{memchr, memrchr};

const BODY_OCTETS: usize = 64 * 1024;
const TEXT_LINES: usize = 100;
const WORDS_OCTETS: usize = 1024;
/// A code of more digits is none.
const CODE_DIGITS: usize = 9;
const MOVED: u32 = 3;

/// Why a server does not give an item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// 1: not available. 2: try again later. 3: moved. Servers have others too.
    pub code: Option<u32>,
    /// Who to tell: `name <mail>`; empty where it is left out.
    pub admin: Bytes,
    /// The server's words, line by line; at most 100 lines.
    pub text: Vec<Bytes>,
}

impl Refusal {
    /// What the body of an error says; of a body longer than 64 KiB, what its beginning says.
    ///
    /// A server may leave out the code and who to tell, and may begin its words on the first line.
    pub fn parse(body: &[u8]) -> Self {
        let body = body.get(..BODY_OCTETS).unwrap_or(body);
        let lines = body.split(|&octet| octet == b'\n').map(<[u8]>::trim_ascii_end);
        let mut lines: Vec<&[u8]> = lines.skip_while(|line| line.is_empty()).take(TEXT_LINES).collect();
        while lines.pop_if(|line| line.is_empty() || line == b".").is_some() {}
        let Some((first, below)) = lines.split_first() else { return Self::default() };
        let (code, rest) = code(first);
        let (admin, words) = match code {
            Some(_) => admin(rest, !below.is_empty()),
            None => (&b""[..], rest),
        };
        let words = Some(words).filter(|words| !words.is_empty());
        let text = words.iter().chain(below).map(|line| Bytes::copy_from_slice(line)).collect();
        Self { code, admin: Bytes::copy_from_slice(admin), text }
    }

    /// The server's words in one line of at most 1 KiB, for a message.
    pub fn words(&self) -> Vec<u8> {
        let mut words = Vec::new();
        for line in self.text.iter().map(|line| line.trim_ascii()).filter(|line| !line.is_empty()) {
            if !words.is_empty() {
                words.push(b' ');
            }
            words.extend_from_slice(line);
            if words.len() > WORDS_OCTETS {
                break;
            }
        }
        words.truncate(WORDS_OCTETS);
        words
    }

    /// The menu line of where a moved item is now (code 3), if the server gives one.
    pub fn moved_to(&self) -> Option<&[u8]> {
        let is_moved = self.code == Some(MOVED);
        let line = self.text.iter().find(|line| is_moved && memchr(b'\t', line).is_some())?;
        Some(line.strip_prefix(b"+INFO: ").unwrap_or(line))
    }
}

/// The number at the start of the first line, and what follows it.
fn code(line: &[u8]) -> (Option<u32>, &[u8]) {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|octet| octet.is_ascii_digit()).count();
    match line.split_at_checked(digits) {
        Some((digits, rest))
            if (1..=CODE_DIGITS).contains(&digits.len())
                && matches!(rest.first(), None | Some(b' ' | b'\t')) =>
        {
            let push = |code: u32, digit: &u8| code * 10 + u32::from(digit - b'0');
            (Some(digits.iter().fold(0, push)), rest.trim_ascii_start())
        }
        _ => (None, line),
    }
}

/// Who to tell, and the words that follow on the same line. What is in angle brackets is a mail
/// address if it looks like one, or if it ends the line and the words come below.
fn admin(line: &[u8], is_text_below: bool) -> (&[u8], &[u8]) {
    const NOBODY: &[u8] = b"";
    let Some((open, close)) = memchr(b'<', line).zip(memrchr(b'>', line)) else {
        let is_mail = line.contains(&b'@') && !line.contains(&b' ');
        return if is_mail { (line, NOBODY) } else { (NOBODY, line) };
    };
    let is_mail = line.get(open..close).is_some_and(|mail| mail.contains(&b'@'));
    match line.split_at_checked(close + 1) {
        Some((admin, rest)) if is_mail || (rest.is_empty() && is_text_below) => (admin, rest.trim_ascii()),
        _ => (NOBODY, line),
    }
}
