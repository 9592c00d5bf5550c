//! `mirror --delete`: files of entries that have another local name than in the run that fetched them, because the listing
//! now has another entry with the same sanitised name, or because of `--dot-names`.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use fetch_url::Error;
use fetch_url::internal::{is_hierarchical, url_identity};
use fetch_url::mirror::{Finished, Journal, ListedName};
use fetch_url::url::parse;

use super::delete_extraneous::{ListedNames, open_parent, unlisted_parent};
use super::journal_file::url_of_source;

/// The maximum number of directories in a URL. A file whose URL has more is kept.
const MAX_DIRECTORIES: usize = 64;

/// Returns those of `paths` whose entries may still be listed, under another local name, and have no copy at another path.
/// The files at `paths` are no longer listed; `earlier` are all files of the journal, and `listings` the complete listings
/// with the items that several menus list.
///
/// # Errors
/// Those of [`Journal::read_sources`].
pub(super) fn only_copies(
    mut paths: Vec<&str>,
    directory: &Path,
    earlier: &BTreeMap<String, Finished>,
    listings: (&ListedNames, &HashSet<u64>),
    journal: &mut Journal,
) -> Result<HashSet<String>, Error> {
    if paths.is_empty() {
        return Ok(HashSet::new());
    }
    paths.sort_unstable();
    let mut entries = EntriesByUrl::new(listings);
    // The URLs of most files are no longer listed; only the others are stored.
    let mut urls: HashMap<String, Option<u64>> = HashMap::new();
    journal.read_sources(|path, source| {
        if paths.binary_search(&path).is_ok() {
            let url = url_of_source(source);
            match entries.may_have(path, url) {
                true => drop(urls.insert(path.to_owned(), identity(url))),
                false => drop(urls.remove(path)),
            }
        }
    })?;
    let mut copies = if urls.is_empty() { HashMap::new() } else { copies_of(&urls, journal)? };
    copies.retain(|path, _| paths.binary_search(&&**path).is_err() && is_unchanged(directory, path, earlier));
    let copied: HashSet<u64> = copies.into_values().collect();
    urls.retain(|_, url| url.is_none_or(|url| !copied.contains(&url)));
    Ok(urls.into_keys().collect())
}

/// Returns the paths of all files that were fetched from one of `urls`, and the identities of their URLs.
fn copies_of(
    urls: &HashMap<String, Option<u64>>,
    journal: &mut Journal,
) -> Result<HashMap<String, u64>, Error> {
    let wanted: HashSet<u64> = urls.values().copied().flatten().collect();
    let mut copies = HashMap::new();
    journal.read_sources(|path, source| match identity(url_of_source(source)) {
        Some(url) if wanted.contains(&url) => drop(copies.insert(path.to_owned(), url)),
        // A later line of the same path.
        _ => drop(copies.remove(path)),
    })?;
    Ok(copies)
}

/// Finds the entries of complete listings by their URLs.
struct EntriesByUrl<'l> {
    listed: &'l ListedNames,
    /// The URLs of the items that several menus list.
    other_urls: &'l HashSet<u64>,
    /// The URLs of all entries. It is `None` until the first search for an item of a menu.
    all_urls: Option<HashSet<u64>>,
    /// The names in the directories that were searched so far.
    names: HashMap<String, HashMap<u64, SameUrl<'l>>>,
    /// Whether a menu contains a menu that was not listed completely, for those that were searched so far.
    has_unlisted_menus: HashMap<String, bool>,
}

/// The names of the file and of the directory with the same URL, apart from its final slash. An entry of unknown kind is
/// both.
#[derive(Clone, Copy, Default)]
struct SameUrl<'l> {
    file: Option<&'l str>,
    directory: Option<&'l str>,
}

impl<'l> EntriesByUrl<'l> {
    fn new((listed, other_urls): (&'l ListedNames, &'l HashSet<u64>)) -> Self {
        Self { listed, other_urls, all_urls: None, names: HashMap::new(), has_unlisted_menus: HashMap::new() }
    }

    /// Returns `true` if the entry at `url`, from which the file at `path` was fetched, may still be listed. `path` is not in the
    /// listings.
    fn may_have(&mut self, path: &str, url: &str) -> bool {
        let (Some(parent), Some(urls)) = (unlisted_parent(path, false, self.listed), identities(url)) else {
            return true;
        };
        if parse(url).is_ok_and(|parsed| !is_hierarchical(&parsed.url)) {
            return self.may_have_item(path, parent, urls.last().copied());
        }
        let mut parent = parent.to_owned();
        // A directory that was not listed completely may contain the entry.
        while self.listed.contains_key(&parent) {
            let Some((found, is_last)) = self.find(&parent, &urls) else { return false };
            if is_last {
                // Otherwise the file has become a directory.
                return found.file.is_some();
            }
            let Some(name) = found.directory else { return false };
            let below = if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") };
            if path.strip_prefix(&*below).is_some_and(|rest| rest.starts_with('/')) {
                // A directory of the same name is no longer one, or `path` would be listed.
                return false;
            }
            parent = below;
        }
        true
    }

