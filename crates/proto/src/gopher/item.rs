//! Parses menu items (RFC 1436 §3.8) and builds their URLs.

use bytes::Bytes;
use fetch_url_core::{Host, PercentEncoded, charset, parse};
use memchr::memchr;

use crate::untrusted::safe_url;

/// The kind of item that a type character stands for (RFC 1436 §3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ItemType {
    /// `2`: a CSO phone book, which uses another protocol.
    Cso,
    /// `3`: an error message.
    Error,
    /// `i`: an informational line, not fetchable.
    Info,
    /// `1` (a menu) and `7` (a search, whose result is a menu).
    Menu,
    /// Binary data that ends with the connection: `4 5 6 9 g I s d h` and all unknown characters.
    Binary,
    /// `8` and `T`: a telnet or tn3270 session.
    Session,
    /// `0` and `m`: text.
    Text,
}

impl ItemType {
    /// Returns the kind for a type character.
    pub const fn from_gtype(gtype: u8) -> Self {
        match gtype {
            b'0' | b'm' => Self::Text,
            b'1' | b'7' => Self::Menu,
            b'2' => Self::Cso,
            b'3' => Self::Error,
            b'8' | b'T' => Self::Session,
            b'i' => Self::Info,
            _ => Self::Binary,
        }
    }

    /// Returns a short name of the type for display, such as `menu`.
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

/// One menu line, as sent by the server (RFC 1436 §3.8). Its fields are untrusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuItem {
    /// The type character; `i` for an invalid line.
    pub gtype: u8,
    /// The type character of the item that a `+` item duplicates; otherwise equal to `gtype`.
    pub primary_gtype: u8,
    /// The display string.
    pub name: Bytes,
    /// The selector to send to fetch the item.
    pub selector: Bytes,
    /// The host name, unchecked.
    pub host: Bytes,
    /// The port; 0 if there is none.
    pub port: u16,
    /// The fifth field of Gopher+ items: `+`, or `?` if a form must be filled in.
    pub plus: Option<u8>,
    /// The reason why the line is invalid, if it is.
    pub fault: Option<&'static str>,
}

/// The address of the contacted server. Items on the same server are fetched over TLS if the menu was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// The host, as in the URL.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl MenuItem {
    /// Parses a line without its line end. An invalid line becomes an informational item with the whole line
    /// as its name and a `fault`.
    pub fn parse(line: &Bytes) -> Self {
        match Self::fields(line) {
            Ok(item) => item,
            Err(fault) => Self {
                gtype: b'i',
                primary_gtype: b'i',
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
        // Some Gopher+ servers send the header of an attribute list instead of the item.
        let line = &line.strip_prefix(b"+INFO: ").map_or_else(|| line.clone(), |item| line.slice_ref(item));
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
        let is_read_only = matches!(ItemType::from_gtype(gtype), ItemType::Info | ItemType::Error);
        let port = match number(&port) {
            Some(port) => port,
            // Informational items need no port.
            None if is_read_only && has_selector => 0,
            None if !(has_selector && has_host && has_port) => return Err("fields are missing"),
            None => return Err("not a port"),
        };
        let plus = plus.first().copied().filter(|plus| matches!(plus, b'+' | b'?'));
        Ok(Self { gtype, primary_gtype: gtype, name, selector, host, port, plus, fault: None })
    }

    /// Returns `true` for an error message: an item of type `3`, or one of type `0` at port 1 of `error.host`, with
    /// which UMN servers report errors.
    pub fn is_error(&self) -> bool {
        match self.item_type() {
            ItemType::Error => true,
            ItemType::Text => self.host.as_ref() == b"error.host" && self.port == 1,
            _ => false,
        }
    }

    /// Returns the kind of the item.
    pub const fn item_type(&self) -> ItemType {
        ItemType::from_gtype(self.primary_gtype)
    }

    /// Returns the URL of the item, or `None` for informational and error items and for an invalid host or
    /// port.
    ///
    /// `here` is the contacted server if TLS is used: items on it get `gophers:` URLs.
    pub fn url(&self, here: Option<&ServerAddress>) -> Option<String> {
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
        // Servers may write IPv6 addresses without brackets.
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
        // The host field is untrusted: it must be a host and nothing else.
        let url = parse(&text).ok()?.url;
        let is_host = url.host().is_some_and(|host_of| host_of.to_string().eq_ignore_ascii_case(&host));
        is_host.then(|| url.to_string())
    }

    fn path(&self) -> String {
        let gtype = PercentEncoded::encode(std::slice::from_ref(&self.primary_gtype), charset::FSEGMENT);
        let selector = PercentEncoded::encode(&self.selector, charset::FPATH);
        match self.plus {
            Some(plus) => format!("{gtype}{selector}%09%09{}", char::from(plus)),
            None => format!("{gtype}{selector}"),
        }
    }

    /// Returns the target of an `h` item with `URL:`, unless it is a local file.
    fn linked(&self) -> Option<String> {
        safe_url(link_target(self.primary_gtype, &self.selector)?)
    }
}

/// Returns the target after `URL:` in the selector of an `h` item, or `None` if the item has none.
pub fn link_target(gtype: u8, selector: &[u8]) -> Option<&[u8]> {
    // Some servers add a leading slash.
    let selector = selector.strip_prefix(b"/").unwrap_or(selector);
    let (prefix, target) = selector.split_at_checked(4)?;
    (gtype == b'h' && prefix.eq_ignore_ascii_case(b"URL:")).then_some(target)
}

fn number(bytes: &[u8]) -> Option<u16> {
    // Real servers send "70 " and "70\r".
    let digits = bytes.trim_ascii();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_of_an_attribute_list_is_the_item() {
        let item = MenuItem::parse(&Bytes::from_static(b"+INFO: 0A text\t/a\th\t70\t+"));
        assert_eq!((item.gtype, &item.name[..], &item.selector[..]), (b'0', &b"A text"[..], &b"/a"[..]));
        let other = MenuItem::parse(&Bytes::from_static(b"+INFO\t/a\th\t70"));
        assert_eq!((other.gtype, &other.name[..]), (b'+', &b"INFO"[..]));
    }
}
