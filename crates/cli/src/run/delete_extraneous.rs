//! `mirror --delete`: removes files that an earlier run fetched and that are no longer listed.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use fetch_url::Error;
use fetch_url::mirror::{DirHandle, Journal};

/// The names in completely listed directories, and whether they are directories, if known.
pub(super) type ListedNames = HashMap<String, HashMap<String, Option<bool>>>;

/// Deletes each file that the journal contains, that is unchanged, and that the server no longer lists; then its empty
/// parent directories. Returns the number of deleted files, and the number of files that were kept because they changed.
pub(super) fn delete_extraneous(
    directory: &Path,
    journal: &Journal,
    listed: &ListedNames,
) -> Result<(u64, u64), Error> {
    let (mut deleted, mut kept) = (0, 0);
    // Deepest paths first, so that directories are empty when they are removed.
    for (path, finished) in journal.finished()?.iter().rev() {
        if !is_inside_mirror(path) || !is_extraneous(path, false, listed) {
            continue;
        }
        let Some((parent, name)) = open_parent(directory, path) else { continue };
        match parent.file(name).map(|file| finished.is_unchanged(&file)) {
            None => continue,
            Some(false) => {
                kept += 1;
                continue;
            }
            Some(true) => parent.remove_file(name)?,
        }
        deleted += 1;
        remove_empty_parents(directory, path, listed);
    }
    Ok((deleted, kept))
}

/// Returns `true` if a listed parent directory of the path does not contain it. Below a directory that was not listed,
/// every path may still exist on the server.
fn is_extraneous(path: &str, is_directory: bool, listed: &ListedNames) -> bool {
    let mut parent = String::new();
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        let Some(entries) = listed.get(&parent) else { return false };
        // If a directory is now a file, or a file a directory, the local path is extraneous.
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
    let parent = if exists { DirHandle::open(directory, parent_path).ok()? } else { return None };
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
            // The file `a` was a directory in an earlier run, and the directory `d` a file.
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
        assert_eq!(delete_extraneous(dir.path(), &journal, &listed).expect("deleted"), (1, 1));
        for (name, expected) in
            [("stays", true), ("d", false), ("changed", true), ("mine", true), ("outside/x", true)]
        {
            assert_eq!(at(name).exists(), expected, "{name}");
        }
    }
}
