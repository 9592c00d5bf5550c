//! The entry of a link to a URL directly below the directory.

use fetch_url_core::{PercentEncoded, parse};

use crate::{Entry, EntryKind};

/// Returns the entry of a reference that is only a name of unreserved characters (RFC 3986 §2.3), with or without a slash
/// at its end. Most references of index pages are such names, so their URLs are built without parsing.
pub(super) fn plain_child(directory: &str, href: &str) -> Option<Entry> {
    let (name, kind) = match href.strip_suffix('/') {
        Some(name) => (name, EntryKind::Directory),
        None => (href, EntryKind::File),
    };
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    if !is_plain || matches!(name, "" | "." | "..") || directory.is_empty() {
        return None;
    }
    Some(Entry { name: name.into(), url: Some(format!("{directory}{href}")), ..Entry::new(kind) })
}

/// Returns the entry of `url` if it is directly below `directory`. Percent-encoding is ignored in the comparison.
pub(super) fn child_entry(directory: &str, url: &str) -> Option<Entry> {
    let url = canonical_url(url.split('#').next().unwrap_or(url))?;
    let url = without_typecode(url);
    let (start, below) = url.split_at(url.trim_end_matches('/').rfind('/')? + 1);
    if start != directory && decode_segments(start) != decode_segments(directory) {
        return None;
    }
    let name = below.strip_suffix('/').unwrap_or(below);
    if name.is_empty() || name.contains(['/', '?']) {
        return None;
    }
    let kind = if below.ends_with('/') { EntryKind::Directory } else { EntryKind::File };
    let name = PercentEncoded::from(name).decode().into_owned();
    Some(Entry { name, url: Some(url), ..Entry::new(kind) })
}

/// Removes the typecode of an ftp URL, which is no part of the name (RFC 1738 §3.2.2): squid links to each file a second
/// time with `;type=i`.
fn without_typecode(mut url: String) -> String {
    let is_ftp = url.starts_with("ftp:") || url.starts_with("ftps:");
    let typecode = url.rfind(';').filter(|_| is_ftp);
    if let Some(start) = typecode.filter(|start| {
        matches!(url[start + 1..].to_ascii_lowercase().as_str(), "type=a" | "type=d" | "type=i")
    }) {
        url.truncate(start);
    }
    url
}

/// Returns the segments between the slashes, percent-decoded.
fn decode_segments(url: &str) -> Vec<Vec<u8>> {
    url.split('/').map(|part| PercentEncoded::from(part).decode().into_owned()).collect()
}

/// Returns the URL in its canonical spelling, without user name and password.
pub(super) fn canonical_url(url: &str) -> Option<String> {
    Some(parse(url).ok()?.url.with_user_info(None).to_string())
}
