//! A request as the HTTP server received it, and reading it from the octets.

/// The largest request head and body that are read.
const MAX_REQUEST: usize = 16 << 20;

/// One request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method as sent.
    pub method: String,
    /// The request target as sent: a path, or a whole URL for a proxy.
    pub target: Vec<u8>,
    /// The fields in order: name as sent, value without the white space around it.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body that Content-Length announced.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The first field of this name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        let found = self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_slice())
    }

    /// The first field of this name as text; `None` also if it is not UTF-8.
    #[must_use]
    pub fn header_text(&self, name: &str) -> Option<&str> {
        self.header(name).and_then(|value| str::from_utf8(value).ok())
    }

    /// The request target as text, with U+FFFD for what is not UTF-8.
    #[must_use]
    pub fn path(&self) -> String {
        String::from_utf8_lossy(&self.target).into_owned()
    }

    /// Whether the client wants to use the connection again.
    pub(crate) fn keeps_alive(&self, version: &[u8]) -> bool {
        let connection = self.header_text("connection").unwrap_or_default().to_ascii_lowercase();
        version == b"HTTP/1.1" && !connection.contains("close")
    }
}

/// What the octets received so far hold.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// A request, whether the connection stays open after it, and the number of octets it took.
    Whole(Box<HttpRequest>, KeepAlive, usize),
    /// Not yet a whole request.
    Partial,
    /// Never a request.
    Bad,
}

/// Whether the client allows a next request on the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum KeepAlive {
    No,
    Yes,
}

/// Takes the first request from the octets.
pub(crate) fn parse_request(octets: &[u8]) -> Parsed {
    let Some(head_end) = octets.windows(4).position(|window| window == b"\r\n\r\n") else {
        return if octets.len() > MAX_REQUEST { Parsed::Bad } else { Parsed::Partial };
    };
    let Some((mut request, keep)) = parse_head(&octets[..head_end]) else { return Parsed::Bad };
    let length = request.header_text("content-length").map_or(Ok(0), str::parse::<usize>);
    let end = match length {
        Ok(length) if length <= MAX_REQUEST => head_end + 4 + length,
        _ => return Parsed::Bad,
    };
    if octets.len() < end {
        return Parsed::Partial;
    }
    request.body = octets[head_end + 4..end].to_vec();
    Parsed::Whole(Box::new(request), keep, end)
}

fn parse_head(head: &[u8]) -> Option<(HttpRequest, KeepAlive)> {
    let mut lines = head.split(|octet| *octet == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut words = lines.next()?.splitn(3, |octet| *octet == b' ');
    let method = String::from_utf8(words.next()?.to_vec()).ok()?;
    let target = words.next()?.to_vec();
    let version = words.next()?;
    let headers = lines.map(parse_field).collect::<Option<Vec<_>>>()?;
    let request = HttpRequest { method, target, headers, body: Vec::new() };
    let keep = if request.keeps_alive(version) { KeepAlive::Yes } else { KeepAlive::No };
    version.starts_with(b"HTTP/").then_some((request, keep))
}

fn parse_field(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let colon = line.iter().position(|octet| *octet == b':')?;
    let name = String::from_utf8(line[..colon].to_vec()).ok()?;
    Some((name, line[colon + 1..].trim_ascii().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_only_at_the_last_octet() {
        let octets = b"POST /a%20b HTTP/1.1\r\nHost: x\r\ncontent-length:  3 \r\n\r\nabc";
        for end in 0..octets.len() {
            assert!(matches!(parse_request(&octets[..end]), Parsed::Partial), "{end}");
        }
        let Parsed::Whole(request, KeepAlive::Yes, used) = parse_request(octets) else { panic!() };
        assert_eq!(
            (used, request.method.as_str(), request.target.as_slice()),
            (octets.len(), "POST", &b"/a%20b"[..])
        );
        assert_eq!(
            (request.header("Content-Length"), request.body.as_slice()),
            (Some(&b"3"[..]), &b"abc"[..])
        );
    }

    #[test]
    fn closing_and_bad_requests() {
        for text in ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nConnection: Close\r\n\r\n"] {
            assert!(matches!(parse_request(text.as_bytes()), Parsed::Whole(_, KeepAlive::No, _)));
        }
        for text in ["GET /\r\n\r\n", "GET / FTP/1\r\n\r\n", "GET / HTTP/1.1\r\nnocolon\r\n\r\n"] {
            assert!(matches!(parse_request(text.as_bytes()), Parsed::Bad), "{text}");
        }
    }
}
