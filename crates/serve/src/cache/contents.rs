//! The files of a cache, the ones that were not used for the longest time first.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::entry::{Entry, MAX_SIZE, is_body_name};
use super::files::{is_regular, open_to_read, remove_file, size_of};

/// The objects below a directory, and the number of bytes of all its files.
#[derive(Debug)]
pub(super) struct Contents {
    objects: Vec<StoredObject>,
    size: u64,
}

#[derive(Debug)]
struct StoredObject {
    used: SystemTime,
    entry: PathBuf,
    body: PathBuf,
}

impl Contents {
    /// Reads the directory and removes what no process uses: bodies that no entry names and that are not being written,
    /// damaged entries, and entries whose body is missing. The caller holds the lock of the cache.
    pub(super) fn read(directory: &Path) -> io::Result<Self> {
        let (mut objects, mut bodies, mut size) = (Vec::new(), Vec::new(), 0_u64);
        for file in fs::read_dir(directory)? {
            let file = file?;
            let (path, name) = (file.path(), file.file_name().to_string_lossy().into_owned());
            if is_body_name(&name) {
                bodies.push(path);
            } else if name.ends_with(".entry.new") {
                remove_file(&path);
            } else if name.ends_with(".entry") {
                match read_object(directory, &path) {
                    Some(object) => objects.push(object),
                    None => drop(remove_file(&path)),
                }
            }
        }
        let named: std::collections::HashSet<PathBuf> =
            objects.iter().map(|object| object.body.clone()).collect();
        for body in bodies {
            if named.contains(&body) || is_being_written(&body) {
                size += size_of(&body);
            } else {
                remove_file(&body);
            }
        }
        size += objects.iter().map(|object| size_of(&object.entry)).sum::<u64>();
        objects.sort_by_key(|object| object.used);
        Ok(Self { objects, size })
    }

    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// Removes objects, the one that was not used for the longest time first, until there are at most `most` bytes.
    pub(super) fn shrink(&mut self, most: u64) {
        for object in self.objects.drain(..) {
            if self.size <= most {
                break;
            }
            // Without its entry, no process finds the body; those that read it keep it open.
            self.size = self.size.saturating_sub(remove_file(&object.entry));
            self.size = self.size.saturating_sub(remove_file(&object.body));
        }
    }
}

fn read_object(directory: &Path, path: &Path) -> Option<StoredObject> {
    let mut file = open_to_read(path).ok()?;
    let metadata = file.metadata().ok().filter(|metadata| metadata.len() <= MAX_SIZE as u64)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let entry = Entry::from_bytes(&bytes)?;
    let body = directory.join(&entry.body);
    is_regular(&body).then(|| StoredObject {
        used: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        entry: path.to_owned(),
        body,
    })
}

/// Returns `true` if a process holds the lock of the file.
fn is_being_written(path: &Path) -> bool {
    open_to_read(path).is_ok_and(|file| file.try_lock_shared().is_err())
}
