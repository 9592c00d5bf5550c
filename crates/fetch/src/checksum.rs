//! Checksums: given by the caller, or found in a list beside the object.

use std::fmt;
use std::str::FromStr;

use crate::{Algorithm, Code, Error, Phase};

/// The checksum that an object must have: an algorithm and its digest. It parses from `sha256:HEX`; MD5, SHA-1,
/// SHA-256, SHA-384 and SHA-512 are supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    algorithm: Algorithm,
    /// In lower case.
    hex: String,
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm.name(), self.hex)
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
                "{text} is no checksum: md5, sha1, sha256, sha384 or sha512, a colon, and as many \
                                  hexadecimal digits as it has"
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
        is_hex.then(|| Self { algorithm, hex: hex.to_ascii_lowercase() })
    }

    /// Returns the algorithm.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Finds the checksum of the file `name` in a list of `sha256sum` (`HEX  NAME`, `HEX *NAME`) or BSD (`SHA256
    /// (NAME) = HEX`). A list with a single checksum and no name applies to every file. Of several, the strongest is
    /// returned.
    pub fn listed(list: &[u8], name: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(list);
        let name = String::from_utf8_lossy(name);
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let found = lines.clone().filter_map(|line| line_of(line, &name));
        found.max_by_key(|checksum| checksum.hex.len()).or_else(|| single_checksum(lines))
    }

    /// Compares the checksum with the digest `found`.
    ///
    /// # Errors
    /// [`Code::ChecksumMismatch`] if they differ.
    pub(crate) fn check(&self, found: &str) -> Result<(), Error> {
        if self.hex == found {
            return Ok(());
        }
        let detail = format!("{found}, not {}", self.hex);
        Err(Error::new(Code::ChecksumMismatch, Phase::Deliver, detail))
    }
}

/// Returns the checksum of a line about `name`.
fn line_of(line: &str, name: &str) -> Option<Checksum> {
    bsd_line(line, name).or_else(|| gnu_line(line, name))
}

/// `HEX  NAME`, or `\HEX  NAME` where the name has escapes.
fn gnu_line(line: &str, name: &str) -> Option<Checksum> {
    let (line, has_escapes) = match line.strip_prefix('\\') {
        Some(line) => (line, true),
        None => (line, false),
    };
    let (hex, rest) = line.trim_start().split_once([' ', '\t'])?;
    let listed = rest.trim_start().trim_start_matches('*');
    let listed =
        if has_escapes { listed.replace("\\n", "\n").replace("\\\\", "\\") } else { listed.to_owned() };
    is_name(&listed, name).then(|| Checksum::of_hex(hex))?
}

/// Parses `ALGORITHM (NAME) = HEX`.
fn bsd_line(line: &str, name: &str) -> Option<Checksum> {
    let (algorithm, rest) = line.split_once(" (")?;
    let (listed, hex) = rest.rsplit_once(") = ")?;
    let checksum = Checksum::of_hex(hex.trim()).filter(|_| is_name(listed, name))?;
    (Algorithm::named(algorithm)? == checksum.algorithm).then_some(checksum)
}

/// Returns `true` if the listed path ends with this file name: lists of directory trees contain paths.
fn is_name(listed: &str, name: &str) -> bool {
    listed.rsplit('/').next() == Some(name)
}

/// Returns the checksum of a list that contains only one checksum and no name.
fn single_checksum<'l>(mut lines: impl Iterator<Item = &'l str>) -> Option<Checksum> {
    let checksum = Checksum::of_hex(lines.next()?.trim());
    checksum.filter(|_| lines.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";
    const SHA1: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";
    const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn lists() {
        let listed = |list: &str| Checksum::listed(list.as_bytes(), b"a b.iso").map(|checksum| checksum.hex);
        for (list, found) in [
            (format!("{SHA256}  a b.iso\n"), Some(SHA256)),
            (format!("{SHA256} *a b.iso\r\n{SHA1} other\n"), Some(SHA256)),
            (format!("# a comment\n\n{}  ./dist/a b.iso\n", SHA1.to_uppercase()), Some(SHA1)),
            (format!("SHA256 (a b.iso) = {SHA256}\n"), Some(SHA256)),
            (format!("MD5 (a b.iso) = {MD5}\nSHA256 (a b.iso) = {SHA256}\n"), Some(SHA256)),
            (format!("SHA1 (a b.iso) = {SHA256}\n"), None),
            (format!("{SHA256}\n"), Some(SHA256)),
            (format!("{SHA256}\n{SHA256}\n"), None),
            (format!("{SHA256}  a b.iso.sig\n"), None),
            (format!("{SHA256}  xa b.iso\n"), None),
            (format!("{}  a b.iso\n", &SHA256[1..]), None),
            ("<html>not found</html>".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(listed(&list).as_deref(), found, "{list}");
        }
        let escaped = format!("\\{SHA256}  a\\nb\\\\c\n");
        assert!(Checksum::listed(escaped.as_bytes(), b"a\nb\\c").is_some());
    }

    #[test]
    fn words_of_a_caller() {
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
