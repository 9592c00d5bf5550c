//! Which messages a run prints.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use crate::flags::{FetchFlags, Format};
use crate::render::progress::ProgressMode;

/// Which messages are printed.
#[derive(Clone, Debug)]
pub(crate) struct LogOptions {
    pub(crate) prints_errors: bool,
    /// Prints errors only.
    pub(crate) is_silent: bool,
    /// Prints notes, such as retries.
    pub(crate) prints_notes: bool,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) errors_as_json: bool,
    pub(crate) progress: ProgressMode,
    pub(crate) verbose: u8,
    pub(crate) stdout_is_terminal: bool,
    /// Standard error is a terminal and `--silent` was not given.
    pub(crate) is_interactive: bool,
}

impl LogOptions {
    pub(super) fn of(flags: &FetchFlags) -> Self {
        let flags = (&flags.messages, flags.format);
        let (flags, format) = flags;
        let is_quiet = flags.silent || flags.no_progress_meter || flags.verbose > 0;
        let progress = match std::io::stderr().is_terminal() {
            _ if is_quiet => ProgressMode::Nothing,
            true => ProgressMode::Bar,
            false if flags.progress_bar => ProgressMode::Line,
            false => ProgressMode::Nothing,
        };
        Self {
            prints_errors: !flags.silent || flags.show_error,
            is_silent: flags.silent,
            prints_notes: !flags.silent && format != Format::Json,
            errors_as_json: format == Format::Json,
            trace: flags.trace.clone(),
            progress,
            verbose: flags.verbose,
            stdout_is_terminal: std::io::stdout().is_terminal(),
            is_interactive: !flags.silent && std::io::stderr().is_terminal(),
        }
    }
}
