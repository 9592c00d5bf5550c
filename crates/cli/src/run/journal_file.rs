//! The journal of a run. It shows which files need not be fetched again.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fetch_url::mirror::{FileEntry, Journal};
use fetch_url::response::Validator;
use fetch_url::url::{Url, mask_password};
use fetch_url::{Error, Meta};
use tokio::sync::Notify;

use super::content_coding::has_content_coding;
use super::result_log::{Disposition, ResultLog, TransferResult};
use crate::job::Transfer;
use crate::report::TransferReport;

/// Age in seconds from which a time in a listing is reliable: two changes within a minute may have the same time.
const MIN_RELIABLE_AGE: i64 = 120;
/// Time zones differ from UTC by a multiple of this many seconds.
const ZONE_STEP: i64 = 15 * 60;
/// The maximum difference between a time in any time zone and the same time in UTC, with daylight saving time.
const MAX_ZONE_OFFSET: i64 = 15 * 60 * 60;
/// The number of seconds by which rounding to minutes may change a time.
const ROUNDING: i64 = 60;
const DAY: i64 = 24 * 60 * 60;
/// Nothing is known about the version; the entry only records that this program created the file.
const UNKNOWN_VERSION: &str = "?";

/// The journal of a batch or mirror.
pub(crate) struct JournalFile {
    /// Downloads continue if it cannot be written.
    journal: RefCell<Journal>,
    /// Notified when the journal has new lines.
    new_lines: Notify,
}

impl ResultLog for JournalFile {
    async fn check(&self, _transfer: &Transfer) -> Result<(), Error> {
        Ok(())
    }

    /// Records a written file of a successful transfer. A skipped file is not recorded: the user may have created it.
    fn add(&self, result: &TransferResult<'_>) -> Result<Disposition, Error> {
        let (Some((path, file)), None) = (result.file, result.error) else { return Ok(Disposition::Final) };
        let failed = self.add_file(result.transfer, path, file, result.report);
        self.new_lines.notify_one();
        failed.map_or(Ok(Disposition::Final), Err)
    }

    async fn store(&self, note_error: impl Fn(Error)) {
        loop {
            self.new_lines.notified().await;
            if let Some(error) = self.flush() {
                note_error(error);
            }
        }
    }

    /// Deletes the journal if all files are complete, otherwise syncs it to disk.
    async fn close(&self, is_complete: bool) -> Option<Error> {
        if is_complete {
            self.journal.borrow().remove();
            return None;
        }
        let error = self.flush();
        self.journal.borrow_mut().sync();
        error
    }
}

impl JournalFile {
    pub(crate) fn new(journal: Journal) -> Self {
        Self { journal: RefCell::new(journal), new_lines: Notify::new() }
    }

    /// Returns the metadata of the file if it exists and the journal shows, without a request, that it is current.
    pub(super) fn unchanged_file(&self, transfer: &Transfer, path: &Path) -> Option<Metadata> {
        let version = transfer.entry.as_deref().map_or(Some(String::new()), listed_version);
        let (file, version) = (regular_file(path)?, version?);
        let is_unchanged =
            self.journal.borrow().has(&name(transfer, path), &source(transfer), &version, &file);
        is_unchanged.then_some(file)
    }

    /// Returns `true` if an earlier run fetched the file, but metadata must be requested to detect a change, because
    /// the listing is not enough: it states no modification time, or another one that can mean the same time, or the
    /// fetched file was perhaps not the listed version.
    pub(super) fn needs_metadata(&self, transfer: &Transfer, path: &Path) -> bool {
        let Some(entry) = transfer.entry.as_deref() else { return false };
        let Some(file) = regular_file(path) else { return false };
        let (name, source, journal) = (name(transfer, path), source(transfer), self.journal.borrow());
        let may_be_current = match listed_version(entry) {
            Some(version) => is_like_listed(&file, entry) && !journal.has(&name, &source, &version, &file),
            None => true,
        };
        may_be_current && journal.contains_source(&name, &source, &file)
            || journal.contains_source(&name, &unlisted_source(transfer), &file)
    }

