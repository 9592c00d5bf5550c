//! Transfers of `--input-file`, one per line, read as they are needed.
//!
//! A line is a URL, or several URLs of the same object separated by spaces, which are tried in order. A TAB and the
//! file name may follow, then a TAB and the checksum.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::thread;

use fetch_url::Error;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};

use super::transfer::{Output, Transfer, named};
use crate::error::usage_error;
use crate::flags::FetchFlags;

/// The number of lines that are read in advance.
const READ_AHEAD_LINES: usize = 64;
/// The maximum length of a line in bytes.
const MAX_LINE_LENGTH: u64 = 64 * 1024;

/// The lines of a file or of standard input, read by a thread, since a pipe may block.
pub(crate) struct Input {
    transfers: Mutex<Receiver<Result<Transfer, Error>>>,
}

impl Input {
    /// Opens the file; `rest` is the output of lines without a file name.
    pub(super) fn open(path: &Path, directory: Option<&Path>, rest: Output) -> Result<Self, Error> {
        let failed = |error: io::Error| usage_error(format!("{}: {error}", path.display()));
        let reader: Box<dyn BufRead + Send> = match path.to_str() {
            Some("-") => Box::new(BufReader::new(io::stdin())),
            _ => Box::new(BufReader::new(File::open(path).map_err(failed)?)),
        };
        let (sender, receiver) = channel(READ_AHEAD_LINES);
        let (name, directory) = (path.display().to_string(), directory.map(Path::to_path_buf));
        let lines = Lines { reader, number: 0, name, directory, rest };
        let read = move || {
            for transfer in lines {
                let is_over = transfer.is_err();
                if sender.blocking_send(transfer).is_err() || is_over {
                    return;
                }
            }
        };
        thread::Builder::new().name("input".to_owned()).spawn(read).map_err(failed)?;
        Ok(Self { transfers: Mutex::new(receiver) })
    }

    /// Returns the next transfer. An error ends the input.
    pub(crate) async fn next(&self) -> Option<Result<Transfer, Error>> {
        self.transfers.lock().await.recv().await
    }
}

/// Opens `--input-file`. Lines without a file name are named after their URLs.
pub(super) fn input(flags: &FetchFlags) -> Result<Option<Input>, Error> {
    let open = |path: &PathBuf| Input::open(path, flags.output_dir.as_deref(), named(flags));
    flags.batch.input_file.as_ref().map(open).transpose()
}

struct Lines {
    reader: Box<dyn BufRead + Send>,
    number: usize,
    name: String,
    directory: Option<PathBuf>,
    rest: Output,
}

impl Iterator for Lines {
    type Item = Result<Transfer, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut line = String::new();
            self.number += 1;
            let wrong = |detail: &str| usage_error(format!("{}:{}: {detail}", self.name, self.number));
            match io::Read::take(&mut self.reader, MAX_LINE_LENGTH).read_line(&mut line) {
                Err(error) => return Some(Err(wrong(&error.to_string()))),
                Ok(0) => return None,
                Ok(_) if line.len() as u64 == MAX_LINE_LENGTH => {
                    return Some(Err(wrong("the line is longer than 64 KiB")));
                }
                Ok(_) => {}
            }
            match transfer(&line, self.directory.as_deref(), &self.rest) {
                Ok(None) => {}
                Ok(Some(transfer)) => return Some(Ok(transfer)),
                Err(detail) => return Some(Err(wrong(&detail))),
            }
        }
    }
}

/// Parses a line; returns `None` for empty lines and comments.
fn transfer(line: &str, directory: Option<&Path>, rest: &Output) -> Result<Option<Transfer>, String> {
    let line = line.trim_end_matches(['\r', '\n']);
    if line.trim().is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let mut fields = line.split('\t');
    let mut urls = fields.next().unwrap_or_default().split_whitespace().map(str::to_owned);
    let Some(url) = urls.next() else { return Err("no URL before the first TAB".to_owned()) };
    let output = match fields.next().filter(|name| !name.is_empty()) {
        Some(name) => Output::File(directory.map_or_else(|| PathBuf::from(name), |own| own.join(name))),
        None => rest.clone(),
    };
    let checksum = fields
        .next()
        .filter(|text| !text.is_empty())
        .map(|text| text.parse().map_err(|error: Error| error.to_string()));
    if fields.next().is_some() {
        return Err("more than three fields (URLs, file, checksum)".to_owned());
    }
    let mut transfer = Transfer::new(url, output);
    (transfer.alternatives, transfer.checksum) = (urls.collect(), checksum.transpose()?);
    Ok(Some(transfer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_lines_are_parsed_or_rejected() {
        let rest = Output::Stdout { is_explicit: false };
        let read = |line: &str| transfer(line, Some(Path::new("d")), &rest);
        assert!(read("").expect("no line").is_none() && read("# http://h/\n").expect("no line").is_none());
        let one = read("http://h/a\r\n").expect("a line").expect("a transfer");
        assert_eq!((one.url.as_str(), one.output, one.alternatives.len()), ("http://h/a", rest.clone(), 0));
        let digest = "md5:900150983cd24fb0d6963f7d28e17f72";
        let line = format!("http://h/a ftp://h/a\ta b.txt\t{digest}");
        let all = read(&line).expect("a line").expect("a transfer");
        assert_eq!(all.output, Output::File("d/a b.txt".into()));
        assert!(all.alternatives == ["ftp://h/a"] && all.checksum.is_some());
        for line in ["\tx", "http://h/a\tx\tmd5:0", "http://h/a\tx\t\ty"] {
            assert!(read(line).is_err(), "{line:?}");
        }
    }
}
