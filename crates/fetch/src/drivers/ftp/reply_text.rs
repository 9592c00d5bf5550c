//! Interprets the text of replies, and formats replies for messages.

use fetch_url_proto::text::Reply;

/// Returns the code and the last line of a reply; the lines before it may be a long banner.
pub(super) fn reply_summary(reply: &Reply) -> Vec<u8> {
    let text = reply.lines.last().map(|line| line.to_vec()).unwrap_or_default();
    [format!("{} ", reply.code).as_bytes(), &text].concat()
}

/// Words of the final reply to a listing that lacks entries.
const INCOMPLETE_WORDS: [&str; 10] = [
    "truncated",
    "failed",
    "aborted",
    "denied",
    "error",
    "incomplete",
    "limited",
    "not listed",
    "partial",
    "warning",
];

/// Returns `true` if a success reply states that the listing is incomplete. Servers send such replies: "Output
/// truncated to 10000 matches", "Transfer done (but failed to open directory)".
pub(super) fn reports_incomplete_listing(reply: &Reply) -> bool {
    let contains = |word: &str| {
        reply.lines.iter().any(|line| String::from_utf8_lossy(line).to_ascii_lowercase().contains(word))
    };
    matches!(reply.code, 226 | 250) && INCOMPLETE_WORDS.iter().any(|word| contains(word))
}

/// Returns the size in the reply that announces a transfer: "150 Opening BINARY mode data connection for x (8 bytes)".
pub(super) fn announced_size(reply: &Reply) -> Option<u64> {
    let text = reply.lines.last()?.to_ascii_lowercase();
    let (_, number) =
        std::str::from_utf8(&text[..memchr::memmem::rfind(&text, b" bytes")?]).ok()?.rsplit_once('(')?;
    if number.bytes().all(|byte| byte.is_ascii_digit()) { number.parse().ok() } else { None }
}

/// Returns the lines of a reply as they were received.
pub(super) fn reply_wire_lines(reply: &Reply) -> impl Iterator<Item = Vec<u8>> + '_ {
    let last = reply.lines.len().saturating_sub(1);
    reply.lines.iter().enumerate().map(move |(index, line)| match index {
        _ if index == last => [format!("{} ", reply.code).as_bytes(), line].concat(),
        0 => [format!("{}-", reply.code).as_bytes(), line].concat(),
        // The parser keeps the inner lines unchanged.
        _ => line.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announced_size_is_the_number_in_parentheses_before_bytes() {
        for (text, size) in [
            ("Opening BINARY mode data connection for f (300000 bytes).", Some(300_000)),
            ("Opening BINARY mode data connection for (1 bytes) (20 bytes)", Some(20)),
            ("Data connection accepted (0 Bytes)", Some(0)),
            ("Opening data connection for f\u{fc} (8 bytes)", Some(8)),
            ("Opening data connection for f.", None),
            ("About 300 bytes", None),
            ("f (+3 bytes)", None),
            ("f ( bytes)", None),
            ("f (99999999999999999999 bytes)", None),
        ] {
            assert_eq!(announced_size(&Reply { code: 150, lines: vec![text.into()] }), size, "{text}");
        }
    }
}
