//! Newsgroups and articles: for people in 80 columns, for programs as JSON.

use fetch_url::proto::nntp::{ArticleFacts, GroupFacts, overview_line};
use fetch_url::proto::text::printable;
use fetch_url::proto::{Details, Entry};
use mail_parser::MessageParser;
use serde_json::{Map, Value, json};
use textwrap::Options;
use textwrap::core::display_width;

use super::listing::date;

/// A line is no longer than this.
const WIDTH: usize = 80;
/// How wide the name of an author is.
const AUTHOR: usize = 20;

/// The lines for a group or an article; none for others.
pub(super) fn text(entry: &Entry) -> Option<String> {
    match &entry.details {
        Details::Newsgroup(facts) => Some(group(&entry.name, facts)),
        Details::Article(facts) => Some(article(entry, facts)),
        _ => None,
    }
}

/// How many articles there may be, how one may post, and the name: names last, since they can be of any length.
fn group(name: &[u8], facts: &GroupFacts) -> String {
    // The numbers of articles begin with 1.
    let most = facts.high.saturating_add(1).saturating_sub(facts.low.max(1));
    let posting = match facts.posting.as_slice() {
        b"y" => "posting".to_owned(),
        b"m" => "moderated".to_owned(),
        b"n" | b"x" | b"j" => "no posting".to_owned(),
        other => printable(other),
    };
    format!("{most:>10}  {posting:<10}  {}\n", printable(name))
}

/// Number, date, author and subject.
fn article(entry: &Entry, facts: &ArticleFacts) -> String {
    let when = entry.modified.map_or_else(|| "-".to_owned(), date);
    let author = author(&facts.from);
    let space = " ".repeat(AUTHOR.saturating_sub(display_width(&author)));
    let first = format!("{:>8}  {when:<16}  {author}{space}  ", facts.number);
    let indent = " ".repeat(50);
    let options = Options::new(WIDTH).initial_indent(&first).subsequent_indent(&indent);
    let subject = decoded("Subject", &facts.subject);
    format!("{}\n", textwrap::wrap(&subject, options).join("\n").trim_end())
}

/// Who wrote it: by name, where there is one; no wider than its column.
fn author(from: &[u8]) -> String {
    let header = [b"From: ", from, b"\r\n\r\n"].concat();
    let message = MessageParser::default().parse_headers(&header);
    let address = message.as_ref().and_then(|message| message.from()?.first());
    let name = address.and_then(|address| address.name().or_else(|| address.address()));
    let whole = match name {
        Some(name) if from.is_ascii() => printable(name.as_bytes()),
        _ => printable(from),
    };
    if display_width(&whole) <= AUTHOR {
        return whole;
    }
    let mut short = String::new();
    for character in whole.chars() {
        if display_width(&short) + 3 > AUTHOR {
            break;
        }
        short.push(character);
    }
    short + "…"
}

/// A field for people: encoded words (RFC 2047) are read, and nothing in it moves the cursor.
fn decoded(name: &str, value: &[u8]) -> String {
    if !value.windows(2).any(|pair| pair == b"=?") {
        return printable(value);
    }
    let header = [name.as_bytes(), b": ", value, b"\r\n\r\n"].concat();
    let message = MessageParser::default().parse_headers(&header);
    let text = message.as_ref().and_then(|message| message.subject());
    printable(text.map_or(value, str::as_bytes))
}

/// As a server lists it.
pub(super) fn raw(entry: &Entry) -> Option<Vec<u8>> {
    let line = match &entry.details {
        Details::Article(facts) => overview_line(facts),
        Details::Newsgroup(facts) => {
            let numbers = format!(" {} {} ", facts.high, facts.low);
            [&entry.name, numbers.as_bytes(), &facts.posting].concat()
        }
        _ => return None,
    };
    Some([&line[..], b"\r\n"].concat())
}

/// What only news tells of an entry, put into its JSON object. The fields of a header are as they came.
pub(super) fn add_json(details: &Details, object: &mut Map<String, Value>) {
    let lossy = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    match details {
        Details::Newsgroup(facts) => {
            add("low", json!(facts.low));
            add("high", json!(facts.high));
            add("posting", json!(lossy(&facts.posting)));
        }
        Details::Article(facts) => {
            add("number", json!(facts.number));
            add("subject", json!(lossy(&facts.subject)));
            add("from", json!(lossy(&facts.from)));
            add("date", json!(lossy(&facts.date)));
            add("message_id", json!(lossy(&facts.message_id)));
            add("references", json!(lossy(&facts.references)));
            add("bytes", json!(facts.octets));
            add("lines", json!(facts.lines));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use fetch_url::proto::nntp::{active_entry, overview_entry};

    use super::*;

    fn shown(line: &[u8]) -> String {
        overview_entry(line).or_else(|| active_entry(line)).and_then(|entry| text(&entry)).unwrap_or_default()
    }

    #[test]
    fn groups() {
        assert_eq!(shown(b"misc.test 0000003002 0000003000 y"), "         3  posting     misc.test\n");
        assert_eq!(shown(b"a.b 4 5 m"), "         0  moderated   a.b\n");
        assert_eq!(shown(b"a.c 4 1 =a.b"), "         4  =a.b        a.c\n");
    }

    #[test]
    fn articles() {
        let line = b"7\tOne\tAlice <a@b>\t1 Dec 1994 12:34:56 +0000\t<1@b>\t\t100\t1";
        assert_eq!(shown(line), "       7  1994-12-01 12:34  Alice                 One\n");
        let old = b"7\tOne\ta@b (Alice)\t\t<1@b>\t\t100\t1";
        assert_eq!(shown(old), "       7  -                 Alice                 One\n");
        let bare = b"7\t\t\t\t\t\t\t";
        assert_eq!(shown(bare), "       7  -\n");
    }

    #[test]
    fn encoded_words_are_read() {
        let line = b"7\t=?ISO-8859-1?Q?caf=E9?= =?utf-8?B?4oKs?=\t=?utf-8?Q?Zo=C3=AB?= <z@b>\t\t<1@b>";
        assert_eq!(shown(line), "       7  -                 Zo\u{eb}                   caf\u{e9}\u{20ac}\n");
        let hostile = b"7\t=?utf-8?Q?a=1B[2J=0Ab=E2=80=AE?=\t=?utf-8?Q?=1B[2J?= <z@b>\t\t<1@b>";
        let text = shown(hostile);
        assert!(text.trim_end().chars().all(|character| !character.is_control()), "{text}");
        assert!(!text.contains('\u{202e}'), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
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
