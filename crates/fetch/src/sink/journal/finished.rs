//! The versions of a file that a journal records.

use std::collections::BTreeMap;
use std::fs::Metadata;

use super::Journal;
use super::entry::{Entry, FileTime, modified};
use super::lines::Lines;
use crate::Error;

/// Size and modification time of a file when it was finished.
pub(super) type Version = (u64, Option<FileTime>);

/// The recorded versions of a file.
#[derive(Clone, Debug)]
pub struct Finished {
    last: Version,
    /// The versions before the last one, of which most files have none: so they need little memory.
    #[allow(clippy::box_collection, reason = "a million files have one word each")]
    earlier: Option<Box<Vec<Version>>>,
}

impl Finished {
    pub(super) const fn new(last: Version) -> Self {
        Self { last, earlier: None }
    }

    /// Returns `true` if `file` has the size and modification time of a recorded version. A file that has returned to an
    /// earlier version counts as present, too ([`super::Journal::has`]).
    pub fn is_unchanged(&self, file: &Metadata) -> bool {
        let version = (file.len(), Some(modified(file)));
        self.last == version || self.earlier.as_ref().is_some_and(|earlier| earlier.contains(&version))
    }

    /// Makes `version` the last one.
    pub(super) fn add(&mut self, version: Version) {
        let earlier = std::mem::replace(&mut self.last, version);
        if earlier != self.last {
            self.earlier.get_or_insert_default().push(earlier);
        }
    }
}

impl Journal {
    /// Writes all lines and returns all finished files by path.
    ///
    /// # Errors
    /// [`Code::SinkFailed`](crate::Code::SinkFailed) if the journal cannot be written or read.
    pub fn finished(&mut self) -> Result<BTreeMap<String, Finished>, Error> {
        self.flush()?;
        let (mut finished, mut lines) = (BTreeMap::new(), Lines::new(&self.file));
        while let Some(line) = lines.next().map_err(|error| self.failed(error))? {
            if let Some(Entry { path, size, modified, .. }) = Entry::from_line(&line) {
                match finished.get_mut(path) {
                    Some(file) => Finished::add(file, (size, modified)),
                    None => drop(finished.insert(path.to_owned(), Finished::new((size, modified)))),
                }
            }
        }
        Ok(finished)
    }

    /// Writes all lines, and calls `read` with path and source of each finished file, in the order in which they were
    /// recorded. The last source of a path is that of the present file.
    ///
    /// # Errors
    /// [`Code::SinkFailed`](crate::Code::SinkFailed) if the journal cannot be written or read.
    pub fn read_sources(&mut self, mut read: impl FnMut(&str, &str)) -> Result<(), Error> {
        self.flush()?;
        let mut lines = Lines::new(&self.file);
        while let Some(line) = lines.next().map_err(|error| self.failed(error))? {
            if let Some(Entry { path, source, .. }) = Entry::from_line(&line) {
                read(path, source);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn file_is_unchanged_if_it_has_a_recorded_version() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let metadata = |content: &str, seconds| {
            fs::write(file.path(), content).expect("a file");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            file.as_file().set_modified(time).expect("a time");
            fs::metadata(file.path()).expect("metadata")
        };
        let versions = [metadata("1", 10), metadata("22", 20), metadata("22", 20), metadata("1", 10)];
        let version = |file: &Metadata| (file.len(), Some(modified(file)));
        let mut finished = Finished::new(version(&versions[0]));
        versions[1..].iter().for_each(|file| finished.add(version(file)));
        assert!(versions.iter().all(|file| finished.is_unchanged(file)));
        assert!(!finished.is_unchanged(&metadata("22", 10)) && !finished.is_unchanged(&metadata("1", 20)));
        assert_eq!(finished.earlier.map(|earlier| earlier.len()), Some(2), "equal lines count once");
    }
}
