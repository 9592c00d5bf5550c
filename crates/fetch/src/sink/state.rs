//! The state file `NAME.fetch-url.json` of a `.part` file: its URL, the number of valid bytes, and the validator that
//! shows whether the object has changed.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use serde_json::{Value, json};

use super::digest::{Algorithm, Digest};
use super::part_paths::PartPaths;
use super::private::write_atomically;
use crate::{Resume, Validator};

/// Number of bytes at the end of a `.part` file whose digest is stored, to detect changes by other programs.
const TAIL_SIZE: u64 = 64 * 1024;
/// Maximum size of a state file in bytes; a URL has at most 64 KiB.
const MAX_STATE_SIZE: u64 = 256 * 1024;

/// The contents of a state file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The requested URL, without its password.
    pub(super) url: String,
    /// The size of the complete object in bytes, if known.
    pub(super) size: Option<u64>,
    /// The validator of the object that the bytes belong to.
    pub(super) validator: Option<Validator>,
    /// The resource that the bytes were received from, after redirects.
    pub(super) resource: Option<String>,
    /// Number of valid bytes in the `.part` file.
    pub(super) bytes: u64,
    /// The first bytes are those of an earlier file, of which only the last were compared with the object.
    pub(super) has_earlier_start: bool,
    /// SHA-256 of the last 64 KiB of the valid bytes.
    pub(super) tail_digest: String,
    /// The permissions for the finished file.
    pub(super) mode: u32,
}

impl State {
    /// Reads the state of an earlier run. Returns `None` if it cannot be read or parsed.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let value: Value = serde_json::from_slice(&read_small(path).ok()?).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Self {
            url: text("url")?,
            size: value["size"].as_u64(),
            validator: text("validator").and_then(|text| Validator::from_text(&text)),
            resource: text("place"),
            bytes: value["octets"].as_u64()?,
            has_earlier_start: value["earlier_start"].as_bool().unwrap_or(false),
            tail_digest: text("tail_sha256")?,
            mode: u32::try_from(value["mode"].as_u64()?).ok()? & 0o777,
        })
    }

    /// Writes the state file atomically.
    pub(super) fn write(&self, paths: &PartPaths) -> io::Result<()> {
        let value = json!({
            "url": self.url,
            "size": self.size,
            "validator": self.validator.as_ref().map(ToString::to_string),
            "place": self.resource,
            "octets": self.bytes,
            "earlier_start": self.has_earlier_start,
            "tail_sha256": self.tail_digest,
            "mode": self.mode,
        });
        write_atomically(&paths.state(), &paths.new_state(), format!("{value:#}\n").as_bytes())
    }

    /// Returns the resume data, or `None` if `part` does not match this state or the state has no validator.
    pub(super) fn resume(&self, part: &mut File) -> Option<Resume> {
        let validator = self.validator.clone()?;
        let matches_part = self.bytes > 0
            && part.metadata().ok()?.len() >= self.bytes
            && tail_digest(part, self.bytes).ok()? == self.tail_digest;
        let resource = self.resource.clone();
        let tail = if matches_part { last_bytes(part, self.bytes).ok()? } else { Vec::new() };
        matches_part.then_some(Resume { offset: self.bytes, size: self.size, validator, resource, tail })
    }
}

/// Returns the last bytes before `end`, for the overlap check.
fn last_bytes(part: &mut File, end: u64) -> io::Result<Vec<u8>> {
    let start = end.saturating_sub(Resume::TAIL as u64);
    part.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    part.take(end - start).read_to_end(&mut bytes)?;
    part.seek(SeekFrom::Start(end))?;
    Ok(bytes)
}

/// Reads a small regular file. Other kinds of files, such as FIFOs, must not block.
fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    if file.metadata()?.is_file() {
        file.take(MAX_STATE_SIZE).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Returns the digest of the last 64 KiB before `end`.
pub(super) fn tail_digest(part: &mut File, end: u64) -> io::Result<String> {
    let start = end.saturating_sub(TAIL_SIZE);
    part.seek(SeekFrom::Start(start))?;
    let mut digest = Digest::new(Algorithm::Sha256);
    digest.update_from(part, end - start)?;
    part.seek(SeekFrom::Start(end))?;
    Ok(digest.hex())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::Validator;

    #[test]
    fn tail_of_the_resume_data_ends_at_the_recorded_size() {
        let content: Vec<u8> = (0..200).collect();
        let mut part = tempfile::tempfile().expect("a file");
        part.write_all(&content).expect("written");
        let mut state = State { bytes: 150, ..State::default() };
        state.validator = Some(Validator::ETag("\"1\"".to_owned()));
        state.tail_digest = tail_digest(&mut part, 150).expect("a digest");
        let resume = state.resume(&mut part).expect("resume data");
        assert_eq!((resume.offset, &resume.tail[..]), (150, &content[150 - Resume::TAIL..150]));
        // The file is shorter than the state says, or its last bytes differ.
        part.set_len(149).expect("a shorter file");
        assert!(state.resume(&mut part).is_none());
        part.set_len(150).expect("a longer file");
        assert!(state.resume(&mut part).is_none());
    }
}
