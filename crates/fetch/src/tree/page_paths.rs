//! Local paths of pages and of the files that they refer to.

use std::collections::HashMap;
use std::sync::OnceLock;

use fetch_url_core::{HttpUrl, Url};

use super::folding_probe::FoldingProbe;
use super::identity::{IdentitySet, digest_of, path_segments};
use super::names::fold_name;
use crate::{safe_dot_name, safe_name};

/// The name of the file of a URL that ends with a slash.
const INDEX_NAME: &str = "index.html";
/// The local directory of files outside the start directory (`--page-requisites`). Their paths on the server follow.
const ROOT_DIRECTORY: &str = "_root";

/// The path of an HTTP URL: its segments, percent-decoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PagePath {
    /// The directories above the last segment.
    directories: Vec<Vec<u8>>,
    /// The last segment; empty after a final slash and for `index.html`.
    name: Vec<u8>,
    query: Option<Vec<u8>>,
}

impl PagePath {
    /// Returns the path of a URL. `DIR/` and `DIR/index.html` have the same path.
    pub(super) fn of(url: &HttpUrl<'_>) -> Self {
        let mut directories = path_segments(url);
        let query = url.query().map(|query| query.as_str().as_bytes().to_vec());
        let mut name = directories.pop().unwrap_or_default();
        if query.is_none() && name == INDEX_NAME.as_bytes() {
            name.clear();
        }
        Self { directories, name, query }
    }

    /// Returns `true` if the path is in the directory of `start` or below it.
    pub(super) fn is_below(&self, start: &Self) -> bool {
        self.directories.starts_with(&start.directories)
    }

    /// Returns `true` if the URL ends with a slash or `index.html`.
    pub(super) const fn is_directory(&self) -> bool {
        self.name.is_empty()
    }

    /// Returns a digest that is equal for equal paths.
    pub(super) fn identity(&self) -> u128 {
        let mut text = Vec::new();
        for segment in &self.directories {
            push_segment(&mut text, segment);
        }
        text.push(b'/');
        push_segment(&mut text, &self.name);
        if let Some(query) = &self.query {
            text.push(b'?');
            text.extend_from_slice(query);
        }
        digest_of(&text)
    }
}

/// Adds a segment with its length, so that different segments never make the same text.
fn push_segment(text: &mut Vec<u8>, segment: &[u8]) {
    text.extend_from_slice(&(segment.len() as u64).to_be_bytes());
    text.extend_from_slice(segment);
}

/// A set of local paths.
#[derive(Debug, Default)]
struct LocalPaths {
    exact: IdentitySet,
    /// The paths without regard to case.
    folded: IdentitySet,
}

impl LocalPaths {
    fn insert(&mut self, path: &str) {
        self.exact.insert(path);
        self.folded.insert(fold_name(path));
    }

    fn remove(&mut self, path: &str) {
        self.exact.remove(path);
        self.folded.remove(fold_name(path));
    }

    /// Returns `true` if the set has the path, or one that differs only in case or Unicode form and is the same by `folds_names`.
    fn contains(&self, path: &str, folds_names: impl FnOnce() -> bool) -> bool {
        self.exact.contains(path) || self.folded.contains(fold_name(path)) && folds_names()
    }
}

/// The local paths that are assigned to URLs. A path belongs to one URL only.
#[derive(Debug, Default)]
pub(super) struct PagePaths {
    /// Local directories, by the directories on the server.
    directories: HashMap<Vec<Vec<u8>>, String>,
    /// The local paths of directories.
    used_directories: LocalPaths,
    /// The local paths of files.
    used_files: LocalPaths,
    keeps_dots: bool,
    /// The local file system does not distinguish names that differ only in case or Unicode form. Determined when there are
    /// such names, and separately for ASCII names (index 1), which differ only in case.
    folds_names: [OnceLock<bool>; 2],
}

impl PagePaths {
    pub(super) fn new(keeps_dots: bool) -> Self {
        Self { keeps_dots, ..Self::default() }
    }

    /// Records the local path of a listed directory.
    pub(super) fn record_directory(&mut self, url: &Url<'_>, path: &str) {
        if let Url::Http(url) = url {
            self.directories.insert(PagePath::of(url).directories, path.to_owned());
            self.used_directories.insert(path);
        }
    }

    /// Records the local path of a listed file.
    pub(super) fn record_file(&mut self, url: &Url<'_>, path: &str) {
        if matches!(url, Url::Http(_)) {
            self.used_files.insert(path);
        }
    }

    /// Makes the local path of a file that was not saved available again.
    pub(super) fn release_file(&mut self, path: &str) {
        self.used_files.remove(path);
    }

