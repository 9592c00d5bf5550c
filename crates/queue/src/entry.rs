//! The final entry of a line in the record.

use bytes::Bytes;
use fetch_url::url::mask_password;
use serde_json::Value;

use crate::Line;
use crate::json::ObjectWriter;

/// The version of the entries.
const VERSION: u64 = 1;

/// The maximum length of each text of an entry that is longer than the server accepts.
const MAX_TEXT: usize = 512;

/// How a line ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The file has its name.
    Done {
        /// The file, relative to the output directory if it is below it.
        file: Option<String>,
        /// The number of received bytes.
        bytes: u64,
    },
    /// The line failed permanently, or more often than allowed.
    Failed {
        /// The name of the error code.
        code: String,
        /// The exit status that a fetch of the line has.
        exit_status: u8,
        /// The message for a person.
        message: String,
    },
}

/// The final entry of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How the line ended.
    pub outcome: Outcome,
    /// The number of times that the line was handed to a worker.
    pub tries: u64,
    /// The name of the worker.
    pub worker: String,
}

impl Entry {
    pub(crate) const fn is_failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. })
    }

    /// Returns the entry as a message. URLs in the record have no passwords; `line` is kept complete for failed lines
    /// only, so that they can be tried again.
    ///
    /// If the message is longer than `max_length`, which the server would refuse, its texts are truncated. If that is
    /// not enough, it has no line, which cannot be tried again then.
    pub(crate) fn to_message(&self, line: Option<&Line>, max_length: usize) -> Bytes {
        let message = self.to_message_with(line, usize::MAX, true);
        if message.len() <= max_length {
            return message;
        }
        let message = self.to_message_with(line, MAX_TEXT, true);
        if message.len() <= max_length {
            return message;
        }
        self.to_message_with(line, MAX_TEXT, false)
    }

    /// Returns the entry with at most `max_text` bytes of each text.
    fn to_message_with(&self, line: Option<&Line>, max_text: usize, keeps_line: bool) -> Bytes {
        let mut object = ObjectWriter::new().number("v", VERSION).number("tries", self.tries);
        object = object.text("worker", truncated(&self.worker, max_text));
        if let Some(url) = line.and_then(|line| line.urls().first()) {
            object = object.text("url", truncated(&mask_password(url), max_text));
        }
        match &self.outcome {
            Outcome::Done { file, bytes } => {
                object = object.text("state", "done").number("bytes", *bytes);
                if let Some(file) = file {
                    object = object.text("file", truncated(file, max_text));
                }
            }
            Outcome::Failed { code, exit_status, message } => {
                object = object
                    .text("state", "failed")
                    .text("code", code)
                    .number("exit_status", u64::from(*exit_status))
                    .text("message", truncated(message, max_text));
                if let Some(line) = line.filter(|_| keeps_line) {
                    object = object.json("line", &line.to_json());
                }
            }
        }
        object.finish()
    }

    /// Parses an entry. Returns `None` for a message that is not an entry of this version.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        if value["v"].as_u64() != Some(VERSION) {
            return None;
        }
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let outcome = match value["state"].as_str()? {
            "done" => Outcome::Done {
                file: value["file"].as_str().map(str::to_owned),
                bytes: value["bytes"].as_u64().unwrap_or_default(),
            },
            "failed" => Outcome::Failed {
                code: text("code"),
                exit_status: value["exit_status"]
                    .as_u64()
                    .and_then(|status| u8::try_from(status).ok())
                    .unwrap_or(1),
                message: text("message"),
            },
            _ => return None,
        };
        Some(Self { outcome, tries: value["tries"].as_u64().unwrap_or_default(), worker: text("worker") })
    }
}

/// Returns at most `max_length` bytes of the start of `text`.
fn truncated(text: &str, max_length: usize) -> &str {
    let length = (0..=max_length.min(text.len())).rev().find(|length| text.is_char_boundary(*length));
    length.map_or("", |length| &text[..length])
}

/// Returns `true` for an entry of a newer version.
pub(crate) fn is_newer(value: &Value) -> bool {
    value["v"].as_u64().is_some_and(|version| version > VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_written_and_urls_have_no_passwords() {
        let line = Line::new(vec!["ftp://me:secret@h/a".to_owned()], None, None).expect("a line");
        let done = Outcome::Done { file: Some("a".to_owned()), bytes: 7 };
        let failed =
            Outcome::Failed { code: "not_found".to_owned(), exit_status: 78, message: "no file".to_owned() };
        for outcome in [done, failed] {
            let entry = Entry { outcome, tries: 3, worker: "w".to_owned() };
            let json = serde_json::from_slice(&entry.to_message(Some(&line), usize::MAX)).expect("JSON");
            assert_eq!(Entry::from_json(&json), Some(entry));
            assert!(!Value::to_string(&json["url"]).contains("secret"), "{json}");
        }
        assert_eq!(Entry::from_json(&serde_json::json!({ "v": 2, "state": "done" })), None);
    }

    #[test]
    fn entry_that_is_too_long_has_shorter_texts_and_then_no_line() {
        let line = Line::new(vec![format!("http://h/{}", "a".repeat(9000))], None, None).expect("a line");
        let outcome =
            Outcome::Failed { code: "x".to_owned(), exit_status: 3, message: "\u{e4}".repeat(9000) };
        let entry = Entry { outcome, tries: 3, worker: "w".repeat(9000) };
        let complete = entry.to_message(Some(&line), usize::MAX);
        for (max_length, keeps_line) in [(complete.len() - 1, true), (12_000, true), (8000, false)] {
            let message = entry.to_message(Some(&line), max_length);
            assert!(message.len() <= max_length, "{}", message.len());
            let json: Value = serde_json::from_slice(&message).expect("JSON");
            assert!(Entry::from_json(&json).expect("an entry").is_failed());
            assert_eq!(Line::from_json(&json["line"]).ok(), keeps_line.then(|| line.clone()));
        }
    }
}
