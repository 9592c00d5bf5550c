//! `-w`, `--write-out`: text with curl's variables, printed after each transfer.

mod format;

use std::fs::File;
use std::io::{self, Write as _};
use std::time::Duration;

use fetch_url::response::Timings;
use fetch_url::url::mask_password;
use fetch_url::{Error, Meta};
use fetch_url_proto::text::sanitise;
use serde_json::{Map, Value, json};

use super::json::json_line;
use super::stdio::{print_stderr, print_stdout_bytes};
use super::terminal::field_text;
use crate::error::usage_error;
use crate::report::TransferReport;
use format::{Piece, Stream};

/// A parsed format of `-w`.
#[derive(Debug)]
pub(crate) struct WriteOut(Vec<Piece>);

/// A variable: its name, and the function that returns its value for a transfer.
#[derive(Debug)]
struct Variable {
    name: &'static str,
    value: fn(&TransferReport) -> VariableValue,
}

/// The value of a variable, in the format in which curl prints it.
enum VariableValue {
    /// A status code, printed with three digits.
    Code(u16),
    Number(u64),
    /// A time in seconds, printed with six digits after the point.
    Seconds(Duration),
    Text(String),
}

/// The variables, sorted by name.
const VARIABLES: &[Variable] = &[
    Variable { name: "content_type", value: |report| text(meta(report, |meta| meta.media_type.clone())) },
    Variable { name: "errormsg", value: |report| text(report.error.as_ref().map(ToString::to_string)) },
    Variable { name: "exitcode", value: |report| VariableValue::Number(report.exit().into()) },
    Variable {
        name: "filename_effective",
        value: |report| text(report.file.as_ref().map(|file| file.display().to_string())),
    },
    Variable { name: "http_code", value: |report| VariableValue::Code(status(report)) },
    Variable { name: "http_version", value: http_version },
    Variable { name: "local_ip", value: |report| text(steps(report).local.map(|end| end.ip().to_string())) },
    Variable { name: "local_port", value: |report| VariableValue::Number(port(steps(report).local)) },
    Variable { name: "method", value: |report| text(report.method.clone()) },
    Variable {
        name: "num_connects",
        value: |report| VariableValue::Number(steps(report).connections.into()),
    },
    Variable {
        name: "num_headers",
        value: |report| {
            VariableValue::Number(report.meta.as_ref().map_or(0, |meta| meta.fields.len() as u64))
        },
    },
    Variable {
        name: "num_redirects",
        value: |report| VariableValue::Number(report.meta.as_ref().map_or(0, |meta| meta.redirects.into())),
    },
    Variable { name: "num_retries", value: |report| VariableValue::Number(report.retries().into()) },
    Variable { name: "redirect_url", value: redirect_url },
    Variable { name: "referer", value: referer },
    Variable { name: "remote_ip", value: |report| text(steps(report).peer.map(|end| end.ip().to_string())) },
    Variable { name: "remote_port", value: |report| VariableValue::Number(port(steps(report).peer)) },
    Variable { name: "response_code", value: |report| VariableValue::Code(status(report)) },
    Variable {
        name: "scheme",
        value: |report| text(meta(report, |meta| Some(meta.url.scheme_name().to_owned()))),
    },
    Variable { name: "size_download", value: |report| VariableValue::Number(report.received) },
    Variable { name: "size_header", value: |report| VariableValue::Number(header_size(report)) },
    Variable { name: "size_upload", value: |report| VariableValue::Number(report.sent) },
    Variable { name: "speed_download", value: |report| speed(report, report.received) },
    Variable { name: "speed_upload", value: |report| speed(report, report.sent) },
    Variable { name: "ssl_verify_result", value: |_| VariableValue::Number(0) },
    Variable { name: "time_appconnect", value: |report| since_attempt(report, |steps| steps.secured) },
    Variable { name: "time_connect", value: |report| since_attempt(report, |steps| steps.connected) },
    Variable { name: "time_namelookup", value: |report| since_attempt(report, |steps| steps.resolved) },
    Variable { name: "time_pretransfer", value: |report| since_attempt(report, |steps| steps.sent) },
    Variable { name: "time_redirect", value: |report| VariableValue::Seconds(steps(report).started) },
    Variable { name: "time_starttransfer", value: |report| since_attempt(report, |steps| steps.replied) },
    Variable { name: "time_total", value: |report| VariableValue::Seconds(report.took) },
    Variable { name: "url", value: |report| VariableValue::Text(mask_password(&report.url)) },
    Variable { name: "url_effective", value: |report| VariableValue::Text(effective_url(report)) },
    Variable { name: "urlnum", value: |report| VariableValue::Number(report.number as u64) },
];

fn text(text: Option<String>) -> VariableValue {
    VariableValue::Text(text.unwrap_or_default())
}

fn meta<T>(report: &TransferReport, of: impl FnOnce(&Meta) -> Option<T>) -> Option<T> {
    report.meta.as_ref().and_then(of)
}

fn steps(report: &TransferReport) -> Timings {
    report.meta.as_ref().map(|meta| meta.timings).unwrap_or_default()
}

fn port(end: Option<std::net::SocketAddr>) -> u64 {
    end.map_or(0, |end| end.port().into())
}