    /// Returns `true` if the metadata `meta` shows that the file is current. If the file is also the listed version,
    /// the journal records that, so that the next run need not request the metadata.
    pub(super) fn is_same(&self, transfer: &Transfer, path: &Path, meta: &Meta) -> bool {
        let Some(file) = regular_file(path).filter(|file| !has_other_length(file, meta)) else {
            return false;
        };
        let (name, sources) = (name(transfer, path), [source(transfer), unlisted_source(transfer).into()]);
        let listed = transfer.entry.as_deref().filter(|entry| is_listed_version(entry, meta, file.len()));
        let mut journal = self.journal.borrow_mut();
        let is_recorded = possible_versions(meta, file.len())
            .iter()
            .any(|version| sources.iter().any(|source| journal.has(&name, source, version, &file)));
        let is_listed_differently = || {
            listed.is_some_and(|entry| is_like_listed(&file, entry) && has_time_and_size(&file, meta, entry))
                && journal.contains_source(&name, &sources[0], &file)
        };
        // Neither the file nor the present object has a time or entity tag, but their lengths and the listing are the same.
        let is_still_unproven = || {
            let has_length = meta.head.size == Some(file.len()) && version_of(meta, None).is_none();
            let has_listed_time = transfer
                .entry
                .as_deref()
                .is_some_and(|entry| entry.modified.is_some() && !is_recent(entry, meta));
            has_length && has_listed_time && journal.has(&name, &sources[1], UNKNOWN_VERSION, &file)
        };
        let is_same = is_recorded || is_listed_differently() || is_still_unproven();
        let version = listed.and_then(listed_version).filter(|_| is_same);
        if let Some(version) = version.filter(|version| !journal.has(&name, &sources[0], version, &file)) {
            // The next run requests the metadata again if this line cannot be written.
            let _ = journal.add(&name, &sources[0], &version, &file);
            self.new_lines.notify_one();
        }
        is_same
    }

    /// Returns `true` if earlier runs have recorded files.
    pub(super) fn has_earlier_entries(&self) -> bool {
        self.journal.borrow().has_earlier_entries()
    }

    /// Records the finished file `file`. Returns the error of the first write that fails.
    fn add_file(
        &self,
        transfer: &Transfer,
        path: &Path,
        file: &Metadata,
        report: &TransferReport,
    ) -> Option<Error> {
        let has_listed_size = report.listed_size.is_none_or(|size| size == file.len());
        let meta = report.meta.as_deref();
        let (source, version) = match transfer.entry.as_deref() {
            None => (source(transfer), String::new()),
            Some(entry) => {
                let is_listed = has_listed_size
                    && meta.is_none_or(|meta| may_be_listed(entry, meta) && !is_unproven(entry, meta, file));
                let version = listed_version(entry).filter(|_| is_listed);
                let source = if is_listed { source(transfer) } else { unlisted_source(transfer).into() };
                let version = version.or_else(|| version_of(meta?, meta?.head.size));
                (source, version.unwrap_or_else(|| UNKNOWN_VERSION.to_owned()))
            }
        };
        self.journal.borrow_mut().add(&name(transfer, path), &source, &version, file).err()
    }

    /// Writes the lines of the finished files. Returns the error of the first write that fails.
    fn flush(&self) -> Option<Error> {
        self.journal.borrow_mut().flush().err()
    }

    /// Returns the journal.
    pub(super) const fn journal(&self) -> &RefCell<Journal> {
        &self.journal
    }
}

/// Returns the metadata of `path` if it is a regular file.
fn regular_file(path: &Path) -> Option<Metadata> {
    fs::symlink_metadata(path).ok().filter(Metadata::is_file)
}

/// Returns the name of a file in the journal.
fn name<'t>(transfer: &'t Transfer, path: &'t Path) -> Cow<'t, str> {
    transfer.entry.as_ref().map_or_else(|| path.to_string_lossy(), |entry| entry.path.as_str().into())
}

/// Returns the source of a file: its URL and required checksum.
fn source(transfer: &Transfer) -> Cow<'_, str> {
    match (&transfer.entry, &transfer.checksum) {
        // The URL of the transfer is that of its entry.
        (Some(entry), _) if !has_password(&entry.url) => Cow::Borrowed(&transfer.url),
        (Some(entry), _) => entry.url.without_password().to_string().into(),
        (None, Some(checksum)) => format!("{checksum} {}", mask_password(&transfer.url)).into(),
        (None, None) => mask_password(&transfer.url).into(),
    }
}

