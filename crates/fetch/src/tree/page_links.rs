//! Links of pages: which of them are fetched as files, and why the others are not.

use std::mem;

use fetch_url_core::{Url, parse};
use fetch_url_proto::EntryKind;

use super::identity::resource_identity;
use super::page_paths::PagePath;
use super::page_state::{FoundLink, PagePosition, SkippedLinks};
use super::{DirEntry, FileEntry, Tree};
use crate::{Code, Error, Phase};

/// The maximum length of a chain of requisites, such as style sheets that import style sheets.
const MAX_REQUISITE_CHAIN: u32 = 16;

/// The reason why a link is not fetched.
enum LinkSkip {
    OtherServer,
    OutsideStart,
    TooDeep,
}

impl FileEntry {
    /// Returns `true` for a page, or a file that a page refers to. Its links are followed if it is HTML or CSS.
    pub const fn is_page_link(&self) -> bool {
        self.position.is_some()
    }

    /// Returns `true` if this file is a page, and `final_url`, to which it was redirected, is another page of the same
    /// server.
    pub fn is_moved_to(&self, final_url: &Url<'_>) -> bool {
        match (&self.url, final_url) {
            (Url::Http(old), Url::Http(new)) if self.is_page_link() => {
                self.url.same_origin(final_url) && PagePath::of(old) != PagePath::of(new)
            }
            _ => false,
        }
    }
}

impl Tree {
    /// Returns the page that the server sent instead of the listing of `directory`. It is fetched even if a pattern
    /// excludes it, because its links lead to the files that are not excluded.
    pub fn ordinary_page(&mut self, directory: &DirEntry) -> Option<FileEntry> {
        let Url::Http(http) = &directory.url else { return None };
        let page = PagePath::of(http);
        self.pages.seen.insert(page.identity());
        self.pages.paths.record_directory(&directory.url, &directory.path);
        let path = self.pages.paths.assign_file(&page, &directory.path, |_| false, &self.folding_probe)?;
        Some(self.page_entry(
            directory.url.clone(),
            path,
            directory.depth,
            PagePosition { requisite_chain: 0 },
        ))
    }

    fn page_entry(&self, url: Url<'static>, path: String, depth: u32, position: PagePosition) -> FileEntry {
        let url = url.with_user_info(self.start.user_info());
        FileEntry {
            url,
            path,
            size: None,
            modified: None,
            modified_nanoseconds: 0,
            content_id: None,
            uncertain_kind: None,
            is_excluded_file: false,
            depth,
            position: Some(position),
        }
    }

    /// Records a link of `page`. [`take_linked_files`](Self::take_linked_files) returns it, if it is to be fetched.
    ///
    /// # Errors
    /// [`Code::LimitReached`] if there are more links than the maximum number of entries.
    pub fn add_link(&mut self, page: &FileEntry, url: &str, is_requisite: bool) -> Result<(), Error> {
        self.entries += 1;
        if self.entries > self.rules.max_entries {
            let detail = format!("more than {} links", self.rules.max_entries);
            return Err(Error::new(Code::LimitReached, Phase::Body, detail).with_url(&page.url));
        }
        let Some(PagePosition { requisite_chain }) = page.position else { return Ok(()) };
        if self.rules.page_requisites_only && !is_requisite {
            return Ok(());
        }
        // A requisite belongs to its page, so it has the depth of the page.
        let (depth, requisite_chain) =
            if is_requisite { (page.depth, requisite_chain + 1) } else { (page.depth + 1, 0) };
        self.add_target(url, depth, PagePosition { requisite_chain });
        Ok(())
    }

    /// Records that the server redirects `link` to `target`. The target replaces the link and can get its local path.
    pub fn add_redirect(&mut self, link: &FileEntry, target: &Url<'_>) {
        if let Some(position) = link.position {
            self.pages.paths.release_file(&link.path);
            self.add_target(&target.clone().with_user_info(None).to_string(), link.depth, position);
        }
    }

