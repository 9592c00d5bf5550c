//! Reads DER (X.690 §8.1) as far as keys and certificates need it.

/// The tag of an OBJECT IDENTIFIER.
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
/// The tag of an OCTET STRING.
pub(super) const OCTET_STRING: u8 = 0x04;
/// The tag of a SEQUENCE.
pub(super) const SEQUENCE: u8 = 0x30;

/// Returns tag and content of the first element, and the bytes after it.
pub(super) fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        // Keys and certificates do not need longer length encodings.
        0x81..=0x83 => {
            let (long, rest) = rest.split_at_checked(usize::from(short - 0x80))?;
            (long.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Returns the content of a first element with this tag, and the bytes after it.
pub(super) fn tagged(der: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    element(der).filter(|(tag, ..)| *tag == wanted).map(|(_, content, rest)| (content, rest))
}

/// Returns the elements of `der`, up to the first one that is invalid.
pub(super) fn elements(mut der: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (tag, content, rest) = element(der)?;
        der = rest;
        Some((tag, content))
    })
}
