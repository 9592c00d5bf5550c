//! Caches whether a directory contains temporary files (`.part` and state files). Most directories contain none, so a
//! run that saves many files into one directory reads its names at most once per second, instead of looking up two
//! temporary names before each file.
//!
//! Therefore a partial download that another process leaves is not found for up to a second. A large download of the
//! same file then replaces it. A file under its final name is not affected: it is looked up before each download.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::temporary_names::is_temporary_name;

/// The number of lookups of temporary names before the directory is read.
const LOOKUPS: u8 = 16;
/// The maximum number of names that are read. In larger directories, temporary names are looked up for each file.
const MAX_NAMES: usize = 4096;
/// The maximum age of the result. After that, the directory is read again.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The cached result for one directory.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The directory has not been read yet. Temporary names have been looked up this many times.
    Unread(u8),
    /// The directory contained no temporary files at this time.
    None(Instant),
    /// The directory contains temporary files, or may contain some.
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
            State::None(read) if read.elapsed() < MAX_AGE => return false,
            State::Unread(_) | State::None(_) => read_names(directory),
            State::Possible => State::Possible,
        };
        !matches!(*state, State::None(_))
    }

    /// Records that this process creates a temporary file in the directory. From now on, temporary names are looked
    /// up for each file.
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

/// Reads the names in `directory`. The result is `Possible` if one of them is that of a temporary file, if the directory
/// cannot be read, or if it has more than `MAX_NAMES` names.
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
        leftovers.set_none_at(Instant::now() + MAX_AGE);
        assert!(!leftovers.may_exist(directory.path()));
        leftovers.set_none_at(Instant::now().checked_sub(MAX_AGE).expect("a time"));
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
