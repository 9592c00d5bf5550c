//! Options for URLs that do not name a file: `telnet` and `mailto`.

use clap::Args;

/// Options that conflict with `--connect`.
const CONFLICTS_WITH_CONNECT: [&str; 12] = [
    "continue_at",
    "fail_advisory",
    "format",
    "head",
    "include",
    "output",
    "output_dir",
    "parallel",
    "range",
    "remote_name",
    "remote_name_all",
    "time_cond",
];

/// Options for URLs that do not name a file: `telnet` and `mailto`.
#[derive(Args, Debug)]
pub struct TelnetAndMailtoFlags {
    /// Open the session of a telnet URL; Ctrl-] ends it
    ///
    /// Only one URL is allowed.
    #[arg(long, conflicts_with_all = CONFLICTS_WITH_CONNECT)]
    pub connect: bool,
    /// Open telnet and mailto URLs with the desktop's program for them
    #[cfg(feature = "open")]
    #[arg(long, conflicts_with = "connect")]
    pub open: bool,
    /// Fail for a URL that does not name an object, such as telnet and mailto
    ///
    /// The exit status is 1. By default fetch-url explains what can be done with the URL and exits
    /// with 0.
    #[arg(long)]
    pub fail_advisory: bool,
}
