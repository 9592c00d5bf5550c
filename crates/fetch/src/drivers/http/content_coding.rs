//! Decodes a body with one content coding (RFC 9110 §8.4) or transfer coding (RFC 9112 §7.2), with a limit on the
//! compression ratio.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

#[cfg(feature = "brotli")]
use async_compression::tokio::bufread::BrotliDecoder;
#[cfg(feature = "zstd")]
use async_compression::tokio::bufread::ZstdDecoder;
use async_compression::tokio::bufread::{DeflateDecoder, GzipDecoder, ZlibDecoder};
#[cfg(feature = "zstd")]
use async_compression::zstd::DParameter;
use bytes::{Buf as _, Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName};
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use crate::{ByteSource, Code, Error, Phase, Proof};

/// The compression ratio is not checked up to this number of decoded bytes.
const UNCHECKED_OUTPUT: u64 = 16 * 1024 * 1024;
/// Maximum number of decoded bytes for each encoded byte, above [`UNCHECKED_OUTPUT`].
const MAX_RATIO: u64 = 200;
/// Maximum number of bytes that are decoded at once.
const CHUNK_SIZE: usize = 64 * 1024;

/// The value of Accept-Encoding: the codings that this build decodes.
pub(super) const ACCEPTED_CODINGS: &str = match (cfg!(feature = "brotli"), cfg!(feature = "zstd")) {
    (true, true) => "gzip, deflate, br, zstd",
    (true, false) => "gzip, deflate, br",
    (false, true) => "gzip, deflate, zstd",
    (false, false) => "gzip, deflate",
};

/// A content coding that can be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentCoding {
    #[cfg(feature = "brotli")]
    Brotli,
    Deflate,
    Gzip,
    #[cfg(feature = "zstd")]
    Zstd,
}

impl ContentCoding {
    /// Returns the content coding of a response, or `None` if it has none.
    ///
    /// # Errors
    /// `Code::PeerMisbehaved` for an unknown coding, and for more than one.
    pub(super) fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, Error> {
        let unsupported = |why: String| Err(Error::new(Code::PeerMisbehaved, Phase::Reply, why));
        let mut codings = listed_names(headers, &CONTENT_ENCODING);
        // `identity` means that there is no coding (RFC 9110 §8.4.1).
        codings.retain(|coding| coding != "identity");
        match codings.as_slice() {
            [] => Ok(None),
            [one] => match one.as_str() {
                // Some servers send "none" if there is no coding.
                "none" => Ok(None),
                #[cfg(feature = "brotli")]
                "br" => Ok(Some(Self::Brotli)),
                "deflate" => Ok(Some(Self::Deflate)),
                "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
                #[cfg(feature = "zstd")]
                "zstd" => Ok(Some(Self::Zstd)),
                other => unsupported(format!("unsupported content coding: {other}")),
            },
            _ => unsupported("more than one content coding".to_owned()),
        }
    }

    /// Returns the transfer coding that a response applies before `chunked`, or `None` if it has none.
    ///
    /// # Errors
    /// `Code::PeerMisbehaved` for a coding other than gzip, deflate and a final chunked.
    pub(super) fn from_transfer_encoding(headers: &HeaderMap) -> Result<Option<Self>, Error> {
        let mut codings = listed_names(headers, &TRANSFER_ENCODING);
        codings.pop_if(|last| last == "chunked");
        match codings.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [] => Ok(None),
            ["gzip" | "x-gzip"] => Ok(Some(Self::Gzip)),
            ["deflate"] => Ok(Some(Self::Deflate)),
            _ => {
                let detail = format!("unsupported transfer coding: {}", codings.join(", "));
                Err(Error::new(Code::PeerMisbehaved, Phase::Reply, detail))
            }
        }
    }
}

