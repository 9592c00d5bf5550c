//! `mirror --delete`: removes files that an earlier run fetched and that are no longer listed.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use fetch_url::Error;
use fetch_url::mirror::{DirHandle, Journal};

/// The names in completely listed directories, and whether they are directories, if known.
pub(super) type Listed = HashMap<String, HashMap<String, Option<bool>>>;

/// Deletes files that are in the journal, unchanged, and no longer listed; then empty directories. Returns the number
/// of deleted files, and of files that were kept because they changed.
pub(super) fn delete_extraneous(
    directory: &Path,
    journal: &Journal,
    listed: &Listed,
) -> Result<(u64, u64), Error> {
    let (mut deleted, mut kept) = (0, 0);
    // Deepest paths first, so that directories are empty when they are removed.
    for (path, finished) in journal.finished()?.iter().rev() {
        if !is_below(path) || !is_extraneous(path, false, listed) {
            continue;
        }
        let Some((above, name)) = above(directory, path) else { continue };
        match above.file(name).map(|file| finished.is(&file)) {
            None => continue,
            Some(false) => {
                kept += 1;
                continue;
            }
            Some(true) => above.remove_file(name)?,
        }
        deleted += 1;
        remove_empty(directory, path, listed);
    }
    Ok((deleted, kept))
}

/// Returns `true` if the nearest listed parent directory does not contain the path. Unlisted directories may still
/// exist.
fn is_extraneous(path: &str, is_directory: bool, listed: &Listed) -> bool {
    let mut above = String::new();
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        let Some(there) = listed.get(&above) else { return false };
        // A file in place of a directory, or the reverse, is a different entry.
        let must_be_directory = is_directory || names.peek().is_some();
        match there.get(name) {
            Some(kind) if kind.is_none_or(|is_directory| is_directory == must_be_directory) => {}
            _ => return true,
        }
        if !above.is_empty() {
            above.push('/');
        }
        above.push_str(name);
    }
    false
}

/// Returns `true` if the path is inside the mirror. A manipulated journal could contain other paths.
fn is_below(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

/// Returns the directory of `path`, opened without following links, and the name in it. Nothing is created.
fn above<'p>(directory: &Path, path: &'p str) -> Option<(DirHandle, &'p str)> {
    let (below, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_there = fs::symlink_metadata(directory.join(below)).is_ok_and(|facts| facts.is_dir());
    let held = if is_there { DirHandle::open(directory, below).ok()? } else { return None };
    Some((held, name))
}

/// Removes parent directories that are no longer listed, as long as they are empty.
fn remove_empty(directory: &Path, path: &str, listed: &Listed) {
    let mut below = path;
    while let Some((gone, _)) = below.rsplit_once('/') {
        let is_removed = || above(directory, gone).is_some_and(|(above, name)| above.remove_directory(name));
        if !is_extraneous(gone, true, listed) || !is_removed() {
            return;
        }
        below = gone;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that end with a slash are directories; the kind of names that end with a question mark is unknown.
    fn listed(directories: &[(&str, &[&str])]) -> Listed {
        let of = |name: &&str| {
            let kind = (!name.ends_with('?')).then_some(name.ends_with('/'));
            (name.trim_end_matches(['/', '?']).to_owned(), kind)
        };
        directories.iter().map(|(path, all)| ((*path).to_owned(), all.iter().map(of).collect())).collect()
    }

    #[test]
    fn extraneous_files_are_found() {
        let listed = listed(&[("", &["a", "d/", "e/", "u?"]), ("d", &["x"])]);
        for (path, expected) in [
            ("a", false),
            ("b", true),
            ("d/x", false),
            ("d/y", true),
            ("f/y", true),
            // A file was a directory, and a directory a file.
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
        assert!(!is_extraneous("a", false, &Listed::new()), "nothing was listed");
    }

    #[test]
    fn only_unchanged_fetched_files_are_deleted() {
        let home = tempfile::tempdir().expect("a directory");
        let at = |name: &str| home.path().join(name);
        let mut journal = Journal::open(&at("journal"), "x", true).expect("a journal");
        fs::create_dir_all(at("d/e")).expect("directories");
        fs::create_dir(at("outside")).expect("a directory");
        std::os::unix::fs::symlink(at("outside"), at("link")).expect("a link");
        for name in ["stays", "d/e/gone", "changed", "mine", "outside/x"] {
            fs::write(at(name), name).expect("a file");
            let facts = fs::metadata(at(name)).expect("facts");
            if name != "mine" && name != "outside/x" {
                journal.add(name, "", "", &facts).expect("a line");
            }
        }
        let facts = fs::metadata(at("outside/x")).expect("facts");
        journal.add("link/x", "", "", &facts).expect("a line");
        journal.add("../x", "", "", &facts).expect("a line");
        fs::write(at("changed"), "otherwise").expect("a file");
        let listed = listed(&[("", &["stays", "outside/"])]);
        assert_eq!(delete_extraneous(home.path(), &journal, &listed).expect("no fault"), (1, 1));
        for (name, expected) in
            [("stays", true), ("d", false), ("changed", true), ("mine", true), ("outside/x", true)]
        {
            assert_eq!(at(name).exists(), expected, "{name}");
        }
    }
}
