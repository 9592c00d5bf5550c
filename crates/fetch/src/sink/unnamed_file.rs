//! A new file without a name (`O_TMPFILE`). It gets the final name when it is complete, so a small object needs no
//! `.part` file, lock or state, and a killed process leaves nothing behind.

use std::fs::File;
use std::io;
use std::path::Path;

use super::part_paths::PartPaths;

/// Creates a file without a name in the directory of the target. Returns `None` if the system or the file system does
/// not support it, or if the directory cannot be written: creating the `.part` file then gives the reason.
#[cfg(target_os = "linux")]
pub(super) fn create(paths: &PartPaths) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};

    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    let opened = match (&paths.directory, paths.target.parent()) {
        (Some(directory), _) => openat(directory.as_fd(), ".", flags, mode),
        (None, Some(parent)) if !parent.as_os_str().is_empty() => openat(CWD, parent, flags, mode),
        _ => openat(CWD, Path::new("."), flags, mode),
    };
    opened.ok().map(File::from)
}

/// Gives the file the name `path`, which is one of `paths`. Fails with [`io::ErrorKind::AlreadyExists`] if the name is
/// taken.
#[cfg(target_os = "linux")]
pub(super) fn link(file: &File, path: &Path, paths: &PartPaths) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{AtFlags, CWD, linkat};
    use rustix::io::Errno;

    /// The kernel links a descriptor directly only for privileged processes, and since Linux 6.10 for its opener.
    static NEEDS_PROCFS: AtomicBool = AtomicBool::new(false);

    // In an open directory, the slow path through procfs is not needed.
    let (directory, name) = match (&paths.directory, path.file_name()) {
        (Some(directory), Some(name)) => (directory.as_fd(), Path::new(name)),
        _ => (CWD, path),
    };
    if !NEEDS_PROCFS.load(Ordering::Relaxed) {
        match linkat(file, "", directory, name, AtFlags::EMPTY_PATH) {
            Err(Errno::NOENT) => NEEDS_PROCFS.store(true, Ordering::Relaxed),
            linked => return linked.map_err(io::Error::from),
        }
    }
    let descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    linkat(CWD, descriptor, directory, name, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn create(_: &PartPaths) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn link(_: &File, _: &Path, _: &PartPaths) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use bytes::Bytes;
    use tempfile::TempDir;

    use crate::output::{FileOptions, FileSink, Sink};
    use crate::sink::{Target, TargetKind};
    use crate::{Code, Meta, Validator};

    const LARGE: usize = 70_000;

    /// Starts a download of an object of unknown size to `x`.
    fn begin(directory: &TempDir) -> Target {
        let file = FileSink::open(&directory.path().join("x"), FileOptions::default().keeping_part(true));
        let mut meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
        (meta.is_resumable, meta.validator) = (true, Some(Validator::ETag("\"1\"".to_owned())));
        Sink::file(file.expect("a file")).begin(&meta).expect("a target")
    }

    fn write(target: &mut Target, length: usize) {
        target.write(&[Bytes::from(vec![b'x'; length])]).expect("written");
    }

    fn names(directory: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(directory.path()).expect("a directory");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    fn content(directory: &TempDir) -> Vec<u8> {
        fs::read(directory.path().join("x")).expect("a file")
    }

    #[test]
    fn small_file_has_no_name_until_it_is_complete() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("usual"), "").expect("a file");
        let mut target = begin(&directory);
        write(&mut target, 5);
        assert_eq!(names(&directory), ["usual"]);
        target.finish().expect("finished");
        assert_eq!(
            (names(&directory), content(&directory)),
            (vec!["usual".into(), "x".into()], b"xxxxx".into())
        );
        let mode =
            |name: &str| fs::metadata(directory.path().join(name)).expect("a file").permissions().mode();
        assert_eq!(mode("x"), mode("usual"), "the permissions of the umask");
    }

    #[test]
    fn large_file_gets_its_part_name_and_is_private_and_locked() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut target = begin(&directory);
        write(&mut target, LARGE);
        assert_eq!(names(&directory), ["x.fetch-url.part"]);
        let part = fs::metadata(directory.path().join("x.fetch-url.part")).expect("a file");
        assert_eq!(part.permissions().mode() & 0o777, 0o600);
        let second = FileSink::open(&directory.path().join("x"), FileOptions::default()).err();
        assert_eq!(second.map(|error| error.code()), Some(Code::Usage));
        write(&mut target, 1);
        target.finish().expect("finished");
        assert_eq!((names(&directory), content(&directory).len()), (vec!["x".to_owned()], LARGE + 1));
    }

    #[test]
    fn interrupted_small_file_is_kept_with_its_state() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut target = begin(&directory);
        write(&mut target, 5);
        drop(target);
        assert_eq!(names(&directory), ["x.fetch-url.json", "x.fetch-url.part"]);
        let target = begin(&directory);
        drop(target);
        assert_eq!(names(&directory), Vec::<String>::new(), "an empty file is not kept");
    }

    #[test]
    fn state_whose_part_file_was_removed_is_removed_by_a_resume() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("x.fetch-url.json"), "{}").expect("a file");
        let file = FileSink::open(&directory.path().join("x"), FileOptions::default().resuming(true));
        let meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
        let mut target = Sink::file(file.expect("a file")).begin(&meta).expect("a target");
        write(&mut target, 5);
        target.finish().expect("finished");
        assert_eq!(names(&directory), ["x"]);
    }

    #[test]
    fn file_that_appears_during_the_download_is_not_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut target = begin(&directory);
        write(&mut target, 5);
        fs::write(directory.path().join("x"), "of another process").expect("a file");
        assert_eq!(target.finish().expect_err("a conflict").code(), Code::Usage);
        assert_eq!(content(&directory), b"of another process");
    }

    #[test]
    fn part_file_of_a_killed_process_is_replaced_when_the_file_gets_its_part_name() {
        let state = r#"{"url":"http://h/x","octets":1,"tail_sha256":"","mode":420}"#;
        for state in [None, Some(state)] {
            let directory = tempfile::tempdir().expect("a directory");
            let mut target = begin(&directory);
            fs::write(directory.path().join("x.fetch-url.part"), "left").expect("a file");
            state.iter().for_each(|state| {
                fs::write(directory.path().join("x.fetch-url.json"), state).expect("a file");
            });
            write(&mut target, LARGE);
            target.finish().expect("finished");
            assert_eq!((names(&directory), content(&directory).len()), (vec!["x".to_owned()], LARGE));
        }
    }

    #[test]
    fn file_that_cannot_be_linked_is_copied_to_a_part_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut target = begin(&directory);
        write(&mut target, 5);
        let TargetKind::Part(part) = &mut target.kind else { panic!("another kind of target") };
        part.move_to_part_file().expect("copied");
        assert_eq!(names(&directory), ["x.fetch-url.part"]);
        write(&mut target, 2);
        target.finish().expect("finished");
        assert_eq!((names(&directory), content(&directory)), (vec!["x".to_owned()], b"xxxxxxx".into()));
    }
}
