//! Size and modification time of a file, from the replies to SIZE and MDTM (RFC 3659 §3 and §4).

use crate::text::Reply;

/// The metadata of a file that is known before its transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileMetadata {
    /// The size in bytes, from SIZE.
    pub size: Option<u64>,
    /// The modification time, from MDTM.
    pub modified: Option<ModifiedTime>,
    /// The first reply that rejected SIZE or MDTM.
    pub rejection: Option<Reply>,
    /// A reply accepted SIZE or MDTM, but could perhaps not be read.
    pub is_accepted: bool,
}

/// A modification time as MDTM returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModifiedTime {
    /// The text of the reply: 14 digits and an optional fraction.
    pub text: String,
    /// The same time in seconds since 1970-01-01 UTC, without the fraction.
    pub seconds: i64,
}

impl ModifiedTime {
    /// Parses `YYYYMMDDHHMMSS[.sss]` (RFC 3659 §2.3), or returns `None` if the text has another form.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?.trim();
        let seconds = crate::calendar::parse_time_val(text.as_bytes())?;
        Some(Self { text: text.to_owned(), seconds })
    }
}

/// Parses the text of a reply to SIZE: decimal digits only.
pub(super) fn parse_size(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decimal_sizes_are_parsed() {
        for (text, expected) in [
            ("0", Some(0)),
            (" 1024 ", Some(1024)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("-1", None),
            ("+1", None),
            ("1 2", None),
            ("", None),
        ] {
            assert_eq!(parse_size(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn only_valid_times_are_parsed() {
        let parse = |text: &str| ModifiedTime::parse(text.as_bytes()).map(|time| (time.seconds, time.text));
        assert_eq!(parse("19941201123456"), Some((786_285_296, "19941201123456".to_owned())));
        assert_eq!(parse("19941201123456.789"), Some((786_285_296, "19941201123456.789".to_owned())));
        // The year 2000 bug of some servers: `19100` for 2000.
        for bad in ["191001201123456", "19941301123456", "1994120112345", "", "yesterday"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
