//! `mirror --delete`: removes files that an earlier run fetched and that are no longer listed.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::path::Path;

use fetch_url::Error;
use fetch_url::mirror::{DirHandle, Finished, Journal};

/// The names in completely listed directories, and whether they are directories, if known.
pub(super) type ListedNames = HashMap<String, HashMap<String, Option<bool>>>;

/// Deletes each file that the journal contains, that is unchanged, and that the server no longer lists; then its empty
/// parent directories. `remove` gets the directory, the name and the path of each file; it may keep the file. Returns the
/// number of these files, and the number of files that were kept because they changed.
pub(super) fn delete_extraneous(
    directory: &Path,
    journal: &mut Journal,
    listed: &ListedNames,
    mut remove: impl FnMut(&DirHandle, &str, &str) -> Result<(), Error>,
) -> Result<(u64, u64), Error> {
    let (mut deleted, mut kept) = (0, 0);
    // Deepest paths first, so that directories are empty when they are removed.
    for (path, finished) in journal.finished()?.iter().rev() {
        if !is_inside_mirror(path) || !is_extraneous(path, false, listed) {
            continue;
        }
        let Some((parent, name)) = open_parent(directory, path) else { continue };
        match parent.file_metadata(name).map(|file| finished.is_unchanged(&file)) {
            None => continue,
            Some(false) => {
                kept += 1;
                continue;
            }
            Some(true) => remove(&parent, name, path)?,
        }
        deleted += 1;
        remove_empty_parents(directory, path, listed);
    }
    Ok((deleted, kept))
}

/// Deletes the local file or directory at `path`, because the server now has the other kind there; `is_directory` is
/// the local kind. Deletes nothing unless everything at and below `path` is extraneous, unchanged and recorded in
/// `journal`. Returns the number of deleted files.
pub(super) fn remove_entry_of_other_kind(
    directory: &Path,
    path: &str,
    is_directory: bool,
    journal: &BTreeMap<String, Finished>,
    listed: &ListedNames,
) -> u64 {
    if !is_inside_mirror(path) || !is_extraneous(path, is_directory, listed) {
        return 0;
    }
    let mut tree = LocalTree::default();
    let is_known = |path: &str, file: &Metadata| {
        file.is_file() && journal.get(path).is_some_and(|finished| finished.is_unchanged(file))
    };
    if tree.collect(directory, path, &is_known).is_none() {
        return 0;
    }
    let count = tree.files.len() as u64;
    for path in &tree.files {
        let removed = open_parent(directory, path).map(|(parent, name)| parent.remove_file(name));
        if removed.is_none_or(|removed| removed.is_err()) {
            return 0;
        }
    }
    // The deepest directories come last.
    for path in tree.directories.iter().rev() {
        if let Some((parent, name)) = open_parent(directory, path) {
            parent.remove_directory(name);
        }
    }
    count
}

/// The files and directories at and below a path.
#[derive(Default)]
struct LocalTree {
    files: Vec<String>,
    /// Each directory before those below it.
    directories: Vec<String>,
}

impl LocalTree {
    /// Adds `path` and everything below it, without following links. Returns `None` if a file is found for which
    /// `is_known` returns `false`.
    fn collect(
        &mut self,
        directory: &Path,
        path: &str,
        is_known: &impl Fn(&str, &Metadata) -> bool,
    ) -> Option<()> {
        let (parent, name) = open_parent(directory, path)?;
        let metadata = fs::symlink_metadata(parent.path(name)).ok()?;
        if !metadata.is_dir() {
            self.files.push(path.to_owned());
            return is_known(path, &metadata).then_some(());
        }
        self.directories.push(path.to_owned());
        for entry in fs::read_dir(parent.path(name)).ok()? {
            let name = entry.ok()?.file_name();
            self.collect(directory, &format!("{path}/{}", name.to_str()?), is_known)?;
        }
        Some(())
    }
}

/// Returns `true` if a listed parent directory of the path does not contain it. Below a directory that was not listed,
/// every path may still exist on the server.
fn is_extraneous(path: &str, is_directory: bool, listed: &ListedNames) -> bool {
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
    let metadata = fs::symlink_metadata(directory.join(parent_path));
    let exists = metadata.is_ok_and(|metadata| metadata.is_dir());
    let parent = if exists { DirHandle::open_or_create(directory, parent_path).ok()? } else { return None };
    Some((parent, name))
}

/// Removes parent directories that are no longer listed, as long as they are empty.
fn remove_empty_parents(directory: &Path, path: &str, listed: &ListedNames) {
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
        let deleted = delete_extraneous(dir.path(), &mut journal, &listed, |parent, name, path| {
            names.push(path.to_owned());
            parent.remove_file(name)
        });
        assert_eq!((deleted.expect("deleted"), names.len()), ((1, 1), 1));
        for (name, expected) in
            [("stays", true), ("d", false), ("changed", true), ("mine", true), ("outside/x", true)]
        {
            assert_eq!(at(name).exists(), expected, "{name}");
        }
    }
}
