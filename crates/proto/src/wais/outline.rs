//! WAIS's requests for a URL (RFC 1738 §3.9, RFC 4156): what they carry, not yet how it is coded.

use fetch_url_core::{Escaped, WaisPart, WaisUrl};

use super::coding::push_integer;
use crate::{ForbiddenOctet, Octets, Outline};

/// A search, with empty words for the database itself, or a retrieval.
pub(crate) fn requests(url: &WaisUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    let database = url.database().decode();
    let database = Octets::LINE.check("database", &database)?;
    match url.part() {
        WaisPart::Document { wtype, wpath } => {
            let wtype = wtype.decode();
            let wtype = Octets::LINE.check("type", &wtype)?;
            outline.say(&[b"RETRIEVE ", database, b" ", wtype, b" ", &document_id(wpath)]);
        }
        WaisPart::Search(words) => {
            outline.say(&[b"SEARCH ", database, b" ", &decoded_words(words)]);
        }
        _ => outline.say(&[b"SEARCH ", database, b" "]),
    }
    Ok(())
}

/// `+` is a space between words; what is left is decoded.
pub(super) fn decoded_words(words: &Escaped<'_>) -> Vec<u8> {
    let words: Vec<_> = words.split('+').map(|word| word.decode().into_owned()).collect();
    words.join(&b' ')
}

/// The identifier's octets, from any of the three spellings in use: raw, the components of 1993,
/// or those behind the document's length, as libwww wrote them.
pub(crate) fn document_id(wpath: &Escaped<'_>) -> Vec<u8> {
    let behind_length = wpath.split_once('/').filter(|(length, _)| is_decimal(length.as_str()));
    from_components(wpath)
        .or_else(|| from_components(&behind_length?.1))
        .unwrap_or_else(|| wpath.decode().into_owned())
}

/// Identifiers have seven tags; what is far from them is none.
const MOST_TAGS: usize = 128;

/// `digits=value;` again and again: tag, length, value.
fn from_components(text: &Escaped<'_>) -> Option<Vec<u8>> {
    let mut id = Vec::new();
    let mut components = text.split(';');
    components.next_back().filter(Escaped::is_empty)?;
    for component in components {
        let (tag, value) = component.split_once('=').filter(|(tag, _)| is_decimal(tag.as_str()))?;
        let value = value.decode();
        push_integer(&mut id, tag.as_str().parse().ok().filter(|tag| *tag < MOST_TAGS)?);
        push_integer(&mut id, value.len());
        id.extend_from_slice(&value);
    }
    (!id.is_empty()).then_some(id)
}

fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit())
}
