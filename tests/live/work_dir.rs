//! An empty working directory, and a `.part` file in it as an earlier run would leave it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use super::program::{RunResult, Running, start};
use fetch_url_tests::sha256;

/// The number of bytes at the end of a `.part` file whose digest is in the state file.
const TAIL: usize = 64 * 1024;

/// An empty working directory, which is removed at the end of the test.
pub(crate) struct WorkDir(TempDir);

/// Runs `fetch-url` once, in a new directory.
#[track_caller]
pub(crate) fn fetch(arguments: &[&str]) -> RunResult {
    WorkDir::new().fetch(arguments)
}

impl WorkDir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Runs `fetch-url` in the directory.
    pub(crate) fn fetch(&self, arguments: &[&str]) -> RunResult {
        self.start(arguments).wait()
    }

    /// Starts `fetch-url` in the directory, without retries unless the arguments contain `--retry`.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let says = arguments.contains(&"--retry");
        let own: &[&str] = if says { &[] } else { &["--retry", "0"] };
        start(self.folder(), &[own, arguments].concat())
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name))
            .unwrap_or_else(|error| panic!("{name}: {error}; there are {:?}", self.names()))
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("a temporary folder can be written to");
    }

    /// Returns the names of the entries, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).expect("the folder is there");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }

    /// Removes all files.
    pub(crate) fn clear(&self) {
        for name in self.names() {
            fs::remove_file(self.path(&name)).expect("our own file");
        }
    }

    /// Asserts that the directory has exactly these entries.
    #[track_caller]
    pub(crate) fn assert_entries(&self, names: &[&str]) {
        assert_eq!(self.names(), names);
    }

    /// Writes `name.part` and its state file: these bytes of `url` were received, with this validator.
    pub(crate) fn leave_part(&self, name: &str, url: &str, validator: &str, bytes: &[u8], size: usize) {
        let tail = sha256(&bytes[bytes.len().saturating_sub(TAIL)..]);
        let validator = validator.replace('"', "\\\"");
        let count = bytes.len();
        let state = format!(
            "{{\"url\": \"{url}\", \"size\": {size}, \"validator\": \"{validator}\", \"octets\": {count}, \
             \"tail_sha256\": \"{tail}\", \"mode\": 420}}"
        );
        self.write(&format!("{name}.fetch-url.part"), bytes);
        self.write(&format!("{name}.fetch-url.json"), state);
    }
}

/// Returns letters and digits that no other test and no other run uses.
pub(crate) fn key() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    format!("k{:x}p{}n{}", now.as_nanos(), std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
