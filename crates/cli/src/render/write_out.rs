//! `-w`: what is known of a transfer, in curl's variables and the caller's own words.

use std::time::Duration;

use fetch_url::proto::text::printable;
use fetch_url::url::mask_password;
use fetch_url::{Error, Meta, Steps};
use serde_json::{Map, Value, json};

use super::json::line;
use super::{print_octets, say};
use crate::job::usage;
use crate::report::Report;

/// A text with variables in it.
#[derive(Debug)]
pub(crate) struct WriteOut(Vec<Piece>);

#[derive(Debug)]
enum Piece {
    Text(String),
    Variable(&'static Variable),
    Header(String),
    HeaderJson,
    Json,
    OnError,
    To(Stream),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

#[derive(Debug)]
struct Variable {
    name: &'static str,
    value: fn(&Report) -> Shown,
}

/// A value, in the shape in which curl prints it.
enum Shown {
    /// Three digits.
    Code(u16),
    Number(u64),
    /// Six digits behind the point.
    Seconds(Duration),
    Text(String),
}

/// curl's variables, by name.
const VARIABLES: &[Variable] = &[
    Variable { name: "content_type", value: |report| text(meta(report, |meta| meta.media_type.clone())) },
    Variable { name: "errormsg", value: |report| text(report.error.as_ref().map(ToString::to_string)) },
    Variable { name: "exitcode", value: |report| Shown::Number(report.exit().into()) },
    Variable {
        name: "filename_effective",
        value: |report| text(report.file.as_ref().map(|file| file.display().to_string())),
    },
    Variable { name: "http_code", value: |report| Shown::Code(status(report)) },
    Variable { name: "http_version", value: http_version },
    Variable { name: "local_ip", value: |report| text(steps(report).local.map(|end| end.ip().to_string())) },
    Variable { name: "local_port", value: |report| Shown::Number(port(steps(report).local)) },
    Variable { name: "method", value: |report| text(report.method.clone()) },
    Variable { name: "num_connects", value: |report| Shown::Number(steps(report).connections.into()) },
    Variable {
        name: "num_headers",
        value: |report| Shown::Number(report.meta.as_ref().map_or(0, |meta| meta.fields.len() as u64)),
    },
    Variable {
        name: "num_redirects",
        value: |report| Shown::Number(report.meta.as_ref().map_or(0, |meta| meta.hops.into())),
    },
    Variable { name: "num_retries", value: |report| Shown::Number(report.retries().into()) },
    Variable { name: "redirect_url", value: redirect_url },
    Variable { name: "referer", value: |report| text(report.referer.clone()) },
    Variable { name: "remote_ip", value: |report| text(steps(report).peer.map(|end| end.ip().to_string())) },
    Variable { name: "remote_port", value: |report| Shown::Number(port(steps(report).peer)) },
    Variable { name: "response_code", value: |report| Shown::Code(status(report)) },
    Variable {
        name: "scheme",
        value: |report| text(meta(report, |meta| Some(meta.url.scheme_name().to_owned()))),
    },
    Variable { name: "size_download", value: |report| Shown::Number(report.came) },
    Variable { name: "size_header", value: |report| Shown::Number(header_octets(report)) },
    Variable { name: "size_upload", value: |report| Shown::Number(report.sent) },
    Variable { name: "speed_download", value: |report| speed(report, report.came) },
    Variable { name: "speed_upload", value: |report| speed(report, report.sent) },
    Variable { name: "ssl_verify_result", value: |_| Shown::Number(0) },
    Variable { name: "time_appconnect", value: |report| since_attempt(report, |steps| steps.secured) },
    Variable { name: "time_connect", value: |report| since_attempt(report, |steps| steps.connected) },
    Variable { name: "time_namelookup", value: |report| since_attempt(report, |steps| steps.resolved) },
    Variable { name: "time_pretransfer", value: |report| since_attempt(report, |steps| steps.sent) },
    Variable { name: "time_redirect", value: |report| Shown::Seconds(steps(report).begun) },
    Variable { name: "time_starttransfer", value: |report| since_attempt(report, |steps| steps.replied) },
    Variable { name: "time_total", value: |report| Shown::Seconds(report.took) },
    Variable { name: "url", value: |report| Shown::Text(mask_password(&report.url)) },
    Variable { name: "url_effective", value: |report| Shown::Text(effective(report)) },
    Variable { name: "urlnum", value: |report| Shown::Number(report.number as u64) },
];

fn text(text: Option<String>) -> Shown {
    Shown::Text(text.unwrap_or_default())
}

fn meta<T>(report: &Report, of: impl FnOnce(&Meta) -> Option<T>) -> Option<T> {
    report.meta.as_ref().and_then(of)
}

fn steps(report: &Report) -> Steps {
    report.meta.as_ref().map(|meta| meta.steps).unwrap_or_default()
}

fn port(end: Option<std::net::SocketAddr>) -> u64 {
    end.map_or(0, |end| end.port().into())
}

/// The status of the answer; that of a refusal is the beginning of its words.
fn status(report: &Report) -> u16 {
    let refused = || report.error.as_ref()?.reply()?.split(' ').next()?.parse().ok();
    meta(report, |meta| meta.status).or_else(refused).unwrap_or(0)
}

fn http_version(report: &Report) -> Shown {
    let spoken = meta(report, |meta| meta.protocol?.strip_prefix("HTTP/"));
    Shown::Text(spoken.unwrap_or("0").to_owned())
}

fn redirect_url(report: &Report) -> Shown {
    let to = |meta: &Meta| {
        let (_, to) = meta.fields.iter().find(|(name, _)| name == "location")?;
        let base = meta.url.to_string();
        (300..400)
            .contains(&meta.status?)
            .then(|| mask_password(&fetch_url::url::resolve(&base, &String::from_utf8_lossy(to))))
    };
    text(meta(report, to))
}

fn speed(report: &Report, octets: u64) -> Shown {
    let seconds = report.took.as_secs_f64().max(1e-6);
    Shown::Number((octets as f64 / seconds) as u64)
}

/// The head of the answer as it is written: status line, fields, empty line.
fn header_octets(report: &Report) -> u64 {
    let of = |meta: &Meta| {
        let fields = meta.fields.iter().map(|(name, value)| name.len() + value.len() + 4);
        Some(meta.reply.as_ref()?.len() + 2 + fields.sum::<usize>() + 2)
    };
    meta(report, of).unwrap_or(0) as u64
}

/// curl counts from the beginning of the last transfer.
fn since_attempt(report: &Report, step: fn(&Steps) -> Option<Duration>) -> Shown {
    let steps = steps(report);
    Shown::Seconds(step(&steps).map_or(Duration::ZERO, |at| at.saturating_sub(steps.begun)))
}

fn effective(report: &Report) -> String {
    let of_error = || report.error.as_ref().and_then(Error::url).map(str::to_owned);
    let of_answer = meta(report, |meta| Some(meta.url.redacted().to_string()));
    of_answer.or_else(of_error).unwrap_or_else(|| mask_password(&report.url))
}

impl Shown {
    fn as_text(&self) -> String {
        match self {
            Self::Code(code) => format!("{code:03}"),
            Self::Number(number) => number.to_string(),
            Self::Seconds(time) => format!("{:.6}", time.as_secs_f64()),
            Self::Text(text) => printable(text.as_bytes()),
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
    /// The format of `-w`: a text, or `@` and the file that holds it, `@-` for standard input.
    pub(crate) fn read(format: &str) -> Result<Self, Error> {
        let Some(path) = format.strip_prefix('@') else { return Self::parse(format) };
        let read = if path == "-" {
            std::io::read_to_string(std::io::stdin())
        } else {
            std::fs::read_to_string(path)
        };
        Self::parse(&read.map_err(|error| usage(format!("-w: {path}: {error}")))?)
    }

    fn parse(format: &str) -> Result<Self, Error> {
        let (mut pieces, mut rest) = (Vec::new(), format);
        while let Some(mark) = rest.find(['%', '\\']) {
            pieces.push(Piece::Text(rest[..mark].to_owned()));
            let (piece, after) = special(&rest[mark..])?;
            pieces.push(piece);
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// Writes what is known of a transfer; false when nobody reads it.
    pub(crate) fn write(&self, report: &Report) -> bool {
        let mut is_read = true;
        let (mut text, mut stream) = (String::new(), Stream::Stdout);
        for piece in &self.0 {
            match piece {
                Piece::OnError if report.error.is_none() => break,
                Piece::OnError => {}
                Piece::To(other) => {
                    is_read &= put(&std::mem::take(&mut text), stream);
                    stream = *other;
                }
                piece => text.push_str(&piece.shown(report)),
            }
        }
        put(&text, stream) && is_read
    }
}

fn put(text: &str, stream: Stream) -> bool {
    match stream {
        Stream::Stdout => print_octets(text.as_bytes()),
        Stream::Stderr => {
            say(text);
            true
        }
    }
}

impl Piece {
    fn shown(&self, report: &Report) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Variable(variable) => (variable.value)(report).as_text(),
            Self::Header(name) => meta(report, |meta| field(meta, name)).unwrap_or_default(),
            Self::HeaderJson => line(&header_json(report)),
            Self::Json => {
                let all = VARIABLES.iter().map(|row| (row.name.to_owned(), (row.value)(report).as_json()));
                line(&Value::Object(all.collect::<Map<_, _>>()))
            }
            Self::OnError | Self::To(_) => String::new(),
        }
    }
}

/// The first field of this name.
fn field(meta: &Meta, name: &str) -> Option<String> {
    let (_, value) = meta.fields.iter().find(|(own, _)| own.eq_ignore_ascii_case(name))?;
    Some(printable(value))
}

/// The fields of the answer, each with all its values.
fn header_json(report: &Report) -> Value {
    let mut fields: Map<String, Value> = Map::new();
    for (name, value) in report.meta.iter().flat_map(|meta| &meta.fields) {
        let values = fields.entry(name.clone()).or_insert_with(|| json!([]));
        if let Value::Array(values) = values {
            values.push(json!(String::from_utf8_lossy(value)));
        }
    }
    Value::Object(fields)
}

/// What `%` or a backslash begins, and the rest.
fn special(text: &str) -> Result<(Piece, &str), Error> {
    let plain = |piece: &str, length: usize| Ok((Piece::Text(piece.to_owned()), &text[length..]));
    for (mark, meaning) in [("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("%%", "%")] {
        if text.starts_with(mark) {
            return plain(meaning, mark.len());
        }
    }
    for (opening, is_header) in [("%{", false), ("%header{", true)] {
        let Some(inside) = text.strip_prefix(opening) else { continue };
        let Some(end) = inside.find('}') else { return Err(usage("-w: a { without its }")) };
        let (name, rest) = (&inside[..end], &inside[end + 1..]);
        return Ok((if is_header { Piece::Header(name.to_owned()) } else { named(name)? }, rest));
    }
    plain(&text[..1], 1)
}

fn named(name: &str) -> Result<Piece, Error> {
    match name {
        "header_json" => Ok(Piece::HeaderJson),
        "json" => Ok(Piece::Json),
        "onerror" => Ok(Piece::OnError),
        "stderr" => Ok(Piece::To(Stream::Stderr)),
        "stdout" => Ok(Piece::To(Stream::Stdout)),
        _ => match VARIABLES.iter().find(|variable| variable.name == name) {
            Some(variable) => Ok(Piece::Variable(variable)),
            None => Err(usage(format!("-w: there is no variable {name:?}")).with_hint(known())),
        },
    }
}

fn known() -> String {
    let names: Vec<&str> = VARIABLES.iter().map(|variable| variable.name).collect();
    format!("json header_json onerror stderr stdout header{{NAME}} {}", names.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: &str) -> String {
        let report = Report::begin(3, "http://u:geheim@h.test/a");
        WriteOut::parse(format).expect("a format").0.iter().map(|piece| piece.shown(&report)).collect()
    }

    #[test]
    fn formats() {
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
    fn the_table_is_in_order() {
        assert!(VARIABLES.is_sorted_by_key(|variable| variable.name));
    }
}
