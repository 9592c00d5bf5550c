//! Masks secrets that a server repeats, in texts, URLs and errors.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use fetch_url_core::{Url, parse};
use memchr::memmem;

use super::secret::SecretBytes;
use crate::Error;

/// Shorter secrets, in bytes, are masked only as whole words.
const MIN_SEARCHED_BYTES: usize = 4;

/// Returns `text` with every occurrence of a secret replaced by `***`, a short one only as a word. Each byte of a secret may
/// be percent-encoded or not: servers encode different sets of bytes. Except in short secrets, letters may have another
/// case: some names are not case-sensitive. The time grows with the length of the text, not with its content.
pub(crate) fn mask_secrets(text: &[u8], secrets: &[SecretBytes]) -> Bytes {
    if secrets.is_empty() {
        return Bytes::copy_from_slice(text);
    }
    let decoded = DecodedText::new(text);
    let folded = decoded.to_lower_case();
    let ranges = secrets.iter().flat_map(|secret| {
        let spelled = DecodedText::new(secret.expose());
        let (decoded, spelled) = match spelled.bytes.len() < MIN_SEARCHED_BYTES {
            true => (&decoded, spelled),
            false => (&folded, spelled.to_lower_case()),
        };
        let encoded: Vec<_> = decoded.ranges(&spelled.bytes, text.len()).collect();
        // A `%` before the secret can decode with its first bytes.
        occurrences(text, secret.expose()).chain(encoded)
    });
    masked(text, ranges.collect())
}

/// Returns `text` with the secrets masked as by [`mask_secrets`].
pub(crate) fn mask_secrets_in_text(text: &str, secrets: &[SecretBytes]) -> String {
    String::from_utf8_lossy(&mask_secrets(text.as_bytes(), secrets)).into_owned()
}

/// Returns `url` for messages, with the secrets masked. If it is no URL without them, only its scheme is left of it.
pub(crate) fn mask_secrets_in_url<'u>(
    url: &'u Url<'static>,
    secrets: &[SecretBytes],
) -> Cow<'u, Url<'static>> {
    if secrets.is_empty() {
        return Cow::Borrowed(url);
    }
    let text = url.to_string();
    let masked = mask_secrets_in_text(&text, secrets);
    if masked == text {
        return Cow::Borrowed(url);
    }
    let without_rest = format!("{}://masked.invalid/", url.scheme().name);
    let parsed = parse(&masked).or_else(|_| parse(&without_rest)).map(|parsed| parsed.into_owned().url);
    parsed.map_or(Cow::Borrowed(url), Cow::Owned)
}

/// A text without its percent-encoding, in which all spellings of the same bytes are equal.
#[derive(Default)]
struct DecodedText {
    bytes: Vec<u8>,
    /// The offset of each byte in the text.
    offsets: Vec<usize>,
}

impl DecodedText {
    /// Decodes `%XX`, also where it is encoded again. A space is decoded to the `+` by which forms encode it.
    fn new(text: &[u8]) -> Self {
        let mut decoded = Self::default();
        for (offset, &byte) in text.iter().enumerate() {
            decoded.bytes.push(byte);
            decoded.offsets.push(offset);
            while let Some(byte) = last_encoded_byte(&decoded.bytes) {
                let start = decoded.bytes.len() - 3;
                decoded.bytes.truncate(start);
                decoded.bytes.push(byte);
                decoded.offsets.truncate(start + 1);
            }
        }
        decoded.bytes.iter_mut().filter(|byte| **byte == b' ').for_each(|byte| *byte = b'+');
        decoded
    }

    fn to_lower_case(&self) -> Self {
        Self { bytes: self.bytes.to_ascii_lowercase(), offsets: self.offsets.clone() }
    }

    /// Returns the ranges of the text, which has `length` bytes, whose decoded bytes are `secret`.
    fn ranges<'d>(&'d self, secret: &'d [u8], length: usize) -> impl Iterator<Item = Range<usize>> + 'd {
        let offset = move |at: usize| self.offsets.get(at).copied().unwrap_or(length);
        occurrences(&self.bytes, secret).map(move |found| offset(found.start)..offset(found.end))
    }
}

