//! The fields of `-F` and `--form-string`: parts of a form for http, answers to the questions of a form for gopher.

use std::path::Path;

use fetch_url::gopher::GopherOptions;
use fetch_url::http::{FormPart, HttpOptions, Multipart, RequestBody};
use fetch_url::{Code, Error, Phase};

use super::option_file::{read_option_file, read_option_text, read_stdin};
use crate::error::usage_error;
use crate::flags::{GivenOptions, HttpFlags};

/// The media types of files by extension, as in curl.
const MEDIA_TYPES: [(&str, &str); 10] = [
    (".gif", "image/gif"),
    (".jpg", "image/jpeg"),
    (".jpeg", "image/jpeg"),
    (".png", "image/png"),
    (".svg", "image/svg+xml"),
    (".txt", "text/plain"),
    (".htm", "text/html"),
    (".html", "text/html"),
    (".pdf", "application/pdf"),
    (".xml", "application/xml"),
];

/// The fields of a form. Files are read when a URL needs them, because each scheme has its own rules.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    fields: Vec<FormField>,
    escapes_with_backslash: bool,
    /// The bytes of standard input, if a field reads it.
    stdin: Vec<u8>,
    /// The parts for http, if a URL of the command line needs them. They are read before the first transfer: a pipe can
    /// be read only once, and waiting for its writer would block the transfers.
    parts: Option<Vec<FormPart>>,
}

/// One `-F` or `--form-string`.
#[derive(Clone, Debug)]
struct FormField {
    name: String,
    value: String,
    /// Characters of the value have no special meaning.
    is_literal: bool,
}

impl Form {
    /// Parses the names of the fields, in the order of the command line.
    pub(super) fn of(http: &HttpFlags, urls: &[String], given: &GivenOptions) -> Result<Self, Error> {
        let mut fields: Vec<(usize, FormField)> = Vec::new();
        for (id, option, texts, is_literal) in
            [("form", "-F", &http.form, false), ("form_string", "--form-string", &http.form_string, true)]
        {
            for (place, text) in given.positions(id).zip(texts) {
                let Some((name, value)) = text.split_once('=') else {
                    return Err(usage_error(format!("{option} {text}: expected NAME=VALUE"))
                        .with_hint("wget's -F is --force-html; -F is --form here, as in curl"));
                };
                let field = FormField { name: name.to_owned(), value: value.to_owned(), is_literal };
                fields.push((place, field));
            }
        }
        fields.sort_by_key(|(place, _)| *place);
        let fields: Vec<FormField> = fields.into_iter().map(|(_, field)| field).collect();
        let stdin = match fields.iter().map(FormField::stdin_uses).sum() {
            0 => Vec::new(),
            1 => read_stdin("-F")?,
            _ => return Err(usage_error("-F: standard input can be the content of one field only")),
        };
        let is_gopher = |url: &String| url.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("gopher"));
        let mut form = Self { fields, escapes_with_backslash: http.form_escape, stdin, parts: None };
        if !form.is_empty() && !urls.iter().all(is_gopher) {
            form.parts = Some(form.all_parts()?);
        }
        Ok(form)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Makes the form the body of an HTTP request.
    pub(super) fn apply(&self, options: &mut HttpOptions) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let parts = self.parts.clone().map_or_else(|| self.all_parts(), Ok)?;
        Multipart::new(parts).apply(options);
        Ok(())
    }

    fn all_parts(&self) -> Result<Vec<FormPart>, Error> {
        let mut parts = Vec::new();
        for field in &self.fields {
            parts.extend(self.parts_of(field)?);
        }
        Ok(parts)
    }

    /// Sets the answers to the questions of a Gopher+ form: `NAME=VALUE`, `NAME=@FILE`, or `NAME=@@VALUE` for a value
    /// that begins with @.
    pub(super) fn answer(&self, options: &mut GopherOptions) -> Result<(), Error> {
        let answer = |field: &FormField| {
            let value = match field.value.strip_prefix('@').filter(|_| !field.is_literal) {
                None => field.value.as_bytes().to_vec(),
                Some(rest) if rest.starts_with('@') => rest.as_bytes().to_vec(),
                Some("-") => self.stdin.clone(),
                Some(path) => read_option_file("--form", Path::new(path))
                    .map_err(|error| error.with_hint("write @@ for a value that begins with @"))?,
            };
            Ok((field.name.as_bytes().to_vec(), value))
        };
        options.answers = self.fields.iter().map(answer).collect::<Result<_, Error>>()?;
        Ok(())
    }

    /// Returns the parts of a field: several for a list of files (RFC 7578 §4.3).
    fn parts_of(&self, field: &FormField) -> Result<Vec<FormPart>, Error> {
        let new = |content: RequestBody| {
            let part = FormPart::new(field.name.as_str(), content);
            if self.escapes_with_backslash { part.escape_with_backslash() } else { part }
        };
        if field.is_literal {
            return Ok(vec![new(field.value.clone().into())]);
        }
        if let Some(rest) = field.value.strip_prefix('@') {
            let mut rest = Words(rest);
            let mut parts = Vec::new();
            loop {
                let path = rest.word(&[';', ',']);
                let media_type = known_type(&path).unwrap_or("application/octet-stream");
                let part = new(self.file(&path)?).file_name(base_name(&path)).media_type(media_type);
                parts.push(rest.parameters(part, &[';', ','])?);
                if !rest.skip(',') {
                    return Ok(parts);
                }
            }
        }
        let (mut rest, is_file) = match field.value.strip_prefix('<') {
            Some(rest) => (Words(rest), true),
            None => (Words(&field.value), false),
        };
        if field.value.starts_with('(') || field.name.is_empty() && field.value.starts_with(')') {
            return Err(usage_error("-F: forms within forms are not supported")
                .with_hint("--form-string NAME=VALUE sends a value that begins with a parenthesis"));
        }
        let word = rest.word(&[';']);
        let mut part = new(if is_file { self.file(&word)? } else { word.clone().into() });
        if let Some(media_type) = known_type(&word).filter(|known| is_file && *known != "text/plain") {
            part = part.media_type(media_type);
        }
        Ok(vec![rest.parameters(part, &[';'])?])
    }

    /// Returns the content of a file: a regular one is read while it is sent, devices and pipes now.
    fn file(&self, path: &str) -> Result<RequestBody, Error> {
        if path == "-" {
            return Ok(self.stdin.clone().into());
        }
        RequestBody::file(path).or_else(|_| read_option_file("-F", Path::new(path)).map(Into::into))
    }
}

