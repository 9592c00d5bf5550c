//! `mirror --delete`: the local file or directory in place of which the server has the other kind.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::Path;

use fetch_url::mirror::Finished;

use super::delete_extraneous::{ListedNames, OtherSpellings, is_extraneous, is_inside_mirror, open_parent};

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
    /// Returns the paths of the files, without temporary files.
    pub(super) fn paths(&self) -> Vec<&str> {
        self.files.iter().map(|path| &**path).collect()
    }

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
