//! The attributes of HTML elements that contain links, as in GNU Wget's table of tags.

/// The kind of link that an attribute contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeKind {
    /// A link that the user follows.
    Link,
    /// An object that is loaded with the page.
    Requisite,
    /// A list of images for several resolutions (`srcset`).
    ImageSet,
}

use AttributeKind::{ImageSet, Link, Requisite};

/// The words of `rel` for objects that are loaded with the page.
const REQUISITE_RELATIONS: [&str; 8] = [
    "stylesheet",
    "icon",
    "apple-touch-icon",
    "mask-icon",
    "manifest",
    "preload",
    "modulepreload",
    "prefetch",
];
/// The words of `rel` whose target is a server or a service instead of an object.
const SERVICE_RELATIONS: [&str; 4] = ["preconnect", "dns-prefetch", "pingback", "search"];

/// Returns the attributes of an element that contain links, in the order of reading.
pub(super) const fn link_attributes(element: &[u8]) -> &'static [(&'static str, AttributeKind)] {
    match element {
        b"a" | b"area" => &[("href", Link)],
        b"img" => &[("src", Requisite), ("srcset", ImageSet), ("lowsrc", Requisite)],
        b"source" => &[("src", Requisite), ("srcset", ImageSet)],
        b"script" | b"iframe" | b"frame" | b"embed" | b"audio" | b"track" | b"input" | b"bgsound" => {
            &[("src", Requisite)]
        }
        b"video" => &[("src", Requisite), ("poster", Requisite)],
        b"image" | b"use" => &[("href", Requisite), ("xlink:href", Requisite)],
        b"object" => &[("data", Requisite)],
        b"body" | b"table" | b"td" | b"th" | b"tr" => &[("background", Requisite)],
        _ => &[],
    }
}

/// Returns the kind of link of a `link` element with this `rel`, or `None` if its target is not an object.
pub(super) fn link_relation(rel: &str) -> Option<AttributeKind> {
    let has = |words: &[&str]| {
        rel.split_ascii_whitespace().any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    match (has(&REQUISITE_RELATIONS), has(&SERVICE_RELATIONS)) {
        (true, _) => Some(Requisite),
        (false, true) => None,
        (false, false) => Some(Link),
    }
}

/// Returns the references of a `srcset` attribute: each is followed by white space and a descriptor, or by a comma.
pub(super) fn image_set(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|letter: char| letter == ',' || letter.is_ascii_whitespace());
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(rest.len());
        let (reference, after) = rest.split_at(end);
        let plain = reference.trim_end_matches(',');
        // Without a comma at the end of the reference, a descriptor such as `2x` follows.
        rest = if plain.len() < reference.len() {
            after
        } else {
            after.split_once(',').map_or("", |(_, after)| after)
        };
        Some(plain)
    })
}

/// Returns the reference of `<meta http-equiv="refresh" content="5; url=next.html">`.
pub(super) fn refresh_target(content: &str) -> Option<&str> {
    let (_, after) = content.split_once([';', ','])?;
    let after = after.trim_start();
    let name = after.get(..3).filter(|name| name.eq_ignore_ascii_case("url"))?;
    let value = after[name.len()..].trim_start().strip_prefix('=')?;
    Some(value.trim().trim_matches(['"', '\'']))
}
