//! `mirror --delete`: removes files that an earlier run fetched and that are no longer listed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::ops::Bound;
use std::path::Path;

use fetch_url::Error;
use fetch_url::internal::fold_name;
use fetch_url::mirror::{DirHandle, Finished, ListedName};

/// The names in completely listed directories.
pub(super) type ListedNames = HashMap<String, HashMap<String, ListedName>>;

/// The complete listings and the failed entries, from which `--delete` finds the files that the server no longer has.
#[derive(Default)]
pub(super) struct FinalListings {
    pub(super) names: ListedNames,
    /// The paths of the entries that could not be fetched or listed.
    pub(super) failed: BTreeSet<String>,
    /// The paths of gopher items that another menu has listed before.
    pub(super) in_other_menus: HashSet<String>,
    /// The identities of the URLs of these items.
    pub(super) other_urls: HashSet<u64>,
    /// The paths of entries that have a file of their own, if earlier runs left files with the same path and a suffix.
    pub(super) own_files: HashSet<String>,
}

/// The files that an earlier run fetched, that are unchanged, and that the server no longer lists.
#[derive(Debug, Default)]
pub(super) struct Extraneous {
    /// Their paths, the deepest first, so that directories are empty when they are removed.
    files: Vec<(String, Finished)>,
    /// The number of files that are no longer listed, but were changed locally.
    pub(super) changed: u64,
}

impl Extraneous {
    /// Finds the extraneous files among `earlier`, those of the journal.
    pub(super) fn find(
        directory: &Path,
        earlier: &BTreeMap<String, Finished>,
        listings: &FinalListings,
    ) -> Self {
        let mut extraneous = Self::default();
        let mut spellings = OtherSpellings::new(directory);
        for (path, finished) in earlier.iter().rev() {
            if !is_inside_mirror(path)
                || !is_extraneous(path, false, &listings.names)
                || may_be_copy_of_failed(path, &listings.failed)
                || may_be_copy_of_entry_without_file(path, listings)
            {
                continue;
            }
            let Some((parent, name)) = open_parent(directory, path) else { continue };
            match parent.file_metadata(name).map(|file| finished.is_unchanged(&file)) {
                Some(_) if spellings.is_listed(path, &listings.names) => {}
                Some(true) => extraneous.files.push((path.clone(), finished.clone())),
                Some(false) => extraneous.changed += 1,
                None => {}
            }
        }
        extraneous
    }

    /// Returns the paths of the files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(path, _)| &**path)
    }

    /// Removes the paths in `kept` from the files to delete.
    pub(super) fn keep(&mut self, kept: &HashSet<String>) {
        self.files.retain(|(path, _)| !kept.contains(path));
    }

    /// Returns the number of files.
    pub(super) const fn count(&self) -> u64 {
        self.files.len() as u64
    }

    /// Returns the number of files of earlier runs that exist and are not extraneous.
    pub(super) fn count_remaining(&self, directory: &Path, earlier: &BTreeMap<String, Finished>) -> u64 {
        count_existing(directory, earlier.keys()).saturating_sub(self.count())
    }

    /// Deletes the files that are still unchanged, then their empty parent directories. `remove` gets the directory, the
    /// name and the path of each file; it may keep the file.
    pub(super) fn delete(
        &mut self,
        directory: &Path,
        listed: &ListedNames,
        mut remove: impl FnMut(&DirHandle, &str, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (path, finished) in &self.files {
            let Some((parent, name)) = open_parent(directory, path) else { continue };
            match parent.file_metadata(name).map(|file| finished.is_unchanged(&file)) {
                Some(true) => {
                    remove(&parent, name, path)?;
                    remove_empty_parents(directory, path, listed);
                }
                Some(false) => self.changed += 1,
                None => {}
            }
        }
        Ok(())
    }
}

/// Returns the number of regular files at the paths below `directory`. The journal keeps the paths of deleted files.
pub(super) fn count_existing<'p>(directory: &Path, paths: impl Iterator<Item = &'p String>) -> u64 {
    let is_file = |path: &&String| {
        let metadata = || fs::symlink_metadata(directory.join(path));
        is_inside_mirror(path) && metadata().is_ok_and(|file| file.is_file())
    };
    paths.filter(is_file).count() as u64
}

/// Returns `true` if the path may be the only copy of an entry that could not be fetched: in the earlier run another entry
/// had the same local name, so that the name of this one, or of its directory, has a suffix.
fn may_be_copy_of_failed(path: &str, failed: &BTreeSet<String>) -> bool {
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    ends.filter_map(|end| without_suffix(&path[..end])).any(|base| {
        let below = format!("{base}/");
        let from = (Bound::Included(below.as_str()), Bound::Unbounded);
        failed.contains(base)
            || failed.range::<str, _>(from).next().is_some_and(|found| found.starts_with(&below))
    })
}

