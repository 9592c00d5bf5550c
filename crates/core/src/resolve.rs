//! A reference against the URL it was found in (RFC 3986 §5.2): for HTTP's Location.

/// The text that `reference` names when it is found in the document `base`.
///
/// Both are text, and so is the answer: the caller parses it, by the same rules as everything else.
pub fn resolve(base: &str, reference: &str) -> String {
    if scheme_end(reference).is_some() {
        return reference.to_owned();
    }
    let base = base.split('#').next().unwrap_or(base);
    let scheme = &base[..scheme_end(base).map_or(0, |colon| colon + 1)];
    if reference.starts_with("//") {
        return format!("{scheme}{reference}");
    }
    let (authority, path, query) = split(&base[scheme.len()..]);
    let (rest, fragment) = cut(reference, '#');
    let (own_path, own_query) = cut(rest, '?');
    let (path, query) = match own_path {
        "" => (path.to_owned(), if own_query.is_empty() { query } else { own_query }),
        _ if own_path.starts_with('/') => (without_dots(own_path), own_query),
        _ => (without_dots(&merge(path, own_path)), own_query),
    };
    format!("{scheme}{authority}{path}{query}{fragment}")
}

/// Where the colon behind a scheme stands (RFC 3986 §3.1).
fn scheme_end(text: &str) -> Option<usize> {
    let colon = text.find(':')?;
    let name = &text.as_bytes()[..colon];
    let is_scheme = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|octet| octet.is_ascii_alphanumeric() || b"+-.".contains(octet));
    is_scheme.then_some(colon)
}

/// `//authority`, path and `?query` of what follows a scheme.
fn split(text: &str) -> (&str, &str, &str) {
    let start = if text.starts_with("//") { 2 } else { 0 };
    let path = text[start..].find(['/', '?']).map_or(text.len(), |at| start + at);
    let (path_text, query) = cut(&text[path..], '?');
    (&text[..path], path_text, query)
}

/// Before the first `mark`, and from it on.
fn cut(text: &str, mark: char) -> (&str, &str) {
    text.split_at(text.find(mark).unwrap_or(text.len()))
}

/// RFC 3986 §5.2.3.
fn merge(base: &str, reference: &str) -> String {
    let directory = base.rfind('/').map_or("/", |slash| &base[..=slash]);
    format!("{directory}{reference}")
}

/// RFC 3986 §5.2.4.
fn without_dots(path: &str) -> String {
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
