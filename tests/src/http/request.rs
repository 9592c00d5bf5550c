//! HTTP requests as the server received them, and their parser.

/// The maximum size of a request head, and of a body.
const MAX_REQUEST: usize = 64 << 20;

/// An HTTP request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method as sent.
    pub method: String,
    /// The request target as sent: a path, or a URL in requests to a proxy.
    pub target: Vec<u8>,
    /// The header fields in order: the name as sent, and the value without surrounding white space.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, if there is a Content-Length.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Returns the first header field with this name. The name ignores case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let found = self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_slice())
    }

    /// Returns the first header field with this name as text, or `None` if it is missing or not UTF-8.
    #[must_use]
    pub fn header_text(&self, name: &str) -> Option<&str> {
        self.header(name).and_then(|value| str::from_utf8(value).ok())
    }

    /// Returns the request target as text, with U+FFFD for bytes that are not UTF-8.
    #[must_use]
    pub fn path(&self) -> String {
        String::from_utf8_lossy(&self.target).into_owned()
    }

    /// Returns `true` if the client allows another request on the connection.
    pub(crate) fn keeps_alive(&self, version: &[u8]) -> bool {
        let connection = self.header_text("connection").unwrap_or_default().to_ascii_lowercase();
        version == b"HTTP/1.1" && !connection.contains("close")
    }
}

/// A request, as far as it was received.
#[derive(Debug)]
pub(crate) enum ParsedRequest {
    /// The request, whether the connection is kept alive, and the number of bytes of the request.
    Complete(Box<HttpRequest>, KeepAlive, usize),
    Incomplete,
    Invalid,
}

/// Whether the client allows another request on the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum KeepAlive {
    No,
    Yes,
}

/// Parses the first request.
pub(crate) fn parse_request(bytes: &[u8]) -> ParsedRequest {
    let Some(head_end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return if bytes.len() > MAX_REQUEST { ParsedRequest::Invalid } else { ParsedRequest::Incomplete };
    };
    let Some((mut request, keep)) = parse_head(&bytes[..head_end]) else { return ParsedRequest::Invalid };
    let length = request.header_text("content-length").map_or(Ok(0), str::parse::<usize>);
    let end = match length {
        Ok(length) if length <= MAX_REQUEST => head_end + 4 + length,
        _ => return ParsedRequest::Invalid,
    };
    if bytes.len() < end {
        return ParsedRequest::Incomplete;
    }
    request.body = bytes[head_end + 4..end].to_vec();
    ParsedRequest::Complete(Box::new(request), keep, end)
}

fn parse_head(head: &[u8]) -> Option<(HttpRequest, KeepAlive)> {
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut words = lines.next()?.splitn(3, |byte| *byte == b' ');
    let method = String::from_utf8(words.next()?.to_vec()).ok()?;
    let target = words.next()?.to_vec();
    let version = words.next()?;
    let headers = lines.map(parse_field).collect::<Option<Vec<_>>>()?;
    let request = HttpRequest { method, target, headers, body: Vec::new() };
    let keep = if request.keeps_alive(version) { KeepAlive::Yes } else { KeepAlive::No };
    version.starts_with(b"HTTP/").then_some((request, keep))
}

fn parse_field(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = String::from_utf8(line[..colon].to_vec()).ok()?;
    Some((name, line[colon + 1..].trim_ascii().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_complete_at_its_last_byte() {
        let bytes = b"POST /a%20b HTTP/1.1\r\nHost: x\r\ncontent-length:  3 \r\n\r\nabc";
        for end in 0..bytes.len() {
            assert!(matches!(parse_request(&bytes[..end]), ParsedRequest::Incomplete), "{end}");
        }
        let ParsedRequest::Complete(request, KeepAlive::Yes, length) = parse_request(bytes) else { panic!() };
        assert_eq!(
            (length, request.method.as_str(), request.target.as_slice()),
            (bytes.len(), "POST", &b"/a%20b"[..])
        );
        assert_eq!(
            (request.header("Content-Length"), request.body.as_slice()),
            (Some(&b"3"[..]), &b"abc"[..])
        );
    }

    #[test]
    fn closing_and_invalid_requests_are_recognised() {
        for text in ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nConnection: Close\r\n\r\n"] {
            assert!(matches!(parse_request(text.as_bytes()), ParsedRequest::Complete(_, KeepAlive::No, _)));
        }
        for text in ["GET /\r\n\r\n", "GET / FTP/1\r\n\r\n", "GET / HTTP/1.1\r\nnocolon\r\n\r\n"] {
            assert!(matches!(parse_request(text.as_bytes()), ParsedRequest::Invalid), "{text}");
        }
    }
}
