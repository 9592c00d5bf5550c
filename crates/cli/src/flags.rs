//! The options of the command line as clap structs. Neither the environment nor a file is read here.

mod batch;
mod checksum;
mod deferred;
mod explain;
pub mod foreign_options;
mod ftp;
mod gateway;
mod given;
mod gopher;
mod http;
mod login;
mod messages;
mod mirror;
mod mirror_help;
mod network;
mod news;
pub mod queue;
mod refused;
mod route;
#[cfg(feature = "serve")]
pub mod serve;
mod telnet_and_mailto;
mod tls;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

pub use batch::BatchFlags;
pub use checksum::ChecksumFlags;
pub use deferred::DeferredFlags;
pub use explain::{DialectName, ExplainFlags};
pub use ftp::{FtpFlags, FtpMethod, ListFormat};
pub use gateway::GatewayFlags;
pub use given::GivenOptions;
pub use gopher::{GopherDots, GopherFlags};
pub use http::HttpFlags;
pub use login::LoginFlags;
pub use messages::MessageFlags;
pub use mirror::MirrorFlags;
pub use network::{NetworkFlags, ProxyFlags};
pub use news::{NewsFlags, NewsPart};
pub use queue::{QUEUE_ABOUT, QueueFlags};
pub use refused::{BATCH_OPTIONS, RefusedOptions, SINGLE_OBJECT_OPTIONS};
pub use telnet_and_mailto::TelnetAndMailtoFlags;
pub use tls::{TlsFlags, TlsMax};
pub use values::ContinueAt;
use values::{parse_count, parse_range, parse_seconds, parse_size};

/// The forms of the command line.
const USAGE: &str = if cfg!(feature = "queue") {
    "fetch-url [OPTIONS] URL...\n       fetch-url mirror|queue|serve|explain|extract|completions ..."
} else {
    "fetch-url [OPTIONS] URL...\n       fetch-url mirror|serve|explain|extract|completions ..."
};

/// Fetch any URL of RFC 1738: ftp, http, gopher, news, nntp, wais, prospero, file and others
#[derive(Debug, Parser)]
#[command(
    name = "fetch-url",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    args_override_self = true
)]
#[command(override_usage = USAGE)]
#[command(after_help = "Run fetch-url --help for the exit statuses.", after_long_help = exit_statuses())]
pub struct Flags {
    /// Sub-command other than fetching.
    #[command(subcommand)]
    pub verb: Option<Verb>,

    /// Options and URLs of a fetch.
    #[command(flatten)]
    pub fetch: FetchFlags,
}

/// A sub-command other than fetching.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Print the parts of URLs and the commands that would be sent, without network access
    Explain(DeferredFlags<ExplainFlags>),
    /// Print the URLs found in a text (RFC 1738, appendix)
    Extract(ExtractFlags),
    /// Copy a directory and everything below it: ftp, http, gopher, a newsgroup, file
    #[command(override_usage = "fetch-url mirror [OPTIONS] URL [DIR]")]
    Mirror(DeferredFlags<MirrorFlags>),
    /// Serve every scheme to browsers, curl, wget and lynx: an HTTP proxy and gateway
    #[cfg(feature = "serve")]
    Serve(DeferredFlags<serve::ServeFlags>),
    /// Fetch one list with many machines
    #[cfg(feature = "queue")]
    #[command(about = QUEUE_ABOUT)]
    Queue(DeferredFlags<QueueFlags>),
    /// Print a completion script for a shell
    Completions {
        /// Shell that the script is for
        shell: clap_complete::Shell,
    },
}

/// Options of `fetch-url extract`.
#[derive(Args, Debug)]
pub struct ExtractFlags {
    /// Print one JSON object per URL, with its position in the text
    #[arg(long)]
    pub json: bool,
    /// Text to search; standard input if it is missing or -
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// The format of listings, menus, explanations, headers and errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Plain text
    #[default]
    Text,
    /// JSON, one object per line
    Json,
    /// As received
    Raw,
    /// News only: articles and groups as a mailbox for mail readers
    Mbox,
}

