//! The table of error codes: name, exit status, meaning. The help text, the README and the exit status of the command
//! line are made from it.

use super::Phase;

/// A row of the table of error codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the columns of a private table")]
pub struct CodeRow {
    /// The code.
    pub code: Code,
    /// Its stable name, as JSON output shows it.
    pub word: &'static str,
    /// Its exit statuses: one, or two for the codes that depend on the phase.
    pub exits: &'static [u8],
    /// The beginning of the message for a person.
    pub words: &'static str,
    /// When it occurs.
    pub meaning: &'static str,
}

macro_rules! codes {
    ($($name:ident $word:literal $exits:expr, $words:literal, $meaning:literal;)*) => {
        /// The kind of an [`Error`](super::Error). Names and exit statuses are stable: they are never reused for another
        /// meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code { $(#[doc = $meaning] $name,)* }

        /// All error codes, ordered by exit status.
        pub static CODES: &[CodeRow] =
            &[$(CodeRow { code: Code::$name, word: $word, exits: &$exits, words: $words, meaning: $meaning },)*];
    };
}

codes! {
    Unsupported "unsupported" [1], "not supported", "the scheme is unknown, or is not supported";
    Usage "usage" [2], "usage", "wrong options";
    BadUrl "bad_url" [3], "not a URL", "the text is not a URL";
    ResolveFailed "resolve_failed" [6, 5], "host not found", "host (5: proxy) not found";
    ConnectFailed "connect_failed" [7], "cannot connect", "no connection to the server";
    PeerMisbehaved "peer_misbehaved" [8], "the server broke the protocol", "a reply that the protocol does not allow";
    Denied "denied" [9], "denied", "access denied: HTTP 403, FTP 530 for a file, NNTP 502";
    Truncated "truncated" [18], "cut short", "the body is incomplete: shorter than announced, without terminator, or the server reported a failure";
    HttpError "http_error" [22], "refused", "another HTTP status of 400 or above";
    SinkFailed "sink_failed" [23], "cannot write", "disk full, read-only, closed pipe";
    TimedOut "timed_out" [28], "timed out", "a timeout expired; the message names the phase";
    RangeRefused "range_refused" [33], "range refused", "the server cannot send the requested range";
    TlsFailed "tls_failed" [35, 60], "TLS failed", "TLS handshake (60: certificate) failed";
    TooManyRedirects "too_many_hops" [47], "too many redirects", "too many redirects, or a redirect loop";
    EmptyReply "empty_reply" [52], "no answer", "the server closed the connection without an answer";
    LimitReached "limit_reached" [63], "limit reached", "an object, listing or line is larger than a limit";
    AuthNeeded "auth_needed" [67], "login needed", "login refused, or no way to ask for a password";
    NotFound "not_found" [78], "not found", "no such object: HTTP 404, FTP 550, gopher type 3, NNTP 430, ENOENT";
    Policy "policy" [90], "refused by policy", "address, port, scheme or redirect refused by policy";
    ChecksumMismatch "checksum_mismatch" [91], "checksum mismatch", "the bytes do not match the checksum";
    Busy "busy" [92], "the server is busy", "FTP 421, HTTP 429 and 503, NNTP 400, after all retries";
    ForbiddenByte "forbidden_octet" [93], "refused", "a decoded CR, LF, NUL or TAB that would inject a command";
    Internal "internal" [99], "internal error", "a bug: please report it";
}

impl Code {
    fn row(self) -> &'static CodeRow {
        // The table has a row for each variant: the macro makes both from one list.
        &CODES[self as usize]
    }

    /// Returns the stable name, as JSON output shows it.
    pub fn name(self) -> &'static str {
        self.row().word
    }

    /// Returns the beginning of the message for a person.
    pub fn summary(self) -> &'static str {
        self.row().words
    }

    /// Returns the exit status; two codes have a second one that depends on the phase.
    pub(super) fn exit_status(self, phase: Phase) -> u8 {
        let second = matches!(
            (self, phase),
            (Self::ResolveFailed, Phase::Proxy) | (Self::TlsFailed, Phase::Certificate)
        );
        self.row().exits[usize::from(second)]
    }

    /// Returns `true` for codes of errors that are transient by default.
    pub(super) const fn is_temporary(self) -> bool {
        matches!(
            self,
            Self::Busy
                | Self::ConnectFailed
                | Self::EmptyReply
                | Self::ResolveFailed
                | Self::TimedOut
                | Self::Truncated
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_every_exit_status_is_used_once() {
        let mut exits: Vec<u8> = CODES.iter().flat_map(|row| row.exits).copied().collect();
        let count = exits.len();
        exits.sort_unstable();
        exits.dedup();
        assert_eq!(exits.len(), count);
        for row in CODES {
            assert_eq!(row.code.row(), row);
            assert_eq!(CODES.iter().filter(|other| other.word == row.word).count(), 1);
        }
    }
}
