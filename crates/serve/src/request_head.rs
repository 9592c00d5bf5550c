//! Parses the head of a request (RFC 9112 §3): method, request target as it was sent, header fields.

use http::StatusCode;

/// The maximum number of header fields.
const MAX_FIELDS: usize = 100;

/// The head of a request. The bytes of the target are those that the client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestHead {
    pub(crate) method: String,
    pub(crate) target: String,
    /// The minor version: 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub(crate) version: u8,
    fields: Vec<(String, Vec<u8>)>,
}

/// The reason why a head is refused: the status of the answer and a sentence for it. The connection is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeadFault {
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
}

impl HeadFault {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into() }
    }

    fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }
}

impl RequestHead {
    /// Parses the head at the start of `bytes`. Returns it and its length, or `None` if it is incomplete.
    ///
    /// # Errors
    /// A head that is not valid, has two `Host` fields, lacks `Host` in HTTP/1.1, or announces a body, which no served
    /// request has.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, HeadFault> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
                return Err(HeadFault::new(status, format!("more than {MAX_FIELDS} header fields")));
            }
            Err(httparse::Error::Version) => {
                let status = StatusCode::HTTP_VERSION_NOT_SUPPORTED;
                return Err(HeadFault::new(status, "only HTTP/1.0 and HTTP/1.1 are served"));
            }
            Err(error) => return Err(HeadFault::bad_request(format!("the request head: {error}"))),
        };
        let fields =
            request.headers.iter().map(|field| (field.name.to_ascii_lowercase(), field.value.to_vec()));
        let head = Self {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            version: request.version.unwrap_or_default(),
            fields: fields.collect(),
        };
        head.check()?;
        Ok(Some((head, length)))
    }

    /// Checks the fields that decide where a message ends and for whom it is.
    fn check(&self) -> Result<(), HeadFault> {
        if self.field("transfer-encoding").is_some() {
            return Err(HeadFault::bad_request("requests with a body are not served"));
        }
        if self.values("content-length").any(|value| value != b"0") {
            let status = StatusCode::PAYLOAD_TOO_LARGE;
            return Err(HeadFault::new(status, "requests with a body are not served"));
        }
        match self.values("host").count() {
            0 if self.version == 0 => {}
            1 => {}
            0 => return Err(HeadFault::bad_request("the field Host is missing")),
            _ => return Err(HeadFault::bad_request("more than one field Host")),
        }
        if self.target.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            return Err(HeadFault::bad_request("a control character in the request target"));
        }
        Ok(())
    }

    /// Returns the value of the first field with this name. `name` must be in lower case.
    pub(crate) fn field(&self, name: &str) -> Option<&[u8]> {
        self.values(name).next()
    }

    /// Returns the value of the first field with this name if it is UTF-8.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.field(name)?).ok().map(str::trim)
    }

    /// Returns the values of all fields with this name. `name` must be in lower case.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.fields.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_slice())
    }

    /// Returns the fields that are not for this connection only (RFC 9110 §7.6.1), in lower case.
    pub(crate) fn end_to_end_fields(&self) -> impl Iterator<Item = &(String, Vec<u8>)> {
        const HOP_BY_HOP: [&str; 9] = [
            "connection",
            "keep-alive",
            "proxy-authenticate",
            "proxy-authorization",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
        ];
        let listed: Vec<String> = self
            .values("connection")
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(|name| String::from_utf8_lossy(name).trim().to_ascii_lowercase())
            .collect();
        self.fields.iter().filter(move |(name, _)| {
            !HOP_BY_HOP.contains(&name.as_str()) && !listed.iter().any(|one| one == name)
        })
    }

    /// Returns `true` if the client accepts HTML, as browsers do. The weights of Accept (`q=`) are ignored.
    pub(crate) fn accepts_html(&self) -> bool {
        self.values("accept").any(|value| contains(value, b"text/html"))
    }

    /// Returns the head that hyper reads instead of this one: without target and fields, but with the same rules for
    /// the connection.
    pub(crate) fn canonical(&self) -> Vec<u8> {
        let (method, target) = match self.method.as_str() {
            "CONNECT" => ("CONNECT", "tunnel.invalid:1"),
            "HEAD" => ("HEAD", "/"),
            _ => ("GET", "/"),
        };
        let has = |word: &[u8]| {
            self.values("connection")
                .chain(self.values("proxy-connection"))
                .any(|value| contains(value, word))
        };
        let connection = match (has(b"close"), has(b"keep-alive")) {
            (true, _) => "connection: close\r\n",
            (_, true) => "connection: keep-alive\r\n",
            _ => "",
        };
        format!("{method} {target} HTTP/1.{}\r\nhost: h.invalid\r\n{connection}\r\n", self.version)
            .into_bytes()
    }
}

