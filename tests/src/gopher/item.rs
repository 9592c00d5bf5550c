//! One item of a gopher site: its selector, what it holds, how that ends, and what Gopher+ tells of it.

use std::sync::Arc;

use crate::gopher::content::Content;
use crate::gopher::form::GopherForm;

/// Who answers for the items of a test.
const ADMIN: &str = "Test Admin <admin@example.org>";

/// How an answer to plain gopher ends, before the connection is closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GopherEnd {
    /// A lone dot; lines that begin with a dot get one more (RFC 1436 §3.5).
    Dot,
    /// A lone dot, and the lines are as they are: UMN.
    LooseDot,
    /// Nothing: gophernicus, pygopherd.
    Nothing,
}

/// How Gopher+ tells the length of what follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GopherLength {
    /// `-1`: to a lone dot, and lines that begin with a dot get one more.
    Dot,
    /// `-2`: to the end of the connection.
    End,
    /// The number of octets.
    Known,
}

/// An item. The type decides what is not said: text and menus end with a dot, all else with nothing.
#[derive(Clone, Debug)]
pub struct GopherItem {
    pub(crate) kind: u8,
    pub(crate) selector: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) views: Vec<View>,
    pub(crate) end: GopherEnd,
    pub(crate) length: GopherLength,
    /// The fifth field of its menu line, where the site knows Gopher+.
    pub(crate) mark: Option<u8>,
    pub(crate) place: Option<(String, u16)>,
    pub(crate) error: Option<Complaint>,
    pub(crate) admin: Vec<Vec<u8>>,
    /// Blocks beside those that are made, by name.
    pub(crate) blocks: Vec<(String, Vec<Vec<u8>>)>,
    pub(crate) form: Option<GopherForm>,
}

/// One form of an item.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) media_type: String,
    pub(crate) language: Option<String>,
    pub(crate) content: Content,
}

/// What is said in the place of an item: Gopher+'s code and the words, or the line of its new place.
#[derive(Clone, Debug)]
pub(crate) struct Complaint {
    pub(crate) code: u8,
    pub(crate) words: Vec<u8>,
}

/// What there is.
impl GopherItem {
    /// An item of this type that holds these octets as they are; of a menu, they are its lines.
    pub fn new(kind: char, selector: impl AsRef<[u8]>, octets: impl Into<Vec<u8>>) -> Self {
        Self::of(kind, selector, Content::octets(octets))
    }

    /// A type 0 item.
    pub fn text(selector: impl AsRef<[u8]>, octets: impl Into<Vec<u8>>) -> Self {
        Self::new('0', selector, octets)
    }

    /// A type 9 item.
    pub fn binary(selector: impl AsRef<[u8]>, octets: impl Into<Vec<u8>>) -> Self {
        Self::new('9', selector, octets)
    }

    /// A type 9 item of the first `size` octets of [`pattern`](crate::pattern()), made as they are sent.
    pub fn pattern(selector: impl AsRef<[u8]>, size: u64) -> Self {
        Self::of('9', selector, Content::Pattern(size))
    }

    /// A menu of the items with these selectors.
    pub fn menu<S: AsRef<[u8]>>(selector: impl AsRef<[u8]>, items: &[S]) -> Self {
        let items = items.iter().map(|item| item.as_ref().to_vec()).collect();
        Self::of('1', selector, Content::Menu(Some(items)))
    }

    /// A menu of so many lines, `entry 0000000` and so on; they cannot be fetched.
    pub fn crowd(selector: impl AsRef<[u8]>, lines: u64) -> Self {
        Self::of('1', selector, Content::Crowd(lines))
    }

    /// An item of a beginning, and then of the same octets so many times, made as they are sent.
    pub fn repeated(kind: char, selector: impl AsRef<[u8]>, start: &str, again: &[u8], times: u64) -> Self {
        Self::of(kind, selector, Content::Repeated(start.as_bytes().into(), again.into(), times))
    }

