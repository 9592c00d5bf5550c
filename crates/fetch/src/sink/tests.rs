//! Tests of the destinations that are not files of a download.

use std::fs::{File, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::dir_handle::DirHandle;
use super::file::{FileOptions, FileSink};
use super::{Sink, Target, TargetKind};
use crate::{Code, Meta, Validator};

fn begin(sink: Sink) -> Target {
    let meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
    sink.begin(&meta).expect("a target")
}

#[test]
fn write_may_block_on_a_pipe_a_socket_and_a_writer_but_not_on_a_file() {
    let (_reader, pipe) = std::io::pipe().expect("a pipe");
    let (_other, socket) = UnixStream::pair().expect("sockets");
    let file = tempfile::tempfile().expect("a file");
    let may_block = |file: File| begin(Sink::open(file)).may_block();
    assert!(may_block(File::from(OwnedFd::from(pipe))));
    assert!(may_block(File::from(OwnedFd::from(socket))));
    assert!(!may_block(file));
    assert!(begin(Sink::writer(Vec::new())).may_block());
}

/// With -r the body is smaller than the object.
#[test]
fn free_space_is_required_for_the_body_and_not_for_the_object() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
    meta.head.size = Some(u64::MAX / 2);
    for (length, code) in [(Some(10), None), (None, None), (Some(u64::MAX / 2), Some(Code::SinkFailed))] {
        let file = FileSink::open(&directory.path().join("x"), FileOptions::default()).expect("a file");
        let begun = Sink::file(file).with_body_length(length).begin(&meta);
        assert_eq!(begun.err().map(|error| error.code()), code, "{length:?}");
    }
}

#[test]
fn body_that_begins_elsewhere_is_not_written_to_a_device() {
    let mut meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
    for (offset, code) in [(0, Some(Code::RangeRefused)), (2, None)] {
        let options = FileOptions::default().keeping_bytes(2);
        let file = FileSink::open("/dev/null".as_ref(), options).expect("a device");
        meta.offset = offset;
        assert_eq!(Sink::file(file).begin(&meta).err().map(|error| error.code()), code, "{offset}");
    }
}

#[test]
fn only_a_file_of_a_download_can_be_written_in_any_order() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |keep| {
        FileSink::open(&directory.path().join("x"), FileOptions::default().keeping_bytes(keep))
            .expect("a file")
    };
    assert!(begin(Sink::file(file(0))).supports_random_writes());
    std::fs::write(directory.path().join("x"), "12").expect("a file");
    let mut meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
    let whole = Sink::file(file(2)).begin(&meta).err().expect("bytes are kept");
    assert_eq!(whole.code(), Code::RangeRefused);
    meta.offset = 2;
    let rest = Sink::file(file(2)).begin(&meta).expect("the rest is appended");
    assert!(!rest.supports_random_writes(), "bytes are kept");
    assert!(!begin(Sink::open(tempfile::tempfile().expect("a file"))).supports_random_writes());
}

#[test]
fn fifo_without_a_reader_fails_with_the_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).expect("a FIFO");
    let error = FileSink::open(&path, FileOptions::default()).err().expect("an error");
    assert_eq!(error.code(), Code::SinkFailed);
    assert!(error.to_string().contains("no process has opened"), "{error}");
}

#[test]
fn part_file_that_another_process_removed_or_replaced_is_an_error_and_stays_as_it_is() {
    for replacement in [None, Some("of another process")] {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        let file = FileSink::open(&at("x"), FileOptions::default()).expect("a file");
        let mut target = begin(Sink::file(file));
        target.write(&[vec![b'x'; 70_000].into()]).expect("written");
        std::fs::remove_file(at("x.fetch-url.part")).expect("removed");
        if let Some(replacement) = replacement {
            std::fs::write(at("x.fetch-url.part"), replacement).expect("a file");
        }
        let error = target.finish().expect_err("an error");
        assert_eq!(error.code(), Code::SinkFailed);
        assert!(!at("x").exists());
        assert_eq!(std::fs::read_to_string(at("x.fetch-url.part")).ok().as_deref(), replacement);
    }
}

