//! Parses text to a [`Url`]: wrapper, label and scheme here, the rest in the module of the scheme.

use std::ops::Range;
use std::str::FromStr;

use crate::percent_encoding::sets;
use crate::reader::Reader;
use crate::scheme_table::{self, Scheme, SchemeFamily};
use crate::schemes::{
    FileUrl, FtpUrl, GopherUrl, HttpUrl, MailtoUrl, NewsUrl, NntpUrl, OtherUrl, ProsperoUrl, TelnetUrl,
    WaisUrl,
};
use crate::{Dialect, Note, NoteKind, ParseError, ParseErrorKind as Kind, Parsed, Url};

/// The maximum length of a URL, in bytes: 65536. Longer text is rejected with [`ParseErrorKind::TooLong`](crate::ParseErrorKind::TooLong).
pub const MAX_LENGTH: usize = 64 * 1024;

/// Parses a URL by the lenient dialect: the grammar of RFC 1738 and common deviations from it, reported as notes.
///
/// The text may be wrapped as in `<URL:…>` (RFC 1738 appendix), and a fragment is split off. The result borrows from
/// `text`; a URL without deviations is parsed without allocation.
///
/// # Errors
/// Returns the first fault and its place, for example
/// [`ParseErrorKind::MissingScheme`](crate::ParseErrorKind::MissingScheme). A space or a control character is an error
/// everywhere, a backslash everywhere except in a fragment.
///
/// ```
/// let parsed = fetch_url_core::parse("HTTP://h/~me#top")?;
/// let notes: Vec<_> = parsed.notes.iter().map(|note| note.kind().code()).collect();
/// assert_eq!(parsed.url.to_string(), "http://h/~me");
/// assert_eq!(parsed.fragment, Some("top"));
/// assert_eq!(notes, ["scheme_case", "tolerated", "fragment"]);
/// # Ok::<(), fetch_url_core::ParseError>(())
/// ```
#[inline(always)]
pub fn parse(text: &str) -> Result<Parsed<'_>, ParseError> {
    parse_with(text, Dialect::Lenient)
}

/// Parses a URL by the grammar of `dialect`.
///
/// # Errors
/// Returns the first fault and its place. [`Dialect::Rfc1738`] and [`Dialect::Cern1993`] reject every deviation from
/// their grammar, fragments included.
#[inline(always)]
pub fn parse_with(text: &str, dialect: Dialect) -> Result<Parsed<'_>, ParseError> {
    parse_up_to(text, text.len(), dialect)
}

impl FromStr for Url<'static> {
    type Err = ParseError;

    /// Parses a URL by the lenient dialect. Notes and fragment are dropped; [`parse`] returns them.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text).map(|parsed| parsed.url.into_owned())
    }
}

impl<'a> TryFrom<&'a str> for Url<'a> {
    type Error = ParseError;

    /// Parses a URL by the lenient dialect, borrowing from `text`. Notes and fragment are dropped; [`parse`] returns
    /// them.
    fn try_from(text: &'a str) -> Result<Self, ParseError> {
        parse(text).map(|parsed| parsed.url)
    }
}

/// Parses `text` up to the byte `end`, which excludes a fragment. The closing bracket of a wrapper is excluded, too.
///
/// The result is built in place. If the caller matched on it to handle errors, it would be copied, and parsing would be
/// 10 % slower. Therefore [`recover`] is called here and not by the caller.
#[inline(never)]
fn parse_up_to(text: &str, end: usize, dialect: Dialect) -> Result<Parsed<'_>, ParseError> {
    if text.len() > MAX_LENGTH {
        return Err(ParseError::new(Kind::TooLong, MAX_LENGTH..text.len()));
    }
    let mut reader = Reader::new(text, dialect);
    reader.set_end(end);
    let (scheme, name) = match read_scheme(&mut reader) {
        Ok(scheme_and_name) => scheme_and_name,
        Err(error) => return recover(text, end, dialect, error),
    };
    let reader = &mut reader;
    macro_rules! parse {
        ($variant:ident, $type:ident, $($argument:expr),*) => {
            // The scheme module calls the closure instead of returning its URL, so the URL is built in the result, too.
            match $type::parse($($argument),*, |url, notes| Parsed {
                url: Url::$variant(url),
                notes,
                fragment: None,
            }) {
                Ok(parsed) => Ok(parsed),
                Err(error) => recover(text, end, dialect, error),
            }
        };
    }
    match scheme.family {
        SchemeFamily::File => parse!(File, FileUrl, reader),
        SchemeFamily::Ftp => parse!(Ftp, FtpUrl, reader, scheme),
        SchemeFamily::Gopher => parse!(Gopher, GopherUrl, reader, scheme),
        SchemeFamily::Http => parse!(Http, HttpUrl, reader, scheme),
        SchemeFamily::Mailto => parse!(Mailto, MailtoUrl, reader),
        SchemeFamily::News => parse!(News, NewsUrl, reader, scheme),
        SchemeFamily::Nntp => parse!(Nntp, NntpUrl, reader, scheme),
        SchemeFamily::Prospero => parse!(Prospero, ProsperoUrl, reader),
        SchemeFamily::Telnet => parse!(Telnet, TelnetUrl, reader),
        SchemeFamily::Wais => parse!(Wais, WaisUrl, reader),
        SchemeFamily::Other => parse!(Other, OtherUrl, reader, name, scheme),
    }
}

