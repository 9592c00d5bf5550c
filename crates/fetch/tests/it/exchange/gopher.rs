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
        let texts = [true, false].map(|is_stuffed| text(&only.sent, is_stuffed));
        assert!(texts.contains(body) || *body == only.sent, "{texts:?}");
        let has_end = texts[0].len() < only.sent.len();
        assert!(has_end || only.end == End::Closed, "a text without its end");
    } else {
        assert_eq!(only.end, End::Closed, "a binary file without its end");
        assert_eq!(body, &only.sent);
    }
    true
}

/// Returns the lines before the line with a dot, with doubled dots replaced if the server doubles them.
fn text(sent: &[u8], is_stuffed: bool) -> Vec<u8> {
    let mut text = Vec::new();
    for line in sent.split_inclusive(|byte| *byte == b'\n') {
        if matches!(line, b"." | b".\r" | b".\n" | b".\r\n") {
            break;
        }
        text.extend_from_slice(if is_stuffed && line.starts_with(b"..") { &line[1..] } else { line });
    }
    text
}
