//! Arbitrary bytes as the journal of a mirror: no panic; a file that is no journal is not changed; the finished files
//! are the same after the journal was opened again; a file that is added is known, also after a reopen, and the other
//! files stay as they were.
//!
//! `BOOT` in the input stands for the boot id of the machine. The modules are private to their crate and are compiled
//! here a second time.
#![no_main]
#![allow(dead_code, unused_imports, reason = "the engine uses the rest")]

#[path = "../../../crates/fetch/src"]
mod fetch {
    pub mod error;
    pub mod sink {
        mod descriptor;
        mod device;
        pub mod digest;
        mod dir_handle;
        mod file_id;
        pub mod journal;
        mod leftovers;
        mod part_paths;
        mod private;
        mod temporary_names;
    }
    pub mod timings;
}

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fetch::error::{Code, Error, Phase};
use fetch::timings;
use fetch::sink::journal::Journal;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static DIRECTORY: OnceLock<(TempDir, String)> = OnceLock::new();
/// The subject of the journals that the target opens.
const SUBJECT: &str = "x";
/// A path that no line of the input has.
const ADDED: &str = "added by the target";

fuzz_target!(|data: &[u8]| {
    let (directory, boot) = DIRECTORY.get_or_init(|| {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        (memory_directory(), boot.trim().to_owned())
    });
    let data = with_boot(data, boot.as_bytes());
    let (path, file) = (directory.path().join("journal"), directory.path().join("file"));
    fs::write(&path, &data).expect("a journal");
    fs::write(&file, "content").expect("a file");
    check(&path, &file, &data);
    let names: Vec<PathBuf> = fs::read_dir(directory.path())
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(names.iter().all(|name| *name == path || *name == file), "{names:?}");
});

fn with_boot(data: &[u8], boot: &[u8]) -> Vec<u8> {
    let (mut replaced, mut rest) = (Vec::new(), data);
    while let Some((&byte, after)) = rest.split_first() {
        match rest.strip_prefix(b"BOOT") {
            Some(after) => (replaced.extend_from_slice(boot), rest = after).1,
            None => (replaced.push(byte), rest = after).1,
        }
    }
    replaced
}

fn check(path: &Path, file: &Path, data: &[u8]) {
    let Ok(mut journal) = Journal::open(path, SUBJECT, true) else {
        assert!(Journal::open(path, SUBJECT, false).is_err(), "a file of something else would be emptied");
        assert_eq!(fs::read(path).expect("a file"), data, "a file of something else was changed");
        return;
    };
    assert!(Journal::open(path, SUBJECT, true).is_err(), "two processes at a time");
    let before = finished(&mut journal);
    drop(journal);
    let facts = fs::metadata(file).expect("facts");
    let mut journal = Journal::open(path, SUBJECT, true).expect("the same journal");
    assert_eq!(finished(&mut journal), before);
    assert!(!journal.has(ADDED, "s", "f", &facts) && !journal.contains_source(ADDED, "s", &facts));
    let known = [journal.has("a", "s", "f", &facts), journal.contains_source("a", "s", &facts)];
    assert!(known[1] || !known[0]);
    journal.add(ADDED, "s", "f", &facts).expect("a line");
    drop(journal);
    let mut journal = Journal::open(path, SUBJECT, true).expect("the same journal");
    assert!(journal.has(ADDED, "s", "f", &facts) && journal.contains_source(ADDED, "s", &facts));
    assert!(!journal.has(ADDED, "s", "g", &facts) && !journal.contains_source(ADDED, "t", &facts));
    assert_eq!([journal.has("a", "s", "f", &facts), journal.contains_source("a", "s", &facts)], known);
    let after = finished(&mut journal);
    assert!(journal.finished().expect("files")[ADDED].is_unchanged(&facts));
    assert_eq!(after, before);
    let again = Journal::open(path, "another subject", false);
    assert!(again.is_err(), "another subject");
}

/// Returns the finished files, each with its facts as text.
fn finished(journal: &mut Journal) -> BTreeMap<String, String> {
    let files = journal.finished().expect("a journal").into_iter();
    files.map(|(path, facts)| (path, format!("{facts:?}"))).filter(|(path, _)| path != ADDED).collect()
}

/// Creates a directory, in memory if the system has a file system there: files on a disk make the target slow.
fn memory_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory")
}
