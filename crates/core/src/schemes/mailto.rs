//! `mailto:addr-spec` (RFC 1738 §3.5, RFC 6068).

use std::fmt;

use crate::escape::sets;
use crate::reader::{Reader, Rule, whole};
use crate::{Escaped, NoteKind, ParseError, ParseErrorKind as Kind, Parsed, Part, Url};

const ADDRESS: Rule = Rule::new(sets::XCHAR);
const ADDRESS_1993: Rule = Rule::new(sets::XALPHAS_1993);

/// An Internet mailing address. It names no data object (§3.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailtoUrl<'a> {
    text: Escaped<'a>,
}

impl<'a> MailtoUrl<'a> {
    #[inline]
    pub(crate) fn parse(reader: &mut Reader<'a>) -> Result<Parsed<'a>, ParseError> {
        let start = reader.at();
        let rule = if reader.is_1993() { ADDRESS_1993 } else { ADDRESS };
        let text = reader.component(rule, sets::NONE)?;
        if text.is_empty() {
            return Err(reader.fault_here(Kind::Incomplete));
        }
        if reader.is_1993() && !text.as_str().trim_matches('@').contains('@') {
            return Err(reader.bad_span(start, Kind::Incomplete));
        }
        if let Some(question) = reader.slice(start..reader.at()).find('?') {
            reader.note(NoteKind::MailtoHeaders, start + question..reader.at());
        }
        whole!(reader, Url::Mailto(Self { text }))
    }

    /// The addr-spec (RFC 822): what stands before the first `?`.
    pub fn address(&self) -> Escaped<'_> {
        let text = self.text.as_str();
        Escaped::borrowed(text.split_once('?').map_or(text, |(address, _)| address))
    }

    /// The header fields, `name=value` with `&` between them (RFC 6068 §2).
    pub fn headers(&self) -> Option<Escaped<'_>> {
        let (_, headers) = self.text.as_str().split_once('?')?;
        Some(Escaped::borrowed(headers))
    }

    pub(crate) fn print(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mailto:{}", self.text)
    }

    pub(crate) fn parts(&self, parts: &mut Vec<Part>) {
        parts.push(Part::new(
            "address",
            self.address(),
            "RFC 1738 §3.5: an RFC 822 addr-spec; it names no data object",
        ));
        if let Some(headers) = self.headers() {
            parts.push(Part::new("headers", headers, "RFC 6068 §2: header fields for the message"));
        }
    }

    pub(crate) fn into_owned(self) -> MailtoUrl<'static> {
        MailtoUrl { text: self.text.into_owned() }
    }
}
