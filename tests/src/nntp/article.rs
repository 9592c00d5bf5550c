//! An article as the news server stores it: headers, body and overview line (RFC 3977 §8).

use std::borrow::Cow;
use std::iter::once;
use std::sync::Arc;

use crate::server::text::repeated;

/// An article: the stored bytes, before dot-stuffing, and the message-id that the server finds it by.
#[derive(Clone, Debug)]
pub struct NntpArticle {
    /// With its angle brackets.
    id: Vec<u8>,
    start: Arc<[u8]>,
    /// Bytes that follow `start`, repeated `times` times.
    piece: Arc<[u8]>,
    times: u64,
}

/// The requested part of an article.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    Article,
    Body,
    Head,
}

impl NntpArticle {
    /// An article with these bytes. The message-id is that of the header, or `<unknown@test.invalid>`.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let article = Self { id: Vec::new(), start: bytes.into().into(), piece: Arc::default(), times: 0 };
        let id = article.header("Message-ID").unwrap_or_else(|| b"<unknown@test.invalid>".to_vec());
        Self { id, ..article }
    }

    /// An article with common headers. `id` has no angle brackets.
    pub fn post(id: &str, subject: &str, body: impl AsRef<[u8]>) -> Self {
        let head = format!(
            "Path: news.test.invalid!not-for-mail\r\nFrom: Alice <alice@test.invalid>\r\nNewsgroups: fetch.test\r\n\
             Subject: {subject}\r\nDate: Thu, 01 Dec 1994 12:34:56 +0000\r\nMessage-ID: <{id}>\r\n\r\n"
        );
        Self::new([head.as_bytes(), body.as_ref()].concat())
    }

    /// Sets the message-id by which the server finds the article, without angle brackets. The header may contain
    /// another one.
    #[must_use]
    pub fn with_id(mut self, id: impl AsRef<[u8]>) -> Self {
        self.id = [b"<", id.as_ref(), b">"].concat();
        self
    }

    /// Appends `piece` `times` times, generated while it is sent.
    #[must_use]
    pub fn repeated(mut self, piece: &[u8], times: u64) -> Self {
        (self.piece, self.times) = (piece.into(), times);
        self
    }

    /// Returns all bytes of a short article.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.blocks(Part::Article).collect::<Vec<_>>().concat()
    }

    pub(crate) fn id(&self) -> &[u8] {
        &self.id
    }

    /// Returns a part in blocks, before dot-stuffing.
    pub(crate) fn blocks(&self, part: Part) -> impl Iterator<Item = Vec<u8>> + use<> {
        let (end, body) = self.split();
        let (start, has_rest) = match part {
            Part::Article => (self.start.to_vec(), true),
            Part::Body => (body.map(|at| self.start[at..].to_vec()).unwrap_or_default(), body.is_some()),
            Part::Head => (self.start[..end].to_vec(), body.is_none()),
        };
        let times = if has_rest { self.times } else { 0 };
        once(start).chain(repeated(&self.piece, times).map(Cow::into_owned))
    }

    /// Returns the end of the headers, and the start of the body if there is one.
    fn split(&self) -> (usize, Option<usize>) {
        if self.start.starts_with(b"\r\n") {
            return (0, Some(2));
        }
        let empty_line = self.start.windows(4).position(|window| window == b"\r\n\r\n");
        empty_line.map_or((self.start.len(), None), |at| (at + 2, Some(at + 4)))
    }

    /// Returns the value of a header, unfolded. NUL, TAB, CR and LF become spaces, as in overview lines.
    pub(crate) fn header(&self, name: &str) -> Option<Vec<u8>> {
        let head = &self.start[..self.split().0];
        let mut lines = head.split_inclusive(|byte| *byte == b'\n');
        let start = lines.by_ref().find(|line| {
            let colon = line.iter().position(|byte| *byte == b':');
            colon.is_some_and(|at| line[..at].eq_ignore_ascii_case(name.as_bytes()))
        })?;
        let mut value = start[name.len() + 1..].to_vec();
        for line in lines.take_while(|line| line.starts_with(b" ") || line.starts_with(b"\t")) {
            remove_line_end(&mut value);
            value.extend_from_slice(line);
        }
        remove_line_end(&mut value);
        let space = |byte: &u8| if matches!(byte, b'\0' | b'\t' | b'\r' | b'\n') { b' ' } else { *byte };
        let value: Vec<u8> = value.iter().map(space).collect();
        Some(value.trim_ascii().to_vec())
    }

    /// Returns a header, or the metadata `:bytes` or `:lines`. Empty if it does not exist.
    pub(crate) fn field(&self, name: &str) -> Vec<u8> {
        match name.to_ascii_lowercase().as_str() {
            ":bytes" => self.length().to_string().into_bytes(),
            ":lines" => self.body_lines().to_string().into_bytes(),
            _ => self.header(name).unwrap_or_default(),
        }
    }

    /// Returns the overview line with this number (RFC 3977 §8.3.2).
    pub(crate) fn overview(&self, number: u64) -> Vec<u8> {
        let mut line = number.to_string().into_bytes();
        for name in ["Subject", "From", "Date", "Message-ID", "References", ":bytes", ":lines"] {
            line.push(b'\t');
            line.extend(self.field(name));
        }
        line.extend_from_slice(b"\r\n");
        line
    }

    fn length(&self) -> u64 {
        self.start.len() as u64 + self.piece.len() as u64 * self.times
    }

    fn body_lines(&self) -> u64 {
        let count = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.split().1.map_or(0, |at| count(&self.start[at..]) + count(&self.piece) * self.times)
    }
}

/// Removes the line end.
fn remove_line_end(value: &mut Vec<u8>) {
    let end = if value.ends_with(b"\r\n") { 2 } else { usize::from(value.ends_with(b"\n")) };
    value.truncate(value.len() - end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(article: &NntpArticle, part: Part) -> String {
        String::from_utf8(article.blocks(part).collect::<Vec<_>>().concat()).unwrap()
    }

    #[test]
    fn article_is_split_into_headers_and_body() {
        let article =
            NntpArticle::new("Subject: a\r\n\tb\r\nMESSAGE-ID:<i@h>\r\n\r\none\r\n").repeated(b"x\r\n", 2);
        assert_eq!(part(&article, Part::Head), "Subject: a\r\n\tb\r\nMESSAGE-ID:<i@h>\r\n");
        assert_eq!(part(&article, Part::Body), "one\r\nx\r\nx\r\n");
        assert!(part(&article, Part::Article).ends_with("<i@h>\r\n\r\none\r\nx\r\nx\r\n"));
        assert_eq!(article.id(), b"<i@h>");
        assert_eq!(article.overview(7), b"7\ta b\t\t\t<i@h>\t\t47\t3\r\n");
        assert_eq!(article.with_id("k@h").id(), b"<k@h>");
        let bare = NntpArticle::new("Subject: x").repeated(b"y", 100_000);
        assert_eq!(part(&bare, Part::Head).len(), 100_010);
        assert_eq!(part(&bare, Part::Body), "");
        assert_eq!(part(&NntpArticle::new("\r\nbody"), Part::Body), "body");
    }
}
