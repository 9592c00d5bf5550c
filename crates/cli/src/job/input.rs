//! Transfers of `--input-file`, one per line, read as they are needed.
//!
//! A line is a URL, or several URLs of the same object separated by spaces, which are tried in order. A TAB and the
//! file name may follow, then a TAB and the checksum.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::thread;

use fetch_url::internal::thread_error;
use fetch_url::{Error, Phase};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, channel};

use super::file_name::lacks_file_name;
use super::line_source::{Line, LineSource};
use super::transfer::{Output, Transfer};
use crate::error::usage_error;
use crate::stdin::stdin_for;

/// Maximum number of lines in a block. The reading thread hands over blocks, because each hand-over wakes a thread.
const MAX_BLOCK_LINES: usize = 64;
/// Maximum number of blocks that are read in advance.
const READ_AHEAD_BLOCKS: usize = 2;
/// Size of the read buffer in bytes.
const READ_BUFFER_SIZE: usize = 64 * 1024;
/// The maximum length of a line in bytes.
const MAX_LINE_LENGTH: u64 = 64 * 1024;

/// The lines of a file or of standard input, read by a thread, since a pipe may block.
pub(crate) struct InputFile {
    lines: Mutex<ReadLines>,
}

struct ReadLines {
    /// The rest of the last block.
    block: VecDeque<Line>,
    blocks: Receiver<VecDeque<Line>>,
}

impl InputFile {
    /// Opens the file; `rest` is the output of lines without a file name.
    pub(super) fn open(path: &Path, directory: Option<&Path>, rest: Output) -> Result<Self, Error> {
        let failed = |error: io::Error| usage_error(format!("{}: {error}", path.display()));
        let source: Box<dyn Read + Send> = match path.to_str() {
            Some("-") => Box::new(stdin_for("--input-file")?),
            _ => Box::new(File::open(path).map_err(failed)?),
        };
        let reader = BufReader::with_capacity(READ_BUFFER_SIZE, source);
        let (sender, blocks) = channel(READ_AHEAD_BLOCKS);
        let (name, directory) = (path.display().to_string(), directory.map(Path::to_path_buf));
        let mut lines = Lines { reader, number: 0, name, directory, rest };
        let read = move || {
            while let Some(block) = lines.next_block() {
                let is_over = block.back().is_some_and(Line::is_err);
                if sender.blocking_send(block).is_err() || is_over {
                    return;
                }
            }
        };
        let started = thread::Builder::new().name("input".to_owned()).spawn(read);
        started.map_err(|error| thread_error(Phase::Plan, error))?;
        Ok(Self { lines: Mutex::new(ReadLines { block: VecDeque::new(), blocks }) })
    }
}

impl LineSource for InputFile {
    async fn next(&self) -> Option<Line> {
        let mut lines = self.lines.lock().await;
        if lines.block.is_empty() {
            lines.block = lines.blocks.recv().await?;
        }
        lines.block.pop_front()
    }
}

struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    number: usize,
    name: String,
    directory: Option<PathBuf>,
    rest: Output,
}

impl Lines {
    /// Returns the next lines, or `None` at the end. It waits for the first line only: the others are those that the
    /// reader has already.
    fn next_block(&mut self) -> Option<VecDeque<Line>> {
        let mut block = VecDeque::new();
        while block.is_empty() || self.reader.buffer().contains(&b'\n') {
            let Some(transfer) = self.read_line() else { break };
            let Some(line) = transfer.transpose() else { continue };
            let is_last = line.is_err() || block.len() + 1 == MAX_BLOCK_LINES;
            block.push_back(line);
            if is_last {
                break;
            }
        }
        (!block.is_empty()).then_some(block)
    }

