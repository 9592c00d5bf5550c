//! The data of a request, as curl's `-d` and its kin write it.

use std::io::Read as _;

use clap::ArgMatches;
use fetch_url::Error;

use super::{read, usage};
use crate::flags::Http;

/// The largest data that is read.
const MOST: u64 = 1024 * 1024 * 1024;

/// All data together, in the order of the command line: forms with `&` between, JSON one behind the other; none when there is none.
pub(super) fn body(http: &Http, matches: &ArgMatches) -> Result<Option<Vec<u8>>, Error> {
    let mut pieces: Vec<(usize, Vec<u8>)> = Vec::new();
    for (name, texts, read) in [
        ("data", &http.data, form as Reader),
        ("data_raw", &http.data_raw, raw),
        ("data_binary", &http.data_binary, exactly),
        ("data_urlencode", &http.data_urlencode, escaped_form),
    ] {
        let places = matches.indices_of(name).into_iter().flatten();
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
        return Err(usage("--json and the data of a form do not go together"));
    }
    let pieces: Result<Vec<_>, _> = http.json.iter().map(|text| exactly(text)).collect();
    pieces.map(|pieces| Some(pieces.concat()))
}

/// How the text of an option becomes octets.
type Reader = fn(&str) -> Result<Vec<u8>, Error>;

fn form(text: &str) -> Result<Vec<u8>, Error> {
    match text.strip_prefix('@') {
        Some(path) => file(path).map(without_line_ends),
        None => raw(text),
    }
}

#[allow(clippy::unnecessary_wraps, reason = "one of several readers")]
fn raw(text: &str) -> Result<Vec<u8>, Error> {
    Ok(text.to_owned().into_bytes())
}

fn exactly(text: &str) -> Result<Vec<u8>, Error> {
    match text.strip_prefix('@') {
        Some(path) => file(path),
        None => Ok(text.to_owned().into_bytes()),
    }
}

/// A file, or standard input when it is `-`.
fn file(path: &str) -> Result<Vec<u8>, Error> {
    if path != "-" {
        return read(path.as_ref());
    }
    let mut octets = Vec::new();
    let all = std::io::stdin().take(MOST).read_to_end(&mut octets);
    all.map(|_| octets).map_err(|error| usage(format!("standard input: {error}")))
}

/// curl takes CR, LF and NUL out of a form's file.
fn without_line_ends(octets: Vec<u8>) -> Vec<u8> {
    octets.into_iter().filter(|octet| !matches!(octet, b'\r' | b'\n' | 0)).collect()
}

/// `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE`, `NAME@FILE`; the content escaped.
fn escaped_form(text: &str) -> Result<Vec<u8>, Error> {
    // A file may have an equals sign in its name, but only without a name in front (as with curl).
    let Some(mark) = text.find('=').or_else(|| text.find('@')) else { return Ok(escaped(text.as_bytes())) };
    let (name, rest) = text.split_at(mark);
    let content = match rest.strip_prefix('@') {
        Some(path) => file(path)?,
        None => rest.as_bytes()[1..].to_vec(),
    };
    let name = if name.is_empty() { String::new() } else { format!("{name}=") };
    Ok([name.as_bytes(), &escaped(&content)].concat())
}

/// As a form writes it: a blank as `+`, letters, digits and `- . _ ~` as they are, the rest as `%XX`.
fn escaped(octets: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(octets.len());
    for &octet in octets {
        match octet {
            b' ' => text.push(b'+'),
            b'-' | b'.' | b'_' | b'~' => text.push(octet),
            _ if octet.is_ascii_alphanumeric() => text.push(octet),
            _ => text.extend(format!("%{octet:02X}").bytes()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let form = |text| escaped_form(text).map(|octets| String::from_utf8_lossy(&octets).into_owned()).ok();
        assert_eq!(form("a b").as_deref(), Some("a+b"));
        assert_eq!(form("=a&b").as_deref(), Some("a%26b"));
        assert_eq!(form("n=a=b").as_deref(), Some("n=a%3Db"));
        assert_eq!(form("n=caf\u{e9}~-._").as_deref(), Some("n=caf%C3%A9~-._"));
        assert!(form("n@/no/such/file").is_none());
        assert_eq!(without_line_ends(b"a\r\nb\0c".to_vec()), b"abc");
    }
}
