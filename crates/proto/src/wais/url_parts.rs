//! Decodes the parts of a WAIS URL for requests (RFC 1738 §3.9, RFC 4156).

use fetch_url_core::PercentEncoded;

use super::coding::push_integer;

/// Decodes search words; `+` separates words.
pub(super) fn decoded_words(words: &PercentEncoded<'_>) -> Vec<u8> {
    let words: Vec<_> = words.split('+').map(|word| word.decode().into_owned()).collect();
    words.join(&b' ')
}

/// Decodes a document identifier in any of its three encodings: percent-encoded bytes, the `tag=value;`
/// components of 1993, or such components after the document's length, as libwww wrote them.
pub(crate) fn document_id(wpath: &PercentEncoded<'_>) -> Vec<u8> {
    let behind_length = wpath.split_once('/').filter(|(length, _)| is_decimal(length.as_str()));
    from_components(wpath)
        .or_else(|| from_components(&behind_length?.1))
        .unwrap_or_else(|| wpath.decode().into_owned())
}

/// Upper bound of a tag; identifiers use seven tags.
const MAX_TAGS: usize = 128;

/// Parses `digits=value;` components into tag, length and value fields.
fn from_components(text: &PercentEncoded<'_>) -> Option<Vec<u8>> {
    let mut id = Vec::new();
    let mut components = text.split(';');
    components.next_back().filter(PercentEncoded::is_empty)?;
    for component in components {
        let (tag, value) = component.split_once('=').filter(|(tag, _)| is_decimal(tag.as_str()))?;
        let value = value.decode();
        push_integer(&mut id, tag.as_str().parse().ok().filter(|tag| *tag < MAX_TAGS)?);
        push_integer(&mut id, value.len());
        id.extend_from_slice(&value);
    }
    (!id.is_empty()).then_some(id)
}

fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