    /// Like [`Self::may_have`], for schemes such as gopher, in which any menu may list any item. `parent` is the result of
    /// [`unlisted_parent`] for `path`.
    fn may_have_item(&mut self, path: &str, parent: &str, url: Option<u64>) -> bool {
        let listed = self.listed;
        let all_urls = self.all_urls.get_or_insert_with(|| {
            listed.values().flat_map(HashMap::values).map(|entry| entry.url).collect()
        });
        let is_listed = url.is_none_or(|url| all_urls.contains(&url) || self.other_urls.contains(&url));
        let own_menu = path.rsplit_once('/').map_or("", |(menu, _)| menu);
        // The menu of the item may have another name now. If it was not listed, its URLs are unknown.
        is_listed || own_menu != parent && self.has_unlisted_menus(parent)
    }

    /// Returns `true` if a menu contains a menu that was not listed completely.
    fn has_unlisted_menus(&mut self, menu: &str) -> bool {
        if let Some(known) = self.has_unlisted_menus.get(menu) {
            return *known;
        }
        let is_unlisted = |(name, entry): (&String, &ListedName)| {
            let path = if menu.is_empty() { name.clone() } else { format!("{menu}/{name}") };
            entry.is_directory == Some(true) && !self.listed.contains_key(&path)
        };
        let found = self.listed.get(menu).is_some_and(|names| names.iter().any(is_unlisted));
        self.has_unlisted_menus.insert(menu.to_owned(), found);
        found
    }

    /// Searches a directory for the entries of `urls`, the last URL first. Returns the entries that are found, and `true` if
    /// they have the last URL.
    fn find(&mut self, directory: &str, urls: &[u64]) -> Option<(SameUrl<'l>, bool)> {
        let names = match self.names.entry(directory.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let mut names: HashMap<u64, SameUrl<'_>> = HashMap::new();
                for (name, entry) in self.listed.get(directory)? {
                    let same = names.entry(entry.url).or_default();
                    same.file = same.file.or((entry.is_directory != Some(true)).then_some(name));
                    same.directory = same.directory.or((entry.is_directory != Some(false)).then_some(name));
                }
                place.insert(names)
            }
        };
        let position = urls.iter().rposition(|url| names.contains_key(url))?;
        Some((names[&urls[position]], position + 1 == urls.len()))
    }
}

/// Returns the identities of the directories that contain a URL, and that of the URL. Returns `None` if it is no URL, or in
/// too many directories.
fn identities(url: &str) -> Option<Vec<u64>> {
    let path = url.find("://").map_or(0, |at| at + 3);
    let slashes: Vec<usize> = url.match_indices('/').map(|(end, _)| end).filter(|end| *end > path).collect();
    if slashes.len() > MAX_DIRECTORIES {
        return None;
    }
    let mut urls: Vec<u64> = slashes.iter().filter_map(|end| identity(&url[..*end])).collect();
    urls.push(identity(url)?);
    Some(urls)
}

fn identity(url: &str) -> Option<u64> {
    Some(url_identity(&parse(url).ok()?.url))
}

