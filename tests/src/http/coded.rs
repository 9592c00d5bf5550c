//! Bodies in a content coding (RFC 9110 §8.4.1), sound and unsound, for origins that compress.

use std::io::{Error, Result};

use async_compression::Level;
use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::runtime::Builder;

/// How a body is coded.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Coding {
    /// `br`.
    Brotli,
    /// `deflate` as the RFC has it: the zlib format.
    Deflate,
    /// `gzip`.
    Gzip,
    /// `deflate` as some servers send it: without zlib's head and checksum.
    RawDeflate,
    /// `zstd` (RFC 8878).
    Zstd,
}

impl Coding {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Brotli, Self::Deflate, Self::Gzip, Self::RawDeflate, Self::Zstd];

    /// What Content-Encoding says.
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

/// `octets` in this coding.
pub fn coded(coding: Coding, octets: &[u8]) -> Result<Vec<u8>> {
    match coding {
        Coding::Brotli => drained(BrotliEncoder::with_quality(octets, Level::Fastest)),
        Coding::Deflate => drained(ZlibEncoder::new(octets)),
        Coding::Gzip => drained(GzipEncoder::new(octets)),
        Coding::RawDeflate => {
            let zlib = drained(ZlibEncoder::new(octets))?;
            // RFC 1950: two octets in front, the checksum of four behind.
            Ok(zlib[2..zlib.len() - 4].to_vec())
        }
        Coding::Zstd => drained(ZstdEncoder::new(octets)),
    }
}

/// So many zeros in this coding: 64 MiB of them are 65 KiB of gzip, and less in the newer codings.
pub fn coded_zeros(coding: Coding, count: usize) -> Result<Vec<u8>> {
    coded(coding, &vec![0; count])
}

fn drained(mut encoder: impl AsyncRead + Unpin) -> Result<Vec<u8>> {
    let mut octets = Vec::new();
    // All is in memory, so nothing is ever waited for: neither I/O nor time is needed.
    let runtime = Builder::new_current_thread().build().map_err(Error::other)?;
    runtime.block_on(encoder.read_to_end(&mut octets))?;
    Ok(octets)
}

#[cfg(test)]
mod tests {
    use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};

    use super::*;
    use crate::pattern_vec;

    /// `expected` is needed where the coding has no checksum of its own.
    fn decoded(coding: Coding, octets: &[u8], expected: &[u8]) -> Result<Vec<u8>> {
        match coding {
            Coding::Brotli => drained(BrotliDecoder::new(octets)),
            Coding::Deflate => drained(ZlibDecoder::new(octets)),
            Coding::Gzip => drained(GzipDecoder::new(octets)),
            Coding::RawDeflate => {
                let checksum = adler32(expected).to_be_bytes();
                drained(ZlibDecoder::new(&[&[0x78, 0x01], octets, &checksum].concat()[..]))
            }
            Coding::Zstd => drained(ZstdDecoder::new(octets)),
        }
    }

    fn adler32(octets: &[u8]) -> u32 {
        let (low, high) = octets.iter().fold((1, 0), |(low, high), octet| {
            let low = (low + u32::from(*octet)) % 65_521;
            (low, (high + low) % 65_521)
        });
        high << 16 | low
    }

    #[test]
    fn what_is_coded_can_be_decoded() {
        for octets in [Vec::new(), b"a".to_vec(), pattern_vec(0, 300_000)] {
            for coding in Coding::ALL {
                let sent = coded(coding, &octets).unwrap();
                assert_ne!(sent, octets);
                assert!(decoded(coding, &sent, &octets).unwrap() == octets, "{coding:?} {}", octets.len());
            }
        }
    }

    #[test]
    fn a_cut_is_noticed() {
        for coding in Coding::ALL {
            let whole = pattern_vec(0, 5000);
            let sent = coded(coding, &whole).unwrap();
            assert!(decoded(coding, &sent[..sent.len() - 1], &whole).is_err(), "{coding:?}");
        }
    }

    #[test]
    fn bombs_are_small() {
        const LENGTH: usize = 64 << 20;
        for (coding, most) in [(Coding::Gzip, 66_000), (Coding::Zstd, 20_000), (Coding::Brotli, 50_000)] {
            let sent = coded_zeros(coding, LENGTH).unwrap();
            assert!(sent.len() < most, "{coding:?}: {}", sent.len());
        }
    }
}
