//! A line of the queue: the URLs of one object, its file name and its checksum, and its form as a message.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Component, Path};

#[cfg(feature = "aws-lc-rs")]
use aws_lc_rs::digest as provider;
use fetch_url::output::file_name;
use fetch_url::url::{Dialect, Guess, guess, mask_password, parse_with};
use fetch_url::{Checksum, Error};
#[cfg(not(feature = "aws-lc-rs"))]
use ring::digest as provider;
use serde_json::{Value, json};

use crate::directory::DIRECTORY_MARKER;
use crate::error::usage_error;

/// The version of the messages.
const VERSION: u64 = 1;
/// Bytes of the SHA-256 digest that identify a line.
const DIGEST_BYTES: usize = 16;

/// The URLs of one object, its file name and its checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    urls: Vec<String>,
    file: Option<String>,
    checksum: Option<Checksum>,
    /// The line has failed before and was added again.
    pub(crate) is_retry: bool,
    /// The number of times that the line was handed to a worker before it was set aside.
    pub(crate) earlier_tries: u64,
}

/// A message that is not a line.
#[derive(Debug)]
pub(crate) enum BadMessage {
    /// The message is not a line; the reason.
    Invalid(String),
    /// The message has a newer format version than this program knows.
    UnsupportedVersion(u64),
}

impl Line {
    /// Makes a line of its URLs, the first of which names the host whose limit applies.
    ///
    /// # Errors
    /// [`fetch_url::Code::Usage`] without a URL, if a URL has white space or control characters, or the file has
    /// control characters, if the file has no name or is outside the output directory of the workers, or if it is the
    /// file that identifies this directory ([`DIRECTORY_MARKER`]).
    pub fn new(urls: Vec<String>, file: Option<String>, checksum: Option<Checksum>) -> Result<Self, Error> {
        if urls.is_empty() {
            return Err(usage_error("a line has no URL"));
        }
        // They would be other lines or fields in the list of failed lines, which may be the next input.
        if let Some(url) = urls.iter().find(|url| !is_one_word(url)) {
            let url = mask_password(url);
            return Err(usage_error(format!(
                "\"{url}\" is not a URL: it has white space or control characters"
            )));
        }
        if let Some(file) = file.as_deref().filter(|file| file.contains(char::is_control)) {
            return Err(usage_error(format!("the file name {file} has control characters")));
        }
        if let Some(file) = file.as_deref().filter(|file| !ends_with_a_name(file)) {
            return Err(usage_error(format!("\"{file}\" is not the name of a file")));
        }
        if let Some(file) = file.as_deref().filter(|file| !is_inside(file)) {
            return Err(usage_error(format!(
                "the file {file} is not below the output directory, which the workers choose"
            )));
        }
        if let Some(file) = file.as_deref().filter(|file| is_marker(file)) {
            return Err(usage_error(format!(
                "the file {file} identifies the output directory of the workers"
            )));
        }
        Ok(Self { urls, file, checksum, is_retry: false, earlier_tries: 0 })
    }

    /// Returns the URLs of the object, in the order in which they are tried.
    pub fn urls(&self) -> &[String] {
        &self.urls
    }

    /// Returns the file name, relative to the output directory.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the required checksum.
    pub const fn checksum(&self) -> Option<&Checksum> {
        self.checksum.as_ref()
    }

    /// Returns the line in the format of `--input-file`, without a line end.
    pub fn to_list_line(&self) -> String {
        let mut text = self.urls.join(" ");
        if self.file.is_some() || self.checksum.is_some() {
            text.push('\t');
            text.push_str(self.file.as_deref().unwrap_or_default());
        }
        if let Some(checksum) = &self.checksum {
            text.push('\t');
            text.push_str(&checksum.to_string());
        }
        text
    }

    /// Returns the identity of the line: the same line has the same digest.
    pub(crate) fn digest(&self) -> String {
        digest_of(&self.to_list_line())
    }

