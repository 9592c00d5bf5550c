//! Builds Gopher requests: one line, and for a filled form its answers (RFC 1436 §2, RFC 1738 §3.4.2 to §3.4.9).

use bytes::Bytes;
use fetch_url_core::GopherUrl;
use memchr::memchr;

use crate::gopher_plus::is_data_block;
use crate::{ForbiddenByte, ForbiddenSet};

/// The kind of request that a Gopher+ string makes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlusRequest {
    /// `!`, or `$` for all items of a menu: the attributes with these names, or all attributes if there are
    /// none.
    Attributes(Vec<Vec<u8>>),
    /// `+` with answers: submits a filled form.
    SubmitForm,
    /// `?`: the item has a form that must be filled in first.
    RequestForm,
    /// `+`, or `+` and a view: retrieves the item.
    Object,
}

/// A Gopher request. Its bytes are validated: none of them can inject another request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GopherRequest {
    /// The selector and the search words.
    selector_and_search: Vec<u8>,
    /// The Gopher+ string.
    command: Option<Vec<u8>>,
    /// The data block with the answers to a form, sent after the line.
    data: Vec<u8>,
}

impl GopherRequest {
    /// Builds the request for a URL (RFC 1738 §3.4).
    ///
    /// # Errors
    /// [`ForbiddenByte`] if a decoded byte would change the request. Line ends are allowed only in form
    /// answers (RFC 1738 §3.4.9) that are exactly one data block.
    pub fn from_url(url: &GopherUrl<'_>) -> Result<Self, ForbiddenByte> {
        let mut stem = ForbiddenSet::GOPHER.check("selector", &url.selector().decode())?.to_vec();
        let plus = url.gopher_plus().map(|plus| plus.decode().into_owned());
        let search = url.search().map(|search| search.decode().into_owned());
        // The Gopher+ string follows the selector directly if there are no search words.
        let words = search.filter(|words| !words.is_empty() || plus.as_ref().is_none_or(Vec::is_empty));
        if let Some(words) = words {
            stem.push(b'\t');
            stem.extend_from_slice(ForbiddenSet::GOPHER.check("search", &words)?);
        }
        let (command, data) = match plus {
            None => (None, Vec::new()),
            Some(plus) => match filled(&plus) {
                Some((command, data)) => (Some(command.to_vec()), data.to_vec()),
                None => (Some(ForbiddenSet::GOPHER.check("Gopher+ string", &plus)?.to_vec()), Vec::new()),
            },
        };
        Ok(Self { selector_and_search: stem, command, data })
    }

    /// Returns the request for a view of the same item: a media type, a blank and a language (RFC 1738
    /// §3.4.8).
    ///
    /// # Errors
    /// [`ForbiddenByte`], as for [`GopherRequest::from_url`].
    pub fn with_view(mut self, view: &[u8]) -> Result<Self, ForbiddenByte> {
        self.command = Some([b"+", ForbiddenSet::GOPHER.check("view", view)?].concat());
        Ok(self)
    }

    /// Returns the request for all attributes of the same item; some servers cannot select attributes.
    #[must_use]
    pub fn for_attributes(&self) -> Self {
        Self {
            selector_and_search: self.selector_and_search.clone(),
            command: Some(b"!".to_vec()),
            data: Vec::new(),
        }
    }

    /// Returns the same attribute request without a selection of names.
    #[must_use]
    pub fn for_all_attributes(&self) -> Self {
        let command = self.command.as_ref().map(|command| command[..command.len().min(1)].to_vec());
        Self { selector_and_search: self.selector_and_search.clone(), command, data: Vec::new() }
    }

    /// Returns the request for the same item without Gopher+.
    #[must_use]
    pub fn without_plus(&self) -> Self {
        Self { selector_and_search: self.selector_and_search.clone(), command: None, data: Vec::new() }
    }

    /// Returns the request that submits a form, with `data` as its data block (see
    /// [`crate::gopher_plus::encode_answers`]).
    #[must_use]
    pub fn filled_with(&self, data: Vec<u8>) -> Self {
        Self { selector_and_search: self.selector_and_search.clone(), command: Some(b"+\t1".to_vec()), data }
    }

    /// Returns the kind of the Gopher+ request, or `None` for a plain request.
    pub fn plus(&self) -> Option<PlusRequest> {
        let command = self.command.as_deref()?;
        Some(match command.split_first()? {
            (b'!' | b'$', names) => PlusRequest::Attributes(attribute_names(names)),
            (b'?', b"") => PlusRequest::RequestForm,
            _ if !self.data.is_empty() => PlusRequest::SubmitForm,
            _ => PlusRequest::Object,
        })
    }

    /// Returns the media type of the requested view, if any.
    pub fn view(&self) -> Option<&[u8]> {
        let view = self.command.as_deref()?.strip_prefix(b"+")?;
        let media_type = view.split(|byte| matches!(byte, b' ' | b'\t')).next()?;
        (!media_type.is_empty()).then_some(media_type)
    }

    /// Returns the bytes to send, with CRLF and the data block.
    pub fn bytes(&self) -> Bytes {
        let mut bytes = self.line();
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.data);
        bytes.into()
    }

    /// Returns the lines to send, without line ends, for the wire trace.
    pub fn lines(&self) -> Vec<Vec<u8>> {
        let data = self.data.strip_suffix(b"\r\n").unwrap_or(&self.data);
        let lines = data.split(|&byte| byte == b'\n').filter(|_| !data.is_empty());
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec());
        [self.line()].into_iter().chain(lines).collect()
    }

    fn line(&self) -> Vec<u8> {
        match &self.command {
            Some(command) => [&self.selector_and_search, &b"\t"[..], command].concat(),
            None => self.selector_and_search.clone(),
        }
    }
}