/// Returns `true` if `value` contains `word`, ignoring ASCII case.
fn contains(value: &[u8], word: &[u8]) -> bool {
    value.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<(RequestHead, usize)>, HeadFault> {
        RequestHead::parse(text.as_bytes())
    }

    #[test]
    fn target_is_kept_byte_by_byte() {
        for target in
            ["news:comp.lang.rust", "gopher://H/1/%7e?a#b", "/gopher://h//x/../y", "wais://h/d?w", "*"]
        {
            let text = format!("GET {target} HTTP/1.0\r\n\r\nrest");
            let (head, length) = parse(&text).expect("a head").expect("complete");
            assert_eq!((head.target.as_str(), head.version, length), (target, 0, text.len() - 4));
        }
    }

    #[test]
    fn incomplete_head_needs_more_bytes() {
        let text = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(parse(&text[..end]), Ok(None), "{end}");
        }
        assert!(parse(text).is_ok_and(|head| head.is_some()));
    }

    #[test]
    fn heads_that_could_be_read_in_two_ways_are_refused() {
        for (fields, status) in [
            ("Host: h\r\nTransfer-Encoding: chunked\r\n", 400),
            ("Host: h\r\nTransfer-Encoding : chunked\r\n", 400),
            ("Host: h\r\nContent-Length: 5\r\n", 413),
            ("Host: h\r\nContent-Length: 0\r\nContent-Length: 5\r\n", 413),
            ("Host: h\r\nContent-Length: +0\r\n", 413),
            ("Host: h\r\nHost: g\r\n", 400),
            ("", 400),
            ("Host: h\r\n folded: x\r\n", 400),
            ("Host: h\r\nA\0: x\r\n", 400),
            ("Host: h\r\nA: x\ry\r\n", 400),
        ] {
            let fault = parse(&format!("GET / HTTP/1.1\r\n{fields}\r\n")).expect_err(fields);
            assert_eq!(fault.status.as_u16(), status, "{fields:?}: {}", fault.detail);
        }
        assert!(parse("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").is_ok());
        for line in [
            "GET /a b HTTP/1.1",
            "GET /\x07 HTTP/1.1",
            "GET / HTTP/2.0",
            "G\u{e4}T / HTTP/1.1",
            "\x16\x03\x01",
        ] {
            assert!(parse(&format!("{line}\r\nHost: h\r\n\r\n")).is_err(), "{line:?}");
        }
        let many = "A: b\r\n".repeat(MAX_FIELDS + 1);
        let fault = parse(&format!("GET / HTTP/1.1\r\n{many}\r\n")).expect_err("too many");
        assert_eq!(fault.status.as_u16(), 431);
    }

    #[test]
    fn canonical_head_has_no_bytes_of_the_client() {
        let text = "GET /x HTTP/1.1\r\nHost: h\r\nCookie: a=b\r\nConnection: Close, x\r\n\r\n";
        let (head, _) = parse(text).expect("a head").expect("complete");
        let expected = b"GET / HTTP/1.1\r\nhost: h.invalid\r\nconnection: close\r\n\r\n";
        assert_eq!(head.canonical(), expected);
    }

    #[test]
    fn fields_for_the_connection_are_not_forwarded() {
        let text = "GET /x HTTP/1.1\r\nHost: h\r\nConnection: X-A, close\r\nX-A: 1\r\nX-B: 2\r\n\
                    Proxy-Authorization: Basic eA==\r\n\r\n";
        let (head, _) = parse(text).expect("a head").expect("complete");
        let names: Vec<_> = head.end_to_end_fields().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["host", "x-b"]);
    }
}
