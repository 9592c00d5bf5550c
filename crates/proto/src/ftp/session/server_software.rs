//! What the greeting says about the server software.

use crate::text::Reply;

/// Software that finishes a transfer before it executes the next command, as its greeting names it. Verified against
/// the servers themselves.
const FINISHES_TRANSFERS_FIRST: [&str; 4] = ["vsFTPd", "ProFTPD", "Pure-FTPd", "GNU inetutils"];

/// Returns `true` if the server is known to keep a transfer alive when EPSV or PASV arrives during it. Other servers,
/// such as pyftpdlib, close its data connection.
pub(super) fn finishes_transfers_first(greeting: &Reply) -> bool {
    greeting.lines.iter().any(|line| {
        let line = String::from_utf8_lossy(line);
        FINISHES_TRANSFERS_FIRST.iter().any(|software| line.contains(software))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_verified_software_keeps_transfers() {
        for (greeting, expected) in [
            ("(vsFTPd 3.0.3)", true),
            ("ProFTPD Server (Debian) [::ffff:127.0.0.1]", true),
            ("--------- Welcome to Pure-FTPd [privsep] [TLS] ----------", true),
            ("host FTP server (GNU inetutils 2.4) ready.", true),
            ("pyftpdlib 1.5.10 ready.", false),
            ("Twisted 22.4.0 FTP Server", false),
            ("FTP server ready", false),
            ("", false),
        ] {
            let reply = Reply { code: 220, lines: vec![greeting.as_bytes().to_vec().into()] };
            assert_eq!(finishes_transfers_first(&reply), expected, "{greeting}");
        }
    }
}
