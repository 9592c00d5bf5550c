//! A directory for many files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{FileOptions, FileSink};
use super::leftovers::Leftovers;
use crate::Error;

/// A directory into which a program saves many files. Its names are read at most once per second, instead of looking
/// for a partial download before each file. A partial download that another process leaves meanwhile is not resumed.
#[derive(Clone, Debug)]
pub struct OutputDirectory {
    path: PathBuf,
    leftovers: Arc<Leftovers>,
}

impl OutputDirectory {
    /// Returns the directory at `path`, which may be created later.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), leftovers: Arc::default() }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens `target`, a file in this directory. A file elsewhere is opened as by [`FileSink::open`].
    ///
    /// # Errors
    /// As for [`FileSink::open`].
    pub fn open_file(&self, target: &Path, options: FileOptions) -> Result<FileSink, Error> {
        let leftovers = (target.parent() == Some(&self.path)).then(|| self.leftovers.clone());
        FileSink::open_with_cache(leftovers, target, options)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use fetch_url_core::Url;

    use super::*;
    use crate::output::Sink;
    use crate::{Meta, Validator};

    /// More files than are looked for one by one, see `leftovers`.
    const MANY: usize = 40;

    fn url() -> Url<'static> {
        fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url
    }

    /// Writes a file of `size` bytes that can be resumed, and finishes it or not.
    fn download(directory: &OutputDirectory, name: &str, size: usize, finishes: bool) {
        let options = FileOptions::default().keeping_part(true).resuming(true);
        let file = directory.open_file(&directory.path().join(name), options).expect("a file");
        let mut meta = Meta::new(url());
        (meta.is_resumable, meta.validator) = (true, Some(Validator::ETag("\"1\"".to_owned())));
        let mut target = Sink::file(file).begin(&meta).expect("a target");
        target.write(&[vec![b'x'; size].into()]).expect("written");
        if finishes {
            target.finish().expect("finished");
        }
    }

    fn resumes(directory: &OutputDirectory, name: &str) -> bool {
        let options = FileOptions::default().resuming(true);
        let file = directory.open_file(&directory.path().join(name), options).expect("a file");
        file.resume_of(&url()).is_some()
    }

    #[test]
    fn partial_download_of_an_earlier_run_is_resumed_after_many_files() {
        let root = tempfile::tempdir().expect("a directory");
        download(&OutputDirectory::new(root.path()), "x", 5, false);
        let directory = OutputDirectory::new(root.path());
        (0..MANY).for_each(|number| download(&directory, &number.to_string(), 5, true));
        assert!(resumes(&directory, "x"));
        assert!(!resumes(&directory, "y"));
    }

    #[test]
    fn partial_download_of_the_same_run_is_resumed_after_many_files() {
        let root = tempfile::tempdir().expect("a directory");
        let directory = OutputDirectory::new(root.path());
        (0..MANY).for_each(|number| download(&directory, &number.to_string(), 5, true));
        for size in [5, 70_000] {
            download(&directory, "x", size, false);
            assert!(resumes(&directory, "x"), "{size}");
            fs::remove_file(root.path().join("x.fetch-url.part")).expect("removed");
            fs::remove_file(root.path().join("x.fetch-url.json")).expect("removed");
        }
    }

    #[test]
    fn partial_download_that_another_process_leaves_is_overlooked_for_a_second() {
        let root = tempfile::tempdir().expect("a directory");
        let directory = OutputDirectory::new(root.path());
        directory.leftovers.set_none_at(Instant::now() + Duration::from_secs(3600));
        let part = root.path().join("x.fetch-url.part");
        fs::write(&part, "of another process").expect("a file");
        download(&directory, "x", 5, true);
        assert!(part.exists() && root.path().join("x").exists());
    }

    #[test]
    fn file_in_another_directory_is_looked_for() {
        let (root, other) =
            (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        download(&OutputDirectory::new(other.path()), "x", 5, false);
        let directory = OutputDirectory::new(root.path());
        (0..MANY).for_each(|number| download(&directory, &number.to_string(), 5, true));
        let options = FileOptions::default().resuming(true);
        let file = directory.open_file(&other.path().join("x"), options).expect("a file");
        assert!(file.resume_of(&url()).is_some());
    }

    #[test]
    fn saved_file_is_the_one_with_the_final_name() {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join("x");
        for size in [5, 70_000] {
            let file = FileSink::open(&path, FileOptions::default()).expect("a file");
            let mut target = Sink::file(file).begin(&Meta::new(url())).expect("a target");
            target.write(&[vec![b'x'; size].into()]).expect("written");
            let saved = target.finish().expect("finished").file.expect("a file");
            let at_path = super::super::saved_file::SavedFile::of(&fs::File::open(&path).expect("a file"));
            assert_eq!(saved, at_path.expect("metadata"));
            assert_eq!(saved.metadata().len(), size as u64);
        }
    }
}