/// Returns `true` if the file that the journal records at `path` exists and is unchanged.
fn is_unchanged(directory: &Path, path: &str, earlier: &BTreeMap<String, Finished>) -> bool {
    let file = open_parent(directory, path).and_then(|(parent, name)| parent.file_metadata(name));
    file.is_some_and(|file| earlier.get(path).is_some_and(|finished| finished.is_unchanged(&file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Directories with the names and URLs of their entries. Names that end with a slash are directories.
    fn listed(directories: &[(&str, &[(&str, &str)])]) -> ListedNames {
        let of = |(name, url): &(&str, &str)| {
            let listed =
                ListedName { is_directory: Some(name.ends_with('/')), url: identity(url).expect("a URL") };
            (name.trim_end_matches('/').to_owned(), listed)
        };
        directories.iter().map(|(path, all)| ((*path).to_owned(), all.iter().map(of).collect())).collect()
    }

    #[test]
    fn entry_that_has_another_name_now_is_found_by_its_url() {
        let start: &[_] = &[
            ("a~1/", "ftp://h/d/a%3Ab/"),
            ("a~2/", "ftp://h/d/a_b/"),
            ("_x", "ftp://me@h/d/.x"),
            ("k", "ftp://h/d/k"),
            ("was-file/", "ftp://h/d/f/"),
            ("was-directory", "ftp://h/d/.d"),
            ("both", "ftp://h/d/b"),
            ("both~1/", "ftp://h/d/b/"),
        ];
        let listed = listed(&[("", start), ("a~1", &[("y_", "ftp://h/d/a%3Ab/y%3A")])]);
        let others = HashSet::new();
        let mut entries = EntriesByUrl::new((&listed, &others));
        let long = format!("ftp://h{}", "/a".repeat(MAX_DIRECTORIES + 1));
        for (path, url, expected) in [
            (".x", "ftp://h/d/.x", true),
            ("z", "ftp://h/d/z", false),
            ("a_b/y", "ftp://h/d/a%3Ab/y", false),
            ("a_b/y_", "ftp://h/d/a%3Ab/y%3A", true),
            // This directory was not listed completely.
            ("a_b/y_", "ftp://h/d/a_b/y%3A", true),
            ("K", "ftp://h/d/k", true),
            ("f", "ftp://h/d/f", false),
            ("k/below", "ftp://h/d/k/below", false),
            ("_d/below", "ftp://h/d/.d/below", false),
            ("b", "ftp://h/d/b", true),
            ("b/x", "ftp://h/d/b/x", true),
            ("z", "no URL", true),
            ("z", &long, true),
        ] {
            assert_eq!(entries.may_have(path, url), expected, "{path} {url}");
        }
    }

    #[test]
    fn gopher_item_is_found_in_every_menu_and_with_another_type() {
        let start: &[_] =
            &[("a~1", "gopher://h/9/z/a"), ("d~1/", "gopher://h/1/.d"), ("e/", "gopher://h/1/e")];
        let listed = listed(&[("", start), ("e", &[("y", "gopher://h/0/y")])]);
        let others = identity("gopher://h/0/shared").into_iter().collect();
        let mut entries = EntriesByUrl::new((&listed, &others));
        for (path, url, expected) in [
            ("a", "gopher://h/0/z/a", true),
            ("x", "gopher://h/0/y", true),
            ("x", "gopher://h/0/shared", true),
            ("e/x", "gopher://h/0/e/x", false),
            ("x", "gopher://h/0/x", false),
            // Its menu may be `d~1`, which was not listed completely.
            ("d/x", "gopher://h/0/x", true),
        ] {
            assert_eq!(entries.may_have(path, url), expected, "{path} {url}");
        }
    }

    #[test]
    fn http_paths_are_the_same_in_every_spelling() {
        let listed = listed(&[("", &[("_f", "http://H:80/d/.f%281%29")])]);
        let others = HashSet::new();
        let mut entries = EntriesByUrl::new((&listed, &others));
        assert!(
            entries.may_have(".f(1)", "http://h/d/.f(1)") && !entries.may_have(".f(1)", "http://h/D/.f(1)")
        );
    }

    /// Files of one URL at several paths; a path in brackets does not exist. `extraneous` are the paths of which the only
    /// copies are searched.
    fn kept(files: &[&str], extraneous: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().expect("a directory");
        let mut journal = Journal::open(&dir.path().join("journal"), "x", true).expect("a journal");
        for file in files {
            let (name, exists) = (file.trim_matches(['[', ']']), !file.starts_with('['));
            std::fs::write(dir.path().join(name), name).expect("a file");
            let metadata = std::fs::metadata(dir.path().join(name)).expect("metadata");
            // The listed version follows the URL if it is not that of the file.
            journal.add(name, "ftp://h/f 1 2", "", &metadata).expect("a line");
            if !exists {
                std::fs::remove_file(dir.path().join(name)).expect("the file");
            }
        }
        let listed = listed(&[("", &[("new", "ftp://h/f")])]);
        let earlier = journal.finished().expect("the files");
        let listings = (&listed, &HashSet::new());
        let found = only_copies(extraneous.to_vec(), dir.path(), &earlier, listings, &mut journal);
        let mut found: Vec<String> = found.expect("the journal").into_iter().collect();
        found.sort();
        found
    }

    #[test]
    fn file_is_an_only_copy_unless_another_one_of_its_url_stays() {
        assert_eq!(kept(&["old"], &["old"]), ["old"]);
        assert_eq!(kept(&["old", "new"], &["old"]), [""; 0]);
        assert_eq!(kept(&["old", "[new]"], &["old"]), ["old"]);
        assert_eq!(kept(&["old", "other"], &["old"]), [""; 0]);
        assert_eq!(kept(&["old", "older"], &["old", "older"]), ["old", "older"]);
    }
}
