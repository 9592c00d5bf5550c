//! An item of a Gopher server: its selector, its content, how the content ends, and its Gopher+ attributes.

use std::sync::Arc;

use crate::gopher::content::Content;
use crate::gopher::form::GopherForm;

/// The administrator of all items.
const ADMIN: &str = "Test Admin <admin@example.org>";

/// How a plain Gopher response ends before the connection is closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GopherEnd {
    /// A dot on a line of its own. Dots at the start of lines are doubled (RFC 1436 §3.5).
    Dot,
    /// A dot directly after the content, without doubling: UMN gopherd.
    LooseDot,
    /// Without a dot: gophernicus, pygopherd.
    Nothing,
}

/// How a Gopher+ status line announces the length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GopherLength {
    /// `-1`: up to a dot on a line of its own.
    Dot,
    /// `-2`: up to the end of the connection.
    End,
    /// The number of bytes.
    Known,
}

/// An item. By default texts and menus end with a dot, and other types do not.
#[derive(Clone, Debug)]
pub struct GopherItem {
    pub(crate) kind: u8,
    pub(crate) selector: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) views: Vec<View>,
    pub(crate) end: GopherEnd,
    pub(crate) length: GopherLength,
    /// The fifth field of its menu line on a Gopher+ server.
    pub(crate) plus_marker: Option<u8>,
    /// The host and port in menus. `None`: this server.
    pub(crate) host: Option<(String, u16)>,
    pub(crate) error: Option<ErrorItem>,
    pub(crate) admin: Vec<Vec<u8>>,
    /// Attribute blocks besides ADMIN, VIEWS and ASK, by name.
    pub(crate) blocks: Vec<(String, Vec<Vec<u8>>)>,
    pub(crate) form: Option<GopherForm>,
}

/// A representation of an item.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) media_type: String,
    pub(crate) language: Option<String>,
    pub(crate) content: Content,
}

/// An error that is sent instead of an item: the code of Gopher+ and the message.
#[derive(Clone, Debug)]
pub(crate) struct ErrorItem {
    pub(crate) code: u8,
    pub(crate) message: Vec<u8>,
}

/// Content.
impl GopherItem {
    /// An item of this type with these bytes. For a menu they are its lines.
    pub fn new(kind: char, selector: impl AsRef<[u8]>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(kind, selector, Content::bytes(bytes))
    }

    /// A type 0 item.
    pub fn text(selector: impl AsRef<[u8]>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new('0', selector, bytes)
    }

    /// A type 9 item.
    pub fn binary(selector: impl AsRef<[u8]>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new('9', selector, bytes)
    }

    /// A type 9 item with the first `size` bytes of [`pattern`](crate::pattern()), generated while they are
    /// sent.
    pub fn pattern(selector: impl AsRef<[u8]>, size: u64) -> Self {
        Self::of('9', selector, Content::Pattern(size))
    }

    /// A menu of the items with these selectors.
    pub fn menu<S: AsRef<[u8]>>(selector: impl AsRef<[u8]>, items: &[S]) -> Self {
        let items = items.iter().map(|item| item.as_ref().to_vec()).collect();
        Self::of('1', selector, Content::Menu(Some(items)))
    }

    /// A menu of `lines` lines, `entry 0000000` and so on. The entries cannot be fetched.
    pub fn generated_menu(selector: impl AsRef<[u8]>, lines: u64) -> Self {
        Self::of('1', selector, Content::GeneratedMenu(lines))
    }

    /// An item with `start` and then `again` repeated `times` times, generated while it is sent.
    pub fn repeated(kind: char, selector: impl AsRef<[u8]>, start: &str, again: &[u8], times: u64) -> Self {
        Self::of(kind, selector, Content::Repeated(start.as_bytes().into(), again.into(), times))
    }

    /// A type 7 item. The function returns the menu lines for a query.
    pub fn search(
        selector: impl AsRef<[u8]>,
        found: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        Self::of('7', selector, Content::Search(Arc::new(found)))
    }

    /// An item that is answered with an error: a Gopher+ code and a message.
    pub fn error(kind: char, selector: impl AsRef<[u8]>, code: u8, message: impl Into<Vec<u8>>) -> Self {
        let error = Some(ErrorItem { code, message: message.into() });
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
            name: selector.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec(),
            selector,
            views: vec![View { media_type: media_type.to_owned(), language: None, content }],
            end,
            length,
            plus_marker: Some(b'+'),
            host: None,
            error: None,
            admin: vec![format!("Admin: {ADMIN}").into_bytes()],
            blocks: Vec::new(),
            form: None,
        }
    }
}

/// Properties.
impl GopherItem {
    /// Sets the name in menus.
    #[must_use]
    pub fn name(self, name: impl AsRef<[u8]>) -> Self {
        Self { name: name.as_ref().to_vec(), ..self }
    }

    /// Sets how a plain Gopher response ends.
    #[must_use]
    pub fn ending(self, end: GopherEnd) -> Self {
        Self { end, ..self }
    }

    /// Sets how Gopher+ announces the length.
    #[must_use]
    pub fn length(self, length: GopherLength) -> Self {
        Self { length, ..self }
    }

    /// Leaves out the fifth field in menus.
    #[must_use]
    pub fn without_plus_marker(self) -> Self {
        Self { plus_marker: None, ..self }
    }

    /// Sets the host and port in menus.
    #[must_use]
    pub fn at(self, host: &str, port: u16) -> Self {
        Self { host: Some((host.to_owned(), port)), ..self }
    }

    /// Sets the media type and language of the content.
    #[must_use]
    pub fn media_type(mut self, media_type: &str, language: Option<&str>) -> Self {
        for view in &mut self.views {
            view.media_type = media_type.to_owned();
            view.language = language.map(str::to_owned);
        }
        self
    }

    /// Adds a representation.
    #[must_use]
    pub fn view(mut self, media_type: &str, language: Option<&str>, bytes: impl Into<Vec<u8>>) -> Self {
        let (media_type, language) = (media_type.to_owned(), language.map(str::to_owned));
        self.views.push(View { media_type, language, content: Content::bytes(bytes) });
        self
    }

    /// Sets the modification time: `19941201123456`.
    #[must_use]
    pub fn modified(mut self, time: &str) -> Self {
        self.admin.push(format!("Mod-Date: some day <{time}>").into_bytes());
        self
    }

    /// Sets the lines of the abstract.
    #[must_use]
    pub fn abstract_text(self, lines: &[&str]) -> Self {
        self.block("ABSTRACT", lines)
    }

    /// Adds a block of attributes.
    #[must_use]
    pub fn block(mut self, name: &str, lines: &[&str]) -> Self {
        let lines = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        self.blocks.push((name.to_owned(), lines));
        self
    }

    /// Turns the item into a form. The fifth field in menus is `?`.
    #[must_use]
    pub fn form(self, form: GopherForm) -> Self {
        Self { form: Some(form), plus_marker: Some(b'?'), ..self }
    }
}
