//! The variables of `-w` and their values.

use std::time::Duration;

use fetch_url::internal::redirect_target;
use fetch_url::response::Timings;
use fetch_url::url::mask_password;
use fetch_url::{Error, Meta, Phase};
use fetch_url_proto::text::sanitise;
use serde_json::{Value, json};

use crate::report::TransferReport;

/// A variable: its name, and the function that returns its value for a transfer.
#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    pub(super) value: fn(&TransferReport) -> VariableValue,
}

/// The value of a variable, in the format in which curl prints it.
pub(super) enum VariableValue {
    /// A status code, printed with three digits.
    Code(u16),
    Number(u64),
    /// A time in seconds, printed with six digits after the point.
    Seconds(Duration),
    Text(String),
}

/// The variables, sorted by name.
pub(super) const VARIABLES: &[Variable] = &[
    Variable { name: "content_type", value: |report| text(meta(report, |meta| meta.media_type.clone())) },
    Variable { name: "errormsg", value: |report| text(report.error.as_ref().map(ToString::to_string)) },
    Variable { name: "exitcode", value: |report| VariableValue::Number(report.exit_status().into()) },
    Variable {
        name: "filename_effective",
        value: |report| text(report.file.as_ref().map(|file| file.display().to_string())),
    },
    Variable { name: "http_code", value: |report| VariableValue::Code(status(report)) },
    Variable { name: "http_version", value: http_version },
    Variable {
        name: "local_ip",
        value: |report| text(steps(report).local_addr.map(|end| end.ip().to_string())),
    },
    Variable { name: "local_port", value: |report| VariableValue::Number(port(steps(report).local_addr)) },
    Variable { name: "method", value: |report| text(report.method.clone()) },
    Variable {
        name: "num_connects",
        value: |report| VariableValue::Number(steps(report).connections.into()),
    },
    Variable {
        name: "num_headers",
        value: |report| {
            VariableValue::Number(report.meta.as_deref().map_or(0, |meta| meta.fields.len() as u64))
        },
    },
    Variable {
        name: "num_redirects",
        value: |report| VariableValue::Number(report.meta.as_deref().map_or(0, |meta| meta.redirects.into())),
    },
    Variable { name: "num_retries", value: |report| VariableValue::Number(report.retries().into()) },
    Variable { name: "redirect_url", value: redirect_url },
    Variable { name: "referer", value: referer },
    Variable {
        name: "remote_ip",
        value: |report| text(steps(report).remote_addr.map(|end| end.ip().to_string())),
    },
    Variable { name: "remote_port", value: |report| VariableValue::Number(port(steps(report).remote_addr)) },
    Variable { name: "response_code", value: |report| VariableValue::Code(status(report)) },
    Variable {
        name: "scheme",
        value: |report| text(meta(report, |meta| Some(meta.url.scheme_name().to_owned()))),
    },
    Variable { name: "size_download", value: |report| VariableValue::Number(report.received) },
    Variable { name: "size_header", value: |report| VariableValue::Number(header_size(report)) },
    Variable { name: "size_upload", value: |report| VariableValue::Number(sent(report)) },
    Variable { name: "speed_download", value: |report| speed(report, report.received) },
    Variable { name: "speed_upload", value: |report| speed(report, sent(report)) },
    Variable { name: "ssl_verify_result", value: |_| VariableValue::Number(0) },
    Variable { name: "time_appconnect", value: |report| since_attempt(report, |steps| steps.tls_done) },
    Variable { name: "time_connect", value: |report| since_attempt(report, |steps| steps.connected) },
    Variable { name: "time_namelookup", value: |report| since_attempt(report, |steps| steps.resolved) },
    Variable { name: "time_pretransfer", value: |report| since_attempt(report, |steps| steps.sent) },
    Variable { name: "time_redirect", value: |report| VariableValue::Seconds(steps(report).started) },
    Variable { name: "time_starttransfer", value: |report| since_attempt(report, |steps| steps.first_byte) },
    Variable { name: "time_total", value: |report| VariableValue::Seconds(report.elapsed) },
    Variable { name: "url", value: |report| VariableValue::Text(mask_password(&report.url)) },
    Variable { name: "url_effective", value: |report| VariableValue::Text(effective_url(report)) },
    Variable { name: "urlnum", value: |report| VariableValue::Number(report.number as u64) },
];

fn text(text: Option<String>) -> VariableValue {
    VariableValue::Text(text.unwrap_or_default())
}

pub(super) fn meta<T>(report: &TransferReport, of: impl FnOnce(&Meta) -> Option<T>) -> Option<T> {
    report.meta.as_deref().and_then(of)
}

