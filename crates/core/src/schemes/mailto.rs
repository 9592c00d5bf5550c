//! `mailto:addr-spec` (RFC 1738 §3.5, RFC 6068).
//!
//! `ADDRESS_1993` belongs to the draft BNF of November 1993 that preceded RFC 1738 (`Dialect::Cern1993`).

use std::fmt;

use crate::percent_encoding::sets;
use crate::reader::{ComponentRule, Reader};
use crate::{Component, Note, NoteKind, ParseError, ParseErrorKind as Kind, PercentEncoded};

const ADDRESS: ComponentRule = ComponentRule::new(sets::XCHAR);
const ADDRESS_1993: ComponentRule = ComponentRule::new(sets::XALPHAS_1993);

/// A `mailto` URL: an Internet mail address. It names no data that could be retrieved (RFC 1738 §3.5).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MailtoUrl<'a> {
    text: PercentEncoded<'a>,
}

impl<'a> MailtoUrl<'a> {
    #[inline]
    pub(crate) fn parse<T>(
        reader: &mut Reader<'a>,
        wrap: impl FnOnce(Self, Vec<Note>) -> T,
    ) -> Result<T, ParseError> {
        let start = reader.position();
        let rule = if reader.is_cern1993() { ADDRESS_1993 } else { ADDRESS };
        let text = reader.read_component(rule, sets::EMPTY)?;
        if text.is_empty() {
            return Err(reader.error_here(Kind::Incomplete));
        }
        if reader.is_cern1993() && !text.as_str().trim_matches('@').contains('@') {
            return Err(reader.error_since(start, Kind::Incomplete));
        }
        if let Some(question) = reader.slice(start..reader.position()).find('?') {
            reader.note(NoteKind::MailtoHeaders, start + question..reader.position());
        }
        reader.expect_end()?;
        Ok(wrap(Self { text }, reader.take_notes()))
    }

    /// Returns the address: the text before the first `?`, an RFC 822 `addr-spec`.
    pub fn address(&self) -> PercentEncoded<'_> {
        let text = self.text.as_str();
        PercentEncoded::borrowed(text.split_once('?').map_or(text, |(address, _)| address))
    }

    /// Returns the header fields after the `?`: `name=value` pairs with `&` between them (RFC 6068 §2).
    pub fn headers(&self) -> Option<PercentEncoded<'_>> {
        let (_, headers) = self.text.as_str().split_once('?')?;
        Some(PercentEncoded::borrowed(headers))
    }

    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mailto:{}", self.text)
    }

    pub(crate) fn push_components(&self, components: &mut Vec<Component>) {
        let rule = "RFC 1738 §3.5: an RFC 822 addr-spec; it names no data object";
        components.push(Component::new("address", self.address(), rule));
        if let Some(headers) = self.headers() {
            let rule = "RFC 6068 §2: header fields for the message";
            components.push(Component::new("headers", headers, rule));
        }
    }

    /// Returns the same URL with owned text, independent of the parsed text.
    pub fn into_owned(self) -> MailtoUrl<'static> {
        MailtoUrl { text: self.text.into_owned() }
    }
}
