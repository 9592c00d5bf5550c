//! COMPRESS DEFLATE (RFC 8054): raw DEFLATE, flushed at the end of each write.

use std::io::{Error, ErrorKind, Result};
use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use async_compression::tokio::write::{DeflateDecoder, DeflateEncoder};
use tokio::io::AsyncWrite;

/// Both directions of a connection.
pub(crate) struct Deflate {
    encoder: DeflateEncoder<Vec<u8>>,
    decoder: DeflateDecoder<Vec<u8>>,
}

impl Deflate {
    pub(crate) fn new() -> Self {
        Self { encoder: DeflateEncoder::new(Vec::new()), decoder: DeflateDecoder::new(Vec::new()) }
    }

    /// Returns the compressed bytes.
    pub(crate) fn compress(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        write_through(&mut self.encoder, bytes)?;
        Ok(take(self.encoder.get_mut()))
    }

    /// Returns the decompressed bytes.
    pub(crate) fn decompress(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        write_through(&mut self.decoder, bytes)?;
        Ok(take(self.decoder.get_mut()))
    }
}

/// Writes all bytes. The output is in memory, so that a write is always ready.
fn write_through(coder: &mut (impl AsyncWrite + Unpin), mut bytes: &[u8]) -> Result<()> {
    let mut context = Context::from_waker(Waker::noop());
    while !bytes.is_empty() {
        let taken = ready(Pin::new(&mut *coder).poll_write(&mut context, bytes))?;
        if taken == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        bytes = &bytes[taken..];
    }
    ready(Pin::new(coder).poll_flush(&mut context))
}

fn ready<T>(poll: Poll<Result<T>>) -> Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Error::other("memory is not ready")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_write_is_decompressed_at_once() {
        let (mut here, mut there) = (Deflate::new(), Deflate::new());
        let long = b"211 1 1 1 fetch.test\r\n".repeat(10_000);
        for bytes in [&b"GROUP fetch.test\r\n"[..], b"x", &long, b"GROUP fetch.test\r\n"] {
            let sent = here.compress(bytes).unwrap();
            assert!(sent.len() < bytes.len().max(30), "{}", sent.len());
            assert!(there.decompress(&sent).unwrap() == bytes);
        }
        let sent = here.compress(b"QUIT\r\n").unwrap();
        let received: Vec<u8> = sent.iter().flat_map(|byte| there.decompress(&[*byte]).unwrap()).collect();
        assert_eq!(received, b"QUIT\r\n");
        assert!(Deflate::new().decompress(b"QUIT\r\n").is_err());
    }
}
