//! What the HTTP server answers: a head and a list of actions, so that an answer can be as wrong as a test
//! needs it.
//!
//! An answer is built here and played in `server.rs`.

use std::time::Duration;

use crate::channel::End;

/// One step of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    End(End),
    Octets(Vec<u8>),
    /// So many octets of the pattern, from an offset on.
    Pattern(u64, u64),
    /// The same octets so many times.
    Repeat(Vec<u8>, u64),
    Stall(Duration),
}

/// An answer. Without a body it gets `Content-Length: 0` where the status allows one.
#[derive(Clone, Debug)]
pub struct HttpReply {
    /// `None` for a raw answer.
    status: Option<u16>,
    headers: Vec<(String, Vec<u8>)>,
    length: u64,
    actions: Vec<Action>,
    cut: Option<Cut>,
    drip: Option<(usize, Duration)>,
}

/// After how many octets an answer stops, and from where they are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    Answer(u64),
    Body(u64),
}

impl HttpReply {
    /// An HTTP/1.1 answer with this status.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self {
            status: Some(status),
            headers: Vec::new(),
            length: 0,
            actions: Vec::new(),
            cut: None,
            drip: None,
        }
    }

    /// Exactly these octets, then a clean close. No octets: a close without an answer.
    #[must_use]
    pub fn raw(octets: impl Into<Vec<u8>>) -> Self {
        Self { status: None, ..Self::new(0) }.then_send(octets)
    }

    /// Adds a field. A Content-Length or Transfer-Encoding given here takes the place of the true one.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// The body, with its Content-Length.
    #[must_use]
    pub fn body(mut self, octets: impl Into<Vec<u8>>) -> Self {
        let octets = octets.into();
        self.length += octets.len() as u64;
        self.then_send(octets)
    }

    /// A body of the first `total` octets of [`pattern`](crate::pattern()), with its Content-Length.
    #[must_use]
    pub fn stream(self, total: u64) -> Self {
        self.stream_from(0, total)
    }

    /// A body of `length` octets of [`pattern`](crate::pattern()) from `offset` on, with its Content-Length.
    #[must_use]
    pub fn stream_from(mut self, offset: u64, length: u64) -> Self {
        self.length += length;
        self.actions.push(Action::Pattern(offset, length));
        self
    }

    /// A chunked body with its last chunk. An empty piece would end it, so empty pieces are left out.
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

    /// A body that ends with the connection.
    #[must_use]
    pub fn until_close(self, octets: impl Into<Vec<u8>>) -> Self {
        self.header("Connection", "close").then_send(octets).then(Action::End(End::Close))
    }

    /// Then these octets, which no Content-Length counts.
    #[must_use]
    pub fn then_send(self, octets: impl Into<Vec<u8>>) -> Self {
        self.then(Action::Octets(octets.into()))
    }

    /// Then these octets so many times, or until the client closes.
    #[must_use]
    pub fn then_repeat(self, octets: impl Into<Vec<u8>>, times: u64) -> Self {
        self.then(Action::Repeat(octets.into(), times))
    }

    /// Then nothing for this time.
    #[must_use]
    pub fn then_stall(self, length: Duration) -> Self {
        self.then(Action::Stall(length))
    }

    /// Then a clean close: under TLS with close_notify.
    #[must_use]
    pub fn then_close(self) -> Self {
        self.then(Action::End(End::Close))
    }

    /// Then FIN alone: under TLS without close_notify.
    #[must_use]
    pub fn then_fin(self) -> Self {
        self.then(Action::End(End::Fin))
    }

    /// Then RST.
    #[must_use]
    pub fn then_reset(self) -> Self {
        self.then(Action::End(End::Reset))
    }

    /// Sends only the first `n` octets of the whole answer, head included, then closes cleanly. Stalls, and
    /// an end given by `then_…`, still happen.
    #[must_use]
    pub fn cut_at(mut self, n: u64) -> Self {
        self.cut = Some(Cut::Answer(n));
        self
    }

    /// Like [`Self::cut_at`], counted from the end of the head; chunk sizes count.
    #[must_use]
    pub fn cut_body_at(mut self, n: u64) -> Self {
        self.cut = Some(Cut::Body(n));
        self
    }

    /// Sends everything in pieces of `piece` octets with a pause after each.
    #[must_use]
    pub fn drip(mut self, piece: usize, pause: Duration) -> Self {
        self.drip = Some((piece, pause));
        self
    }

    /// Head, actions, cut from the beginning, drip: what the server plays. Without a head the answer is raw.
    pub(crate) fn into_parts(self) -> ReplyParts {
        let head = self.status.map(|status| self.head(status)).unwrap_or_default();
        let cut = self.cut.map(|cut| match cut {
            Cut::Answer(n) => n,
            Cut::Body(n) => n + head.len() as u64,
        });
        let closes = self.status.is_none() || cut.is_some() || self.says_close();
        let ends = if closes { Some(End::Close) } else { None };
        ReplyParts { head, actions: self.actions, cut, drip: self.drip, ends }
    }

    fn then(mut self, action: Action) -> Self {
        self.actions.push(action);
        self
    }

    fn says_close(&self) -> bool {
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
        if !(framed || bodiless || self.says_close() && self.length == 0) {
            head.extend_from_slice(format!("Content-Length: {}\r\n", self.length).as_bytes());
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

/// An answer ready to be played.
#[derive(Debug)]
pub(crate) struct ReplyParts {
    pub(crate) head: Vec<u8>,
    pub(crate) actions: Vec<Action>,
    pub(crate) cut: Option<u64>,
    pub(crate) drip: Option<(usize, Duration)>,
    /// The end after the last action; `None` keeps the connection.
    pub(crate) ends: Option<End>,
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

    fn head(reply: HttpReply) -> String {
        String::from_utf8(reply.into_parts().head).unwrap()
    }

    #[test]
    fn framing_is_added_once_and_where_allowed() {
        assert_eq!(head(HttpReply::new(404)), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(head(HttpReply::new(304)), "HTTP/1.1 304 Not Modified\r\n\r\n");
        assert!(head(HttpReply::new(200).body("abc")).contains("Content-Length: 3\r\n"));
        assert!(
            head(HttpReply::new(200).header("content-length", "9").body("abc")).contains("length: 9\r\n\r\n")
        );
        assert!(!head(HttpReply::new(200).chunked(vec![b"abc".to_vec()])).contains("Length"));
        assert!(!head(HttpReply::new(200).until_close("abc")).contains("Length"));
        assert_eq!(head(HttpReply::raw("abc")), "");
    }
}