/// Returns `true` if the path may be the copy of an entry that has no file of its own, for the same reason: the entry is
/// excluded, another menu lists it, the server has sent a page about it, or the file at its path was kept without a
/// comparison. Of a directory, that would have to be known of each file, so everything below a suffix is kept.
fn may_be_copy_of_entry_without_file(path: &str, listings: &FinalListings) -> bool {
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    let bases = ends.filter_map(|end| Some((&path[..end], without_suffix(&path[..end])?)));
    bases.into_iter().any(|(suffixed, base)| {
        let is_below = suffixed.len() < path.len();
        let has_own = match (kind_of(suffixed, listings), kind_of(base, listings)) {
            // An entry has this name itself, or none has the name without the suffix.
            (Some(_), _) | (None, None) => true,
            (None, Some(Some(true))) => !is_below,
            (None, Some(_)) => !is_below && listings.own_files.contains(base),
        };
        !has_own || listings.in_other_menus.contains(base)
    })
}

/// Returns whether the listed entry at `path` is a directory, if that is known, or `None` if there is no such entry.
fn kind_of(path: &str, listings: &FinalListings) -> Option<Option<bool>> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    Some(listings.names.get(parent)?.get(name)?.is_directory)
}

/// Removes the suffix of a name that several entries share, `~` and 8 or 32 hexadecimal digits, from the end of a path.
/// Returns `None` if it does not end with one.
fn without_suffix(path: &str) -> Option<&str> {
    let (base, digits) = path.rsplit_once('~')?;
    let is_suffix = matches!(digits.len(), 8 | 32) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_suffix.then_some(base)
}

/// Finds listed names that differ from those of a local path only in case or Unicode form. If the directory does not
/// distinguish them, the path leads to the listed file.
pub(super) struct OtherSpellings<'d> {
    directory: &'d Path,
    /// The listed names of each directory after [`fold_name`], or `None` if the directory distinguishes spellings;
    /// separately for ASCII names (`true`), which differ only in case.
    folded: HashMap<(String, bool), Option<HashSet<String>>>,
}

impl<'d> OtherSpellings<'d> {
    pub(super) fn new(directory: &'d Path) -> Self {
        Self { directory, folded: HashMap::new() }
    }

    /// Returns `true` if `path` leads to a listed file or directory whose name differs from its own only in case
    /// or Unicode form. The parent directory of `path` must exist.
    pub(super) fn is_listed(&mut self, path: &str, listed: &ListedNames) -> bool {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        for end in ends {
            let (parent, name) = path[..end].rsplit_once('/').unwrap_or(("", &path[..end]));
            let Some(entries) = listed.get(parent) else { return false };
            if !entries.contains_key(name) {
                return self
                    .folded_names(parent, name.is_ascii(), entries)
                    .is_some_and(|names| names.contains(&*fold_name(name)));
            }
        }
        false
    }

    fn folded_names(
        &mut self,
        parent: &str,
        is_ascii: bool,
        entries: &HashMap<String, ListedName>,
    ) -> Option<&HashSet<String>> {
        let directory = self.directory;
        let names = self.folded.entry((parent.to_owned(), is_ascii)).or_insert_with(|| {
            let opened = DirHandle::open_or_create(directory, parent).ok()?;
            // If no local name has another spelling to look up, nothing is deleted.
            let folds_names = opened.entries_fold_names(is_ascii) != Some(false);
            folds_names.then(|| entries.keys().map(|name| fold_name(name).into_owned()).collect())
        });
        names.as_ref()
    }
}

/// Returns `true` if a listed parent directory of the path does not contain it. Below a directory that was not listed,
/// every path may still exist on the server.
pub(super) fn is_extraneous(path: &str, is_directory: bool, listed: &ListedNames) -> bool {
    unlisted_parent(path, is_directory, listed).is_some()
}

/// Returns the first parent directory of the path that was listed and does not contain it.
pub(super) fn unlisted_parent<'p>(
    path: &'p str,
    is_directory: bool,
    listed: &ListedNames,
) -> Option<&'p str> {
    for end in path.match_indices('/').map(|(end, _)| end).chain([path.len()]) {
        let (parent, name) = path[..end].rsplit_once('/').unwrap_or(("", &path[..end]));
        let entries = listed.get(parent)?;
        // A directory that is now a file on the server is extraneous, and so is a file that is now a directory.
        let must_be_directory = is_directory || end < path.len();
        let is_listed = entries.get(name).is_some_and(|entry| {
            entry.is_directory.is_none_or(|is_directory| is_directory == must_be_directory)
        });
        if !is_listed {
            return Some(parent);
        }
    }
    None
}