    /// Returns the files that a worker may write, relative to the output directory: the file of the line, or those that
    /// its URLs name.
    pub(crate) fn file_names(&self) -> BTreeSet<String> {
        if let Some(file) = &self.file {
            let parts = Path::new(file).components().filter(|part| *part != Component::CurDir);
            let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
            return BTreeSet::from([parts.join("/")]);
        }
        let urls = self.urls.iter().map(|url| with_scheme(url));
        urls.filter_map(|url| file_name(&parse_with(&url, Dialect::Lenient).ok()?.url)).collect()
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut object = json!({ "v": VERSION, "urls": self.urls });
        if let Some(file) = &self.file {
            object["file"] = json!(file);
        }
        if let Some(checksum) = &self.checksum {
            object["checksum"] = json!(checksum.to_string());
        }
        if self.is_retry {
            object["retry"] = json!(true);
        }
        if self.earlier_tries > 0 {
            object["tries"] = json!(self.earlier_tries);
        }
        object
    }

    pub(crate) fn from_message(payload: &[u8]) -> Result<Self, BadMessage> {
        let invalid = |detail: &str| BadMessage::Invalid(detail.to_owned());
        let value: Value = serde_json::from_slice(payload).map_err(|error| invalid(&error.to_string()))?;
        Self::from_json(&value)
    }

    pub(crate) fn from_json(value: &Value) -> Result<Self, BadMessage> {
        let invalid = |detail: &str| BadMessage::Invalid(detail.to_owned());
        match value["v"].as_u64() {
            Some(VERSION) => {}
            Some(version) if version > VERSION => return Err(BadMessage::UnsupportedVersion(version)),
            _ => return Err(invalid("no version")),
        }
        let urls = value["urls"].as_array().ok_or_else(|| invalid("no URLs"))?;
        let urls: Option<Vec<String>> = urls.iter().map(|url| url.as_str().map(str::to_owned)).collect();
        let urls = urls.ok_or_else(|| invalid("a URL is not text"))?;
        let checksum = value["checksum"].as_str().map(str::parse).transpose();
        let checksum = checksum.map_err(|error: Error| invalid(&error.to_string()))?;
        let file = value["file"].as_str().map(str::to_owned);
        // A message may come from any program that may publish, so the file name is checked again.
        let line = Self::new(urls, file, checksum).map_err(|error| invalid(&error.to_string()))?;
        let is_retry = value["retry"].as_bool().unwrap_or_default();
        Ok(Self { is_retry, earlier_tries: value["tries"].as_u64().unwrap_or_default(), ..line })
    }
}

/// Returns a URL with the scheme that a worker adds to a host without one.
pub(crate) fn with_scheme(url: &str) -> Cow<'_, str> {
    match guess(url) {
        Some(host @ Guess::Host(_)) => host.url(url).map_or(Cow::Borrowed(url), Cow::Owned),
        _ => Cow::Borrowed(url),
    }
}

/// Returns the start of the SHA-256 of `text` in hexadecimal.
pub(crate) fn digest_of(text: &str) -> String {
    let digest = provider::digest(&provider::SHA256, text.as_bytes());
    digest.as_ref().iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns `true` for text without white space and control characters.
fn is_one_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control())
}

/// Returns `false` for a path that can only be that of a directory, such as `.` and `a/`.
fn ends_with_a_name(file: &str) -> bool {
    !matches!(file.rsplit('/').next(), None | Some("" | "."))
}

