//! Digests, by the crypto provider that TLS uses anyway.

use std::fs::File;
use std::io::{self, Read as _};

#[cfg(feature = "aws-lc-rs")]
use aws_lc_rs::digest as provider;
#[cfg(not(feature = "aws-lc-rs"))]
use ring::digest as provider;

/// A digest algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// SHA-1, for old checksum files only.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// A digest in the making.
pub(crate) struct Digest(provider::Context);

impl Digest {
    pub(crate) fn new(algorithm: Algorithm) -> Self {
        Self(provider::Context::new(match algorithm {
            Algorithm::Sha1 => &provider::SHA1_FOR_LEGACY_USE_ONLY,
            Algorithm::Sha256 => &provider::SHA256,
            Algorithm::Sha384 => &provider::SHA384,
            Algorithm::Sha512 => &provider::SHA512,
        }))
    }

    pub(crate) fn update(&mut self, octets: &[u8]) {
        self.0.update(octets);
    }

    /// Takes in `count` octets of `file`, from where it stands.
    pub(super) fn update_from(&mut self, file: &mut File, count: u64) -> io::Result<()> {
        let mut left = count;
        let mut buffer = vec![0; 64 * 1024];
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let read = file.read(&mut buffer[..most])?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.update(&buffer[..read]);
            left -= read as u64;
        }
        Ok(())
    }

    /// In lower-case hexadecimal.
    pub(crate) fn hex(self) -> String {
        self.0.finish().as_ref().iter().map(|octet| format!("{octet:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        let hex = |algorithm, text: &str| {
            let mut digest = Digest::new(algorithm);
            digest.update(text.as_bytes());
            digest.hex()
        };
        assert_eq!(hex(Algorithm::Sha1, "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(Algorithm::Sha256, "abc"), sha256);
        assert!(hex(Algorithm::Sha384, "abc").starts_with("cb00753f45a35e8b"));
        assert!(hex(Algorithm::Sha512, "abc").starts_with("ddaf35a193617aba"));
    }
}