    fn add_target(&mut self, url: &str, depth: u32, position: PagePosition) {
        let Ok(url) = parse(url).map(|parsed| parsed.into_owned().url) else { return };
        let (path, identity) = match &url {
            Url::Http(http) if self.start.same_origin(&url) => {
                let path = PagePath::of(http);
                let identity = path.identity();
                (Some(path), identity)
            }
            other => (None, resource_identity(other)),
        };
        let key = url.to_string();
        if let Some(found) = self.pages.found.get_mut(&key) {
            found.depth = found.depth.min(depth);
            return;
        }
        let checked = match path {
            _ if self.pages.seen.contains(identity) => return,
            None => Err(LinkSkip::OtherServer),
            Some(path) => self.check_link(path, depth, position),
        };
        // A link that is too deep here may be less deep on another page, so only the inverted identity is recorded,
        // which counts the link once.
        let is_too_deep = matches!(checked, Err(LinkSkip::TooDeep));
        let is_new = self.pages.seen.insert(if is_too_deep { !identity } else { identity });
        match checked {
            Ok(path) => {
                self.pages.found.insert(key, FoundLink { url, path, depth, position });
            }
            Err(_) if !is_new => {}
            Err(LinkSkip::OtherServer) => self.pages.skipped.other_servers += 1,
            Err(LinkSkip::OutsideStart) => self.pages.skipped.outside_start += 1,
            Err(LinkSkip::TooDeep) => self.pages.skipped.too_deep += 1,
        }
    }

    fn check_link(&self, path: PagePath, depth: u32, position: PagePosition) -> Result<PagePath, LinkSkip> {
        let Url::Http(start) = &self.start else { return Err(LinkSkip::OtherServer) };
        let may_be_outside = self.rules.page_requisites_only && position.requisite_chain > 0;
        if !may_be_outside && !path.is_below(&PagePath::of(start)) {
            return Err(LinkSkip::OutsideStart);
        }
        if depth > self.rules.max_depth || position.requisite_chain > MAX_REQUISITE_CHAIN {
            return Err(LinkSkip::TooDeep);
        }
        Ok(path)
    }

    /// Returns `true` if links were recorded since the last call of [`take_linked_files`](Self::take_linked_files).
    pub fn has_linked_files(&self) -> bool {
        !self.pages.found.is_empty()
    }

    /// Returns the files to fetch among the links that were recorded since the last call. Their local paths do not
    /// depend on the order of the links. `earlier_kind` returns the kind of a directory or file that an earlier run left
    /// at a local path.
    pub fn take_linked_files(&mut self, earlier_kind: impl Fn(&str) -> Option<EntryKind>) -> Vec<FileEntry> {
        let Url::Http(start) = &self.start else { return Vec::new() };
        let start = PagePath::of(start);
        let mut found: Vec<FoundLink> = mem::take(&mut self.pages.found).into_values().collect();
        // `/a/` gets `a/index.html` before `/a`, which is usually redirected to `/a/`.
        found.sort_by_key(|link| !link.path.is_directory());
        let is_directory = |path: &str| earlier_kind(path) == Some(EntryKind::Directory);
        let is_file = |path: &str| earlier_kind(path) == Some(EntryKind::File);
        // Directories first: `/a/b` keeps its path if there is a page `/a` too.
        let (paths, folding_probe) = (&mut self.pages.paths, &self.folding_probe);
        let directories: Vec<Option<String>> = found
            .iter()
            .map(|link| paths.assign_directory(&link.path, &start, is_file, folding_probe))
            .collect();
        let mut files = Vec::new();
        for (link, directory) in found.into_iter().zip(directories) {
            let paths = &mut self.pages.paths;
            let path = directory.and_then(|directory| {
                paths.assign_file(&link.path, &directory, is_directory, &self.folding_probe)
            });
            match path {
                None => self.pages.skipped.nameless += 1,
                Some(path) if self.is_path_excluded(&path) || !self.rules.includes(&path) => {
                    self.pages.skipped.excluded += 1;
                }
                Some(path) => files.push(self.page_entry(link.url, path, link.depth, link.position)),
            }
        }
        files
    }

    /// Returns `true` if a pattern excludes the path or one of its directories.
    fn is_path_excluded(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        ends.map(|end| &path[..end]).any(|path| self.rules.exclude.iter().any(|glob| glob.matches(path)))
    }

    /// Returns how many links are not fetched, by reason.
    pub const fn skipped_links(&self) -> SkippedLinks {
        self.pages.skipped
    }
}
