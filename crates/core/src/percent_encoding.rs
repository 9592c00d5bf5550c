//! Percent-encoding and the character classes of RFC 1738 (§2.2 and §5).
//!
//! A component of a URL stays [`PercentEncoded`] until a command is built from it. It is decoded once, there.

use std::borrow::Cow;
use std::fmt;

const ALPHA: u32 = 1;
const DIGIT: u32 = 1 << 1;
const HEX: u32 = 1 << 2;
const DASH_DOT: u32 = 1 << 3;
const PLUS: u32 = 1 << 4;
const UNDERSCORE: u32 = 1 << 16;
const OTHER_UNRESERVED: u32 = 1 << 5;
const SEMICOLON: u32 = 1 << 6;
const SLASH: u32 = 1 << 7;
const QUESTION: u32 = 1 << 8;
const COLON: u32 = 1 << 9;
const AT: u32 = 1 << 10;
const AMPERSAND: u32 = 1 << 11;
const EQUALS: u32 = 1 << 12;
const TILDE: u32 = 1 << 13;
const ASTERISK: u32 = 1 << 14;
const BRACKETS: u32 = 1 << 15;
/// The class of no byte.
const NO_BYTE: u32 = 1 << 17;
/// The class `unreserved` of RFC 1738 §5.
const UNRESERVED: u32 = ALPHA | DIGIT | DASH_DOT | PLUS | UNDERSCORE | OTHER_UNRESERVED | ASTERISK;

/// Returns the classes of `byte`, one bit each.
const fn class_of(byte: u8) -> u32 {
    let hex = if byte.is_ascii_hexdigit() { HEX } else { 0 };
    hex | match byte {
        b'a'..=b'z' | b'A'..=b'Z' => ALPHA,
        b'0'..=b'9' => DIGIT,
        b'-' | b'.' => DASH_DOT,
        b'+' => PLUS,
        b'_' => UNDERSCORE,
        b'$' | b'!' | b'\'' | b'(' | b')' | b',' => OTHER_UNRESERVED,
        b'*' => ASTERISK,
        b';' => SEMICOLON,
        b'/' => SLASH,
        b'?' => QUESTION,
        b':' => COLON,
        b'@' => AT,
        b'&' => AMPERSAND,
        b'=' => EQUALS,
        b'~' => TILDE,
        b'[' | b']' => BRACKETS,
        _ => 0,
    }
}

/// A set of ASCII bytes that a component of a URL may contain without percent-encoding.
///
/// The sets of RFC 1738 §5 are constants in [`charset`](crate::charset).
//
// Each set is one bit. A table maps each byte to the bits of its sets, so membership is one lookup, and the bits of
// several bytes can be combined with `&`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharSet(u32);

impl CharSet {
    /// Returns `true` if `byte` is in the set, that is, if it needs no percent-encoding.
    #[inline(always)]
    pub const fn contains(self, byte: u8) -> bool {
        SETS_OF_BYTE[byte as usize] & self.0 != 0
    }

    /// Returns the end of the run of members and well-formed escapes (`%hh`) that starts at `start`.
    // Not inlined: one copy stays in the processor's cache, which makes parsing 4 % faster.
    #[inline(never)]
    pub(crate) fn end_of_run(self, bytes: &[u8], start: usize) -> usize {
        let mut at = self.end_of_plain_run(bytes, start);
        while is_escape(bytes, at) {
            at = self.end_of_plain_run(bytes, at + 3);
        }
        at
    }

    /// Returns the end of the run of members that starts at `start`. Escapes end the run. Checks four bytes at a time.
    #[inline(always)]
    pub(crate) fn end_of_plain_run(self, bytes: &[u8], start: usize) -> usize {
        let mut at = start;
        while let Some([one, two, three, four]) = bytes.get(at..at + 4) {
            let common = SETS_OF_BYTE[*one as usize]
                & SETS_OF_BYTE[*two as usize]
                & SETS_OF_BYTE[*three as usize]
                & SETS_OF_BYTE[*four as usize];
            if common & self.0 == 0 {
                break;
            }
            at += 4;
        }
        self.end_of_short_run(bytes, at)
    }

    /// Like [`CharSet::end_of_plain_run`], but faster for runs of a few bytes: checks one byte at a time.
    #[inline(always)]
    pub(crate) fn end_of_short_run(self, bytes: &[u8], start: usize) -> usize {
        let mut at = start;
        while at < bytes.len() && self.contains(bytes[at]) {
            at += 1;
        }
        at
    }
}

