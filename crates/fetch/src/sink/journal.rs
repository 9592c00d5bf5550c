//! The journal of finished files of a batch or mirror, so that the next run fetches only missing files: one line for
//! each file, written after the file was renamed to its final name.
//!
//! The version of a line (`facts`) is a text that identifies the version of the object: its size, modification time and validator,
//! as the listing or the response reported them. A line is valid while the file has the recorded size and modification time. A `synced` line records that the file
//! system was synced, so that the files of the lines before it survive a power failure. After a reboot, lines after the
//! last `synced` line are ignored.

mod digest_set;
mod earlier_runs;
mod entry;
mod finished;
mod line;
mod line_hasher;
mod lines;

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use serde_json::json;

use self::digest_set::DigestSet;
use self::earlier_runs::{EarlierRuns, boot};
use self::entry::Entry;
pub use self::finished::Finished;
use self::line::{Line, Text};
use self::line_hasher::LineHasher;
use self::lines::{Lines, first_line};
use super::file_id::{file_id, is_file_at};
use super::part_paths::new_path;
use super::private::write_atomically;
use crate::{Code, Error, Phase};

/// Interval at which the file system is synced during a run.
const SYNC_EVERY: Duration = Duration::from_secs(30);
/// The beginning of every journal.
const JOURNAL_PREFIX: &[u8] = b"{\"boot\":\"";
/// The hint for a file that is not the journal of the run.
const OTHER_FILE_HINT: &str = "use another directory, or remove the file";
/// The number of superseded lines above which the journal is rewritten.
const MIN_SUPERSEDED_LINES: usize = 1000;
/// The number of bytes of pending lines at which they are written, if the caller has not flushed them before.
const MAX_PENDING: usize = 64 * 1024;

/// An open, locked journal.
#[derive(Debug)]
pub struct Journal {
    file: Arc<File>,
    path: PathBuf,
    subject: String,
    hasher: LineHasher,
    /// The digests of the entries of earlier runs.
    done: DigestSet,
    /// The number of lines of this run.
    lines: u64,
    /// Lines that are not written yet.
    pending: Vec<u8>,
    /// The journal has entries of earlier runs.
    has_earlier_entries: bool,
    synced: Instant,
    is_syncing: Arc<AtomicBool>,
    /// Nothing is written: the journal was opened for reading, or a write has failed, so that the last line may be
    /// truncated.
    is_read_only: bool,
}

impl Journal {
    /// Opens or creates the journal of `subject` at `path`. With `keeps_entries`, entries of earlier runs are kept.
    ///
    /// # Errors
    /// [`Code::Usage`] if another process has it open, it belongs to another subject, or `path` is not a regular file;
    /// [`Code::SinkFailed`] if it cannot be read or written.
    pub fn open(path: &Path, subject: &str, keeps_entries: bool) -> Result<Self, Error> {
        let cannot = |error| Error::io(Code::SinkFailed, Phase::Deliver, &path.display().to_string(), error);
        check_kind(path)?;
        let mut options = File::options();
        options.read(true).append(true).create(true).mode(0o600);
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        let file = options.open(path).map_err(cannot)?;
        let is_locked = file.try_lock().is_ok();
        // Another process may have replaced the journal between opening and locking.
        if !is_locked || !is_file_at(file_id(&file.metadata().map_err(cannot)?), path) {
            return Err(journal_error(path, "another process is using it"));
        }
        let first = first_line(&file).map_err(cannot)?;
        check(path, &first, subject)?;
        // A first line that was truncated when a process was killed cannot be continued.
        let keeps_entries = keeps_entries && first.ends_with(b"\n");
        let mut this = Self::empty(file, path, subject);
        if keeps_entries {
            this.load()?;
        } else {
            this.file.set_len(0).map_err(cannot)?;
        }
        Ok(this)
    }

