//! HTTP responses: a head and a list of steps, so that a response can be invalid in any way. `server.rs` sends
//! them.

use std::time::Duration;

use crate::server::plain_or_tls_connection::Ending;

/// A step after the head of a response.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Bytes(Vec<u8>),
    End(Ending),
    /// Bytes of the pattern: offset and length.
    Pattern(u64, u64),
    /// These bytes, repeated.
    Repeat(Vec<u8>, u64),
    Stall(Duration),
}

/// An HTTP response. Without a body it gets `Content-Length: 0` if the status allows a body.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    /// `None` for a raw response.
    status: Option<u16>,
    headers: Vec<(String, Vec<u8>)>,
    length: u64,
    steps: Vec<Step>,
    cut: Option<Cut>,
    drip: Option<(usize, Duration)>,
}

/// Where a response is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// After this many bytes of the body.
    Body(u64),
    /// After this many bytes, including the head.
    Response(u64),
}

impl HttpResponse {
    /// An HTTP/1.1 response with this status code.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self {
            status: Some(status),
            headers: Vec::new(),
            length: 0,
            steps: Vec::new(),
            cut: None,
            drip: None,
        }
    }

    /// Exactly these bytes, then a clean close. Without bytes: a close without a response.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { status: None, ..Self::new(0) }.then_send(bytes)
    }

    /// Adds a header field. Content-Length and Transfer-Encoding replace the generated ones.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Adds a body with its Content-Length.
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.length += bytes.len() as u64;
        self.then_send(bytes)
    }

    /// Adds a body with the first `total` bytes of [`pattern`](crate::pattern()), with its Content-Length.
    #[must_use]
    pub fn stream(self, total: u64) -> Self {
        self.stream_from(0, total)
    }

    /// Adds a body with `length` bytes of [`pattern`](crate::pattern()) from `offset`, with its
    /// Content-Length.
    #[must_use]
    pub fn stream_from(mut self, offset: u64, length: u64) -> Self {
        self.length += length;
        self.steps.push(Step::Pattern(offset, length));
        self
    }

    /// Adds a chunked body with its last chunk. Empty pieces are left out: they would end the body.
    #[must_use]
    pub fn chunked(mut self, pieces: Vec<Vec<u8>>) -> Self {
        self = self.header("Transfer-Encoding", "chunked");
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            self = self.then_send(chunk);
        }
        self.then_send("0\r\n\r\n")
    }

    /// Adds a body that ends with the connection.
    #[must_use]
    pub fn until_close(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.header("Connection", "close").then_send(bytes).then(Step::End(Ending::Close))
    }

    /// Sends these bytes next. Content-Length does not include them.
    #[must_use]
    pub fn then_send(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.then(Step::Bytes(bytes.into()))
    }

    /// Sends these bytes next, this many times or until the client closes.
    #[must_use]
    pub fn then_repeat(self, bytes: impl Into<Vec<u8>>, times: u64) -> Self {
        self.then(Step::Repeat(bytes.into(), times))
    }

    /// Sends nothing for this time.
    #[must_use]
    pub fn then_stall(self, length: Duration) -> Self {
        self.then(Step::Stall(length))
    }

    /// Closes cleanly: under TLS with close_notify.
    #[must_use]
    pub fn then_close(self) -> Self {
        self.then(Step::End(Ending::Close))
    }

    /// Sends FIN alone: under TLS without close_notify.
    #[must_use]
    pub fn then_fin(self) -> Self {
        self.then(Step::End(Ending::Fin))
    }

    /// Sends RST.
    #[must_use]
    pub fn then_reset(self) -> Self {
        self.then(Step::End(Ending::Reset))
    }

    /// Sends only the first `n` bytes of the response, including the head, then closes cleanly. Stalls and the
    /// endings of `then_…` still apply.
    #[must_use]
    pub fn cut_at(mut self, n: u64) -> Self {
        self.cut = Some(Cut::Response(n));
        self
    }

    /// Like [`Self::cut_at`], but `n` is counted from the end of the head and includes chunk sizes.
    #[must_use]
    pub fn cut_body_at(mut self, n: u64) -> Self {
        self.cut = Some(Cut::Body(n));
        self
    }

    /// Sends everything in pieces of `piece` bytes with a pause after each.
    #[must_use]
    pub fn drip(mut self, piece: usize, pause: Duration) -> Self {
        self.drip = Some((piece, pause));
        self
    }

    /// Returns the bytes that the server sends.
    pub(crate) fn into_parts(self) -> ResponseParts {
        let head = self.status.map(|status| self.head(status)).unwrap_or_default();
        let cut = self.cut.map(|cut| match cut {
            Cut::Response(n) => n,
            Cut::Body(n) => n + head.len() as u64,
        });
        let closes = self.status.is_none() || cut.is_some() || self.has_connection_close();
        let ending = closes.then_some(Ending::Close);
        ResponseParts { head, steps: self.steps, cut, drip: self.drip, ending }
    }

    fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    fn has_connection_close(&self) -> bool {
        self.has("connection") && self.headers.iter().any(|(_, value)| value.eq_ignore_ascii_case(b"close"))
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
    }

    fn head(&self, status: u16) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status)).into_bytes();
        for (name, value) in &self.headers {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        let framed = ["content-length", "transfer-encoding"].iter().any(|name| self.has(name));
        let bodiless = matches!(status, 100..=199 | 204 | 304);
        if !(framed || bodiless || self.has_connection_close() && self.length == 0) {
            head.extend_from_slice(format!("Content-Length: {}\r\n", self.length).as_bytes());
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

/// A response as it is sent.
#[derive(Debug)]
pub(crate) struct ResponseParts {
    /// Empty in raw responses.
    pub(crate) head: Vec<u8>,
    pub(crate) steps: Vec<Step>,
    /// The number of bytes to send before the cut.
    pub(crate) cut: Option<u64>,
    pub(crate) drip: Option<(usize, Duration)>,
    /// The ending after the last step. `None` keeps the connection alive.
    pub(crate) ending: Option<Ending>,
}

fn reason(status: u16) -> &'static str {
    match status {
        100..=199 => "Continue",
        206 => "Partial Content",
        200..=299 => "OK",
        304 => "Not Modified",
        300..=399 => "Found",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        416 => "Range Not Satisfiable",
        400..=499 => "Refused",
        503 => "Service Unavailable",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(response: HttpResponse) -> String {
        String::from_utf8(response.into_parts().head).unwrap()
    }

    #[test]
    fn content_length_is_added_once_and_only_where_allowed() {
        assert_eq!(head(HttpResponse::new(404)), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(head(HttpResponse::new(304)), "HTTP/1.1 304 Not Modified\r\n\r\n");
        assert!(head(HttpResponse::new(200).body("abc")).contains("Content-Length: 3\r\n"));
        assert!(
            head(HttpResponse::new(200).header("content-length", "9").body("abc"))
                .contains("length: 9\r\n\r\n")
        );
        assert!(!head(HttpResponse::new(200).chunked(vec![b"abc".to_vec()])).contains("Length"));
        assert!(!head(HttpResponse::new(200).until_close("abc")).contains("Length"));
        assert_eq!(head(HttpResponse::raw("abc")), "");
    }
}