macro_rules! sets {
    ($($(#[$doc:meta])* $visibility:vis $name:ident = $classes:expr;)*) => {
        /// The number of each set's bit.
        #[allow(clippy::upper_case_acronyms, non_camel_case_types, reason = "the names of the constants")]
        enum Bit { $($name),* }

        /// The sets of each byte, one bit per set.
        static SETS_OF_BYTE: [u32; 256] = {
            let mut table = [0; 256];
            let mut byte = 0;
            while byte < 256 {
                let class = class_of(byte as u8);
                $(if class & ($classes) != 0 {
                    table[byte] |= 1 << Bit::$name as u32;
                })*
                byte += 1;
            }
            table
        };

        /// The character classes of RFC 1738 §5. Sets that end in `_1993` are those of the draft BNF of November 1993
        /// ([`Dialect::Cern1993`](crate::Dialect::Cern1993)). Where a class contains `uchar`, an escape `%hh` is allowed as well.
        #[allow(unreachable_pub, reason = "public as crate::charset")]
        pub mod sets {
            use super::{Bit, CharSet};

            $($(#[$doc])* $visibility const $name: CharSet = CharSet(1 << Bit::$name as u32);)*
        }
    };
}

sets! {
    /// The empty set: [`PercentEncoded::encode`](super::PercentEncoded::encode) then encodes every byte.
    pub EMPTY = NO_BYTE;
    /// ASCII letters: §5 `alpha`.
    pub ALPHABETIC = ALPHA;
    /// Decimal digits: §5 `digit`.
    pub DIGITS = DIGIT;
    /// Hexadecimal digits: §5 `hex`.
    pub HEXADECIMAL = HEX;
    /// ASCII letters and digits: §5 `alphadigit`.
    pub ALPHADIGIT = ALPHA | DIGIT;
    /// A scheme name (§2.1): letters, digits, `+`, `.` and `-`.
    pub SCHEME = ALPHA | DIGIT | DASH_DOT | PLUS;
    /// Unreserved characters: §5 `unreserved`, which is `uchar` without the escape.
    pub UCHAR = UNRESERVED;
    /// Unreserved and reserved characters: §5 `xchar` without the escape.
    pub XCHAR = UNRESERVED | SEMICOLON | SLASH | QUESTION | COLON | AT | AMPERSAND | EQUALS;
    /// User name and password: §5 `user` and `password`.
    pub USER = UNRESERVED | SEMICOLON | QUESTION | AMPERSAND | EQUALS;
    /// One segment of an FTP, file or Prospero path: §5 `fsegment` and `psegment`.
    pub FSEGMENT = UNRESERVED | QUESTION | COLON | AT | AMPERSAND | EQUALS;
    /// An FTP, file or Prospero path: §5 `fpath` and `ppath`, segments with slashes between them.
    pub FPATH = UNRESERVED | QUESTION | COLON | AT | AMPERSAND | EQUALS | SLASH;
    /// One segment of an HTTP path, or a query: §5 `hsegment` and `search`.
    pub HSEGMENT = UNRESERVED | SEMICOLON | COLON | AT | AMPERSAND | EQUALS;
    /// An HTTP path: §5 `hpath`, segments with slashes between them.
    pub HPATH = UNRESERVED | SEMICOLON | COLON | AT | AMPERSAND | EQUALS | SLASH;
    /// A newsgroup name after its first letter: §5 `group`.
    pub GROUP = ALPHA | DIGIT | DASH_DOT | PLUS | UNDERSCORE;
    /// The part of a message-id before the `@`: §5 `article`.
    pub ARTICLE = UNRESERVED | SEMICOLON | SLASH | QUESTION | COLON | AMPERSAND | EQUALS;
    /// Name or value of a Prospero field: §5 `fieldname` and `fieldvalue`.
    pub FIELD = UNRESERVED | QUESTION | COLON | AT | AMPERSAND;
    pub(crate) AT_SIGN = AT;
    pub(crate) COLON_OR_AT = COLON | AT;
    pub(crate) SLASH_ONLY = SLASH;
    pub(crate) SLASH_OR_QUESTION = SLASH | QUESTION;
    pub(crate) QUESTION_ONLY = QUESTION;
    pub(crate) SEMICOLON_ONLY = SEMICOLON;
    pub(crate) EQUALS_OR_SEMICOLON = EQUALS | SEMICOLON;
    pub(crate) TILDE_ONLY = TILDE;
    pub(crate) TILDE_AND_BRACKETS = TILDE | BRACKETS;
    /// Characters that RFC 3986 §3.4 allows in a query and §5 `search` does not.
    pub(crate) RFC3986_QUERY = TILDE | SLASH | QUESTION;
    /// Reserved characters that occur unescaped in WAIS document identifiers, which are opaque.
    pub(crate) WAIS_OPAQUE = TILDE | SLASH | SEMICOLON | EQUALS | COLON | AT;
    /// A newsgroup name or a pattern of names (wildmat, RFC 3977 §4), accepted by the lenient dialect.
    pub(crate) GROUP_PATTERN = ALPHA | DIGIT | DASH_DOT | PLUS | UNDERSCORE | ASTERISK;
    /// 1993 `xpalphas` and `/`: a path (`safe` included `@` and `&`).
    pub(crate) PATH_1993 = UNRESERVED | AT | AMPERSAND | SLASH;
    /// 1993 `xalphas`.
    pub(crate) XALPHAS_1993 = UNRESERVED | AT | AMPERSAND;
    /// 1993 `search`: `xalphas [ + search ]`, and the `=` that HTML forms send.
    pub(crate) SEARCH_1993 = UNRESERVED | AT | AMPERSAND | EQUALS;
    /// 1993 `wpath`: `digits = path ;`, repeated.
    pub(crate) WPATH_1993 = UNRESERVED | AT | AMPERSAND | SLASH | EQUALS | SEMICOLON;
}

/// Returns `true` if a well-formed escape `%hh` starts at `at`.
#[inline(always)]
pub(crate) fn is_escape(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'%')
        && matches!(bytes.get(at + 1..at + 3), Some([high, low])
            if sets::HEXADECIMAL.contains(*high) && sets::HEXADECIMAL.contains(*low))
}

/// Text of a URL as it was written, in which `%hh` stands for one byte (RFC 1738 §2.2).
///
/// Equality and order compare the text: `%41` differs from `A`. To compare the bytes, compare the results of
/// [`PercentEncoded::decode`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PercentEncoded<'a>(Cow<'a, str>);

impl<'a> PercentEncoded<'a> {
    pub(crate) const fn borrowed(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    pub(crate) const fn owned(text: String) -> Self {
        Self(Cow::Owned(text))
    }

    /// Encodes `bytes`: bytes in `allowed` stay as they are, every other byte becomes `%HH` with upper-case digits.
    pub fn encode(bytes: &[u8], allowed: CharSet) -> PercentEncoded<'static> {
        let mut text = String::with_capacity(bytes.len());
        for &byte in bytes {
            if allowed.contains(byte) {
                text.push(byte as char);
            } else {
                push_escape(&mut text, byte);
            }
        }
        PercentEncoded(Cow::Owned(text))
    }

    /// Returns the text as it was written, with its escapes.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Decodes the text to bytes: each well-formed `%hh` becomes one byte. A `%` without two hexadecimal digits stays
    /// as it is. Returns a borrowed slice if the text contains no `%`.
    pub fn decode(&self) -> Cow<'_, [u8]> {
        decode(&self.0)
    }

    /// Splits the text at each unescaped `separator`. An escaped separator, such as `%2F`, does not split (§2.2).
    pub fn split(&self, separator: char) -> impl DoubleEndedIterator<Item = PercentEncoded<'_>> {
        self.0.split(separator).map(PercentEncoded::borrowed)
    }

    /// Splits the text at the first unescaped `separator`. Returns `None` if there is none.
    pub fn split_once(&self, separator: char) -> Option<(PercentEncoded<'_>, PercentEncoded<'_>)> {
        let (before, after) = self.0.split_once(separator)?;
        Some((PercentEncoded::borrowed(before), PercentEncoded::borrowed(after)))
    }

    /// Returns the same text with an owned string, independent of the parsed text.
    pub fn into_owned(self) -> PercentEncoded<'static> {
        PercentEncoded(Cow::Owned(self.0.into_owned()))
    }
}

