//! DEFLATE compression of both directions of a connection (RFC 1951): NNTP's COMPRESS (RFC 8054).

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use flate2::{Compress, Compression, Decompress, DecompressError, FlushCompress, FlushDecompress, Status};

/// Maximum number of bytes that one call decompresses, so that a decompression bomb cannot fill the memory.
const MAX_OUTPUT: usize = 64 * 1024;

/// The compressor and decompressor of a connection.
pub(super) struct Deflate {
    compressor: Compress,
    decompressor: Decompress,
    /// Compressed bytes that have not been decompressed.
    pub(super) input: BytesMut,
    has_ended: bool,
}

impl Deflate {
    pub(super) fn new() -> Self {
        Self {
            compressor: Compress::new(Compression::default(), false),
            decompressor: Decompress::new(false),
            input: BytesMut::new(),
            has_ended: false,
        }
    }

    /// Compresses `bytes` and flushes, so that the other side can decompress all of them.
    pub(super) fn compress(&mut self, bytes: &[u8]) -> io::Result<Bytes> {
        let mut compressed = Vec::with_capacity(bytes.len() + 64);
        let before = self.compressor.total_in();
        loop {
            let done = usize::try_from(self.compressor.total_in() - before).unwrap_or(bytes.len());
            let room = compressed.capacity() - compressed.len();
            self.compressor
                .compress_vec(&bytes[done.min(bytes.len())..], &mut compressed, FlushCompress::Sync)
                .map_err(io::Error::other)?;
            // Unused capacity means that all output has been written.
            if compressed.len() < compressed.capacity() && room > 0 {
                return Ok(compressed.into());
            }
            compressed.reserve(256);
        }
    }

    /// Decompresses received bytes to the end of `buffer` and returns their number; 0 if more input is needed or the
    /// stream has ended.
    pub(super) fn decompress(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        let start = buffer.len();
        buffer.resize(start + MAX_OUTPUT, 0);
        let (before_in, before_out) = (self.decompressor.total_in(), self.decompressor.total_out());
        let status = self.decompressor.decompress(&self.input, &mut buffer[start..], FlushDecompress::Sync);
        let count = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(MAX_OUTPUT);
        let made = count(self.decompressor.total_out(), before_out);
        self.input.advance(count(self.decompressor.total_in(), before_in).min(self.input.len()));
        buffer.truncate(start + made.min(MAX_OUTPUT));
        match status {
            Ok(Status::StreamEnd) => self.has_ended = true,
            Ok(Status::Ok | Status::BufError) => {}
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
        Ok(made)
    }

    /// Returns `true` if the compressed stream has ended.
    pub(super) const fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// Returns `true` if the connection failed because of invalid compressed data.
pub(super) fn is_invalid_data(lost: &io::Error) -> bool {
    lost.get_ref().is_some_and(|inside| inside.is::<DecompressError>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decompressed(compressed: &[u8], cut: usize) -> Vec<u8> {
        let (mut theirs, mut all) = (Deflate::new(), BytesMut::new());
        for piece in compressed.chunks(cut) {
            theirs.input.extend_from_slice(piece);
            while theirs.decompress(&mut all).expect("sound") > 0 {}
        }
        all.to_vec()
    }

    #[test]
    fn compressed_bytes_can_be_decompressed_at_once() {
        let mut ours = Deflate::new();
        let long: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let pieces = [&b"GROUP a\r\n"[..], b"", b"x", &[7; 200_000], &long, b"OVER 1-2\r\n"];
        let mut compressed = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            compressed.extend_from_slice(&ours.compress(piece).expect("compressed"));
            let so_far = pieces[..=index].concat();
            assert!(decompressed(&compressed, compressed.len().max(1)) == so_far, "piece {index}");
        }
        for cut in [1, 7, 4096] {
            assert!(decompressed(&compressed, cut) == pieces.concat(), "{cut}");
        }
    }

    #[test]
    fn invalid_compressed_data_is_an_error() {
        let mut theirs = Deflate::new();
        theirs.input.extend_from_slice(b"215 groups follow\r\n");
        let mut buffer = BytesMut::new();
        assert!((0..3).any(|_| theirs.decompress(&mut buffer).is_err()));
    }
}