    /// Adds the first line of a run. A killed process leaves complete lines, and perhaps a part of one without line end.
    fn begin(&mut self) {
        let line = format!("{}\n", json!({ "journal": self.subject, "boot": boot() }));
        self.pending.extend_from_slice(line.as_bytes());
    }

    /// Reads the entries of earlier runs, and rewrites the journal if many of its lines are superseded.
    fn load(&mut self) -> Result<(), Error> {
        let earlier = self.read().map_err(|error| self.failed(error))?;
        let is_stale = earlier.digests.len() > MIN_SUPERSEDED_LINES + 2 * earlier.paths.len();
        let done = earlier.done();
        self.done = done;
        self.has_earlier_entries = !self.done.is_empty();
        if is_stale {
            self.compact().map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    /// Rewrites the journal without superseded lines.
    fn compact(&mut self) -> io::Result<()> {
        let (mut last, mut lines) = (BTreeMap::new(), Lines::new(&self.file));
        while let Some(line) = lines.next()? {
            if let Some(entry) = Entry::from_line(&line)
                && self.done.contains(self.hasher.digest_without_version(&entry))
            {
                let mut line = Vec::new();
                entry.write_line(&mut line)?;
                last.insert(entry.path.to_owned(), line);
            }
        }
        let mut text = format!("{}\n", json!({ "journal": self.subject, "boot": boot() })).into_bytes();
        last.values().for_each(|line| text.extend_from_slice(line));
        // After a power failure there must be no line whose file was lost.
        sync_files(&self.file)?;
        writeln!(text, "{}", json!({ "synced": last.len() }))?;
        write_atomically(&self.path, &new_path(&self.path), &text)?;
        let file = File::options().read(true).append(true).open(&self.path)?;
        file.try_lock().map_err(|_| io::ErrorKind::WouldBlock)?;
        self.file = Arc::new(file);
        Ok(())
    }

    /// Reads all lines.
    fn read(&self) -> io::Result<EarlierRuns<'_>> {
        let (mut lines, mut earlier) = (Lines::new(&self.file), EarlierRuns::new(&self.hasher));
        while let Some(line) = lines.next()? {
            earlier.add_line(&line);
        }
        if !lines.is_last_line_complete && !self.is_read_only {
            // A truncated line of a killed process must not be joined with the next line.
            (&*self.file).write_all(b"\n")?;
        }
        Ok(earlier)
    }

    /// Reads the journal of `subject` at `path`. Returns `None` if the file does not exist. Nothing is written to it.
    /// It is not locked, so it may lack the latest files of a run in progress.
    ///
    /// # Errors
    /// [`Code::Usage`] if it belongs to another subject, or `path` is not a regular file; [`Code::SinkFailed`] if it
    /// cannot be read.
    pub fn open_read_only(path: &Path, subject: &str) -> Result<Option<Self>, Error> {
        let cannot = |error| Error::io(Code::SinkFailed, Phase::Deliver, &path.display().to_string(), error);
        check_kind(path)?;
        let mut options = File::options();
        options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
        let file = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(cannot)?,
        };
        let first = first_line(&file).map_err(cannot)?;
        check(path, &first, subject)?;
        let mut this = Self::empty(file, path, subject);
        this.is_read_only = true;
        this.done = this.read().map_err(cannot)?.done();
        this.has_earlier_entries = !this.done.is_empty();
        Ok(Some(this))
    }

    /// Returns a journal without entries.
    fn empty(file: File, path: &Path, subject: &str) -> Self {
        Self {
            file: Arc::new(file),
            path: path.to_owned(),
            subject: subject.to_owned(),
            hasher: LineHasher::default(),
            done: DigestSet::default(),
            lines: 0,
            pending: Vec::new(),
            has_earlier_entries: false,
            synced: Instant::now(),
            is_syncing: Arc::default(),
            is_read_only: false,
        }
    }

    /// Returns `true` if earlier runs have recorded files, and these lines are still valid.
    pub const fn has_earlier_entries(&self) -> bool {
        self.has_earlier_entries
    }

