//! Digests: MD5 by the `md5` crate, all others by the cryptography library that TLS uses.

use std::fs::File;
use std::io::{self, Read as _};
use std::num::NonZeroU64;

#[cfg(feature = "aws-lc-rs")]
use aws_lc_rs::digest as provider;
use md5::{Digest as _, Md5};
#[cfg(not(feature = "aws-lc-rs"))]
use ring::digest as provider;

/// A digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// MD5, for old checksum files only.
    Md5,
    /// SHA-1, for old checksum files only.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Algorithm {
    /// Returns the algorithm with this name, in upper or lower case, with or without a hyphen.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().replace('-', "").as_str() {
            "md5" => Self::Md5,
            "sha1" => Self::Sha1,
            "sha256" => Self::Sha256,
            "sha384" => Self::Sha384,
            "sha512" => Self::Sha512,
            _ => return None,
        })
    }

    /// Returns the name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// Returns the algorithm whose digests have `count` hexadecimal digits.
    pub(crate) fn of_digits(count: usize) -> Option<Self> {
        let all = [Self::Md5, Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512];
        all.into_iter().find(|algorithm| algorithm.digit_count() == count)
    }

    /// Returns the number of hexadecimal digits of a digest.
    pub(crate) const fn digit_count(self) -> usize {
        match self {
            Self::Md5 => 32,
            Self::Sha1 => 40,
            Self::Sha256 => 64,
            Self::Sha384 => 96,
            Self::Sha512 => 128,
        }
    }
}

/// The algorithm of a digest, and the length of the pieces of which the digests are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DigestForm {
    algorithm: Algorithm,
    piece_length: u64,
    /// The number of pieces of this length. The bytes after them are one more piece, so that the memory is limited.
    count: usize,
}

impl DigestForm {
    /// Returns the form of the digest of a whole object: it is one piece.
    pub(crate) const fn whole(algorithm: Algorithm) -> Self {
        Self { algorithm, piece_length: u64::MAX, count: 1 }
    }

    /// Returns the form of the digests of `count` pieces.
    pub(crate) const fn pieces(algorithm: Algorithm, length: NonZeroU64, count: usize) -> Self {
        Self { algorithm, piece_length: length.get(), count }
    }

    pub(crate) const fn is_whole(self) -> bool {
        self.piece_length == u64::MAX
    }
}

/// The state of a digest computation.
pub(crate) struct Digest {
    state: DigestState,
    function: DigestFunction,
    piece_length: u64,
    /// The number of pieces of this length that have not begun.
    left: usize,
    /// The number of bytes that are missing from the current piece.
    missing: u64,
    /// The digests of the pieces before the current one, in hexadecimal.
    ended: String,
}

/// The function that computes a digest.
#[derive(Clone, Copy)]
enum DigestFunction {
    Md5,
    Provider(&'static provider::Algorithm),
}

impl DigestFunction {
    const fn of(algorithm: Algorithm) -> Self {
        Self::Provider(match algorithm {
            Algorithm::Md5 => return Self::Md5,
            Algorithm::Sha1 => &provider::SHA1_FOR_LEGACY_USE_ONLY,
            Algorithm::Sha256 => &provider::SHA256,
            Algorithm::Sha384 => &provider::SHA384,
            Algorithm::Sha512 => &provider::SHA512,
        })
    }
}

enum DigestState {
    Md5(Md5),
    Provider(provider::Context),
}

impl DigestState {
    fn new(function: DigestFunction) -> Self {
        match function {
            DigestFunction::Md5 => Self::Md5(Md5::new()),
            DigestFunction::Provider(algorithm) => Self::Provider(provider::Context::new(algorithm)),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(digest) => digest.update(bytes),
            Self::Provider(digest) => digest.update(bytes),
        }
    }

    fn finish<T>(self, read: impl Fn(&[u8]) -> T) -> T {
        match self {
            Self::Md5(digest) => read(&digest.finalize()),
            Self::Provider(digest) => read(digest.finish().as_ref()),
        }
    }
}

impl Digest {
    /// Returns the state for SHA-512/256, which only HTTP Digest authentication uses.
    pub(crate) fn sha512_256() -> Self {
        Self::start(DigestFunction::Provider(&provider::SHA512_256), u64::MAX, 1)
    }

    pub(crate) fn new(algorithm: Algorithm) -> Self {
        Self::of_form(DigestForm::whole(algorithm))
    }

