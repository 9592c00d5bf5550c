//! Options for several URLs.

use std::path::PathBuf;

use clap::{ArgAction, Args, value_parser};

/// Options for several URLs.
#[derive(Args, Debug)]
pub struct BatchFlags {
    /// Read URLs from FILE, one per line; - is standard input
    ///
    /// A line is URL, URL TAB FILE, or URL TAB FILE TAB CHECKSUM. Several URLs
    /// in a line, separated by spaces, are tried in order until one succeeds.
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    pub input_file: Option<PathBuf>,
    /// Do not fetch a URL whose file exists
    #[arg(long, conflicts_with_all = ["continue_at", "continue_flag"])]
    pub skip_existing: bool,
    /// If the file exists, write to NAME.1, NAME.2 ... instead
    ///
    /// Numbered as by wget.
    #[arg(long, conflicts_with_all = ["no_clobber", "skip_existing", "continue_at", "continue_flag"])]
    pub keep_both: bool,
    /// Maximum number of parallel transfers at one host
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "16", value_parser = value_parser!(u16).range(1..))]
    pub parallel_max_host: u16,
    /// Do not expand [1-100] and {a,b} in URLs, and * in FTP URLs
    #[arg(short, long)]
    pub globoff: bool,
    /// Fetch the files of a Metalink document (RFC 5854)
    ///
    /// Each file is written to its name in the document, and checked by its checksum. Its URLs are tried
    /// by their priority. Logins, cookies and headers are not sent to them. Repeatable.
    #[arg(long, value_name = "FILE|URL", action = ArgAction::Append)]
    pub metalink: Vec<String>,
    /// Use the other URLs and the digest that the server sends (RFC 6249)
    ///
    /// A Link field with rel=duplicate names a URL that is tried if the transfer fails, Digest and
    /// Repr-Digest give a checksum of the object.
    #[arg(long)]
    pub metalink_over_http: bool,
    /// Print what would be fetched and deleted, and write nothing
    ///
    /// Directories are listed, objects are not fetched, and links of pages are not followed.
    #[arg(long)]
    pub dry_run: bool,
    /// Begin another group: URLs with options of their own
    ///
    /// The options before --next apply to the URLs before it, except -q, --fail-early and the config file
    /// of the user, which apply to all groups. The groups run one after the other and share their cookies.
    #[arg(short = ':', long = "next")]
    pub next_group: bool,
    /// Remove the partial file if a transfer fails
    ///
    /// By default it is kept, if it can be resumed with -C -.
    #[arg(long, conflicts_with_all = ["continue_at", "continue_flag"])]
    pub remove_on_error: bool,
}