    /// Returns `true` if an earlier run fetched the file at `path` from `source` in this version, and it is unchanged
    /// since.
    pub fn has(&self, path: &str, source: &str, version: &str, file: &Metadata) -> bool {
        self.done.contains(self.hasher.line_digest(&Entry::new(path, source, version, file)))
    }

    /// Returns `true` if an earlier run fetched the file at `path` from `source` and it is unchanged since. Facts are not
    /// compared.
    pub fn contains_source(&self, path: &str, source: &str, file: &Metadata) -> bool {
        self.done.contains(self.hasher.digest_without_version(&Entry::new(path, source, "", file)))
    }

    /// Records that `path` is finished. Its last line counts, so a file that has returned to an earlier version is recorded
    /// again. The line is written by [`Self::flush`], or together with others when there are
    /// many.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if lines cannot be written. After that, nothing is recorded.
    pub fn add(&mut self, path: &str, source: &str, version: &str, file: &Metadata) -> Result<(), Error> {
        if self.is_read_only {
            return Ok(());
        }
        let entry = Entry::new(path, source, version, file);
        if self.lines == 0 {
            self.begin();
        }
        entry.write_line(&mut self.pending).map_err(|error| self.failed(error))?;
        self.lines += 1;
        let must_sync = self.synced.elapsed() >= SYNC_EVERY;
        if must_sync || self.pending.len() >= MAX_PENDING {
            self.flush()?;
        }
        if must_sync && !self.is_syncing.swap(true, Ordering::Relaxed) {
            self.synced = Instant::now();
            self.start_sync();
        }
        Ok(())
    }

    /// Writes the lines of the files that are finished. A killed process loses the lines since the last call.
    ///
    /// # Errors
    /// [`Code::SinkFailed`] if lines cannot be written.
    pub fn flush(&mut self) -> Result<(), Error> {
        let lines = std::mem::take(&mut self.pending);
        if lines.is_empty() || self.is_read_only {
            return Ok(());
        }
        let written = (&*self.file).write_all(&lines);
        self.is_read_only = written.is_err();
        written.map_err(|error| self.failed(error))
    }

    /// Starts a sync on a separate thread, while files are fetched.
    fn start_sync(&mut self) {
        let (file, is_syncing, lines) = (self.file.clone(), self.is_syncing.clone(), self.lines);
        let work = move || {
            if sync(&file, lines).is_ok() {
                is_syncing.store(false, Ordering::Relaxed);
            }
        };
        // If no thread can be started, the sync at the end is enough.
        let _ = thread::Builder::new().name("sync".to_owned()).spawn(work);
    }

    /// Writes all lines and syncs the finished files to the disk.
    pub fn sync(&mut self) {
        if self.flush().is_ok() && !self.is_read_only && self.lines > 0 {
            // Files that cannot be synced are fetched again after a power failure.
            let _ = sync(&self.file, self.lines);
        }
    }

    /// Removes the journal. The caller does this when all files are finished.
    pub fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(Code::SinkFailed, Phase::Deliver, &self.path.display().to_string(), error)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // The error cannot be reported; the files are fetched again.
        let _ = self.flush();
    }
}

/// Checks that there is a regular file at the path, or nothing. Symbolic links are not followed: the journal would be
/// created where they lead.
fn check_kind(path: &Path) -> Result<(), Error> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let kind = match found.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "it is a directory",
        kind if kind.is_symlink() => "it is a symbolic link",
        kind if kind.is_fifo() => "it is a FIFO",
        _ => "it is not a regular file",
    };
    Err(journal_error(path, &format!("{kind}, not a journal")).with_hint(OTHER_FILE_HINT))
}