/// Returns `true` if the path is inside the mirror. A manipulated journal could contain other paths.
pub(super) fn is_inside_mirror(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

/// Opens the parent directory of `path` without following links. Returns it and the file name, or `None` if the directory
/// does not exist; no directory is created.
pub(super) fn open_parent<'p>(directory: &Path, path: &'p str) -> Option<(DirHandle, &'p str)> {
    let (parent_path, name) = path.rsplit_once('/').unwrap_or(("", path));
    Some((open_directory(directory, parent_path)?, name))
}

/// Opens the directory `path` without following links. Returns `None` if it does not exist; no directory is created.
pub(super) fn open_directory(directory: &Path, path: &str) -> Option<DirHandle> {
    let metadata = fs::symlink_metadata(directory.join(path));
    let exists = metadata.is_ok_and(|metadata| metadata.is_dir());
    if exists { DirHandle::open_or_create(directory, path).ok() } else { None }
}

/// Removes parent directories that are no longer listed, as long as they are empty.
pub(super) fn remove_empty_parents(directory: &Path, path: &str, listed: &ListedNames) {
    let mut path = path;
    while let Some((parent_path, _)) = path.rsplit_once('/') {
        let is_removed =
            || open_parent(directory, parent_path).is_some_and(|(above, name)| above.remove_directory(name));
        if !is_extraneous(parent_path, true, listed) || !is_removed() {
            return;
        }
        path = parent_path;
    }
}

#[cfg(test)]
mod tests {
    use fetch_url::mirror::Journal;

    use super::*;

    /// Names that end with a slash are directories; the kind of names that end with a question mark is unknown.
    fn listed(directories: &[(&str, &[&str])]) -> ListedNames {
        let of = |name: &&str| {
            let is_directory = (!name.ends_with('?')).then_some(name.ends_with('/'));
            (name.trim_end_matches(['/', '?']).to_owned(), ListedName { is_directory, url: 0 })
        };
        directories.iter().map(|(path, all)| ((*path).to_owned(), all.iter().map(of).collect())).collect()
    }

    fn find(directory: &Path, journal: &mut Journal, listed: &ListedNames) -> Extraneous {
        let listings =
            FinalListings { names: listed.clone(), failed: BTreeSet::new(), ..FinalListings::default() };
        Extraneous::find(directory, &journal.finished().expect("lines"), &listings)
    }

    #[test]
    fn path_with_a_suffix_may_be_the_copy_of_an_entry_that_failed() {
        let failed = BTreeSet::from(["a_b", "d/x_y/deep", "d/x_y-1"].map(str::to_owned));
        for (path, expected) in [
            ("a_b~0123abcd", true),
            ("a_b~0123abcd/below", true),
            ("a_b~0123456789abcdef0123456789abcdef", true),
            ("d/x_y~0123abcd/other", true),
            ("d/x_y-1~0123abcd", true),
            ("a_b", false),
            ("a_b~0123abc", false),
            ("a_b~0123abcg", false),
            ("d/x~0123abcd", false),
            ("x_y~0123abcd", false),
        ] {
            assert_eq!(may_be_copy_of_failed(path, &failed), expected, "{path}");
        }
    }

    #[test]
    fn path_with_a_suffix_may_be_the_copy_of_an_entry_without_a_file_of_its_own() {
        let names = listed(&[("", &["a?", "b", "d/", "own?", "a~89abcdef/"]), ("d", &["a?", "x"])]);
        let paths = |path: &str| HashSet::from([path.to_owned()]);
        let (own_files, in_other_menus) = (paths("own"), paths("d/shared"));
        let listings = FinalListings { names, own_files, in_other_menus, ..FinalListings::default() };
        for (path, expected) in [
            ("a~0123abcd", true),
            ("d/a~0123abcd/x", true),
            ("a~89abcdef/x", false),
            ("b~0123abcd", true),
            ("c~0123abcd", false),
            ("c~0123abcd/x", false),
            ("d~0123abcd", false),
            ("d~0123abcd/x", true),
            ("d~0123abcd/x~0123abcd", true),
            ("d/shared~0123abcd", true),
            ("own~0123abcd", false),
            ("own~0123abcd/x", true),
        ] {
            assert_eq!(may_be_copy_of_entry_without_file(path, &listings), expected, "{path}");
        }
    }

