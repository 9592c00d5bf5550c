//! URLs that name no data object: sessions and addresses.

use clap::Args;

/// What has no meaning for a session.
const NOT_OF_SESSIONS: [&str; 12] = [
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

/// URLs that name no data object: sessions and addresses.
#[derive(Args, Debug)]
pub struct Advisory {
    /// Open the session of a telnet URL here; Ctrl-] leaves it
    #[arg(long, conflicts_with_all = NOT_OF_SESSIONS)]
    pub connect: bool,
    /// Hand telnet and mailto URLs to the desktop's program for them
    #[cfg(feature = "open")]
    #[arg(long, conflicts_with = "connect")]
    pub open: bool,
    /// A URL that names no data object is a failure
    #[arg(long)]
    pub fail_advisory: bool,
}
