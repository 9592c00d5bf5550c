//! The output directory that all workers of a queue share.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use bytes::Bytes;
use fetch_url::{Code, Error, Phase};

use crate::Queue;
use crate::error::usage_error;
use crate::queue::kind;

/// The file that identifies an output directory, so that a worker with another directory is refused.
pub const DIRECTORY_MARKER: &str = ".fetch-url-queue";
/// The longest identity of a directory in bytes.
const MAX_ID_LENGTH: usize = 128;

impl Queue {
    /// Checks that `directory` is the one that the workers of this queue share. The first worker chooses it.
    ///
    /// # Errors
    /// [`Code::Usage`] if the workers of the queue use another directory, [`Code::SinkFailed`] if the directory cannot
    /// be written to.
    pub async fn check_directory(&self, directory: &Path, new_id: &str) -> Result<(), Error> {
        let own = identity(directory, new_id).map_err(|error| {
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
fn identity(directory: &Path, new_id: &str) -> io::Result<String> {
    let path = directory.join(DIRECTORY_MARKER);
    // The marker gets its name when it is complete, and only one of two new markers gets it.
    let new = directory.join(format!("{DIRECTORY_MARKER}.{new_id}"));
    if !path.try_exists()? {
        let mut file = fs::File::create_new(&new)?;
        let linked = writeln!(file, "{new_id}").and_then(|()| fs::hard_link(&new, &path));
        fs::remove_file(&new)?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let text = fs::read_to_string(&path)?;
    let id = text.trim();
    if id.is_empty() || id.len() > MAX_ID_LENGTH {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a marker of fetch-url queue"));
    }
    Ok(id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_keeps_its_first_identity_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(identity(directory.path(), "a").expect("an identity"), "a");
        assert_eq!(identity(directory.path(), "b").expect("an identity"), "a");
        assert_eq!(fs::read_dir(directory.path()).expect("entries").count(), 1);
        fs::write(directory.path().join(DIRECTORY_MARKER), "").expect("written");
        assert!(identity(directory.path(), "b").is_err());
    }
}
