//! Writes small files atomically, with mode 0600.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::device::open_direct;
use super::file_id::{file_id, is_file_at};
use super::part_paths::new_path;
use crate::{Code, Error, Phase};

/// Maximum time to wait for another process that writes the same file.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Interval at which the lock of another process is checked.
const LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// Atomically writes a small file that contains secrets, such as cookies. Only its owner can read
/// it. An open descriptor, a device or a FIFO, such as `/dev/null`, is written directly.
///
/// # Errors
/// [`Code::SinkFailed`] if the file cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = open_direct(path).and_then(|direct| match direct {
        Some(mut file) => file.write_all(bytes),
        None if is_socket(path) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a socket")),
        None => write_atomically(path, &new_path(path), bytes),
    });
    written.map_err(|error| Error::io(Code::SinkFailed, Phase::Deliver, &path.display().to_string(), error))
}

/// Returns `true` if there is a socket at `path`, which a program may be listening on.
fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket())
}

/// Writes `bytes` to `temporary`, which has a name that only fetch-url uses, and renames it to `path`. If several
/// processes do this, they write one after the other.
pub(super) fn write_atomically(path: &Path, temporary: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create_locked(temporary)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_data());
    let renamed = written.and_then(|()| fs::rename(temporary, path));
    if renamed.is_err() {
        let _ = fs::remove_file(temporary);
    }
    renamed
}

/// Creates and locks `path`. If another process is writing the file, waits for it. A file that a killed process left,
/// or a link with this name, is removed.
fn create_locked(path: &Path) -> io::Result<File> {
    let started = Instant::now();
    loop {
        let mut options = OpenOptions::new();
        options.write(true).mode(0o600);
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        match options.clone().create_new(true).open(path) {
            // The link count is 0 if another process removed the file before it was locked.
            Ok(file) if acquire_lock(&file) && file.metadata()?.nlink() > 0 => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match options.open(path) {
                Ok(file) if !acquire_lock(&file) => thread::sleep(LOCK_INTERVAL),
                Ok(file) if !is_file_at(file_id(&file.metadata()?), path) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Ok(_) | Err(_) => fs::remove_file(path)?,
            },
            Err(error) => return Err(error),
        }
        if started.elapsed() > MAX_WAIT {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "another process is writing it"));
        }
    }
}

/// Locks a file. Returns `false` if another process holds the lock. File systems without locks return `true`.
fn acquire_lock(file: &File) -> bool {
    !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock))
}

/// Sets the permissions of a file. File systems without permissions, such as FAT, may refuse it.
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    match file.set_permissions(Permissions::from_mode(mode)) {
        Err(error)
            if !matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::{FileTypeExt as _, symlink};

    use super::*;

    #[test]
    fn device_and_fifo_are_written_directly_and_stay() {
        let dir = tempfile::tempdir().expect("a directory");
        let (link, fifo) = (dir.path().join("link"), dir.path().join("fifo"));
        symlink("/dev/null", &link).expect("a link");
        write_private(&link, b"cookies").expect("written");
        assert_eq!(fs::read_link(&link).expect("still a link"), Path::new("/dev/null"));
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, mode, 0).expect("a FIFO");
        // Opened for both directions, so that opening does not wait for a writer.
        let reader = OpenOptions::new().read(true).write(true).open(&fifo).expect("a reader");
        write_private(&fifo, b"cookies").expect("written");
        let mut bytes = [0; 7];
        (&reader).read_exact(&mut bytes).expect("the bytes");
        assert_eq!(&bytes, b"cookies");
        assert!(fs::symlink_metadata(&fifo).expect("a FIFO").file_type().is_fifo());
    }

    #[test]
    fn socket_is_not_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
        let error = write_private(&path, b"cookies").expect_err("a socket");
        assert_eq!(error.code(), Code::SinkFailed);
        assert!(fs::symlink_metadata(&path).expect("a socket").file_type().is_socket());
    }

    #[test]
    fn writers_at_the_same_time_all_succeed_and_leave_one_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("jar");
        fs::write(dir.path().join("jar.new"), "of the user").expect("a file");
        thread::scope(|scope| {
            for number in 0..8_u8 {
                let path = &path;
                scope.spawn(move || {
                    (0..20).for_each(|_| write_private(path, &[number; 1000]).expect("written"));
                });
            }
        });
        let written = fs::read(&path).expect("a file");
        assert!(written.len() == 1000 && written.iter().all(|byte| *byte == written[0]));
        let names = fs::read_dir(dir.path()).expect("a directory").count();
        assert_eq!(names, 2, "only `jar` and the user's `jar.new`");
        assert_eq!(fs::read(dir.path().join("jar.new")).expect("a file"), b"of the user");
    }

    #[test]
    fn leftover_and_links_at_the_temporary_name_are_replaced() {
        let dir = tempfile::tempdir().expect("a directory");
        let (path, victim) = (dir.path().join("jar"), dir.path().join("victim"));
        fs::write(&victim, "precious").expect("a file");
        let temporary = new_path(&path);
        let plants: [&dyn Fn() -> io::Result<()>; 4] = [
            &|| fs::write(&temporary, "of a killed process"),
            &|| symlink(&victim, &temporary),
            &|| symlink(dir.path().join("missing"), &temporary),
            &|| fs::hard_link(&victim, &temporary),
        ];
        for plant in plants {
            plant().expect("a file");
            write_private(&path, b"cookies").expect("written");
            assert_eq!(fs::read(&path).expect("a file"), b"cookies");
            assert_eq!(fs::read(&victim).expect("a file"), b"precious");
            assert!(fs::symlink_metadata(&temporary).is_err() && !dir.path().join("missing").exists());
        }
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    }
}