/// Returns the byte that the last three bytes encode as `%XX`.
fn last_encoded_byte(bytes: &[u8]) -> Option<u8> {
    let [.., b'%', high, low] = bytes else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// Returns the ranges of `text` that equal `secret`. An empty secret does not occur, and a short one only as a word: it is
/// part of many words, and masking it there would reveal it.
fn occurrences<'t>(text: &'t [u8], secret: &'t [u8]) -> impl Iterator<Item = Range<usize>> + 't {
    let found = memmem::find_iter(text, secret).filter(|_| !secret.is_empty());
    let ranges = found.map(|start| start..start + secret.len());
    ranges.filter(move |range| secret.len() >= MIN_SEARCHED_BYTES || is_word(text, range))
}

/// Returns `true` if there is no letter or digit directly before and after the range.
fn is_word(text: &[u8], range: &Range<usize>) -> bool {
    let before = range.start.checked_sub(1).and_then(|index| text.get(index));
    [before, text.get(range.end)].into_iter().flatten().all(|byte| !byte.is_ascii_alphanumeric())
}

/// Returns `text` with `***` in place of each range; ranges that overlap are one.
fn masked(text: &[u8], mut ranges: Vec<Range<usize>>) -> Bytes {
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut shown, mut end) = (Vec::with_capacity(text.len()), 0);
    for range in ranges {
        if range.start >= end {
            shown.extend_from_slice(&text[end..range.start]);
            shown.extend_from_slice(b"***");
        }
        end = end.max(range.end);
    }
    shown.extend_from_slice(&text[end..]);
    shown.into()
}

/// Masks secrets of requests that a server may have repeated, in all texts of the error.
pub(crate) fn mask_secrets_in_error(error: Error, secrets: &[SecretBytes]) -> Error {
    if secrets.is_empty() {
        return error;
    }
    error.map_texts(|text| mask_secrets_in_text(text, secrets))
}

#[cfg(test)]
mod tests {
    use super::{SecretBytes, mask_secrets_in_text, mask_secrets_in_url};

    #[test]
    fn secrets_are_masked_in_every_spelling_of_their_bytes() {
        let secrets = [SecretBytes::from(b"a/B c=+%2f9".to_vec()), SecretBytes::from(b"a/B".to_vec())];
        for spelling in [
            "a/B c=+%2f9",
            "a/B%20c=+%2f9",
            "a%2FB+c%3D%2B%252f9",
            "a%2fB%20c%3d%2b%252f9",
            "a%2fB%20c%3d%2b%%32%669",
            "%61%2f%42%20%63%3d%2b%25%32%66%39",
            "a%252FB%2520c%253D%252B%25252f9",
        ] {
            let shown = mask_secrets_in_text(&format!("%2/{spelling}&%zz{spelling}+%41%"), &secrets);
            assert_eq!(shown, "%2/***&%zz***+%41%", "{spelling}");
        }
        assert_eq!(mask_secrets_in_text("a%2FB,a%2FB a/b", &secrets), "***,*** a/b");
        assert_eq!(mask_secrets_in_text("a/B c=+%2f9a/B+c=+%2f9x", &secrets), "******x");
        assert_eq!(mask_secrets_in_text("%zz+%41", &[Vec::new().into()]), "%zz+%41");
    }

    /// Gaps in words would show which letters are missing.
    #[test]
    fn short_secret_is_masked_only_as_a_word() {
        for (secret, text, shown) in [
            ("p", "http://h/p?k=p", "http://h/***?k=***"),
            ("1", "http://127.0.0.1:34/1/", "http://127.0.0.***:34/***/"),
            ("tt", "http://h/?t=tt", "http://h/?t=***"),
            ("sec", "secrets sec", "secrets ***"),
            ("secr", "secrets", "***ets"),
            ("SeCr", "secrets, SECR and %53ecR", "***ets, *** and ***"),
            ("Sec", "SEC", "SEC"),
            ("%41", "x%2541y a", "x%2541y a"),
        ] {
            let secrets = [SecretBytes::from(secret.as_bytes().to_vec())];
            assert_eq!(mask_secrets_in_text(text, &secrets), shown, "{secret}");
        }
    }

    #[test]
    fn secrets_are_masked_as_they_are_and_percent_encoded() {
        let secrets = [SecretBytes::from(b"ca/nary=".to_vec()), SecretBytes::from(b"tok".to_vec())];
        assert_eq!(mask_secrets_in_text("/?a=ca/nary=&b=ca%2Fnary%3D&tok", &secrets), "/?a=***&b=***&***");
        for (url, shown) in [
            ("http://h/x?k=tok", "http://h/x?k=***"),
            ("http://h/x", "http://h/x"),
            ("http://[::1]:80/", "http://[::1]:80/"),
        ] {
            let url = fetch_url_core::parse(url).expect("a URL").into_owned().url;
            assert_eq!(mask_secrets_in_url(&url, &secrets).to_string(), shown);
        }
    }
}
