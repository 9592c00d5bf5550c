//! Directories that an index page lists without a final slash: the server redirects their URLs to the same with a slash.

use fetch_url_core::{HttpUrl, Url, parse};

use super::identity::{path_segments, resource_identity};
use super::{DirEntry, FileEntry, Tree};
use crate::Meta;

impl FileEntry {
    /// Returns `true` if the entry comes from an HTTP index page. It is a directory if the server redirects its URL to the
    /// same with a slash, see [`redirected_directory_url`](Self::redirected_directory_url).
    pub const fn may_be_directory(&self) -> bool {
        matches!(self.url, Url::Http(_)) && !self.is_page_link()
    }

    /// Returns the URL of a directory, if this entry of an index page was redirected to its path with a final slash, also in
    /// another spelling or on another server. It is the listed URL with a slash, so that the directory is requested
    /// from the server that lists it.
    pub fn redirected_directory_url(&self, meta: &Meta) -> Option<Url<'static>> {
        let path = self.listed_path()?;
        let is_directory = |url: &HttpUrl<'_>| matches!(&path_segments(url)[..], [above @ .., last] if last.is_empty() && above == path);
        let is_redirected = visited(meta).any(is_directory);
        let text = is_redirected.then(|| format!("{}/", self.url.without_password()))?;
        Some(parse(&text).ok()?.into_owned().url.with_user_info(self.url.user_info()))
    }

    /// Returns `true` if this entry of an index page was redirected to a URL that ends with a slash or is below its own: it
    /// may be a directory that is elsewhere.
    pub fn may_be_directory_elsewhere(&self, meta: &Meta) -> bool {
        let Some(path) = self.listed_path() else { return false };
        let is_directory = |url: &HttpUrl<'_>| {
            let segments = path_segments(url);
            segments.last().is_some_and(Vec::is_empty)
                || (segments.len() > path.len() && segments.starts_with(&path))
        };
        visited(meta).any(is_directory)
    }

    /// Returns the segments of the path of an entry of an index page.
    fn listed_path(&self) -> Option<Vec<Vec<u8>>> {
        match &self.url {
            Url::Http(url) if self.may_be_directory() => Some(path_segments(url)),
            _ => None,
        }
    }
}

/// Returns the URLs of the redirects and of the final response.
fn visited(meta: &Meta) -> impl Iterator<Item = &HttpUrl<'static>> {
    meta.earlier.iter().chain([meta]).filter_map(|meta| match &meta.url {
        Url::Http(url) => Some(url),
        _ => None,
    })
}

impl Tree {
    /// Converts an entry to the directory `url`, to which it was redirected. Returns `None` if the directory was found
    /// before.
    pub fn redirected_directory(&mut self, file: &FileEntry, url: &Url<'_>) -> Option<DirEntry> {
        let url = url.clone().into_owned().with_user_info(self.start.user_info());
        if !self.seen.insert(resource_identity(&url)) {
            return None;
        }
        self.pages.record_listed(&url, &file.path, true);
        Some(DirEntry { url, path: file.path.clone(), depth: file.depth })
    }

    /// Returns `true` if the directory is deeper than the rules allow.
    pub const fn is_too_deep(&self, directory: &DirEntry) -> bool {
        directory.depth > self.rules.max_depth
    }
}