/// Checks that the file begins like a journal of `subject`; its first line may be truncated. Other files must not be
/// changed.
fn check(path: &Path, first: &[u8], subject: &str) -> Result<(), Error> {
    let not_a_journal =
        || journal_error(path, "it is not a journal of this program").with_hint(OTHER_FILE_HINT);
    if !first.ends_with(b"\n") {
        return if JOURNAL_PREFIX.starts_with(first) || first.starts_with(JOURNAL_PREFIX) {
            Ok(())
        } else {
            Err(not_a_journal())
        };
    }
    match Line::parse(first).journal {
        None => Err(not_a_journal()),
        Some(other) => same_subject(path, Text::or_empty(Some(&other)), subject),
    }
}

fn same_subject(path: &Path, other: &str, subject: &str) -> Result<(), Error> {
    // A directory has the same URL with and without its last slash.
    let without_slash = |text: &'_ str| text.strip_suffix('/').unwrap_or(text).to_owned();
    if without_slash(other) == without_slash(subject) {
        return Ok(());
    }
    Err(journal_error(path, &format!("it belongs to {other}")).with_hint(OTHER_FILE_HINT))
}

/// Syncs the file system of the journal.
fn sync_files(file: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(file)?;
    #[cfg(not(target_os = "linux"))]
    rustix::fs::sync();
    Ok(())
}

/// Syncs the files and writes the `synced` line for the lines before it.
fn sync(mut file: &File, lines: u64) -> io::Result<()> {
    sync_files(file)?;
    file.write_all(format!("{}\n", json!({ "synced": lines })).as_bytes())?;
    file.sync_data()
}

