//! Resolves a reference against a base URL (RFC 3986 §5.2), for the `Location` field of HTTP and links in documents.

use std::borrow::Cow;

/// Returns the bytes of a reference as text, for example from a page or a header field. Bytes that are not UTF-8 are
/// percent-encoded, so that the server receives them unchanged.
///
/// ```
/// use fetch_url_core::reference_text;
///
/// assert_eq!(reference_text(b"caf\xe9/\xc3\xa9"), "caf%E9/\u{e9}");
/// ```
pub fn reference_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let encode = |bytes: &[u8]| bytes.iter().map(|byte| format!("%{byte:02X}")).collect::<String>();
    bytes.utf8_chunks().map(|chunk| chunk.valid().to_owned() + &encode(chunk.invalid())).collect()
}

/// Resolves `reference` against `base` (RFC 3986 §5.2), as a browser does with a link, and returns the target as text.
///
/// Nothing is checked: the caller parses the result, which may not be a valid URL.
///
/// ```
/// use fetch_url_core::resolve_reference;
///
/// assert_eq!(resolve_reference("http://h/a/b?c", "../d"), "http://h/d");
/// assert_eq!(resolve_reference("http://h/a", "//g/b"), "http://g/b");
/// ```
pub fn resolve_reference(base: &str, reference: &str) -> String {
    if scheme_end(reference).is_some() {
        return reference.to_owned();
    }
    let base = base.split('#').next().unwrap_or(base);
    let scheme = &base[..scheme_end(base).map_or(0, |colon| colon + 1)];
    if reference.starts_with("//") {
        return format!("{scheme}{reference}");
    }
    let (authority, base_path, base_query) = split_hierarchy(&base[scheme.len()..]);
    let (hierarchy, fragment) = split_before(reference, '#');
    let (path, query) = split_before(hierarchy, '?');
    let (path, query) = match path {
        "" => (base_path.to_owned(), if query.is_empty() { base_query } else { query }),
        _ if path.starts_with('/') => (remove_dot_segments(path), query),
        _ => (remove_dot_segments(&merge_paths(base_path, path)), query),
    };
    format!("{scheme}{authority}{path}{query}{fragment}")
}

/// Returns the offset of the colon after the scheme, if the text starts with a scheme (RFC 3986 §3.1).
fn scheme_end(text: &str) -> Option<usize> {
    let colon = text.find(':')?;
    let name = &text.as_bytes()[..colon];
    let is_scheme = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    is_scheme.then_some(colon)
}

/// Splits the text after a scheme into `//authority`, path and `?query`.
fn split_hierarchy(text: &str) -> (&str, &str, &str) {
    let start = if text.starts_with("//") { 2 } else { 0 };
    let authority_end = text[start..].find(['/', '?']).map_or(text.len(), |at| start + at);
    let (path, query) = split_before(&text[authority_end..], '?');
    (&text[..authority_end], path, query)
}

/// Splits the text before the first `separator`, which stays in the second part.
fn split_before(text: &str, separator: char) -> (&str, &str) {
    text.split_at(text.find(separator).unwrap_or(text.len()))
}

/// Replaces the last segment of the base path by the reference (RFC 3986 §5.2.3).
fn merge_paths(base: &str, reference: &str) -> String {
    let directory = base.rfind('/').map_or("/", |slash| &base[..=slash]);
    format!("{directory}{reference}")
}

/// Removes the segments `.` and `..` (RFC 3986 §5.2.4).
fn remove_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            _ => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}
