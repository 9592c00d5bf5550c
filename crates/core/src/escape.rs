//! Escaped text and the character classes that say what may stand in it (RFC 1738 §2.2 and §5).
//!
//! Octets are decoded once, where the command for the wire is made: until then a part of a URL
//! stays [`Escaped`].

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
/// A class that no octet is in.
const NOWHERE: u32 = 1 << 17;
/// §5 `unreserved`.
const UNRESERVED: u32 = ALPHA | DIGIT | DASH_DOT | PLUS | UNDERSCORE | OTHER_UNRESERVED | ASTERISK;

const fn class_of(octet: u8) -> u32 {
    let hex = if octet.is_ascii_hexdigit() { HEX } else { 0 };
    hex | match octet {
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

/// A set of ASCII octets that may stand unescaped somewhere in a URL.
///
/// One bit for each set: a table tells in one look in which sets an octet is, and the sets of
/// several octets can be put together by `&`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharSet(u32);

impl CharSet {
    /// Whether `octet` may stand unescaped.
    #[inline(always)]
    pub const fn contains(self, octet: u8) -> bool {
        SETS_OF[octet as usize] & self.0 != 0
    }

    /// Where the run of members and well-formed escapes that begins at `from` ends.
    #[inline(always)]
    pub(crate) fn run(self, octets: &[u8], from: usize) -> usize {
        let mut at = self.plain_run(octets, from);
        while is_escape(octets, at) {
            at = self.plain_run(octets, at + 3);
        }
        at
    }

    /// Where the run of members that begins at `from` ends; an escape is no member. Looks at four
    /// octets at a time.
    #[inline(always)]
    pub(crate) fn plain_run(self, octets: &[u8], from: usize) -> usize {
        let mut at = from;
        while let Some([one, two, three, four]) = octets.get(at..at + 4) {
            let common = SETS_OF[*one as usize]
                & SETS_OF[*two as usize]
                & SETS_OF[*three as usize]
                & SETS_OF[*four as usize];
            if common & self.0 == 0 {
                break;
            }
            at += 4;
        }
        self.short_run(octets, at)
    }

    /// The same for a run that is short as a rule.
    #[inline(always)]
    pub(crate) fn short_run(self, octets: &[u8], from: usize) -> usize {
        let mut at = from;
        while at < octets.len() && self.contains(octets[at]) {
            at += 1;
        }
        at
    }
}

macro_rules! sets {
    ($($(#[$doc:meta])* $visibility:vis $name:ident = $classes:expr;)*) => {
        /// The place of each set among the bits.
        #[allow(clippy::upper_case_acronyms, non_camel_case_types, reason = "the names of the constants")]
        enum Bit { $($name),* }

        /// In which sets each octet is.
        static SETS_OF: [u32; 256] = {
            let mut table = [0; 256];
            let mut octet = 0;
            while octet < 256 {
                let class = class_of(octet as u8);
                $(if class & ($classes) != 0 {
                    table[octet] |= 1 << Bit::$name as u32;
                })*
                octet += 1;
            }
            table
        };

        /// The classes of RFC 1738 §5 (an escape `%hh` is allowed beside every one that has `uchar`).
        #[allow(unreachable_pub, reason = "public as crate::charset")]
        pub mod sets {
            use super::{Bit, CharSet};

            $($(#[$doc])* $visibility const $name: CharSet = CharSet(1 << Bit::$name as u32);)*
        }
    };
}

sets! {
    /// No octet at all.
    pub NONE = NOWHERE;
    /// §5 `alpha`.
    pub ALPHABETIC = ALPHA;
    /// §5 `digit`.
    pub DIGITS = DIGIT;
    /// §5 `hex`.
    pub HEXADECIMAL = HEX;
    /// §5 `alphadigit`.
    pub ALPHADIGIT = ALPHA | DIGIT;
    /// §2.1: letters, digits, `+`, `.` and `-`.
    pub SCHEME = ALPHA | DIGIT | DASH_DOT | PLUS;
    /// §5 `uchar` less the escape: `unreserved`.
    pub UCHAR = UNRESERVED;
    /// §5 `xchar` less the escape: `unreserved | reserved`.
    pub XCHAR = UNRESERVED | SEMICOLON | SLASH | QUESTION | COLON | AT | AMPERSAND | EQUALS;
    /// §5 `user` and `password`.
    pub USER = UNRESERVED | SEMICOLON | QUESTION | AMPERSAND | EQUALS;
    /// §5 `fsegment` (and `psegment`, which is the same).
    pub FSEGMENT = UNRESERVED | QUESTION | COLON | AT | AMPERSAND | EQUALS;
    /// §5 `fpath` and `ppath`: segments and the slashes between them.
    pub FPATH = UNRESERVED | QUESTION | COLON | AT | AMPERSAND | EQUALS | SLASH;
    /// §5 `hsegment` and `search`.
    pub HSEGMENT = UNRESERVED | SEMICOLON | COLON | AT | AMPERSAND | EQUALS;
    /// §5 `hpath`.
    pub HPATH = UNRESERVED | SEMICOLON | COLON | AT | AMPERSAND | EQUALS | SLASH;
    /// §5 `group`, after its first letter.
    pub GROUP = ALPHA | DIGIT | DASH_DOT | PLUS | UNDERSCORE;
    /// §5 `article`, before its `@`.
    pub ARTICLE = UNRESERVED | SEMICOLON | SLASH | QUESTION | COLON | AMPERSAND | EQUALS;
    /// §5 `fieldname` and `fieldvalue`.
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
    /// What RFC 3986 §3.4 lets stand in a query beyond §5 `search`.
    pub(crate) RFC3986_QUERY = TILDE | SLASH | QUESTION;
    /// What people leave bare in a WAIS document id, which is opaque.
    pub(crate) WAIS_OPAQUE = TILDE | SLASH | SEMICOLON | EQUALS | COLON | AT;
    /// A group name or a pattern of them (RFC 3977 wildmat), a lenient extension.
    pub(crate) GROUP_PATTERN = ALPHA | DIGIT | DASH_DOT | PLUS | UNDERSCORE | ASTERISK;
    /// 1993 `xpalphas` and `/`: a path before RFC 1738 (`safe` had `@` and `&`).
    pub(crate) PATH_1993 = UNRESERVED | AT | AMPERSAND | SLASH;
    /// 1993 `xalphas`.
    pub(crate) XALPHAS_1993 = UNRESERVED | AT | AMPERSAND;
    /// 1993 `search`: `xalphas [ + search ]`, and the `=` of everyday forms.
    pub(crate) SEARCH_1993 = UNRESERVED | AT | AMPERSAND | EQUALS;
    /// 1993 `wpath`: `digits = path ;` again and again.
    pub(crate) WPATH_1993 = UNRESERVED | AT | AMPERSAND | SLASH | EQUALS | SEMICOLON;
}

/// Whether a well-formed `%hh` stands at `at`.
#[inline(always)]
pub(crate) fn is_escape(octets: &[u8], at: usize) -> bool {
    octets.get(at) == Some(&b'%')
        && matches!(octets.get(at + 1..at + 3), Some([high, low])
            if sets::HEXADECIMAL.contains(*high) && sets::HEXADECIMAL.contains(*low))
}

/// A part of a URL as it was written: ASCII text in which `%hh` stands for an octet.
///
/// Two parts are equal when they are written alike; compare [`Escaped::decode`] to compare octets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Escaped<'a>(Cow<'a, str>);

impl<'a> Escaped<'a> {
    pub(crate) const fn borrowed(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    pub(crate) const fn owned(text: String) -> Self {
        Self(Cow::Owned(text))
    }

    /// Writes `octets` down, escaping every one that is not in `plain`.
    pub fn encode(octets: &[u8], plain: CharSet) -> Escaped<'static> {
        let mut text = String::with_capacity(octets.len());
        for &octet in octets {
            push_octet(&mut text, octet, plain);
        }
        Escaped(Cow::Owned(text))
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The octets: each `%hh` replaced once. Borrows when there is none.
    pub fn decode(&self) -> Cow<'_, [u8]> {
        decode(&self.0)
    }

    /// The parts between the raw `separator`s; an escaped one separates nothing (§2.2).
    pub fn split(&self, separator: char) -> impl DoubleEndedIterator<Item = Escaped<'_>> {
        self.0.split(separator).map(Escaped::borrowed)
    }

    /// The two sides of the first raw `separator`.
    pub fn split_once(&self, separator: char) -> Option<(Escaped<'_>, Escaped<'_>)> {
        let (before, after) = self.0.split_once(separator)?;
        Some((Escaped::borrowed(before), Escaped::borrowed(after)))
    }

    /// The same text without a borrow.
    pub fn into_owned(self) -> Escaped<'static> {
        Escaped(Cow::Owned(self.0.into_owned()))
    }
}

impl<'a> From<&'a str> for Escaped<'a> {
    /// Text from elsewhere that is written the same way; a broken `%` stands for itself.
    fn from(text: &'a str) -> Self {
        Self::borrowed(text)
    }
}

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Pushes `octet` as it is when it is in `plain`, as `%HH` otherwise.
pub(crate) fn push_octet(text: &mut String, octet: u8, plain: CharSet) {
    if plain.contains(octet) {
        text.push(octet as char);
    } else {
        push_escape(text, octet);
    }
}

/// Pushes `%HH`.
pub(crate) fn push_escape(text: &mut String, octet: u8) {
    const HEX_DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.push('%');
    text.push(HEX_DIGITS[usize::from(octet >> 4)] as char);
    text.push(HEX_DIGITS[usize::from(octet & 15)] as char);
}

fn decode(text: &str) -> Cow<'_, [u8]> {
    let octets = text.as_bytes();
    if !octets.contains(&b'%') {
        return Cow::Borrowed(octets);
    }
    let mut decoded = Vec::with_capacity(octets.len());
    let mut at = 0;
    while let Some(&octet) = octets.get(at) {
        if is_escape(octets, at) {
            decoded.push(hex_value(octets[at + 1]) << 4 | hex_value(octets[at + 2]));
            at += 3;
        } else {
            decoded.push(octet);
            at += 1;
        }
    }
    Cow::Owned(decoded)
}

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
    fn every_octet_survives_encoding_and_one_decoding() {
        let all: Vec<u8> = (0..=255).collect();
        for plain in [sets::NONE, sets::UCHAR, sets::XCHAR, sets::FPATH] {
            assert_eq!(&*Escaped::encode(&all, plain).decode(), &all[..]);
        }
    }

    #[test]
    fn decoding_happens_once() {
        assert_eq!(&*Escaped::borrowed("%252e%2e").decode(), b"%2e.");
    }

    #[test]
    fn a_run_takes_escapes_and_stops_at_a_broken_one() {
        assert_eq!(sets::UCHAR.run(b"a%41%4", 0), 4);
        assert_eq!(sets::UCHAR.run(b"%", 0), 0);
        assert_eq!(sets::UCHAR.run(b"ab/c", 1), 2);
    }
}
