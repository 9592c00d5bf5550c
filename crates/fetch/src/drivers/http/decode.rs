//! `--compressed`: one content coding, undone on the way (RFC 9110 §8.4), and no bomb.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
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
        codings.retain(|name| !name.is_empty());
        match codings.as_slice() {
            [] => Ok(None),
            [one] => match one.as_str() {
                "identity" => Ok(None),
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
    Decoded { decoder: Decoder::Waiting(Some((coding, coded))), given: 0 }
}

/// What undoes the coding, once its first octets are here.
fn decoder(coding: Coding, coded: Coded) -> Decoder {
    match coding {
        Coding::Brotli => Decoder::Brotli(Box::new(BrotliDecoder::new(coded))),
        // RFC 9110 §8.4.1.2 means zlib; some servers leave its wrapper out.
        Coding::Deflate if is_zlib(&coded.piece) => Decoder::Zlib(Box::new(ZlibDecoder::new(coded))),
        Coding::Deflate => Decoder::Deflate(Box::new(DeflateDecoder::new(coded))),
        Coding::Gzip => {
            let mut decoder = GzipDecoder::new(coded);
            // RFC 1952 §2.2: a file is a series of members.
            decoder.multiple_members(true);
            Decoder::Gzip(Box::new(decoder))
        }
        Coding::Zstd => {
            // RFC 9659 §3: no window of more than 8 MiB.
            let mut decoder = ZstdDecoder::with_params(coded, &[DParameter::window_log_max(23)]);
            // RFC 8878 §3: so is what Zstandard makes.
            decoder.multiple_members(true);
            Decoder::Zstd(Box::new(decoder))
        }
    }
}

/// Whether the first two octets are a header of zlib (RFC 1950 §2.2).
fn is_zlib(octets: &[u8]) -> bool {
    match octets {
        [method, flags, ..] => method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0,
        _ => false,
    }
}

struct Decoded {
    decoder: Decoder,
    given: u64,
}

enum Decoder {
    /// For the first octets; none while it is being made.
    Waiting(Option<(Coding, Coded)>),
    Brotli(Box<BrotliDecoder<Coded>>),
    Deflate(Box<DeflateDecoder<Coded>>),
    Gzip(Box<GzipDecoder<Coded>>),
    Zlib(Box<ZlibDecoder<Coded>>),
    Zstd(Box<ZstdDecoder<Coded>>),
}

impl Decoder {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Waiting(_) => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
            Self::Zlib(decoder) => Pin::new(decoder).poll_read(cx, into),
            Self::Brotli(decoder) => Pin::new(decoder).poll_read(cx, into),
            Self::Deflate(decoder) => Pin::new(decoder).poll_read(cx, into),
            Self::Gzip(decoder) => Pin::new(decoder).poll_read(cx, into),
            Self::Zstd(decoder) => Pin::new(decoder).poll_read(cx, into),
        }
    }

    fn coded(&mut self) -> Option<&mut Coded> {
        match self {
            Self::Waiting(waiting) => waiting.as_mut().map(|(_, coded)| coded),
            Self::Brotli(decoder) => Some(decoder.get_mut()),
            Self::Deflate(decoder) => Some(decoder.get_mut()),
            Self::Gzip(decoder) => Some(decoder.get_mut()),
            Self::Zlib(decoder) => Some(decoder.get_mut()),
            Self::Zstd(decoder) => Some(decoder.get_mut()),
        }
    }
}

impl ByteSource for Decoded {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        Poll::Ready(ready!(self.poll_piece(cx)).transpose())
    }
}

impl Decoded {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        if ready!(self.poll_begin(cx))? == Begun::Empty {
            return Poll::Ready(Ok(None));
        }
        let mut piece = BytesMut::zeroed(PIECE);
        let mut into = ReadBuf::new(&mut piece);
        let read = ready!(self.decoder.poll_read(cx, &mut into));
        let length = into.filled().len();
        let Some(coded) = self.decoder.coded() else { return Poll::Ready(Ok(None)) };
        if let Some(failure) = coded.failure.take() {
            return Poll::Ready(Err(failure));
        }
        if let Err(error) = read {
            return Poll::Ready(Err(broken(&error, coded.is_at_end)));
        }
        if length == 0 {
            return Poll::Ready(ready!(coded.poll_end(cx)).map(|()| None));
        }
        self.given += length as u64;
        if self.given > FREE && self.given > coded.taken.saturating_mul(RATIO) {
            let detail = format!("more than {RATIO} octets come out of each: a bomb");
            return Poll::Ready(Err(Error::new(Code::LimitReached, Phase::Body, detail)));
        }
        piece.truncate(length);
        Poll::Ready(Ok(Some(piece.freeze())))
    }

    /// Makes the decoder when the first octets are here. Servers that code on the fly send none for an
    /// empty object.
    fn poll_begin(&mut self, cx: &mut Context<'_>) -> Poll<Result<Begun, Error>> {
        let Decoder::Waiting(waiting) = &mut self.decoder else { return Poll::Ready(Ok(Begun::Yes)) };
        if let Some((_, coded)) = waiting {
            ready!(coded.poll_head(cx))?;
            if coded.piece.is_empty() {
                return Poll::Ready(Ok(Begun::Empty));
            }
        }
        if let Some((coding, coded)) = waiting.take() {
            self.decoder = decoder(coding, coded);
        }
        Poll::Ready(Ok(Begun::Yes))
    }
}

#[derive(PartialEq, Eq)]
enum Begun {
    Yes,
    Empty,
}

/// A coding that cannot be undone: the answer was cut, or was never what it said.
fn broken(error: &io::Error, is_at_end: bool) -> Error {
    // flate2 says "BufError" where nothing more comes.
    let wants_more = error.kind() == io::ErrorKind::UnexpectedEof || error.to_string().contains("BufError");
    if is_at_end && wants_more {
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

impl Coded {
    /// Waits until two octets are here, or all that come.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        while self.piece.len() < 2 && !self.is_at_end {
            match ready!(self.source.as_mut().poll_chunk(cx)) {
                Some(Ok(piece)) => self.piece = [&self.piece[..], &piece].concat().into(),
                None => self.is_at_end = true,
                Some(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// The coding has ended: so must the answer, which only then is known to be whole.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let rest = ready!(Pin::new(&mut *self).poll_fill_buf(cx)).map(<[u8]>::len);
        if let Some(failure) = self.failure.take() {
            return Poll::Ready(Err(failure));
        }
        Poll::Ready(match rest {
            Ok(0) => Ok(()),
            _ => Err(Error::new(Code::PeerMisbehaved, Phase::Body, "octets behind the end of the coding")),
        })
    }
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
