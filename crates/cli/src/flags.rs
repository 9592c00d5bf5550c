//! What can be written on the command line: clap structs, no environment, no decisions.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

/// Retrieve any URL that RFC 1738 can write: exactly, safely, whole or not at all.
#[derive(Debug, Parser)]
#[command(name = "fetch-url", version, max_term_width = 100, args_conflicts_with_subcommands = true)]
#[command(override_usage = "fetch-url [OPTIONS] URL...\n       fetch-url explain|extract ...")]
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
    /// Listings, menus, advice, -I and errors as text, JSON or raw
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: Format,

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
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Redirects and errors")]
    pub max_redirs: u32,
    /// Fail on HTTP status 400 and above (the default)
    #[arg(short, long, help_heading = "Redirects and errors")]
    pub fail: bool,
    /// Deliver the body of an HTTP error
    #[arg(long, conflicts_with = "fail", help_heading = "Redirects and errors")]
    pub no_fail: bool,
    /// Stop at the first URL that fails
    #[arg(long, help_heading = "Redirects and errors")]
    pub fail_early: bool,
    /// An end that the protocol does not prove is an error
    #[arg(long, help_heading = "Redirects and errors")]
    pub require_complete: bool,

    /// For everything together
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

    /// Believe only the authorities in this PEM file
    #[arg(long, value_name = "FILE", help_heading = "Reach")]
    pub cacert: Option<PathBuf>,
    /// Refuse every address that is not public
    #[arg(long, help_heading = "Reach")]
    pub public_only: bool,
    /// Allow a redirect from a public address to a private one
    #[arg(long, help_heading = "Reach")]
    pub allow_private: bool,
    /// Allow a port that belongs to another protocol
    #[arg(long, value_name = "PORT", action = ArgAction::Append, help_heading = "Reach")]
    pub allow_port: Vec<u16>,
    /// Read FIFOs and devices too
    #[arg(long, help_heading = "Reach")]
    pub special_files: bool,

    /// Say nothing, errors excepted when -S is given
    #[arg(short, long, help_heading = "Talk")]
    pub silent: bool,
    /// With -s: say what went wrong all the same
    #[arg(short = 'S', long, help_heading = "Talk")]
    pub show_error: bool,
    /// Show the dialogue; twice: how it was decided
    #[arg(short, long, action = ArgAction::Count, help_heading = "Talk")]
    pub verbose: u8,
    /// A plain progress line even where there is no terminal
    #[arg(short = '#', long, help_heading = "Talk")]
    pub progress_bar: bool,
    /// No progress
    #[arg(long, help_heading = "Talk")]
    pub no_progress_meter: bool,
}

/// Where to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContinueAt {
    /// Where an earlier run ended.
    End,
    /// At this octet.
    Offset(u64),
}

impl std::str::FromStr for ContinueAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::End);
        }
        number(text).map(Self::Offset).ok_or_else(|| "an offset in octets, or -".to_owned())
    }
}

/// The whole command, for man page and completions.
pub fn command() -> clap::Command {
    Flags::command()
}

/// Digits only: no sign.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|octet| octet.is_ascii_digit()).then(|| text.parse().ok())?
}

fn range(text: &str) -> Result<fetch_url::ByteRange, String> {
    let wrong = || "FIRST-LAST, FIRST- or -COUNT, in octets".to_owned();
    let number = |text: &str| number(text).ok_or_else(wrong);
    match text.split_once('-').ok_or_else(wrong)? {
        ("", count) => number(count).map(fetch_url::ByteRange::Suffix),
        (first, "") => Ok(fetch_url::ByteRange::Span { first: number(first)?, last: None }),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                Err(wrong())
            } else {
                Ok(fetch_url::ByteRange::Span { first, last: Some(last) })
            }
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "a number of seconds, such as 30 or 0.5".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if seconds <= 0.0 {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

fn size(text: &str) -> Result<u64, String> {
    let wrong = || "a number of octets, such as 4096, 64k, 10M or 2G".to_owned();
    let digits = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1_u64 << 40,
        _ => return Err(wrong()),
    };
    number(digits).and_then(|number| number.checked_mul(factor)).ok_or_else(wrong)
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

    #[test]
    fn numbers() {
        assert_eq!(size("64k"), Ok(65536));
        assert_eq!(size("2G"), Ok(2 << 30));
        assert!(size("-1").is_err() && size("1x").is_err() && size("99999999999G").is_err());
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(
            seconds("0").is_err()
                && seconds("-1").is_err()
                && seconds("inf").is_err()
                && seconds("x").is_err()
        );
        assert_eq!(range("0-9"), Ok(fetch_url::ByteRange::Span { first: 0, last: Some(9) }));
        assert_eq!(range("-9"), Ok(fetch_url::ByteRange::Suffix(9)));
        assert!(range("9-0").is_err() && range("9").is_err() && range("a-b").is_err());
    }
}
