//! What can be written on the command line: clap structs, no environment, no decisions.

mod advisory;
mod check;
mod ftp;
mod gateway;
mod gopher;
mod http;
mod login;
mod many;
mod mirror;
mod network;
mod news;
mod route;
mod talk;
mod tls;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

pub use advisory::Advisory;
pub use check::Check;
pub use ftp::{Ftp, FtpMethod, ListFormat};
pub use gateway::Gateway;
pub use gopher::{Gopher, GopherDots};
pub use http::Http;
pub use login::Login;
pub use many::Many;
pub use mirror::Mirror;
pub use network::Network;
pub use news::{News, NewsPart};
pub use talk::Talk;
pub use tls::{Tls, TlsMax};
pub use values::ContinueAt;
use values::{count, range, seconds, size};

/// Retrieve any URL that RFC 1738 can write: exactly, safely, whole or not at all.
#[derive(Debug, Parser)]
#[command(
    name = "fetch-url",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    args_override_self = true
)]
#[command(
    override_usage = "fetch-url [OPTIONS] URL...\n       fetch-url mirror|explain|extract|completions ..."
)]
#[command(after_help = "Run fetch-url --help for the exit statuses.")]
#[command(after_long_help = exit_statuses())]
pub struct Flags {
    /// What to do other than fetching.
    #[command(subcommand)]
    pub verb: Option<Verb>,

    /// What to fetch.
    #[command(flatten)]
    pub fetch: Fetch,
}

/// What to do other than fetching.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show what a URL says, rule by rule, and what would be sent; touches no network
    Explain(Explain),
    /// Find the URLs in a text (RFC 1738, appendix)
    Extract(Extract),
    /// Copy a directory and all below it: ftp, http index pages, gopher, a news group, file
    #[command(override_usage = "fetch-url mirror [OPTIONS] URL [DIR]")]
    Mirror(Box<Mirror>),
    /// What makes a shell complete options and values, for its standard input
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Show what a URL says.
#[derive(Args, Debug)]
pub struct Explain {
    /// One JSON object for each URL
    #[arg(long)]
    pub json: bool,
    /// The grammar to read by
    #[arg(long, value_enum, default_value_t = DialectName::Lenient)]
    pub dialect: DialectName,
    /// Gateways
    #[command(flatten)]
    pub gateway: Gateway,
    /// The URLs
    #[arg(required = true, value_name = "URL")]
    pub urls: Vec<String>,
}

/// The grammar to read by.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DialectName {
    /// RFC 1738 and what people write since
    Lenient,
    /// RFC 1738 section 5 to the letter
    Rfc1738,
    /// The BNF of November 1993
    Cern1993,
}

/// Find the URLs in a text.
#[derive(Args, Debug)]
pub struct Extract {
    /// One JSON object for each URL found
    #[arg(long)]
    pub json: bool,
    /// The text; standard input when it is - or missing
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// How to print what is not the object's own octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For programs, one object a line
    Json,
    /// As it came
    Raw,
    /// News: articles, and groups as all their articles, for mail readers
    Mbox,
}

/// What to fetch, and how.
#[derive(Args, Debug)]
pub struct Fetch {
    /// What to fetch
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,

