//! The request body of curl's `-d` and related options.

use fetch_url::Error;
use fetch_url::http::RequestBody;

use super::option_file::{read_option_file, read_stdin};
use crate::error::usage_error;
use crate::flags::{GivenOptions, HttpFlags};

/// Returns the body of the request, or `None` without data. One regular file of `--data-binary` or `--json` is read while
/// it is sent.
pub(super) fn body(http: &HttpFlags, given: &GivenOptions) -> Result<Option<RequestBody>, Error> {
    match only_file(http).map(RequestBody::file) {
        Some(Ok(body)) => Ok(Some(body)),
        // Devices and pipes are read into memory now. A missing file is reported by this read.
        None | Some(Err(_)) => Ok(joined(http, given)?.map(Into::into)),
    }
}

/// Returns the file if the data is the unchanged content of one file.
fn only_file(http: &HttpFlags) -> Option<&str> {
    let has_others = [&http.data, &http.data_raw, &http.data_urlencode].iter().any(|texts| !texts.is_empty());
    match (http.data_binary.as_slice(), http.json.as_slice()) {
        ([text], []) | ([], [text]) if !has_others => text.strip_prefix('@').filter(|path| *path != "-"),
        _ => None,
    }
}

/// Joins all data in the order of the command line: forms with `&`, JSON without separator. Returns `None` without
/// data.
pub(super) fn joined(http: &HttpFlags, given: &GivenOptions) -> Result<Option<Vec<u8>>, Error> {
    let mut pieces: Vec<(usize, Vec<u8>)> = Vec::new();
    for (name, texts, read) in [
        ("data", &http.data, form as Reader),
        ("data_raw", &http.data_raw, raw),
        ("data_binary", &http.data_binary, file_bytes_or_text),
        ("data_urlencode", &http.data_urlencode, escaped_form),
    ] {
        let places = given.positions(name);
        for (place, text) in places.zip(texts) {
            pieces.push((place, read(text)?));
        }
    }
    pieces.sort_by_key(|(place, _)| *place);
    if http.json.is_empty() {
        let pieces: Vec<_> = pieces.into_iter().map(|(_, piece)| piece).collect();
        return Ok((!pieces.is_empty()).then(|| pieces.join(&b'&')));
    }
    if !pieces.is_empty() {
        return Err(usage_error("--json cannot be combined with -d and the other --data options"));
    }
    let pieces: Result<Vec<_>, _> = http.json.iter().map(|text| file_bytes_or_text(text)).collect();
    pieces.map(|pieces| Some(pieces.concat()))
}

/// Converts the value of an option to bytes.
type Reader = fn(&str) -> Result<Vec<u8>, Error>;

fn form(text: &str) -> Result<Vec<u8>, Error> {
    match text.strip_prefix('@') {
        Some(path) => file(path).map(without_line_ends),
        None => raw(text),
    }
}

#[allow(clippy::unnecessary_wraps, reason = "all readers of options have this signature")]
fn raw(text: &str) -> Result<Vec<u8>, Error> {
    Ok(text.to_owned().into_bytes())
}

fn file_bytes_or_text(text: &str) -> Result<Vec<u8>, Error> {
    match text.strip_prefix('@') {
        Some(path) => file(path),
        None => Ok(text.to_owned().into_bytes()),
    }
}

/// Reads a file, or standard input for `-`.
fn file(path: &str) -> Result<Vec<u8>, Error> {
    if path == "-" { read_stdin("-d") } else { read_option_file("--data", path.as_ref()) }
}

/// Removes CR, LF and NUL from a form file, as curl does.
fn without_line_ends(bytes: Vec<u8>) -> Vec<u8> {
    bytes.into_iter().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)).collect()
}

/// Encodes `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE` or `NAME@FILE`.
fn escaped_form(text: &str) -> Result<Vec<u8>, Error> {
    // A file name may contain an equals sign only if no field name precedes it, as in curl.
    let Some(mark) = text.find('=').or_else(|| text.find('@')) else { return Ok(escaped(text.as_bytes())) };
    let (name, rest) = text.split_at(mark);
    let content = match rest.strip_prefix('@') {
        Some(path) => file(path)?,
        None => rest.as_bytes()[1..].to_vec(),
    };
    let name = if name.is_empty() { String::new() } else { format!("{name}=") };
    Ok([name.as_bytes(), &escaped(&content)].concat())
}

/// Encodes form data: a space as `+`, letters, digits and `- . _ ~` unchanged, the rest as `%XX`.
fn escaped(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b' ' => text.push(b'+'),
            b'-' | b'.' | b'_' | b'~' => text.push(byte),
            _ if byte.is_ascii_alphanumeric() => text.push(byte),
            _ => text.extend(format!("%{byte:02X}").bytes()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_data_is_encoded_as_in_curl() {
        let form = |text| escaped_form(text).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).ok();
        assert_eq!(form("a b").as_deref(), Some("a+b"));
        assert_eq!(form("=a&b").as_deref(), Some("a%26b"));
        assert_eq!(form("n=a=b").as_deref(), Some("n=a%3Db"));
        assert_eq!(form("n=caf\u{e9}~-._").as_deref(), Some("n=caf%C3%A9~-._"));
        assert!(form("n@/no/such/file").is_none());
        assert_eq!(without_line_ends(b"a\r\nb\0c".to_vec()), b"abc");
    }
}
