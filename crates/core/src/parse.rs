//! From text to [`Url`]: wrapper, label, scheme, then the scheme's own file.

use crate::escape::sets;
use crate::reader::Reader;
use crate::scheme_table::{self, Family, Scheme};
use crate::schemes::{
    FileUrl, FtpUrl, GopherUrl, HttpUrl, MailtoUrl, NewsUrl, NntpUrl, OtherUrl, ProsperoUrl, TelnetUrl,
    WaisUrl,
};
use crate::{Note, NoteKind, ParseError, ParseErrorKind as Kind, Url};

/// The longest text that is parsed, in octets.
pub const MAX_LENGTH: usize = 64 * 1024;

/// Which grammar is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The BNF of November 1993 (RFC 1630), from before RFC 1738.
    Cern1993,
    /// RFC 1738, and what people write since, each with a [`Note`].
    #[default]
    Lenient,
    /// RFC 1738 §5 to the letter.
    Rfc1738,
}

/// A URL and what was noted about its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// The URL.
    pub url: Url<'a>,
    /// What was tolerated or changed, in the order of the text.
    pub notes: Vec<Note>,
    /// What stood after `#`: kept aside, never sent.
    pub fragment: Option<&'a str>,
}

impl Parsed<'_> {
    /// The same without a borrow; the fragment, which is not part of the URL, is left behind.
    pub fn into_owned(self) -> Parsed<'static> {
        Parsed { url: self.url.into_owned(), notes: self.notes, fragment: None }
    }
}

/// Reads `text` as people write URLs: [`Dialect::Lenient`].
///
/// # Errors
/// What is wrong with the text, and where.
#[inline(always)]
pub fn parse(text: &str) -> Result<Parsed<'_>, ParseError> {
    parse_with(text, Dialect::Lenient)
}

/// Reads `text` by the grammar of `dialect`.
///
/// # Errors
/// What is wrong with the text, and where.
#[inline(always)]
pub fn parse_with(text: &str, dialect: Dialect) -> Result<Parsed<'_>, ParseError> {
    // One variable from beginning to end: the answer is built in its place and never moved.
    let mut result = parse_whole(text, text.len(), dialect);
    if let Err(error) = &result {
        result = second_look(text, dialect, error.clone());
    }
    result
}

/// Leniently, the part before a fragment may be right; and a control character, which may stand
/// nowhere, is named before anything else is.
#[cold]
fn second_look(text: &str, dialect: Dialect, first: ParseError) -> Result<Parsed<'_>, ParseError> {
    if text.len() <= MAX_LENGTH
        && let Some(at) = text.bytes().position(|octet| octet.is_ascii_control())
    {
        return Err(ParseError::new(Kind::ControlOctet, at..at + 1));
    }
    if dialect == Dialect::Lenient && text.contains('#') { parse_before_fragment(text) } else { Err(first) }
}

/// The part before the first `#`, which no class of RFC 1738 contains: the fragment is cut first,
/// so that `http://good#@evil/` names `good`.
#[cold]
fn parse_before_fragment(text: &str) -> Result<Parsed<'_>, ParseError> {
    let hash = text.find('#').unwrap_or(text.len());
    let mut parsed = parse_whole(text, hash, Dialect::Lenient)?;
    let end = if text.starts_with('<') && text.ends_with('>') { text.len() - 1 } else { text.len() };
    let fragment = &text[hash + 1..end];
    let control = fragment.char_indices().find(|(_, character)| character.is_control() || *character == ' ');
    if let Some((offset, character)) = control {
        let kind = if character == ' ' { Kind::Space } else { Kind::ControlOctet };
        let at = hash + 1 + offset;
        return Err(ParseError::new(kind, at..at + character.len_utf8()));
    }
    parsed.notes.push(Note::new(NoteKind::Fragment, hash..end));
    parsed.fragment = Some(fragment);
    Ok(parsed)
}

/// `text` up to `end`, a wrapper's closing bracket aside.
#[inline(never)]
fn parse_whole(text: &str, end: usize, dialect: Dialect) -> Result<Parsed<'_>, ParseError> {
    let mut reader = Reader::new(text, dialect);
    reader.stop_at(end);
    if text.len() > MAX_LENGTH {
        return Err(ParseError::new(Kind::TooLong, MAX_LENGTH..text.len()));
    }
    if matches!(reader.peek(), Some(b'<' | b'u' | b'U') | None) {
        open_wrapper(&mut reader, text)?;
    }
    parse_url(&mut reader)
}

