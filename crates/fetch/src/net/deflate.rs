//! Both directions of a connection, compressed (RFC 1951) from some octet on: NNTP's COMPRESS (RFC 8054).

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use flate2::{Compress, Compression, Decompress, DecompressError, FlushCompress, FlushDecompress, Status};

/// So much is made of what came at a time: what is compressed without shame fills no memory.
const PIECE: usize = 64 * 1024;

/// The two streams.
pub(super) struct Deflate {
    ours: Compress,
    theirs: Decompress,
    /// What came and was not looked at.
    pub(super) arrived: BytesMut,
    has_ended: bool,
}

impl Deflate {
    pub(super) fn new() -> Self {
        Self {
            ours: Compress::new(Compression::default(), false),
            theirs: Decompress::new(false),
            arrived: BytesMut::new(),
            has_ended: false,
        }
    }

    /// What goes out for `octets`: all of them can be read at the other end.
    pub(super) fn shut(&mut self, octets: &[u8]) -> io::Result<Bytes> {
        let mut shut = Vec::with_capacity(octets.len() + 64);
        let before = self.ours.total_in();
        loop {
            let done = usize::try_from(self.ours.total_in() - before).unwrap_or(octets.len());
            let room = shut.capacity() - shut.len();
            self.ours
                .compress_vec(&octets[done.min(octets.len())..], &mut shut, FlushCompress::Sync)
                .map_err(io::Error::other)?;
            // Room that is left says that nothing was left out.
            if shut.len() < shut.capacity() && room > 0 {
                return Ok(shut.into());
            }
            shut.reserve(256);
        }
    }

    /// Adds what has arrived to `buffer`: so many octets; none when more must arrive, or nothing more can.
    pub(super) fn open(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        let start = buffer.len();
        buffer.resize(start + PIECE, 0);
        let (before_in, before_out) = (self.theirs.total_in(), self.theirs.total_out());
        let status = self.theirs.decompress(&self.arrived, &mut buffer[start..], FlushDecompress::Sync);
        let count = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(PIECE);
        let made = count(self.theirs.total_out(), before_out);
        self.arrived.advance(count(self.theirs.total_in(), before_in).min(self.arrived.len()));
        buffer.truncate(start + made.min(PIECE));
        match status {
            Ok(Status::StreamEnd) => self.has_ended = true,
            Ok(Status::Ok | Status::BufError) => {}
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
        Ok(made)
    }

    /// Whether the other side has said that nothing more comes.
    pub(super) const fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// Whether a connection was lost because what came was no compressed stream.
pub(super) fn is_broken(lost: &io::Error) -> bool {
    lost.get_ref().is_some_and(|inside| inside.is::<DecompressError>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(shut: &[u8], cut: usize) -> Vec<u8> {
        let (mut theirs, mut all) = (Deflate::new(), BytesMut::new());
        for piece in shut.chunks(cut) {
            theirs.arrived.extend_from_slice(piece);
            while theirs.open(&mut all).expect("sound") > 0 {}
        }
        all.to_vec()
    }

    #[test]
    fn what_is_shut_can_be_opened_at_once() {
        let mut ours = Deflate::new();
        let long: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let pieces = [&b"GROUP a\r\n"[..], b"", b"x", &[7; 200_000], &long, b"OVER 1-2\r\n"];
        let mut shut = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            shut.extend_from_slice(&ours.shut(piece).expect("compressed"));
            let so_far = pieces[..=index].concat();
            assert!(opened(&shut, shut.len().max(1)) == so_far, "piece {index}");
        }
        for cut in [1, 7, 4096] {
            assert!(opened(&shut, cut) == pieces.concat(), "{cut}");
        }
    }

    #[test]
    fn what_is_no_such_stream_is_an_error() {
        let mut theirs = Deflate::new();
        theirs.arrived.extend_from_slice(b"215 groups follow\r\n");
        let mut buffer = BytesMut::new();
        assert!((0..3).any(|_| theirs.open(&mut buffer).is_err()));
    }
}
