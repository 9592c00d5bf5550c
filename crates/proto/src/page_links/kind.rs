//! Detects which objects contain links: HTML pages and style sheets.

/// A kind of object that contains links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "one value for each reader of links")]
pub enum PageKind {
    /// An HTML or XHTML page.
    Html,
    /// A style sheet.
    Css,
}

/// The number of bytes at the beginning of an object that are searched for HTML.
const SNIFFED_BYTES: usize = 512;
/// The first tags of HTML pages, in lower case.
const FIRST_TAGS: [&[u8]; 5] = [b"<!doctype html", b"<html", b"<head", b"<title", b"<body"];

impl PageKind {
    /// Returns the kind of an object with this media type, or `None` if it contains no links.
    pub fn from_media_type(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match &*essence {
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "text/css" => Some(Self::Css),
            _ => None,
        }
    }

    /// Returns the kind of an object without media type, by the extension of its name, else by its first 512 bytes.
    pub fn from_name_and_start(name: &str, start: &[u8]) -> Option<Self> {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        match extension.as_deref() {
            Some("html" | "htm" | "xhtml" | "xht" | "shtml") => return Some(Self::Html),
            Some("css") => return Some(Self::Css),
            _ => {}
        }
        let start = &start[..start.len().min(SNIFFED_BYTES)];
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        let begins_with =
            |tag: &&[u8]| start.get(..tag.len()).is_some_and(|first| first.eq_ignore_ascii_case(tag));
        FIRST_TAGS.iter().any(begins_with).then_some(Self::Html)
    }
}
