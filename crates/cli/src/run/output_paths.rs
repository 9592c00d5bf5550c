//! Output paths of a run: two transfers must not write the same file.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fetch_url::internal::{Descriptor, fold_name};
use fetch_url::output::FileSink;
use fetch_url::{Checksum, Error};

use super::name_folding::NameFolding;
use crate::error::usage_error;
use crate::job::FileId;

/// How a path was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reserved {
    /// This transfer is the first that reserved it, or needs no reservation.
    First,
    /// An earlier transfer of the same URL reserved it, too. With `is_finished`, that transfer has written the complete
    /// file, and has verified the checksum that this transfer requires.
    Repeated { is_finished: bool },
    /// A transfer of the same URL is writing the file now.
    Active,
}

impl Reserved {
    /// Returns `true` if an earlier transfer of the same URL has reserved the path.
    pub(super) const fn is_repeated(self) -> bool {
        matches!(self, Self::Repeated { .. } | Self::Active)
    }
}

/// The transfer that has reserved a path. A run may have millions of paths, so 32-bit hashes are stored.
#[derive(Clone, Copy)]
struct Owner {
    /// The hash of the URL.
    url: u32,
    /// While the file is written: the hash of the transfer's number. When it is complete: [`FINISHED`] and the hash of
    /// the checksum that was verified.
    state: u32,
}

/// Two hashes of a path in one number: the upper 44 bits are those of its hash without regard to case, the lower 20 bits
/// those of its hash with regard to case. In a sorted map, paths that differ only in case or Unicode form are next to each other.
type PathKey = u64;

/// The lower bits of a key. With a million paths, the probability that two different ones have the same upper bits is
/// 3 %, which matters only where case is folded. Two spellings of one path have the same lower bits in one of a million
/// cases.
const EXACT_MASK: u64 = (1 << 20) - 1;

/// The maximum number of symbolic links that are followed, as in Linux.
const MAX_LINKS: u32 = 40;

/// Marks the state of a finished file.
const FINISHED: u32 = 1 << 31;
/// The state of a file that an earlier option group has finished. The hash of a number is this value in one of 2^31 cases.
const EARLIER_GROUP: u32 = 0;

/// Device, inode and time of creation of a finished file. Inode numbers are reused, but the time of the new file differs. Some
/// file systems do not have the time.
type Identity = (u64, u64, Option<SystemTime>);

fn identity(file: &Metadata) -> Identity {
    (file.dev(), file.ino(), file.created().ok())
}

/// The files of one run.
///
/// `BTreeMap`, because a growing hash table briefly needs twice the memory.
///
/// Two paths can name one file: `f` and `./f`, a link to a directory, names that differ in case or Unicode
/// normalisation. Paths are therefore compared by device and inode of the directory plus the file name, and finished
/// files by their [`Identity`]. Some file systems, such as those of FUSE, have a different inode for each spelling of
/// a name, so spellings that differ in case are compared, too, if the directory does not distinguish them.
#[derive(Default)]
pub(super) struct OutputPaths {
    hash: RandomState,
    /// The owners of the paths.
    owners: RefCell<BTreeMap<PathKey, Owner>>,
    /// The directories that were probed because two paths in them differ only in case or Unicode form.
    name_folding: NameFolding,
    /// The directories of the paths, by the hash of their paths.
    directories: RefCell<HashMap<u64, FileId>>,
    /// The hashes of the identities of finished files.
    finished: RefCell<BTreeSet<u64>>,
    /// The states of the owners whose transfers have not ended.
    active: RefCell<HashSet<u32>>,
    /// The files that the program itself writes, such as the journal, by the paths to which their links lead.
    program_files: RefCell<HashSet<PathKey>>,
    /// The files that options read, such as the list of URLs.
    input_files: RefCell<Vec<FileId>>,
}

impl OutputPaths {
    pub(super) fn new(is_dry_run: bool) -> Self {
        Self { name_folding: NameFolding::new(is_dry_run), ..Self::default() }
    }

    /// Begins an option group, whose transfers have numbers and options of their own. The complete files of the groups
    /// before it are kept: only their URLs can be fetched again, with the options of this group.
    pub(super) fn begin_group(&self) {
        self.program_files.borrow_mut().clear();
        self.input_files.borrow_mut().clear();
        self.active.borrow_mut().clear();
        let mut owners = self.owners.borrow_mut();
        owners.retain(|_, owner| owner.state == EARLIER_GROUP || owner.state & FINISHED != 0);
        owners.values_mut().for_each(|owner| owner.state = EARLIER_GROUP);
    }

    /// Adds files that the program itself writes for other option groups, which may write to one file.
    pub(super) fn add_files_of_other_groups(&self, paths: &[PathBuf]) {
        let files = paths.iter().filter(|path| !is_special(path));
        self.program_files.borrow_mut().extend(files.map(|path| self.path_key(&followed(path))));
    }

