//! The responses of the Gopher server before rules change them: plain, or Gopher+ with status line, attributes and
//! errors.

use std::borrow::Cow;
use std::net::SocketAddr;

use crate::gopher::config::GopherConfig;
use crate::gopher::content::Content;
use crate::gopher::form::GopherForm;
use crate::gopher::item::{ErrorItem, GopherEnd, GopherItem, GopherLength, View};
use crate::gopher::request::Request;

/// The administrator that errors name.
const ADMIN: &str = "Test Admin <admin@example.org>";

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status line of Gopher+. Empty in plain Gopher.
    pub(crate) status: Vec<u8>,
    pub(crate) body: Content,
    pub(crate) terminator: Terminator,
}

/// The terminator that is sent after a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Terminator {
    /// A dot directly after the body, even if its last line has no end. Dots in the body are not doubled.
    Loose,
    None,
    /// A dot on a line of its own. Dots at the start of body lines are doubled.
    Stuffed,
}

/// Answers requests.
#[derive(Clone, Copy)]
pub(crate) struct RequestHandler<'a> {
    pub(crate) config: &'a GopherConfig,
    pub(crate) addr: SocketAddr,
}

impl RequestHandler<'_> {
    /// Returns the response to a request. `data` contains the answers to a form, or the reason why they do not match
    /// its questions.
    pub(crate) fn answer(
        &self,
        request: &Request<'_>,
        data: Option<&Result<Vec<Vec<u8>>, String>>,
    ) -> Answer {
        let has_plus = request.plus.is_some();
        let Some(item) = self.config.find(request.selector) else {
            let message = format!("'{}' does not exist", request.selector.escape_ascii()).into_bytes();
            return self.error(&ErrorItem { code: 1, message }, has_plus);
        };
        if let Some(error) = &item.error {
            return self.error(error, has_plus);
        }
        let Some(plus) = request.plus else { return self.plain(item, request) };
        match (plus.split_first(), data, &item.form) {
            (Some((b'!', filter)), ..) => self.attributes(&[item], filter),
            (Some((b'$', filter)), ..) => {
                let listed = item.views.first().map(|view| self.config.listed(&view.content));
                self.attributes(&listed.unwrap_or_default(), filter)
            }
            (_, Some(Err(why)), _) => {
                self.error(&ErrorItem { code: 1, message: why.as_bytes().to_vec() }, true)
            }
            (_, Some(Ok(answers)), Some(form)) => self.form_response(item, form, answers),
            (Some((_, wanted)), ..) => self.view(item, wanted, request),
            (None, ..) => self.plain(item, request),
        }
    }

    fn plain(&self, item: &GopherItem, request: &Request<'_>) -> Answer {
        let body = item.views.first().map(|view| self.content(&view.content, request));
        let terminator = match item.end {
            GopherEnd::Dot => Terminator::Stuffed,
            GopherEnd::LooseDot => Terminator::Loose,
            GopherEnd::Nothing => Terminator::None,
        };
        Answer { status: Vec::new(), body: body.unwrap_or(Content::bytes("")), terminator }
    }

    /// Returns the first view with the requested media type and language.
    fn view(&self, item: &GopherItem, wanted: &[u8], request: &Request<'_>) -> Answer {
        let wanted = String::from_utf8_lossy(wanted).into_owned();
        let (media_type, language) = wanted.split_once(' ').unwrap_or((&wanted, ""));
        let fits = |view: &&View| {
            let own = view.language.as_deref().unwrap_or_default();
            (media_type.is_empty() || view.media_type.eq_ignore_ascii_case(media_type))
                && (language.is_empty() || own.eq_ignore_ascii_case(language))
        };
        match item.views.iter().find(fits) {
            Some(view) => with_status("+", item.length, self.content(&view.content, request)),
            None => self.error(&ErrorItem { code: 1, message: b"no such view".to_vec() }, true),
        }
    }

    fn form_response(&self, item: &GopherItem, form: &GopherForm, answers: &[Vec<u8>]) -> Answer {
        with_status("+", item.length, Content::bytes(form.response(answers)))
    }

    /// Returns a type 3 line, or `--N` with a code.
    fn error(&self, error: &ErrorItem, has_plus: bool) -> Answer {
        let ErrorItem { code, message } = error;
        if has_plus {
            let body = [format!("{code} {ADMIN}\r\n").as_bytes(), message, b"\r\n"].concat();
            return with_status("-", self.config.plus.length, Content::bytes(body));
        }
        let body = [b"3", message.as_slice(), b"\t\terror.host\t1\r\n"].concat();
        Answer { status: Vec::new(), body: Content::bytes(body), terminator: Terminator::Stuffed }
    }

    /// Replaces menus and searches by their lines.
    fn content(&self, content: &Content, request: &Request<'_>) -> Content {
        match content {
            Content::Search(found) => Content::bytes(found(request.search.unwrap_or_default())),
            Content::Menu(_) => {
                let lines = self.config.listed(content).into_iter().map(|item| self.line(item));
                Content::bytes(lines.collect::<Vec<_>>().concat())
            }
            other => other.clone(),
        }
    }

    /// Returns the line of an item in a menu.
    fn line(&self, item: &GopherItem) -> Vec<u8> {
        let own = || (self.addr.ip().to_string(), self.addr.port());
        let (host, port) = item.host.clone().unwrap_or_else(own);
        let location = format!("\t{host}\t{port}").into_bytes();
        let plus = item.plus_marker.filter(|_| self.config.plus.is_supported);
        let plus = plus.map(|plus| vec![b'\t', plus]).unwrap_or_default();
        [&[item.kind], item.name.as_slice(), b"\t", &item.selector, &location, &plus, b"\r\n"].concat()
    }

    /// Returns the attribute blocks that a filter such as `+ABSTRACT+VIEWS` names. Without a filter, all.
    fn attributes(&self, items: &[&GopherItem], filter: &[u8]) -> Answer {
        let filter = String::from_utf8_lossy(filter).to_ascii_uppercase();
        let wanted: Vec<&str> = filter.split('+').filter(|name| !name.is_empty()).collect();
        let takes_all = wanted.is_empty() || !self.config.plus.filters_attributes;
        let mut bytes = Vec::new();
        for item in items {
            // +INFO shows to which item the following blocks belong.
            bytes.extend([b"+INFO: ", self.line(item).as_slice()].concat());
            for (name, lines) in self.blocks(item) {
                if takes_all || wanted.contains(&name.as_str()) {
                    bytes.extend(format!("+{name}:\r\n").into_bytes());
                    bytes.extend(lines.iter().flat_map(|line| [b" ", line.as_slice(), b"\r\n"].concat()));
                }
            }
        }
        with_status("+", self.config.plus.length, Content::bytes(bytes))
    }

    /// Returns all blocks of an item except +INFO.
    fn blocks(&self, item: &GopherItem) -> Vec<(String, Vec<Vec<u8>>)> {
        let mut blocks = vec![("ADMIN".to_owned(), item.admin.clone())];
        blocks.push(("VIEWS".to_owned(), item.views.iter().map(view_line).collect()));
        blocks.extend(item.blocks.iter().cloned());
        blocks.extend(item.form.as_ref().map(|form| ("ASK".to_owned(), form.lines())));
        blocks
    }
}

