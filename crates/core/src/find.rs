//! URLs in prose (RFC 1738 appendix): `<URL:…>`, which may be broken over lines, and bare ones.

use std::borrow::Cow;
use std::ops::Range;

use crate::escape::sets;
use crate::scheme_table;
use crate::{ParseError, Parsed, parse};

/// The longest wrapped text that is looked at, white space included.
const MAX_WRAPPED: usize = crate::MAX_LENGTH;

/// A URL found in prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<'a> {
    text: Cow<'a, str>,
    span: Range<usize>,
    alternative: Option<String>,
}

impl Found<'_> {
    /// The URL, without wrapper, label and the white space inside it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it stands in the prose, wrapper included.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The other reading, when a line ended in a hyphen: the hyphen may have been put there by
    /// whoever broke the line. [`Found::text`] keeps it, this one does not.
    pub fn alternative(&self) -> Option<&str> {
        self.alternative.as_deref()
    }

    /// The URL, parsed.
    ///
    /// # Errors
    /// A bare `scheme://…` was found but is no URL.
    pub fn parse(&self) -> Result<Parsed<'_>, ParseError> {
        parse(&self.text)
    }
}

/// Finds the URLs in `prose`, in order: what stands in `<URL:…>` or `<scheme:…>`, with the white
/// space inside dropped, and bare `scheme://…` with the punctuation of the sentence left out.
///
/// ```
/// let text = "see <URL:ftp://ds.in\n  ternic.net/rfc>, and (http://example.com/a_(b)).";
/// let urls: Vec<_> = fetch_url_core::find_urls(text).map(|found| found.text().to_owned()).collect();
/// assert_eq!(urls, ["ftp://ds.internic.net/rfc", "http://example.com/a_(b)"]);
/// ```
pub fn find_urls(prose: &str) -> impl Iterator<Item = Found<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < prose.len() {
            let step = prose[at..].find(['<', ':']).map(|offset| at + offset)?;
            if let Some(found) = found_at(prose, at, step) {
                at = found.span.end;
                return Some(found);
            }
            at = step + 1;
        }
        None
    })
}

/// The URL that the `<` or `:` at `mark` belongs to, if it does; nothing before `from` counts.
fn found_at(prose: &str, from: usize, mark: usize) -> Option<Found<'_>> {
    if prose.as_bytes()[mark] == b'<' { wrapped(prose, mark) } else { bare(prose, from, mark) }
}

/// `<URL:…>` or `<scheme:…>`.
fn wrapped(prose: &str, open: usize) -> Option<Found<'_>> {
    let inside = &prose[open + 1..];
    let label = inside.get(..4).is_some_and(|label| label.eq_ignore_ascii_case("url:"));
    let start = if label { 4 } else { 0 };
    let close = inside.bytes().take(MAX_WRAPPED).position(|octet| octet == b'>' || octet == b'<')?;
    if inside.as_bytes()[close] == b'<' || close < start {
        return None;
    }
    let raw = &inside[start..close];
    let text = without_white_space(raw);
    let is_url = parse(&text).is_ok_and(|parsed| label || is_ours(parsed.url.scheme_name()));
    let span = open..open + 1 + close + 1;
    is_url.then(|| Found { alternative: without_broken_hyphen(raw), text, span })
}

fn is_ours(name: &str) -> bool {
    scheme_table::scheme(name).is_some()
}

fn without_white_space(raw: &str) -> Cow<'_, str> {
    let is_white = |character: char| matches!(character, ' ' | '\t' | '\r' | '\n');
    if raw.contains(is_white) { Cow::Owned(raw.split(is_white).collect()) } else { Cow::Borrowed(raw) }
}

/// The reading in which each hyphen at the end of a line was the typesetter's.
fn without_broken_hyphen(raw: &str) -> Option<String> {
    let lines: Vec<&str> = raw.lines().map(str::trim).collect();
    let (last, broken) = lines.split_last()?;
    if !broken.iter().any(|line| line.ends_with('-')) {
        return None;
    }
    let joined: String =
        broken.iter().map(|line| line.strip_suffix('-').unwrap_or(line)).chain([*last]).collect();
    Some(without_white_space(&joined).into_owned())
}

