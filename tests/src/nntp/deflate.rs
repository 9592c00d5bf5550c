//! The layer of COMPRESS DEFLATE (RFC 8054): raw deflate, flushed at the end of each write.

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

    /// What goes out for these octets.
    pub(crate) fn compressed(&mut self, octets: &[u8]) -> Result<Vec<u8>> {
        through(&mut self.encoder, octets)?;
        Ok(take(self.encoder.get_mut()))
    }

    /// What these octets say.
    pub(crate) fn expanded(&mut self, octets: &[u8]) -> Result<Vec<u8>> {
        through(&mut self.decoder, octets)?;
        Ok(take(self.decoder.get_mut()))
    }
}

/// All is in memory, so nothing is ever waited for.
fn through(coder: &mut (impl AsyncWrite + Unpin), mut octets: &[u8]) -> Result<()> {
    let mut context = Context::from_waker(Waker::noop());
    while !octets.is_empty() {
        let taken = at_once(Pin::new(&mut *coder).poll_write(&mut context, octets))?;
        if taken == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        octets = &octets[taken..];
    }
    at_once(Pin::new(coder).poll_flush(&mut context))
}

fn at_once<T>(poll: Poll<Result<T>>) -> Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Error::other("memory is not ready")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_write_can_be_read_at_once() {
        let (mut here, mut there) = (Deflate::new(), Deflate::new());
        let long = b"211 1 1 1 fetch.test\r\n".repeat(10_000);
        for octets in [&b"GROUP fetch.test\r\n"[..], b"x", &long, b"GROUP fetch.test\r\n"] {
            let sent = here.compressed(octets).unwrap();
            assert!(sent.len() < octets.len().max(30), "{}", sent.len());
            assert!(there.expanded(&sent).unwrap() == octets);
        }
        let sent = here.compressed(b"QUIT\r\n").unwrap();
        let said: Vec<u8> = sent.iter().flat_map(|octet| there.expanded(&[*octet]).unwrap()).collect();
        assert_eq!(said, b"QUIT\r\n");
        assert!(Deflate::new().expanded(b"QUIT\r\n").is_err());
    }
}
