//! An article as a news server stores it, and what it knows of it: head, body, overview (RFC 3977 §8).

use std::iter::once;
use std::sync::Arc;

/// As much of a long article as is made at a time.
const BLOCK: usize = 64 * 1024;

/// An article: octets as stored, not dot-stuffed, and the message-id that the server knows it by.
#[derive(Clone, Debug)]
pub struct NntpArticle {
    /// With its angle brackets.
    id: Vec<u8>,
    start: Arc<[u8]>,
    /// What follows the start so many times.
    piece: Arc<[u8]>,
    times: u64,
}

/// How much of an article is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    Article,
    Body,
    Head,
}

impl NntpArticle {
    /// These octets; the message-id is the one in the head. Without one there it is `<unknown@test.invalid>`.
    pub fn new(octets: impl Into<Vec<u8>>) -> Self {
        let article = Self { id: Vec::new(), start: octets.into().into(), piece: Arc::default(), times: 0 };
        let id = article.header("Message-ID").unwrap_or_else(|| b"<unknown@test.invalid>".to_vec());
        Self { id, ..article }
    }

    /// An article with a plain head. The message-id has no angle brackets.
    pub fn post(id: &str, subject: &str, body: impl AsRef<[u8]>) -> Self {
        let head = format!(
            "Path: news.test.invalid!not-for-mail\r\nFrom: Alice <alice@test.invalid>\r\nNewsgroups: fetch.test\r\n\
             Subject: {subject}\r\nDate: Thu, 01 Dec 1994 12:34:56 +0000\r\nMessage-ID: <{id}>\r\n\r\n"
        );
        Self::new([head.as_bytes(), body.as_ref()].concat())
    }

    /// The server knows it by this message-id, without angle brackets, whatever its head says.
    #[must_use]
    pub fn called(mut self, id: impl AsRef<[u8]>) -> Self {
        self.id = [b"<", id.as_ref(), b">"].concat();
        self
    }

    /// These octets so many times behind its end, made as they are sent.
    #[must_use]
    pub fn repeated(mut self, piece: &[u8], times: u64) -> Self {
        (self.piece, self.times) = (piece.into(), times);
        self
    }

    /// The octets of a short article.
    #[must_use]
    pub fn octets(&self) -> Vec<u8> {
        self.blocks(Part::Article).collect::<Vec<_>>().concat()
    }

    pub(crate) fn id(&self) -> &[u8] {
        &self.id
    }

    /// The part in blocks, as stored.
    pub(crate) fn blocks(&self, part: Part) -> impl Iterator<Item = Vec<u8>> + use<> {
        let (end, body) = self.split();
        let (start, has_rest) = match part {
            Part::Article => (self.start.to_vec(), true),
            Part::Body => (body.map(|at| self.start[at..].to_vec()).unwrap_or_default(), body.is_some()),
            Part::Head => (self.start[..end].to_vec(), body.is_none()),
        };
        let times = if has_rest { self.times } else { 0 };
        let piece = Arc::clone(&self.piece);
        let per_block = (BLOCK / piece.len().max(1)).max(1) as u64;
        let whole = (0..times / per_block).map({
            let piece = Arc::clone(&piece);
            move |_| piece.repeat(per_block as usize)
        });
        let rest = piece.repeat((times % per_block) as usize);
        once(start).chain(whole).chain(once(rest))
    }

    /// Where the head ends, and where the body begins if there is one.
    fn split(&self) -> (usize, Option<usize>) {
        if self.start.starts_with(b"\r\n") {
            return (0, Some(2));
        }
        let empty_line = self.start.windows(4).position(|window| window == b"\r\n\r\n");
        empty_line.map_or((self.start.len(), None), |at| (at + 2, Some(at + 4)))
    }

    /// The value of a header, unfolded: each octet that would break a line of the overview is a blank.
    pub(crate) fn header(&self, name: &str) -> Option<Vec<u8>> {
        let head = &self.start[..self.split().0];
        let mut lines = head.split_inclusive(|octet| *octet == b'\n');
        let start = lines.by_ref().find(|line| {
            let colon = line.iter().position(|octet| *octet == b':');
            colon.is_some_and(|at| line[..at].eq_ignore_ascii_case(name.as_bytes()))
        })?;
        let mut value = start[name.len() + 1..].to_vec();
        for line in lines.take_while(|line| line.starts_with(b" ") || line.starts_with(b"\t")) {
            unended(&mut value);
            value.extend_from_slice(line);
        }
        unended(&mut value);
        let blank = |octet: &u8| if matches!(octet, b'\0' | b'\t' | b'\r' | b'\n') { b' ' } else { *octet };
        let value: Vec<u8> = value.iter().map(blank).collect();
        Some(value.trim_ascii().to_vec())
    }

    /// A header or one of the metadata `:bytes` and `:lines`; empty when there is none.
    pub(crate) fn field(&self, name: &str) -> Vec<u8> {
        match name.to_ascii_lowercase().as_str() {
            ":bytes" => self.length().to_string().into_bytes(),
            ":lines" => self.body_lines().to_string().into_bytes(),
            _ => self.header(name).unwrap_or_default(),
        }
    }

    /// The line of the overview for it under this number (RFC 3977 §8.3.2).
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
        let count = |octets: &[u8]| octets.iter().filter(|octet| **octet == b'\n').count() as u64;
        self.split().1.map_or(0, |at| count(&self.start[at..]) + count(&self.piece) * self.times)
    }
}

/// Takes the end of line away.
fn unended(value: &mut Vec<u8>) {
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
    fn an_article_has_a_head_and_a_body() {
        let article =
            NntpArticle::new("Subject: a\r\n\tb\r\nMESSAGE-ID:<i@h>\r\n\r\none\r\n").repeated(b"x\r\n", 2);
        assert_eq!(part(&article, Part::Head), "Subject: a\r\n\tb\r\nMESSAGE-ID:<i@h>\r\n");
        assert_eq!(part(&article, Part::Body), "one\r\nx\r\nx\r\n");
        assert!(part(&article, Part::Article).ends_with("<i@h>\r\n\r\none\r\nx\r\nx\r\n"));
        assert_eq!(article.id(), b"<i@h>");
        assert_eq!(article.overview(7), b"7\ta b\t\t\t<i@h>\t\t47\t3\r\n");
        assert_eq!(article.called("k@h").id(), b"<k@h>");
        let bare = NntpArticle::new("Subject: x").repeated(b"y", 100_000);
        assert_eq!(part(&bare, Part::Head).len(), 100_010);
        assert_eq!(part(&bare, Part::Body), "");
        assert_eq!(part(&NntpArticle::new("\r\nbody"), Part::Body), "body");
    }
}
