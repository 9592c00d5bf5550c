//! Checks the heads of responses in the received bytes of an HTTP/2 connection: hyper reports interim responses of
//! HTTP/1.1 only, and h2 accepts status 101 and trailers with pseudo-header fields. Records when request bodies are written.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::header_block::FirstField;
use super::http2_frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PADDED, PRIORITY, RST_STREAM,
};
use super::http2_uploads::{Http2Uploads, SentFrames};
use super::interim::{InterimCounter, MAX_INTERIM_RESPONSES};

/// Maximum number of streams whose header blocks are counted at a time. Streams that the client has reset stay in the
/// table until it is full.
const MAX_COUNTED_STREAMS: usize = 4096;
/// The number of bytes that are kept of a header block. The first field of a valid block is shorter.
const MAX_BLOCK_START: usize = 64;

/// A stream to an HTTP/2 server. Reading fails after an [`InvalidHead`].
pub(super) struct CheckedHttp2Stream<S> {
    stream: S,
    scanner: FrameScanner,
    counter: InterimCounter,
    uploads: Http2Uploads,
    sent_frames: SentFrames,
}

impl<S> CheckedHttp2Stream<S> {
    /// Checks the heads of responses in `stream`, reports too many interim responses to `counter`, and the frames that
    /// concern request bodies to `uploads`.
    pub(super) fn new(stream: S, counter: InterimCounter, uploads: Http2Uploads) -> Self {
        let scanner = FrameScanner { uploads: uploads.clone(), ..FrameScanner::default() };
        Self { stream, scanner, counter, uploads, sent_frames: SentFrames::default() }
    }
}

impl<S> Drop for CheckedHttp2Stream<S> {
    fn drop(&mut self) {
        self.uploads.record_end();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CheckedHttp2Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if let Err(invalid) = self.scanner.scan(&buffer.filled()[before..]) {
            if matches!(invalid, InvalidHead::TooManyInterim) {
                self.counter.report_too_many();
            }
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, invalid.to_string())));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CheckedHttp2Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        let Self { sent_frames, uploads, .. } = &mut *self;
        sent_frames.record(bytes.get(..written).unwrap_or_default(), uploads);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.uploads.record_flush();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bytes))?;
        let Self { sent_frames, uploads, .. } = &mut *self;
        let mut left = written;
        for slice in bytes {
            sent_frames.record(slice.get(..left.min(slice.len())).unwrap_or_default(), uploads);
            left = left.saturating_sub(slice.len());
        }
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// A violation of RFC 9113 that h2 accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InvalidHead {
    TooManyInterim,
    /// Status 101 (§8.6).
    SwitchingProtocols,
    /// A pseudo-header field in trailers (§8.1).
    PseudoHeaderInTrailers,
}

impl fmt::Display for InvalidHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyInterim => "too many interim responses",
            Self::SwitchingProtocols => "status 101 is not allowed over HTTP/2",
            Self::PseudoHeaderInTrailers => "the trailers contain a pseudo-header field",
        })
    }
}

/// Reads the headers of HTTP/2 frames (9 bytes each) and the beginnings of header blocks. A stream has one header block
/// for each interim response, one for the response, and at its end perhaps one for the trailers (RFC 9113 §8.1).
#[derive(Default)]
struct FrameScanner {
    head: [u8; 9],
    /// Bytes of `head` that have been received.
    received: usize,
    /// Bytes of the payload that have not been received.
    payload: usize,
    block: Option<HeaderBlock>,
    streams: HashMap<u32, StreamHeads>,
    reset: Option<StreamReset>,
    uploads: Http2Uploads,
}

/// A RST_STREAM frame that is being received.
struct StreamReset {
    stream: u32,
    code: Vec<u8>,
}

/// A header block that is being received, in a HEADERS frame and CONTINUATION frames.
struct HeaderBlock {
    stream: u32,
    flags: u8,
    /// The first bytes of the frame, including padding length and priority.
    start: Vec<u8>,
}

/// The header blocks that an open stream has received.
#[derive(Default)]
struct StreamHeads {
    /// The number of header blocks that did not end the stream.
    blocks: u32,
    /// The head of the response has been received.
    is_answered: bool,
}