    /// Adds a file that the program itself writes. Fails with [`fetch_url::Code::Usage`] if another option names it. Several
    /// options may name one device.
    pub(super) fn add_program_file(&self, path: &Path) -> Result<(), Error> {
        if is_special(path) {
            return Ok(());
        }
        let key = self.path_key(&followed(path));
        if self.has_program_file(key, path) {
            return Err(usage_error(format!("{} is the file of two options", path.display())));
        }
        self.program_files.borrow_mut().insert(key);
        Ok(())
    }

    /// Adds files that the options of the program read.
    pub(super) fn add_input_files(&self, files: &[FileId]) {
        self.input_files.borrow_mut().extend(files);
    }

    /// Returns `true` if the program itself writes the file. An object may be written to an open descriptor of such a file.
    pub(super) fn is_program_file(&self, path: &Path) -> bool {
        let is_known = || self.has_program_file(self.path_key(&followed(path)), path);
        !self.program_files.borrow().is_empty() && is_known() && !is_special(path)
    }

    /// Returns `true` if the program itself writes the file with this key, or one in another spelling that is the same.
    fn has_program_file(&self, key: PathKey, path: &Path) -> bool {
        let files = self.program_files.borrow();
        let is_other_spelling = || files.iter().any(|file| file & !EXACT_MASK == key & !EXACT_MASK);
        files.contains(&key) || is_other_spelling() && self.name_folding.folds_names(path)
    }

    /// Fails with [`fetch_url::Code::Usage`] if the program itself writes the file.
    pub(super) fn check_not_program_file(&self, path: &Path) -> Result<(), Error> {
        if !self.is_program_file(path) {
            return Ok(());
        }
        let detail = format!("{} is also the file of another option or the journal", path.display());
        Err(usage_error(detail).with_hint("choose another name with -o"))
    }

