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
    let sent = without_cr(&all_sent(&finished));
    let block = [&without_cr(&stuffed(body)), &b".\n"[..]].concat();
    let begins = |at: usize| {
        let line = sent[..at].strip_suffix(b"\n").map(|before| before.rsplit(|byte| *byte == b'\n').next());
        line.flatten().is_some_and(|line| line.starts_with(b"2"))
    };
    let places = (0..sent.len()).filter(|at| sent[*at..].starts_with(&block));
    assert!(places.into_iter().any(begins), "{}", body.escape_ascii());
    true
}

fn without_cr(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| *byte != b'\r').collect()
}

/// Returns the lines as NNTP sends them: a dot at the beginning is doubled. A bare LF ends no line.
fn stuffed(text: &[u8]) -> Vec<u8> {
    let mut stuffed = Vec::new();
    for (at, byte) in text.iter().enumerate() {
        if *byte == b'.' && (at == 0 || text[..at].ends_with(b"\r\n")) {
            stuffed.push(b'.');
        }
        stuffed.push(*byte);
    }
    stuffed
}
