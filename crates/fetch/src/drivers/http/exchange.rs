//! Observes the bytes of one HTTP/1 exchange below hyper: the spelling of header names in both directions, which hyper
//! does not keep, and the body before its transfer coding is decoded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use memchr::{memchr, memchr_iter, memchr2};

use super::chunk_sizes::{ChunkSizes, SizeLineTooLong};
use super::plan::HttpPlan;
use super::spellings::Spellings;
use super::upload::UploadProgress;
use crate::HeaderFields;

/// Maximum size in bytes of the head of a response: its status line and headers.
pub(super) const MAX_HEAD_SIZE: usize = 256 * 1024;
/// The name that replaces Content-Length if [`Exchange::hides_length`] is set. It has the same length, so that the head
/// is changed in place.
const HIDDEN_LENGTH: &[u8] = b"hidden-length-";
const CONTENT_LENGTH: &[u8] = b"content-length";

/// The exchange on a connection. The request and the task of the connection share it.
#[derive(Clone, Default)]
pub(super) struct SharedExchange(Arc<Mutex<Exchange>>);

/// The state of one exchange: the received head, and how the body is read.
#[derive(Default)]
struct Exchange {
    /// Bytes of the response have arrived.
    has_received: bool,
    /// The head of the final response, up to [`MAX_HEAD_SIZE`].
    head: Vec<u8>,
    is_head_complete: bool,
    /// Checks the size lines of a chunked body.
    chunk_sizes: Option<ChunkSizes>,
    /// The bytes of the body, if the caller wants them undecoded.
    raw_body: Option<BytesMut>,
    /// Content-Length is hidden from hyper, so that the body ends with the connection.
    hides_length: bool,
    /// The caller's spelling of the header names, until the request is written.
    spellings: Spellings,
    /// The progress of the body of the request, if it has one.
    upload: Option<UploadProgress>,
}

/// The header fields of a response as they were received, in their order, and their number.
#[derive(Clone)]
pub(super) struct ReceivedFields {
    pub(super) fields: HeaderFields,
    pub(super) count: usize,
}

impl SharedExchange {
    fn lock(&self) -> MutexGuard<'_, Exchange> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn hiding_length() -> Self {
        Self(Arc::new(Mutex::new(Exchange { hides_length: true, ..Exchange::default() })))
    }

    /// Starts the exchange of `plan` and discards the previous one. `upload` is the progress of the request body.
    pub(super) fn begin(&self, plan: &HttpPlan, upload: &UploadProgress) {
        let options = &plan.options;
        *self.lock() = Exchange {
            raw_body: options.raw.then(BytesMut::new),
            hides_length: options.ignore_content_length,
            spellings: plan.spellings.clone(),
            upload: plan.body.is_some().then(|| upload.clone()),
            ..Exchange::default()
        };
    }

    /// Records that the connection has flushed all buffered bytes.
    pub(super) fn record_flush(&self) {
        if let Some(upload) = &self.lock().upload {
            upload.mark_flushed();
        }
    }

    /// Records that the connection has ended.
    pub(super) fn record_end(&self) {
        self.record_write_failure();
    }

    /// Records that nothing more can be written. Returns `false` if the request has no body.
    pub(super) fn record_write_failure(&self) -> bool {
        let exchange = self.lock();
        exchange.upload.iter().for_each(UploadProgress::mark_lost);
        exchange.upload.is_some()
    }

    /// Returns `true` if a byte has arrived since [`Self::begin`].
    pub(super) fn has_received(&self) -> bool {
        self.lock().has_received
    }

    /// Returns `true` if the head of the response must be complete before hyper reads it.
    pub(super) fn holds_head_back(&self) -> bool {
        let exchange = self.lock();
        exchange.hides_length && !exchange.is_head_complete
    }

    /// Records bytes that have arrived. Returns `true` if the head of the final response is complete or too large.
    pub(super) fn record(&self, bytes: &[u8]) -> Result<bool, SizeLineTooLong> {
        self.lock().record(bytes)
    }

    /// Takes the header fields of the response. Returns `None` if its head was too large.
    pub(super) fn take_fields(&self) -> Option<ReceivedFields> {
        let mut exchange = self.lock();
        let mut head = exchange.is_head_complete.then(|| std::mem::take(&mut exchange.head))?;
        // The buffer may be large: the last read may have contained a part of the body.
        head.shrink_to_fit();
        Some(ReceivedFields { count: count_fields(&head), fields: HeaderFields::from_head(head) })
    }

    /// Takes the bytes of the body that have arrived.
    pub(super) fn take_raw_body(&self) -> Bytes {
        self.lock().raw_body.as_mut().map(|body| body.split().freeze()).unwrap_or_default()
    }

    /// Returns the head of the request at the start of `bytes` with the names in the caller's spelling, or `None` if no
    /// name changes.
    pub(super) fn respell_request(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut exchange = self.lock();
        let end = (!exchange.spellings.is_empty()).then(|| head_end(bytes, 0)).flatten()?;
        let mut head = bytes.get(..end)?.to_vec();
        std::mem::take(&mut exchange.spellings).respell(&mut head);
        Some(head)
    }
}