    /// Reserves `path` for the transfer `number` of `url`, whose object must match `checksum`. Fails with
    /// [`fetch_url::Code::Usage`] if another URL has reserved the path.
    pub(super) fn reserve(
        &self,
        path: &Path,
        number: usize,
        url: &str,
        checksum: Option<&Checksum>,
    ) -> Result<Reserved, Error> {
        let own = Owner { url: self.short_hash(url), state: self.writing_state(number) };
        self.check_not_program_file(path)?;
        let key = self.path_key(path);
        if self.is_reserved_in_other_case(path, key) {
            return Err(conflict(path));
        }
        let mut owners = self.owners.borrow_mut();
        let owner = match owners.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(own);
                self.active.borrow_mut().insert(own.state);
                return Ok(Reserved::First);
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        // Several URLs may be written to one device or FIFO.
        let is_device = fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file());
        if !is_device && owner.state != own.state && owner.url != own.url {
            return Err(conflict(path));
        }
        if owner.state & FINISHED != 0 {
            let is_verified = checksum.is_none() || owner.state == self.finished_with(checksum);
            return Ok(Reserved::Repeated { is_finished: is_verified });
        }
        if !is_device && owner.state != own.state && self.active.borrow().contains(&owner.state) {
            // The other transfer may have no checksum, or another one.
            let no_checksum = checksum.is_none();
            return Ok(if no_checksum {
                Reserved::Active
            } else {
                Reserved::Repeated { is_finished: false }
            });
        }
        // `owner.url` stays the first URL of a transfer that now uses an alternative one.
        owner.state = own.state;
        self.active.borrow_mut().insert(own.state);
        Ok(Reserved::Repeated { is_finished: false })
    }

    /// Records that the transfer `number` has ended.
    pub(super) fn end(&self, number: usize) {
        self.active.borrow_mut().remove(&self.writing_state(number));
    }

    /// Returns `true` if another transfer than `number` has reserved `path`.
    pub(super) fn is_reserved(&self, path: &Path, number: usize) -> bool {
        let key = self.path_key(path);
        let owner = self.owners.borrow().get(&key).copied();
        owner.is_some_and(|owner| owner.state != self.writing_state(number))
            || self.is_reserved_in_other_case(path, key)
    }

    /// Fails if the existing file at `path`, which would be replaced, was written by this run.
    pub(super) fn check_replaced(&self, path: &Path, file: &FileSink) -> Result<(), Error> {
        match file.replaced_file() {
            Some(file) if self.is_finished(identity(file)) => Err(conflict(path)),
            _ => Ok(()),
        }
    }

    /// Fails if the existing file at `path`, which would be replaced, is read by the options of this run, and the user
    /// has not named it as an output.
    pub(super) fn check_not_input_file(
        &self,
        path: &Path,
        file: &FileSink,
        is_named_by_user: bool,
    ) -> Result<(), Error> {
        let is_input_file = |id| self.input_files.borrow().contains(&id);
        if !is_named_by_user && file.existing_file_id().is_some_and(is_input_file) {
            let detail = format!("{} is a file that this command reads, and is not replaced", path.display());
            return Err(
                usage_error(detail).with_hint("choose another directory with --output-dir, or -o FILE")
            );
        }
        Ok(())
    }

    /// Records that this run has written the complete file at `path`, whose `checksum` was verified.
    pub(super) fn add_written(&self, path: &Path, checksum: Option<&Checksum>, file: &Metadata) {
        if let Some(owner) = self.owners.borrow_mut().get_mut(&self.path_key(path)) {
            owner.state = self.finished_with(checksum);
        }
        self.add_finished(file);
    }

    /// Records that this run has finished the file.
    pub(super) fn add_finished(&self, file: &Metadata) {
        self.finished.borrow_mut().insert(self.hash.hash_one(identity(file)));
    }

    /// Records an existing file that is kept. Returns `false` if this run has already recorded the same file under
    /// another name. For files with several hard links it always returns `true`.
    pub(super) fn add_kept(&self, file: &Metadata) -> bool {
        let is_single = file.is_file() && file.nlink() == 1;
        !is_single || self.finished.borrow_mut().insert(self.hash.hash_one(identity(file)))
    }

    fn is_finished(&self, id: Identity) -> bool {
        self.finished.borrow().contains(&self.hash.hash_one(id))
    }

    /// Returns the state of a path that the transfer `number` is writing.
    fn writing_state(&self, number: usize) -> u32 {
        self.short_hash(number) & !FINISHED
    }

    /// Returns the state of a path whose file is complete and whose `checksum` was verified.
    fn finished_with(&self, checksum: Option<&Checksum>) -> u32 {
        self.short_hash(checksum.map(ToString::to_string)) | FINISHED
    }

    fn short_hash(&self, value: impl Hash) -> u32 {
        // The lower half of the hash.
        self.hash.hash_one(value) as u32
    }

    /// Returns the key of the directory's device and inode and the file name, or of the path if the directory does not
    /// exist.
    fn path_key(&self, path: &Path) -> PathKey {
        let known = path.parent().zip(path.file_name());
        let known = known.and_then(|(parent, name)| Some((self.directory_id(parent)?, name)));
        let (id, name) = known.map_or((None, path.as_os_str()), |(id, name)| (Some(id), name));
        let exact = self.hash.hash_one((id, name));
        let folded = match name.to_str().map(fold_name) {
            Some(Cow::Owned(folded)) => self.hash.hash_one((id, OsStr::new(&*folded))),
            Some(Cow::Borrowed(_)) | None => exact,
        };
        (folded & !EXACT_MASK) | (exact & EXACT_MASK)
    }

    /// Returns `true` if a path is reserved that differs from `path` only in case, and is the same file.
    fn is_reserved_in_other_case(&self, path: &Path, key: PathKey) -> bool {
        let spellings = (key & !EXACT_MASK)..=(key | EXACT_MASK);
        let is_reserved = self.owners.borrow().range(spellings).any(|(other, _)| *other != key);
        is_reserved && self.name_folding.folds_names(path)
    }

    fn directory_id(&self, directory: &Path) -> Option<FileId> {
        let key = self.hash.hash_one(directory);
        let known = self.directories.borrow().get(&key).copied();
        known.or_else(|| {
            let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            let metadata = fs::metadata(directory).ok()?;
            let id = (metadata.dev(), metadata.ino());
            self.directories.borrow_mut().insert(key, id);
            Some(id)
        })
    }
}

/// Returns `true` for a device, a FIFO and an open descriptor, which several transfers may write to. The file behind a
/// descriptor may be a regular one.
fn is_special(path: &Path) -> bool {
    Descriptor::named_by(path).is_some() || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

/// Returns the path to which symbolic links lead. The file there need not exist.
fn followed(path: &Path) -> Cow<'_, Path> {
    let mut path = Cow::Borrowed(path);
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target).into();
    }
    path
}

