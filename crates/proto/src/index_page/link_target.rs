//! Where the links of an index page lead.

use fetch_url_core::resolve_reference;

use super::child_entry::canonical_url;
use super::listing_signs::sorts_columns;
use super::pagination::has_page_parameter;

/// The maximum length of a reference in bytes.
pub(super) const MAX_REFERENCE_BYTES: usize = 8 * 1024;

/// The target of a link that is not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherTarget {
    /// On another server: another host, port or scheme.
    OtherServer,
    /// On the same server, not directly below the directory.
    Outside,
    /// The directory, or something directly below it, with a query.
    WithQuery,
}

impl OtherTarget {
    /// Returns the target of a reference, or `None` for a reference without a host, such as `mailto:`.
    pub(super) fn of(directory: &str, href: &str) -> Option<Self> {
        if href.len() > MAX_REFERENCE_BYTES {
            return None;
        }
        let url = canonical_url(&resolve(directory, href))?;
        let origin = origin(&url)?;
        if Some(origin) != self::origin(directory) {
            return Some(Self::OtherServer);
        }
        let Some((path, _)) = url.split_once('?') else { return Some(Self::Outside) };
        let is_below = path.strip_prefix(directory).is_some_and(|name| !name.contains('/'));
        Some(if is_below { Self::WithQuery } else { Self::Outside })
    }
}

/// Resolves a reference against the directory, and removes the segments `.` and `..` of an absolute URL, too.
pub(super) fn resolve(directory: &str, href: &str) -> String {
    let url = resolve_reference(directory, href);
    let path_start = origin(&url).map_or(url.len(), str::len);
    match &url[path_start..] {
        path if path.starts_with("//") || !path.contains("/.") => url,
        path => resolve_reference(&url, path),
    }
}

/// Returns scheme, host and port of a URL, as text.
fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + "://".len();
    Some(&url[..url[start..].find(['/', '?', '#']).map_or(url.len(), |end| start + end)])
}

/// Returns `true` if a reference leads to the page itself, with another query.
pub(super) fn is_own_url(directory: &str, href: &str) -> bool {
    let url = resolve(directory, href);
    canonical_url(url.split(['?', '#']).next().unwrap_or_default()).is_some_and(|url| url == directory)
}

/// Returns `true` if a reference leads to the server of the page.
pub(super) fn is_on_own_server(directory: &str, href: &str) -> bool {
    canonical_url(&resolve(directory, href)).is_some_and(|url| origin(&url) == origin(directory))
}

/// Returns `true` if a reference leads to the page itself, to a directory above it, or to a page or order of the
/// listing.
pub(super) fn is_navigation(directory: &str, href: &str) -> bool {
    if href.len() > MAX_REFERENCE_BYTES {
        return false;
    }
    if sorts_columns(href) {
        return true;
    }
    let url = resolve(directory, href);
    let url = url.split('#').next().unwrap_or_default();
    match url.split_once('?') {
        Some(_) => has_page_parameter(url) && is_own_url(directory, href),
        None => canonical_url(url)
            .is_some_and(|url| directory.starts_with(&format!("{}/", url.trim_end_matches('/')))),
    }
}
