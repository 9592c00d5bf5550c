//! Checksums that the caller gives, or that a checksum list (such as `SHA256SUMS`) contains.

mod list;

use std::fmt;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::str::FromStr;

pub use self::list::ChecksumList;
use crate::sink::digest::{Digest, DigestForm};
use crate::{Algorithm, Code, Error, Phase, blocking_threads};

/// The number of bytes of a file that are hashed at once. A cancelled computation ends after them.
const MAX_HASHED_BYTES: u64 = 16 * 1024 * 1024;

/// The checksum that an object must have: an algorithm and its digest. It parses from `sha256:HEX`; MD5, SHA-1,
/// SHA-256, SHA-384 and SHA-512 are supported. A document can have digests of the pieces of an object instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    algorithm: Algorithm,
    /// The length of each piece but the last in bytes, or `None` for the digest of the whole object.
    piece_length: Option<NonZeroU64>,
    /// The digest, or those of the pieces one after the other, in lower case.
    hex: String,
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = self.piece_length.map(|length| format!("/{length}")).unwrap_or_default();
        write!(f, "{}{pieces}:{}", self.algorithm.name(), self.hex)
    }
}

impl FromStr for Checksum {
    type Err = Error;

    /// Parses `ALGORITHM:HEX`, such as `sha256:ba7816bf…`.
    ///
    /// # Errors
    /// [`Code::Usage`] for other text.
    fn from_str(text: &str) -> Result<Self, Error> {
        let read = text.split_once(':').and_then(|(name, hex)| {
            let checksum = Self::of_hex(hex.trim())?;
            (Algorithm::named(name.trim())? == checksum.algorithm).then_some(checksum)
        });
        read.ok_or_else(|| {
            let detail = format!(
                "{text} is not a checksum: expected ALGORITHM:HEX with md5, sha1, sha256, sha384 or sha512"
            );
            Error::new(Code::Usage, Phase::Plan, detail)
        })
    }
}

