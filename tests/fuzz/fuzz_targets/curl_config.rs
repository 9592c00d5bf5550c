//! Arbitrary text as a configuration file: no panic; the arguments of a file are those of its lines; arguments that are
//! written out as lines in another spelling are parsed to the same, and a secret is found in each spelling; an error
//! names an existing line and does not show the password of a URL.
//!
//! The module is private to its crate and is compiled here a second time. The options of the program are replaced by a
//! few of each form.
#![no_main]
#![allow(dead_code, unused_imports, reason = "the command line uses the rest")]

// The source names the library by its crate name.
extern crate self as fetch_url;

#[path = "../../../crates/fetch/src"]
mod fetch {
    pub mod error;
    pub mod timings;
}
#[path = "../../../crates/cli/src"]
mod cli {
    pub(crate) mod config;
    pub(crate) mod error;
    #[path = "job/option_file.rs"]
    pub(crate) mod option_file;
    #[path = "job/private_file.rs"]
    pub(crate) mod private_file;
    pub(crate) mod stdin;
}

use cli::{error, stdin};

mod flags {
    use clap::{Args, Parser, Subcommand};

    /// Options of each form: with and without a value, with a letter, repeated, and with a secret.
    #[derive(Parser)]
    #[command(args_conflicts_with_subcommands = true, args_override_self = true)]
    pub(crate) struct Flags {
        #[command(subcommand)]
        verb: Option<Verb>,
        #[command(flatten)]
        fetch: FetchFlags,
    }

    #[derive(Subcommand)]
    enum Verb {
        Mirror {
            #[arg(long)]
            delete: bool,
            #[command(flatten)]
            fetch: FetchFlags,
        },
    }

    #[derive(Args)]
    struct FetchFlags {
        #[arg(short, long)]
        silent: bool,
        #[arg(short, long)]
        verbose: bool,
        #[arg(short, long, value_name = "FILE")]
        output: Vec<String>,
        #[arg(short = 'm', long)]
        max_time: Option<u32>,
        #[arg(short = 'H', long)]
        header: Vec<String>,
        #[arg(short = 'd', long, allow_hyphen_values = true)]
        data: Option<String>,
        #[arg(short, long)]
        user: Option<String>,
        #[arg(short = 'U', long)]
        proxy_user: Option<String>,
        #[arg(short = 'x', long)]
        proxy: Option<String>,
        #[arg(long)]
        oauth2_bearer: Option<String>,
        #[arg(long)]
        default_news_server: Option<String>,
        urls: Vec<String>,
    }

    pub(crate) fn command() -> clap::Command {
        <Flags as clap::CommandFactory>::command()
    }
}

mod job {
    pub(crate) use crate::cli::private_file::is_open_to_others;

    pub(crate) mod environment {
        use std::path::PathBuf;

        pub(crate) fn config() -> Option<PathBuf> {
            None
        }
    }

    pub(crate) fn is_single_object_option(option: &str) -> bool {
        matches!(option, "-o" | "--output")
    }
}

mod url {
    pub(crate) use fetch_url_core::mask_password;
}

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::OnceLock;

pub(crate) use fetch::error::{Code, Error, Phase};
use fetch::timings;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static DIRECTORY: OnceLock<TempDir> = OnceLock::new();
/// The password of URLs in the seeds.
const PASSWORD: &str = "://me:canary@";

fuzz_target!(|text: &str| {
    let lines: Vec<&str> = text.lines().collect();
    let arguments = match read(text, 0o600) {
        Ok(arguments) => arguments,
        Err(error) => return check_error(text, &error, lines.len()),
    };
    let of_lines: Vec<Vec<OsString>> = lines
        .iter()
        .map(|line| read(line, 0o600).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect();
    assert_eq!(of_lines.concat(), arguments);
    let is_private = read(text, 0o644).is_err();
    for spelling in [quoted, with_dashes, with_colon] {
        let other: String = of_lines.iter().filter_map(|line| spelling(line)).collect();
        assert_eq!(read(&other, 0o600).map_err(|error| error.to_string()), Ok(arguments.clone()), "{other}");
        assert_eq!(read(&other, 0o644).is_err(), is_private, "{other}");
    }
});

/// Returns the arguments of a file with these permissions.
fn read(text: &str, mode: u32) -> Result<Vec<OsString>, Error> {
    let path = DIRECTORY.get_or_init(memory_directory).path().join("config");
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("a file");
    cli::config::named_config_arguments(&[path])
}

/// The message is `…/config:LINE: detail`.
fn check_error(text: &str, error: &Error, lines: usize) {
    let message = error.to_string();
    assert_eq!(error.code(), Code::Usage);
    assert!(!message.contains(char::is_control), "{message}");
    let (_, rest) = message.split_once("/config:").expect("the name of the file");
    let number: usize = rest.split(':').next().and_then(|number| number.parse().ok()).expect("a number");
    assert!((1..=lines).contains(&number), "{message}");
    // Messages leave out control characters.
    let shown = text.replace(PASSWORD, "").replace(|c: char| c.is_control() && c != '\n', "");
    let is_only_in_urls = !shown.contains("canary");
    assert!(!is_only_in_urls || !message.contains("canary"), "{message}");
}

/// Returns the option and the value of the arguments of a line; an option without a value has none, and a URL has no
/// option.
fn parts(arguments: &[OsString]) -> Option<(String, Option<String>)> {
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().expect("text")).collect();
    Some(match words[..] {
        [] => return None,
        [option, value] => (option.to_owned(), Some(value.to_owned())),
        [word] => match word.strip_prefix("--").map(|name| name.split_once('=')) {
            Some(Some(("default-news-server", value))) => ("news-server".to_owned(), Some(value.to_owned())),
            Some(Some((name, value))) => (name.to_owned(), Some(value.to_owned())),
            Some(None) => (word.to_owned(), None),
            None if word.starts_with('-') && word.len() > 1 => (word.to_owned(), None),
            None => ("url".to_owned(), Some(word.to_owned())),
        },
        _ => panic!("{words:?}"),
    })
}

/// Returns a value in quotes, with the escapes of curl.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t");
    let value = value.replace('\n', "\\n").replace('\r', "\\r").replace('\u{b}', "\\v");
    format!("\"{value}\"")
}

fn quoted(arguments: &[OsString]) -> Option<String> {
    let (option, value) = parts(arguments)?;
    Some(value.map_or(format!("{option}\n"), |value| format!("{option} = {} # comment\r\n", escaped(&value))))
}

fn with_dashes(arguments: &[OsString]) -> Option<String> {
    let (option, value) = parts(arguments)?;
    let dashes = if option.starts_with('-') { "" } else { "--" };
    Some(
        value.map_or(format!("\t{dashes}{option}  \n"), |value| {
            format!("{dashes}{option} {}\n", escaped(&value))
        }),
    )
}

fn with_colon(arguments: &[OsString]) -> Option<String> {
    let (option, value) = parts(arguments)?;
    // After a letter without a space, a colon is part of the value.
    let colon = if option.starts_with('-') { " : " } else { ":" };
    Some(
        value.map_or(format!("# comment\n{option}\n"), |value| {
            format!("\n{option}{colon}{}\n", escaped(&value))
        }),
    )
}

/// Creates a directory, in memory if the system has a file system there: files on a disk make the target slow.
fn memory_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory")
}