/// Returns `true` for a relative path without `..`.
fn is_inside(file: &str) -> bool {
    Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Returns `true` if `file` is the marker of the output directory, or below it. Directories may ignore the case of names.
fn is_marker(file: &str) -> bool {
    let first = Path::new(file).components().find(|part| *part != Component::CurDir);
    first.is_some_and(|first| first.as_os_str().eq_ignore_ascii_case(DIRECTORY_MARKER))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(file: Option<&str>) -> Result<Line, Error> {
        let checksum = "md5:900150983cd24fb0d6963f7d28e17f72".parse().ok();
        Line::new(vec!["http://h/a".into(), "ftp://h/a".into()], file.map(str::to_owned), checksum)
    }

    #[test]
    fn message_and_list_line_have_all_parts() {
        let line = line(Some("d/a b")).expect("a line");
        let message = line.to_json().to_string();
        assert_eq!(Line::from_message(message.as_bytes()).expect("a line"), line);
        let text = "http://h/a ftp://h/a\td/a b\tmd5:900150983cd24fb0d6963f7d28e17f72";
        assert_eq!(line.to_list_line(), text);
        assert_eq!(line.digest().len(), 32);
        assert_ne!(line.digest(), self::line(None).expect("a line").digest());
    }

    #[test]
    fn file_outside_the_output_directory_is_refused() {
        for file in ["/etc/passwd", "../x", "a/../../x"] {
            assert!(line(Some(file)).is_err(), "{file}");
            let message = format!(r#"{{"v":1,"urls":["http://h/a"],"file":"{file}"}}"#);
            assert!(matches!(Line::from_message(message.as_bytes()), Err(BadMessage::Invalid(_))));
        }
    }

    #[test]
    fn files_are_those_of_the_line_or_of_its_urls() {
        let names = |line: &Line| line.file_names().into_iter().collect::<Vec<_>>();
        for file in ["d/a", "./d/a", "d//a", "d/./a"] {
            assert_eq!(names(&line(Some(file)).expect("a line")), ["d/a"], "{file}");
        }
        let urls =
            ["http://h/x/a%20b?c", "ftp://h/b;type=i", "http://h/", "telnet://h/", "x", "h:80/x/c", "/d"];
        let line = Line::new(urls.map(str::to_owned).into(), None, None).expect("a line");
        assert_eq!(names(&line), ["a b", "b", "c"]);
    }

    #[test]
    fn url_or_file_that_would_be_another_line_is_refused() {
        let of = |url: &str, file: &str| Line::new(vec![url.to_owned()], Some(file.to_owned()), None);
        for url in
            ["", "http://h/ b", "http://h/\tb", "http://h/\nb", "http://h/\u{1b}[2J", "http://h/\u{2003}"]
        {
            assert!(of(url, "a").is_err(), "{url:?}");
        }
        for file in ["a\tb", "a\nb", "a\u{1b}b", "a\0", "a\u{9b}b"] {
            assert!(of("http://h/", file).is_err(), "{file:?}");
        }
        assert!(of("http://h/\u{e4}", "a b").is_ok());
    }

    #[test]
    fn path_without_a_file_name_is_refused() {
        for file in ["", ".", "./", "a/", "a/."] {
            assert!(line(Some(file)).is_err(), "{file}");
        }
        assert!(line(Some("./a/.b")).is_ok());
    }

    #[test]
    fn marker_of_the_output_directory_is_refused_as_a_file() {
        for file in [".fetch-url-queue", "./.fetch-url-queue", ".Fetch-URL-Queue", ".fetch-url-queue/x"] {
            assert!(line(Some(file)).is_err(), "{file}");
        }
        for file in ["a/.fetch-url-queue", ".fetch-url-queue2"] {
            assert!(line(Some(file)).is_ok(), "{file}");
        }
    }

    #[test]
    fn invalid_and_newer_messages_are_told_apart() {
        for invalid in ["", "x", "{}", r#"{"v":1}"#, r#"{"v":1,"urls":[]}"#, r#"{"v":1,"urls":[1]}"#] {
            assert!(
                matches!(Line::from_message(invalid.as_bytes()), Err(BadMessage::Invalid(_))),
                "{invalid}"
            );
        }
        assert!(matches!(Line::from_message(br#"{"v":2}"#), Err(BadMessage::UnsupportedVersion(2))));
    }
}
