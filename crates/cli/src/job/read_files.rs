//! The files that the options of a command read: an object whose name a server or a document has chosen does not replace
//! them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fetch_url::Error;

use super::{environment, form, login};
use crate::error::usage_error;
use crate::flags::{FetchFlags, HttpFlags};

/// Device and inode of a file.
pub(crate) type FileId = (u64, u64);

/// Returns the files that exist, and are read by the options of `flags`.
pub(super) fn read_files(flags: &FetchFlags) -> Vec<FileId> {
    let config = flags.config.iter().cloned().chain(environment::config());
    let netrc = login::netrc(&flags.login).ok().flatten().map(|(path, _)| path);
    let (login, tls) = (&flags.login, &flags.tls);
    let options = [
        &flags.batch.input_file,
        &flags.http.etag_compare,
        &login.password_file,
        &login.askpass,
        &tls.cacert,
        &tls.cert,
        &tls.key,
    ];
    let options = options.into_iter().flatten().chain(&flags.http.upload_file).cloned();
    let texts = flags.batch.metalink.iter().chain(&flags.http.cookie);
    let texts = texts.chain(&tls.pinnedpubkey).map(PathBuf::from);
    let fields = form::files(&flags.http).into_iter().map(PathBuf::from);
    let sent = sent_files(&flags.http).into_iter().chain(format_file(flags)).map(PathBuf::from);
    config
        .chain(netrc)
        .chain(options)
        .chain(texts)
        .chain(sent)
        .chain(fields)
        .filter_map(|path| file_id(&path))
        .collect()
}

/// Fails if an option would write a file that another option reads. The cookies of `-b` and the entity tag of
/// `--etag-compare` may be updated by this run.
pub(super) fn check_written(flags: &FetchFlags, written: &[PathBuf], read: &[FileId]) -> Result<(), Error> {
    let http = &flags.http;
    let is_updated = |path: &PathBuf, id: FileId| {
        let has_id = |other: &Path| file_id(other) == Some(id);
        let is_jar = http.cookie_jar.as_ref() == Some(path);
        let is_tag = http.etag_save.as_ref() == Some(path);
        is_jar && http.cookie.iter().any(|file| has_id(file.as_ref()))
            || is_tag && http.etag_compare.as_deref().is_some_and(has_id)
    };
    let is_read =
        |path: &&PathBuf| file_id(path).is_some_and(|id| read.contains(&id) && !is_updated(path, id));
    match written.iter().find(is_read) {
        Some(path) => Err(usage_error(format!("{} is the file of two options", path.display()))),
        None => Ok(()),
    }
}

/// Returns the names after `@` in the options whose data is sent.
fn sent_files(http: &HttpFlags) -> Vec<&str> {
    let whole = http.data.iter().chain(&http.data_binary).chain(&http.json).chain(&http.header);
    let whole = whole.filter_map(|text| text.strip_prefix('@'));
    let encoded = http.data_urlencode.iter().filter_map(|text| Some(text.split_once('@')?.1));
    whole.chain(encoded).collect()
}

/// Returns the file of `-w @FILE`.
fn format_file(flags: &FetchFlags) -> Option<&str> {
    flags.messages.write_out.as_deref()?.strip_prefix('@')
}

fn file_id(path: &Path) -> Option<FileId> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}