    /// Write to FILE, which appears only when it is whole; - is standard output. With several
    /// URLs, the first -o or -O belongs to the first URL
    #[arg(short, long, value_name = "FILE", action = ArgAction::Append, help_heading = "Output")]
    pub output: Vec<PathBuf>,
    /// Write to a file named like the last part of the URL
    #[arg(short = 'O', long, num_args = 0, default_missing_value = "true", action = ArgAction::Append, help_heading = "Output")]
    pub remote_name: Vec<bool>,
    /// -O for every URL that has no -o
    #[arg(long, help_heading = "Output")]
    pub remote_name_all: bool,
    /// With -O: use the name that the server suggests, made safe; never replaces a file
    #[arg(short = 'J', long, help_heading = "Output")]
    pub remote_header_name: bool,
    /// The directory for -o, -O and -J
    #[arg(long, value_name = "DIR", alias = "directory-prefix", help_heading = "Output")]
    pub output_dir: Option<PathBuf>,
    /// Make the directories that are missing
    #[arg(long, help_heading = "Output")]
    pub create_dirs: bool,
    /// Never replace a file
    #[arg(long, help_heading = "Output")]
    pub no_clobber: bool,
    /// Give the file the object's time of modification
    #[arg(short = 'R', long, help_heading = "Output")]
    pub remote_time: bool,
    /// Only if it changed after this: a date, or a file whose time counts; with - in front, only if it
    /// did not
    #[arg(short = 'z', long, value_name = "DATE|FILE", allow_hyphen_values = true, help_heading = "Output")]
    pub time_cond: Option<String>,
    /// Listings, menus, advice, -I and errors as text, JSON or raw
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: Format,
    /// The URL names a directory: list it, whatever it looks like
    #[arg(long, help_heading = "Output")]
    pub list: bool,

