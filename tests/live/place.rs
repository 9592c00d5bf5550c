//! An empty folder to fetch into, and a `.part` laid there as an earlier run would have left it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use super::digest::sha256;
use super::program::{Ran, Running, start};

/// So much of the end of a `.part` is digested in its state.
const TAIL: usize = 64 * 1024;

/// An empty folder; gone with the test.
pub(crate) struct Place(TempDir);

/// Runs `fetch-url` once, in a folder of its own.
#[track_caller]
pub(crate) fn fetch(arguments: &[&str]) -> Ran {
    Place::new().fetch(arguments)
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Runs `fetch-url` here.
    pub(crate) fn fetch(&self, arguments: &[&str]) -> Ran {
        self.start(arguments).ended()
    }

    /// Starts `fetch-url` here. One run shows one answer: who wants retries, says so.
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

    /// What lies here, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).expect("the folder is there");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }

    /// Removes what lies here.
    pub(crate) fn clear(&self) {
        for name in self.names() {
            fs::remove_file(self.path(&name)).expect("our own file");
        }
    }

    /// Only these lie here.
    #[track_caller]
    pub(crate) fn holds(&self, names: &[&str]) {
        assert_eq!(self.names(), names);
    }

    /// Lays down `name.part` and its state: so much of `url` had come, with this validator.
    pub(crate) fn leave_part(&self, name: &str, url: &str, validator: &str, bytes: &[u8], size: usize) {
        let tail = sha256(&bytes[bytes.len().saturating_sub(TAIL)..]);
        let validator = validator.replace('"', "\\\"");
        let count = bytes.len();
        let state = format!(
            "{{\"url\": \"{url}\", \"size\": {size}, \"validator\": \"{validator}\", \"octets\": {count}, \
             \"tail_sha256\": \"{tail}\", \"mode\": 420}}"
        );
        self.write(&format!("{name}.part"), bytes);
        self.write(&format!("{name}.part.json"), state);
    }
}

/// Letters and digits that no other test and no other run has.
pub(crate) fn key() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
    format!("k{:x}p{}n{}", now.as_nanos(), std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