/// Returns the status code of the reply; that of an error is the first word of its reply.
fn status(report: &TransferReport) -> u16 {
    let refused = || report.error.as_ref()?.reply()?.split(' ').next()?.parse().ok();
    meta(report, |meta| meta.status).or_else(refused).unwrap_or(0)
}

/// Returns the Referer of the last request, or of the first one if there is no response.
fn referer(report: &TransferReport) -> VariableValue {
    text(report.meta.as_ref().map_or_else(|| report.referer.clone(), |meta| meta.referer.clone()))
}

fn http_version(report: &TransferReport) -> VariableValue {
    let version = meta(report, |meta| meta.protocol?.strip_prefix("HTTP/"));
    VariableValue::Text(version.unwrap_or("0").to_owned())
}

fn redirect_url(report: &TransferReport) -> VariableValue {
    let to = |meta: &Meta| {
        let (_, to) = meta.fields.iter().find(|(name, _)| name == "location")?;
        let base = meta.url.to_string();
        (300..400)
            .contains(&meta.status?)
            .then(|| mask_password(&fetch_url::url::resolve_reference(&base, &String::from_utf8_lossy(to))))
    };
    text(meta(report, to))
}

/// Returns the average rate in bytes per second.
fn speed(report: &TransferReport, bytes: u64) -> VariableValue {
    let seconds = report.took.as_secs_f64().max(1e-6);
    VariableValue::Number((bytes as f64 / seconds) as u64)
}

/// Returns the size of the response header in bytes: status line, fields and empty line.
fn header_size(report: &TransferReport) -> u64 {
    let of = |meta: &Meta| {
        let fields = meta.fields.iter().map(|(name, value)| name.len() + value.len() + 4);
        Some(meta.reply.as_ref()?.len() + 2 + fields.sum::<usize>() + 2)
    };
    meta(report, of).unwrap_or(0) as u64
}

/// Returns the time of a step since the start of the last attempt, as in curl.
fn since_attempt(report: &TransferReport, step: fn(&Timings) -> Option<Duration>) -> VariableValue {
    let steps = steps(report);
    VariableValue::Seconds(step(&steps).map_or(Duration::ZERO, |at| at.saturating_sub(steps.started)))
}

/// Returns the final URL: that of the response, of the error, or the given one.
fn effective_url(report: &TransferReport) -> String {
    let of_error = || report.error.as_ref().and_then(Error::url).map(str::to_owned);
    let of_answer = meta(report, |meta| Some(meta.url.redacted().to_string()));
    of_answer.or_else(of_error).unwrap_or_else(|| mask_password(&report.url))
}

impl VariableValue {
    fn as_text(&self) -> String {
        match self {
            Self::Code(code) => format!("{code:03}"),
            Self::Number(number) => number.to_string(),
            Self::Seconds(time) => format!("{:.6}", time.as_secs_f64()),
            Self::Text(text) => sanitise(text.as_bytes()),
        }
    }

    fn as_json(&self) -> Value {
        match self {
            Self::Code(code) => json!(code),
            Self::Number(number) => json!(number),
            Self::Seconds(time) => json!((time.as_secs_f64() * 1e6).round() / 1e6),
            Self::Text(text) if text.is_empty() => Value::Null,
            Self::Text(text) => json!(text),
        }
    }
}

impl WriteOut {
    /// Parses the value of `-w`: a format, or `@FILE` to read it from a file, `@-` from standard input.
    pub(crate) fn read(format: &str) -> Result<Self, Error> {
        let Some(path) = format.strip_prefix('@') else { return Self::parse(format) };
        let read = if path == "-" { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(path) };
        Self::parse(&read.map_err(|error| usage_error(format!("-w: {path}: {error}")))?)
    }

    fn parse(text: &str) -> Result<Self, Error> {
        format::parse_format(text).map(Self)
    }

    /// Writes the text for a transfer. Returns `false` if the reader of standard output has closed it, or a file cannot be
    /// written.
    pub(crate) fn write(&self, report: &TransferReport) -> bool {
        let mut is_read = true;
        let (mut text, mut stream) = (String::new(), &Stream::Stdout);
        for piece in &self.0 {
            match piece {
                Piece::OnError if report.error.is_none() => break,
                Piece::OnError => {}
                Piece::To(other) => {
                    is_read &= write_to_stream(&std::mem::take(&mut text), stream);
                    stream = other;
                }
                piece => text.push_str(&piece.shown(report)),
            }
        }
        write_to_stream(&text, stream) && is_read
    }
}

/// Writes to a stream. Returns `false` if its reader has closed it, or if a file cannot be written.
fn write_to_stream(text: &str, stream: &Stream) -> bool {
    match stream {
        Stream::Stdout => print_stdout_bytes(text.as_bytes()),
        Stream::Stderr => {
            print_stderr(text);
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
    options.open(path)?.write_all(text.as_bytes())
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

/// Returns all header fields as a JSON object, each with an array of its values.
fn header_json(report: &TransferReport) -> Value {
    let mut fields: Map<String, Value> = Map::new();
    for (name, value) in report.meta.iter().flat_map(|meta| &meta.fields) {
        let values = fields.entry(name.clone()).or_insert_with(|| json!([]));
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

    #[test]
    fn variables_are_sorted_by_name() {
        assert!(VARIABLES.is_sorted_by_key(|variable| variable.name));
    }
}
