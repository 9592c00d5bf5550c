//! What a gopher server answers to a request: plain, or by Gopher+ with its status line, its attributes and
//! its complaints.

use std::borrow::Cow;
use std::net::SocketAddr;

use crate::gopher::content::Content;
use crate::gopher::form::GopherForm;
use crate::gopher::item::{Complaint, GopherEnd, GopherItem, GopherLength, View};
use crate::gopher::request::Request;
use crate::gopher::site::GopherSite;

/// Who is told of in a complaint.
const ADMIN: &str = "Test Admin <admin@example.org>";

/// An answer, not yet sent.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Gopher+'s line; empty in plain gopher.
    pub(crate) status: Vec<u8>,
    pub(crate) body: Content,
    pub(crate) dot: Dot,
}

/// What comes after a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Dot {
    /// A lone dot right behind it, even within a line.
    Loose,
    None,
    /// A lone dot on a line of its own; dots in the body are doubled.
    Stuffed,
}

/// A site as a client sees it.
#[derive(Clone, Copy)]
pub(crate) struct Desk<'a> {
    pub(crate) site: &'a GopherSite,
    pub(crate) addr: SocketAddr,
}

impl Desk<'_> {
    /// The answer to a request; `data` are the answers to a form, if they fit, or why they do not.
    pub(crate) fn answer(
        &self,
        request: &Request<'_>,
        data: Option<&Result<Vec<Vec<u8>>, String>>,
    ) -> Answer {
        let has_plus = request.plus.is_some();
        let Some(item) = self.site.find(request.selector) else {
            let words = format!("'{}' does not exist", request.selector.escape_ascii()).into_bytes();
            return self.complaint(&Complaint { code: 1, words }, has_plus);
        };
        if let Some(error) = &item.error {
            return self.complaint(error, has_plus);
        }
        let Some(plus) = request.plus else { return self.plain(item, request) };
        match (plus.split_first(), data, &item.form) {
            (Some((b'!', filter)), ..) => self.attributes(&[item], filter),
            (Some((b'$', filter)), ..) => {
                let listed = item.views.first().map(|view| self.site.listed(&view.content));
                self.attributes(&listed.unwrap_or_default(), filter)
            }
            (_, Some(Err(why)), _) => {
                self.complaint(&Complaint { code: 1, words: why.as_bytes().to_vec() }, true)
            }
            (_, Some(Ok(answers)), Some(form)) => self.filled(item, form, answers),
            (Some((_, wanted)), ..) => self.viewed(item, wanted, request),
            (None, ..) => self.plain(item, request),
        }
    }

    fn plain(&self, item: &GopherItem, request: &Request<'_>) -> Answer {
        let body = item.views.first().map(|view| self.content(&view.content, request));
        let dot = match item.end {
            GopherEnd::Dot => Dot::Stuffed,
            GopherEnd::LooseDot => Dot::Loose,
            GopherEnd::Nothing => Dot::None,
        };
        Answer { status: Vec::new(), body: body.unwrap_or(Content::octets("")), dot }
    }

    /// The first view of this media type and language, where they were asked for.
    fn viewed(&self, item: &GopherItem, wanted: &[u8], request: &Request<'_>) -> Answer {
        let wanted = String::from_utf8_lossy(wanted).into_owned();
        let (media_type, language) = wanted.split_once(' ').unwrap_or((&wanted, ""));
        let fits = |view: &&View| {
            let own = view.language.as_deref().unwrap_or_default();
            (media_type.is_empty() || view.media_type.eq_ignore_ascii_case(media_type))
                && (language.is_empty() || own.eq_ignore_ascii_case(language))
        };
        match item.views.iter().find(fits) {
            Some(view) => told("+", item.length, self.content(&view.content, request)),
            None => self.complaint(&Complaint { code: 1, words: b"no such view".to_vec() }, true),
        }
    }

    fn filled(&self, item: &GopherItem, form: &GopherForm, answers: &[Vec<u8>]) -> Answer {
        told("+", item.length, Content::octets(form.answered(answers)))
    }

    /// A type 3 line, or `--N` with a code.
    fn complaint(&self, complaint: &Complaint, has_plus: bool) -> Answer {
        let Complaint { code, words } = complaint;
        if has_plus {
            let body = [format!("{code} {ADMIN}\r\n").as_bytes(), words, b"\r\n"].concat();
            return told("-", self.site.plus.length, Content::octets(body));
        }
        let body = [b"3", words.as_slice(), b"\t\terror.host\t1\r\n"].concat();
        Answer { status: Vec::new(), body: Content::octets(body), dot: Dot::Stuffed }
    }

    /// What needs the site becomes octets.
    fn content(&self, content: &Content, request: &Request<'_>) -> Content {
        match content {
            Content::Answered(found) => Content::octets(found(request.search.unwrap_or_default())),
            Content::Menu(_) => {
                let lines = self.site.listed(content).into_iter().map(|item| self.line(item));
                Content::octets(lines.collect::<Vec<_>>().concat())
            }
            other => other.clone(),
        }
    }

    /// A line of a menu.
    fn line(&self, item: &GopherItem) -> Vec<u8> {
        let own = || (self.addr.ip().to_string(), self.addr.port());
        let (host, port) = item.place.clone().unwrap_or_else(own);
        let place = format!("\t{host}\t{port}").into_bytes();
        let mark = item.mark.filter(|_| self.site.plus.is_known);
        let mark = mark.map(|mark| vec![b'\t', mark]).unwrap_or_default();
        [&[item.kind], item.name.as_slice(), b"\t", &item.selector, &place, &mark, b"\r\n"].concat()
    }

    /// The blocks of these items that a filter such as `+ABSTRACT+VIEWS` names; all without one.
    fn attributes(&self, items: &[&GopherItem], filter: &[u8]) -> Answer {
        let filter = String::from_utf8_lossy(filter).to_ascii_uppercase();
        let wanted: Vec<&str> = filter.split('+').filter(|name| !name.is_empty()).collect();
        let takes_all = wanted.is_empty() || !self.site.plus.filters;
        let mut octets = Vec::new();
        for item in items {
            // Without its +INFO nobody knows whose blocks they are.
            octets.extend([b"+INFO: ", self.line(item).as_slice()].concat());
            for (name, lines) in self.blocks(item) {
                if takes_all || wanted.contains(&name.as_str()) {
                    octets.extend(format!("+{name}:\r\n").into_bytes());
                    octets.extend(lines.iter().flat_map(|line| [b" ", line.as_slice(), b"\r\n"].concat()));
                }
            }
        }
        told("+", self.site.plus.length, Content::octets(octets))
    }

    /// All blocks of an item but +INFO.
    fn blocks(&self, item: &GopherItem) -> Vec<(String, Vec<Vec<u8>>)> {
        let mut blocks = vec![("ADMIN".to_owned(), item.admin.clone())];
        blocks.push(("VIEWS".to_owned(), item.views.iter().map(view_line).collect()));
        blocks.extend(item.blocks.iter().cloned());
        blocks.extend(item.form.as_ref().map(|form| ("ASK".to_owned(), form.lines())));
        blocks
    }
}

