//! The directory of the cache: its lock, its size, and its files. All functions may block.
//!
//! An object is two files in `objects`: `KEY.entry` describes it and names `ID.body`, which has its bytes. A body that
//! is being written is locked, and an entry gets its name when the body is complete, so a process that is killed at any
//! moment leaves at most a body that no entry names. The next process that needs its place removes it.
//!
//! The file `size` has the number of bytes of all files, and its lock is held while the number and the files change. It
//! is empty while they do, so after a kill the files are counted again.

use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use fetch_url::{Code, Error, Phase};

use super::blocks::BlockFile;
use super::contents::Contents;
use super::entry::{Entry, MAX_SIZE};
use super::files::{open_regular, open_to_read, private, remove_file, size_of};
use super::writer::BodyWriter;

/// The file that marks the directory, for backup programs too (<https://bford.info/cachedir/>).
const TAG_NAME: &str = "CACHEDIR.TAG";
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# The cache of fetch-url serve, format 1\n";
/// The permission bits with which other users could write into the directory.
const OTHERS_MAY_WRITE: u32 = 0o022;

/// The directory of the cache.
#[derive(Debug)]
pub(crate) struct Store {
    objects: PathBuf,
    max_size: u64,
    /// The file `size`. The mutex excludes the threads of this process, the lock of the file other processes.
    size: Mutex<File>,
    ids: RandomState,
}

impl Store {
    /// Opens the cache in `directory`, which is created if it is missing.
    ///
    /// # Errors
    /// `Code::Usage` if it is no directory, has other files than those of a cache, may be written by other users, or
    /// cannot be written.
    pub(crate) fn open(directory: &Path, max_size: u64) -> Result<Arc<Self>, Error> {
        let failed = |why: String| {
            Error::new(Code::Usage, Phase::Plan, format!("the cache {}: {why}", directory.display()))
        };
        Self::try_open(directory, max_size).map_err(|error| {
            failed(error.to_string())
                .with_hint("--cache DIR needs an empty directory or one that it has made")
        })
    }

