//! `mirror --delete`: removes files that an earlier run fetched and that are no longer listed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::path::Path;

use fetch_url::Error;
use fetch_url::internal::fold_case;
use fetch_url::mirror::{DirHandle, Finished, Journal};

/// The names in completely listed directories, and whether they are directories, if known.
pub(super) type ListedNames = HashMap<String, HashMap<String, Option<bool>>>;

/// The files that an earlier run fetched, that are unchanged, and that the server no longer lists.
#[derive(Debug, Default)]
pub(super) struct Extraneous {
    /// Their paths, the deepest first, so that directories are empty when they are removed.
    files: Vec<(String, Finished)>,
    /// The number of files that are no longer listed, but were changed locally.
    pub(super) changed: u64,
    /// The number of recorded files that are still listed, or in directories that were not listed completely.
    pub(super) remaining: u64,
}

impl Extraneous {
    /// Finds the extraneous files that the journal contains.
    pub(super) fn find(directory: &Path, journal: &mut Journal, listed: &ListedNames) -> Result<Self, Error> {
        let mut extraneous = Self::default();
        let mut spellings = OtherSpellings::new(directory);
        for (path, finished) in journal.finished()?.into_iter().rev() {
            if !is_inside_mirror(&path) {
                continue;
            }
            if !is_extraneous(&path, false, listed) {
                extraneous.remaining += 1;
                continue;
            }
            let Some((parent, name)) = open_parent(directory, &path) else { continue };
            let is_unchanged = parent.file_metadata(name).map(|file| finished.is_unchanged(&file));
            match is_unchanged {
                Some(_) if spellings.is_listed(&path, listed) => extraneous.remaining += 1,
                Some(true) => extraneous.files.push((path, finished)),
                Some(false) => extraneous.changed += 1,
                None => {}
            }
        }
        Ok(extraneous)
    }

    /// Returns the number of files.
    pub(super) const fn count(&self) -> u64 {
        self.files.len() as u64
    }

    /// Deletes the files that are still unchanged, then their empty parent directories. `remove` gets the directory, the
    /// name and the path of each file; it may keep the file.
    pub(super) fn delete(
        &mut self,
        directory: &Path,
        listed: &ListedNames,
        mut remove: impl FnMut(&DirHandle, &str, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut changed = 0;
        for (path, finished) in &self.files {
            let Some((parent, name)) = open_parent(directory, path) else { continue };
            if parent.file_metadata(name).is_some_and(|file| finished.is_unchanged(&file)) {
                remove(&parent, name, path)?;
                remove_empty_parents(directory, path, listed);
            } else {
                changed += 1;
            }
        }
        self.changed += changed;
        Ok(())
    }
}

/// Returns the local file or directory at `path`, which is to be deleted because the server now has the other kind there;
/// `is_directory` is the local kind. Returns `None` unless everything at and below `path` is extraneous, and either
/// unchanged and recorded in `journal`, or a temporary file of a killed download of a URL that starts with `url_prefix`.
pub(super) fn find_entry_of_other_kind(
    directory: &Path,
    path: &str,
    is_directory: bool,
    journal: &BTreeMap<String, Finished>,
    listed: &ListedNames,
    url_prefix: &str,
) -> Option<LocalTree> {
    let mut spellings = OtherSpellings::new(directory);
    if !is_inside_mirror(path)
        || !is_extraneous(path, is_directory, listed)
        || spellings.is_listed(path, listed)
    {
        return None;
    }
    let mut tree = LocalTree::default();
    let is_known = |path: &str, file: &Metadata| {
        file.is_file() && journal.get(path).is_some_and(|finished| finished.is_unchanged(file))
    };
    tree.collect(directory, path, url_prefix, &is_known)?;
    // Metadata come before the `.part` file to which they belong: they must not exist without it.
    tree.leftovers.sort_unstable();
    Some(tree)
}

/// Finds listed names that differ from those of a local path only in case. If the directory folds case, the path leads to
/// the listed file.
pub(super) struct OtherSpellings<'d> {
    directory: &'d Path,
    /// The listed names of each directory after [`fold_case`], or `None` if the directory distinguishes case.
    folded: HashMap<String, Option<HashSet<String>>>,
}

impl<'d> OtherSpellings<'d> {
    pub(super) fn new(directory: &'d Path) -> Self {
        Self { directory, folded: HashMap::new() }
    }

    /// Returns `true` if `path` leads to a listed file or directory whose name differs from its own only in case. The
    /// parent directory of `path` must exist.
    pub(super) fn is_listed(&mut self, path: &str, listed: &ListedNames) -> bool {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        for end in ends {
            let (parent, name) = path[..end].rsplit_once('/').unwrap_or(("", &path[..end]));
            let Some(entries) = listed.get(parent) else { return false };
            if !entries.contains_key(name) {
                return self
                    .folded_names(parent, entries)
                    .is_some_and(|names| names.contains(&*fold_case(name)));
            }
        }
        false
    }

    fn folded_names(
        &mut self,
        parent: &str,
        entries: &HashMap<String, Option<bool>>,
    ) -> Option<&HashSet<String>> {
        let directory = self.directory;
        let names = self.folded.entry(parent.to_owned()).or_insert_with(|| {
            let opened = DirHandle::open_or_create(directory, parent).ok()?;
            // If no local name has ASCII letters to look up, nothing is deleted.
            let folds_case = opened.entries_fold_case() != Some(false);
            folds_case.then(|| entries.keys().map(|name| fold_case(name).into_owned()).collect())
        });
        names.as_ref()
    }
}

