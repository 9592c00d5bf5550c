//! The files of `-D` (`--dump-header`) and `--etag-save`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use fetch_url::output::Sink;
use fetch_url::{Code, Error, Meta, Phase};

use super::context::Run;
use crate::job::Transfer;
use crate::render;
use crate::render::terminal::sanitise_text;
use crate::render::written_file::{is_stdout, open_written};
use crate::report::TransferReport;

/// Writes the header of a response to the file of `-D`, which the first one replaces.
pub(super) fn dump_header(meta: &Meta, number: usize, run: &Run) -> Result<(), Error> {
    let Some(path) = &run.options.dump_header else { return Ok(()) };
    let mut text = render::head_text(meta, run.options.format);
    text.push(b'\n');
    if is_stdout(path) {
        if run.log.stdout_is_terminal {
            text = sanitise_text(&text).into_bytes();
        }
        return run.stdout_lock.print(number, &text);
    }
    let mut dumped = run.dumped_headers.borrow_mut();
    write_dumped(path, &mut dumped, &text).map_err(|error| failed(path, error))
}

fn write_dumped(path: &Path, dumped: &mut Option<File>, text: &[u8]) -> io::Result<()> {
    let file = match dumped {
        Some(file) => file,
        None => {
            dumped.insert(open_written(path, OpenOptions::new().create(true).write(true).truncate(true))?)
        }
    };
    file.write_all(text)
}

/// Empties the file of `--etag-save` before the object gets its name: if the process is killed then, or the file cannot be
/// written, it has no ETag of another version. A file that does not exist is not created, and a FIFO is not opened twice.
pub(super) fn with_etag_removed(sink: Sink, run: &Run) -> Sink {
    match run.options.etag_save.clone().filter(|path| !is_stdout(path)) {
        Some(path) => sink.before_rename(move || match path.is_file() {
            true => {
                let opened = open_written(&path, OpenOptions::new().write(true).truncate(true));
                opened.map(drop).map_err(|error| failed(&path, error))
            }
            false => Ok(()),
        }),
        None => sink,
    }
}

/// Writes the ETag of a saved object to the file of `--etag-save`. Without an ETag, the file is emptied, so that the next
/// run fetches the object. That of a duplicate is not stored: it means nothing to the server of the URL (RFC 9110 §8.8.3).
/// Nor is one if an earlier file is the start of this one, which may be that of another version.
pub(super) fn save_etag(transfer: &Transfer, report: &TransferReport, run: &Run) -> Result<(), Error> {
    let Some(path) = &run.options.etag_save else { return Ok(()) };
    let is_of_object = !transfer.is_from_document && !report.has_earlier_start;
    let meta = report.meta.as_deref().filter(|_| is_of_object);
    let field = meta.and_then(|meta| meta.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("etag")));
    let text = field.map_or_else(Vec::new, |(_, value)| [&value[..], b"\n"].concat());
    if is_stdout(path) {
        return run.stdout_lock.print(report.number, &text);
    }
    let mut options = OpenOptions::new();
    let opened = open_written(path, options.create(true).write(true).truncate(true));
    opened.and_then(|mut file| file.write_all(&text)).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::new(Code::SinkFailed, Phase::Deliver, format!("{}: {error}", path.display())).with_source(error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn heads_before_a_failed_write_are_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("heads");
        fs::write(&path, "one\n").expect("a file");
        // It is opened for reading, so that writing fails.
        let mut dumped = Some(File::open(&path).expect("a file"));
        for _ in 0..2 {
            assert!(write_dumped(&path, &mut dumped, b"two\n").is_err());
        }
        assert_eq!(fs::read_to_string(&path).expect("a file"), "one\n");
    }
}