impl FormField {
    /// Returns how often standard input is the content of the field.
    fn stdin_uses(&self) -> usize {
        if self.is_literal { 0 } else { part_files(&self.value).iter().filter(|path| *path == "-").count() }
    }
}

/// Returns the files that the fields of `-F` read, for http or gopher.
pub(super) fn files(http: &HttpFlags) -> Vec<String> {
    let values = http.form.iter().filter_map(|text| Some(text.split_once('=')?.1));
    // For gopher, everything after `@` is the name of one file.
    let whole = |value: &str| value.strip_prefix(['@', '<']).map(str::to_owned);
    values.flat_map(|value| whole(value).into_iter().chain(part_files(value))).collect()
}

/// Returns the files of the parts that a field stands for, and those of their header fields.
fn part_files(value: &str) -> Vec<String> {
    let path = value.strip_prefix(['@', '<']);
    let ends: &[char] = if value.starts_with('@') { &[';', ','] } else { &[';'] };
    let mut files = Vec::new();
    let mut rest = Words(path.unwrap_or(value));
    loop {
        let word = rest.word(ends);
        files.extend(path.map(|_| word));
        while let Some((name, value)) = rest.parameter(ends) {
            let file = value.as_deref().and_then(|value| value.strip_prefix(['@', '<']));
            files.extend(file.filter(|_| name == "headers").map(str::to_owned));
        }
        if !rest.skip(',') {
            return files;
        }
    }
}

/// The unparsed rest of a value.
struct Words<'a>(&'a str);

