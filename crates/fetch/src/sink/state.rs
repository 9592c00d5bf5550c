//! What is known of a `.part` beside it, in `.part.json`: whose it is, how much of it is sound, and
//! how to tell that the object is still the same.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use serde_json::{Value, json};

use super::digest::{Algorithm, Digest};
use super::private::write_whole;
use crate::{Resume, Validator};

/// So much of the end of a `.part` is digested, to notice a foreign hand.
const TAIL: u64 = 64 * 1024;
/// No state is longer: a URL has at most 64 KiB.
const MOST: u64 = 256 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The URL, without its password.
    pub(super) url: String,
    /// The size of the whole object.
    pub(super) size: Option<u64>,
    pub(super) validator: Option<Validator>,
    /// The resource that the bytes came from in the end.
    pub(super) place: Option<String>,
    /// How many bytes of the `.part` are sound.
    pub(super) bytes: u64,
    /// SHA-256 of the last 64 KiB of them.
    pub(super) tail: String,
    /// The permissions that the finished file gets.
    pub(super) mode: u32,
}

impl State {
    /// What an earlier run left; nothing when it cannot be read or understood.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let value: Value = serde_json::from_slice(&read_small(path).ok()?).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        Some(Self {
            url: text("url")?,
            size: value["size"].as_u64(),
            validator: text("validator").and_then(|text| Validator::from_text(&text)),
            place: text("place"),
            bytes: value["octets"].as_u64()?,
            tail: text("tail_sha256")?,
            mode: u32::try_from(value["mode"].as_u64()?).ok()? & 0o777,
        })
    }

    /// Writes it whole or not at all.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let value = json!({
            "url": self.url,
            "size": self.size,
            "validator": self.validator.as_ref().map(ToString::to_string),
            "place": self.place,
            "octets": self.bytes,
            "tail_sha256": self.tail,
            "mode": self.mode,
        });
        write_whole(path, format!("{value:#}\n").as_bytes())
    }

    /// What can be asked for now, when `part` still is what this says.
    pub(super) fn resume(&self, part: &mut File) -> Option<Resume> {
        let validator = self.validator.clone()?;
        let is_sound = self.bytes > 0
            && part.metadata().ok()?.len() >= self.bytes
            && tail(part, self.bytes).ok()? == self.tail;
        let place = self.place.clone();
        let tail = if is_sound { last_bytes(part, self.bytes).ok()? } else { Vec::new() };
        is_sound.then_some(Resume { offset: self.bytes, size: self.size, validator, resource: place, tail })
    }
}

/// The last few bytes before `end`.
fn last_bytes(part: &mut File, end: u64) -> io::Result<Vec<u8>> {
    let start = end.saturating_sub(Resume::TAIL as u64);
    part.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    part.take(end - start).read_to_end(&mut bytes)?;
    part.seek(SeekFrom::Start(end))?;
    Ok(bytes)
}

/// The bytes of a small regular file: whatever else has the name is not waited for.
fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    if file.metadata()?.is_file() {
        file.take(MOST).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The digest of the last bytes before `end`.
pub(super) fn tail(part: &mut File, end: u64) -> io::Result<String> {
    let start = end.saturating_sub(TAIL);
    part.seek(SeekFrom::Start(start))?;
    let mut digest = Digest::new(Algorithm::Sha256);
    digest.update_from(part, end - start)?;
    part.seek(SeekFrom::Start(end))?;
    Ok(digest.hex())
}
