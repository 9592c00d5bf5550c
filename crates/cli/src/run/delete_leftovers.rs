//! `mirror --delete`: removes temporary files of killed runs whose objects are no longer listed.

use std::fs;
use std::path::Path;

use fetch_url::Error;
use fetch_url::mirror::DirHandle;

use super::delete_extraneous::{
    ListedNames, OtherSpellings, is_extraneous, open_directory, remove_empty_parents,
};

/// Removes the temporary files of downloads of URLs that start with `url_prefix`, in listed directories and in those that
/// are no longer listed, if the object is not listed. Directories that become empty are removed if they are no longer
/// listed. `remove` gets the directory, the name and the path of each file; it may keep the file.
pub(super) fn delete_leftovers(
    directory: &Path,
    listed: &ListedNames,
    url_prefix: &str,
    mut remove: impl FnMut(&DirHandle, &str, &str) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut spellings = OtherSpellings::new(directory);
    let mut is_unlisted = |path: &str, is_directory| {
        is_extraneous(path, is_directory, listed) && !spellings.is_listed(path, listed)
    };
    let mut directories: Vec<String> = listed.keys().cloned().collect();
    while let Some(parent_path) = directories.pop() {
        let Some(parent) = open_directory(directory, &parent_path) else { continue };
        let below = |name: &str| {
            if parent_path.is_empty() { name.to_owned() } else { format!("{parent_path}/{name}") }
        };
        for (name, is_directory) in sorted_names(&parent, url_prefix) {
            if is_directory {
                directories.extend(Some(below(&name)).filter(|path| is_unlisted(path, true)));
                continue;
            }
            let Some(target) = parent.leftover_target(&name, url_prefix) else { continue };
            if is_unlisted(&below(target), false) {
                remove(&parent, &name, &below(&name))?;
                remove_empty_parents(directory, &below(&name), listed);
            }
        }
    }
    Ok(())
}

/// Returns the names of the directories and temporary files in `parent`, and whether they are directories. Metadata come
/// before the `.part` file to which they belong: they must not exist without it.
fn sorted_names(parent: &DirHandle, url_prefix: &str) -> Vec<(String, bool)> {
    let entries = fs::read_dir(parent.path("")).into_iter().flatten().flatten();
    let relevant = entries.filter_map(|entry| {
        let (name, is_directory) = (entry.file_name().into_string().ok()?, entry.file_type().ok()?.is_dir());
        let is_relevant = is_directory || parent.leftover_target(&name, url_prefix).is_some();
        is_relevant.then_some((name, is_directory))
    });
    let mut names: Vec<_> = relevant.collect();
    names.sort_unstable();
    names
}
