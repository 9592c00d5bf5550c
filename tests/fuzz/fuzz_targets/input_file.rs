//! Arbitrary bytes as an `--input-file`: no panic; every transfer comes from one line and has its URLs, file name and
//! checksum; lines that are empty or comments have none; an error names an existing line, and nothing is read after it;
//! the line ends LF and CR LF are equal; a file is written below its directory unless its name leads elsewhere.
//!
//! The modules are private to their crates and are compiled here a second time. The types of the command line that they
//! need are replaced by small ones.
#![no_main]
#![allow(dead_code, unused_imports, reason = "the command line uses the rest")]

// The source names the library by its crate name.
extern crate self as fetch_url;

#[path = "../../../crates/fetch/src"]
mod fetch {
    pub mod blocking_threads;
    pub mod checksum;
    pub mod error;
    pub mod sink {
        pub mod digest;
    }
    pub mod timings;
}
#[path = "../../../crates/cli/src/error.rs"]
mod error;
#[path = "../../../crates/cli/src/stdin.rs"]
mod stdin;
#[path = "../../../crates/cli/src"]
mod job {
    #[path = "job/file_name.rs"]
    mod file_name;
    #[path = "job/input.rs"]
    mod input;
    #[path = "job/line_source.rs"]
    mod line_source;

    /// The part of `job/transfer.rs` that the reader needs.
    mod transfer {
        use std::path::PathBuf;

        use fetch_url::Checksum;

        use crate::flags::FetchFlags;

        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct Transfer {
            pub(crate) url: String,
            pub(crate) output: Output,
            pub(crate) alternatives: Vec<String>,
            pub(crate) checksum: Option<Checksum>,
        }

        impl Transfer {
            pub(crate) fn new(url: String, output: Output) -> Self {
                Self { url, output, alternatives: Vec::new(), checksum: None }
            }
        }

        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) enum Output {
            File(PathBuf),
            Stdout,
        }

        pub(crate) fn named(_: &FetchFlags) -> Output {
            Output::Stdout
        }
    }

    use std::path::Path;

    use fetch_url::Error;
    use input::InputFile;
    use line_source::LineSource as _;
    pub(crate) use transfer::{Output, Transfer};

    /// Returns the transfers of a file.
    pub(crate) async fn read(path: &Path, directory: Option<&Path>) -> Vec<Result<Transfer, Error>> {
        let input = InputFile::open(path, directory, Output::Stdout).expect("a file");
        let mut all = Vec::new();
        while let Some(transfer) = input.next().await {
            assert!(!all.last().is_some_and(Result::is_err), "read after an error");
            all.push(transfer);
        }
        all
    }
}

mod flags {
    use std::path::PathBuf;

    #[derive(Default)]
    pub(crate) struct FetchFlags {
        pub(crate) output_dir: Option<PathBuf>,
        pub(crate) batch: BatchFlags,
    }

    #[derive(Default)]
    pub(crate) struct BatchFlags {
        pub(crate) input_file: Option<PathBuf>,
    }
}

/// The part of the library's `internal` that the reader needs.
mod internal {
    pub(crate) use crate::fetch::blocking_threads::start_error as thread_error;
}

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) use fetch::checksum::Checksum;
pub(crate) use fetch::error::{Code, Error, Phase};
use fetch::timings;
use fetch::sink::digest::Algorithm;
use fetch::{blocking_threads, sink};
use job::{Output, Transfer};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// A directory for the file, and the runtime that waits for the thread that reads it.
static TOOLS: OnceLock<(TempDir, Runtime)> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    let all = read(data, None);
    let text = data.strip_prefix("\u{feff}".as_bytes()).unwrap_or(data);
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let mut used = lines.iter().filter(|line| !is_ignored(line));
    for transfer in &all {
        let line = used.next().expect("a line for each transfer");
        match transfer {
            Ok(transfer) => check_transfer(transfer, std::str::from_utf8(line).expect("text")),
            Err(error) => check_error(error, lines.len()),
        }
    }
    // A file without an error is read completely.
    assert!(all.last().is_some_and(Result::is_err) || used.next().is_none(), "{all:?}");
    check_line_ends(data, &all);
    check_directory(data, &all);
});

fn read(data: &[u8], directory: Option<&Path>) -> Vec<Result<Transfer, Error>> {
    let (folder, runtime) = TOOLS.get_or_init(|| {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        (memory_directory(), runtime)
    });
    let path = folder.path().join("list");
    fs::write(&path, data).expect("a file");
    runtime.block_on(job::read(&path, directory))
}

fn is_ignored(line: &[u8]) -> bool {
    // A comment that is not UTF-8 is an error.
    std::str::from_utf8(line).is_ok_and(|line| {
        line.starts_with('#') || line.trim_end_matches('\r').trim_matches([' ', '\t']).is_empty()
    })
}

fn check_transfer(transfer: &Transfer, line: &str) {
    let mut fields = line.trim_end_matches('\r').split('\t');
    // Only spaces separate URLs.
    let urls = fields.next().expect("a field").split(' ').filter(|url| !url.is_empty());
    let urls: Vec<&str> = urls.collect();
    assert_eq!(urls, [&[transfer.url.clone()][..], &transfer.alternatives].concat());
    let output = fields.next().filter(|name| !name.is_empty());
    assert_eq!(transfer.output, output.map_or(Output::Stdout, |name| Output::File(name.into())));
    let checksum = fields.next().filter(|text| !text.is_empty());
    assert_eq!(transfer.checksum.is_some(), checksum.is_some());
    let text = transfer
        .checksum
        .as_ref()
        .map(|checksum| checksum.to_string().split_once(':').expect("a colon").1.to_owned());
    assert!(text.is_none_or(|hex| line.to_ascii_lowercase().contains(&hex)), "{line}");
    assert!(fields.next().is_none(), "{line}");
}

/// The message is `…/list:LINE: detail`.
fn check_error(error: &Error, lines: usize) {
    let text = error.to_string();
    assert_eq!(error.code(), Code::Usage);
    assert!(!text.contains(char::is_control), "{text}");
    let (_, rest) = text.split_once("/list:").expect("the name of the file");
    let number: usize = rest.split(':').next().and_then(|number| number.parse().ok()).expect("a number");
    assert!((1..=lines).contains(&number), "{text}");
}

fn check_line_ends(data: &[u8], all: &[Result<Transfer, Error>]) {
    // A CR inside a line is a part of it.
    if data.contains(&b'\r') {
        return;
    }
    let with_cr: Vec<u8> =
        data.iter().flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] }).collect();
    assert_eq!(shown(&read(&with_cr, None)), shown(all));
}

fn check_directory(data: &[u8], all: &[Result<Transfer, Error>]) {
    let directory = Path::new("d");
    let below = read(data, Some(directory));
    assert_eq!(below.len(), all.len());
    for (below, plain) in below.iter().zip(all) {
        let (Ok(below), Ok(plain)) = (below, plain) else { continue };
        let expected = match &plain.output {
            Output::File(name) if name.is_absolute() => Output::File(name.clone()),
            Output::File(name) => Output::File(PathBuf::from("d").join(name)),
            Output::Stdout => Output::Stdout,
        };
        assert_eq!(below.output, expected);
    }
}

fn shown(all: &[Result<Transfer, Error>]) -> Vec<String> {
    all.iter().map(|transfer| format!("{transfer:?}")).collect()
}

/// Creates a directory, in memory if the system has a file system there: files on a disk make the target slow.
fn memory_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory")
}
