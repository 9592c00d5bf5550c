//! Files that options name, such as `--cacert FILE`, and their data from standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use fetch_url::Error;

use crate::error::usage_error;
use crate::stdin::stdin_for;

/// The maximum size of the data of a file or of standard input, in bytes, as in curl. They are kept in memory.
const MAX_SIZE: u64 = 1024 * 1024 * 1024;

/// Reads the file that `option` names.
///
/// # Errors
/// `Code::Usage` if it cannot be read, or if it is larger than 1 GiB: a device may have no end.
pub(super) fn read_option_file(option: &str, path: &Path) -> Result<Vec<u8>, Error> {
    let read = File::open(path).and_then(|file| read_at_most(MAX_SIZE, file));
    read.map_err(|error| usage_error(format!("{option} {}: {error}", path.display())))
}

/// Reads the file of UTF-8 text that `option` names.
pub(super) fn read_option_text(option: &str, path: &Path) -> Result<String, Error> {
    let not_utf8 = |_| usage_error(format!("{option} {}: the file is not UTF-8", path.display()));
    String::from_utf8(read_option_file(option, path)?).map_err(not_utf8)
}

/// Reads standard input for `option`.
///
/// # Errors
/// `Code::Usage` if another option reads it, if it cannot be read, or if it is larger than 1 GiB, because a part of the data
/// must not be sent as the whole.
pub(super) fn read_stdin(option: &str) -> Result<Vec<u8>, Error> {
    read_at_most(MAX_SIZE, stdin_for(option)?)
        .map_err(|error| usage_error(format!("{option}: standard input: {error}")))
}

/// Reads the UTF-8 text of standard input for `option`.
///
/// # Errors
/// Those of [`read_stdin`], and `Code::Usage` if it is not UTF-8.
pub(super) fn read_stdin_text(option: &str) -> Result<String, Error> {
    let not_utf8 = |_| usage_error(format!("{option}: standard input is not UTF-8"));
    String::from_utf8(read_stdin(option)?).map_err(not_utf8)
}

/// Reads everything, at most `limit` bytes. More is an error.
pub(super) fn read_at_most(limit: u64, source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_that_is_larger_than_the_limit_is_an_error_and_not_cut() {
        assert_eq!(read_at_most(4, b"1234".as_slice()).expect("four bytes"), b"1234");
        assert_eq!(read_at_most(4, b"".as_slice()).expect("no byte"), b"");
        let error = read_at_most(4, b"12345".as_slice()).expect_err("five bytes");
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::FileTooLarge, "larger than 4 bytes")
        );
    }
}
