//! A server over sockets that sends the input in reply to WAIS requests: each byte of the document in the file was sent,
//! in this order, or there is an error.
//!
//! The first byte selects the notation of the document.
use super::download::{all_sent, download, is_subsequence};
use super::script::Script;
use fetch_url::Request;

/// Returns `true` if the download succeeded.
pub(crate) fn check(data: &[u8]) -> bool {
    let script = Script::from_bytes(data);
    let document =
        if script.choice & 1 != 0 { "TEXT/2=t;3=0%209%20x;" } else { "GIF/%02%01t%03%050%209%20x" };
    let finished =
        download(&script, 0, |ports| Request::new(&format!("wais://127.0.0.1:{}/t/{document}", ports.first)));
    let Ok((body, _)) = &finished.result else { return false };
    assert!(!finished.connections.is_empty());
    assert!(is_subsequence(body, &all_sent(&finished)), "{}", body.escape_ascii());
    true
}
