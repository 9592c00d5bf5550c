//! `--compressed`: one content coding, undone on the way (RFC 9110 §8.4), and no bomb.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use bytes::{Buf as _, Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use crate::{ByteSource, Code, Error, Phase};

/// So much may come out of anything.
const FREE: u64 = 16 * 1024 * 1024;
/// Beyond that, so many octets may come out for one that went in.
const RATIO: u64 = 200;
/// How much is undone at once.
const PIECE: usize = 64 * 1024;

/// A coding that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Brotli,
    Deflate,
    Gzip,
    Zstd,
}

impl Coding {
    /// The coding of an answer; none when it is plain.
    pub(super) fn of(fields: &HeaderMap) -> Result<Option<Self>, Error> {
        let wrong = |why: String| Err(Error::new(Code::PeerMisbehaved, Phase::Reply, why));
        let mut codings = Vec::new();
        for value in fields.get_all(CONTENT_ENCODING) {
            let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
            codings.extend(text.split(',').map(|name| name.trim().to_owned()));
        }
        codings.retain(|name| !name.is_empty() && name != "identity");
        match codings.as_slice() {
            [] => Ok(None),
            [one] => match one.as_str() {
                "br" => Ok(Some(Self::Brotli)),
                "deflate" => Ok(Some(Self::Deflate)),
                "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
                "zstd" => Ok(Some(Self::Zstd)),
                other => wrong(format!("a content coding that nobody asked for: {other}")),
            },
            _ => wrong("more than one content coding".to_owned()),
        }
    }
}

/// The octets of `coded` with the coding undone. They end only when the coding says so and nothing
/// follows.
pub(super) fn decoded(coded: impl ByteSource + 'static, coding: Coding) -> impl ByteSource {
    let coded =
        Coded { source: Box::pin(coded), piece: Bytes::new(), taken: 0, failure: None, is_at_end: false };
    let decoder = match coding {
        Coding::Brotli => Decoder::Brotli(Box::new(BrotliDecoder::new(coded))),
        Coding::Deflate => Decoder::Deflate(Box::new(ZlibDecoder::new(coded))),
        Coding::Gzip => {
            let mut decoder = GzipDecoder::new(coded);
            // RFC 1952 §2.2: a file is a series of members.
            decoder.multiple_members(true);
            Decoder::Gzip(Box::new(decoder))
        }
        Coding::Zstd => {
            let mut decoder = ZstdDecoder::new(coded);
            // RFC 8878 §3: so is what Zstandard makes.
            decoder.multiple_members(true);
            Decoder::Zstd(Box::new(decoder))
        }
    };
    Decoded { decoder, given: 0 }
}

struct Decoded {
    decoder: Decoder,
    given: u64,
}

enum Decoder {
    Brotli(Box<BrotliDecoder<Coded>>),
    Deflate(Box<ZlibDecoder<Coded>>),
    Gzip(Box<GzipDecoder<Coded>>),
    Zstd(Box<ZstdDecoder<Coded>>),
}

impl Decoder {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Brotli(decoder) => Pin::new(decoder).poll_read(cx, into),
            Self::Deflate(decoder) => Pin::new(decoder).poll_read(cx, into),
            Self::Gzip(decoder) => Pin::new(decoder).poll_read(cx, into),
            Self::Zstd(decoder) => Pin::new(decoder).poll_read(cx, into),
        }
    }

    fn coded(&mut self) -> &mut Coded {
        match self {
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
        }
    }
}

impl ByteSource for Decoded {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let this = &mut *self;
        let mut piece = BytesMut::zeroed(PIECE);
        let mut into = ReadBuf::new(&mut piece);
        let read = ready!(this.decoder.poll_read(cx, &mut into));
        let length = into.filled().len();
        let coded = this.decoder.coded();
        if let Some(failure) = coded.failure.take() {
            return Poll::Ready(Some(Err(failure)));
        }
        if let Err(error) = read {
            return Poll::Ready(Some(Err(broken(&error, coded.is_at_end))));
        }
        if length == 0 {
            return ready!(this.poll_end(cx))
                .map_or(Poll::Ready(None), |error| Poll::Ready(Some(Err(error))));
        }
        this.given += length as u64;
        if this.given > FREE && this.given > coded.taken.saturating_mul(RATIO) {
            let detail = format!("more than {RATIO} octets come out of each: a bomb");
            return Poll::Ready(Some(Err(Error::new(Code::LimitReached, Phase::Body, detail))));
        }
        piece.truncate(length);
        Poll::Ready(Some(Ok(piece.freeze())))
    }
}

impl Decoded {
    /// The coding has ended: so must the answer, which only then is known to be whole.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Option<Error>> {
        let coded = self.decoder.coded();
        let rest = ready!(Pin::new(&mut *coded).poll_fill_buf(cx)).map(<[u8]>::len);
        if let Some(failure) = coded.failure.take() {
            return Poll::Ready(Some(failure));
        }
        Poll::Ready(match rest {
            Ok(0) => None,
            _ => Some(Error::new(Code::PeerMisbehaved, Phase::Body, "octets behind the end of the coding")),
        })
    }
}

/// A coding that cannot be undone: the answer was cut, or was never what it said.
fn broken(error: &io::Error, is_at_end: bool) -> Error {
    if is_at_end && error.kind() == io::ErrorKind::UnexpectedEof {
        return Error::new(Code::Truncated, Phase::Body, "the coding has no end").lasting();
    }
    Error::new(Code::PeerMisbehaved, Phase::Body, format!("the content coding: {error}"))
}

/// The octets as they came, for a decoder to read.
struct Coded {
    source: Pin<Box<dyn ByteSource>>,
    piece: Bytes,
    taken: u64,
    failure: Option<Error>,
    is_at_end: bool,
}

impl AsyncBufRead for Coded {
    fn poll_fill_buf(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        while self.piece.is_empty() && !self.is_at_end {
            match ready!(self.source.as_mut().poll_chunk(cx)) {
                Some(Ok(piece)) => self.piece = piece,
                None => self.is_at_end = true,
                Some(Err(error)) => {
                    self.failure = Some(error);
                    return Poll::Ready(Err(io::ErrorKind::Other.into()));
                }
            }
        }
        Poll::Ready(Ok(&self.get_mut().piece))
    }

    fn consume(mut self: Pin<&mut Self>, count: usize) {
        self.piece.advance(count);
        self.taken += count as u64;
    }
}

impl AsyncRead for Coded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let piece = ready!(self.as_mut().poll_fill_buf(cx))?;
        let count = piece.len().min(into.remaining());
        into.put_slice(&piece[..count]);
        self.consume(count);
        Poll::Ready(Ok(()))
    }
}