    /// Continue at OFFSET; - goes on where an earlier run ended, if the object is still the same
    #[arg(
        short = 'C',
        long,
        value_name = "OFFSET",
        help_heading = "Part of an object",
        allow_hyphen_values = true
    )]
    pub continue_at: Option<ContinueAt>,
    /// The same as -C -
    #[arg(long = "continue", conflicts_with = "continue_at", help_heading = "Part of an object")]
    pub continue_flag: bool,
    /// Only these octets: FIRST-LAST, FIRST- or -COUNT
    #[arg(short, long, value_name = "RANGE", allow_hyphen_values = true, value_parser = range, conflicts_with_all = ["continue_at", "continue_flag"], help_heading = "Part of an object")]
    pub range: Option<fetch_url::ByteRange>,
    /// Only what is known of the object
    #[arg(short = 'I', long, conflicts_with_all = ["continue_at", "continue_flag"], help_heading = "Part of an object")]
    pub head: bool,
    /// What is known of the object, then the object
    #[arg(short, long, conflicts_with_all = ["continue_at", "continue_flag"], help_heading = "Part of an object")]
    pub include: bool,

    /// Follow redirects (the default)
    #[arg(short = 'L', long, help_heading = "Redirects and errors")]
    pub location: bool,
    /// Deliver a redirect as it is
    #[arg(long, conflicts_with = "location", help_heading = "Redirects and errors")]
    pub no_location: bool,
    /// How many redirects to follow
    #[arg(long, value_name = "N", default_value = "10", value_parser = count, allow_hyphen_values = true, help_heading = "Redirects and errors")]
    pub max_redirs: u32,
    /// Fail on HTTP status 400 and above (the default)
    #[arg(short, long, help_heading = "Redirects and errors")]
    pub fail: bool,
    /// Deliver the body of an HTTP error
    #[arg(long, conflicts_with = "fail", help_heading = "Redirects and errors")]
    pub no_fail: bool,
    /// Deliver the body of an HTTP error, and fail all the same
    #[arg(long, conflicts_with_all = ["fail", "no_fail"], help_heading = "Redirects and errors")]
    pub fail_with_body: bool,
    /// Stop at the first URL that fails
    #[arg(long, help_heading = "Redirects and errors")]
    pub fail_early: bool,
    /// An end that the protocol does not prove is an error
    #[arg(long, help_heading = "Redirects and errors")]
    pub require_complete: bool,

    /// For a URL, everything together
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds, help_heading = "Time and size")]
    pub max_time: Option<Duration>,
    /// To look up the host and connect
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "30", help_heading = "Time and size")]
    pub connect_timeout: Duration,
    /// Without an octet
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60", help_heading = "Time and size")]
    pub read_timeout: Duration,
    /// The largest object to take: octets, or with k, M, G
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Time and size")]
    pub max_filesize: Option<u64>,
    /// The most entries of a listing; with mirror, of all of them together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Time and size")]
    pub max_entries: Option<u64>,

    /// Not more octets a second, such as 200k
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Time and size")]
    pub limit_rate: Option<u64>,
    /// Give up what brings fewer octets a second than this
    #[arg(short = 'Y', long, value_name = "SIZE", value_parser = size, help_heading = "Time and size")]
    pub speed_limit: Option<u64>,
    /// For so long; 30 when only -Y is given, and 1 octet a second when only this is
    #[arg(short = 'y', long, value_name = "SECONDS", value_parser = seconds, help_heading = "Time and size")]
    pub speed_time: Option<Duration>,

    /// How often to try again what failed for a cause that may pass
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Retry")]
    pub retry: u32,
    /// So long before each retry, instead of 1, 2, 4 ... seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Retry")]
    pub retry_delay: Option<Duration>,
    /// No retry after so long
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Retry")]
    pub retry_max_time: Option<Duration>,
    /// Retry whatever went wrong on the other side
    #[arg(long, help_heading = "Retry")]
    pub retry_all_errors: bool,
    /// Retry when the connection is refused (the default)
    #[arg(long, help_heading = "Retry")]
    pub retry_connrefused: bool,

    /// Fetch several URLs at the same time
    #[arg(short = 'Z', long, help_heading = "Many")]
    pub parallel: bool,
    /// One file over several connections, where the server can begin inside
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=64), help_heading = "Many")]
    pub segments: u16,
    /// How many at the same time
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Many")]
    pub parallel_max: u16,

    /// Many objects.
    #[command(flatten, next_help_heading = "Many")]
    pub many: Many,

    /// Options from this file, one a line as curl has them; - is standard input
    #[arg(short = 'K', long, value_name = "FILE", action = ArgAction::Append, help_heading = "Defaults")]
    pub config: Vec<PathBuf>,
    /// As the first argument: without the options of ~/.config/fetch-url/config
    #[arg(short = 'q', long, help_heading = "Defaults")]
    pub disable: bool,

    /// What the octets must come to.
    #[command(flatten, next_help_heading = "Check")]
    pub check: Check,
    /// Who asks.
    #[command(flatten, next_help_heading = "Who asks")]
    pub login: Login,
    /// What only FTP understands.
    #[command(flatten, next_help_heading = "FTP")]
    pub ftp: Ftp,
    /// What only Gopher understands.
    #[command(flatten, next_help_heading = "Gopher")]
    pub gopher: Gopher,
    /// What only HTTP understands.
    #[command(flatten, next_help_heading = "HTTP")]
    pub http: Http,
    /// What names no data object.
    #[command(flatten, next_help_heading = "Sessions and addresses")]
    pub advisory: Advisory,
    /// What only news understands.
    #[command(flatten, next_help_heading = "News")]
    pub news: News,
    /// Who is believed in TLS.
    #[command(flatten, next_help_heading = "TLS")]
    pub tls: Tls,
    /// Who may be asked, and by what way.
    #[command(flatten, next_help_heading = "Reach")]
    pub network: Network,
    /// Who is asked in place of a scheme's servers.
    #[command(flatten)]
    pub gateway: Gateway,
    /// What is said beside the object.
    #[command(flatten, next_help_heading = "Talk")]
    pub talk: Talk,
}

/// The whole command, for man page and completions.
pub fn command() -> clap::Command {
    Flags::command()
}

fn exit_statuses() -> String {
    let mut text = "Exit statuses:\n   0  fetched, or advice given".to_owned();
    let mut rows: Vec<_> = fetch_url::CODES.iter().collect();
    rows.sort_by_key(|row| row.exits[0]);
    for row in rows {
        text.push_str(&format!("\n  {:>2}  {:<17} {}", row.exits[0], row.word, row.meaning));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_sound() {
        command().debug_assert();
    }
}
