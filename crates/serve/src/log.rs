//! The access log in the common log format, and the events as JSON.

use std::fmt;
use std::io::Write;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fetch_url::Error;
use fetch_url_proto::calendar;
use serde_json::{Value, json};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A destination of lines: the access log, or the events. A write that fails is dropped.
#[derive(Clone)]
pub struct LogSink(Arc<Mutex<Box<dyn Write + Send>>>);

impl LogSink {
    /// Creates a sink that writes each line to `writer` and flushes it.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(writer))))
    }

    fn write_line(&self, line: &str) {
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // An answer does not depend on its log.
        let _ = writer.write_all(format!("{line}\n").as_bytes()).and_then(|()| writer.flush());
    }
}

impl fmt::Debug for LogSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogSink")
    }
}

/// The two destinations of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logs {
    pub(crate) access: Option<LogSink>,
    pub(crate) events: Option<LogSink>,
}

/// An answer, for both logs. Its texts are safe to print and without passwords.
#[derive(Debug)]
pub(crate) struct AnswerRecord {
    pub(crate) client: IpAddr,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) version: u8,
    pub(crate) status: u16,
    /// The number of bytes of the content that were sent.
    pub(crate) bytes: u64,
    /// All of the content was sent.
    pub(crate) is_complete: bool,
    pub(crate) elapsed: Duration,
    pub(crate) error: Option<(&'static str, String)>,
}

impl Logs {
    /// Writes an answer to both logs.
    pub(crate) fn record(&self, answer: &AnswerRecord) {
        if let Some(access) = &self.access {
            access.write_line(&common_log_line(answer, unix_time()));
        }
        self.event(|| {
            json!({
                "event": "answer",
                "client": answer.client.to_string(),
                "method": answer.method,
                "target": answer.target,
                "status": answer.status,
                "bytes": answer.bytes,
                "complete": answer.is_complete,
                "seconds": answer.elapsed.as_secs_f64(),
                "error": answer.error.as_ref().map(|(code, message)| json!({"code": code, "message": message})),
            })
        });
    }

    /// Writes an event, which gets the field `time`.
    pub(crate) fn event(&self, make: impl FnOnce() -> Value) {
        let Some(events) = &self.events else { return };
        let mut event = make();
        if let Value::Object(fields) = &mut event {
            fields.insert("time".to_owned(), json!(unix_time()));
        }
        events.write_line(&event.to_string());
    }
}

/// Returns code and message of an error for the events, without passwords.
pub(crate) fn error_for_log(error: &Error) -> (&'static str, String) {
    (error.code().name(), error.to_string())
}

/// Returns the time in seconds since 1970-01-01 UTC.
pub(crate) fn unix_time() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}

fn common_log_line(answer: &AnswerRecord, time: i64) -> String {
    let (year, month, day, hour, minute, second) = calendar::from_timestamp(time);
    let month = usize::try_from(month - 1).ok().and_then(|month| MONTHS.get(month)).unwrap_or(&"Jan");
    let AnswerRecord { client, method, target, version, status, bytes, .. } = answer;
    format!(
        "{client} - - [{day:02}/{month}/{year:04}:{hour:02}:{minute:02}:{second:02} +0000] \
         \"{method} {target} HTTP/1.{version}\" {status} {bytes}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_the_common_log_format() {
        let answer = AnswerRecord {
            client: "127.0.0.1".parse().expect("an address"),
            method: "GET".to_owned(),
            target: "/gopher://h/1/".to_owned(),
            version: 1,
            status: 200,
            bytes: 12,
            is_complete: true,
            elapsed: Duration::from_millis(5),
            error: None,
        };
        let expected = "127.0.0.1 - - [01/Dec/1994:12:34:56 +0000] \"GET /gopher://h/1/ HTTP/1.1\" 200 12";
        assert_eq!(common_log_line(&answer, 786_285_296), expected);
    }
}
