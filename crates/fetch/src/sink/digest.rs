//! Digests: MD5 by the `md5` crate, all others by the cryptography library that TLS uses.

use std::fs::File;
use std::io::{self, Read as _};

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
    pub(crate) const fn of_digits(count: usize) -> Option<Self> {
        Some(match count {
            32 => Self::Md5,
            40 => Self::Sha1,
            64 => Self::Sha256,
            96 => Self::Sha384,
            128 => Self::Sha512,
            _ => return None,
        })
    }
}

/// The state of a digest computation.
pub(crate) struct Digest(DigestState);

enum DigestState {
    Md5(Md5),
    Provider(provider::Context),
}

impl Digest {
    /// Returns the state for SHA-512/256, which only HTTP Digest authentication uses.
    pub(crate) fn sha512_256() -> Self {
        Self(DigestState::Provider(provider::Context::new(&provider::SHA512_256)))
    }

    pub(crate) fn new(algorithm: Algorithm) -> Self {
        let provided = match algorithm {
            Algorithm::Md5 => return Self(DigestState::Md5(Md5::new())),
            Algorithm::Sha1 => &provider::SHA1_FOR_LEGACY_USE_ONLY,
            Algorithm::Sha256 => &provider::SHA256,
            Algorithm::Sha384 => &provider::SHA384,
            Algorithm::Sha512 => &provider::SHA512,
        };
        Self(DigestState::Provider(provider::Context::new(provided)))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            DigestState::Md5(digest) => digest.update(bytes),
            DigestState::Provider(digest) => digest.update(bytes),
        }
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

    /// Finishes the computation and returns the digest in lower-case hexadecimal.
    pub(crate) fn hex(self) -> String {
        self.finish(to_hex)
    }

    /// Finishes the computation and returns the first 128 bits of the digest. All algorithms have at least as many.
    pub(crate) fn first_128_bits(self) -> u128 {
        self.finish(|digest| digest.first_chunk().map_or(0, |first| u128::from_be_bytes(*first)))
    }

    fn finish<T>(self, read: impl Fn(&[u8]) -> T) -> T {
        match self.0 {
            DigestState::Md5(digest) => read(&digest.finalize()),
            DigestState::Provider(digest) => read(digest.finish().as_ref()),
        }
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