/// Returns `text/plain En_US: <10k>`.
fn view_line(view: &View) -> Vec<u8> {
    let language = view.language.as_ref().map(|language| format!(" {language}")).unwrap_or_default();
    format!("{}{language}: <{}k>", view.media_type, view.content.size() / 1024).into_bytes()
}

/// Returns a response with a Gopher+ status line of this sign.
fn with_status(sign: &str, length: GopherLength, body: Content) -> Answer {
    let (length, terminator) = match length {
        GopherLength::Dot => ("-1".to_owned(), Terminator::Stuffed),
        GopherLength::End => ("-2".to_owned(), Terminator::None),
        GopherLength::Known => (body.size().to_string(), Terminator::None),
    };
    Answer { status: format!("{sign}{length}\r\n").into_bytes(), body, terminator }
}

impl Answer {
    /// Returns a body as it is sent. Dots are doubled if the terminator requires it.
    pub(crate) fn blocks<'a>(&self, body: &'a Content) -> Box<dyn Iterator<Item = Cow<'a, [u8]>> + 'a> {
        // Generated content has no line that starts with a dot.
        match (self.terminator, body) {
            (Terminator::Stuffed, Content::Bytes(bytes)) => {
                Box::new(std::iter::once(Cow::Owned(stuffed(bytes))))
            }
            _ => body.blocks(),
        }
    }
}

/// Doubles the dot at the start of lines.
fn stuffed(bytes: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b".") {
            result.push(b'.');
        }
        result.extend_from_slice(line);
    }
    result
}
