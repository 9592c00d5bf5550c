//! Parses and formats overview lines, as OVER and XOVER send them (RFC 3977 §8.3.2).

use super::{ArticleDetails, MAX_ARTICLE_NUMBER, parse_article_date};
use crate::{Details, Entry, EntryKind};

/// Parses one overview line, without its line end, into a file entry with [`ArticleDetails`]. Returns `None` if the
/// line does not begin with an article number (RFC 3977 §8.3.2) of at most [`MAX_ARTICLE_NUMBER`].
///
/// The number is 0 if the request was for a message-id outside a group. Missing fields are empty, and fields
/// after the eighth are ignored.
pub fn parse_overview_line(line: &[u8]) -> Option<Entry> {
    let mut fields = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii);
    let article_number = number(fields.next()?).filter(|number| *number <= MAX_ARTICLE_NUMBER)?;
    let mut field = || fields.next().unwrap_or_default();
    Some(article(ArticleDetails {
        number: article_number,
        subject: field().to_vec(),
        from: field().to_vec(),
        date: field().to_vec(),
        message_id: field().to_vec(),
        references: field().to_vec(),
        bytes: number(field()),
        lines: number(field()),
    }))
}

/// Formats the details of an article as an overview line (RFC 3977 §8.3.2), without a line end.
pub fn format_overview_line(details: &ArticleDetails) -> Vec<u8> {
    let mut line = details.number.to_string().into_bytes();
    for field in [&details.subject, &details.from, &details.date, &details.message_id, &details.references] {
        line.push(b'\t');
        line.extend(field.iter().copied().map(in_field));
    }
    for count in [details.bytes, details.lines] {
        line.push(b'\t');
        line.extend(count.map_or_else(String::new, |count| count.to_string()).into_bytes());
    }
    line
}

/// Returns the listing entry for an article.
pub(super) fn article(details: ArticleDetails) -> Entry {
    Entry {
        name: details.number.to_string().into_bytes(),
        size: details.bytes,
        modified: parse_article_date(&details.date),
        details: Details::Article(Box::new(details)),
        ..Entry::new(EntryKind::File)
    }
}

/// Replaces a byte that would end the field with a blank.
pub(super) const fn in_field(byte: u8) -> u8 {
    if matches!(byte, b'\0' | b'\t' | b'\n' | b'\r') { b' ' } else { byte }
}

/// Parses a decimal number; leading zeros are allowed.
pub(super) fn number(word: &[u8]) -> Option<u64> {
    // An empty word passes this test but is rejected by `parse`.
    word.iter().all(u8::is_ascii_digit).then(|| std::str::from_utf8(word).ok()?.parse().ok())?
}
