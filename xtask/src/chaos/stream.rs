//! Several files in one stream, as standard output gets them.

use std::collections::BTreeSet;

/// Returns the number of bytes at the start of both texts that are equal.
fn common_start(text: &[u8], other: &[u8]) -> usize {
    text.iter().zip(other).take_while(|(byte, other)| byte == other).count()
}

/// Returns `true` if `text` has a version of each file, in their order; if they need not be whole, a part from its start.
pub(super) fn is_sequence(text: &[u8], files: &[Vec<Vec<u8>>], are_whole: bool) -> bool {
    let Some((versions, others)) = files.split_first() else { return text.is_empty() };
    let found = versions.iter().map(|version| (common_start(text, version), version.len()));
    // An empty version, and one of few bytes, may be the start of another one.
    let lengths: BTreeSet<usize> = match are_whole {
        true => found.filter(|(common, length)| common == length).map(|(common, _)| common).collect(),
        // The first bytes of the next file may equal those that would have followed.
        false => found.flat_map(|(common, _)| common.saturating_sub(4)..=common).chain([0]).collect(),
    };
    lengths.into_iter().any(|length| is_sequence(&text[length..], others, are_whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_has_one_version_of_each_file_or_a_part_of_it() {
        let files = [vec![b"aa1".to_vec(), b"aa2x".to_vec()], vec![b"ab".to_vec(), Vec::new()]];
        for (text, if_whole, if_not) in [
            ("aa1ab", true, true),
            ("aa2xab", true, true),
            ("aa1", true, true),
            ("aa2", false, true),
            ("aaab", false, true),
            ("ab", false, true),
            ("aab", false, true),
            ("aa1aa2x", false, false),
            ("aaaa1ab", false, false),
            ("aa1abx", false, false),
        ] {
            assert_eq!(is_sequence(text.as_bytes(), &files, true), if_whole, "{text}");
            assert_eq!(is_sequence(text.as_bytes(), &files, false), if_not, "{text}");
        }
    }
}
