//! Whether a directory contains temporary files. It rarely does, so a run that saves many files into it reads its names
//! once in a second, instead of looking for the temporary files of each file.
//!
//! A temporary file that another process leaves is therefore overlooked for up to a second. If the file of that name is
//! large, the temporary file is then replaced; a final file is never replaced unseen.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::temporary_names::is_temporary_name;

/// The number of lookups before the directory is read.
const LOOKUPS: u8 = 16;
/// The maximum number of names that are read. In larger directories, each file is looked for.
const MAX_NAMES: usize = 4096;
/// The time after which the directory is read again.
const TRUSTED_TIME: Duration = Duration::from_secs(1);

/// What is known about the temporary files in a directory.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The directory has not been read, after this number of lookups.
    Unread(u8),
    /// There were no temporary files at this time.
    None(Instant),
    /// There are temporary files, or there may be.
    Possible,
}

impl Default for State {
    fn default() -> Self {
        Self::Unread(0)
    }
}

impl Leftovers {
    /// Returns `true` if `directory` may contain temporary files.
    pub(super) fn may_exist(&self, directory: &Path) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = match *state {
            State::Unread(lookups) if lookups < LOOKUPS => State::Unread(lookups + 1),
            State::None(read) if read.elapsed() < TRUSTED_TIME => return false,
            State::Unread(_) | State::None(_) => read_names(directory),
            State::Possible => State::Possible,
        };
        !matches!(*state, State::None(_))
    }

    /// Records that this process creates a temporary file in the directory. From now on, each file is looked for.
    pub(super) fn record_own(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::Possible;
    }
}

#[cfg(test)]
impl Leftovers {
    /// Sets the state to that of a directory without temporary files that was read at `time`.
    pub(super) fn set_none_at(&self, time: Instant) {
        *self.state.lock().expect("a state") = State::None(time);
    }
}

/// Looks for the names of temporary files in `directory`, if that is not too much to read.
fn read_names(directory: &Path) -> State {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let now = Instant::now();
    let Ok(mut entries) = fs::read_dir(directory) else { return State::Possible };
    let is_other = |entry: std::io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| !is_temporary_name(entry.file_name().as_bytes()))
    };
    let has_none = entries.by_ref().take(MAX_NAMES).all(is_other) && entries.next().is_none();
    if has_none { State::None(now) } else { State::Possible }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_lookups(directory: &Path) -> Leftovers {
        let leftovers = Leftovers::default();
        assert!((0..LOOKUPS).all(|_| leftovers.may_exist(directory)), "each file is looked for at first");
        leftovers
    }

    #[test]
    fn directory_without_temporary_files_is_read_again_after_a_second() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("x.part"), "").expect("a file");
        let leftovers = after_lookups(directory.path());
        assert!(!leftovers.may_exist(directory.path()));
        fs::write(directory.path().join("x.fetch-url.part"), "").expect("a file");
        leftovers.set_none_at(Instant::now() + TRUSTED_TIME);
        assert!(!leftovers.may_exist(directory.path()));
        leftovers.set_none_at(Instant::now().checked_sub(TRUSTED_TIME).expect("a time"));
        assert!(leftovers.may_exist(directory.path()));
    }

    #[test]
    fn temporary_file_of_an_earlier_run_is_found() {
        for name in ["x.fetch-url.part", "x.FETCH-URL.JSON", "x.fetch-url.new"] {
            let directory = tempfile::tempdir().expect("a directory");
            fs::write(directory.path().join(name), "").expect("a file");
            let leftovers = after_lookups(directory.path());
            assert!(leftovers.may_exist(directory.path()), "{name}");
            fs::remove_file(directory.path().join(name)).expect("removed");
            assert!(leftovers.may_exist(directory.path()), "{name}: another one may exist");
        }
    }

    #[test]
    fn files_are_looked_for_after_this_process_has_created_a_temporary_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let leftovers = after_lookups(directory.path());
        assert!(!leftovers.may_exist(directory.path()));
        leftovers.record_own();
        assert!(leftovers.may_exist(directory.path()));
    }

    #[test]
    fn files_are_looked_for_in_unreadable_and_large_directories() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(after_lookups(&directory.path().join("absent")).may_exist(&directory.path().join("absent")));
        for number in 0..=MAX_NAMES {
            fs::write(directory.path().join(number.to_string()), "").expect("a file");
        }
        assert!(after_lookups(directory.path()).may_exist(directory.path()));
    }
}