    fn try_open(directory: &Path, max_size: u64) -> io::Result<Arc<Self>> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        if fs::metadata(directory)?.mode() & OTHERS_MAY_WRITE != 0 {
            return Err(io::Error::other("other users may write there"));
        }
        check_tag(directory)?;
        let objects = directory.join("objects");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&objects)?;
        let size = open_regular(&directory.join("size"), private().create(true).truncate(false))?;
        let this = Self { objects, max_size, size: Mutex::new(size), ids: RandomState::new() };
        this.with_size(|size| {
            // Written even if nothing changes: a directory that cannot be written fails at the start.
            *size = this.make_space(0, 0)?;
            Ok(())
        })?;
        Ok(Arc::new(this))
    }

    /// Calls `change` with the number of bytes of all files, under the lock.
    fn with_size<T>(&self, change: impl FnOnce(&mut u64) -> io::Result<T>) -> io::Result<T> {
        let mut file = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        file.lock()?;
        let result = (|| {
            let mut text = String::new();
            file.seek(SeekFrom::Start(0))?;
            (&*file).take(64).read_to_string(&mut text)?;
            // An unreadable number is too large, so the files are counted.
            let mut size = text.trim().parse().unwrap_or(u64::MAX);
            file.set_len(0)?;
            let result = change(&mut size);
            file.seek(SeekFrom::Start(0))?;
            file.write_all(format!("{size}\n").as_bytes())?;
            result
        })();
        file.unlock()?;
        result
    }

    /// Reserves `bytes` more and calls `grow`, which makes a file larger, under the lock. Objects that were not used for
    /// the longest time are removed if there is no space.
    ///
    /// # Errors
    /// `StorageFull` if the objects that are being written leave no space; the errors of `grow`.
    pub(super) fn reserve<T>(&self, bytes: u64, grow: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.with_size(|size| {
            if size.checked_add(bytes).is_none_or(|sum| sum > self.max_size) {
                // A tenth is freed at once, so that not each object needs a look at all files.
                *size = self.make_space(bytes, self.max_size / 10)?;
            }
            let grown = grow()?;
            *size += bytes;
            Ok(grown)
        })
    }

    /// Returns `true` if the cache can hold a file of `bytes` after all others were removed.
    pub(super) const fn can_hold(&self, bytes: u64) -> bool {
        bytes <= self.max_size
    }

    /// Lowers the number of bytes after files were removed.
    pub(super) fn release(&self, bytes: u64) {
        // A number that stays too large is corrected when the cache is full.
        let _ = self.with_size(|size| {
            *size = size.saturating_sub(bytes);
            Ok(())
        });
    }

    /// Removes the remains of killed processes, and objects until there is space for `bytes`, and if any is removed for
    /// `spare` more. Returns the number of bytes of all files.
    fn make_space(&self, bytes: u64, spare: u64) -> io::Result<u64> {
        let mut contents = Contents::read(&self.objects)?;
        let Some(most) = self.max_size.checked_sub(bytes) else {
            return Err(io::ErrorKind::StorageFull.into());
        };
        if contents.size() > most {
            contents.shrink(most.saturating_sub(spare));
        }
        if contents.size() > most { Err(io::ErrorKind::StorageFull.into()) } else { Ok(contents.size()) }
    }

    /// Returns the path of a file below `objects`.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.objects.join(name)
    }

    /// Returns a name for a file that no other file has, with overwhelming probability; it is created exclusively.
    pub(super) fn new_id(&self) -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.ids.hash_one((now, std::process::id(), std::thread::current().id()))
    }

    /// Opens the object for `key`. Returns `None` if there is none.
    ///
    /// # Errors
    /// `InvalidData` if it is damaged; it is removed then.
    pub(super) fn find(&self, key: &str) -> io::Result<Option<(Entry, BlockFile)>> {
        let path = self.path(&entry_name(key));
        let find = || -> io::Result<(Entry, BlockFile)> {
            let mut file = open_to_read(&path)?;
            let entry = read_entry(&mut file)?;
            let body = open_to_read(&self.path(&entry.body))?;
            // The time of the last use. A cache that cannot be changed now is used as it is.
            let _ = file.set_modified(SystemTime::now());
            let blocks = BlockFile::open(body, &entry)?;
            Ok((entry, blocks))
        };
        match find() {
            Ok((entry, _)) if entry.key != key => Ok(None),
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) {
                    self.remove(key);
                }
                Err(error)
            }
        }
    }

    /// Begins to write an object. `announced` is its number of bytes, if it is known.
    ///
    /// # Errors
    /// `StorageFull` if it is larger than the cache; errors of the file system.
    pub(super) fn write(self: &Arc<Self>, announced: Option<u64>) -> io::Result<BodyWriter> {
        BodyWriter::create(self.clone(), announced)
    }

    /// Stores `entry`, whose body is complete and whose bytes are reserved. An earlier object of the key is removed.
    pub(super) fn publish(&self, entry: &Entry) -> io::Result<()> {
        let bytes = entry.to_bytes();
        if bytes.len() > MAX_SIZE {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the header is too large"));
        }
        let path = self.path(&entry_name(&entry.key));
        self.with_size(|size| {
            let needed = bytes.len() as u64;
            if size.checked_add(needed).is_none_or(|sum| sum > self.max_size) {
                *size = self.make_space(needed, 0)?;
            }
            let earlier = open_to_read(&path).and_then(|mut file| read_entry(&mut file)).ok();
            let replaced = size_of(&path);
            let temporary = self.path(&format!("{}.new", entry_name(&entry.key)));
            let written = open_regular(&temporary, private().create(true).truncate(true))
                .and_then(|mut file| file.write_all(&bytes))
                .and_then(|()| fs::rename(&temporary, &path));
            if let Err(error) = written {
                let _ = fs::remove_file(&temporary);
                return Err(error);
            }
            *size = (*size + needed).saturating_sub(replaced);
            if let Some(earlier) = earlier.filter(|earlier| earlier.body != entry.body) {
                *size = size.saturating_sub(remove_file(&self.path(&earlier.body)));
            }
            Ok(())
        })
    }

    /// Removes the object for `key`, such as one that its server no longer has.
    pub(super) fn remove(&self, key: &str) {
        let path = self.path(&entry_name(key));
        // A failure leaves an object that is compared with its server before it is used.
        let _ = self.with_size(|size| {
            let body = open_to_read(&path).and_then(|mut file| read_entry(&mut file)).ok();
            *size = size.saturating_sub(remove_file(&path));
            match body {
                Some(entry) => *size = size.saturating_sub(remove_file(&self.path(&entry.body))),
                // No entry names its body now.
                None => *size = self.make_space(0, 0)?,
            }
            Ok(())
        });
    }
}

/// Checks the tag of a cache, or writes it into an empty directory.
fn check_tag(directory: &Path) -> io::Result<()> {
    let path = directory.join(TAG_NAME);
    let mut tag = Vec::new();
    let limit = TAG.len() as u64 + 1;
    match open_to_read(&path).and_then(|file| file.take(limit).read_to_end(&mut tag)) {
        Ok(_) if tag == TAG.as_bytes() => return Ok(()),
        Ok(_) => return Err(io::Error::other("CACHEDIR.TAG is not that of this cache")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // Two processes may begin at once; the name of the tag appears with its content.
    let is_ours = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(TAG_NAME.as_bytes());
    for file in fs::read_dir(directory)? {
        if !is_ours(&file?.file_name()) && !path.exists() {
            return Err(io::Error::other("the directory has other files"));
        }
    }
    let temporary = directory.join(format!("{TAG_NAME}.{}", std::process::id()));
    open_regular(&temporary, private().create(true).truncate(true))?.write_all(TAG.as_bytes())?;
    fs::rename(&temporary, &path)
}

fn read_entry(file: &mut File) -> io::Result<Entry> {
    let mut bytes = Vec::new();
    Read::by_ref(file).take(MAX_SIZE as u64).read_to_end(&mut bytes)?;
    Entry::from_bytes(&bytes)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a damaged entry of the cache"))
}

/// Returns the name of the entry for `key`. Keys with one name replace each other: the entry has the whole key.
fn entry_name(key: &str) -> String {
    let hash = |salt: u8| {
        // Its keys are constant, unlike those of `RandomState`.
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(key.as_bytes());
        hasher.finish()
    };
    format!("{:016x}{:016x}.entry", hash(0), hash(1))
}