#[test]
fn state_of_segments_is_saved_every_few_seconds() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = FileOptions::default().resuming(true);
    let mut meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
    (meta.is_resumable, meta.head.size) = (true, Some(300_000));
    meta.validator = Some(Validator::ETag("\"1\"".to_owned()));
    let file = FileSink::open(&directory.path().join("x"), options).expect("a file");
    let mut target = Sink::file(file).begin(&meta).expect("a target");
    target.write_at(0, &vec![b'x'; 100_000]).expect("written");
    target.set_valid_length(100_000).expect("recorded");
    let state = directory.path().join("x.fetch-url.json");
    assert!(!state.exists());
    let TargetKind::Part(part) = &mut target.kind else { panic!("another kind of target") };
    part.state_written = Instant::now().checked_sub(Duration::from_secs(5)).expect("a time");
    target.write_at(200_000, b"behind a gap").expect("written");
    target.set_valid_length(100_000).expect("recorded");
    assert!(std::fs::read_to_string(state).expect("a state").contains("100000"));
    // As after SIGKILL.
    std::mem::forget(target);
    let file = FileSink::open(&directory.path().join("x"), options);
    assert_eq!(file.err().map(|error| error.code()), Some(Code::Usage), "it is still locked");
}

#[test]
fn file_that_was_put_in_the_place_of_the_replaced_one_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("x"), "old").expect("a file");
    let mut target = begin(Sink::file(FileSink::open(&at("x"), FileOptions::default()).expect("a file")));
    target.write(&["new".into()]).expect("written");
    std::fs::write(at("other"), "of the user").expect("a file");
    std::fs::rename(at("other"), at("x")).expect("renamed");
    assert_eq!(target.finish().expect_err("an error").code(), Code::Usage);
    assert_eq!(std::fs::read_to_string(at("x")).expect("a file"), "of the user");
    assert!(!at("x.fetch-url.part").exists());
    // A file that was removed is not missed.
    let mut target = begin(Sink::file(FileSink::open(&at("x"), FileOptions::default()).expect("a file")));
    target.write(&["new".into()]).expect("written");
    std::fs::remove_file(at("x")).expect("removed");
    target.finish().expect("finished");
    assert_eq!(std::fs::read_to_string(at("x")).expect("a file"), "new");
}

#[test]
fn copy_of_a_file_has_no_permissions_for_others_that_the_file_does_not_have() {
    for (source_mode, allowed) in [(0o600, 0o700), (0o440, 0o740), (0o777, 0o777)] {
        let directory = tempfile::tempdir().expect("a directory");
        let mode = |name: &str| {
            let metadata = std::fs::metadata(directory.path().join(name));
            metadata.expect("a file").permissions().mode() & 0o777
        };
        std::fs::write(directory.path().join("usual"), "").expect("a file");
        let source = tempfile::tempfile().expect("a file");
        source.set_permissions(Permissions::from_mode(source_mode)).expect("permissions");
        let file = FileSink::open(&directory.path().join("x"), FileOptions::default());
        let mut sink = Sink::file(file.expect("a file"));
        sink.limit_permissions(&source);
        begin(sink).finish().expect("finished");
        assert_eq!(mode("x"), mode("usual") & allowed, "{source_mode:o}");
    }
}

#[test]
fn replacement_is_private_until_it_is_complete_and_gets_the_permissions_of_the_replaced_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    let mode = |name: &str| {
        let metadata = std::fs::metadata(directory.path().join(name));
        metadata.expect("a file").permissions().mode() & 0o777
    };
    std::fs::write(&path, "old").expect("a file");
    std::fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("permissions");
    let target = begin(Sink::file(FileSink::open(&path, FileOptions::default()).expect("a file")));
    assert_eq!(mode("x.fetch-url.part"), 0o600);
    target.finish().expect("finished");
    assert_eq!((mode("x"), std::fs::read(&path).expect("a file")), (0o640, Vec::new()));
}

