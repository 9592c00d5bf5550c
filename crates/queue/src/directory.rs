//! The output directory that all workers of a queue share.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use fetch_url::{Code, Error, Phase};

use crate::Queue;
use crate::error::usage_error;
use crate::queue::kind;

/// The file that identifies an output directory, so that a worker with another directory is refused.
pub const DIRECTORY_MARKER: &str = ".fetch-url-queue";
/// The longest identity of a directory in bytes.
const MAX_ID_LENGTH: usize = 128;
/// The number of times that an empty marker is read again, and the wait before.
const MAX_READS: u32 = 20;
const READ_WAIT: Duration = Duration::from_millis(50);

impl Queue {
    /// Checks that `directory` is the one that the workers of this queue share. The first worker chooses it.
    ///
    /// # Errors
    /// [`Code::Usage`] if the workers of the queue use another directory, [`Code::SinkFailed`] if the directory cannot
    /// be written to.
    pub async fn check_directory(&self, directory: &Path, new_id: &str) -> Result<(), Error> {
        let own = identity(directory, new_id, fs::hard_link).map_err(|error| {
            let detail = format!("{}: {error}", directory.join(DIRECTORY_MARKER).display());
            Error::new(Code::SinkFailed, Phase::Deliver, detail)
        })?;
        let subject = self.subject(kind::DIRECTORY, "shared");
        let what = "cannot write the output directory of the workers";
        if self.publish_first(subject.clone(), Bytes::from(own.clone()), what).await? {
            return Ok(());
        }
        let shared = self.workers.direct_get_last_for_subject(subject).await;
        let shared = shared.map_err(|error| self.session.error(what, &error))?;
        if shared.payload == own.as_bytes() {
            return Ok(());
        }
        let detail =
            format!("the workers of this queue write to another directory than {}", directory.display());
        Err(usage_error(detail).with_hint("mount the directory that they share, or use a queue of its own"))
    }
}

/// Returns the identity of a directory: the text of its marker, which is created with `new_id` if it is missing.
/// `hard_link` is the function of the file system, which may not support it.
fn identity(
    directory: &Path,
    new_id: &str,
    hard_link: impl Fn(PathBuf, PathBuf) -> io::Result<()>,
) -> io::Result<String> {
    let path = directory.join(DIRECTORY_MARKER);
    // The marker gets its name when it is complete, and only one of two new markers gets it.
    let new = directory.join(format!("{DIRECTORY_MARKER}.{new_id}"));
    if !path.try_exists()? {
        let mut file = fs::File::create_new(&new)?;
        let linked = writeln!(file, "{new_id}").and_then(|()| hard_link(new.clone(), path.clone()));
        fs::remove_file(&new)?;
        let created = match linked {
            Err(error) if has_no_hard_links(&error) => create_marker(&path, new_id),
            linked => linked,
        };
        match created {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let text = read_marker(&path)?;
    let id = text.trim();
    if id.is_empty() || id.len() > MAX_ID_LENGTH {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a marker of fetch-url queue"));
    }
    Ok(id.to_owned())
}

/// Returns `true` if the file system may have no hard links, as FAT and exFAT. Drivers report this by different errors.
fn has_no_hard_links(error: &io::Error) -> bool {
    !matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::StorageFull)
}

/// Creates the marker without a hard link: it is empty for a moment.
fn create_marker(path: &Path, new_id: &str) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    let written = writeln!(file, "{new_id}");
    if written.is_err() {
        fs::remove_file(path)?;
    }
    written
}

/// Reads the marker. If it is empty, another worker may be writing it.
fn read_marker(path: &Path) -> io::Result<String> {
    for _ in 0..MAX_READS {
        let text = fs::read_to_string(path)?;
        if !text.is_empty() {
            return Ok(text);
        }
        thread::sleep(READ_WAIT);
    }
    fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails as on a file system without hard links.
    fn no_link(_: PathBuf, _: PathBuf) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    #[test]
    fn directory_without_hard_links_keeps_its_first_identity() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(identity(directory.path(), "a", no_link).expect("an identity"), "a");
        assert_eq!(identity(directory.path(), "b", no_link).expect("an identity"), "a");
        assert_eq!(fs::read_dir(directory.path()).expect("entries").count(), 1);
    }

    #[test]
    fn marker_that_is_not_written_yet_is_waited_for() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(DIRECTORY_MARKER);
        fs::write(&path, "").expect("written");
        let writer = thread::spawn(move || fs::write(path, "a\n"));
        assert_eq!(identity(directory.path(), "b", no_link).expect("an identity"), "a");
        writer.join().expect("ended").expect("written");
    }

    #[test]
    fn directory_keeps_its_first_identity_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(identity(directory.path(), "a", fs::hard_link).expect("an identity"), "a");
        assert_eq!(identity(directory.path(), "b", fs::hard_link).expect("an identity"), "a");
        assert_eq!(fs::read_dir(directory.path()).expect("entries").count(), 1);
        fs::write(directory.path().join(DIRECTORY_MARKER), "").expect("written");
        assert!(identity(directory.path(), "b", fs::hard_link).is_err());
    }
}
