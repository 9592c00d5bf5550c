//! Recognises servers that refuse a connection or login because the client or user has too many connections. FTP and
//! NNTP have no reply code for it, so servers send that of a wrong password, and the text is searched.

/// Words for a number that is too large.
const EXCESS_WORDS: &[&[u8]] = &[
    b"too many",
    b"maximum",
    b"max ",
    b"max.",
    b"no more",
    b"more than",
    b"concurrent",
    b"connection limit",
    b"connections limit",
    b"limit reached",
    b"limit exceeded",
];
/// Words for what there is too much of.
const CONNECTION_WORDS: &[&[u8]] =
    &[b"connection", b"connected", b"clients", b"users", b"sessions", b"number of hosts"];
/// Words of replies about a wrong password. Another attempt could lock the account.
const WRONG_LOGIN_WORDS: &[&[u8]] =
    &[b"attempt", b"fail", b"incorrect", b"invalid", b"password", b"wrong", b"tries"];

/// Returns `true` if the text of an error reply to a connection or login says that there are too many connections.
pub(super) fn reports_connection_limit(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    let contains = |words: &[&[u8]]| words.iter().any(|word| memchr::memmem::find(&text, word).is_some());
    contains(EXCESS_WORDS) && contains(CONNECTION_WORDS) && !contains(WRONG_LOGIN_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_about_the_number_of_connections_report_a_connection_limit() {
        for text in [
            "Sorry, the maximum number of allowed clients (10) are already connected.",
            "Sorry, the maximum number of clients (2) from your host are already connected.",
            "Sorry, the maximum number of clients (2) for this user already connected.",
            "Sorry, the maximum number of hosts (2) for this user already connected.",
            "Too many users.",
            "Too many connections from your IP",
            "There are too many connected users, please try later.",
            "User anonymous access denied: too many users in your class",
            "I can't accept more than 3 connections as the same user",
            "Not logged in, only 2 sessions from same IP allowed concurrently",
            "max connections exceeded",
            "USER over connection limit",
        ] {
            assert!(reports_connection_limit(text.as_bytes()), "{text}");
        }
        for text in [
            "Login incorrect.",
            "Not logged in, user or password incorrect",
            "Authentication failed, closing connection",
            "Too many failed logins, closing connection",
            "Maximum login attempts reached, connection closed",
            "Too many login attempts by users of this host",
            "Only anonymous access is allowed",
            "Access is limited to hosts and users of this network",
            "Only registered users can log in",
            "Transfer limit exceeded",
            "",
        ] {
            assert!(!reports_connection_limit(text.as_bytes()), "{text}");
        }
    }
}
