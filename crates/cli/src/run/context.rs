//! The state that all transfers of a run share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Deref;
use std::path::PathBuf;
use std::rc::Rc;

use fetch_url::mirror::Journal;
use fetch_url::{Code, Error};

use super::checksum_lists::ChecksumLists;
use super::directories::{Directories, make_directory};
use super::journal_file::JournalFile;
use super::output_paths::OutputPaths;
use super::refused_heads::RefusedHeads;
use super::run_log::RunLog;
use super::stdout_lock::StdoutLock;
use super::stream_locks::StreamLocks;
use crate::job::{Invocation, JournalOptions};
use crate::render;

/// The invocation and the state that its transfers share. Dereferences to the invocation.
pub(super) struct Run {
    invocation: Invocation,
    /// The files that earlier runs have finished.
    pub(super) journal: Option<JournalFile>,
    /// The files that are being written, by the numbers of their transfers.
    pub(super) open_files: RefCell<BTreeMap<usize, PathBuf>>,
    /// Lets one transfer at a time write its object to standard output.
    pub(super) stdout_lock: StdoutLock,
    /// Lets one transfer at a time write its object to a FIFO or device.
    pub(super) stream_locks: StreamLocks,
    /// The file of `-D`, from the first response on. It stays open: if it is a FIFO, closing it would end its reader.
    pub(super) dumped_headers: RefCell<Option<File>>,
    /// The output paths that transfers have reserved.
    pub(super) output_paths: Rc<OutputPaths>,
    /// Caches the directory of the last file.
    pub(super) directories: Directories,
    /// The checksum lists that were fetched in this run.
    pub(super) checksum_lists: RefCell<ChecksumLists>,
    pub(super) refused_heads: RefusedHeads,
}

impl Run {
    /// Opens the journal, if the invocation has one. `output_paths` has the files of the option groups before.
    pub(super) fn new(invocation: Invocation, output_paths: Rc<OutputPaths>) -> Result<Self, Error> {
        let journal = match &invocation.journal {
            Some(options) => open_journal(options, invocation.log.is_silent)?,
            None => None,
        };
        output_paths.begin_group();
        let journal_path = invocation.journal.as_ref().map(|journal| &journal.path);
        invocation
            .side_files
            .iter()
            .chain(journal_path)
            .try_for_each(|path| output_paths.add_program_file(path))?;
        output_paths.add_files_of_other_groups(&invocation.files_of_other_groups);
        output_paths.add_input_files(&invocation.read_files);
        Ok(Self {
            invocation,
            journal,
            open_files: RefCell::default(),
            stdout_lock: StdoutLock::default(),
            stream_locks: StreamLocks::default(),
            dumped_headers: RefCell::default(),
            output_paths,
            directories: Directories::default(),
            checksum_lists: RefCell::default(),
            refused_heads: RefusedHeads::default(),
        })
    }
}

impl Deref for Run {
    type Target = Invocation;

    fn deref(&self) -> &Invocation {
        &self.invocation
    }
}

impl Run {
    /// Returns the log of the results.
    pub(super) fn log_of_results(&self) -> Option<RunLog<'_>> {
        #[cfg(feature = "queue")]
        if let Some(worker) = self.queue_worker() {
            return Some(RunLog::Queue(worker));
        }
        self.journal.as_ref().map(RunLog::Journal)
    }
}

/// Opens or creates a journal. If the directory cannot be written to, a batch continues without a journal, because its
/// files may be written elsewhere.
fn open_journal(options: &JournalOptions, is_silent: bool) -> Result<Option<JournalFile>, Error> {
    if options.is_read_only {
        let journal = Journal::open_read_only(&options.path, &options.subject)?;
        return Ok(journal.filter(|_| options.keeps_entries).map(JournalFile::new));
    }
    if let Some(directory) = options.path.parent().filter(|_| options.creates_directory) {
        make_directory(directory)?;
    }
    match Journal::open(&options.path, &options.subject, options.keeps_entries) {
        Ok(journal) => Ok(Some(JournalFile::new(journal))),
        Err(error) if options.is_optional && is_missing_directory(&error, options) => {
            if !is_silent {
                render::print_note(&format!("continuing without a journal: {error}"));
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn is_missing_directory(error: &Error, options: &JournalOptions) -> bool {
    error.code() == Code::SinkFailed && options.path.symlink_metadata().is_err()
}