/// `<…>` and `URL:` around the URL (appendix), and text that is empty.
#[cold]
fn open_wrapper(reader: &mut Reader<'_>, text: &str) -> Result<(), ParseError> {
    if reader.eat(b'<') {
        if !text.ends_with('>') {
            return Err(ParseError::new(Kind::UnclosedWrapper, 0..1));
        }
        if !text.contains('#') {
            reader.stop_at(text.len() - 1);
        }
        reader.note(NoteKind::Wrapper, 0..text.len());
    }
    let label = reader.at();
    if reader.rest().get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"url:")) {
        reader.skip(4);
        reader.note(NoteKind::UrlPrefix, label..label + 4);
    }
    if reader.rest().is_empty() {
        return Err(ParseError::new(Kind::Empty, label..text.len()));
    }
    Ok(())
}

#[inline(always)]
fn parse_url<'a>(reader: &mut Reader<'a>) -> Result<Parsed<'a>, ParseError> {
    let start = reader.at();
    let rest = reader.rest();
    let length = sets::SCHEME.short_run(rest, 0);
    if length == 0 || rest.get(length) != Some(&b':') {
        return Err(no_scheme(reader, length));
    }
    reader.skip(length + 1);
    let scheme = match scheme_table::exact(&rest[..length]) {
        Some(scheme) => scheme,
        None => odd_scheme(reader, start, length)?,
    };
    parse_scheme(reader, scheme, start..start + length)
}

#[cold]
fn no_scheme(reader: &mut Reader<'_>, length: usize) -> ParseError {
    let start = reader.at();
    let rest = reader.rest();
    reader.skip(length);
    let named = rest.iter().position(|&octet| octet == b':').filter(|&colon| colon > 0);
    let is_word = named.is_some_and(|colon| !rest[..colon].iter().any(|octet| b"/?#@%".contains(octet)));
    match reader.fault_here(Kind::MissingScheme) {
        fault if fault.kind() != Kind::MissingScheme => fault,
        _ if is_word => reader.fault_here(Kind::BadScheme),
        _ => ParseError::new(Kind::MissingScheme, start..start + length),
    }
}

/// A scheme in capitals, or one without a row of its own.
#[cold]
fn odd_scheme(reader: &mut Reader<'_>, start: usize, length: usize) -> Result<&'static Scheme, ParseError> {
    let name = reader.slice(start..start + length);
    if reader.is_lenient() && !name.as_bytes()[0].is_ascii_alphabetic() {
        // RFC 3986 §3.1 asks for a letter in front; "1.2.3.4:80/x" is no scheme to anybody.
        return Err(ParseError::new(Kind::BadScheme, start..start + length));
    }
    if name.eq_ignore_ascii_case("url") {
        // A second label: as a scheme, it would be taken for the first one when it is read again.
        return Err(ParseError::new(Kind::BadScheme, start..start + length));
    }
    if name.bytes().any(|octet| octet.is_ascii_uppercase()) {
        reader.note(NoteKind::SchemeCase, start..start + length);
    }
    Ok(scheme_table::scheme(name).unwrap_or(scheme_table::UNNAMED))
}

#[inline(always)]
fn parse_scheme<'a>(
    reader: &mut Reader<'a>,
    scheme: &'static Scheme,
    name: std::ops::Range<usize>,
) -> Result<Parsed<'a>, ParseError> {
    match scheme.family {
        Family::File => FileUrl::parse(reader),
        Family::Ftp => FtpUrl::parse(reader, scheme),
        Family::Gopher => GopherUrl::parse(reader, scheme),
        Family::Http => HttpUrl::parse(reader, scheme),
        Family::Mailto => MailtoUrl::parse(reader),
        Family::News => NewsUrl::parse(reader, scheme),
        Family::Nntp => NntpUrl::parse(reader, scheme),
        Family::Prospero => ProsperoUrl::parse(reader),
        Family::Telnet => TelnetUrl::parse(reader),
        Family::Wais => WaisUrl::parse(reader),
        Family::Other => OtherUrl::parse(reader, name, scheme),
    }
}