    #[test]
    fn paths_missing_from_a_listed_parent_are_extraneous() {
        let listed = listed(&[("", &["a", "d/", "e/", "u?"]), ("d", &["x"])]);
        for (path, expected) in [
            ("a", false),
            ("b", true),
            ("d/x", false),
            ("d/y", true),
            ("f/y", true),
            // An earlier run saw `a` as a directory and `d` as a file.
            ("a/x", true),
            ("d", true),
            // The directory was not listed completely, so it is unknown whether the file exists.
            ("e/y", false),
            ("u", false),
            ("u/y", false),
        ] {
            assert_eq!(is_extraneous(path, false, &listed), expected, "{path}");
        }
        assert!(is_extraneous("a", true, &listed) && !is_extraneous("d", true, &listed));
        assert!(!is_extraneous("a", false, &ListedNames::new()), "nothing was listed");
    }

    /// No local name has ASCII letters, so the directory counts as one that folds case.
    #[test]
    fn file_that_is_listed_in_another_case_is_kept_where_case_is_not_distinguished() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let mut journal = Journal::open(&at("\u{a7}"), "x", true).expect("a journal");
        fs::create_dir(at("\u{e9}")).expect("a directory");
        for name in ["\u{e4}", "\u{f6}", "\u{e9}/\u{fc}"] {
            fs::write(at(name), name).expect("a file");
            journal.add(name, "", "", &fs::metadata(at(name)).expect("metadata")).expect("a line");
        }
        let listed = listed(&[("", &["\u{c4}", "\u{c9}/", "1"]), ("\u{c9}", &["1"])]);
        let mut deleted = Vec::new();
        let mut found = find(dir.path(), &mut journal, &listed);
        let result = found.delete(dir.path(), &listed, |_, _, path| {
            deleted.push(path.to_owned());
            Ok(())
        });
        result.expect("no error");
        assert_eq!((deleted, found.changed), (vec!["\u{f6}".to_owned()], 0));
    }

    #[test]
    fn directory_that_was_removed_is_not_created_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let mut journal = Journal::open(&at("journal"), "x", true).expect("a journal");
        fs::create_dir(at("d")).expect("a directory");
        fs::write(at("d/gone"), "").expect("a file");
        journal.add("d/gone", "", "", &fs::metadata(at("d/gone")).expect("metadata")).expect("a line");
        fs::remove_dir_all(at("d")).expect("removed");
        let listed = listed(&[("", &["d/"]), ("d", &["x"])]);
        let found = find(dir.path(), &mut journal, &listed);
        assert_eq!((found.count(), found.changed), (0, 0));
        assert!(!at("d").exists());
    }

    #[test]
    fn file_that_changes_before_its_deletion_is_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let mut journal = Journal::open(&at("journal"), "x", true).expect("a journal");
        for name in ["a", "b"] {
            fs::write(at(name), name).expect("a file");
            journal.add(name, "", "", &fs::metadata(at(name)).expect("metadata")).expect("a line");
        }
        let listed = listed(&[("", &["c"])]);
        let mut found = find(dir.path(), &mut journal, &listed);
        fs::write(at("a"), "changed").expect("a file");
        let result = found.delete(dir.path(), &listed, |parent, name, _| parent.remove_file(name));
        result.expect("no error");
        assert_eq!((found.count(), found.changed), (2, 1));
        assert!(at("a").exists() && !at("b").exists());
    }

    #[test]
    fn only_unchanged_fetched_files_are_deleted() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        let mut journal = Journal::open(&at("journal"), "x", true).expect("a journal");
        fs::create_dir_all(at("d/e")).expect("directories");
        fs::create_dir(at("outside")).expect("a directory");
        std::os::unix::fs::symlink(at("outside"), at("link")).expect("a link");
        for name in ["stays", "d/e/gone", "changed", "mine", "outside/x"] {
            fs::write(at(name), name).expect("a file");
            let metadata = fs::metadata(at(name)).expect("metadata");
            if name != "mine" && name != "outside/x" {
                journal.add(name, "", "", &metadata).expect("a line");
            }
        }
        let metadata = fs::metadata(at("outside/x")).expect("metadata");
        journal.add("link/x", "", "", &metadata).expect("a line");
        journal.add("../x", "", "", &metadata).expect("a line");
        fs::write(at("changed"), "otherwise").expect("a file");
        let listed = listed(&[("", &["stays", "outside/"])]);
        let mut names = Vec::new();
        let mut found = find(dir.path(), &mut journal, &listed);
        let result = found.delete(dir.path(), &listed, |parent, name, path| {
            names.push(path.to_owned());
            parent.remove_file(name)
        });
        result.expect("deleted");
        assert_eq!((names.len(), found.count(), found.changed), (1, 1, 1));
        for (name, expected) in
            [("stays", true), ("d", false), ("changed", true), ("mine", true), ("outside/x", true)]
        {
            assert_eq!(at(name).exists(), expected, "{name}");
        }
    }
}