/// Splits `+view TAB 1` and the data block after it (RFC 1738 §3.4.9). Returns `None` if the text has another form.
fn filled(plus: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr(b'\r', plus)?;
    let (command, data) = (plus.get(..end)?, plus.get(end..)?.strip_prefix(b"\r\n")?);
    let view = command.strip_suffix(b"\t1")?;
    let is_command = view.first() == Some(&b'+') && ForbiddenSet::GOPHER.check("view", view).is_ok();
    (is_command && is_data_block(data)).then_some((command, data))
}

/// Parses the names in `+ABSTRACT+SMELL` or `+ABSTRACT +SMELL` (RFC 1738 §3.4.7).
fn attribute_names(text: &[u8]) -> Vec<Vec<u8>> {
    let names = text.split(|byte| matches!(byte, b'+' | b' '));
    names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fetch_url_core::{Url, parse};

    fn request(text: &str) -> Result<GopherRequest, ForbiddenByte> {
        match parse(text).expect("a URL").url {
            Url::Gopher(url) => GopherRequest::from_url(&url),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn url_becomes_its_request_line() {
        let attributes = |names: &[&str]| {
            Some(PlusRequest::Attributes(names.iter().map(|name| name.as_bytes().to_vec()).collect()))
        };
        for (url, bytes, plus) in [
            ("gopher://h", &b"\r\n"[..], None),
            ("gopher://h/00/x", b"0/x\r\n", None),
            ("gopher://h/7/find%09two%20words", b"/find\ttwo words\r\n", None),
            ("gopher://h/7/find%09", b"/find\t\r\n", None),
            ("gopher://h/0/a%09%09", b"/a\t\t\r\n", None),
            ("gopher://h/0/a%09%09+", b"/a\t+\r\n", Some(PlusRequest::Object)),
            (
                "gopher://h/0a%09%09+text/plain%20En_US",
                b"a\t+text/plain En_US\r\n",
                Some(PlusRequest::Object),
            ),
            ("gopher://h/7/f%09w%09+", b"/f\tw\t+\r\n", Some(PlusRequest::Object)),
            ("gopher://h/1/a%09%09$", b"/a\t$\r\n", attributes(&[])),
            (
                "gopher://h/1/a%09%09!+ABSTRACT%20+SMELL",
                b"/a\t!+ABSTRACT +SMELL\r\n",
                attributes(&["ABSTRACT", "SMELL"]),
            ),
            (
                "gopher://h/1/a%09%09!+ABSTRACT+SMELL",
                b"/a\t!+ABSTRACT+SMELL\r\n",
                attributes(&["ABSTRACT", "SMELL"]),
            ),
            ("gopher://h/0/a%09%09?", b"/a\t?\r\n", Some(PlusRequest::RequestForm)),
            (
                "gopher://h/0/a%09%09+%091%0D%0A+-1%0D%0Aone%0D%0Atwo%0D%0A.%0D%0A",
                b"/a\t+\t1\r\n+-1\r\none\r\ntwo\r\n.\r\n",
                Some(PlusRequest::SubmitForm),
            ),
        ] {
            let request = request(url).expect("it can be sent");
            assert_eq!(&request.bytes()[..], bytes, "{url}");
            assert_eq!(request.plus(), plus, "{url}");
        }
    }

    #[test]
    fn forbidden_bytes_are_rejected() {
        for url in [
            "gopher://h/0a%0D%0Ab",
            "gopher://h/7a%09b%00",
            "gopher://h/0a%09%09+%09x",
            "gopher://h/0a%09%09+%091%0D%0A+-1%0D%0Aone%0D%0A.%0D%0AQUIT%0D%0A",
            "gopher://h/0a%09%09+%091%0D%0A+-1%0D%0Aone%0D%0A",
            "gopher://h/0a%09%09+%091%0D%0AQUIT%0D%0A",
            "gopher://h/0a%09%09!%091%0D%0A+-1%0D%0Aone%0D%0A.%0D%0A",
            "gopher://h/0a%09%09+%0Ax%091%0D%0A+-1%0D%0Aone%0D%0A.%0D%0A",
            "gopher://h/0a%0D%0A%09%09+%091%0D%0A+-1%0D%0Aone%0D%0A.%0D%0A",
        ] {
            assert!(request(url).is_err(), "{url}");
        }
    }

    #[test]
    fn lines_for_the_trace_have_no_line_ends() {
        let request = request("gopher://h/0/a%09%09?").expect("it can be sent");
        assert_eq!(request.lines(), [b"/a\t?".to_vec()]);
        let filled = request.filled_with(b"+-1\r\none\r\n\r\n.\r\n".to_vec());
        let lines: [&[u8]; 5] = [b"/a\t+\t1", b"+-1", b"one", b"", b"."];
        assert_eq!(filled.lines(), lines);
        assert_eq!(filled.plus(), Some(PlusRequest::SubmitForm));
        assert_eq!(&filled.for_attributes().bytes()[..], b"/a\t!\r\n");
        assert_eq!((filled.view(), request.view()), (None, None));
        let viewed = request.with_view(b"text/html En_US").expect("it can be sent");
        assert_eq!(viewed.view(), Some(&b"text/html"[..]));
    }
}