#[test]
fn replaced_file_is_identified_unless_another_name_keeps_its_content() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    let replaced = || {
        let file = FileSink::open(&path, FileOptions::default()).expect("a file");
        file.replaced_file().map(|file| (file.dev(), file.ino()))
    };
    assert_eq!(replaced(), None);
    std::fs::write(&path, "old").expect("a file");
    let metadata = std::fs::metadata(&path).expect("a file");
    assert_eq!(replaced(), Some((metadata.dev(), metadata.ino())));
    std::fs::hard_link(&path, directory.path().join("y")).expect("a link");
    assert_eq!(replaced(), None);
}

#[test]
fn state_without_its_part_file_is_removed_when_the_file_is_replaced() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    std::fs::write(&path, "old").expect("a file");
    std::fs::write(directory.path().join("x.fetch-url.json"), "{}").expect("a file");
    let file = FileSink::open(&path, FileOptions::default().resuming(true)).expect("a file");
    begin(Sink::file(file)).finish().expect("finished");
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 1);
}

#[test]
fn name_that_is_too_long_fails_when_the_file_is_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let error = FileSink::open(&directory.path().join("x".repeat(256)), FileOptions::default()).err();
    let error = error.expect("an error");
    assert_eq!(error.code(), Code::SinkFailed);
    assert!(error.to_string().contains("too long"), "{error}");
}

#[test]
fn file_with_fewer_bytes_than_are_kept_is_refused_and_not_changed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    std::fs::write(&path, "12").expect("a file");
    let error = FileSink::open(&path, FileOptions::default().keeping_bytes(3)).err().expect("an error");
    assert_eq!(error.code(), Code::Usage);
    assert_eq!(std::fs::read(&path).expect("a file"), b"12");
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 1);
}

#[test]
fn only_a_single_name_is_opened_beneath_a_directory() {
    let root = tempfile::tempdir().expect("a directory");
    let directory = DirHandle::open_or_create(root.path(), "d/sub").expect("a directory");
    for name in ["", ".", "..", "a/b", "../a", "a/", "/a"] {
        let error = FileSink::open_beneath(&directory, name, FileOptions::default()).err().expect(name);
        assert_eq!(error.code(), Code::Usage, "{name:?}");
    }
    let error = FileSink::open_beneath(&directory, &"x".repeat(256), FileOptions::default()).err();
    let text = error.expect("an error").to_string();
    assert!(text.contains("d/sub/xxx") && text.contains("too long"), "{text}");
}

#[test]
fn partial_download_that_another_process_leaves_in_an_open_directory_is_overlooked_for_a_second() {
    let root = tempfile::tempdir().expect("a directory");
    let directory = DirHandle::open_or_create(root.path(), "d").expect("a directory");
    directory.leftovers().set_none_at(Instant::now() + Duration::from_secs(3600));
    let part = root.path().join("d/x.fetch-url.part");
    std::fs::write(&part, "of another process").expect("a file");
    let file = FileSink::open_beneath(&directory, "x", FileOptions::default()).expect("a file");
    begin(Sink::file(file)).finish().expect("finished");
    assert!(part.exists() && root.path().join("d/x").exists());
}

#[test]
fn file_is_finished_in_its_open_directory_after_a_move() {
    for size in [5, 70_000] {
        let root = tempfile::tempdir().expect("a directory");
        let directory = DirHandle::open_or_create(root.path(), "d").expect("a directory");
        let file = FileSink::open_beneath(&directory, "x", FileOptions::default()).expect("a file");
        let mut target = begin(Sink::file(file));
        std::fs::rename(root.path().join("d"), root.path().join("moved")).expect("a move");
        std::fs::create_dir(root.path().join("d")).expect("another directory");
        target.write(&[vec![b'x'; size].into()]).expect("written");
        target.finish().expect("finished");
        assert_eq!(std::fs::read(root.path().join("moved/x")).expect("a file").len(), size);
        assert_eq!(std::fs::read_dir(root.path().join("d")).expect("a directory").count(), 0);
    }
}