fn has_password(url: &Url<'_>) -> bool {
    url.user_info().is_some_and(|user_info| user_info.password().is_some())
}

/// Returns the source of a file that is not the listed version, such as an error page with status 200 or an old version
/// from a cache. The source includes the size and time in the listing, so the file is fetched again when they change.
fn unlisted_source(transfer: &Transfer) -> String {
    let listed = transfer.entry.as_deref().and_then(listed_version).unwrap_or_default();
    format!("{} {listed}", source(transfer))
}

/// Returns the URL in the source of a file of a mirror, which may be followed by the listed version.
pub(super) fn url_of_source(source: &str) -> &str {
    source.split(' ').next().unwrap_or_default()
}

/// Returns size and modification time from the listing, from which a change is detected, or `None` if the listing has
/// no time, or may have those of a link instead of its target. An article never changes, but its number may mean another
/// article: its Message-ID replaces the time.
fn listed_version(entry: &FileEntry) -> Option<String> {
    if entry.uncertain_kind.is_some() {
        return None;
    }
    let rest = match (entry.content_id, entry.modified) {
        (Some(id), _) => format!("article {id:016x}"),
        (None, Some(modified)) if entry.modified_nanoseconds > 0 => {
            format!("{modified}.{:09}", entry.modified_nanoseconds)
        }
        (None, Some(modified)) => modified.to_string(),
        (None, None) => return None,
    };
    Some(match entry.size {
        Some(size) => format!("{size} {rest}"),
        None => format!("- {rest}"),
    })
}

/// Returns `true` if the file cannot be the object that `meta` describes, because its length is not the size that the
/// server states, for example because the object was growing during the transfer. Only sizes of HTTP and FTP are
/// compared; those of other protocols may be rounded.
fn has_other_length(file: &Metadata, meta: &Meta) -> bool {
    let is_exact = matches!(meta.url, Url::Http(_) | Url::Ftp(_));
    let size = meta.head.size.filter(|_| is_exact);
    size.is_some_and(|size| size != file.len()) && !has_content_coding(meta)
}

/// Returns the texts by which the journal may have recorded the version that `meta` describes, for a file of
/// `file_size` bytes. If the version has a strong entity tag, the text may have a size although `meta` has none, or
/// the other way round: the responses to GET and to HEAD may differ in that.
fn possible_versions(meta: &Meta, file_size: u64) -> Vec<String> {
    let size = meta.head.size;
    let other_size = if size.is_none() { Some(file_size) } else { None };
    let has_strong_tag = matches!(meta.validator, Some(Validator::ETag(_)));
    let sizes = [Some(size), has_strong_tag.then_some(other_size)];
    sizes.into_iter().flatten().filter_map(|size| version_of(meta, size)).collect()
}

/// Returns `size`, and modification time and validator from the metadata of the object, or `None` if it has neither time
/// nor validator. The Message-ID of an article replaces them.
fn version_of(meta: &Meta, size: Option<u64>) -> Option<String> {
    let size = size.map_or_else(|| "-".to_owned(), |size| size.to_string());
    if let Some(id) = meta.content_id {
        return Some(format!("{size} article {id:016x}"));
    }
    let is_known = meta.validator.is_some() || meta.head.modified.is_some();
    let validator = meta.validator.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    is_known.then(|| format!("{size} {} {validator}", meta.head.modified.unwrap_or_default()))
}

/// Returns `true` if the metadata of the object show that a file of `file_size` bytes is the version in the listing.
fn is_listed_version(entry: &FileEntry, meta: &Meta, file_size: u64) -> bool {
    let has_listed_size = entry.size.is_none_or(|size| size == file_size);
    has_listed_size && meta.head.modified.is_some() && may_be_listed(entry, meta)
}

/// Returns `false` if the metadata of the object show that it is not the version in the listing, or may be a later one:
/// the number of an article may mean another one since the group was listed.
fn may_be_listed(entry: &FileEntry, meta: &Meta) -> bool {
    let ids = entry.content_id.zip(meta.content_id);
    ids.is_none_or(|(listed, id)| listed == id) && has_listed_time(entry, meta) && !is_recent(entry, meta)
}