/// Options and URLs of a fetch.
#[derive(Args, Debug)]
pub struct FetchFlags {
    /// URLs to fetch; {a,b}, [1-100] and [a-z] stand for several URLs, #1 in -o FILE for their text
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,

    /// Write to FILE instead of standard output
    ///
    /// FILE gets its name only when the download is complete. - is standard output. With several
    /// URLs, the first -o or -O belongs to the first URL, the second to the second.
    #[arg(short, long, value_name = "FILE", action = ArgAction::Append, help_heading = "Output")]
    pub output: Vec<PathBuf>,
    /// Write to a file named like the last part of the URL
    #[arg(short = 'O', long, num_args = 0, default_missing_value = "true", action = ArgAction::Append, help_heading = "Output")]
    pub remote_name: Vec<bool>,
    /// Use -O for every URL that has no -o
    #[arg(long, help_heading = "Output")]
    pub remote_name_all: bool,
    /// With -O, use the file name suggested by the server
    ///
    /// The name is sanitised. An existing file is never replaced.
    #[arg(short = 'J', long, help_heading = "Output")]
    pub remote_header_name: bool,
    /// Write the files of -o, -O and --input-file into DIR
    #[arg(long, value_name = "DIR", alias = "directory-prefix", help_heading = "Output")]
    pub output_dir: Option<PathBuf>,
    /// Create missing directories
    #[arg(long, help_heading = "Output")]
    pub create_dirs: bool,
    /// Do not replace an existing file; fail instead
    #[arg(long, help_heading = "Output")]
    pub no_clobber: bool,
    /// Set the modification time of the file to that of the object
    ///
    /// It has no effect if the server reports no time.
    #[arg(short = 'R', long, help_heading = "Output")]
    pub remote_time: bool,
    /// Fetch only if modified after DATE or after the time of FILE
    ///
    /// With - before DATE or FILE, the URL is fetched only if not modified since then. DATE has any
    /// form of curl_getdate(3), such as 06-Nov-94 or 1994 Nov 6 08:49 CET, or YYYY-MM-DD HH:MM in
    /// UTC. If FILE does not exist, the URL is fetched unconditionally.
    #[arg(short = 'z', long, value_name = "DATE|FILE", allow_hyphen_values = true, help_heading = "Output")]
    pub time_cond: Option<String>,
    /// Format of listings, menus, explanations, -I and errors
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: Format,
    /// Treat the URL as a directory and list it
    #[arg(long, help_heading = "Output")]
    pub list: bool,

