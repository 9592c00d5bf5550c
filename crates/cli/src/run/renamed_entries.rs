//! `mirror --delete`: files of entries that have another local name than in the run that fetched them, because the listing
//! now has another entry whose name is sanitised alike, or because of `--dot-names`.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use fetch_url::Error;
use fetch_url::internal::url_identity;
use fetch_url::mirror::{Finished, Journal};
use fetch_url::url::parse;

use super::delete_extraneous::{ListedNames, open_parent, unlisted_parent};

/// What became of the entry from which a file was fetched.
#[derive(Debug, PartialEq)]
enum Fate {
    /// No listing has it.
    Gone,
    /// A directory that it may be in was not listed completely.
    Unknown,
    /// It is listed, and has this local path now.
    Listed(String),
}

/// Returns those of `paths` whose entries are still listed, under another local name, and have no other copy. The files at
/// `paths` are no longer listed; `earlier` are all files of the journal.
///
/// # Errors
/// Those of [`Journal::sources`].
pub(super) fn only_copies<'p>(
    paths: impl Iterator<Item = &'p str>,
    directory: &Path,
    earlier: &BTreeMap<String, Finished>,
    listed: &ListedNames,
    journal: &mut Journal,
) -> Result<HashSet<String>, Error> {
    let paths: HashSet<&str> = paths.collect();
    if paths.is_empty() {
        return Ok(HashSet::new());
    }
    let sources = journal.sources(&paths)?;
    let mut entries = EntriesByUrl::new(listed);
    let fates = sources.iter().map(|(path, source)| (path, entries.fate(path, source)));
    let fates: HashMap<&String, Fate> = fates.collect();
    let others: HashSet<&str> = fates.values().filter_map(Fate::path).collect();
    let others = if others.is_empty() { HashMap::new() } else { journal.sources(&others)? };
    let has_other_copy = |path: &String, other: &String| {
        is_same_url(others.get(other), sources.get(path)) && is_unchanged(directory, other, earlier)
    };
    let kept = fates.iter().filter(|(path, fate)| match fate {
        Fate::Gone => false,
        Fate::Unknown => true,
        Fate::Listed(other) => !has_other_copy(path, other),
    });
    Ok(kept.map(|(path, _)| (*path).clone()).collect())
}

impl Fate {
    fn path(&self) -> Option<&str> {
        match self {
            Self::Listed(path) => Some(path),
            Self::Gone | Self::Unknown => None,
        }
    }
}

/// Finds the entries of complete listings by their URLs.
struct EntriesByUrl<'l> {
    listed: &'l ListedNames,
    /// The names of the directories that were searched so far, by the identities of their URLs.
    names: HashMap<String, HashMap<u64, &'l str>>,
}

impl<'l> EntriesByUrl<'l> {
    fn new(listed: &'l ListedNames) -> Self {
        Self { listed, names: HashMap::new() }
    }

    /// Returns the fate of the entry at the URL `source`, from which the file at `path` was fetched. A complete listing
    /// lacks `path`.
    fn fate(&mut self, path: &str, source: &str) -> Fate {
        let Some(parent) = unlisted_parent(path, false, self.listed) else { return Fate::Unknown };
        let (mut parent, identities) = (parent.to_owned(), identities(source));
        loop {
            if !self.listed.contains_key(&parent) {
                return Fate::Unknown;
            }
            let Some((name, is_last)) = self.find(&parent, &identities) else { return Fate::Gone };
            let is_directory = self.listed[&parent][name].is_directory;
            let listed_path = if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") };
            let is_above = path.strip_prefix(&*listed_path).is_some_and(|rest| rest.starts_with('/'));
            match is_last {
                // The file has become a directory, or its directory a file.
                true if is_directory == Some(true) => return Fate::Gone,
                false if is_above => return Fate::Gone,
                true => return Fate::Listed(listed_path),
                false => parent = listed_path,
            }
        }
    }

    /// Returns the name of the entry of a directory that has one of the identities, and whether it is the last of them.
    fn find(&mut self, directory: &str, identities: &[u64]) -> Option<(&'l str, bool)> {
        let names = match self.names.entry(directory.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let entries = self.listed.get(directory)?.iter();
                place.insert(entries.map(|(name, entry)| (entry.url, &**name)).collect())
            }
        };
        let position = identities.iter().position(|identity| names.contains_key(identity))?;
        Some((names[&identities[position]], position + 1 == identities.len()))
    }
}

/// Returns the identities of a URL and of the directories that contain it, that of the URL last.
fn identities(url: &str) -> Vec<u64> {
    let path = url.find("://").map_or(0, |at| at + 3);
    let ends = url.match_indices('/').map(|(end, _)| end).filter(|end| *end > path).chain([url.len()]);
    ends.filter_map(|end| identity(&url[..end])).collect()
}

fn identity(url: &str) -> Option<u64> {
    Some(url_identity(&parse(url).ok()?.url))
}

fn is_same_url(one: Option<&String>, other: Option<&String>) -> bool {
    one.is_some_and(|one| other.is_some_and(|other| one == other || identity(one) == identity(other)))
}

/// Returns `true` if the file that the journal records at `path` exists and is unchanged.
fn is_unchanged(directory: &Path, path: &str, earlier: &BTreeMap<String, Finished>) -> bool {
    let file = open_parent(directory, path).and_then(|(parent, name)| parent.file_metadata(name));
    file.is_some_and(|file| earlier.get(path).is_some_and(|finished| finished.is_unchanged(&file)))
}

#[cfg(test)]
mod tests {
    use fetch_url::mirror::ListedName;

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
        ];
        let listed = listed(&[("", start), ("a~1", &[("y_", "ftp://h/d/a%3Ab/y%3A")])]);
        let mut entries = EntriesByUrl::new(&listed);
        let at = |path: &str| Fate::Listed(path.to_owned());
        for (path, source, expected) in [
            (".x", "ftp://h/d/.x", at("_x")),
            ("z", "ftp://h/d/z", Fate::Gone),
            ("a_b/y", "ftp://h/d/a%3Ab/y", Fate::Gone),
            ("a_b/y_", "ftp://h/d/a%3Ab/y%3A", at("a~1/y_")),
            ("a_b/y_", "ftp://h/d/a_b/y%3A", Fate::Unknown),
            ("K", "ftp://h/d/k", at("k")),
            ("f", "ftp://h/d/f", Fate::Gone),
            ("k/below", "ftp://h/d/k/below", Fate::Gone),
            // The listing has the local name.
            ("k", "ftp://h/d/z", Fate::Unknown),
        ] {
            assert_eq!(entries.fate(path, source), expected, "{path} {source}");
        }
    }

    #[test]
    fn gopher_item_is_found_with_another_type() {
        let listed = listed(&[("", &[("a~1", "gopher://h/9/d/a")])]);
        let fate = EntriesByUrl::new(&listed).fate("a", "gopher://h/0/d/a");
        assert_eq!(fate, Fate::Listed("a~1".to_owned()));
    }
}
