//! Directories that an index page lists without a final slash. The server redirects their URLs to the URLs with a
//! slash.

use fetch_url_core::{HttpUrl, Url, parse};

use super::identity::{path_segments, resource_identity};
use super::names::Candidate;
use super::{DirEntry, FileEntries, FileEntry, Tree, path_below};
use crate::Meta;

/// The maximum length of a file extension.
const MAX_EXTENSION: usize = 5;

/// Entries of an index page that [`TreeRules::include`](super::TreeRules::include) excludes as files. Only the server can
/// tell whether they are directories.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PossibleDirectories {
    /// Names without a file extension.
    pub likely: FileEntries,
    /// Names with a file extension. They can be directories only if the server lists directories without a slash, see
    /// [`Tree::lists_without_slashes`].
    pub unlikely: FileEntries,
}

impl FileEntry {
    /// Returns `true` if the entry comes from an HTTP index page. It is a directory if the server redirects its URL to
    /// the URL with a slash, see [`redirected_directory_url`](Self::redirected_directory_url).
    pub const fn may_be_directory(&self) -> bool {
        matches!(self.url, Url::Http(_)) && !self.is_page_link()
    }

    /// Returns the URL of a directory, if this entry of an index page was redirected to its path with a final slash, also in
    /// another spelling or on another server. It is the listed URL with a slash, so that the directory is requested
    /// from the server that lists it.
    pub fn redirected_directory_url(&self, meta: &Meta) -> Option<Url<'static>> {
        // Most entries are files, whose paths need not be decoded.
        let mut directories = visited(meta).filter(|url| ends_with_slash(url)).peekable();
        directories.peek()?;
        let path = self.listed_path()?;
        let is_redirected = directories.any(|url| {
            let segments = path_segments(url);
            segments.split_last().is_some_and(|(_, above)| above == path)
        });
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

/// Returns `true` if the last segment of the path is empty.
fn ends_with_slash(url: &HttpUrl<'_>) -> bool {
    url.path().is_none_or(|path| path.as_str().is_empty() || path.as_str().ends_with('/'))
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
        self.directory_links.lacks_slashes = true;
        self.pages.record_listed(&url, &file.path, true);
        Some(DirEntry { url, path: file.path.clone(), depth: file.depth })
    }

    /// Returns the entries of an index page that only the patterns for files exclude, and that may be directories.
    /// Returns no entries if all directories of the server that were found have a slash.
    pub(super) fn possible_directories(
        &mut self,
        directory: &DirEntry,
        base: &str,
        candidates: &[Candidate],
    ) -> PossibleDirectories {
        let is_index_page = matches!(self.start, Url::Http(_));
        self.directory_links.has_slashes |=
            is_index_page && candidates.iter().any(|candidate| candidate.properties.is_directory);
        if !is_index_page || !self.may_list_without_slashes() || directory.depth >= self.rules.max_depth {
            return PossibleDirectories::default();
        }
        let is_possible = |candidate: &&Candidate| {
            !candidate.properties.is_selected
                && !candidate.properties.is_directory
                && self.rules.selects(&path_below(&directory.path, candidate.name()), true)
        };
        let possible = candidates.iter().filter(is_possible).cloned();
        let (unlikely, likely) = possible.partition(|candidate| has_extension(candidate.name()));
        let entries =
            |candidates| FileEntries::new(directory, base, candidates, self.start.user_info(), true);
        PossibleDirectories { likely: entries(likely), unlikely: entries(unlikely) }
    }

    /// Returns `true` if an index page may have listed a directory without a slash: the server has done it, or no listing has
    /// an entry with a slash.
    pub const fn may_list_without_slashes(&self) -> bool {
        self.directory_links.may_lack_slashes()
    }

    /// Returns `true` if an index page has listed a directory without a slash.
    pub const fn lists_without_slashes(&self) -> bool {
        self.directory_links.lacks_slashes
    }

    /// Returns `true` if the directory is deeper than the rules allow.
    pub const fn is_too_deep(&self, directory: &DirEntry) -> bool {
        directory.depth > self.rules.max_depth
    }
}

/// Returns `true` if a name has a file extension: up to [`MAX_EXTENSION`] letters and digits, with at least one letter.
fn has_extension(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    !stem.is_empty()
        && extension.len() <= MAX_EXTENSION
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
}