impl Words<'_> {
    /// Skips `mark` if it is next. Returns `true` if it was.
    fn skip(&mut self, mark: char) -> bool {
        let rest = self.0.strip_prefix(mark);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Reads up to one of `ends`, without white space around it, or a text in quotes, in which a backslash escapes a quote
    /// or a backslash.
    fn word(&mut self, ends: &[char]) -> String {
        if let Some((word, rest)) = self.0.trim_start().strip_prefix('"').and_then(quoted_word) {
            self.0 = rest.trim_start_matches(|c| !ends.contains(&c));
            return word;
        }
        let (word, rest) = self.0.split_at(self.0.find(ends).unwrap_or(self.0.len()));
        self.0 = rest;
        word.trim_start_matches([' ', '\t']).trim_end_matches(|c: char| c.is_ascii_whitespace()).to_owned()
    }

    /// Reads the next parameter: its name, and its value if it has one.
    fn parameter(&mut self, ends: &[char]) -> Option<(String, Option<String>)> {
        if !self.skip(';') {
            return None;
        }
        self.0 = self.0.trim_start();
        let name = self.0.split(['=', ';', ',']).next().unwrap_or_default().to_owned();
        self.0 = self.0.strip_prefix(name.as_str()).unwrap_or(self.0);
        let value = if self.skip('=') { Some(self.word(ends)) } else { None };
        Some((name, value))
    }

    /// Reads `;type=`, `;filename=` and `;headers=` and applies them to `part`. Parameters of a media type, such as
    /// `;charset="utf-8"`, follow `;type=` and are kept as they are written. Without `;type=`, a known ending of
    /// `;filename=` decides.
    fn parameters(&mut self, mut part: FormPart, ends: &[char]) -> Result<FormPart, Error> {
        let mut media_type: Option<String> = None;
        let mut before = self.0;
        while let Some((name, value)) = self.parameter(ends) {
            let written = &before[..before.len() - self.0.len()];
            before = self.0;
            reject_line_ends(&name, value.as_deref().filter(|_| name != "filename"))?;
            match (name.as_str(), value, &mut media_type) {
                ("type", Some(value), own) => *own = Some(value.trim().to_owned()),
                ("filename", Some(value), _) => {
                    part = known_type(&value).into_iter().fold(part, FormPart::media_type).file_name(value);
                }
                ("headers", Some(value), _) => part = with_fields(part, &value)?,
                (parameter, Some(_), Some(own)) if parameter != "encoder" => own.push_str(written.trim_end()),
                _ => {
                    let detail = format!("-F: unknown parameter {name:?} after a semicolon");
                    return Err(usage_error(detail).with_hint(
                        "write NAME=\"VALUE\" or --form-string NAME=VALUE if the semicolon belongs to the value",
                    ));
                }
            }
        }
        Ok(match media_type {
            Some(media_type) => part.media_type(media_type),
            None => part,
        })
    }
}

/// Returns the text up to the closing quote and the rest after it, or `None` if there is no closing quote.
fn quoted_word(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((word, text.get(at + 1..)?)),
            '\\' => match characters.next()? {
                (_, escaped @ ('"' | '\\')) => word.push(escaped),
                (_, other) => word.extend(['\\', other]),
            },
            other => word.push(other),
        }
    }
    None
}

/// Fails if a value that becomes a part of a header field would end the field.
fn reject_line_ends(name: &str, value: Option<&str>) -> Result<(), Error> {
    match value.is_some_and(|value| value.contains(['\r', '\n', '\0'])) {
        true => Err(Error::new(
            Code::ForbiddenByte,
            Phase::Plan,
            format!("-F {name}=: CR, LF or NUL in a header field"),
        )),
        false => Ok(()),
    }
}

/// Adds the header fields of `headers=`: one, or those of a file.
fn with_fields(part: FormPart, value: &str) -> Result<FormPart, Error> {
    let Some(path) = value.strip_prefix(['@', '<']) else { return Ok(part.field(value)) };
    let text = read_option_text("-F headers=", Path::new(path))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    Ok(lines.fold(part, FormPart::field))
}

fn base_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// Returns the media type of the ending of a name.
fn known_type(path: &str) -> Option<&'static str> {
    let path = path.to_ascii_lowercase();
    let known = MEDIA_TYPES.iter().find(|(end, _)| path.ends_with(end));
    known.map(|(_, media_type)| *media_type)
}
