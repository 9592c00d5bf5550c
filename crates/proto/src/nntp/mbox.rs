//! An article as an entry of an mbox file (RFC 4155), in its variant mboxrd: what looks like the first line of
//! an entry gets one more `>`, so that it can be undone.

use memchr::memchr2;

use super::header::without_comments;
use super::{HeaderReader, date_seconds};
use crate::calendar;

/// The most of a header that is looked at before the entry begins.
const HEADER_OCTETS: usize = 64 * 1024;
/// What begins an entry.
const FROM: &[u8] = b"From ";
/// Who has sent what nobody has sent.
const NOBODY: &[u8] = b"MAILER-DAEMON";
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Makes entries of articles, one after the other, while they arrive.
#[derive(Debug)]
pub struct Mbox {
    /// None once the entry has begun to go out.
    header: Option<Header>,
    lines: Lines,
}

impl Default for Mbox {
    fn default() -> Self {
        Self { header: Some(Header::new()), lines: Lines::new() }
    }
}

impl Mbox {
    /// At the start of an article.
    pub fn new() -> Self {
        Self::default()
    }

    /// What can go out, now that more of the article has arrived.
    pub fn push(&mut self, octets: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(octets.len());
        self.lines.push(octets, &mut out);
        let Some(mut header) = self.header.take() else { return out };
        header.push(octets, &out);
        if header.is_known() {
            return header.entry();
        }
        self.header = Some(header);
        Vec::new()
    }

    /// The rest of the entry; the next article may follow.
    pub fn finish(&mut self) -> Vec<u8> {
        let Self { header, mut lines } = std::mem::take(self);
        let mut out = header.map_or_else(Vec::new, Header::entry);
        lines.finish(&mut out);
        out.push(b'\n');
        out
    }
}

/// The start of an entry, held back: its first line says what the header says.
#[derive(Debug)]
struct Header {
    reader: HeaderReader,
    /// How much of the article may still be looked at.
    left: usize,
    held: Vec<u8>,
}

impl Header {
    const fn new() -> Self {
        Self { reader: HeaderReader::new(0), left: HEADER_OCTETS, held: Vec::new() }
    }

    fn push(&mut self, octets: &[u8], out: &[u8]) {
        let look = octets.get(..self.left).unwrap_or(octets);
        self.reader.push(look);
        self.left -= look.len();
        self.held.extend_from_slice(out);
    }

    fn is_known(&self) -> bool {
        self.left == 0 || self.reader.is_done()
    }

    fn entry(self) -> Vec<u8> {
        let facts = self.reader.facts();
        let date = asctime(date_seconds(&facts.date).unwrap_or_default());
        let from = without_comments(&facts.from);
        [FROM, address(&from).unwrap_or(NOBODY), b" ", date.as_bytes(), b"\n", &self.held].concat()
    }
}

/// `Thu Jan  1 00:00:00 1970`.
fn asctime(seconds: i64) -> String {
    let (year, month, day, hour, minute, second) = calendar::civil(seconds);
    // 1970 began on a Thursday, as the names do.
    let day_name = name(&DAYS, seconds.div_euclid(86_400).rem_euclid(7));
    let month = name(&MONTHS, month - 1);
    format!("{day_name} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year:04}")
}

fn name(names: &[&'static str], number: i64) -> &'static str {
    usize::try_from(number).ok().and_then(|number| names.get(number)).copied().unwrap_or_default()
}

/// The first address of a From field that has no comments; none if it would not be one word of the line.
///
/// A path of UUCP is one, too: `host!host!user`.
fn address(from: &[u8]) -> Option<&[u8]> {
    let address = match unquoted(from, b'<') {
        Some(before) => {
            let behind = from.get(before.len() + 1..)?;
            behind.get(..memchr::memchr(b'>', behind)?)?
        }
        None => unquoted(from, b',').unwrap_or(from),
    };
    let address = address.trim_ascii();
    let is_word = !address.iter().any(|octet| octet.is_ascii_control() || *octet == b' ');
    (is_word && memchr2(b'@', b'!', address).is_some()).then_some(address)
}

/// What stands before a sign that is in no quotes.
fn unquoted(field: &[u8], sign: u8) -> Option<&[u8]> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let is_sign = |octet: &u8| {
        match octet {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            octet => return *octet == sign && !is_quoted,
        }
        false
    };
    let at = field.iter().position(is_sign)?;
    field.get(..at)
}

/// Ends lines in LF, and quotes those that look like the first of an entry.
#[derive(Debug)]
struct Lines {
    place: Place,
    /// The last octet was a CR, which may be half of a line end.
    has_cr: bool,
}

/// Where in a line the next octet stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At its start.
    Start,
    /// Behind any number of `>`, which have gone out, and so many octets of `From `, which have not: it makes
    /// no difference where among the others the one more `>` stands.
    Word(usize),
    /// Where nothing but its end matters.
    Within,
}

impl Lines {
    const fn new() -> Self {
        Self { place: Place::Start, has_cr: false }
    }

    fn push(&mut self, octets: &[u8], out: &mut Vec<u8>) {
        let mut rest = octets;
        while let Some((&octet, behind)) = rest.split_first() {
            self.take(octet, out);
            rest = behind;
            if self.place == Place::Within && !self.has_cr {
                let (plain, behind) = rest.split_at(memchr2(b'\r', b'\n', rest).unwrap_or(rest.len()));
                out.extend_from_slice(plain);
                rest = behind;
            }
        }
    }

    /// The article ends here, with or without a line end.
    fn finish(&mut self, out: &mut Vec<u8>) {
        if self.has_cr {
            self.put(b'\r', out);
        }
        if self.place != Place::Start {
            self.end_line(out);
        }
    }

    fn take(&mut self, octet: u8, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_cr, octet == b'\r') && octet != b'\n' {
            self.put(b'\r', out);
        }
        match octet {
            b'\r' => {}
            b'\n' => self.end_line(out),
            _ => self.put(octet, out),
        }
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.held());
        out.push(b'\n');
        self.place = Place::Start;
    }

    /// An octet that is within a line.
    fn put(&mut self, octet: u8, out: &mut Vec<u8>) {
        let held = self.held().len();
        self.place = match self.place {
            Place::Start | Place::Word(0) if octet == b'>' => Place::Word(0),
            Place::Start | Place::Word(_) if FROM.get(held) == Some(&octet) => {
                if held + 1 < FROM.len() {
                    self.place = Place::Word(held + 1);
                    return;
                }
                out.push(b'>');
                Place::Within
            }
            _ => Place::Within,
        };
        out.extend_from_slice(FROM.get(..held).unwrap_or_default());
        out.push(octet);
    }

    /// What has come and not gone out, but for a CR.
    fn held(&self) -> &'static [u8] {
        match self.place {
            Place::Word(length) => FROM.get(..length).unwrap_or_default(),
            Place::Start | Place::Within => b"",
        }
    }
}
