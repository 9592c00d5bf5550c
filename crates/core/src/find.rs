//! Finds URLs in prose (RFC 1738 appendix): wrapped ones, `<URL:…>`, which may contain line breaks, and bare ones.

use std::borrow::Cow;
use std::ops::Range;

use crate::percent_encoding::sets;
use crate::{MAX_LENGTH, ParseError, Parsed, find_scheme, parse};

/// The maximum length of a wrapped URL in bytes, including the white space in it.
const MAX_WRAPPED: usize = MAX_LENGTH;

/// The maximum number of candidates in a word, that is, of positions at which a URL could start. The rest of the word
/// is skipped.
const MAX_CANDIDATES: usize = 16;

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
/// `scheme://…`, `mailto:…` or `news:…` (punctuation at its end is left out). Text that does not parse is skipped, after 16 attempts the rest of the word. The
/// time grows linearly with the text.
///
/// ```
/// let text = "see <URL:ftp://ds.in\n  ternic.net/rfc>, and (http://example.com/a_(b)).";
/// let urls: Vec<_> = fetch_url_core::find_urls(text).map(|found| found.text().to_owned()).collect();
/// assert_eq!(urls, ["ftp://ds.internic.net/rfc", "http://example.com/a_(b)"]);
/// ```
pub fn find_urls(prose: &str) -> impl Iterator<Item = FoundUrl<'_>> {
    let mut finder = Finder::new(prose);
    std::iter::from_fn(move || finder.next_url())
}

/// A search through a text. It looks at each byte a bounded number of times.
struct Finder<'a> {
    prose: &'a str,
    /// Where the search continues.
    at: usize,
    word: Word,
    #[cfg(test)]
    work: Work,
}

/// The word around a colon: the characters that a bare URL may contain.
#[derive(Default)]
struct Word {
    end: usize,
    /// The end of the word without trailing punctuation and brackets.
    core_end: usize,
    /// Number of positions in the word at which a URL seemed to start.
    candidates: usize,
}

impl<'a> Finder<'a> {
    fn new(prose: &'a str) -> Self {
        Self {
            prose,
            at: 0,
            word: Word::default(),
            #[cfg(test)]
            work: Work::default(),
        }
    }

    /// Returns the next URL, or `None` at the end of the text.
    fn next_url(&mut self) -> Option<FoundUrl<'a>> {
        while self.at < self.prose.len() {
            let mark = self.prose[self.at..].find(['<', ':']).map(|offset| self.at + offset);
            self.count_work(mark.unwrap_or(self.prose.len()) - self.at);
            let mark = mark?;
            let found = match self.prose.as_bytes()[mark] {
                b'<' => self.find_wrapped(mark),
                _ => self.find_bare(mark),
            };
            self.at = found.as_ref().map_or(mark + 1, |found| found.span.end);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Returns the URL in `<URL:…>` or `<scheme:…>` whose `<` is at `open`.
    fn find_wrapped(&mut self, open: usize) -> Option<FoundUrl<'a>> {
        let inside = &self.prose[open + 1..];
        let label = inside.get(..4).is_some_and(|label| label.eq_ignore_ascii_case("url:"));
        let start = if label { 4 } else { 0 };
        let close = inside.bytes().take(MAX_WRAPPED).position(|byte| byte == b'>' || byte == b'<');
        self.count_work(close.unwrap_or(inside.len().min(MAX_WRAPPED)));
        let close = close?;
        if inside.as_bytes()[close] == b'<' || close < start {
            return None;
        }
        let raw = &inside[start..close];
        let text = without_white_space(raw);
        let is_url =
            parse(&text).is_ok_and(|parsed| label || find_scheme(parsed.url.scheme_name()).is_some());
        let span = open..open + 1 + close + 1;
        is_url.then(|| FoundUrl { alternative: without_broken_hyphen(raw), text, span })
    }