    /// Reads a line. Returns `None` at the end, and no transfer for empty lines and comments.
    fn read_line(&mut self) -> Option<Result<Option<Transfer>, Error>> {
        let mut line = String::new();
        self.number += 1;
        let wrong = |detail: &str| usage_error(format!("{}:{}: {detail}", self.name, self.number));
        match Read::take(&mut self.reader, MAX_LINE_LENGTH).read_line(&mut line) {
            Err(error) => return Some(Err(wrong(&error.to_string()))),
            Ok(0) => return None,
            Ok(_) if line.len() as u64 == MAX_LINE_LENGTH => {
                return Some(Err(wrong("the line is longer than 64 KiB")));
            }
            Ok(_) => {}
        }
        // Editors of Windows begin a text with a byte order mark.
        let line = line.strip_prefix('\u{feff}').filter(|_| self.number == 1).unwrap_or(&line);
        Some(transfer(line, self.directory.as_deref(), &self.rest).map_err(|detail| wrong(&detail)))
    }
}

/// Parses a line; returns `None` for empty lines and comments.
fn transfer(line: &str, directory: Option<&Path>, rest: &Output) -> Result<Option<Transfer>, String> {
    let line = line.trim_end_matches(['\r', '\n']);
    if line.trim_matches([' ', '\t']).is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let mut fields = line.split('\t');
    // Other white space may be part of a URL, or makes it invalid.
    let urls = fields.next().unwrap_or_default().split(' ').filter(|url| !url.is_empty());
    let mut urls = urls.map(str::to_owned);
    let Some(url) = urls.next() else { return Err("no URL before the first TAB".to_owned()) };
    let output = match fields.next().filter(|name| !name.is_empty()) {
        Some(name) if name.contains('\0') => return Err("the file name contains NUL".to_owned()),
        Some(name) if lacks_file_name(Path::new(name)) => {
            return Err(format!("{name}: the name of a file is missing"));
        }
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

    /// A source that returns one of its pieces for each read, and panics when it would block.
    struct Pieces(VecDeque<&'static str>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.pop_front().expect("a block is returned before the source would block");
            buffer[..piece.len()].copy_from_slice(piece.as_bytes());
            Ok(piece.len())
        }
    }

    fn blocks(pieces: &[&'static str]) -> Vec<Vec<Result<String, String>>> {
        let source: Box<dyn Read + Send> = Box::new(Pieces(pieces.iter().copied().collect()));
        let reader = BufReader::with_capacity(READ_BUFFER_SIZE, source);
        let rest = Output::Stdout { is_explicit: false };
        let mut lines = Lines { reader, number: 0, name: "list".to_owned(), directory: None, rest };
        let text = |line: Line| line.map(|transfer| transfer.url).map_err(|error| error.to_string());
        std::iter::from_fn(|| lines.next_block()).map(|block| block.into_iter().map(text).collect()).collect()
    }

    #[test]
    fn block_has_the_lines_that_have_arrived_and_waits_for_no_others() {
        let url = |name: &str| Ok(format!("http://h/{name}"));
        let read =
            blocks(&["http://h/a\nhttp://h/b\n# x\n\n", "# only\n", "http://h/c\nhttp://h/", "d", "", ""]);
        assert_eq!(read, [vec![url("a"), url("b")], vec![url("c")], vec![url("d")]]);
    }

    #[test]
    fn block_is_limited_and_ends_with_an_invalid_line() {
        let read = blocks(&["x:\n".repeat(MAX_BLOCK_LINES + 1).leak(), "\tname\nx:\n", ""]);
        assert_eq!(read.iter().map(Vec::len).collect::<Vec<_>>(), [MAX_BLOCK_LINES, 1, 1, 1]);
        assert!(read[2][0].as_ref().is_err_and(|error| error.contains("list:66")), "{:?}", read[2]);
    }

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
        // Only a space separates URLs. Other white space belongs to the URL, which is encoded or rejected.
        for url in [
            "http://h/a\u{3000}b",
            "http://h/a\u{a0}b",
            "http://h/a\rhttp://h/b",
            "http://h/a\u{b}b",
            "\u{85}",
        ] {
            let one = read(&format!(" {url}  ftp://h/a ")).expect("a line").expect("a transfer");
            assert_eq!((one.url.as_str(), one.alternatives), (url, vec!["ftp://h/a".to_owned()]));
        }
        for line in [
            "\tx",
            "http://h/a\tx\tmd5:0",
            "http://h/a\tx\t\ty",
            "http://h/a\tx/",
            "http://h/a\t/",
            "http://h/a\tx\0y",
        ] {
            assert!(read(line).is_err(), "{line:?}");
        }
    }
}