/// Returns the names in all fields `name`, which are lists (RFC 9110 §5.6.1), in lower case.
fn listed_names(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let mut names = Vec::new();
    for value in headers.get_all(name) {
        let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        names.extend(text.split(',').map(|name| name.trim().to_owned()));
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the decoded bytes of `encoded`, whose end is known by `proof`. The body is complete only if the encoded data
/// reaches its own end and no data follows.
pub(super) fn decode_body(
    encoded: impl ByteSource + 'static,
    coding: ContentCoding,
    proof: Proof,
) -> impl ByteSource {
    let encoded = EncodedReader {
        source: Box::pin(encoded),
        chunk: Bytes::new(),
        consumed: 0,
        failure: None,
        is_at_end: false,
    };
    let accepts_empty = matches!(proof, Proof::Proven(_));
    DecodedBody { decoder: Decoder::AwaitingHeader(Some((coding, encoded))), produced: 0, accepts_empty }
}

/// Creates the decoder. The first bytes of `encoded` must be available.
fn decoder_for(coding: ContentCoding, encoded: EncodedReader) -> Decoder {
    match coding {
        #[cfg(feature = "brotli")]
        ContentCoding::Brotli => Decoder::Brotli(Box::new(BrotliDecoder::new(encoded))),
        // `deflate` means the zlib format (RFC 9110 §8.4.1.2), but some servers send raw deflate data.
        ContentCoding::Deflate if is_zlib(&encoded.chunk) => {
            Decoder::Zlib(Box::new(ZlibDecoder::new(encoded)))
        }
        ContentCoding::Deflate => Decoder::Deflate(Box::new(DeflateDecoder::new(encoded))),
        ContentCoding::Gzip => {
            let mut decoder = GzipDecoder::new(encoded);
            // A gzip file is a series of members (RFC 1952 §2.2).
            decoder.multiple_members(true);
            Decoder::Gzip(Box::new(decoder))
        }
        #[cfg(feature = "zstd")]
        ContentCoding::Zstd => {
            // The window is limited to 8 MiB (RFC 9659 §3).
            let mut decoder = ZstdDecoder::with_params(encoded, &[DParameter::window_log_max(23)]);
            // Zstandard data is a series of frames (RFC 8878 §3).
            decoder.multiple_members(true);
            Decoder::Zstd(Box::new(decoder))
        }
    }
}

/// Returns `true` if the first two bytes are a zlib header (RFC 1950 §2.2).
fn is_zlib(bytes: &[u8]) -> bool {
    match bytes {
        [method, flags, ..] => method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0,
        _ => false,
    }
}

struct DecodedBody {
    decoder: Decoder,
    produced: u64,
    /// A body without encoded data is complete.
    accepts_empty: bool,
}

enum Decoder {
    /// Waits for the first bytes; `None` while the decoder is created.
    AwaitingHeader(Option<(ContentCoding, EncodedReader)>),
    #[cfg(feature = "brotli")]
    Brotli(Box<BrotliDecoder<EncodedReader>>),
    Deflate(Box<DeflateDecoder<EncodedReader>>),
    Gzip(Box<GzipDecoder<EncodedReader>>),
    Zlib(Box<ZlibDecoder<EncodedReader>>),
    #[cfg(feature = "zstd")]
    Zstd(Box<ZstdDecoder<EncodedReader>>),
}

impl Decoder {
    fn poll_read(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::AwaitingHeader(_) => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
            Self::Zlib(decoder) => Pin::new(decoder).poll_read(cx, into),
            #[cfg(feature = "brotli")]
            Self::Brotli(decoder) => Pin::new(decoder).poll_read(cx, into),
            Self::Deflate(decoder) => Pin::new(decoder).poll_read(cx, into),
            Self::Gzip(decoder) => Pin::new(decoder).poll_read(cx, into),
            #[cfg(feature = "zstd")]
            Self::Zstd(decoder) => Pin::new(decoder).poll_read(cx, into),
        }
    }

    fn encoded_reader(&mut self) -> Option<&mut EncodedReader> {
        match self {
            Self::AwaitingHeader(waiting) => waiting.as_mut().map(|(_, encoded)| encoded),
            #[cfg(feature = "brotli")]
            Self::Brotli(decoder) => Some(decoder.get_mut()),
            Self::Deflate(decoder) => Some(decoder.get_mut()),
            Self::Gzip(decoder) => Some(decoder.get_mut()),
            Self::Zlib(decoder) => Some(decoder.get_mut()),
            #[cfg(feature = "zstd")]
            Self::Zstd(decoder) => Some(decoder.get_mut()),
        }
    }
}

impl ByteSource for DecodedBody {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        Poll::Ready(ready!(self.poll_decoded_chunk(cx)).transpose())
    }
}