#[test]
fn file_that_appears_meanwhile_is_kept_and_named_in_the_error() {
    for size in [5, 70_000] {
        let root = tempfile::tempdir().expect("a directory");
        let directory = DirHandle::open_or_create(root.path(), "d").expect("a directory");
        let file = FileSink::open_beneath(&directory, "x", FileOptions::default()).expect("a file");
        let mut target = begin(Sink::file(file));
        target.write(&[vec![b'x'; size].into()]).expect("written");
        let path = root.path().join("d/x");
        std::fs::write(&path, "of another process").expect("a file");
        let error = target.finish().expect_err("a conflict");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        assert_eq!(
            (error.code(), std::fs::read(&path).expect("a file")),
            (Code::Usage, b"of another process".into())
        );
        assert_eq!(std::fs::read_dir(root.path().join("d")).expect("a directory").count(), 1);
    }
}

/// Some file systems give the inode of the removed file to the new one.
#[test]
fn file_that_replaces_the_old_one_meanwhile_is_kept() {
    for size in [5, 70_000] {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path().join("x");
        std::fs::write(&path, "old").expect("a file");
        let file = FileSink::open(&path, FileOptions::default()).expect("a file");
        let mut target = begin(Sink::file(file));
        target.write(&[vec![b'x'; size].into()]).expect("written");
        std::fs::remove_file(&path).expect("removed");
        std::fs::write(&path, "of another process").expect("a file");
        assert_eq!(target.finish().expect_err("a conflict").code(), Code::Usage);
        assert_eq!(std::fs::read(&path).expect("a file"), b"of another process");
    }
}

#[test]
fn hook_is_called_before_the_file_gets_its_name_and_its_failure_keeps_the_old_file() {
    let directory = tempfile::tempdir().expect("a directory");
    for (fails, expected) in [(true, "old"), (false, "new")] {
        let path = directory.path().join("x");
        std::fs::write(&path, "old").expect("a file");
        let (file, seen) = (FileSink::open(&path, FileOptions::default()).expect("a file"), path.clone());
        let mut target = begin(Sink::file(file).before_rename(move || {
            assert_eq!(std::fs::read_to_string(&seen).expect("the file"), "old");
            if fails { Err(super::failed(std::io::ErrorKind::PermissionDenied.into())) } else { Ok(()) }
        }));
        target.write(&["new".into()]).expect("written");
        assert_eq!(target.finish().is_err(), fails);
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), expected);
    }
}

/// Starts a download of an object that can be resumed.
fn begin_resumable(path: &std::path::Path) -> Target {
    let mut meta = Meta::new(fetch_url_core::parse("http://h/x").expect("a URL").into_owned().url);
    (meta.is_resumable, meta.validator) = (true, Some(Validator::ETag("\"1\"".to_owned())));
    let file = FileSink::open(path, FileOptions::default().resuming(true)).expect("a file");
    meta.offset = file.resume_of(&meta.requested_url).map_or(0, |resume| resume.offset);
    Sink::file(file).begin(&meta).expect("a target")
}

fn part_of(target: &mut Target) -> &mut super::part::Part {
    let TargetKind::Part(part) = &mut target.kind else { panic!("another kind of target") };
    part
}

/// Makes the next sync fail, as the kernel does after a failed write to the disk. Later ones succeed.
fn fail_next_sync(target: &mut Target) {
    let mut failed = false;
    part_of(target).writeback.before_sync =
        Some(Box::new(
            move || {
                if std::mem::replace(&mut failed, true) { Ok(()) } else { Err(Errno::IO.into()) }
            },
        ));
}

