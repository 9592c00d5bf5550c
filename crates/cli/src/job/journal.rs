//! The journals of finished files, for a batch and for a mirror.

use std::path::{Path, PathBuf};

use fetch_url::output::safe_name;

use crate::flags::FetchFlags;

/// The name of a mirror's journal. Sanitised names are never equal to it.
const MIRROR_JOURNAL: &str = ".fetch-url-mirror";

/// The location of a journal, and how it is opened.
pub(crate) struct JournalOptions {
    pub(crate) path: PathBuf,
    /// The input file or start URL that the journal belongs to. A journal with another subject is not continued.
    pub(crate) subject: String,
    /// Keeps the entries of earlier runs.
    pub(crate) keeps_entries: bool,
    /// Creates the directory of the journal.
    pub(crate) creates_directory: bool,
    /// Reads an existing journal only (`--dry-run`).
    pub(crate) is_read_only: bool,
    /// If the journal cannot be created, the run continues without it.
    pub(crate) is_optional: bool,
}

impl JournalOptions {
    /// The journal of `--input-file`, beside the files; `None` without an input file.
    pub(super) fn for_batch(flags: &FetchFlags) -> Option<Self> {
        let input = flags.batch.input_file.as_ref()?;
        let name = input.file_name().and_then(|name| safe_name(name.as_encoded_bytes()));
        let name = name.filter(|_| input.as_os_str() != "-").unwrap_or_else(|| "stdin".to_owned());
        let directory = flags.output_dir.clone().unwrap_or_default();
        Some(Self {
            path: directory.join(format!(".{name}.journal")),
            subject: name,
            keeps_entries: flags.resumes(),
            creates_directory: flags.create_dirs,
            is_read_only: flags.batch.dry_run,
            is_optional: true,
        })
    }

    /// The journal of a mirror, in its directory.
    pub(super) fn for_mirror(directory: &Path, subject: String, is_read_only: bool) -> Self {
        let path = directory.join(MIRROR_JOURNAL);
        Self { path, subject, keeps_entries: true, creates_directory: true, is_read_only, is_optional: false }
    }
}
