//! `-w`, `--write-out`: text with curl's variables, printed after each transfer.

mod format;
mod variables;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use fetch_url::{Error, Meta};
use serde_json::{Map, Value, json};

use super::json::json_line;
use super::stdio::{print_stderr, status_of_print, write_stderr};
use super::terminal::field_text;
use super::written_file::open_written;
use crate::error::usage_error;
use crate::report::TransferReport;
use crate::stdin::stdin_for;
use format::{Piece, Stream};
use variables::{VARIABLES, meta};

/// A parsed format of `-w`.
#[derive(Debug)]
pub(crate) struct WriteOut(Vec<Piece>);

impl WriteOut {
    /// Parses the value of `-w`: a format, or `@FILE` to read it from a file, `@-` from standard input. The CR and LF of
    /// the file are not part of the format, as in curl.
    pub(crate) fn read(format: &str) -> Result<Self, Error> {
        let Some(path) = format.strip_prefix('@') else { return Self::parse(format) };
        let read = match path {
            "-" => io::read_to_string(stdin_for("-w")?),
            path => std::fs::read_to_string(path),
        };
        let text = read.map_err(|error| usage_error(format!("-w: {path}: {error}")))?;
        Self::parse(&text.replace(['\r', '\n'], ""))
    }

    fn parse(text: &str) -> Result<Self, Error> {
        format::parse_format(text).map(Self)
    }

    /// Returns the files of `%output{}`.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        let path = |piece: &Piece| match piece {
            Piece::To(Stream::File { path, .. }) => Some(PathBuf::from(path)),
            _ => None,
        };
        self.0.iter().filter_map(path).collect()
    }

    /// Writes the text for a transfer; `print` prints to standard output. Errors are reported; returns `false` after
    /// one.
    pub(crate) fn write(&self, report: &TransferReport, print: impl Fn(&[u8]) -> Result<(), Error>) -> bool {
        let mut is_written = true;
        let (mut text, mut stream) = (String::new(), &Stream::Stdout);
        for piece in &self.0 {
            match piece {
                Piece::OnError if report.error.is_none() => break,
                Piece::OnError => {}
                Piece::To(other) => {
                    is_written &= write_to_stream(&std::mem::take(&mut text), stream, &print);
                    stream = other;
                }
                piece => text.push_str(&piece.shown(report)),
            }
        }
        write_to_stream(&text, stream, &print) && is_written
    }
}

/// Writes to a stream. Reports an error and returns `false`, without a message if the reader of standard output has
/// closed it.
fn write_to_stream(text: &str, stream: &Stream, print: impl Fn(&[u8]) -> Result<(), Error>) -> bool {
    match stream {
        Stream::Stdout => status_of_print(print(text.as_bytes()), 0) == 0,
        Stream::Stderr => {
            // The format is the user's own, with tabs and colours.
            write_stderr(text);
            true
        }
        Stream::File { path, appends } => {
            let written = write_to_file(text, path, *appends);
            written.map_err(|error| print_stderr(&format!("fetch-url: -w: {path}: {error}\n"))).is_ok()
        }
    }
}

/// Writes to the file of `%output`, which is created if it is missing.
fn write_to_file(text: &str, path: &str, appends: bool) -> io::Result<()> {
    let mut options = File::options();
    options.create(true).append(appends).write(true).truncate(!appends);
    open_written(path, &options)?.write_all(text.as_bytes())
}

impl Piece {
    fn shown(&self, report: &TransferReport) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Variable(variable) => (variable.value)(report).as_text(),
            Self::Header { name, separator } => {
                meta(report, |meta| header_fields(meta, name, separator.as_deref())).unwrap_or_default()
            }
            Self::HeaderJson => json_line(&header_json(report)),
            Self::Json => {
                let all = VARIABLES.iter().map(|row| (row.name.to_owned(), (row.value)(report).as_json()));
                json_line(&Value::Object(all.collect::<Map<_, _>>()))
            }
            Self::OnError | Self::To(_) => String::new(),
        }
    }
}

/// Returns the value of the first header field of this name, or with a separator those of all fields.
fn header_fields(meta: &Meta, name: &str, separator: Option<&str>) -> Option<String> {
    let named = meta.fields.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
    let mut values = named.map(|(_, value)| field_text(meta, value));
    match separator {
        None => values.next(),
        Some(separator) => Some(values.collect::<Vec<_>>().join(separator)),
    }
}

/// Returns all header fields as a JSON object, each with an array of its values. Names are in lower case, as in curl.
fn header_json(report: &TransferReport) -> Value {
    let mut fields: Map<String, Value> = Map::new();
    for (name, value) in report.meta.iter().flat_map(|meta| &meta.fields) {
        let values = fields.entry(name.to_ascii_lowercase()).or_insert_with(|| json!([]));
        if let Value::Array(values) = values {
            values.push(json!(String::from_utf8_lossy(value)));
        }
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: &str) -> String {
        let report = TransferReport::begin(3, "http://u:geheim@h.test/a");
        WriteOut::parse(format).expect("a format").0.iter().map(|piece| piece.shown(&report)).collect()
    }

    #[test]
    fn formats_are_expanded_or_rejected() {
        assert_eq!(
            written("a%%b\\n%{urlnum} %{http_code}|%{content_type}|%{time_total}"),
            "a%b\n3 000||0.000000"
        );
        assert_eq!(written("%{url} %x \\q"), "http://u:******@h.test/a %x \\q");
        assert_eq!(written("%header{x}"), "");
        assert!(written("%{json}").contains("\"urlnum\":3"));
        for bad in ["%{nothing}", "%{url", "%header{x"] {
            assert!(WriteOut::parse(bad).is_err(), "{bad}");
        }
    }
}