/// Returns the error for a file that two URLs of the run would write.
fn conflict(path: &Path) -> Error {
    let detail = format!("another URL of this run is written to {}", path.display());
    usage_error(detail).with_hint("name each file with -o, or give each URL its own directory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spelling_of_a_path_is_refused_where_the_directory_folds_case() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        let paths =
            OutputPaths { name_folding: NameFolding::of(directory.path(), true), ..OutputPaths::default() };
        let reserve = |number, name: &str, url| paths.reserve(&path(name), number, url, None);
        for (number, name) in ["readme", "other", "\u{e4}"].into_iter().enumerate() {
            assert_eq!(reserve(number, name, name).expect("a path"), Reserved::First);
        }
        for name in ["README", "ReadMe", "Other", "\u{c4}"] {
            let error = reserve(9, name, name).expect_err(name);
            assert_eq!(error.code(), fetch_url::Code::Usage, "{name}");
        }
        assert!(reserve(4, "readme", "readme").expect("the same URL").is_repeated());
        assert!(paths.is_reserved(&path("README"), 9) && !paths.is_reserved(&path("README2"), 9));
    }

    #[test]
    fn path_of_the_same_url_is_active_until_its_transfer_ends() {
        let directory = tempfile::tempdir().expect("a directory");
        let (paths, path) = (OutputPaths::default(), directory.path().join("f"));
        let reserve = |number| paths.reserve(&path, number, "u", None).expect("a path");
        assert_eq!(reserve(1), Reserved::First);
        assert_eq!(reserve(1), Reserved::Repeated { is_finished: false }, "another attempt of the transfer");
        assert_eq!(reserve(2), Reserved::Active);
        paths.end(1);
        assert_eq!(reserve(2), Reserved::Repeated { is_finished: false }, "the first one has failed");
        assert_eq!(reserve(3), Reserved::Active);
        paths.add_written(&path, None, &fs::metadata(directory.path()).expect("metadata"));
        paths.end(2);
        assert_eq!(reserve(3), Reserved::Repeated { is_finished: true });
    }

    #[test]
    fn transfer_with_a_checksum_is_not_skipped_because_another_one_is_active() {
        let directory = tempfile::tempdir().expect("a directory");
        let (paths, path) = (OutputPaths::default(), directory.path().join("f"));
        assert_eq!(paths.reserve(&path, 1, "u", None).expect("a path"), Reserved::First);
        let checksum = "md5:d41d8cd98f00b204e9800998ecf8427e".parse().expect("a checksum");
        let reserved = paths.reserve(&path, 2, "u", Some(&checksum)).expect("a path");
        assert_eq!(reserved, Reserved::Repeated { is_finished: false });
    }

    #[test]
    fn path_belongs_to_the_first_url_of_a_transfer_that_used_an_alternative() {
        let directory = tempfile::tempdir().expect("a directory");
        let (paths, path) = (OutputPaths::default(), directory.path().join("f"));
        let reserve = |number, url| paths.reserve(&path, number, url, None);
        assert_eq!(reserve(1, "first").expect("a path"), Reserved::First);
        paths.end(1);
        assert!(reserve(1, "alternative").expect("the same transfer").is_repeated());
        paths.add_written(&path, None, &fs::metadata(directory.path()).expect("metadata"));
        paths.end(1);
        assert_eq!(reserve(2, "first").expect("a path"), Reserved::Repeated { is_finished: true });
    }

    #[test]
    fn file_with_the_inode_of_a_finished_file_is_another_one_if_it_was_created_later() {
        let paths = OutputPaths::default();
        let directory = tempfile::tempdir().expect("a directory");
        let file = fs::metadata(directory.path()).expect("metadata");
        paths.add_finished(&file);
        let (device, inode, created) = identity(&file);
        assert!(paths.is_finished((device, inode, created)));
        let later = created.unwrap_or(SystemTime::UNIX_EPOCH) + std::time::Duration::from_millis(1);
        assert!(!paths.is_finished((device, inode, Some(later))));
    }

    #[test]
    fn dry_run_creates_no_file_to_find_out_whether_a_directory_folds_case() {
        let directory = tempfile::tempdir().expect("a directory");
        let paths = OutputPaths::new(true);
        let before = fs::metadata(directory.path()).expect("its times").modified().expect("a time");
        for (number, name) in ["readme", "README"].into_iter().enumerate() {
            let reserved = paths.reserve(&directory.path().join(name), number, name, None);
            assert_eq!(reserved.expect("a path"), Reserved::First, "{name}");
        }
        let after = fs::metadata(directory.path()).expect("its times").modified().expect("a time");
        assert_eq!(after, before);
    }

    #[test]
    fn spellings_are_different_files_where_the_directory_distinguishes_case() {
        let directory = tempfile::tempdir().expect("a directory");
        let paths =
            OutputPaths { name_folding: NameFolding::of(directory.path(), false), ..OutputPaths::default() };
        for (number, name) in ["readme", "README", "ReadMe"].into_iter().enumerate() {
            let reserved = paths.reserve(&directory.path().join(name), number, name, None);
            assert_eq!(reserved.expect("a path"), Reserved::First, "{name}");
        }
        assert!(paths.reserve(&directory.path().join("readme"), 9, "another URL", None).is_err());
    }
}