    /// A type 7 item: the lines that are found for a search.
    pub fn search(
        selector: impl AsRef<[u8]>,
        found: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self::of('7', selector, Content::Answered(Arc::new(found)))
    }

    /// Nothing but a complaint: Gopher+'s code and these words.
    pub fn error(kind: char, selector: impl AsRef<[u8]>, code: u8, words: impl Into<Vec<u8>>) -> Self {
        let error = Some(Complaint { code, words: words.into() });
        Self { error, ..Self::new(kind, selector, "") }
    }

    fn of(kind: char, selector: impl AsRef<[u8]>, content: Content) -> Self {
        let kind = kind as u8;
        let selector = selector.as_ref().to_vec();
        let (end, length, media_type) = match kind {
            b'1' | b'7' => (GopherEnd::Dot, GopherLength::Dot, "application/gopher+-menu"),
            b'0' => (GopherEnd::Dot, GopherLength::Known, "text/plain"),
            _ => (GopherEnd::Nothing, GopherLength::Known, "application/octet-stream"),
        };
        Self {
            kind,
            name: selector.rsplit(|octet| *octet == b'/').next().unwrap_or_default().to_vec(),
            selector,
            views: vec![View { media_type: media_type.to_owned(), language: None, content }],
            end,
            length,
            mark: Some(b'+'),
            place: None,
            error: None,
            admin: vec![format!("Admin: {ADMIN}").into_bytes()],
            blocks: Vec::new(),
            form: None,
        }
    }
}

/// How it is.
impl GopherItem {
    /// What menus call it.
    #[must_use]
    pub fn name(self, name: impl AsRef<[u8]>) -> Self {
        Self { name: name.as_ref().to_vec(), ..self }
    }

    /// How it ends for who does not ask for Gopher+.
    #[must_use]
    pub fn ends(self, end: GopherEnd) -> Self {
        Self { end, ..self }
    }

    /// How Gopher+ tells its length.
    #[must_use]
    pub fn length(self, length: GopherLength) -> Self {
        Self { length, ..self }
    }

    /// It has no fifth field in menus.
    #[must_use]
    pub fn without_mark(self) -> Self {
        Self { mark: None, ..self }
    }

    /// Menus say that it is elsewhere.
    #[must_use]
    pub fn at(self, host: &str, port: u16) -> Self {
        Self { place: Some((host.to_owned(), port)), ..self }
    }

    /// The media type and language of what it holds.
    #[must_use]
    pub fn is_in(mut self, media_type: &str, language: Option<&str>) -> Self {
        for view in &mut self.views {
            view.media_type = media_type.to_owned();
            view.language = language.map(str::to_owned);
        }
        self
    }

    /// One more form of it.
    #[must_use]
    pub fn view(mut self, media_type: &str, language: Option<&str>, octets: impl Into<Vec<u8>>) -> Self {
        let (media_type, language) = (media_type.to_owned(), language.map(str::to_owned));
        self.views.push(View { media_type, language, content: Content::octets(octets) });
        self
    }

    /// When it was last modified: `19941201123456`.
    #[must_use]
    pub fn modified(mut self, time: &str) -> Self {
        self.admin.push(format!("Mod-Date: some day <{time}>").into_bytes());
        self
    }

    /// The lines of its abstract.
    #[must_use]
    pub fn about(self, lines: &[&str]) -> Self {
        self.block("ABSTRACT", lines)
    }

    /// Another block of attributes.
    #[must_use]
    pub fn block(mut self, name: &str, lines: &[&str]) -> Self {
        let lines = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        self.blocks.push((name.to_owned(), lines));
        self
    }

    /// It is made of the answers to a form; its fifth field is `?`.
    #[must_use]
    pub fn form(self, form: GopherForm) -> Self {
        Self { form: Some(form), mark: Some(b'?'), ..self }
    }
}
