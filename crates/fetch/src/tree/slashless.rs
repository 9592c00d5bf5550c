//! Directories that an index page lists without a final slash: the server redirects their URLs to the same with a slash.

use fetch_url_core::Url;

use super::identity::resource_identity;
use super::{DirEntry, FileEntry, Tree};

impl FileEntry {
    /// Returns `true` if the entry comes from an HTTP index page. It is a directory if the server redirects its URL to the
    /// same with a slash, see [`is_redirected_to_directory`](Self::is_redirected_to_directory).
    pub const fn may_be_directory(&self) -> bool {
        matches!(self.url, Url::Http(_)) && !self.is_page_link()
    }

    /// Returns `true` if this entry of an index page was redirected to `final_url`, which is its URL with a final slash.
    pub fn is_redirected_to_directory(&self, final_url: &Url<'_>) -> bool {
        let text = |url: &Url<'_>| url.clone().with_user_info(None).to_string();
        self.may_be_directory()
            && text(final_url).strip_suffix('/').is_some_and(|directory| directory == text(&self.url))
    }
}

impl Tree {
    /// Converts an entry that was redirected to `target`, its URL with a final slash, to a directory. Returns `None` if the
    /// directory was found before.
    pub fn redirected_directory(&mut self, file: &FileEntry, target: &Url<'_>) -> Option<DirEntry> {
        let url = target.clone().into_owned().with_user_info(self.start.user_info());
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
