//! Newsgroups and articles in listings: as text, as raw lines, and as JSON.

use fetch_url_proto::nntp::{ArticleDetails, GroupDetails, format_overview_line};
use fetch_url_proto::text::sanitise;
use fetch_url_proto::{Details, Entry};
use serde_json::{Map, Value, json};
use textwrap::core::display_width;

use super::date::format_date;
use super::header_text;
use super::wrap::{Width, wrapped};

/// Width of the column of authors.
const AUTHOR_WIDTH: usize = 20;

/// Returns the lines for a group or an article. Returns `None` for other entries.
pub(super) fn text(entry: &Entry, width: Width) -> Option<String> {
    match &entry.details {
        Details::Newsgroup(details) => Some(group_line(&entry.name, details)),
        Details::Article(details) => Some(article_lines(entry, details, width)),
        _ => None,
    }
}

/// Returns the line for a group: estimated number of articles, posting status and name. The name is last because its
/// length is not limited.
fn group_line(name: &[u8], details: &GroupDetails) -> String {
    // Article numbers start at 1.
    let most = details.high.saturating_add(1).saturating_sub(details.low.max(1));
    let posting = match details.posting.as_slice() {
        b"y" => "posting".to_owned(),
        b"m" => "moderated".to_owned(),
        b"n" | b"x" | b"j" => "no posting".to_owned(),
        other => sanitise(other),
    };
    format!("{most:>10}  {posting:<10}  {}\n", sanitise(name))
}

/// Returns the lines for an article: number, date, author and subject.
fn article_lines(entry: &Entry, details: &ArticleDetails, width: Width) -> String {
    let when = entry.modified.map_or_else(|| "-".to_owned(), format_date);
    let author = short_author(&details.from);
    let space = " ".repeat(AUTHOR_WIDTH.saturating_sub(display_width(&author)));
    let first = format!("{:>8}  {when:<16}  {author}{space}  ", details.number);
    let indent = " ".repeat(50);
    format!("{}\n", wrapped(&decode_subject(&details.subject), &first, &indent, width))
}

/// Returns the name or address of the author, truncated to the width of its column.
fn short_author(from: &[u8]) -> String {
    let name = if from.is_ascii() { header_text::author(from) } else { None };
    let whole = name.map_or_else(|| sanitise(from), |name| sanitise(name.as_bytes()));
    if display_width(&whole) <= AUTHOR_WIDTH {
        return whole;
    }
    let mut short = String::new();
    for character in whole.chars() {
        if display_width(&short) + 3 > AUTHOR_WIDTH {
            break;
        }
        short.push(character);
    }
    short + "…"
}

/// Decodes the encoded words (RFC 2047) of a Subject and sanitises the result.
fn decode_subject(value: &[u8]) -> String {
    if !value.windows(2).any(|pair| pair == b"=?") {
        return sanitise(value);
    }
    header_text::subject(value).map_or_else(|| sanitise(value), |text| sanitise(text.as_bytes()))
}

/// Returns the line of a group (LIST ACTIVE) or an article (OVER), made of the parsed values: leading zeros of numbers are
/// lost. Returns `None` for other entries.
pub(super) fn raw(entry: &Entry) -> Option<Vec<u8>> {
    let line = match &entry.details {
        Details::Article(details) => format_overview_line(details),
        Details::Newsgroup(details) => {
            let numbers = format!(" {} {} ", details.high, details.low);
            [&entry.name, numbers.as_bytes(), &details.posting].concat()
        }
        _ => return None,
    };
    Some([&line[..], b"\r\n"].concat())
}

/// Adds the details of a group or an article to the JSON object of its entry. Header fields are not decoded.
pub(super) fn add_json(details: &Details, object: &mut Map<String, Value>) {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    match details {
        Details::Newsgroup(details) => {
            add("low", json!(details.low));
            add("high", json!(details.high));
            add("posting", json!(lossy(&details.posting)));
        }
        Details::Article(details) => {
            add("number", json!(details.number));
            add("subject", json!(lossy(&details.subject)));
            add("from", json!(lossy(&details.from)));
            add("date", json!(lossy(&details.date)));
            add("message_id", json!(lossy(&details.message_id)));
            add("references", json!(lossy(&details.references)));
            add("bytes", json!(details.bytes));
            add("lines", json!(details.lines));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::wrap::DEFAULT_WIDTH as WIDTH;
    use fetch_url_proto::nntp::{parse_active_line, parse_overview_line};

    use super::*;

    fn shown(line: &[u8]) -> String {
        parse_overview_line(line)
            .or_else(|| parse_active_line(line))
            .and_then(|entry| text(&entry, Some(WIDTH)))
            .unwrap_or_default()
    }

    #[test]
    fn groups_are_one_line_each() {
        assert_eq!(shown(b"misc.test 0000003002 0000003000 y"), "         3  posting     misc.test\n");
        assert_eq!(shown(b"a.b 4 5 m"), "         0  moderated   a.b\n");
        assert_eq!(shown(b"a.c 4 1 =a.b"), "         4  =a.b        a.c\n");
    }

    #[test]
    fn articles_show_number_date_author_and_subject() {
        let line = b"7\tOne\tAlice <a@b>\t1 Dec 1994 12:34:56 +0000\t<1@b>\t\t100\t1";
        assert_eq!(shown(line), "       7  1994-12-01 12:34  Alice                 One\n");
        let old = b"7\tOne\ta@b (Alice)\t\t<1@b>\t\t100\t1";
        assert_eq!(shown(old), "       7  -                 Alice                 One\n");
        let bare = b"7\t\t\t\t\t\t\t";
        assert_eq!(shown(bare), "       7  -\n");
    }

    #[test]
    fn encoded_words_are_decoded_and_sanitised() {
        let line = b"7\t=?ISO-8859-1?Q?caf=E9?= =?utf-8?B?4oKs?=\t=?utf-8?Q?Zo=C3=AB?= <z@b>\t\t<1@b>";
        assert_eq!(shown(line), "       7  -                 Zo\u{eb}                   caf\u{e9}\u{20ac}\n");
        let hostile = b"7\t=?utf-8?Q?a=1B[2J=0Ab=E2=80=AE?=\t=?utf-8?Q?=1B[2J?= <z@b>\t\t<1@b>";
        let text = shown(hostile);
        assert!(text.trim_end().chars().all(|character| !character.is_control()), "{text}");
        assert!(!text.contains('\u{202e}'), "{text}");
    }

    #[test]
    fn lines_have_at_most_80_columns() {
        let subject = "word ".repeat(40);
        let line = format!("7\t{subject}\t{} <a@b>\t\t<1@b>", "name".repeat(20));
        let text = shown(line.as_bytes());
        assert!(text.lines().all(|line| display_width(line) <= WIDTH), "{text}");
        assert_eq!(text.matches("word").count(), 40, "{text}");
        assert!(
            shown("7\ts\t漢字漢字漢字漢字漢字漢字漢字漢字 <a@b>\t\t".as_bytes())
                .lines()
                .all(|line| display_width(line) <= WIDTH)
        );
    }
}
