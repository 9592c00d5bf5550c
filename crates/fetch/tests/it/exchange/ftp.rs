//! A server over sockets that sends the input in reply to FTP commands and on data connections: the file has exactly the
//! bytes of one data connection that was closed, not reset, or there is an error.
//!
//! The first byte selects the options of the request.
use super::download::download;
use super::peer::End;
use super::script::Script;
use fetch_url::Request;
use fetch_url::ftp::FtpOptions;

/// Returns `true` if the download succeeded.
pub(crate) fn check(data: &[u8]) -> bool {
    let script = Script::from_bytes(data);
    let finished = download(&script, 0, |ports| {
        let mut options = FtpOptions::default();
        options.no_epsv = script.choice & 1 != 0;
        let path = if script.choice & 2 != 0 { "d/f;type=i" } else { "f" };
        Ok(Request::new(&format!("ftp://127.0.0.1:{}/{path}", ports.first))?.with_extra(options))
    });
    let Ok((body, _)) = &finished.result else { return false };
    let control = finished.to(false);
    let asked = |command: &[u8]| {
        control
            .iter()
            .any(|connection| connection.received.windows(command.len()).any(|part| part == command))
    };
    assert!(asked(b"RETR f\r\n"), "a file that was not requested");
    let data = finished.to(true);
    // PASV may name the first listener, too.
    let mut transfers = data.iter().chain(control.iter().skip(1));
    let is_transfer = transfers.any(|connection| connection.end == End::Closed && connection.sent == *body);
    assert!(is_transfer, "{} of {:?}", body.escape_ascii(), finished.connections);
    true
}