impl Checksum {
    /// Parses a hexadecimal digest; the number of digits determines the algorithm.
    fn of_hex(hex: &str) -> Option<Self> {
        let algorithm = Algorithm::of_digits(hex.len())?;
        let is_hex = hex.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| Self { algorithm, piece_length: None, hex: hex.to_ascii_lowercase() })
    }

    /// Returns the checksum of an object by the digests of its pieces, in hexadecimal and in order. All pieces but the
    /// last, which is not longer, have `length` bytes. Returns `None` if there is no digest, or one is not a digest of
    /// `algorithm`.
    pub fn of_pieces(algorithm: Algorithm, length: NonZeroU64, digests: &[String]) -> Option<Self> {
        let is_digest =
            |hex: &String| Self::of_hex(hex).is_some_and(|checksum| checksum.algorithm == algorithm);
        let are_digests = !digests.is_empty() && digests.iter().all(is_digest);
        let hex = || digests.concat().to_ascii_lowercase();
        are_digests.then(|| Self { algorithm, piece_length: Some(length), hex: hex() })
    }

    pub(crate) fn form(&self) -> DigestForm {
        let whole = DigestForm::whole(self.algorithm);
        let count = self.hex.len() / self.algorithm.digit_count();
        self.piece_length.map_or(whole, |length| DigestForm::pieces(self.algorithm, length, count))
    }

    /// Returns the algorithm.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Finds the checksum of the file `path` in a list of `sha256sum` (`HEX  PATH`, `HEX *PATH`) or BSD (`SHA256
    /// (PATH) = HEX`). A list with a single checksum and no path applies to every file.
    ///
    /// Paths are compared as a whole, without `./` at the start. If `is_exact` is `false`, the directory to
    /// which the listed paths are relative is unknown: a listed path then also matches if `path` ends with
    /// it, and the longest match applies. If the list has several algorithms, the checksum of the strongest
    /// is returned. For several paths, [`ChecksumList`] parses the list once.
    ///
    /// # Errors
    /// [`Code::ChecksumMismatch`] if the list has different checksums of the strongest algorithm for this path.
    pub fn listed(list: &[u8], path: &[u8], is_exact: bool) -> Result<Option<Self>, Error> {
        ChecksumList::parse(list.to_vec()).find(path, is_exact)
    }

    /// Returns `true` if the file at `path` has this checksum. The whole file is read, on a thread for blocking work.
    ///
    /// # Errors
    /// Those of opening and reading the file.
    pub async fn matches_file(&self, path: &Path) -> io::Result<bool> {
        let (path, mut digest) = (path.to_owned(), Digest::of_form(self.form()));
        let mut file = blocking_threads::run(move || File::open(path)).await??;
        loop {
            let hash_part = move || -> io::Result<_> {
                let count = digest.update_up_to(&mut file, MAX_HASHED_BYTES)?;
                Ok((count, file, digest))
            };
            let count;
            (count, file, digest) = blocking_threads::run(hash_part).await??;
            if count < MAX_HASHED_BYTES {
                return Ok(self.hex == digest.hex());
            }
        }
    }

    /// Compares the checksum with the digest `found`.
    ///
    /// # Errors
    /// [`Code::ChecksumMismatch`] if they differ.
    pub(crate) fn check(&self, found: &str) -> Result<(), Error> {
        if self.hex == found {
            return Ok(());
        }
        // The first piece with another digest; a whole object is one piece.
        let count = self.algorithm.digit_count();
        let equal =
            self.hex.bytes().zip(found.bytes()).take_while(|(expected, found)| expected == found).count();
        let index = equal / count;
        let digest = |hex: &str| hex.get(index * count..(index + 1) * count).unwrap_or("none").to_owned();
        let piece = self.piece_length.map(|_| format!("piece {}: ", index + 1)).unwrap_or_default();
        let detail = format!("{piece}expected {}, got {}", digest(&self.hex), digest(found));
        Err(Error::new(Code::ChecksumMismatch, Phase::Deliver, detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";
    const SHA1: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";
    const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn gnu_and_bsd_lists_give_the_checksum_of_the_path() {
        let listed = |list: &str| {
            let found = Checksum::listed(list.as_bytes(), b"a b.iso", true).expect("no conflict");
            found.map(|checksum| checksum.hex)
        };
        for (list, found) in [
            (format!("{SHA256}  a b.iso\n"), Some(SHA256)),
            (format!("{SHA256} *a b.iso\r\n{SHA1} other\n"), Some(SHA256)),
            (format!("# a comment\n\n{}  ./a b.iso\n", SHA1.to_uppercase()), Some(SHA1)),
            (format!("{SHA1}  ./dist/a b.iso\n"), None),
            (format!("{SHA1}  a b.iso\n{SHA256}  old/a b.iso\n"), Some(SHA1)),
            (format!("SHA256 (a b.iso) = {SHA256}\n"), Some(SHA256)),
            (format!("MD5 (a b.iso) = {MD5}\nSHA256 (a b.iso) = {SHA256}\n"), Some(SHA256)),
            (format!("SHA1 (a b.iso) = {SHA256}\n"), None),
            (format!("{SHA256}\n"), Some(SHA256)),
            (format!("# a comment\n\n{SHA256}\n"), Some(SHA256)),
            (format!("{SHA256}\n{SHA256}\n"), None),
            (format!("\u{feff}{SHA256}  a b.iso\r\n{SHA1}  other\r\n"), Some(SHA256)),
            (format!("\u{feff}SHA256 (a b.iso) = {SHA256}\n"), Some(SHA256)),
            (format!("\u{feff}# a comment\n{SHA256}\n"), Some(SHA256)),
            (format!("\u{feff}{SHA256}\r\n"), Some(SHA256)),
            (format!("{SHA256}  a b.iso.sig\n"), None),
            (format!("{SHA256}  xa b.iso\n"), None),
            (format!("{}  a b.iso\n", &SHA256[1..]), None),
            ("<html>not found</html>".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(listed(&list).as_deref(), found, "{list}");
        }
        let escaped = format!("\\{SHA256}  a\\nb\\\\c\n");
        assert!(Checksum::listed(escaped.as_bytes(), b"a\nb\\c", true).is_ok_and(|found| found.is_some()));
    }

    #[test]
    fn longest_listed_path_at_the_end_of_a_longer_path_applies() {
        let list = format!("{MD5}  a\n{SHA1}  old/a\n{SHA256}  older/a\n");
        let listed = |path: &str| {
            let found = Checksum::listed(list.as_bytes(), path.as_bytes(), false).expect("no conflict");
            found.map(|checksum| checksum.hex)
        };
        assert_eq!(listed("pub/a").as_deref(), Some(MD5));
        assert_eq!(listed("pub/old/a").as_deref(), Some(SHA1));
        assert_eq!(listed("pub/xold/a").as_deref(), Some(MD5));
        assert_eq!(listed("pub/xa"), None);
    }

    #[test]
    fn different_checksums_of_one_path_are_an_error() {
        let other = SHA256.replace('b', "c");
        for (list, is_conflict) in [
            (format!("{SHA256}  a\n{other}  a\n"), true),
            (format!("{SHA256}  a\nSHA256 (a) = {other}\n"), true),
            (format!("{SHA256}  a\n{SHA256}  ./a\n"), false),
            (format!("{MD5}  a\n{SHA256}  a\n"), false),
        ] {
            assert_eq!(Checksum::listed(list.as_bytes(), b"a", true).is_err(), is_conflict, "{list}");
        }
    }

    #[test]
    fn wrong_missing_and_additional_pieces_are_named() {
        let digests = ["11", "22"].map(|digit| digit.repeat(16));
        let length = NonZeroU64::new(5).expect("not 0");
        let pieces = Checksum::of_pieces(Algorithm::Md5, length, &digests).expect("digests");
        assert_eq!(pieces.to_string(), format!("md5/5:{}", digests.concat()));
        let detail =
            |found: &str| pieces.check(found).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(detail(&digests.concat()), "");
        assert!(detail(&digests.concat().replace('2', "3")).contains("piece 2: expected 2222"));
        assert!(detail(&digests[0]).ends_with("got none"));
        assert!(detail(&(digests.concat() + &digests[0])).contains("piece 3: expected none, got 1111"));
        for wrong in [vec![], vec!["11".to_owned()], vec!["g".repeat(32)], vec!["1".repeat(40)]] {
            assert_eq!(Checksum::of_pieces(Algorithm::Md5, length, &wrong), None);
        }
    }

    #[test]
    fn only_an_algorithm_with_its_digest_parses() {
        for text in [format!("sha256:{SHA256}"), format!("SHA-256:{SHA256}"), format!("md5:{MD5}")] {
            assert!(text.parse::<Checksum>().is_ok(), "{text}");
        }
        for text in
            [SHA256.to_owned(), format!("md5:{SHA256}"), format!("crc32:{MD5}"), "sha256:xyz".to_owned()]
        {
            assert!(text.parse::<Checksum>().is_err(), "{text}");
        }
    }
}
