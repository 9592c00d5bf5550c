//! The place a download goes to in a test: a temporary directory and a name in it, with an older file or
//! without.

use std::io::Result;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;

/// What stands under the name before the fetch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Before {
    /// Nothing.
    Absent,
    /// A file of [`Before::OLD_CONTENT`].
    Old,
}

impl Before {
    /// Both, for the loop over a fault matrix.
    pub const ALL: [Self; 2] = [Self::Absent, Self::Old];
    /// What the older file holds.
    pub const OLD_CONTENT: &'static [u8] = b"OLD: this file was here before the fetch\n";

    /// What the name holds as long as nothing was fetched.
    #[must_use]
    pub fn content(self) -> Option<&'static [u8]> {
        (self == Self::Old).then_some(Self::OLD_CONTENT)
    }
}

/// A name in a temporary directory of its own; the directory goes when this is dropped.
#[derive(Debug)]
pub struct Target {
    dir: TempDir,
    before: Before,
}

impl Target {
    const NAME: &'static str = "target.bin";

    /// Makes the directory and, if so asked, the older file.
    pub fn new(before: Before) -> Result<Self> {
        let target = Self { dir: tempfile::tempdir()?, before };
        if let Some(content) = before.content() {
            fs::write(target.path(), content)?;
        }
        Ok(target)
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The name to fetch to.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.dir.path().join(Self::NAME)
    }

    /// What the name holds now; `None` if it does not exist.
    pub fn content(&self) -> Result<Option<Vec<u8>>> {
        match fs::read(self.path()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    /// Whether the name holds exactly what it held before (SECURITY.md, N1).
    pub fn is_untouched(&self) -> Result<bool> {
        Ok(self.content()?.as_deref() == self.before.content())
    }

    /// The other files of the directory by name, sorted: partial files, journals, and what should not be
    /// there.
    pub fn leftovers(&self) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(self.dir())?.map(|entry| entry.map(|e| e.path()));
        let mut paths = entries.collect::<Result<Vec<_>>>()?;
        paths.retain(|path| *path != self.path());
        paths.sort();
        Ok(paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_knows_whether_it_was_touched() {
        for before in Before::ALL {
            let target = Target::new(before).unwrap();
            assert!(target.is_untouched().unwrap());
            assert!(target.leftovers().unwrap().is_empty());
            fs::write(target.path(), "new").unwrap();
            fs::write(target.dir().join("x.part"), "n").unwrap();
            assert!(!target.is_untouched().unwrap());
            assert_eq!(target.leftovers().unwrap(), [target.dir().join("x.part")]);
        }
    }
}