/// Returns the times and the connection of the last request, also if it failed.
fn steps(report: &TransferReport) -> Timings {
    let of_error = || report.error.as_ref().map(|error| *error.timings());
    report.meta.as_deref().map(|meta| meta.timings).or_else(of_error).unwrap_or_default()
}

fn port(end: Option<std::net::SocketAddr>) -> u64 {
    end.map_or(0, |end| end.port().into())
}

/// Returns the status code of the response. For an error, returns the first word of the server's reply.
fn status(report: &TransferReport) -> u16 {
    let refused = || report.error.as_ref()?.reply()?.split(' ').next()?.parse().ok();
    meta(report, |meta| meta.status).or_else(refused).unwrap_or(0)
}

/// Returns the Referer of the last request, or of the first request if there is no response.
fn referer(report: &TransferReport) -> VariableValue {
    text(report.meta.as_deref().map_or_else(|| report.referer.clone(), |meta| meta.referer.clone()))
}

fn http_version(report: &TransferReport) -> VariableValue {
    let version = meta(report, |meta| meta.protocol?.strip_prefix("HTTP/"));
    VariableValue::Text(version.unwrap_or("0").to_owned())
}

fn redirect_url(report: &TransferReport) -> VariableValue {
    let to = |meta: &Meta| {
        let (_, to) = meta.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"))?;
        (300..400).contains(&meta.status?).then(|| mask_password(&redirect_target(&meta.url, to)))
    };
    // The error of a redirect that must not be followed has its target.
    let of_error = || report.error.as_ref()?.redirect_target().map(str::to_owned);
    text(meta(report, to).or_else(of_error))
}

/// Returns the size of the request body, or 0 if no connection was opened for it.
fn sent(report: &TransferReport) -> u64 {
    let was_opened = |error: &Error| {
        !matches!(
            error.phase(),
            Phase::Plan | Phase::Resolve | Phase::Connect | Phase::Proxy | Phase::Tls | Phase::Certificate
        )
    };
    if report.meta.is_some() || report.error.as_ref().is_none_or(was_opened) { report.sent } else { 0 }
}

/// Returns the average rate in bytes per second.
fn speed(report: &TransferReport, bytes: u64) -> VariableValue {
    let seconds = report.elapsed.as_secs_f64().max(1e-6);
    VariableValue::Number((bytes as f64 / seconds) as u64)
}

/// Returns the size of the response headers in bytes, with those of redirects: status line, fields and empty line.
fn header_size(report: &TransferReport) -> u64 {
    let of = |meta: &Meta| {
        let fields = meta.fields.iter().map(|(name, value)| name.len() + value.len() + 4);
        Some(meta.reply.as_ref()?.len() + 2 + fields.sum::<usize>() + 2)
    };
    let earlier = report.meta.iter().flat_map(|meta| &meta.earlier).filter_map(of).sum::<usize>();
    (earlier + meta(report, of).unwrap_or(0)) as u64
}

/// Returns the time of a step since the start of the last attempt, as in curl.
fn since_attempt(report: &TransferReport, step: fn(&Timings) -> Option<Duration>) -> VariableValue {
    let steps = steps(report);
    VariableValue::Seconds(step(&steps).map_or(Duration::ZERO, |at| at.saturating_sub(steps.started)))
}

/// Returns the final URL: from the response, else from the error, else from the command line.
fn effective_url(report: &TransferReport) -> String {
    let of_error = || report.error.as_ref().and_then(Error::url).map(str::to_owned);
    let of_answer = meta(report, |meta| Some(meta.url.redacted().to_string()));
    of_answer.or_else(of_error).unwrap_or_else(|| mask_password(&report.url))
}

impl VariableValue {
    pub(super) fn as_text(&self) -> String {
        match self {
            Self::Code(code) => format!("{code:03}"),
            Self::Number(number) => number.to_string(),
            Self::Seconds(time) => format!("{:.6}", time.as_secs_f64()),
            Self::Text(text) => sanitise(text.as_bytes()),
        }
    }

    pub(super) fn as_json(&self) -> Value {
        match self {
            Self::Code(code) => json!(code),
            Self::Number(number) => json!(number),
            Self::Seconds(time) => json!((time.as_secs_f64() * 1e6).round() / 1e6),
            Self::Text(text) if text.is_empty() => Value::Null,
            Self::Text(text) => json!(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_sorted_by_name() {
        assert!(VARIABLES.is_sorted_by_key(|variable| variable.name));
    }
}
