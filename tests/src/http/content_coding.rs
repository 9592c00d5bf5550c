//! Encodes bodies in a content coding (RFC 9110 §8.4.1).

use std::io::{Error, Result};

use async_compression::Level;
use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::runtime::Builder;

/// A content coding.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ContentCoding {
    /// `br`.
    Brotli,
    /// `deflate` as in the RFC: the zlib format.
    Deflate,
    /// `gzip`.
    Gzip,
    /// `deflate` as some servers send it: without the header and the checksum of zlib.
    RawDeflate,
    /// `zstd` (RFC 8878).
    Zstd,
}

impl ContentCoding {
    /// All content codings.
    pub const ALL: [Self; 5] = [Self::Brotli, Self::Deflate, Self::Gzip, Self::RawDeflate, Self::Zstd];

    /// Returns the value of Content-Encoding.
    #[must_use]
    pub fn token(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Deflate | Self::RawDeflate => "deflate",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Encodes bytes.
pub fn encode(coding: ContentCoding, bytes: &[u8]) -> Result<Vec<u8>> {
    match coding {
        ContentCoding::Brotli => run_coder(BrotliEncoder::with_quality(bytes, Level::Fastest)),
        ContentCoding::Deflate => run_coder(ZlibEncoder::new(bytes)),
        ContentCoding::Gzip => run_coder(GzipEncoder::new(bytes)),
        ContentCoding::RawDeflate => {
            let zlib = run_coder(ZlibEncoder::new(bytes))?;
            // RFC 1950: a header of two bytes and a checksum of four.
            Ok(zlib[2..zlib.len() - 4].to_vec())
        }
        ContentCoding::Zstd => run_coder(ZstdEncoder::new(bytes)),
    }
}

/// Encodes `count` zeros. 64 MiB become 65 KiB with gzip, and less with the newer codings.
pub fn encode_zeros(coding: ContentCoding, count: usize) -> Result<Vec<u8>> {
    encode(coding, &vec![0; count])
}

fn run_coder(mut encoder: impl AsyncRead + Unpin) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // All data is in memory, so the runtime needs neither I/O nor timers.
    let runtime = Builder::new_current_thread().build().map_err(Error::other)?;
    runtime.block_on(encoder.read_to_end(&mut bytes))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};

    use super::*;
    use crate::pattern_vec;

    /// `expected` is needed for the checksum that raw deflate lacks.
    fn decoded(coding: ContentCoding, bytes: &[u8], expected: &[u8]) -> Result<Vec<u8>> {
        match coding {
            ContentCoding::Brotli => run_coder(BrotliDecoder::new(bytes)),
            ContentCoding::Deflate => run_coder(ZlibDecoder::new(bytes)),
            ContentCoding::Gzip => run_coder(GzipDecoder::new(bytes)),
            ContentCoding::RawDeflate => {
                let checksum = adler32(expected).to_be_bytes();
                run_coder(ZlibDecoder::new(&[&[0x78, 0x01], bytes, &checksum].concat()[..]))
            }
            ContentCoding::Zstd => run_coder(ZstdDecoder::new(bytes)),
        }
    }

    fn adler32(bytes: &[u8]) -> u32 {
        let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
            let low = (low + u32::from(*byte)) % 65_521;
            (low, (high + low) % 65_521)
        });
        high << 16 | low
    }

    #[test]
    fn encoded_body_is_decoded() {
        for bytes in [Vec::new(), b"a".to_vec(), pattern_vec(0, 300_000)] {
            for coding in ContentCoding::ALL {
                let sent = encode(coding, &bytes).unwrap();
                assert_ne!(sent, bytes);
                assert!(decoded(coding, &sent, &bytes).unwrap() == bytes, "{coding:?} {}", bytes.len());
            }
        }
    }

    #[test]
    fn cut_body_is_not_decoded() {
        for coding in ContentCoding::ALL {
            let whole = pattern_vec(0, 5000);
            let sent = encode(coding, &whole).unwrap();
            assert!(decoded(coding, &sent[..sent.len() - 1], &whole).is_err(), "{coding:?}");
        }
    }

    #[test]
    fn encoded_zeros_are_small() {
        const LENGTH: usize = 64 << 20;
        for (coding, most) in
            [(ContentCoding::Gzip, 66_000), (ContentCoding::Zstd, 20_000), (ContentCoding::Brotli, 50_000)]
        {
            let sent = encode_zeros(coding, LENGTH).unwrap();
            assert!(sent.len() < most, "{coding:?}: {}", sent.len());
        }
    }
}
