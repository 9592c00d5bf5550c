//! A server over sockets that sends the input in reply to HTTP requests: the file has the content that a second reader
//! finds in the response, or there is an error. After a retry or redirect, its bytes are at least among those that were
//! sent.
//!
//! The first byte selects the number of retries.
use super::download::{Finished, all_sent, download, is_subsequence};
use super::peer::{ConnectionLog, End};
use super::script::Script;
use fetch_url::Request;

/// Returns `true` if the download succeeded.
pub(crate) fn check(data: &[u8]) -> bool {
    let script = Script::from_bytes(data);
    let retries = u32::from(script.choice & 1);
    let finished =
        download(&script, retries, |ports| Request::new(&format!("http://127.0.0.1:{}/a", ports.first)));
    let Ok((body, _)) = &finished.result else { return false };
    if let [only] = finished.connections.as_slice()
        && requests(only) == 1
    {
        match expected(&only.sent) {
            Expected::Body(expected) => assert_eq!(body, &expected),
            Expected::ToTheEnd(expected) => {
                assert_eq!(only.end, End::Closed, "a body without a length before the end of the connection");
                assert_eq!(body, &expected);
            }
            Expected::Error => panic!("a success of {:?}", only.sent.escape_ascii().to_string()),
            Expected::Unknown => check_bytes(body, &finished),
        }
    } else {
        check_bytes(body, &finished);
    }
    true
}

/// Checks that the body consists of received bytes, unless it was decoded.
fn check_bytes(body: &[u8], finished: &Finished) {
    let sent = all_sent(finished);
    let has_coding = sent.to_ascii_lowercase().windows(8).any(|window| window == b"encoding");
    assert!(has_coding || is_subsequence(body, &sent));
}

fn requests(connection: &ConnectionLog) -> usize {
    connection.received.windows(4).filter(|window| window == b"\r\n\r\n").count()
}

/// The result that a client must have for a response.
enum Expected {
    Body(Vec<u8>),
    /// The body ends with the connection.
    ToTheEnd(Vec<u8>),
    /// It is truncated.
    Error,
    /// The response is unusual; several results are right.
    Unknown,
}

/// Reads a response with status 200 that is strictly as RFC 9112 says, after interim responses.
fn expected(mut sent: &[u8]) -> Expected {
    loop {
        let Some(end) = sent.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Expected::Unknown;
        };
        let (head, body) = (&sent[..end], &sent[end + 4..]);
        let Ok(head) = std::str::from_utf8(head) else { return Expected::Unknown };
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap_or_default();
        let is_interim = ["100", "102", "103"].iter().any(|code| status == format!("HTTP/1.1 {code} "));
        if is_interim {
            sent = body;
            continue;
        }
        let Some(fields) = lines.map(field).collect::<Option<Vec<_>>>() else { return Expected::Unknown };
        if status != "HTTP/1.1 200 OK" {
            return Expected::Unknown;
        }
        return expected_body(&fields, body);
    }
}

/// Reads a field line that consists of letters, digits and a few other characters.
fn field(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_value = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    (is_name && is_value).then(|| (name.to_ascii_lowercase(), value.trim()))
}

fn expected_body(fields: &[(String, &str)], body: &[u8]) -> Expected {
    let values = |name: &str| -> Vec<&str> {
        fields.iter().filter(|(other, _)| other == name).map(|(_, value)| *value).collect()
    };
    // Rules of their own.
    if ["content-encoding", "content-range", "trailer"].iter().any(|name| !values(name).is_empty()) {
        return Expected::Unknown;
    }
    match (values("content-length").as_slice(), values("transfer-encoding").as_slice()) {
        ([], []) => Expected::ToTheEnd(body.to_vec()),
        ([length], []) if length.len() < 7 && length.bytes().all(|byte| byte.is_ascii_digit()) => {
            let Ok(length) = length.parse::<usize>() else { return Expected::Unknown };
            body.get(..length).map_or(Expected::Error, |body| Expected::Body(body.to_vec()))
        }
        ([], ["chunked"]) => chunked(body),
        _ => Expected::Unknown,
    }
}

/// Decodes chunks without extensions, up to the last one.
fn chunked(mut rest: &[u8]) -> Expected {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else {
            // A part of a size is no size, other bytes are an error.
            return Expected::Error;
        };
        let size = &rest[..end];
        if size.is_empty() || size.len() > 4 || !size.iter().all(u8::is_ascii_hexdigit) {
            return Expected::Unknown;
        }
        let size = std::str::from_utf8(size).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let Some(size) = size else { return Expected::Unknown };
        rest = &rest[end + 2..];
        if size == 0 {
            let is_end = rest.starts_with(b"\r\n");
            // Trailers, or the connection was cut.
            return if is_end { Expected::Body(body) } else { Expected::Unknown };
        }
        let Some(chunk) = rest.get(..size) else { return Expected::Error };
        body.extend_from_slice(chunk);
        match rest.get(size..size + 2) {
            Some(b"\r\n") => rest = &rest[size + 2..],
            _ => return Expected::Error,
        }
    }
}
