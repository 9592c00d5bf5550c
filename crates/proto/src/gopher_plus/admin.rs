//! Parses the `+ADMIN` block: administrator and modification time ("Gopher+" appendix I).

use bytes::Bytes;
use memchr::{memchr, memrchr};

use crate::calendar::parse_time_val;

/// `YYYYMMDDhhmmss`.
const DATE_DIGITS: usize = 14;

/// The contents of an `+ADMIN` block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admin {
    /// The administrator, as `name <mail>`.
    pub admin: Option<Bytes>,
    /// The modification time in seconds since 1970-01-01 UTC; the server's local date is read as UTC.
    pub modified: Option<i64>,
}

impl Admin {
    /// Parses the lines of the block. Of several lines with the same name, the first one is used.
    pub fn parse(lines: &[Bytes]) -> Self {
        let value = |name: &[u8]| lines.iter().find_map(|line| value(line, name));
        Self {
            admin: value(b"Admin").filter(|admin| !admin.is_empty()).map(Bytes::copy_from_slice),
            modified: value(b"Mod-Date").and_then(date),
        }
    }
}

/// Returns the value after `name:`, or `None` if the line has another name.
fn value<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let (before, behind) = line.split_at_checked(memchr(b':', line)?)?;
    let is_named = before.trim_ascii().eq_ignore_ascii_case(name);
    behind.get(1..).filter(|_| is_named).map(<[u8]>::trim_ascii)
}

/// Parses the date in angle brackets; the text before it is for display only.
fn date(value: &[u8]) -> Option<i64> {
    let (_, behind) = value.split_at_checked(memrchr(b'<', value)? + 1)?;
    let digits = behind.get(..memchr(b'>', behind)?)?.trim_ascii();
    // The format is that of FTP's MDTM, but without a fraction.
    parse_time_val(digits).filter(|_| digits.len() == DATE_DIGITS)
}