    /// Gives the directories of `page` local paths: sanitised names below the directory of `start`. `is_file` returns
    /// `true` for paths of files of an earlier run. Returns `None` if a name cannot be sanitised.
    pub(super) fn assign_directory(
        &mut self,
        page: &PagePath,
        start: &PagePath,
        is_file: impl Fn(&str) -> bool,
        folding_probe: &FoldingProbe,
    ) -> Option<String> {
        let known = if page.is_below(start) { start.directories.len() } else { 0 };
        let mut local = if page.is_below(start) { String::new() } else { ROOT_DIRECTORY.to_owned() };
        for end in known..page.directories.len() {
            let key = &page.directories[..=end];
            if let Some(path) = self.directories.get(key).filter(|_| page.is_below(start)) {
                local.clone_from(path);
                continue;
            }
            let name = self.sanitise(&page.directories[end])?;
            let path = join(&local, &name);
            // Outside the start directory, directories with the same sanitised name share a local directory.
            let is_free = !self.is_file(&path, folding_probe)
                && !is_file(&path)
                && (!page.is_below(start) || !self.is_directory(&path, folding_probe));
            local = if is_free { path } else { format!("{path}~{:08x}", identity_of(key) >> 96) };
            self.used_directories.insert(&local);
            if page.is_below(start) {
                self.directories.insert(key.to_vec(), local.clone());
            }
        }
        Some(local)
    }

    /// Gives a page a local path in `directory`. `is_directory` returns `true` for paths of existing local directories.
    /// Returns `None` if its name cannot be sanitised.
    pub(super) fn assign_file(
        &mut self,
        page: &PagePath,
        directory: &str,
        is_directory: impl Fn(&str) -> bool,
        folding_probe: &FoldingProbe,
    ) -> Option<String> {
        let path = join(directory, &self.file_name(page)?);
        // If `a` is a directory because of `/a/b`, the page `/a` becomes `a/index.html`, which a web server that serves
        // the mirror returns for `/a/`.
        let path = match self.is_directory(&path, folding_probe) || is_directory(&path) {
            true => join(&path, INDEX_NAME),
            false => path,
        };
        let is_free =
            |path: &String| !self.is_file(path, folding_probe) && !self.is_directory(path, folding_probe);
        let identity = page.identity();
        let candidates =
            [path.clone(), format!("{path}~{:08x}", identity >> 96), format!("{path}~{identity:032x}")];
        let path = candidates.into_iter().find(is_free)?;
        self.used_files.insert(&path);
        Some(path)
    }

    /// Returns `true` if a file has this local path.
    fn is_file(&self, path: &str, folding_probe: &FoldingProbe) -> bool {
        self.used_files.contains(path, || self.folds_names(path, folding_probe))
    }

    /// Returns `true` if a directory has this local path.
    fn is_directory(&self, path: &str, folding_probe: &FoldingProbe) -> bool {
        self.used_directories.contains(path, || self.folds_names(path, folding_probe))
    }

    /// Returns `true` if the local file system does not distinguish names that differ only in case or Unicode form,
    /// or if that cannot be determined.
    fn folds_names(&self, path: &str, folding_probe: &FoldingProbe) -> bool {
        let is_ascii = path.is_ascii();
        let known = &self.folds_names[usize::from(is_ascii)];
        *known.get_or_init(|| folding_probe.folds_names("", is_ascii).unwrap_or(true))
    }

    /// Returns the sanitised name of a page: the last segment and its query, or `index.html`.
    fn file_name(&self, page: &PagePath) -> Option<String> {
        let name = if page.name.is_empty() { INDEX_NAME.as_bytes() } else { &page.name };
        let mut name = name.to_vec();
        if name.contains(&b'/') {
            return None;
        }
        if let Some(query) = &page.query {
            name.push(b'?');
            // A slash or backslash in the query does not begin another name.
            name.extend(query.iter().map(|byte| if matches!(byte, b'/' | b'\\') { b'_' } else { *byte }));
        }
        self.sanitise(&name)
    }

    fn sanitise(&self, name: &[u8]) -> Option<String> {
        let sanitise = if self.keeps_dots { safe_dot_name } else { safe_name };
        match name {
            // An empty segment: two slashes in a path.
            b"" => Some("_".to_owned()),
            name if name.contains(&b'/') => None,
            name => sanitise(name),
        }
    }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

fn identity_of(directories: &[Vec<u8>]) -> u128 {
    let mut text = Vec::new();
    directories.iter().for_each(|segment| push_segment(&mut text, segment));
    digest_of(&text)
}
