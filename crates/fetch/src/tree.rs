//! Turns listings into the files of a mirror: which entries are directories, which are files, and their local names.
//!
//! The caller fetches the listings, passes them to [`Tree::classify`], and fetches the files. Names are
//! sanitised and unique in their directory, no directory is visited twice, and nothing leaves the start
//! directory or its server.

mod directory_links;
mod file_entries;
mod folding_probe;
mod glob;
mod identity;
mod kind;
mod listed_name;
mod menu_items;
mod names;
mod page_links;
mod page_paths;
mod page_state;
mod rules;
mod slashless;

use std::collections::HashMap;
use std::num::NonZeroU64;

use fetch_url_core::{GopherUrl, Url, parse};
use fetch_url_proto::text::sanitise;
use fetch_url_proto::{Entry, EntryKind};

use self::directory_links::DirectoryLinks;
pub use self::file_entries::FileEntries;
use self::folding_probe::FoldingProbe;
pub use self::glob::Glob;
use self::identity::{IdentitySet, is_news, resource_identity};
pub(crate) use self::identity::{content_id, content_id_of, is_same_directory};
pub use self::identity::{is_hierarchical, url_identity};
pub use self::kind::UncertainKind;
pub use self::listed_name::ListedName;
use self::menu_items::{is_error_line, is_form, is_text, is_unfetchable};
pub use self::names::fold_name;
use self::names::{Candidate, Properties, make_names_unique, server_file_name, url_base};
pub use self::page_state::SkippedLinks;
use self::page_state::{PageLinks, PagePosition};
pub use self::rules::TreeRules;
pub use self::slashless::PossibleDirectories;
use crate::{Code, Error, Phase, safe_dot_name, safe_name};

/// The state of a mirror: start directory, rules, and the entries found so far.
#[derive(Debug)]
pub struct Tree {
    rules: TreeRules,
    start: Url<'static>,
    /// The identities of directories and entries that were found before.
    seen: IdentitySet,
    /// The number of entries of all listings and links of all pages so far.
    entries: u64,
    pages: PageLinks,
    folding_probe: FoldingProbe,
    directory_links: DirectoryLinks,
}

/// A directory of the tree.
#[derive(Clone, Debug)]
pub struct DirEntry {
    /// The URL of its listing.
    pub url: Url<'static>,
    /// Its local path below the target directory, with `/` between names.
    pub path: String,
    depth: u32,
}

/// The entries of a listing: directories, files and skipped entries.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Classified {
    /// Directories to list.
    pub directories: Vec<DirEntry>,
    /// Files to fetch.
    pub files: FileEntries,
    /// Entries of an index page that are not fetched as files, but may be directories that are listed without a slash.
    pub possible_directories: PossibleDirectories,
    /// Skipped entries: the name and the reason.
    pub skipped: Vec<(Vec<u8>, Skipped)>,
    /// The local names of all entries, also of excluded ones. Empty unless [`TreeRules::collects_names`] is set.
    pub names: HashMap<String, ListedName>,
    /// The local names of items that another menu has listed before. An earlier run may have copied them here. Empty unless
    /// [`TreeRules::collects_names`] is set.
    pub names_in_other_menus: HashMap<String, ListedName>,
    /// An excluded entry is of unknown kind. It may be an error message in a list of names: only a request can show
    /// that.
    pub has_unchecked_names: bool,
    /// [`Code::LimitReached`] if there were more entries than allowed; the error of [`Tree::with_folding_probe`].
    pub error: Option<Error>,
}

/// A file of the tree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileEntry {
    /// The URL of the file.
    pub url: Url<'static>,
    /// Its local path below the target directory, with `/` between names.
    pub path: String,
    /// Its size in bytes, as listed.
    pub size: Option<u64>,
    /// Its modification time, as listed: perhaps rounded to minutes or in another time zone.
    pub modified: Option<i64>,
    /// The nanoseconds of the second of `modified`; 0 if the listing states none.
    pub modified_nanoseconds: u32,
    /// A digest of the identifier that the listing states for the content, such as the Message-ID of an article: a server
    /// may give the number of an article, and so its URL, to another one. It is the same in every run.
    pub content_id: Option<NonZeroU64>,
    /// The reason why it may not be a file.
    pub uncertain_kind: Option<UncertainKind>,
    /// It is wanted only if it is a directory: [`TreeRules::include`] excludes it as a file.
    pub is_excluded_file: bool,
    depth: u32,
    /// The position in the mirror of linked pages, if a page refers to the file.
    position: Option<PagePosition>,
}

