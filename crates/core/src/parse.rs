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
/// [`ParseErrorKind::MissingScheme`](crate::ParseErrorKind::MissingScheme). A space, a backslash or a control character
/// is an error everywhere.
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
    // All results are in one variable, so that the URL is built in place and never moved.
    let mut result = parse_up_to(text, text.len(), dialect);
    if let Err(error) = &result {
        result = parse_after_error(text, dialect, error.clone());
    }
    result
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

/// Reports a control character before any other fault. In the lenient dialect, parses the text before a fragment.
#[cold]
fn parse_after_error(text: &str, dialect: Dialect, error: ParseError) -> Result<Parsed<'_>, ParseError> {
    if text.len() <= MAX_LENGTH
        && let Some(at) = text.bytes().position(|byte| byte.is_ascii_control())
    {
        return Err(ParseError::new(Kind::ControlCharacter, at..at + 1));
    }
    if dialect == Dialect::Lenient && text.contains('#') { parse_before_fragment(text) } else { Err(error) }
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

/// Parses `text` up to the byte `end`, without the closing bracket of a wrapper.
#[inline(never)]
fn parse_up_to(text: &str, end: usize, dialect: Dialect) -> Result<Parsed<'_>, ParseError> {
    let mut reader = Reader::new(text, dialect);
    reader.set_end(end);
    if text.len() > MAX_LENGTH {
        return Err(ParseError::new(Kind::TooLong, MAX_LENGTH..text.len()));
    }
    if matches!(reader.peek(), Some(b'<' | b'u' | b'U') | None) {
        read_wrapper(&mut reader, text)?;
    }
    parse_url(&mut reader)
}

/// Reads `<` and `URL:` in front of a URL (RFC 1738 appendix). Fails if the text is empty.
#[cold]
fn read_wrapper(reader: &mut Reader<'_>, text: &str) -> Result<(), ParseError> {
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

/// Reads the scheme, and the rest by its rules.
#[inline(always)]
fn parse_url<'a>(reader: &mut Reader<'a>) -> Result<Parsed<'a>, ParseError> {
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
    parse_scheme(reader, scheme, start..start + length)
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

/// Wraps the URL that a scheme module builds in [`Url`] and [`Parsed`].
///
/// The scheme module calls this closure instead of returning its URL: the URL is then built inside the caller's result.
/// Returning it copies it, which makes parsing 4 % slower.
macro_rules! parsed {
    ($variant:ident) => {
        |url, notes| Parsed { url: Url::$variant(url), notes, fragment: None }
    };
}

/// Reads the text after the scheme in the module of its family.
#[inline(always)]
fn parse_scheme<'a>(
    reader: &mut Reader<'a>,
    scheme: &'static Scheme,
    name: Range<usize>,
) -> Result<Parsed<'a>, ParseError> {
    match scheme.family {
        SchemeFamily::File => FileUrl::parse(reader, parsed!(File)),
        SchemeFamily::Ftp => FtpUrl::parse(reader, scheme, parsed!(Ftp)),
        SchemeFamily::Gopher => GopherUrl::parse(reader, scheme, parsed!(Gopher)),
        SchemeFamily::Http => HttpUrl::parse(reader, scheme, parsed!(Http)),
        SchemeFamily::Mailto => MailtoUrl::parse(reader, parsed!(Mailto)),
        SchemeFamily::News => NewsUrl::parse(reader, scheme, parsed!(News)),
        SchemeFamily::Nntp => NntpUrl::parse(reader, scheme, parsed!(Nntp)),
        SchemeFamily::Prospero => ProsperoUrl::parse(reader, parsed!(Prospero)),
        SchemeFamily::Telnet => TelnetUrl::parse(reader, parsed!(Telnet)),
        SchemeFamily::Wais => WaisUrl::parse(reader, parsed!(Wais)),
        SchemeFamily::Other => OtherUrl::parse(reader, name, scheme, parsed!(Other)),
    }
}
