//! A server over sockets that sends the input in reply to gopher requests: the file has the content that a second reader
//! finds in the response, or there is an error.
//!
//! The first byte selects the item type: a binary file or a text.
use super::download::download;
use super::peer::End;
use super::script::Script;
use fetch_url::Request;

/// Returns `true` if the download succeeded.
pub(crate) fn check(data: &[u8]) -> bool {
    let script = Script::from_bytes(data);
    let is_text = script.choice & 1 != 0;
    let item_type = if is_text { '0' } else { '9' };
    let finished = download(&script, 0, |ports| {
        Request::new(&format!("gopher://127.0.0.1:{}/{item_type}/a", ports.first))
    });
    let Ok((body, _)) = &finished.result else { return false };
    let [only] = finished.connections.as_slice() else { panic!("one connection for one item") };
    assert_eq!(only.received, b"/a\r\n");
    if is_text {
        assert_eq!(body.escape_ascii().to_string(), text(&only.sent).escape_ascii().to_string());
        let has_end = text_before_dot(&only.sent).is_some();
        assert!(has_end || only.end == End::Closed, "a text without its end");
    } else {
        assert_eq!(only.end, End::Closed, "a binary file without its end");
        assert_eq!(body, &only.sent);
    }
    true
}

/// Returns the text without its final line of one dot. If it has that line, and all lines that begin with a dot begin
/// with two, the doubled dots are replaced (semantics 4.20).
fn text(sent: &[u8]) -> Vec<u8> {
    let Some(text) = text_before_dot(sent) else { return sent.to_vec() };
    let lines = || text.split_inclusive(|byte| *byte == b'\n');
    let is_stuffed = lines().all(|line| !line.starts_with(b".") || line.starts_with(b".."));
    let unstuffed = |line| if is_stuffed { <[u8]>::strip_prefix(line, b".").unwrap_or(line) } else { line };
    lines().flat_map(unstuffed).copied().collect()
}

/// Returns the bytes before the last line if it is one dot.
fn text_before_dot(sent: &[u8]) -> Option<&[u8]> {
    let text = sent.strip_suffix(b".\r\n").or_else(|| sent.strip_suffix(b".\n"))?;
    (text.is_empty() || text.ends_with(b"\n")).then_some(text)
}
