//! What SIZE and MDTM tell (RFC 3659 §3 and §4).

use crate::text::Reply;

/// What is known of a file before its octets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// Its size in octets.
    pub size: Option<u64>,
    /// Its last change.
    pub modified: Option<Modified>,
    /// Why one of the two is not known: the first refusal.
    pub refusal: Option<Reply>,
}

/// A time of modification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Modified {
    /// The server's words: digits, and a fraction.
    pub words: String,
    /// In seconds since 1970.
    pub seconds: i64,
}

impl Modified {
    /// Reads `YYYYMMDDHHMMSS[.sss]` (RFC 3659 §2.3).
    pub fn read(text: &[u8]) -> Option<Self> {
        let words = std::str::from_utf8(text).ok()?.trim();
        let seconds = crate::ftp_list::time_val(words.as_bytes())?;
        Some(Self { words: words.to_owned(), seconds })
    }
}

/// Digits alone.
pub(super) fn size(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, is) in [
            ("0", Some(0)),
            (" 1024 ", Some(1024)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("-1", None),
            ("+1", None),
            ("1 2", None),
            ("", None),
        ] {
            assert_eq!(size(text.as_bytes()), is, "{text}");
        }
    }

    #[test]
    fn times() {
        let read = |text: &str| Modified::read(text.as_bytes()).map(|time| (time.seconds, time.words));
        assert_eq!(read("19941201123456"), Some((786_285_296, "19941201123456".to_owned())));
        assert_eq!(read("19941201123456.789"), Some((786_285_296, "19941201123456.789".to_owned())));
        // A server's year 2000 fault.
        for bad in ["191001201123456", "19941301123456", "1994120112345", "", "yesterday"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