    /// Returns the URL around the colon at `colon`: `scheme://…`, or `scheme:…` for mailto and news.
    fn find_bare(&mut self, colon: usize) -> Option<FoundUrl<'a>> {
        let prose = self.prose;
        let bytes = prose.as_bytes();
        let mut start = colon;
        while start > self.at && sets::SCHEME.contains(bytes[start - 1]) {
            start -= 1;
        }
        self.count_work(colon - start);
        let name = prose[start..colon].trim_start_matches(|character: char| !character.is_ascii_alphabetic());
        let start = colon - name.len();
        if name.is_empty() || !begins_url(name, &prose[colon + 1..]) {
            return None;
        }
        self.read_word(colon);
        // A longer URL does not parse. The check is cheap: such a text may have many candidates.
        if self.word.core_end.saturating_sub(start) > MAX_LENGTH || self.word.candidates >= MAX_CANDIDATES {
            return None;
        }
        self.word.candidates += 1;
        self.count_work(self.word.end - start);
        let end = start + trim_punctuation(&prose[start..self.word.end]).len();
        let text = prose.get(start..end).filter(|text| text.len() > name.len() + 1)?;
        self.count_work(text.len());
        parse(text).is_ok().then_some(FoundUrl {
            text: Cow::Borrowed(text),
            span: start..end,
            alternative: None,
        })
    }

    /// Finds the end of the word that contains the colon at `colon`, unless it is known already.
    fn read_word(&mut self, colon: usize) {
        if colon < self.word.end {
            return;
        }
        let rest = &self.prose[colon + 1..];
        let length = bare_length(rest);
        let core = rest[..length].trim_end_matches(['.', ',', ':', ';', '!', '?', '\'', '"', ')', ']', '}']);
        self.count_work(length);
        self.word = Word { end: colon + 1 + length, core_end: colon + 1 + core.len(), candidates: 0 };
    }

    /// Counts the bytes that the search looked at.
    #[cfg(test)]
    fn count_work(&mut self, bytes: usize) {
        self.work.bytes += bytes;
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, clippy::missing_const_for_fn, reason = "counts in tests only")]
    fn count_work(&mut self, _: usize) {}
}

/// The number of bytes that a search looked at, repetitions included.
#[cfg(test)]
#[derive(Default)]
struct Work {
    bytes: usize,
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
    let count = |bracket| text.matches(bracket).count();
    // For each closing bracket, the number of times it occurs without its opening bracket.
    let mut unopened = [('(', ')'), ('[', ']'), ('{', '}')]
        .map(|(open, close)| (close, count(close).saturating_sub(count(open))));
    let mut kept = text;
    while let Some(last) = kept.chars().next_back() {
        let is_punctuation = match unopened.iter_mut().find(|(close, _)| *close == last) {
            Some((_, excess)) => {
                let is_unopened = *excess > 0;
                *excess = excess.saturating_sub(1);
                is_unopened
            }
            None => matches!(last, '.' | ',' | ':' | ';' | '!' | '?' | '\'' | '"'),
        };
        if !is_punctuation {
            break;
        }
        kept = &kept[..kept.len() - last.len_utf8()];
    }
    kept
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

    /// Returns the number of bytes that the search through `unit`, repeated `count` times, looked at.
    fn work(start: &str, unit: &str, count: usize) -> usize {
        let prose = format!("{start}{}", unit.repeat(count));
        let mut finder = Finder::new(&prose);
        while finder.next_url().is_some() {}
        finder.work.bytes
    }

    #[test]
    fn work_grows_linearly_with_the_text() {
        for (start, unit) in [
            ("", "a://"),
            ("", "http://h/ "),
            ("http://h/", ")"),
            ("", "http://h/)"),
            ("", "://"),
            ("", "a:"),
            ("", "mailto:a:"),
            ("", "<"),
            ("", "<a:"),
            ("", "<URL:"),
            ("", "http://["),
            ("(", "http://h:x/)"),
            ("", "a://b c://"),
            ("x", "é://"),
        ] {
            let (once, twice) = (work(start, unit, 8_000), work(start, unit, 16_000));
            let length = start.len() + 8_000 * unit.len();
            assert!(twice <= 2 * once + 4 * MAX_LENGTH, "{start}{unit}: {once} {twice}");
            assert!(once <= 3 * (MAX_CANDIDATES + 2) * length, "{start}{unit}: {once} of {length}");
        }
    }

    /// The URLs before `http://h/` do not parse: `x` is not a port.
    #[test]
    fn url_after_many_invalid_ones_in_a_word_is_skipped() {
        let prose = |invalid: usize| format!("{}http://h/ http://end/", "http://h:x/,".repeat(invalid));
        assert_eq!(texts(&prose(MAX_CANDIDATES - 1)), ["http://h/", "http://end/"]);
        assert_eq!(texts(&prose(MAX_CANDIDATES)), ["http://end/"]);
    }

    #[test]
    fn url_at_the_end_of_a_word_longer_than_the_limit_is_found() {
        let too_long = "http://".repeat(MAX_CANDIDATES) + &"x".repeat(MAX_LENGTH);
        assert_eq!(texts(&format!("{too_long}=http://h/).")), ["http://h/"]);
    }
}