impl FrameScanner {
    /// Reads `bytes`.
    fn scan(&mut self, mut bytes: &[u8]) -> Result<(), InvalidHead> {
        while !bytes.is_empty() {
            let (payload, rest) = bytes.split_at(self.payload.min(bytes.len()));
            self.read_payload(payload)?;
            let (head, rest) = rest.split_at(rest.len().min(self.head.len() - self.received));
            self.head[self.received..self.received + head.len()].copy_from_slice(head);
            self.received += head.len();
            bytes = rest;
            if self.received == self.head.len() {
                self.received = 0;
                self.begin_frame()?;
            }
        }
        Ok(())
    }

    /// Begins the frame whose header was received.
    fn begin_frame(&mut self) -> Result<(), InvalidHead> {
        let [a, b, c, kind, flags, stream @ ..] = self.head;
        self.payload = u32::from_be_bytes([0, a, b, c]) as usize;
        let stream = u32::from_be_bytes(stream) & 0x7fff_ffff;
        match kind {
            HEADERS => self.block = Some(HeaderBlock { stream, flags, start: Vec::new() }),
            // Only END_HEADERS is a flag of this frame.
            CONTINUATION => {
                self.block.iter_mut().for_each(|block| block.flags |= flags & END_HEADERS);
            }
            DATA if flags & END_STREAM == 0 => {
                self.streams.entry(stream).or_default().is_answered = true;
            }
            DATA => {
                self.streams.remove(&stream);
                self.uploads.record_response_end(stream);
            }
            RST_STREAM => {
                self.streams.remove(&stream);
                self.reset = Some(StreamReset { stream, code: Vec::new() });
            }
            _ => {}
        }
        self.end_block_at_end_of_frame()
    }

    /// Reads a part of the payload of a frame.
    fn read_payload(&mut self, bytes: &[u8]) -> Result<(), InvalidHead> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.payload -= bytes.len();
        if let Some(block) = &mut self.block {
            let free = MAX_BLOCK_START - block.start.len();
            block.start.extend_from_slice(&bytes[..free.min(bytes.len())]);
        }
        if let Some(reset) = &mut self.reset {
            // h2 rejects a frame whose payload is not a code of 4 bytes.
            reset.code.extend_from_slice(&bytes[..bytes.len().min(4)]);
            if self.payload == 0 {
                self.uploads.record_reset(reset.stream, &reset.code);
                self.reset = None;
            }
        }
        self.end_block_at_end_of_frame()
    }

    /// Checks the header block if the last of its frames is complete.
    fn end_block_at_end_of_frame(&mut self) -> Result<(), InvalidHead> {
        let is_last = |block: &mut HeaderBlock| self.payload == 0 && block.flags & END_HEADERS != 0;
        match self.block.take_if(is_last) {
            Some(block) => self.check_block(&block),
            None => Ok(()),
        }
    }

    fn check_block(&mut self, block: &HeaderBlock) -> Result<(), InvalidHead> {
        if self.streams.len() >= MAX_COUNTED_STREAMS {
            self.streams.clear();
        }
        let heads = self.streams.entry(block.stream).or_default();
        let field = block.first_field();
        if heads.is_answered && matches!(field, FirstField::Status(_) | FirstField::OtherPseudo) {
            return Err(InvalidHead::PseudoHeaderInTrailers);
        }
        if field == FirstField::Status(Some(101)) {
            return Err(InvalidHead::SwitchingProtocols);
        }
        if block.flags & END_STREAM != 0 {
            self.streams.remove(&block.stream);
            self.uploads.record_response_end(block.stream);
            return Ok(());
        }
        heads.is_answered |= matches!(field, FirstField::Status(Some(200..)));
        heads.blocks += 1;
        if heads.blocks - 1 > MAX_INTERIM_RESPONSES { Err(InvalidHead::TooManyInterim) } else { Ok(()) }
    }
}

