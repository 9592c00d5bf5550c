//! URLs that name no data object: sessions and addresses.

use clap::Args;

/// URLs that name no data object: sessions and addresses.
#[derive(Args, Debug)]
pub struct Advisory {
    /// Open the session of a telnet URL here; Ctrl-] leaves it
    #[arg(long, conflicts_with_all = ["parallel", "open"])]
    pub connect: bool,
    /// Hand telnet and mailto URLs to the desktop's program for them
    #[cfg(feature = "open")]
    #[arg(long)]
    pub open: bool,
    /// A URL that names no data object is a failure
    #[arg(long)]
    pub fail_advisory: bool,
}