    pub(crate) fn of_form(form: DigestForm) -> Self {
        Self::start(DigestFunction::of(form.algorithm), form.piece_length, form.count)
    }

    fn start(function: DigestFunction, piece_length: u64, count: usize) -> Self {
        let (state, left) = (DigestState::new(function), count.saturating_sub(1));
        Self { state, function, piece_length, left, missing: piece_length, ended: String::new() }
    }

    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        // A piece ends only when another one begins, so that the last piece can have any length.
        while self.missing < bytes.len() as u64 {
            let (rest_of_piece, next) = bytes.split_at(usize::try_from(self.missing).unwrap_or(usize::MAX));
            self.state.update(rest_of_piece);
            let ended = std::mem::replace(&mut self.state, DigestState::new(self.function));
            self.ended.push_str(&ended.finish(to_hex));
            self.missing = if self.left == 0 { u64::MAX } else { self.piece_length };
            (self.left, bytes) = (self.left.saturating_sub(1), next);
        }
        self.state.update(bytes);
        self.missing -= bytes.len() as u64;
    }

    /// Adds `count` bytes of `file`, starting at its current position.
    pub(super) fn update_from(&mut self, file: &mut File, count: u64) -> io::Result<()> {
        let read = self.update_up_to(file, count)?;
        if read == count { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Adds `count` bytes of `file`, starting at its current position, or fewer at the end of the file. Returns their
    /// number.
    pub(crate) fn update_up_to(&mut self, file: &mut File, count: u64) -> io::Result<u64> {
        let mut left = count;
        let mut buffer = vec![0; 64 * 1024];
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let read = file.read(&mut buffer[..most])?;
            if read == 0 {
                break;
            }
            self.update(&buffer[..read]);
            left -= read as u64;
        }
        Ok(count - left)
    }

    /// Finishes the computation and returns the digest in lower-case hexadecimal, or those of the pieces, one after the
    /// other.
    pub(crate) fn hex(self) -> String {
        self.ended + &self.state.finish(to_hex)
    }

    /// Finishes the computation and returns the first 128 bits of the digest of a whole object. All algorithms have at
    /// least as many.
    pub(crate) fn first_128_bits(self) -> u128 {
        self.state.finish(|digest| digest.first_chunk().map_or(0, |first| u128::from_be_bytes(*first)))
    }
}

/// Returns bytes as lower-case hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_match_the_test_vectors() {
        let hex = |algorithm, text: &str| {
            let mut digest = Digest::new(algorithm);
            digest.update(text.as_bytes());
            digest.hex()
        };
        assert_eq!(hex(Algorithm::Md5, "abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hex(Algorithm::Sha1, "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(Algorithm::Sha256, "abc"), sha256);
        assert!(hex(Algorithm::Sha384, "abc").starts_with("cb00753f45a35e8b"));
        assert!(hex(Algorithm::Sha512, "abc").starts_with("ddaf35a193617aba"));
    }

    #[test]
    fn digests_of_pieces_do_not_depend_on_the_chunks() {
        let bytes: Vec<u8> = (0..=99).collect();
        for (length, count) in
            [(1, 100), (7, 15), (7, 20), (25, 4), (99, 2), (100, 1), (101, 1), (7, 3), (1, 1)]
        {
            let form = DigestForm::pieces(Algorithm::Sha256, NonZeroU64::new(length).expect("not 0"), count);
            let digest_of = |bytes: &[u8]| {
                let mut digest = Digest::new(Algorithm::Sha256);
                digest.update(bytes);
                digest.hex()
            };
            let length = usize::try_from(length).expect("a small number");
            // The bytes after the pieces are one more.
            let (pieces, rest) = bytes.split_at(bytes.len().min(length * count));
            let pieces = pieces.chunks(length).chain([rest].into_iter().filter(|rest| !rest.is_empty()));
            let expected: String = pieces.map(digest_of).collect();
            for chunk in [1, 3, 25, 50, 100] {
                let mut digest = Digest::of_form(form);
                bytes.chunks(chunk).for_each(|chunk| digest.update(chunk));
                assert_eq!(digest.hex(), expected, "{length} {count} {chunk}");
            }
        }
    }

    #[test]
    fn first_bits_are_those_of_the_hexadecimal_digest() {
        for algorithm in [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512] {
            let digest = || {
                let mut digest = Digest::new(algorithm);
                digest.update(b"abc");
                digest
            };
            assert_eq!(format!("{:032x}", digest().first_128_bits()), digest().hex()[..32]);
        }
    }
}
