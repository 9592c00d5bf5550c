//! Bytes that several servers make: repetitions in blocks, replaced placeholders, percent-encoding, lines.

use std::borrow::Cow;

/// Maximum number of bytes of a repetition that go into one write.
const BLOCK: usize = 64 * 1024;

/// Returns `bytes` repeated `times`, in blocks of about 64 KiB.
pub(crate) fn repeated<'a>(bytes: &[u8], times: u64) -> impl Iterator<Item = Cow<'a, [u8]>> + use<'a> {
    let size = bytes.len();
    let per_block = (BLOCK / size.max(1)).max(1) as u64;
    let block = bytes.repeat(per_block.min(times) as usize);
    (0..times).step_by(per_block as usize).map(move |done| {
        let count = per_block.min(times - done) as usize;
        Cow::Owned(block[..size * count].to_vec())
    })
}

/// Returns the bytes with every `from` replaced by `to`.
pub(crate) fn replace_all(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    result.extend_from_slice(rest);
    result
}

/// Percent-encodes everything but ASCII letters, digits and the bytes in `kept`.
pub fn percent_encode(bytes: &[u8], kept: &[u8]) -> String {
    let encoded = bytes.iter().map(|byte| match byte {
        _ if byte.is_ascii_alphanumeric() || kept.contains(byte) => char::from(*byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    encoded.collect()
}

/// Takes the first line, with its LF, from received bytes. Returns `None` if it is not complete.
pub(crate) fn take_line(received: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = received.iter().position(|byte| *byte == b'\n')?;
    Some(received.drain(..=end).collect())
}

/// Removes CR LF from the end of a command line. A line that ends in LF alone keeps it, so that tests see the
/// difference.
pub(crate) fn without_crlf(mut line: Vec<u8>) -> Vec<u8> {
    if line.ends_with(b"\r\n") {
        line.truncate(line.len() - 2);
    }
    line
}

/// Decodes lines for comparison; invalid UTF-8 becomes U+FFFD.
pub(crate) fn as_text(lines: &[Vec<u8>]) -> Vec<String> {
    lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_has_the_exact_length() {
        for (bytes, times) in [(&b"abc"[..], 50_000), (b"x", 3), (b"", 3), (b"x", 0)] {
            let all = repeated(bytes, times).collect::<Vec<_>>().concat();
            assert!(all == bytes.repeat(times as usize), "{times}");
        }
        let large = vec![0; BLOCK + 1];
        assert_eq!(repeated(&large, 3).map(|block| block.len()).collect::<Vec<_>>(), [BLOCK + 1; 3]);
    }

    #[test]
    fn placeholders_are_replaced_and_the_rest_is_kept() {
        assert_eq!(replace_all(b"a{port}b{p{port}", b"{port}", b"70"), b"a70b{p70");
        assert_eq!(percent_encode(b"a/b%\xff.", b"/."), "a/b%25%FF.");
        let mut received = b"USER a\r\nPASS\nrest".to_vec();
        assert_eq!(take_line(&mut received).map(without_crlf).as_deref(), Some(&b"USER a"[..]));
        assert_eq!(take_line(&mut received).map(without_crlf).as_deref(), Some(&b"PASS\n"[..]));
        assert_eq!((take_line(&mut received), received.as_slice()), (None, &b"rest"[..]));
    }
}