#[test]
fn part_file_is_removed_after_a_failed_sync_without_an_earlier_state() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut target = begin_resumable(&directory.path().join("x"));
    // Files of this size are synced.
    target.write(&[vec![b'x'; 1024 * 1024].into()]).expect("written");
    fail_next_sync(&mut target);
    assert_eq!(target.finish().expect_err("an error").code(), Code::SinkFailed);
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
    // The sync of an interrupted download fails.
    let mut target = begin_resumable(&directory.path().join("x"));
    target.write(&[vec![b'x'; 200_000].into()]).expect("written");
    fail_next_sync(&mut target);
    drop(target);
    assert_eq!(std::fs::read_dir(directory.path()).expect("a directory").count(), 0);
}

#[test]
fn state_before_a_failed_sync_or_write_is_kept_with_a_private_part_file() {
    for is_write in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x");
        let mut target = begin_resumable(&path);
        target.write(&[vec![b'x'; 70_000].into()]).expect("written");
        // The state is that of an earlier run.
        drop(target);
        let mut target = begin_resumable(&path);
        target.write(&[vec![b'y'; 1024 * 1024].into()]).expect("written");
        if is_write {
            part_of(&mut target).write_failed(Errno::IO.into());
            drop(target);
        } else {
            fail_next_sync(&mut target);
            assert_eq!(target.finish().expect_err("an error").code(), Code::SinkFailed);
        }
        let part = std::fs::metadata(directory.path().join("x.fetch-url.part")).expect("a file");
        assert_eq!(part.permissions().mode() & 0o777, 0o600);
        let mut target = begin_resumable(&path);
        assert_eq!(part_of(&mut target).state.bytes, 70_000);
        target.write(&["z".into()]).expect("written");
        target.finish().expect("finished");
        assert_eq!(std::fs::read(&path).expect("a file"), [vec![b'x'; 70_000], vec![b'z']].concat());
    }
}

#[test]
fn full_disk_keeps_what_was_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut target = begin_resumable(&directory.path().join("x"));
    target.write(&[vec![b'x'; 70_000].into()]).expect("written");
    part_of(&mut target).write_failed(Errno::NOSPC.into());
    drop(target);
    let mut target = begin_resumable(&directory.path().join("x"));
    assert_eq!(part_of(&mut target).state.bytes, 70_000);
}

/// Only root can give a file away, so the owner is compared only if the test runs as root.
#[test]
fn replacement_gets_owner_and_group_of_the_replaced_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    let is_root = rustix::process::geteuid().is_root();
    let groups = rustix::process::getgroups().unwrap_or_default();
    let other_group = groups.into_iter().find(|group| *group != rustix::process::getegid());
    let (user, group) = match (is_root, other_group) {
        (true, _) => (Some(65_534), Some(65_534)),
        (false, group) => (None, group.map(rustix::process::Gid::as_raw)),
    };
    for size in [5, 70_000] {
        std::fs::write(&path, "old").expect("a file");
        std::os::unix::fs::chown(&path, user, group).expect("an owner");
        // Set-user-ID and set-group-ID are not kept.
        std::fs::set_permissions(&path, Permissions::from_mode(0o6640)).expect("permissions");
        let before = std::fs::metadata(&path).expect("a file");
        let mut target = begin(Sink::file(FileSink::open(&path, FileOptions::default()).expect("a file")));
        target.write(&[vec![b'x'; size].into()]).expect("written");
        let saved = target.finish().expect("finished").file.expect("a file");
        let after = std::fs::metadata(&path).expect("a file");
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        assert_eq!(after.permissions().mode() & 0o7777, 0o640);
        assert_eq!(saved.metadata().uid(), after.uid());
        std::fs::remove_file(&path).expect("removed");
    }
}
