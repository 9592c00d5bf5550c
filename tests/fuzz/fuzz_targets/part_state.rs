//! Arbitrary bytes as the state file of a `.part` file: no panic; a state that was read is written and read back
//! unchanged, and its file is small enough to be read; a `.part` file is resumed only if it has the recorded bytes.
//!
//! The modules are private to their crate and are compiled here a second time.
#![no_main]
#![allow(dead_code, unused_imports, reason = "the engine uses the rest")]

#[path = "../../../crates/fetch/src"]
mod fetch {
    pub mod error;
    pub mod resume;
    pub mod sink {
        mod descriptor;
        mod device;
        pub mod digest;
        mod dir_handle;
        mod file_id;
        mod leftovers;
        mod part_paths;
        mod private;
        mod state;
        mod temporary_names;

        use std::fs::{self, File};
        use std::path::Path;

        use part_paths::PartPaths;
        use state::{State, tail_digest};

        /// Checks a state file with the content `data` in `directory`.
        pub fn check(directory: &Path, data: &[u8]) {
            let paths = PartPaths::of(&directory.join("a")).expect("a name");
            fs::write(&paths.state(), data).expect("a file");
            let Some(state) = State::read(&paths.state()) else { return };
            assert_eq!(state.mode & !0o777, 0);
            let shown = state.validator.iter().map(ToString::to_string).collect::<String>();
            assert!(!shown.contains(char::is_control));
            state.write(&paths).expect("written");
            assert!(!paths.new_state().exists());
            let written = fs::read(&paths.state()).expect("a file");
            assert_eq!(State::read(&paths.state()).as_ref(), Some(&state));
            state.write(&paths).expect("written");
            assert_eq!(fs::read(&paths.state()).expect("a file"), written, "writing is not stable");
            check_resume(state, &paths, data);
        }

        /// Resumes with a `.part` file of the same bytes as the state file, whose digest is first the recorded one, then
        /// the right one.
        fn check_resume(mut state: State, paths: &PartPaths, data: &[u8]) {
            fs::write(&paths.part, data).expect("a file");
            let mut part = File::open(&paths.part).expect("a file");
            let mut check = |state: &State| {
                let resume = state.resume(&mut part);
                let Some(resume) = resume else { return false };
                let end = usize::try_from(resume.offset).expect("a small file");
                assert_eq!((Some(&resume.validator), resume.size), (state.validator.as_ref(), state.size));
                assert!(0 < end && resume.offset == state.bytes && data[..end].ends_with(&resume.tail));
                assert_eq!(resume.tail.len(), end.min(64));
                true
            };
            check(&state);
            let length = data.len() as u64;
            state.bytes %= length + 2;
            let digest = tail_digest(&mut File::open(&paths.part).expect("a file"), state.bytes.min(length));
            state.tail_digest = digest.expect("a digest");
            let is_usable = state.validator.is_some() && (1..=length).contains(&state.bytes);
            assert_eq!(check(&state), is_usable, "{state:?}");
            state.tail_digest.push('0');
            assert!(!check(&state));
        }
    }
    pub mod timings;
}

use std::sync::OnceLock;

use fetch::error::{Code, Error, Phase};
use fetch::timings;
use fetch::resume::{Resume, Validator};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static DIRECTORY: OnceLock<TempDir> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    let directory = DIRECTORY.get_or_init(memory_directory);
    fetch::sink::check(directory.path(), data);
});

/// Creates a directory, in memory if the system has a file system there: files on a disk make the target slow.
fn memory_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory")
}