impl Exchange {
    fn record(&mut self, bytes: &[u8]) -> Result<bool, SizeLineTooLong> {
        self.has_received |= !bytes.is_empty();
        if self.is_head_complete {
            return self.record_body(bytes).map(|()| true);
        }
        let mut scanned = self.head.len().saturating_sub(3);
        self.head.extend_from_slice(bytes);
        while let Some(end) = head_end(&self.head, scanned) {
            if is_interim(&self.head) {
                self.head.drain(..end);
                scanned = 0;
                continue;
            }
            self.is_head_complete = true;
            let body = self.head.split_off(end);
            self.chunk_sizes = is_chunked(&self.head).then(ChunkSizes::default);
            return self.record_body(&body).map(|()| true);
        }
        Ok(self.head.len() > MAX_HEAD_SIZE)
    }

    fn record_body(&mut self, bytes: &[u8]) -> Result<(), SizeLineTooLong> {
        if let Some(raw) = &mut self.raw_body {
            raw.extend_from_slice(bytes);
        }
        self.chunk_sizes.as_mut().map_or(Ok(()), |sizes| sizes.read(bytes))
    }
}

/// Hides Content-Length in the heads at the start of a response, so that hyper reads the body up to the end of the
/// connection. The bytes of the body after the final head stay as they are.
pub(super) fn hide_length(mut response: &mut [u8]) {
    loop {
        let end = head_end(response, 0).unwrap_or(response.len());
        let (head, rest) = response.split_at_mut(end);
        rename_field(head, CONTENT_LENGTH, HIDDEN_LENGTH);
        if head.is_empty() || !is_interim(head) {
            return;
        }
        response = rest;
    }
}

/// Returns the position after the empty line that ends a head; the search begins at `from`.
fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    // An empty line before the status line does not end the head (RFC 9112 §2.2).
    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    let from = from.max(start);
    let mut line_ends = memchr_iter(b'\n', bytes.get(from..)?).map(|at| from + at);
    line_ends.find_map(|at| match bytes.get(at + 1..)? {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// Returns `true` for the head of an interim response (1xx).
fn is_interim(head: &[u8]) -> bool {
    let mut words = head.trim_ascii_start().split(|byte| *byte == b' ');
    words.nth(1).is_some_and(|status| status.first() == Some(&b'1') && !status.starts_with(b"101"))
}

/// Returns `true` if the last transfer coding of a head is chunked.
fn is_chunked(head: &[u8]) -> bool {
    let mut fields = head.split(|byte| *byte == b'\n').filter_map(|line| {
        let colon = memchr(b':', line)?;
        line.split_at_checked(colon)
    });
    fields.any(|(name, value)| {
        let value = value.trim_ascii_end();
        let last = value.len().saturating_sub(b"chunked".len());
        name.eq_ignore_ascii_case(b"transfer-encoding") && value[last..].eq_ignore_ascii_case(b"chunked")
    })
}

/// Writes `new` in place of each field name in `head` that equals `name` without regard to case and has its length.
fn rename_field(head: &mut [u8], name: &[u8], new: &[u8]) {
    for line in head.split_mut(|byte| *byte == b'\n') {
        let Some((own, [b':', ..])) = line.split_at_mut_checked(name.len()) else { continue };
        if own.eq_ignore_ascii_case(name) {
            own.copy_from_slice(new);
        }
    }
}

/// Returns the number of fields in a head. Folded lines are not counted.
fn count_fields(head: &[u8]) -> usize {
    let head = head.trim_ascii_start();
    let starts = memchr_iter(b'\n', head).map(|end| end + 1);
    let lines =
        starts.filter_map(|start| head.get(start..).filter(|line| !matches!(line, [] | [b' ' | b'\t', ..])));
    lines.filter(|line| memchr2(b':', b'\n', line).is_some_and(|at| line[at] == b':')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_after(pieces: &[&[u8]]) -> Option<Vec<String>> {
        let exchange = SharedExchange::default();
        for piece in pieces {
            exchange.record(piece).expect("short lines");
        }
        let received = exchange.take_fields()?;
        assert_eq!(received.count, received.fields.len());
        Some(received.fields.iter().map(|(name, _)| name.clone()).collect())
    }

    #[test]
    fn fields_of_the_final_response_are_read_wherever_its_head_is_cut() {
        let bytes = b"HTTP/1.1 103 Early\r\nEarly: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-SpelLing: a\r\n \tb:c\r\nETAG:\"c\"\r\n\r\nbody: no";
        for at in 0..bytes.len() {
            let names = names_after(&[&bytes[..at], &bytes[at..]]).expect("a complete head");
            assert_eq!(names, ["X-SpelLing", "ETAG"], "cut at {at}");
        }
        assert_eq!(names_after(&[b"\r\nHTTP/1.0 200 OK\nA: b\n\n"]), Some(vec!["A".to_owned()]));
        assert_eq!(names_after(&[b"HTTP/1.1 200 OK\r\nA: b\r\n"]), None);
    }

    #[test]
    fn length_is_hidden_in_each_spelling_and_nothing_else_changes() {
        let early = "HTTP/1.1 103 Early\r\nContent-Length: 4\r\n\r\n";
        let head =
            "HTTP/1.1 200 OK\r\nCONTENT-Length: 5\r\nX-Content-Length: 6\r\nContent-Length-X: 7\r\n\r\n";
        let body = "\nContent-Length: 8\r\n\r\nContent-Length: 9\r\n\r\n";
        let mut response = format!("{early}{head}{body}").into_bytes();
        hide_length(&mut response);
        let early = early.replace("Content-Length", "hidden-length-");
        let head = head.replace("CONTENT-Length", "hidden-length-");
        assert_eq!(String::from_utf8_lossy(&response), format!("{early}{head}{body}"));
    }
}