impl DecodedBody {
    fn poll_decoded_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        if ready!(self.poll_start(cx))? == Start::Empty {
            return Poll::Ready(Ok(None));
        }
        let mut chunk = BytesMut::zeroed(CHUNK_SIZE);
        let mut into = ReadBuf::new(&mut chunk);
        let read = ready!(self.decoder.poll_read(cx, &mut into));
        let length = into.filled().len();
        let Some(encoded) = self.decoder.encoded_reader() else { return Poll::Ready(Ok(None)) };
        if let Some(failure) = encoded.failure.take() {
            return Poll::Ready(Err(failure));
        }
        if let Err(error) = read {
            return Poll::Ready(Err(decode_error(&error, encoded.is_at_end)));
        }
        if length == 0 {
            return Poll::Ready(ready!(encoded.poll_no_trailing_data(cx)).map(|()| None));
        }
        self.produced += length as u64;
        if self.produced > UNCHECKED_OUTPUT && self.produced > encoded.consumed.saturating_mul(MAX_RATIO) {
            let detail = format!("decompression bomb: more than {MAX_RATIO} bytes for each compressed byte");
            return Poll::Ready(Err(Error::new(Code::LimitReached, Phase::Body, detail)));
        }
        chunk.truncate(length);
        Poll::Ready(Ok(Some(chunk.freeze())))
    }

    /// Creates the decoder when the first bytes are available. An empty body is accepted if its end is proven: some
    /// servers send no encoded data for an empty object.
    fn poll_start(&mut self, cx: &mut Context<'_>) -> Poll<Result<Start, Error>> {
        let Decoder::AwaitingHeader(waiting) = &mut self.decoder else {
            return Poll::Ready(Ok(Start::Ready));
        };
        if let Some((_, encoded)) = waiting {
            ready!(encoded.poll_header(cx))?;
            if encoded.chunk.is_empty() {
                let empty = if self.accepts_empty { Ok(Start::Empty) } else { Err(truncated_error()) };
                return Poll::Ready(empty);
            }
        }
        if let Some((coding, encoded)) = waiting.take() {
            self.decoder = decoder_for(coding, encoded);
        }
        Poll::Ready(Ok(Start::Ready))
    }
}

#[derive(PartialEq, Eq)]
enum Start {
    Ready,
    Empty,
}

/// Returns the error for data that cannot be decoded: truncated, or not in this coding.
fn decode_error(error: &io::Error, is_at_end: bool) -> Error {
    // flate2 reports "BufError" at the end of the data.
    let is_truncated = error.kind() == io::ErrorKind::UnexpectedEof || error.to_string().contains("BufError");
    if is_at_end && is_truncated {
        return truncated_error();
    }
    Error::new(Code::PeerMisbehaved, Phase::Body, format!("cannot decode the compressed data: {error}"))
}

fn truncated_error() -> Error {
    Error::new(Code::Truncated, Phase::Body, "the compressed data is incomplete").as_permanent()
}

/// The encoded bytes, as a reader for the decoder.
struct EncodedReader {
    source: Pin<Box<dyn ByteSource>>,
    chunk: Bytes,
    consumed: u64,
    failure: Option<Error>,
    is_at_end: bool,
}

impl EncodedReader {
    /// Waits until two bytes are available, or the end.
    fn poll_header(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        while self.chunk.len() < 2 && !self.is_at_end {
            match ready!(self.source.as_mut().poll_chunk(cx)) {
                Some(Ok(chunk)) => self.chunk = [&self.chunk[..], &chunk].concat().into(),
                None => self.is_at_end = true,
                Some(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Checks that no data follows the end of the encoded data; this also checks that the body is complete.
    fn poll_no_trailing_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let rest = ready!(Pin::new(&mut *self).poll_fill_buf(cx)).map(<[u8]>::len);
        if let Some(failure) = self.failure.take() {
            return Poll::Ready(Err(failure));
        }
        Poll::Ready(match rest {
            Ok(0) => Ok(()),
            _ => Err(Error::new(
                Code::PeerMisbehaved,
                Phase::Body,
                "data after the end of the compressed data",
            )),
        })
    }
}

impl AsyncBufRead for EncodedReader {
    fn poll_fill_buf(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        while self.chunk.is_empty() && !self.is_at_end {
            match ready!(self.source.as_mut().poll_chunk(cx)) {
                Some(Ok(chunk)) => self.chunk = chunk,
                None => self.is_at_end = true,
                Some(Err(error)) => {
                    self.failure = Some(error);
                    return Poll::Ready(Err(io::ErrorKind::Other.into()));
                }
            }
        }
        Poll::Ready(Ok(&self.get_mut().chunk))
    }

    fn consume(mut self: Pin<&mut Self>, count: usize) {
        self.chunk.advance(count);
        self.consumed += count as u64;
    }
}

impl AsyncRead for EncodedReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let chunk = ready!(self.as_mut().poll_fill_buf(cx))?;
        let count = chunk.len().min(into.remaining());
        into.put_slice(&chunk[..count]);
        self.consume(count);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_is_no_coding_wherever_it_is_named() {
        let coding = |value: &'static str| {
            let value = http::HeaderValue::from_static(value);
            ContentCoding::from_headers(&HeaderMap::from_iter([(CONTENT_ENCODING, value)]))
        };
        for value in ["gzip, identity", "identity,gzip", "Identity, gzip , identity"] {
            assert_eq!(coding(value).expect("one coding"), Some(ContentCoding::Gzip), "{value}");
        }
        for value in ["identity", "identity, identity", "none", ""] {
            assert_eq!(coding(value).expect("no coding"), None, "{value}");
        }
        for value in ["gzip, gzip", "none, gzip"] {
            assert_eq!(coding(value).expect_err("two codings").code(), Code::PeerMisbehaved, "{value}");
        }
    }
}