    /// Resume at byte OFFSET; - resumes where an earlier run ended
    ///
    /// With -, the object is fetched from the start if it has changed. With a number, the first
    /// OFFSET bytes of FILE are kept and the bytes of the object from OFFSET are appended; FILE
    /// changes when the download is complete.
    #[arg(
        short = 'C',
        long,
        value_name = "OFFSET",
        help_heading = "Part of an object",
        allow_hyphen_values = true
    )]
    pub continue_at: Option<ContinueAt>,
    /// Resume where an earlier run ended; the same as -C -
    #[arg(long = "continue", conflicts_with = "continue_at", help_heading = "Part of an object")]
    pub continue_flag: bool,
    /// Fetch only these bytes: FIRST-LAST, FIRST- or -COUNT
    ///
    /// Bytes are counted from 0. A single number is FIRST-. -COUNT is the last COUNT bytes.
    #[arg(short, long, value_name = "RANGE", allow_hyphen_values = true, value_parser = parse_range, conflicts_with_all = ["continue_at", "continue_flag"], help_heading = "Part of an object")]
    pub range: Option<fetch_url::ByteRange>,
    /// Print the header, size and modification time only, without the object
    #[arg(short = 'I', long, conflicts_with_all = ["continue_at", "continue_flag"], help_heading = "Part of an object")]
    pub head: bool,
    /// Print the header, size and modification time before the object
    #[arg(short, long, conflicts_with_all = ["continue_at", "continue_flag"], help_heading = "Part of an object")]
    pub include: bool,

    /// Follow redirects (the default)
    #[arg(short = 'L', long, help_heading = "Redirects and errors")]
    pub location: bool,
    /// Do not follow redirects; output the redirect response
    #[arg(long, overrides_with = "location", help_heading = "Redirects and errors")]
    pub no_location: bool,
    /// Maximum number of redirects for each URL
    ///
    /// -1 means no limit. With 0, any redirect is an error.
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_count, allow_hyphen_values = true, help_heading = "Redirects and errors")]
    pub max_redirs: u32,
    /// Fail on HTTP status 400 and above (the default)
    #[arg(short, long, help_heading = "Redirects and errors")]
    pub fail: bool,
    /// Output the body of an HTTP error and exit with 0
    #[arg(long, overrides_with = "fail", help_heading = "Redirects and errors")]
    pub no_fail: bool,
    /// Output the body of an HTTP error and fail
    #[arg(long, overrides_with_all = ["fail", "no_fail"], help_heading = "Redirects and errors")]
    pub fail_with_body: bool,
    /// Stop at the first URL that fails
    #[arg(long, help_heading = "Redirects and errors")]
    pub fail_early: bool,
    /// Fail if the protocol does not prove that the object is complete
    #[arg(long, help_heading = "Redirects and errors")]
    pub require_complete: bool,

    /// Maximum time for each URL, including redirects and retries
    ///
    /// There is no limit by default.
    #[arg(short, long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, help_heading = "Time and size")]
    pub max_time: Option<Duration>,
    /// Maximum time for host lookup, connection and TLS handshake together
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, default_value = "30", help_heading = "Time and size")]
    pub connect_timeout: Duration,
    /// Fail if no data arrives for SECONDS
    ///
    /// It limits the wait for each reply, and the time without a received byte during the transfer.
    /// 0 means no limit.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, default_value = "60", help_heading = "Time and size")]
    pub read_timeout: Duration,
    /// Maximum size of an object in bytes, or with a unit k, M, G
    ///
    /// A larger object fails with exit status 63, before the transfer if its size is known. 0 means no limit.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size, help_heading = "Time and size")]
    pub max_filesize: Option<u64>,
    /// Maximum number of entries of a listing
    ///
    /// With mirror, the limit applies to all listings together, and the default is 1000000.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Time and size")]
    pub max_entries: Option<u64>,

    /// Limit the transfer rate of the run to SIZE bytes per second, for example 200k
    ///
    /// All transfers of the run share the limit. It disables --segments. 0 means no limit.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size, help_heading = "Time and size")]
    pub limit_rate: Option<u64>,
    /// Abort transfers slower than SIZE bytes per second for the time of -y
    ///
    /// The default is 1 if only -y is given. The time begins when the connection is open; the bytes of bodies count, sent
    /// and received.
    #[arg(short = 'Y', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size, help_heading = "Time and size")]
    pub speed_limit: Option<u64>,
    /// Time in seconds for -Y
    ///
    /// The default is 30 if only -Y is given.
    #[arg(short = 'y', long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, help_heading = "Time and size")]
    pub speed_time: Option<Duration>,

    /// Maximum number of retries after a transient error
    ///
    /// 0 disables retries.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 3,
        help_heading = "Retries"
    )]
    pub retry: u32,
    /// Wait SECONDS before each retry instead of 1, 2, 4 ...
    ///
    /// By default the wait doubles with each retry up to 60 seconds and varies by up to 25 percent
    /// at random.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, help_heading = "Retries")]
    pub retry_delay: Option<Duration>,
    /// Do not retry if the wait would end more than SECONDS after the start of the request
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_seconds, help_heading = "Retries")]
    pub retry_max_time: Option<Duration>,
    /// Also retry after errors that are not transient
    ///
    /// Local errors are never retried: usage, policy, limits, and write errors.
    #[arg(long, help_heading = "Retries")]
    pub retry_all_errors: bool,
    /// Retry if the connection is refused (the default)
    #[arg(long, help_heading = "Retries")]
    pub retry_connrefused: bool,

    /// Fetch several URLs at the same time
    #[arg(short = 'Z', long, help_heading = "Several URLs")]
    pub parallel: bool,
    /// Fetch one file over up to N connections
    ///
    /// Segments are used if the server supports ranges and reports size and validator, and each part has at least 1 MiB;
    /// smaller files use fewer connections. Otherwise one is used. With a checksum, segments are also fetched from
    /// alternative URLs.
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "1", value_parser = clap::value_parser!(u16).range(1..=64), help_heading = "Several URLs")]
    pub segments: u16,
    /// Maximum number of parallel transfers with -Z
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "16", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Several URLs")]
    pub parallel_max: u16,

    /// Options for several URLs.
    #[command(flatten, next_help_heading = "Several URLs")]
    pub batch: BatchFlags,

    /// Read options from FILE, one per line in curl's syntax
    ///
    /// - is standard input. Repeatable.
    #[arg(short = 'K', long, value_name = "FILE", action = ArgAction::Append, help_heading = "Configuration files")]
    pub config: Vec<PathBuf>,
    /// As the first argument: do not read ~/.config/fetch-url/config
    #[arg(short = 'q', long, help_heading = "Configuration files")]
    pub disable: bool,

    /// Options for checksums.
    #[command(flatten, next_help_heading = "Checksums")]
    pub checksum: ChecksumFlags,
    /// Options for logins.
    #[command(flatten, next_help_heading = "Login")]
    pub login: LoginFlags,
    /// Options for FTP.
    #[command(flatten, next_help_heading = "FTP")]
    pub ftp: FtpFlags,
    /// Options for Gopher.
    #[command(flatten, next_help_heading = "Gopher")]
    pub gopher: GopherFlags,
    /// Options for HTTP.
    #[command(flatten, next_help_heading = "HTTP")]
    pub http: HttpFlags,
    /// Options for telnet and mailto URLs.
    #[command(flatten, next_help_heading = "Telnet and mailto")]
    pub telnet_and_mailto: TelnetAndMailtoFlags,
    /// Options for news.
    #[command(flatten, next_help_heading = "News")]
    pub news: NewsFlags,
    /// Options for TLS.
    #[command(flatten, next_help_heading = "TLS")]
    pub tls: TlsFlags,
    /// Options for addresses, ports, schemes and proxies.
    #[command(flatten, next_help_heading = "Network and proxies")]
    pub network: NetworkFlags,
    /// Gateways.
    #[command(flatten, next_help_heading = "Gateways")]
    pub gateway: GatewayFlags,
    /// Options for messages, traces and progress.
    #[command(flatten, next_help_heading = "Messages and progress")]
    pub messages: MessageFlags,
}

/// Returns the clap command with all options and sub-commands, for the man page and the completions.
pub fn command() -> clap::Command {
    Flags::command()
}

/// Returns the table of exit statuses that `--help` prints.
fn exit_statuses() -> String {
    let mut text = "Exit statuses:\n   0  the URL was fetched, was unchanged, or was explained".to_owned();
    let mut rows: Vec<_> = fetch_url::internal::CODES.iter().collect();
    rows.sort_by_key(|row| row.exits[0]);
    for row in rows {
        text.push_str(&format!("\n  {:>2}  {:<17} {}", row.exits[0], row.word, row.meaning));
    }
    text
}

impl FetchFlags {
    /// Returns `true` for `-C -` and `--continue`: a partial download is resumed.
    pub(crate) fn resumes(&self) -> bool {
        self.continue_flag || self.continue_at == Some(ContinueAt::End)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_accepts_the_command_definition() {
        command().debug_assert();
    }
}
