//! A server over sockets that sends the input in reply to the commands of a news client: the article in the file was sent
//! as a block with its end after a reply with code 2xx, or there is an error. A password is sent only where it may be.
//!
//! The first byte selects the URL, and whether a password may be sent in plaintext.
use super::download::{all_sent, download};
use super::script::Script;
use fetch_url::Request;
use fetch_url::news::NewsOptions;

/// Returns `true` if the download succeeded.
pub(crate) fn check(data: &[u8]) -> bool {
    let script = Script::from_bytes(data);
    let is_number = script.choice & 1 != 0;
    let allows_password = script.choice & 2 != 0;
    let finished = download(&script, 0, |ports| {
        let url = if is_number { "nntp://127.0.0.1:{}/g/1" } else { "news://127.0.0.1:{}/a@b" };
        let mut options = NewsOptions::default();
        options.insecure_auth = allows_password;
        Ok(Request::new(&url.replace("{}", &ports.first.to_string()))?.with_extra(options))
    });
    for connection in finished.to(false) {
        let has_password = connection.received.windows(6).any(|window| window == b"sesame");
        assert!(allows_password || !has_password, "a password in plaintext");
    }
    let Ok((body, _)) = &finished.result else { return false };
    let sent = all_sent(&finished);
    let begins = |at: usize| {
        let line = sent[..at].strip_suffix(b"\n").map(|before| before.rsplit(|byte| *byte == b'\n').next());
        line.flatten().is_some_and(|line| line.starts_with(b"2"))
    };
    let is_block = |at: usize| is_block_of(&sent[at..], body);
    assert!((0..sent.len()).any(|at| is_block(at) && begins(at)), "{}", body.escape_ascii());
    true
}

/// Returns `true` if `sent` begins with `text` as a block: a dot at the beginning of a line is doubled, and a line of one
/// dot follows. CRs are not compared; a bare LF ends no line. A server may have forgotten to double the dot before another
/// byte; it is part of the text then.
fn is_block_of(mut sent: &[u8], text: &[u8]) -> bool {
    for (at, &byte) in text.iter().enumerate().filter(|(_, byte)| **byte != b'\r') {
        let is_line_start = at == 0 || text[..at].ends_with(b"\r\n");
        sent = match without_crs(sent) {
            [b'.', b'.', rest @ ..] if byte == b'.' && is_line_start => rest,
            [b'.', b'\r', b'\n', ..] if is_line_start => return false,
            [first, rest @ ..] if *first == byte => rest,
            _ => return false,
        };
    }
    without_crs(sent).starts_with(b".\r\n")
}

/// Returns the bytes after the CRs at the start.
fn without_crs(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| *byte != b'\r').unwrap_or(bytes.len());
    &bytes[start..]
}

#[test]
fn block_with_a_dot_that_was_not_doubled_is_its_text() {
    for (sent, text, is_block) in [
        ("..a\r\n.\r\n", ".a\r\n", true),
        (".a\r\n.\r\n", ".a\r\n", true),
        ("..a\r\n.\r\n", "..a\r\n", false),
        ("...a\r\n.\r\n", "..a\r\n", true),
        ("..\r\n.\r\n", ".\r\n", true),
        (".\r\n.\r\n", ".\r\n", false),
        ("a\r\n.\r\n", "a\r\nb\r\n", false),
        ("a\r\nb\r\n", "a\r\n", false),
        // The second dot does not follow the first one, and a bare LF ends no line.
        (".\r.\0\r\n.\r\n", ".\r.\0\r\n", true),
        (".\n.\ra\r\n.\r\n", ".\n.\ra\r\n", true),
    ] {
        assert_eq!(is_block_of(sent.as_bytes(), text.as_bytes()), is_block, "{sent:?} {text:?}");
    }
}