impl<'a> From<&'a str> for PercentEncoded<'a> {
    /// Wraps text that is percent-encoded already. Nothing is checked or encoded.
    fn from(text: &'a str) -> Self {
        Self::borrowed(text)
    }
}

impl fmt::Display for PercentEncoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Appends `%HH`.
pub(crate) fn push_escape(text: &mut String, byte: u8) {
    const HEX_DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.push('%');
    text.push(HEX_DIGITS[usize::from(byte >> 4)] as char);
    text.push(HEX_DIGITS[usize::from(byte & 15)] as char);
}

/// Decodes each `%hh` once.
fn decode(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    if !bytes.contains(&b'%') {
        return Cow::Borrowed(bytes);
    }
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if is_escape(bytes, at) {
            decoded.push(hex_value(bytes[at + 1]) << 4 | hex_value(bytes[at + 2]));
            at += 3;
        } else {
            decoded.push(byte);
            at += 1;
        }
    }
    Cow::Owned(decoded)
}

/// Returns the value of a hexadecimal digit.
const fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encode_then_decode_returns_every_byte() {
        let all: Vec<u8> = (0..=255).collect();
        for allowed in [sets::EMPTY, sets::UCHAR, sets::XCHAR, sets::FPATH] {
            assert_eq!(&*PercentEncoded::encode(&all, allowed).decode(), &all[..]);
        }
    }

    #[test]
    fn decode_does_not_decode_its_own_result() {
        assert_eq!(&*PercentEncoded::borrowed("%252e%2e").decode(), b"%2e.");
    }

    #[test]
    fn run_includes_escapes_and_ends_at_a_malformed_one() {
        assert_eq!(sets::UCHAR.end_of_run(b"a%41%4", 0), 4);
        assert_eq!(sets::UCHAR.end_of_run(b"%", 0), 0);
        assert_eq!(sets::UCHAR.end_of_run(b"ab/c", 1), 2);
    }
}
