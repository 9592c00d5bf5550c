//! An item of a menu (RFC 1436 §3.8).

use bytes::Bytes;
use fetch_url_core::{Escaped, Host, charset, parse};
use memchr::memchr;

use crate::stranger::link_of_a_stranger;
use crate::{Details, Entry, EntryKind};

/// What a type character means for whoever fetches the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ItemType {
    /// `2`: a CSO phone book, which speaks a protocol of its own.
    Cso,
    /// `3`: no item, but the server's word that something went wrong.
    Error,
    /// `i`: a line to be read, nothing to be fetched.
    Info,
    /// `1`, and `7`, the answer of a search engine.
    Menu,
    /// Octets that end where the connection does: `4 5 6 9 g I s d h …`.
    Octets,
    /// `8` and `T`: a telnet or tn3270 session.
    Session,
    /// `0` and `m`: text.
    Text,
}

impl ItemType {
    /// The meaning of a character.
    pub const fn of(gtype: u8) -> Self {
        match gtype {
            b'0' | b'm' => Self::Text,
            b'1' | b'7' => Self::Menu,
            b'2' => Self::Cso,
            b'3' => Self::Error,
            b'8' | b'T' => Self::Session,
            b'i' => Self::Info,
            _ => Self::Octets,
        }
    }

    /// A short word for a type character, for people.
    pub const fn word(gtype: u8) -> &'static str {
        match gtype {
            b'0' => "text",
            b'1' => "menu",
            b'2' => "cso",
            b'3' => "error",
            b'4' => "binhex",
            b'5' => "archive",
            b'6' => "uuencode",
            b'7' => "search",
            b'8' => "telnet",
            b'9' => "binary",
            b'+' => "mirror",
            b'I' | b':' | b'p' => "image",
            b'M' => "mime",
            b'P' => "pdf",
            b'T' => "tn3270",
            b'd' => "document",
            b'g' => "gif",
            b'h' => "html",
            b'i' => "info",
            b'm' => "mail",
            b's' | b'<' => "sound",
            b';' => "video",
            _ => "item",
        }
    }
}

/// One line of a menu, as its server sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuItem {
    /// The type character; `i` for a line that is no menu line.
    pub gtype: u8,
    /// The type of the item that a `+` mirrors; `gtype` for all others.
    pub base: u8,
    /// What is shown.
    pub name: Bytes,
    /// What is sent to fetch it.
    pub selector: Bytes,
    /// The host, as it came.
    pub host: Bytes,
    /// The port; 0 where there is none.
    pub port: u16,
    /// The fifth field of Gopher+ items: `+`, or `?` where a form has to be filled in.
    pub plus: Option<u8>,
    /// What is wrong with the line.
    pub fault: Option<&'static str>,
}

/// A server that is asked: entries on it are fetched as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// Its host, as in the URL.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl MenuItem {
    /// Reads a line without its line end. A line that is none becomes an item to be read, whole.
    pub fn parse(line: &Bytes) -> Self {
        match Self::fields(line) {
            Ok(item) => item,
            Err(fault) => Self {
                gtype: b'i',
                base: b'i',
                name: line.clone(),
                selector: Bytes::new(),
                host: Bytes::new(),
                port: 0,
                plus: None,
                fault: Some(fault),
            },
        }
    }

    fn fields(line: &Bytes) -> Result<Self, &'static str> {
        let Some(&gtype) = line.first() else { return Err("an empty line") };
        let mut rest = line.slice(1..);
        let mut next = || {
            let end = memchr(b'\t', &rest);
            let field = rest.slice(..end.unwrap_or(rest.len()));
            rest = end.map_or_else(Bytes::new, |end| rest.slice(end + 1..));
            (field, end.is_some())
        };
        let (name, has_selector) = next();
        let (selector, has_host) = next();
        let (host, has_port) = next();
        let (port, _) = next();
        let (plus, _) = next();
        let is_read_only = matches!(ItemType::of(gtype), ItemType::Info | ItemType::Error);
        let port = match number(&port) {
            Some(port) => port,
            // Nobody connects to what is only read.
            None if is_read_only && has_selector => 0,
            None if !(has_selector && has_host && has_port) => return Err("fields are missing"),
            None => return Err("not a port"),
        };
        let plus = plus.first().copied().filter(|plus| matches!(plus, b'+' | b'?'));
        Ok(Self { gtype, base: gtype, name, selector, host, port, plus, fault: None })
    }

    /// What it means for whoever fetches it.
    pub const fn item_type(&self) -> ItemType {
        ItemType::of(self.base)
    }

    /// The URL that fetches it; none for what is only read, and where host or port are none.
    ///
    /// `here` is the server that was asked, when it was asked in TLS: items on it are fetched in TLS too.
    pub fn url(&self, here: Option<&Here>) -> Option<String> {
        if matches!(self.item_type(), ItemType::Info | ItemType::Error) {
            return None;
        }
        if let Some(url) = self.linked() {
            return Some(url);
        }
        if self.port == 0 {
            return None;
        }
        let host = std::str::from_utf8(&self.host).ok().filter(|host| !host.is_empty())?;
        // A server may write an IPv6 address without brackets.
        let host = match host.parse() {
            Ok(address) => Host::V6(address).to_string(),
            Err(_) => host.to_owned(),
        };
        let is_here =
            here.is_some_and(|here| here.port == self.port && here.host.eq_ignore_ascii_case(&host));
        let scheme = if is_here { "gophers" } else { "gopher" };
        let port = if self.port == 70 { String::new() } else { format!(":{}", self.port) };
        let path = self.path();
        let text = format!("{scheme}://{host}{port}/{path}");
        // Whatever a stranger wrote as a host has to be one, and nothing more.
        let url = parse(&text).ok()?.url;
        let is_host = url.host().is_some_and(|host_of| host_of.to_string().eq_ignore_ascii_case(&host));
        is_host.then(|| url.to_string())
    }

    fn path(&self) -> String {
        let gtype = Escaped::encode(std::slice::from_ref(&self.base), charset::FSEGMENT);
        let selector = Escaped::encode(&self.selector, charset::FPATH);
        match self.plus {
            Some(plus) => format!("{gtype}{selector}%09%09{}", char::from(plus)),
            None => format!("{gtype}{selector}"),
        }
    }

    /// Where an `h` item with `URL:` leads, unless to a file of whoever reads the menu.
    fn linked(&self) -> Option<String> {
        link_of_a_stranger(link(self.base, &self.selector)?)
    }

    /// The line of a listing that it is.
    pub fn into_entry(self, here: Option<&Here>) -> Entry {
        let kind = match self.item_type() {
            ItemType::Menu => EntryKind::Directory,
            ItemType::Text | ItemType::Octets if link(self.base, &self.selector).is_some() => EntryKind::Link,
            ItemType::Text | ItemType::Octets => EntryKind::File,
            _ => EntryKind::Other,
        };
        let url = self.url(here);
        Entry {
            name: self.name.to_vec(),
            url,
            details: Details::MenuItem(Box::new(self), None),
            ..Entry::new(kind)
        }
    }
}

/// What stands behind the `URL:` of an `h` item's selector.
pub fn link(gtype: u8, selector: &[u8]) -> Option<&[u8]> {
    // There are servers that write a slash in front.
    let selector = selector.strip_prefix(b"/").unwrap_or(selector);
    let (prefix, target) = selector.split_at_checked(4)?;
    (gtype == b'h' && prefix.eq_ignore_ascii_case(b"URL:")).then_some(target)
}

fn number(octets: &[u8]) -> Option<u16> {
    // "70 " and "70\r" are met in practice.
    let digits = octets.trim_ascii();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}
