//! The media type of an object: from its server, from the type in its URL, or from its name; never from its bytes.

use std::borrow::Cow;

use fetch_url::Url;
use fetch_url::url::WaisResource;

/// The type of bytes about which nothing is known.
pub(crate) const BINARY: &str = "application/octet-stream";

/// The media types of names. Types that a browser runs, such as scripts, are absent on purpose.
const TYPES: &[(&str, &str)] = &[
    ("7z", "application/x-7z-compressed"),
    ("asc", "text/plain"),
    ("au", "audio/basic"),
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("bz2", "application/x-bzip2"),
    ("c", "text/plain"),
    ("cfg", "text/plain"),
    ("conf", "text/plain"),
    ("csv", "text/csv"),
    ("diff", "text/plain"),
    ("eml", "message/rfc822"),
    ("epub", "application/epub+zip"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("gmi", "text/plain"),
    ("gz", "application/gzip"),
    ("h", "text/plain"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ico", "image/x-icon"),
    ("iso", "application/x-iso9660-image"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("log", "text/plain"),
    ("md", "text/plain"),
    ("mid", "audio/midi"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("nfo", "text/plain"),
    ("ogg", "audio/ogg"),
    ("patch", "text/plain"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ps", "application/postscript"),
    ("rs", "text/plain"),
    ("rtf", "application/rtf"),
    ("sh", "text/plain"),
    ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"),
    ("tex", "text/plain"),
    ("tgz", "application/gzip"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("toml", "text/plain"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xml", "application/xml"),
    ("xz", "application/x-xz"),
    ("yaml", "text/plain"),
    ("zip", "application/zip"),
    ("zst", "application/zstd"),
];

/// Names of text files without an extension.
const TEXT_NAMES: &[&str] = &[
    "readme",
    "license",
    "copying",
    "changelog",
    "changes",
    "authors",
    "news",
    "install",
    "makefile",
    "todo",
    "motd",
];

/// Returns the media type of the object at `url`. `stated` is the one that its server sent.
pub(crate) fn media_type(url: &Url<'_>, stated: Option<&str>) -> Cow<'static, str> {
    if let Some(stated) = stated.filter(|stated| is_media_type(stated)) {
        return Cow::Owned(stated.to_owned());
    }
    let named = || fetch_url::output::file_name(url).and_then(|name| of_name(&name));
    let known = match url {
        Url::Gopher(url) => match url.gtype() {
            b'0' | b'm' => Some("text/plain"),
            b'g' => Some("image/gif"),
            b'h' => Some("text/html"),
            b'P' => Some("application/pdf"),
            b'M' => Some("message/rfc822"),
            b'p' => named().or(Some("image/png")),
            b'I' | b':' => named().filter(|named| named.starts_with("image/")).or(Some(BINARY)),
            // Item types that mean binary data; their names may still say more.
            _ => named(),
        },
        Url::Wais(url) => match url.resource() {
            WaisResource::Document { wtype, .. } => of_wais_type(&wtype.decode()),
            _ => None,
        },
        Url::News(_) | Url::Nntp(_) => Some("message/rfc822"),
        _ => named(),
    };
    Cow::Borrowed(known.unwrap_or(BINARY))
}

/// Returns the media type of the extension of `name`.
fn of_name(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    if TEXT_NAMES.contains(&name.as_str()) {
        return Some("text/plain");
    }
    let (_, extension) = name.rsplit_once('.')?;
    TYPES.iter().find(|(known, _)| *known == extension).map(|(_, media_type)| *media_type)
}

/// Returns the media type of a WAIS document type (RFC 1625 and the servers of its time).
fn of_wais_type(wtype: &[u8]) -> Option<&'static str> {
    match wtype.to_ascii_uppercase().as_slice() {
        b"TEXT" | b"WSRC" | b"WCAT" => Some("text/plain"),
        b"HTML" => Some("text/html"),
        b"GIF" => Some("image/gif"),
        b"JPEG" => Some("image/jpeg"),
        b"TIFF" => Some("image/tiff"),
        b"PS" => Some("application/postscript"),
        b"MIME" => Some("message/rfc822"),
        _ => None,
    }
}

fn is_media_type(text: &str) -> bool {
    text.contains('/') && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

/// Returns the essence of a media type: `type/subtype` in lower case, without parameters.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns `true` for types that a browser shows in its window; others are saved.
pub(crate) fn is_shown(essence: &str) -> bool {
    matches!(essence, "text/plain" | "text/html" | "text/csv" | "application/json")
        || ["image/", "audio/", "video/"].iter().any(|prefix| essence.starts_with(prefix))
}

/// Returns the parameter `charset` for text whose server states none: UTF-8 if the beginning is valid UTF-8, otherwise
/// ISO 8859-1, which older servers use.
pub(crate) fn text_charset(beginning: &[u8]) -> &'static str {
    match std::str::from_utf8(beginning) {
        // A character may be cut at the end.
        Err(error) if error.error_len().is_some() => "iso-8859-1",
        _ => "utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_comes_from_server_url_or_name() {
        for (url, stated, expected) in [
            ("gopher://h/0/a.html", None, "text/plain"),
            ("gopher://h/h/a", None, "text/html"),
            ("gopher://h/9/a.zip", None, "application/zip"),
            ("gopher://h/9/a.js", None, BINARY),
            ("gopher://h/I/a.jpg", None, "image/jpeg"),
            ("gopher://h/I/a.html", None, BINARY),
            ("ftp://h/a.TXT", None, "text/plain"),
            ("ftp://h/README", None, "text/plain"),
            ("ftp://h/a.js", None, BINARY),
            ("ftp://h/a", Some("image/png"), "image/png"),
            ("ftp://h/a", Some("bad\r\nvalue/x"), BINARY),
            ("wais://h/d/HTML/1=a;", None, "text/html"),
            ("news:1@h", None, "message/rfc822"),
        ] {
            let url = fetch_url::url::parse(url).expect(url).url;
            assert_eq!(media_type(&url, stated), expected, "{url}");
        }
    }

    #[test]
    fn charset_is_that_of_the_bytes() {
        assert_eq!(text_charset("caf\u{e9}".as_bytes()), "utf-8");
        assert_eq!(text_charset(b"caf\xc3"), "utf-8");
        assert_eq!(text_charset(b"caf\xe9 noir"), "iso-8859-1");
    }

    #[test]
    fn table_is_sorted() {
        assert!(TYPES.is_sorted_by_key(|(extension, _)| extension));
    }
}