/// Returns `true` if nothing shows that a file is the object in the listing: the response has neither a modification
/// time nor an entity tag, and the listing no exact size. It may be an error page with status 200.
fn is_unproven(entry: &FileEntry, meta: &Meta, file: &Metadata) -> bool {
    let has_version = meta.head.modified.is_some() || meta.validator.is_some();
    let is_http = matches!(entry.url, Url::Http(_));
    is_http && entry.modified.is_some() && !has_version && entry.size != Some(file.len())
}

/// Returns `true` if a fetched file, whose modification time is that of the object, may be the version in the listing
/// although the listed time has changed: `ls` prints the year instead of the time when a file is six months old, and
/// local times move with daylight saving time. The two times must be in the same minute, apart from the time zone. So
/// most changed files are fetched without a request for their metadata.
fn is_like_listed(file: &Metadata, entry: &FileEntry) -> bool {
    let has_listed_size = entry.size.is_none_or(|size| size == file.len());
    let listed = entry.modified.filter(|_| has_listed_size && has_comparable_time(entry));
    let seconds = listed.and_then(|listed| seconds_after_listed(listed, file.mtime()));
    seconds.is_some_and(|seconds| seconds < ROUNDING)
}

/// Returns `true` if the file has the modification time and the size of the object. The listing states the size if the
/// server does not.
fn has_time_and_size(file: &Metadata, meta: &Meta, entry: &FileEntry) -> bool {
    meta.head.modified == Some(file.mtime()) && meta.head.size.or(entry.size) == Some(file.len())
}

/// Returns `true` unless the modification times of object and entry show that they are different versions. Listings
/// round times to minutes.
fn has_listed_time(entry: &FileEntry, meta: &Meta) -> bool {
    let times = entry.modified.zip(meta.head.modified).filter(|_| has_comparable_time(entry));
    let Some((listed, modified)) = times else { return true };
    let seconds = seconds_after_listed(listed, modified);
    seconds.is_some_and(|seconds| seconds <= ROUNDING || seconds >= ZONE_STEP - ROUNDING)
}

/// Returns `true` if the time in the listing is that of the object. Times of links are those of the links or of their
/// targets.
const fn has_comparable_time(entry: &FileEntry) -> bool {
    matches!(entry.url, Url::Http(_) | Url::Ftp(_)) && entry.uncertain_kind.is_none()
}

/// Returns by how many seconds `modified` is later than the listed time, modulo [`ZONE_STEP`], because the listed time
/// may be in any time zone. Returns 0 for a listed midnight, which may be any time of that day. Returns `None` if the
/// times differ by more than [`MAX_ZONE_OFFSET`].
fn seconds_after_listed(listed: i64, modified: i64) -> Option<i64> {
    let difference = modified.saturating_sub(listed);
    if listed % DAY == 0 {
        return (-MAX_ZONE_OFFSET..DAY + MAX_ZONE_OFFSET).contains(&difference).then_some(0);
    }
    let is_zone_offset = (-MAX_ZONE_OFFSET..=MAX_ZONE_OFFSET).contains(&difference);
    is_zone_offset.then(|| difference.rem_euclid(ZONE_STEP))
}

/// Returns `true` if the object was modified so recently that a second change within the same minute would not show in
/// a listing whose times are rounded to minutes, or one on the same day in a listing of days. If the server states no
/// time, the listed one decides, which may be in any time zone.
fn is_recent(entry: &FileEntry, meta: &Meta) -> bool {
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|now| i64::try_from(now.as_secs()).ok());
    // The times of local files are compared to the second, and those of articles are not compared.
    let may_be_rounded = !matches!(entry.url, Url::File(_)) && entry.content_id.is_none();
    let is_rounded = may_be_rounded && entry.modified.is_some_and(|modified| modified % 60 == 0);
    let Some(now) = now.filter(|_| is_rounded) else { return false };
    let age = match meta.head.modified {
        Some(modified) => Some(now - modified),
        None => entry.modified.and_then(|listed| seconds_after_listed(listed, now)),
    };
    // Midnight may stand for any time of the day.
    let is_day = entry.modified.is_some_and(|modified| modified % DAY == 0);
    age.is_some_and(|age| age < if is_day { DAY } else { MIN_RELIABLE_AGE })
}