/// `scheme://…`, or `scheme:…` of a scheme of ours that has no host, around the colon at `colon`.
fn bare(prose: &str, from: usize, colon: usize) -> Option<Found<'_>> {
    let octets = prose.as_bytes();
    let mut start = colon;
    while start > from && sets::SCHEME.contains(octets[start - 1]) {
        start -= 1;
    }
    let name = prose[start..colon].trim_start_matches(|character: char| !character.is_ascii_alphabetic());
    let start = colon - name.len();
    if name.is_empty() || !begins_url(name, &prose[colon + 1..]) {
        return None;
    }
    let end = colon + 1 + bare_length(&prose[colon + 1..]);
    let end = start + trimmed(&prose[start..end]).len();
    let text = prose.get(start..end).filter(|text| text.len() > name.len() + 1)?;
    parse(text).is_ok().then_some(Found { text: Cow::Borrowed(text), span: start..end, alternative: None })
}

fn begins_url(name: &str, rest: &str) -> bool {
    let has_no_host = ["mailto", "news", "snews"].iter().any(|known| name.eq_ignore_ascii_case(known));
    rest.starts_with("//")
        || (has_no_host && rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '*'))
}

/// How far a bare URL may reach: to white space, a control character, a quote or an angle bracket.
fn bare_length(rest: &str) -> usize {
    let ends = |character: char| {
        character.is_whitespace() || character.is_control() || "<>\"\\`".contains(character)
    };
    rest.find(ends).unwrap_or(rest.len())
}

/// Without the sentence's punctuation; a closing bracket stays when its opening one is inside.
fn trimmed(text: &str) -> &str {
    let mut kept = text;
    while let Some(last) = kept.chars().next_back() {
        let is_spare = match last {
            '.' | ',' | ':' | ';' | '!' | '?' | '\'' | '"' => true,
            ')' => is_unbalanced(kept, '(', ')'),
            ']' => is_unbalanced(kept, '[', ']'),
            '}' => is_unbalanced(kept, '{', '}'),
            _ => false,
        };
        if !is_spare {
            break;
        }
        kept = &kept[..kept.len() - last.len_utf8()];
    }
    kept
}

fn is_unbalanced(text: &str, open: char, close: char) -> bool {
    text.matches(close).count() > text.matches(open).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(prose: &str) -> Vec<String> {
        find_urls(prose).map(|found| found.text().to_owned()).collect()
    }

    #[test]
    fn the_appendix_gives_its_three_urls() {
        let prose = "Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;\n   type=d> but you \
                     can probably pick it up from <URL:ftp://ds.in\n   ternic.net/rfc>.  Note the warning in \
                     <URL:http://ds.internic.\n   net/instructions/overview.html#WARNING>.";
        let expected = [
            "ftp://info.cern.ch/pub/www/doc;type=d",
            "ftp://ds.internic.net/rfc",
            "http://ds.internic.net/instructions/overview.html#WARNING",
        ];
        assert_eq!(texts(prose), expected);
    }

    #[test]
    fn a_hyphen_at_a_line_end_has_two_readings() {
        let found = find_urls("<URL:ftp://ds.in-\n  ternic.net/rfc>").next().expect("one URL");
        assert_eq!(found.text(), "ftp://ds.in-ternic.net/rfc");
        assert_eq!(found.alternative(), Some("ftp://ds.internic.net/rfc"));
    }

    #[test]
    fn punctuation_of_the_sentence_stays_out() {
        for (prose, url) in [
            ("go to http://h/a.", "http://h/a"),
            ("(http://h/a)", "http://h/a"),
            ("(http://h/a_(b))", "http://h/a_(b)"),
            ("\"http://h/a\",", "http://h/a"),
            ("http://h/a?!", "http://h/a"),
            ("x=http://h/", "http://h/"),
            ("mailto:a@b.c, please", "mailto:a@b.c"),
            ("news:comp.lang.c.", "news:comp.lang.c"),
            ("see <http://h/>", "http://h/"),
            ("[http://[::1]/]", "http://[::1]/"),
        ] {
            assert_eq!(texts(prose), [url], "{prose}");
        }
    }

    #[test]
    fn prose_is_not_taken_for_urls() {
        for prose in [
            "note: this",
            "a < b: c > d",
            "http: //h",
            "std::vec",
            "12:30",
            "<b>bold</b>",
            "news: none",
            "://h/",
        ] {
            assert_eq!(texts(prose), Vec::<String>::new(), "{prose}");
        }
    }
}