/// ` text/plain En_US: <10k>`, without its blank.
fn view_line(view: &View) -> Vec<u8> {
    let language = view.language.as_ref().map(|language| format!(" {language}")).unwrap_or_default();
    format!("{}{language}: <{}k>", view.media_type, view.content.size() / 1024).into_bytes()
}

/// A status line of this sign, and what follows it.
fn told(sign: &str, length: GopherLength, body: Content) -> Answer {
    let (length, dot) = match length {
        GopherLength::Dot => ("-1".to_owned(), Dot::Stuffed),
        GopherLength::End => ("-2".to_owned(), Dot::None),
        GopherLength::Known => (body.size().to_string(), Dot::None),
    };
    Answer { status: format!("{sign}{length}\r\n").into_bytes(), body, dot }
}

impl Answer {
    /// The body as it goes out, dots doubled where that is right.
    pub(crate) fn blocks<'a>(&self, body: &'a Content) -> Box<dyn Iterator<Item = Cow<'a, [u8]>> + 'a> {
        // What is made as it is sent has no line that begins with a dot, or is too long to be looked at.
        match (self.dot, body) {
            (Dot::Stuffed, Content::Octets(octets)) => Box::new(std::iter::once(Cow::Owned(stuffed(octets)))),
            _ => body.blocks(),
        }
    }
}

/// Every line that begins with a dot gets one more.
fn stuffed(octets: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(octets.len());
    for line in octets.split_inclusive(|octet| *octet == b'\n') {
        if line.starts_with(b".") {
            result.push(b'.');
        }
        result.extend_from_slice(line);
    }
    result
}
