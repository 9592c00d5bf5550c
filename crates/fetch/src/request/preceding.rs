//! The bytes before a requested range. They show whether a server has honoured the offset.

use std::io::{self, Read, Seek, SeekFrom};

/// The numbers of bytes that are compared with the start of the file, one after another.
const LENGTHS: [u64; 3] = [64, 4 * 1024, 256 * 1024];

/// The bytes before a byte range of an object, which the caller has.
///
/// A server that does not state the offset of the data that it sends (FTP, RFC 3659 §5) may ignore the requested one
/// and send the object from its start. These bytes are requested again to notice that. It cannot be noticed if the
/// object starts with the same bytes, as a file of zeros does.
#[derive(Clone, Debug)]
pub struct PrecedingBytes {
    bytes: Vec<u8>,
    /// They differ from the start of the object, or are the start of the object, which is requested without an offset.
    prove_offset: bool,
}

impl PrecedingBytes {
    /// Reads the last of the first `offset` bytes of `file`: the fewest that show whether a server has honoured an
    /// offset, from 64 bytes to 256 KiB.
    ///
    /// # Errors
    /// Those of `file`; `UnexpectedEof` if it has fewer than `offset` bytes.
    pub fn read(file: &mut (impl Read + Seek), offset: u64) -> io::Result<Self> {
        let mut bytes = Vec::new();
        for length in LENGTHS.map(|length| length.min(offset)) {
            bytes = read_at(file, offset - length, length)?;
            if length == offset || bytes != read_at(file, 0, length)? {
                return Ok(Self { bytes, prove_offset: true });
            }
        }
        Ok(Self { bytes, prove_offset: false })
    }

    /// Returns the bytes.
    #[cfg(feature = "ftp")]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns `false` if a server that ignores the offset would send the same bytes.
    #[cfg(feature = "ftp")]
    pub(crate) const fn prove_offset(&self) -> bool {
        self.prove_offset
    }
}

fn read_at(file: &mut (impl Read + Seek), offset: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn preceding(content: &[u8], offset: u64) -> (usize, bool) {
        let preceding = PrecedingBytes::read(&mut Cursor::new(content), offset).expect("a file in memory");
        let end = usize::try_from(offset).expect("a small offset");
        assert!(content[..end].ends_with(&preceding.bytes), "not the bytes before the offset");
        (preceding.bytes.len(), preceding.prove_offset)
    }

    #[test]
    fn fewest_bytes_that_differ_from_the_start_are_chosen() {
        let mut content = vec![0; 400_000];
        assert_eq!(preceding(&content, 400_000), (256 * 1024, false), "a file of zeros");
        assert_eq!(preceding(&content, 63), (63, true), "the whole start");
        assert_eq!(preceding(&content, 4096), (4096, true), "the whole start");
        content[398_000] = 1;
        assert_eq!(
            preceding(&content, 400_000),
            (4096, true),
            "differs more than 64 bytes before the offset"
        );
        content[399_999] = 1;
        assert_eq!(preceding(&content, 400_000), (64, true), "differs in the last byte");
        assert_eq!(preceding(&content, 300_000), (256 * 1024, false), "differs behind the offset");
    }

    #[test]
    fn file_that_is_shorter_than_the_offset_is_an_error() {
        let error = PrecedingBytes::read(&mut Cursor::new([0; 10]), 11).expect_err("a short file");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
