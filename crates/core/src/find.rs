//! Finds URLs in prose (RFC 1738 appendix): wrapped ones, `<URL:…>`, which may contain line breaks, and bare ones.

use std::borrow::Cow;
use std::ops::Range;

use crate::percent_encoding::sets;
use crate::{MAX_LENGTH, ParseError, Parsed, find_scheme, parse};

/// The maximum length of a wrapped URL in bytes, including the white space in it.
const MAX_WRAPPED: usize = MAX_LENGTH;

/// A URL in prose, found by [`find_urls`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundUrl<'a> {
    text: Cow<'a, str>,
    span: Range<usize>,
    alternative: Option<String>,
}

impl FoundUrl<'_> {
    /// Returns the text of the URL, without wrapper, label and the white space inside it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the byte range of the URL within the prose, including the wrapper.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the URL without the hyphens at line ends, if a line of a wrapped URL ends in a hyphen. Such a hyphen may
    /// belong to the URL or may mark the line break: [`FoundUrl::text`] keeps it, this text does not.
    pub fn alternative(&self) -> Option<&str> {
        self.alternative.as_deref()
    }

    /// Parses the text by the lenient dialect.
    ///
    /// # Errors
    /// In practice it does not fail: [`find_urls`] returns only text that parses.
    pub fn parse(&self) -> Result<Parsed<'_>, ParseError> {
        parse(&self.text)
    }
}

/// Finds the URLs in `prose` and returns them in text order.
///
/// A URL is found if it is wrapped in `<URL:…>` or `<scheme:…>` (white space inside is dropped), or bare, as
/// `scheme://…`, `mailto:…` or `news:…` (punctuation at its end is left out). Text that does not parse is skipped.
///
/// ```
/// let text = "see <URL:ftp://ds.in\n  ternic.net/rfc>, and (http://example.com/a_(b)).";
/// let urls: Vec<_> = fetch_url_core::find_urls(text).map(|found| found.text().to_owned()).collect();
/// assert_eq!(urls, ["ftp://ds.internic.net/rfc", "http://example.com/a_(b)"]);
/// ```
pub fn find_urls(prose: &str) -> impl Iterator<Item = FoundUrl<'_>> {
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

/// Returns the URL that contains the `<` or `:` at `mark`, if there is one and it does not start before `from`.
fn found_at(prose: &str, from: usize, mark: usize) -> Option<FoundUrl<'_>> {
    if prose.as_bytes()[mark] == b'<' { find_wrapped(prose, mark) } else { find_bare(prose, from, mark) }
}

/// Returns the URL in `<URL:…>` or `<scheme:…>` whose `<` is at `open`.
fn find_wrapped(prose: &str, open: usize) -> Option<FoundUrl<'_>> {
    let inside = &prose[open + 1..];
    let label = inside.get(..4).is_some_and(|label| label.eq_ignore_ascii_case("url:"));
    let start = if label { 4 } else { 0 };
    let close = inside.bytes().take(MAX_WRAPPED).position(|byte| byte == b'>' || byte == b'<')?;
    if inside.as_bytes()[close] == b'<' || close < start {
        return None;
    }
    let raw = &inside[start..close];
    let text = without_white_space(raw);
    let is_url = parse(&text).is_ok_and(|parsed| label || find_scheme(parsed.url.scheme_name()).is_some());
    let span = open..open + 1 + close + 1;
    is_url.then(|| FoundUrl { alternative: without_broken_hyphen(raw), text, span })
}

/// Returns the text without white space.
fn without_white_space(raw: &str) -> Cow<'_, str> {
    let is_white = |character: char| matches!(character, ' ' | '\t' | '\r' | '\n');
    if raw.contains(is_white) { Cow::Owned(raw.split(is_white).collect()) } else { Cow::Borrowed(raw) }
}

/// Returns the text without the hyphens at line ends; `None` if no line ends in a hyphen.
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

/// Returns the URL around the colon at `colon`: `scheme://…`, or `scheme:…` for mailto and news.
fn find_bare(prose: &str, from: usize, colon: usize) -> Option<FoundUrl<'_>> {
    let bytes = prose.as_bytes();
    let mut start = colon;
    while start > from && sets::SCHEME.contains(bytes[start - 1]) {
        start -= 1;
    }
    let name = prose[start..colon].trim_start_matches(|character: char| !character.is_ascii_alphabetic());
    let start = colon - name.len();
    if name.is_empty() || !begins_url(name, &prose[colon + 1..]) {
        return None;
    }
    let end = colon + 1 + bare_length(&prose[colon + 1..]);
    let end = start + trim_punctuation(&prose[start..end]).len();
    let text = prose.get(start..end).filter(|text| text.len() > name.len() + 1)?;
    parse(text).is_ok().then_some(FoundUrl { text: Cow::Borrowed(text), span: start..end, alternative: None })
}

/// Returns `true` if `rest`, the text after `name` and the colon, can continue a bare URL.
fn begins_url(name: &str, rest: &str) -> bool {
    let has_no_host = ["mailto", "news", "snews"].iter().any(|known| name.eq_ignore_ascii_case(known));
    rest.starts_with("//")
        || (has_no_host && rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '*'))
}

/// Returns the length of the text before white space, a control character, a quote, a backslash or an angle bracket.
fn bare_length(rest: &str) -> usize {
    let is_end = |character: char| {
        character.is_whitespace() || character.is_control() || "<>\"\\`".contains(character)
    };
    rest.find(is_end).unwrap_or(rest.len())
}

/// Returns the text without punctuation at its end. A closing bracket is kept if its opening bracket is in the text.
fn trim_punctuation(text: &str) -> &str {
    let mut kept = text;
    while let Some(last) = kept.chars().next_back() {
        let is_punctuation = match last {
            '.' | ',' | ':' | ';' | '!' | '?' | '\'' | '"' => true,
            ')' => is_unbalanced(kept, '(', ')'),
            ']' => is_unbalanced(kept, '[', ']'),
            '}' => is_unbalanced(kept, '{', '}'),
            _ => false,
        };
        if !is_punctuation {
            break;
        }
        kept = &kept[..kept.len() - last.len_utf8()];
    }
    kept
}

/// Returns `true` if `close` occurs more often than `open`.
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
    fn wrapped_urls_of_the_appendix_are_found_across_line_breaks() {
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
    fn hyphen_at_line_end_gives_an_alternative() {
        let found = find_urls("<URL:ftp://ds.in-\n  ternic.net/rfc>").next().expect("one URL");
        assert_eq!(found.text(), "ftp://ds.in-ternic.net/rfc");
        assert_eq!(found.alternative(), Some("ftp://ds.internic.net/rfc"));
    }

    #[test]
    fn punctuation_after_a_url_is_left_out() {
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
    fn text_without_a_url_gives_none() {
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