/// The reason why an entry of a listing is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skipped {
    /// It has no valid URL: an unparsable line, or an error message. It may stand for a file.
    NoUrl,
    /// It is informational text of a gopher menu, or a link to another protocol.
    Text,
    /// It is on another server or outside the start directory.
    OutsideTree,
    /// It requires input of the user: a form, a search, or a session.
    Unfetchable,
    /// It was listed before.
    Duplicate,
    /// No file name is left after sanitising.
    Nameless,
    /// It is deeper than the maximum depth.
    TooDeep,
}

impl Tree {
    /// Returns the tree that starts at `start`. The user name and password of `start` apply to the whole tree.
    pub fn new(start: Url<'static>, rules: TreeRules) -> Self {
        let pages = PageLinks::new(rules.keeps_dots);
        let folding_probe = FoldingProbe::default();
        let directory_links = DirectoryLinks::default();
        Self { rules, start, seen: IdentitySet::default(), entries: 0, pages, folding_probe, directory_links }
    }

    /// Sets a function that gets the local path of a directory of the mirror, and `true` if the names in question are all
    /// ASCII, which differ only in case. It returns `true` if names that differ only in case or Unicode form are the same
    /// there. It is called for listings with such names, which then get different local names. If it fails, no entry of
    /// the listing is returned, and [`Classified::error`] has its error.
    #[must_use]
    pub fn with_folding_probe(
        mut self,
        folds_names: impl Fn(&str, bool) -> Result<bool, Error> + Send + Sync + 'static,
    ) -> Self {
        self.folding_probe = FoldingProbe::new(folds_names);
        self
    }

    /// Returns the start directory.
    pub fn root(&mut self) -> DirEntry {
        self.seen.insert(resource_identity(&self.start));
        DirEntry { url: self.start.clone(), path: String::new(), depth: 0 }
    }

    /// Records that the listing of `directory` came from `final_url`, after redirects. Returns `false` if the listing
    /// must be ignored: a directory below the start that redirects to another directory is treated as a link.
    ///
    /// # Errors
    /// [`Code::Policy`] if the start directory was redirected to another server.
    pub fn accept_final_url(
        &mut self,
        directory: &mut DirEntry,
        final_url: &Url<'static>,
    ) -> Result<bool, Error> {
        if directory.depth > 0 {
            return Ok(is_same_directory(&directory.url, final_url));
        }
        let is_same_server =
            self.start.same_origin(final_url) || (is_news(&self.start) && is_news(final_url));
        if !is_same_server {
            let error = Error::new(Code::Policy, Phase::Redirect, "the directory is on another server");
            let target = sanitise(final_url.redacted().to_string().as_bytes());
            return Err(error.with_hint(format!("the server redirects to {target}")));
        }
        self.start = final_url.clone().with_user_info(self.start.user_info());
        directory.url = final_url.clone();
        self.seen.insert(resource_identity(final_url));
        self.pages.record_listed(final_url, &directory.path, true);
        Ok(true)
    }

    /// Classifies the entries of `directory`. All entries are classified together, so that their local names are unique and
    /// do not depend on the order of the listing.
    pub fn classify(&mut self, directory: &DirEntry, entries: impl IntoIterator<Item = Entry>) -> Classified {
        let mut classified = Classified::default();
        let (mut candidates, base) = self.candidates(directory, entries, &mut classified);
        let folds_names = |are_ascii| self.folding_probe.folds_names(&directory.path, are_ascii);
        if let Err(error) = make_names_unique(&mut candidates, &base, folds_names) {
            classified.error = Some(error.with_url(&directory.url));
            candidates.clear();
        }
        classified.possible_directories = self.possible_directories(directory, &base, &candidates);
        candidates.retain(|candidate| self.classify_candidate(directory, &base, candidate, &mut classified));
        classified.files = FileEntries::new(directory, &base, candidates, self.start.user_info(), false);
        classified
    }