/// Handles an error of [`parse_up_to`]: reports a control character before any other fault and, in the lenient dialect,
/// parses the text before a fragment.
#[cold]
#[inline(never)]
fn recover(text: &str, end: usize, dialect: Dialect, error: ParseError) -> Result<Parsed<'_>, ParseError> {
    if let Some(at) = text.bytes().position(|byte| byte.is_ascii_control()) {
        return Err(ParseError::new(Kind::ControlCharacter, at..at + 1));
    }
    let has_fragment = end == text.len() && dialect == Dialect::Lenient && text.contains('#');
    if has_fragment { parse_before_fragment(text) } else { Err(error) }
}

/// Parses the text before the first `#`, which no class of RFC 1738 contains. The fragment is split off before anything
/// else, so that the host of `http://good#@evil/` is `good`.
#[cold]
fn parse_before_fragment(text: &str) -> Result<Parsed<'_>, ParseError> {
    let hash = text.find('#').unwrap_or(text.len());
    let mut parsed = parse_up_to(text, hash, Dialect::Lenient)?;
    let end = if text.starts_with('<') && text.ends_with('>') { text.len() - 1 } else { text.len() };
    let fragment = &text[hash + 1..end];
    let never_allowed =
        fragment.char_indices().find(|(_, character)| character.is_control() || *character == ' ');
    if let Some((offset, character)) = never_allowed {
        let kind = if character == ' ' { Kind::Space } else { Kind::ControlCharacter };
        let at = hash + 1 + offset;
        return Err(ParseError::new(kind, at..at + character.len_utf8()));
    }
    parsed.notes.push(Note::new(NoteKind::Fragment, hash..end));
    parsed.fragment = Some(fragment);
    Ok(parsed)
}

/// Reads `<` and `URL:` in front of a URL (RFC 1738 appendix). Fails if the text is empty.
#[cold]
fn read_wrapper(reader: &mut Reader<'_>) -> Result<(), ParseError> {
    let text = reader.text;
    if reader.eat(b'<') {
        if !text.ends_with('>') {
            return Err(ParseError::new(Kind::UnclosedWrapper, 0..1));
        }
        if !text.contains('#') {
            reader.set_end(text.len() - 1);
        }
        reader.note(NoteKind::Wrapper, 0..text.len());
    }
    let label = reader.position();
    if reader.remaining().get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"url:")) {
        reader.advance(4);
        reader.note(NoteKind::UrlPrefix, label..label + 4);
    }
    if reader.remaining().is_empty() {
        return Err(ParseError::new(Kind::Empty, label..text.len()));
    }
    Ok(())
}

/// Reads the text up to the colon after the scheme. Returns the row of the scheme and the range of its name.
#[inline(always)]
fn read_scheme(reader: &mut Reader<'_>) -> Result<(&'static Scheme, Range<usize>), ParseError> {
    if matches!(reader.peek(), Some(b'<' | b'u' | b'U') | None) {
        read_wrapper(reader)?;
    }
    let start = reader.position();
    let text = reader.remaining();
    let length = sets::SCHEME.end_of_short_run(text, 0);
    if length == 0 || text.get(length) != Some(&b':') {
        return Err(scheme_error(reader, length));
    }
    reader.advance(length + 1);
    let scheme = match scheme_table::find_lower_case(&text[..length]) {
        Some(scheme) => scheme,
        None => find_irregular_scheme(reader, start, length)?,
    };
    Ok((scheme, start..start + length))
}

/// Returns the error for a text whose first `length` bytes are not followed by the `:` of a scheme.
#[cold]
fn scheme_error(reader: &mut Reader<'_>, length: usize) -> ParseError {
    let start = reader.position();
    let text = reader.remaining();
    reader.advance(length);
    let colon = text.iter().position(|&byte| byte == b':').filter(|&colon| colon > 0);
    let is_word = colon.is_some_and(|colon| !text[..colon].iter().any(|byte| b"/?#@%".contains(byte)));
    match reader.error_here(Kind::MissingScheme) {
        error if error.kind() != Kind::MissingScheme => error,
        _ if is_word => reader.error_here(Kind::BadScheme),
        _ => ParseError::new(Kind::MissingScheme, start..start + length),
    }
}

/// Returns the row of a scheme that is written with upper-case letters or is unknown.
#[cold]
fn find_irregular_scheme(
    reader: &mut Reader<'_>,
    start: usize,
    length: usize,
) -> Result<&'static Scheme, ParseError> {
    let name = reader.slice(start..start + length);
    if reader.is_lenient() && !name.as_bytes()[0].is_ascii_alphabetic() {
        // A scheme starts with a letter in RFC 3986 §3.1. "1.2.3.4:80/x" is more likely a host without a scheme.
        return Err(ParseError::new(Kind::BadScheme, start..start + length));
    }
    if name.eq_ignore_ascii_case("url") {
        // A second `URL:` is rejected: printed as a scheme, it would be parsed as the label.
        return Err(ParseError::new(Kind::BadScheme, start..start + length));
    }
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        reader.note(NoteKind::SchemeCase, start..start + length);
    }
    Ok(scheme_table::find_scheme(name).unwrap_or(scheme_table::UNKNOWN_SCHEME))
}
