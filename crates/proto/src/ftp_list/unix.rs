//! Lines as `ls -l` prints them, and as servers print that are no unix: NetWare, NetPresenz, VShell.
//!
//! Owners may hold blanks, may be missing, may be numbers; so the line is not counted in columns:
//! the first date after a size tells where both are, and the name follows one blank after it.

use memchr::memmem;

use super::date::{self, Date, Now, Style};
use super::words::{Words, number};
use crate::{Entry, EntryKind};

/// How far behind the mode a date is looked for.
const MOST_WORDS: usize = 16;

/// What a date has to stand behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Anything,
    Size,
}

/// What is tried on a line, the surest first. `10 may 2048` may be two owners and a size, and a
/// size may be written as `34.5k` or grow together with the group before it.
const ATTEMPTS: [(Behind, Style); 4] = [
    (Behind::Size, Style::MonthFirst),
    (Behind::Size, Style::DayFirst),
    (Behind::Size, Style::Foreign),
    (Behind::Anything, Style::MonthFirst),
];

/// What follows the mode.
struct Tail<'a> {
    size: Option<u64>,
    date: Date,
    after: Words<'a>,
    name: &'a [u8],
}

/// The entry of a line, if it is one of these.
pub(super) fn entry(line: &[u8], now: Option<Now>) -> Option<Entry> {
    let mut words = Words::new(line);
    let mut mode = words.word()?;
    // `ls -i` and `ls -s` put numbers before it.
    for _ in 0..2 {
        if number(mode).is_some() {
            mode = words.word()?;
        }
    }
    let is_netware = is_netware(mode, &mut words);
    if !is_netware && !is_mode(mode) {
        return None;
    }
    let kind = kind(mode)?;
    let tail = ATTEMPTS.into_iter().find_map(|(behind, style)| tail(&words, behind, style))?;
    let name = if is_netware { tail.after.padded_name(usize::MAX)? } else { tail.name };
    let name = if kind == EntryKind::Link { before_arrow(name, tail.size) } else { name };
    // A device has two numbers in its place.
    let size = tail.size.filter(|_| kind != EntryKind::Other);
    Some(super::made(kind, name, size, tail.date.seconds(now)))
}

/// `-rw-r--r--` and what may follow it: `+` of an ACL, `.` of SELinux, `@` of macOS, a wide number.
fn is_mode(word: &[u8]) -> bool {
    word.get(1..10).is_some_and(|rights| rights.iter().all(|octet| b"-rwxsStTlL".contains(octet)))
}

/// `d [RWCEAFMS]`, or grown together.
fn is_netware(mode: &[u8], words: &mut Words<'_>) -> bool {
    let is_rights = |word: &[u8]| word.starts_with(b"[") && word.ends_with(b"]");
    match mode {
        [_] => words.word().is_some_and(is_rights),
        [_, rights @ ..] => is_rights(rights),
        [] => false,
    }
}

fn kind(mode: &[u8]) -> Option<EntryKind> {
    match mode.first()? {
        b'-' => Some(EntryKind::File),
        b'd' => Some(EntryKind::Directory),
        b'l' => Some(EntryKind::Link),
        // Devices, pipes, sockets, doors, and what only some systems have.
        b'b' | b'c' | b'p' | b's' | b'D' | b'C' | b'M' | b'P' | b'n' | b'w' | b'?' => Some(EntryKind::Other),
        _ => None,
    }
}

fn tail<'a>(words: &Words<'a>, behind: Behind, style: Style) -> Option<Tail<'a>> {
    let (mut words, mut size) = (words.clone(), None);
    for _ in 0..MOST_WORDS {
        if size.is_some() || behind == Behind::Anything {
            let mut after = words.clone();
            if let Some((date, name)) = date::of_unix(&mut after, style).zip(after.name()) {
                return Some(Tail { size, date, after, name });
            }
        }
        size = number(words.word()?);
    }
    None
}

/// The name of a link: before the arrow whose target is as long as the link is; else before the
/// first.
fn before_arrow(line: &[u8], size: Option<u64>) -> &[u8] {
    const ARROW: &[u8] = b" -> ";
    let is_as_long = |at: &usize| u64::try_from(line.len() - at - ARROW.len()).ok() == size;
    let at = memmem::find_iter(line, ARROW).find(is_as_long).or_else(|| memmem::find(line, ARROW));
    match at.and_then(|at| line.get(..at)) {
        Some(name) if !name.is_empty() => name,
        _ => line,
    }
}