    /// Returns the entries that may be mirrored, and the start that their URLs share; records the others in `classified`.
    fn candidates(
        &mut self,
        directory: &DirEntry,
        entries: impl IntoIterator<Item = Entry>,
        classified: &mut Classified,
    ) -> (Vec<Candidate>, String) {
        let (mut candidates, mut names, mut base) = (Vec::new(), ListingNames::default(), String::new());
        for mut entry in entries {
            self.entries += 1;
            if self.is_full() {
                let detail = format!("more than {} entries", self.rules.max_entries);
                classified.error =
                    Some(Error::new(Code::LimitReached, Phase::Body, detail).with_url(&directory.url));
                break;
            }
            if base.is_empty() {
                url_base(entry.url.as_deref().unwrap_or_default()).clone_into(&mut base);
            }
            match self.candidate(directory, &base, &mut entry, &mut names) {
                Ok(candidate) => candidates.push(candidate),
                Err(why) => classified.skipped.push((entry.name, why)),
            }
        }
        if self.rules.collects_names {
            classified.names_in_other_menus.extend(names.in_other_menus);
        }
        (candidates, base)
    }

    /// Returns `true` if the listings have more entries than the mirror may have.
    pub const fn is_full(&self) -> bool {
        self.entries > self.rules.max_entries
    }

    /// Checks one entry and sanitises its name. `names` are those of the entries before it.
    fn candidate(
        &mut self,
        directory: &DirEntry,
        base: &str,
        entry: &mut Entry,
        names: &mut ListingNames,
    ) -> Result<Candidate, Skipped> {
        let no_url = if is_text(entry) { Skipped::Text } else { Skipped::NoUrl };
        let text = entry.url.take().filter(|_| !is_error_line(entry)).ok_or(no_url)?;
        let url = parse(&text).map_err(|_| no_url)?.url;
        if !is_below(&self.start, &url) {
            return Err(Skipped::OutsideTree);
        }
        if is_unfetchable(&url) || is_form(entry) {
            return Err(Skipped::Unfetchable);
        }
        let server_name = server_file_name(&url, entry).ok_or(Skipped::Nameless)?;
        let name = self.local_name(&server_name).ok_or(Skipped::Nameless)?;
        let is_directory = entry.kind == EntryKind::Directory;
        // Two URLs with the same decoded name are the same entry.
        let is_new_here = match is_hierarchical(&url) {
            true => names.seen.insert((&entry.name, is_directory)),
            false => names.seen.insert(resource_identity(&url)),
        };
        if !is_new_here {
            return Err(Skipped::Duplicate);
        }
        if !is_hierarchical(&url) && !self.seen.insert(resource_identity(&url)) {
            names.in_other_menus.push((name, ListedName { is_directory: None, url: url_identity(&url) }));
            return Err(Skipped::Duplicate);
        }
        let has_facts = entry.size.is_some() || entry.modified.is_some();
        let uncertain_kind = match entry.kind {
            EntryKind::Directory | EntryKind::File => None,
            EntryKind::Other if !has_facts && matches!(url, Url::Ftp(_)) => Some(UncertainKind::Unknown),
            _ => Some(UncertainKind::Link),
        };
        let properties = Properties {
            is_selected: self.rules.selects(&path_below(&directory.path, &name), is_directory),
            is_server_name_unchanged: name.as_bytes() == server_name,
            is_directory,
            size: entry.size,
            modified: entry.modified,
            modified_nanoseconds: entry.modified_nanoseconds,
            content_id: content_id(entry),
            uncertain_kind,
        };
        Ok(Candidate::new(&text, name, base, properties))
    }

