//! Who keeps an item, and when it was changed: the lines of `+ADMIN` ("Gopher+" appendix I).

use bytes::Bytes;
use memchr::{memchr, memrchr};

use crate::ftp_list::time_val;

/// `YYYYMMDDhhmmss`.
const DATE_DIGITS: usize = 14;

/// What `+ADMIN` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admin {
    /// `name <mail>`.
    pub admin: Option<Bytes>,
    /// When the item was changed, in seconds since 1970; the server's date is taken for UTC.
    pub modified: Option<i64>,
}

impl Admin {
    /// What the lines of a block say; of two of one name the first counts.
    pub fn parse(lines: &[Bytes]) -> Self {
        let value = |name: &[u8]| lines.iter().find_map(|line| value(line, name));
        Self {
            admin: value(b"Admin").filter(|admin| !admin.is_empty()).map(Bytes::copy_from_slice),
            modified: value(b"Mod-Date").and_then(date),
        }
    }
}

/// What stands behind `name:`, if the line begins so.
fn value<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let (before, behind) = line.split_at_checked(memchr(b':', line)?)?;
    let is_named = before.trim_ascii().eq_ignore_ascii_case(name);
    behind.get(1..).filter(|_| is_named).map(<[u8]>::trim_ascii)
}

/// The date in angle brackets: what stands before them is for people.
fn date(value: &[u8]) -> Option<i64> {
    let (_, behind) = value.split_at_checked(memrchr(b'<', value)? + 1)?;
    let digits = behind.get(..memchr(b'>', behind)?)?.trim_ascii();
    // The same digits as FTP's, but never with a fraction.
    time_val(digits).filter(|_| digits.len() == DATE_DIGITS)
}
