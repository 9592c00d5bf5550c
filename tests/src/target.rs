//! The output file of a download in a test: a name in a temporary directory, with an old file or without.

use std::io::Result;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;

/// The content of the output name before the download.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OldFile {
    /// No file.
    Absent,
    /// A file with [`OldFile::CONTENT`].
    Present,
}

impl OldFile {
    /// Both, for loops over a fault table.
    pub const ALL: [Self; 2] = [Self::Absent, Self::Present];
    /// The content of the old file.
    pub const CONTENT: &'static [u8] = b"OLD: this file was here before the fetch\n";

    /// Returns the content before the download, or `None` if there is no file.
    #[must_use]
    pub fn content(self) -> Option<&'static [u8]> {
        (self == Self::Present).then_some(Self::CONTENT)
    }
}

/// An output file in a temporary directory of its own. The directory is removed on drop.
#[derive(Debug)]
pub struct Target {
    dir: TempDir,
    old_file: OldFile,
}

impl Target {
    const NAME: &'static str = "target.bin";

    /// Creates the directory and, if requested, the old file.
    pub fn new(old_file: OldFile) -> Result<Self> {
        let target = Self { dir: tempfile::tempdir()?, old_file };
        if let Some(content) = old_file.content() {
            fs::write(target.path(), content)?;
        }
        Ok(target)
    }

    /// Returns the directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the path of the output file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.dir.path().join(Self::NAME)
    }

    /// Returns the current content, or `None` if the file does not exist.
    pub fn content(&self) -> Result<Option<Vec<u8>>> {
        match fs::read(self.path()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    /// Returns `true` if the output name holds exactly what it held before the download
    /// (docs/spec/faults.md, rule N1).
    pub fn is_untouched(&self) -> Result<bool> {
        Ok(self.content()?.as_deref() == self.old_file.content())
    }

    /// Returns the other files of the directory, sorted: partial files, journals, and files that must not be
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
    fn target_is_untouched_until_written() {
        for old_file in OldFile::ALL {
            let target = Target::new(old_file).unwrap();
            assert!(target.is_untouched().unwrap());
            assert!(target.leftovers().unwrap().is_empty());
            fs::write(target.path(), "new").unwrap();
            fs::write(target.dir().join("x.part"), "n").unwrap();
            assert!(!target.is_untouched().unwrap());
            assert_eq!(target.leftovers().unwrap(), [target.dir().join("x.part")]);
        }
    }
}