    /// Adds a directory to `classified`, unless it is excluded or too deep. Returns `true` for a file that is not
    /// excluded.
    fn classify_candidate(
        &mut self,
        directory: &DirEntry,
        base: &str,
        candidate: &Candidate,
        classified: &mut Classified,
    ) -> bool {
        let path = path_below(&directory.path, candidate.name());
        let properties = &candidate.properties;
        let is_directory = properties.is_directory;
        // Only pages are linked, and files are parsed again when they are fetched.
        let is_linked = is_directory || matches!(self.start, Url::Http(_));
        let needs_url = is_linked || self.rules.collects_names;
        let url = if needs_url { candidate.parse_url(base, self.start.user_info()) } else { None };
        if self.rules.collects_names {
            // A file of an index page may be a directory that is listed without a slash.
            let is_kind_known =
                properties.uncertain_kind.is_none() && (is_directory || !matches!(self.start, Url::Http(_)));
            let url = url.as_ref().map_or(0, url_identity);
            let listed = ListedName { is_directory: is_kind_known.then_some(is_directory), url };
            classified.names.insert(candidate.name().to_owned(), listed);
        }
        if !properties.is_selected {
            classified.has_unchecked_names |= properties.uncertain_kind == Some(UncertainKind::Unknown);
            return false;
        }
        let depth = directory.depth + 1;
        if is_directory && depth > self.rules.max_depth {
            classified.skipped.push((candidate.name().into(), Skipped::TooDeep));
            return false;
        }
        if is_linked {
            let Some(url) = url else { return false };
            self.pages.record_listed(&url, &path, is_directory);
            if is_directory {
                self.seen.insert(resource_identity(&url));
                classified.directories.push(DirEntry { url, path, depth });
            }
        }
        !is_directory
    }

    /// Converts a file whose kind is unknown to a directory, after a fetch as a file failed. Returns `None` if its kind
    /// is known or it is too deep.
    pub fn as_directory(&self, file: &FileEntry) -> Option<DirEntry> {
        let url = parse(&format!("{}/", file.url.without_password())).ok()?.into_owned().url;
        let url = url.with_user_info(self.start.user_info());
        let directory = DirEntry { url, path: file.path.clone(), depth: file.depth };
        (file.uncertain_kind == Some(UncertainKind::Unknown) && file.depth <= self.rules.max_depth)
            .then_some(directory)
    }

    /// Returns the sanitised name for a name of the server, or `None` if nothing is left of it. If several entries of
    /// the directory have the same sanitised name, [`Self::classify`] gives them other names.
    pub fn local_name(&self, server_name: &[u8]) -> Option<String> {
        if self.rules.keeps_dots { safe_dot_name(server_name) } else { safe_name(server_name) }
    }
}

/// The names of a listing.
#[derive(Default)]
struct ListingNames {
    seen: IdentitySet,
    /// The local names of items that another menu has listed before, which are copied there. An earlier run may have copied
    /// them here.
    in_other_menus: Vec<(String, ListedName)>,
}

/// Returns the path of an entry of a directory.
fn path_below(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { [directory, "/", name].concat() }
}

/// Returns `true` if `url` is inside the tree of `start`. A gopher menu may link anywhere, so the selector of
/// the item must begin with the selector of the start.
fn is_below(start: &Url<'_>, url: &Url<'_>) -> bool {
    match (start, url) {
        _ if is_news(start) && is_news(url) => start.host() == url.host() && start.port() == url.port(),
        (Url::Gopher(menu), Url::Gopher(item)) => {
            let (above, path) = (selector_path(menu), selector_path(item));
            let is_below = path.strip_prefix(&above[..]).is_some_and(|rest| matches!(rest, [] | [b'/', ..]));
            start.same_origin(url) && (above.is_empty() || is_below)
        }
        _ => start.same_origin(url),
    }
}

/// Returns the selector without leading and trailing slashes and without a leading item type, as in `1/docs`.
fn selector_path(url: &GopherUrl<'_>) -> Vec<u8> {
    let selector = url.selector().decode().into_owned();
    let path = match &selector[..] {
        [kind, b'/', rest @ ..] if kind.is_ascii_alphanumeric() => rest,
        path => path,
    };
    let start = path.iter().position(|byte| *byte != b'/').unwrap_or(path.len());
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(start, |last| last + 1);
    path[start..end].to_vec()
}

#[cfg(test)]
mod tests;