impl HeaderBlock {
    /// Returns the first field. It follows the length of the padding and the priority (RFC 9113 §6.2).
    fn first_field(&self) -> FirstField {
        let flag = |flag, length| if self.flags & flag == 0 { 0 } else { length };
        let fields = self.start.get(flag(PADDED, 1) + flag(PRIORITY, 5)..);
        fields.map_or(FirstField::Unknown, FirstField::read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).expect("a short frame");
        [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
    }

    /// Scans `bytes` in pieces of each length, and returns the result, which is the same for all.
    fn scanned(bytes: &[u8]) -> Result<(), InvalidHead> {
        let scan = |length| {
            let mut scanner = FrameScanner::default();
            bytes.chunks(length).try_for_each(|piece| scanner.scan(piece))
        };
        let result = scan(bytes.len());
        (1..40).for_each(|length| assert_eq!(scan(length), result, "{length}"));
        result
    }

    fn interim(stream: u8) -> Vec<u8> {
        frame(HEADERS, END_HEADERS, stream, b"\x08\x03103")
    }

    fn answer(stream: u8) -> Vec<u8> {
        frame(HEADERS, END_HEADERS, stream, b"\x88")
    }

    #[test]
    fn headers_before_the_response_are_counted_for_each_stream() {
        let most = MAX_INTERIM_RESPONSES as usize;
        let allowed = [interim(1).repeat(most), interim(3).repeat(most), answer(1), answer(3)].concat();
        assert_eq!(scanned(&allowed), Ok(()));
        for stream in [1, 3] {
            let too_many = [&allowed[..allowed.len() - 20], &interim(stream), &answer(stream)].concat();
            assert_eq!(scanned(&too_many), Err(InvalidHead::TooManyInterim), "{stream}");
        }
    }

    #[test]
    fn streams_that_have_ended_are_counted_anew() {
        let most = interim(1).repeat(MAX_INTERIM_RESPONSES as usize);
        let ends = [
            [answer(1), frame(DATA, END_STREAM, 1, b"x")].concat(),
            frame(RST_STREAM, 0, 1, &[0; 4]),
            frame(HEADERS, END_STREAM | END_HEADERS, 1, b"\x88"),
        ];
        for end in ends {
            assert_eq!(scanned(&[&most[..], &end, &most, &answer(1)].concat()), Ok(()));
        }
    }

    #[test]
    fn pseudo_header_fields_are_rejected_in_trailers_only() {
        let trailers = |block: &[u8]| frame(HEADERS, END_STREAM | END_HEADERS, 1, block);
        let begun = [answer(1), frame(DATA, 0, 1, b"x")].concat();
        let unknown_status = [frame(HEADERS, END_HEADERS, 1, b"\xbe"), frame(DATA, 0, 1, b"")].concat();
        for before in [answer(1), begun, unknown_status] {
            assert_eq!(scanned(&[&before[..], &trailers(b"\x00\x01x\x01y")].concat()), Ok(()));
            for block in [&b"\x88"[..], b"\x08\x03200", b"\x82"] {
                let bytes = [&before[..], &trailers(block)].concat();
                assert_eq!(scanned(&bytes), Err(InvalidHead::PseudoHeaderInTrailers), "{block:02x?}");
            }
        }
        let empty_answer = [interim(1), trailers(b"\x89")].concat();
        assert_eq!(scanned(&empty_answer), Ok(()), "a response without a body is not the trailers");
    }

    #[test]
    fn status_101_is_found_behind_padding_and_priority_and_in_fragments() {
        let block = b"\x08\x03101";
        let padded = [&[2, 0, 0, 0, 0, 16], &block[..], &[0, 0]].concat();
        let fragments = [
            frame(HEADERS, 0, 1, b""),
            frame(CONTINUATION, 0, 1, &block[..3]),
            frame(CONTINUATION, END_HEADERS, 1, &block[3..]),
        ];
        let frames = [
            frame(HEADERS, END_HEADERS, 1, block),
            frame(HEADERS, END_HEADERS | END_STREAM, 1, block),
            frame(HEADERS, END_HEADERS | PADDED | PRIORITY, 1, &padded),
            fragments.concat(),
        ];
        for bytes in frames {
            assert_eq!(scanned(&bytes), Err(InvalidHead::SwitchingProtocols), "{bytes:02x?}");
        }
    }
}