/// The files and directories at and below a path.
#[derive(Default)]
pub(super) struct LocalTree {
    files: Vec<String>,
    /// Temporary files of killed downloads.
    leftovers: Vec<String>,
    /// Each directory before those below it.
    directories: Vec<String>,
}

impl LocalTree {
    /// Returns the number of files, without temporary files.
    pub(super) const fn file_count(&self) -> u64 {
        self.files.len() as u64
    }

    /// Deletes the files and directories. Returns the number of files, or `None` if something could not be deleted.
    pub(super) fn remove(&self, directory: &Path, url_prefix: &str) -> Option<u64> {
        for path in &self.leftovers {
            let (parent, name) = open_parent(directory, path)?;
            parent.remove_leftover(name, url_prefix).ok()?;
        }
        for path in &self.files {
            let (parent, name) = open_parent(directory, path)?;
            parent.remove_file(name).ok()?;
        }
        // The deepest directories come last.
        for path in self.directories.iter().rev() {
            if let Some((parent, name)) = open_parent(directory, path) {
                parent.remove_directory(name);
            }
        }
        Some((self.files.len() + self.leftovers.len()) as u64)
    }

    /// Adds `path` and everything below it, without following links. Returns `None` if a file is found for which
    /// `is_known` returns `false`, and which is not the temporary file of a killed download of a URL that starts with
    /// `url_prefix`.
    fn collect(
        &mut self,
        directory: &Path,
        path: &str,
        url_prefix: &str,
        is_known: &impl Fn(&str, &Metadata) -> bool,
    ) -> Option<()> {
        let (parent, name) = open_parent(directory, path)?;
        let metadata = fs::symlink_metadata(parent.path(name)).ok()?;
        if !metadata.is_dir() {
            let files = match is_known(path, &metadata) {
                true => &mut self.files,
                false => parent.leftover_target(name, url_prefix).map(|_| &mut self.leftovers)?,
            };
            files.push(path.to_owned());
            return Some(());
        }
        self.directories.push(path.to_owned());
        for entry in fs::read_dir(parent.path(name)).ok()? {
            let name = entry.ok()?.file_name();
            self.collect(directory, &format!("{path}/{}", name.to_str()?), url_prefix, is_known)?;
        }
        Some(())
    }
}

/// Returns `true` if a listed parent directory of the path does not contain it. Below a directory that was not listed,
/// every path may still exist on the server.
pub(super) fn is_extraneous(path: &str, is_directory: bool, listed: &ListedNames) -> bool {
    let mut parent = String::new();
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        let Some(entries) = listed.get(&parent) else { return false };
        // A directory that is now a file on the server is extraneous, and so is a file that is now a directory.
        let must_be_directory = is_directory || names.peek().is_some();
        match entries.get(name) {
            Some(kind) if kind.is_none_or(|is_directory| is_directory == must_be_directory) => {}
            _ => return true,
        }
        if !parent.is_empty() {
            parent.push('/');
        }
        parent.push_str(name);
    }
    false
}

/// Returns `true` if the path is inside the mirror. A manipulated journal could contain other paths.
fn is_inside_mirror(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

/// Opens the parent directory of `path` without following links. Returns it and the file name, or `None` if the directory
/// does not exist; no directory is created.
fn open_parent<'p>(directory: &Path, path: &'p str) -> Option<(DirHandle, &'p str)> {
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
    use super::*;

    /// Names that end with a slash are directories; the kind of names that end with a question mark is unknown.
    fn listed(directories: &[(&str, &[&str])]) -> ListedNames {
        let of = |name: &&str| {
            let kind = (!name.ends_with('?')).then_some(name.ends_with('/'));
            (name.trim_end_matches(['/', '?']).to_owned(), kind)
        };
        directories.iter().map(|(path, all)| ((*path).to_owned(), all.iter().map(of).collect())).collect()
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
        let mut found = Extraneous::find(dir.path(), &mut journal, &listed).expect("no error");
        let result = found.delete(dir.path(), &listed, |_, _, path| {
            deleted.push(path.to_owned());
            Ok(())
        });
        result.expect("no error");
        assert_eq!((deleted, found.changed, found.remaining), (vec!["\u{f6}".to_owned()], 0, 2));
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
        let found = Extraneous::find(dir.path(), &mut journal, &listed).expect("no error");
        assert_eq!((found.count(), found.changed, found.remaining), (0, 0, 0));
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
        let mut found = Extraneous::find(dir.path(), &mut journal, &listed).expect("no error");
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
        let mut found = Extraneous::find(dir.path(), &mut journal, &listed).expect("no error");
        let result = found.delete(dir.path(), &listed, |parent, name, path| {
            names.push(path.to_owned());
            parent.remove_file(name)
        });
        result.expect("deleted");
        assert_eq!((names.len(), found.count(), found.changed, found.remaining), (1, 1, 1, 1));
        for (name, expected) in
            [("stays", true), ("d", false), ("changed", true), ("mine", true), ("outside/x", true)]
        {
            assert_eq!(at(name).exists(), expected, "{name}");
        }
    }
}
