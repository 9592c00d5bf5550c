//! A line of the overview, which OVER and XOVER send (RFC 3977 §8.3.2): read, and written from facts.

use super::{ArticleFacts, date_seconds};
use crate::{Details, Entry, EntryKind};

/// The article of one line, without its line end; none if it does not begin with a number.
///
/// The number is 0 where the server was asked for a message-id of no group. Fields that are missing are
/// empty, and those behind the eighth are for others.
pub fn overview_entry(line: &[u8]) -> Option<Entry> {
    let mut fields = line.split(|&octet| octet == b'\t').map(<[u8]>::trim_ascii);
    let article_number = number(fields.next()?)?;
    let mut field = || fields.next().unwrap_or_default();
    Some(article(ArticleFacts {
        number: article_number,
        subject: field().to_vec(),
        from: field().to_vec(),
        date: field().to_vec(),
        message_id: field().to_vec(),
        references: field().to_vec(),
        octets: number(field()),
        lines: number(field()),
    }))
}

/// The line that a server with an overview would have sent, without a line end.
pub fn overview_line(facts: &ArticleFacts) -> Vec<u8> {
    let mut line = facts.number.to_string().into_bytes();
    for field in [&facts.subject, &facts.from, &facts.date, &facts.message_id, &facts.references] {
        line.push(b'\t');
        line.extend(field.iter().copied().map(in_field));
    }
    for count in [facts.octets, facts.lines] {
        line.push(b'\t');
        line.extend(count.map_or_else(String::new, |count| count.to_string()).into_bytes());
    }
    line
}

/// The entry that stands for an article.
pub(super) fn article(facts: ArticleFacts) -> Entry {
    Entry {
        name: facts.number.to_string().into_bytes(),
        size: facts.octets,
        modified: date_seconds(&facts.date),
        details: Details::Article(Box::new(facts)),
        ..Entry::new(EntryKind::File)
    }
}

/// What stands for an octet within a field: what would end the field is a blank.
pub(super) const fn in_field(octet: u8) -> u8 {
    if matches!(octet, b'\0' | b'\t' | b'\n' | b'\r') { b' ' } else { octet }
}

/// Digits alone; zeros may stand before them.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    // What has no digit at all is no number for parse, either.
    word.iter().all(u8::is_ascii_digit).then(|| std::str::from_utf8(word).ok()?.parse().ok())?
}
