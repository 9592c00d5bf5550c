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

static CLASS: [u32; 256] = {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        table[octet] = class_of(octet as u8);
        octet += 1;
    }
    table
};

/// A set of ASCII octets that may stand unescaped somewhere in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharSet(u32);

impl CharSet {
    /// Whether `octet` may stand unescaped.
    #[inline(always)]
    pub const fn contains(self, octet: u8) -> bool {
        CLASS[octet as usize] & self.0 != 0
    }

    /// The octets of both sets.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Where the run of members and well-formed escapes that begins at `from` ends.
    #[inline(always)]
    pub(crate) fn run(self, octets: &[u8], from: usize) -> usize {
        let mut at = from;
        while let Some(&octet) = octets.get(at) {
            if self.contains(octet) {
                at += 1;
            } else if octet == b'%' && is_escape(octets, at) {
                at += 3;
            } else {
                break;
            }
        }
        at
    }

    /// Where the run of members that begins at `from` ends; an escape is no member.
    #[inline(always)]
    pub(crate) fn plain_run(self, octets: &[u8], from: usize) -> usize {
        let mut at = from;
        while octets.get(at).is_some_and(|&octet| self.contains(octet)) {
            at += 1;
        }
        at
    }
}

/// The classes of RFC 1738 §5 (an escape `%hh` is allowed beside every one that has `uchar`).
#[allow(unreachable_pub, reason = "public as crate::charset")]
pub mod sets {
    use super::{
        ALPHA, AMPERSAND, ASTERISK, AT, BRACKETS, COLON, CharSet, DASH_DOT, DIGIT, EQUALS, HEX,
        OTHER_UNRESERVED, PLUS, QUESTION, SEMICOLON, SLASH, TILDE, UNDERSCORE,
    };

    /// No octet at all.
    pub const NONE: CharSet = CharSet(0);
    /// §5 `alpha`.
    pub const ALPHABETIC: CharSet = CharSet(ALPHA);
    /// §5 `digit`.
    pub const DIGITS: CharSet = CharSet(DIGIT);
    /// §5 `hex`.
    pub const HEXADECIMAL: CharSet = CharSet(HEX);
    /// §5 `alphadigit`.
    pub const ALPHADIGIT: CharSet = CharSet(ALPHA | DIGIT);
    /// §2.1: letters, digits, `+`, `.` and `-`.
    pub const SCHEME: CharSet = CharSet(ALPHA | DIGIT | DASH_DOT | PLUS);
    /// §5 `uchar` less the escape: `unreserved`.
    pub const UCHAR: CharSet =
        CharSet(ALPHA | DIGIT | DASH_DOT | PLUS | UNDERSCORE | OTHER_UNRESERVED | ASTERISK);
    /// §5 `xchar` less the escape: `unreserved | reserved`.
    pub const XCHAR: CharSet =
        CharSet(UCHAR.0 | SEMICOLON | SLASH | QUESTION | COLON | AT | AMPERSAND | EQUALS);
    /// §5 `user` and `password`.
    pub const USER: CharSet = CharSet(UCHAR.0 | SEMICOLON | QUESTION | AMPERSAND | EQUALS);
    /// §5 `fsegment` (and `psegment`, which is the same).
    pub const FSEGMENT: CharSet = CharSet(UCHAR.0 | QUESTION | COLON | AT | AMPERSAND | EQUALS);
    /// §5 `fpath` and `ppath`: segments and the slashes between them.
    pub const FPATH: CharSet = CharSet(FSEGMENT.0 | SLASH);
    /// §5 `hsegment` and `search`.
    pub const HSEGMENT: CharSet = CharSet(UCHAR.0 | SEMICOLON | COLON | AT | AMPERSAND | EQUALS);
    /// §5 `hpath`.
    pub const HPATH: CharSet = CharSet(HSEGMENT.0 | SLASH);
    /// §5 `group`, after its first letter.
    pub const GROUP: CharSet = CharSet(ALPHA | DIGIT | DASH_DOT | PLUS | UNDERSCORE);
    /// §5 `article`, before its `@`.
    pub const ARTICLE: CharSet = CharSet(UCHAR.0 | SEMICOLON | SLASH | QUESTION | COLON | AMPERSAND | EQUALS);
    /// §5 `fieldname` and `fieldvalue`.
    pub const FIELD: CharSet = CharSet(UCHAR.0 | QUESTION | COLON | AT | AMPERSAND);

    pub(crate) const AT_SIGN: CharSet = CharSet(AT);
    pub(crate) const COLON_OR_AT: CharSet = CharSet(COLON | AT);
    pub(crate) const SLASH_ONLY: CharSet = CharSet(SLASH);
    pub(crate) const SLASH_OR_QUESTION: CharSet = CharSet(SLASH | QUESTION);
    pub(crate) const QUESTION_ONLY: CharSet = CharSet(QUESTION);
    pub(crate) const SEMICOLON_ONLY: CharSet = CharSet(SEMICOLON);
    pub(crate) const EQUALS_OR_SEMICOLON: CharSet = CharSet(EQUALS | SEMICOLON);
    pub(crate) const TILDE_ONLY: CharSet = CharSet(TILDE);
    pub(crate) const TILDE_AND_BRACKETS: CharSet = CharSet(TILDE | BRACKETS);
    /// What RFC 3986 §3.4 lets stand in a query beyond §5 `search`.
    pub(crate) const RFC3986_QUERY: CharSet = CharSet(TILDE | SLASH | QUESTION);
    /// What people leave bare in a WAIS document id, which is opaque.
    pub(crate) const WAIS_OPAQUE: CharSet = CharSet(TILDE | SLASH | SEMICOLON | EQUALS | COLON | AT);
    /// A pattern of group names (RFC 3977 wildmat), a lenient extension.
    pub(crate) const WILDMAT: CharSet = CharSet(ASTERISK);
    /// 1993 `xpalphas` and `/`: a path before RFC 1738 (`safe` had `@` and `&`).
    pub(crate) const PATH_1993: CharSet = CharSet(UCHAR.0 | AT | AMPERSAND | SLASH);
    /// 1993 `xalphas`.
    pub(crate) const XALPHAS_1993: CharSet = CharSet(UCHAR.0 | AT | AMPERSAND);
    /// 1993 `search`: `xalphas [ + search ]`, and the `=` of everyday forms.
    pub(crate) const SEARCH_1993: CharSet = CharSet(UCHAR.0 | AT | AMPERSAND | EQUALS);
    /// 1993 `wpath`: `digits = path ;` again and again.
    pub(crate) const WPATH_1993: CharSet = CharSet(PATH_1993.0 | EQUALS | SEMICOLON);
}

/// Whether a well-formed `%hh` stands at `at`.
#[inline(always)]
pub(crate) fn is_escape(octets: &[u8], at: usize) -> bool {
    matches!(octets.get(at..at + 3), Some([b'%', high, low])
        if CLASS[*high as usize] & HEX != 0 && CLASS[*low as usize] & HEX != 0)
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