fn journal_error(path: &Path, detail: &str) -> Error {
    Error::new(Code::Usage, Phase::Plan, format!("{}: {detail}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn journal_that_could_not_be_written_can_be_opened_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("journal");
        fs::write(dir.path().join("a"), "a").expect("a file");
        let metadata = fs::metadata(dir.path().join("a")).expect("metadata");
        let mut journal = Journal::open(&path, "x", true).expect("a journal");
        let full = File::options().write(true).open("/dev/full").expect("a device");
        let file = std::mem::replace(&mut journal.file, Arc::new(full));
        journal.add("a", "s", "f", &metadata).expect("it is written later");
        assert_eq!(journal.flush().expect_err("no space").code(), Code::SinkFailed);
        // There is space again.
        journal.file = file;
        journal.add("a", "s", "f", &metadata).expect("nothing is recorded");
        journal.flush().expect("nothing is written");
        journal.sync();
        drop(journal);
        assert_eq!(fs::read_to_string(&path).expect("a journal"), "");
        assert!(!Journal::open(&path, "x", true).expect("a journal").has_earlier_entries());
    }

    /// Writes a journal with `files`, of which the first `synced` are synced, by a run with boot id `boot`.
    fn written(directory: &Path, files: &[&str], synced: usize, boot: &str) -> PathBuf {
        let path = directory.join("journal");
        let mut text = format!("{}\n", json!({ "journal": "x", "boot": boot }));
        for (index, name) in files.iter().enumerate() {
            fs::write(directory.join(name), name).expect("a file");
            let metadata = fs::metadata(directory.join(name)).expect("metadata");
            if index == synced && synced > 0 {
                text += &format!("{}\n", json!({ "synced": synced }));
            }
            let mut line = Vec::new();
            Entry::new(name, "s", "f", &metadata).write_line(&mut line).expect("memory");
            text += str::from_utf8(&line).expect("JSON");
        }
        fs::write(&path, text).expect("a journal");
        path
    }

    fn has(journal: &Journal, directory: &Path, name: &str) -> bool {
        journal.has(name, "s", "f", &fs::metadata(directory.join(name)).expect("metadata"))
    }

    #[test]
    fn finished_file_is_known_until_it_changes() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        let file = directory.path().join("a");
        fs::write(&file, "1").expect("a file");
        let metadata = fs::metadata(&file).expect("metadata");
        let mut journal = Journal::open(&path, "x", true).expect("a journal");
        assert!(!journal.has("a", "s", "f", &metadata));
        journal.add("a", "s", "f", &metadata).expect("a line");
        journal.add("a", "s", "f", &metadata).expect("no line");
        assert!(Journal::open(&path, "x", true).is_err(), "one process at a time");
        journal.sync();
        drop(journal);
        let mut journal = Journal::open(&path, "x", true).expect("a journal");
        assert!(journal.has("a", "s", "f", &metadata) && !journal.has("b", "s", "f", &metadata));
        assert!(!journal.has("a", "s", "g", &metadata));
        assert!(
            journal.contains_source("a", "s", &metadata) && !journal.contains_source("a", "t", &metadata)
        );
        assert!(journal.finished().expect("files")["a"].is_unchanged(&metadata));
        let mut sources = Vec::new();
        let read = |path: &str, source: &str| sources.push(format!("{path} {source}"));
        journal.read_sources(read).expect("lines");
        assert!(!sources.is_empty() && sources.iter().all(|line| line == "a s"), "{sources:?}");
        fs::write(&file, "12").expect("a file");
        assert!(!has(&journal, directory.path(), "a"), "the file is another one");
        drop(journal);
        for keeps_entries in [true, false] {
            assert!(Journal::open(&path, "y", keeps_entries).is_err(), "it is of something else");
        }
        let journal = Journal::open(&path, "x", false).expect("a new one");
        assert!(!journal.has("a", "s", "f", &metadata));
        journal.remove();
        assert!(!path.exists());
    }

    #[test]
    fn journal_opened_read_only_has_the_entries_and_needs_no_lock() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = written(directory.path(), &["a"], 0, &boot());
        let _writer = Journal::open(&path, "x", true).expect("a journal");
        let journal = Journal::open_read_only(&path, "x").expect("a journal").expect("an existing one");
        assert!(has(&journal, directory.path(), "a") && journal.has_earlier_entries());
        assert!(Journal::open_read_only(&path, "y").is_err(), "it is of something else");
        let missing = Journal::open_read_only(&directory.path().join("missing"), "x");
        assert!(missing.expect("no error").is_none());
    }

    #[test]
    fn after_a_power_failure_only_synced_lines_count() {
        let directory = tempfile::tempdir().expect("a directory");
        for (boot_then, expected) in [(boot(), [true, true, true]), ("other".into(), [true, true, false])] {
            let path = written(directory.path(), &["a", "b", "c"], 2, &boot_then);
            let journal = Journal::open(&path, "x", true).expect("a journal");
            assert_eq!(["a", "b", "c"].map(|name| has(&journal, directory.path(), name)), expected);
        }
    }

    #[test]
    fn repeated_lines_are_compacted() {
        let directory = tempfile::tempdir().expect("a directory");
        let (path, file) = (directory.path().join("journal"), directory.path().join("a"));
        fs::write(&file, "1").expect("a file");
        let metadata = fs::metadata(&file).expect("metadata");
        let mut journal = Journal::open(&path, "x", true).expect("a journal");
        for number in 0..MIN_SUPERSEDED_LINES + 10 {
            journal.add("a", "s", &number.to_string(), &metadata).expect("a line");
        }
        drop(journal);
        let before = fs::metadata(&path).expect("metadata").len();
        drop(Journal::open(&path, "x", true).expect("a journal"));
        assert!(fs::metadata(&path).expect("metadata").len() < before / 100);
        let journal = Journal::open(&path, "x", true).expect("a journal");
        assert!(
            journal.has("a", "s", &(MIN_SUPERSEDED_LINES + 9).to_string(), &metadata)
                && !journal.has("a", "s", "0", &metadata)
        );
        assert!(Journal::open(&path, "x", true).is_err(), "it is locked as before");
    }

    #[test]
    fn file_that_is_not_a_journal_is_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        for content in ["my own notes\n", "{}\n", "\n", "{\"boots\"", "[1]", "\0\n", "\0\0{\"boot\":\"\"}\n"]
        {
            fs::write(&path, content).expect("a file");
            for keeps_entries in [true, false] {
                let error = Journal::open(&path, "x", keeps_entries).expect_err(content);
                assert!(error.hint().is_some(), "{content}: {error}");
                assert_eq!(fs::read_to_string(&path).expect("a file"), content);
            }
        }
        for content in ["", "{", "{\"boot\":\"de"] {
            fs::write(&path, content).expect("a file");
            assert!(Journal::open(&path, "x", true).is_ok(), "{content}");
            assert!(Journal::open(&path, "x", true).is_ok(), "{content}");
        }
    }

    /// A power cut may leave the size of a file and none of its bytes.
    #[test]
    fn journal_of_nul_bytes_is_empty() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal");
        fs::write(directory.path().join("a"), "a").expect("a file");
        let metadata = fs::metadata(directory.path().join("a")).expect("metadata");
        for size in [1, 300, 1_000_000] {
            fs::write(&path, vec![0; size]).expect("a journal");
            let journal = Journal::open_read_only(&path, "x").expect("a journal").expect("an existing one");
            assert!(!journal.has_earlier_entries());
            let mut journal = Journal::open(&path, "x", true).expect("a journal");
            assert!(!journal.has_earlier_entries());
            journal.add("a", "s", "f", &metadata).expect("a line");
            drop(journal);
            let journal = Journal::open(&path, "x", true).expect("a journal");
            assert!(has(&journal, directory.path(), "a"), "{size}");
        }
        fs::write(&path, [vec![0; 1_000_000], b"x".to_vec()].concat()).expect("a file");
        assert!(Journal::open(&path, "x", true).is_err(), "it has other bytes");
        assert_eq!(fs::metadata(&path).expect("a file").len(), 1_000_001);
    }

    #[test]
    fn synced_lines_count_from_the_start_of_their_run() {
        let line = |name: &str| json!({ "path": name, "facts": "", "size": 1, "changed": "" });
        let run = |boot: &str| json!({ "journal": "x", "boot": boot });
        let done = |lines: &[Value]| {
            let digests = LineHasher::default();
            let mut earlier = EarlierRuns::new(&digests);
            lines.iter().for_each(|line| earlier.add_line(&Line::parse(line.to_string().as_bytes())));
            earlier.done().len() / 2
        };
        let synced = |count: u64| json!({ "synced": count });
        assert_eq!(done(&[run("1"), line("a"), synced(1), line("b"), synced(2), line("c")]), 2);
        assert_eq!(done(&[run("1"), line("a"), run("1"), line("b"), synced(1), line("c")]), 2);
        assert_eq!(done(&[run("1"), line("a"), run("2"), line("b"), synced(1)]), 1);
        assert_eq!(done(&[run("1"), line("a"), synced(1), run("2"), line("b")]), 1);
        assert_eq!(done(&[run(""), line("a")]), 0);
        assert_eq!(done(&[run(""), line("a"), synced(u64::MAX)]), 1);
    }

    #[test]
    fn truncated_line_is_ignored_and_does_not_affect_other_lines() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = written(directory.path(), &["a", "b"], 0, &boot());
        let text = fs::read(&path).expect("a journal");
        let second =
            text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).expect("a line").0 + 1;
        for end in second..text.len() {
            fs::write(&path, &text[..end]).expect("a journal");
            let journal = Journal::open_read_only(&path, "x").expect("a journal").expect("an existing one");
            assert!(has(&journal, directory.path(), "a") && !has(&journal, directory.path(), "b"), "{end}");
            assert_eq!(fs::read(&path).expect("a journal"), &text[..end], "a reader does not write");
            let mut journal = Journal::open(&path, "x", true).expect("a journal");
            assert!(has(&journal, directory.path(), "a") && !has(&journal, directory.path(), "b"), "{end}");
            let metadata = fs::metadata(directory.path().join("b")).expect("metadata");
            journal.add("b", "s", "f", &metadata).expect("a line");
            drop(journal);
            let journal = Journal::open(&path, "x", true).expect("a journal");
            assert!(has(&journal, directory.path(), "b"), "{end}");
        }
    }
}
