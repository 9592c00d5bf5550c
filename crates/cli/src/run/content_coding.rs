//! Detects the content coding of a response, such as gzip.

use fetch_url::Meta;

/// Returns `true` if the object is sent with a content coding, so that a decoded file has another size.
pub(super) fn has_content_coding(meta: &Meta) -> bool {
    let is_coding = |value: &[u8]| {
        // Some servers name no coding "none".
        let is_name =
            |name: &[u8]| ["", "identity", "none"].iter().any(|no| name.eq_ignore_ascii_case(no.as_bytes()));
        !value.split(|byte| *byte == b',').all(|name| is_name(name.trim_ascii()))
    };
    let mut fields = meta.fields.iter();
    fields.any(|(name, value)| name.eq_ignore_ascii_case("content-encoding") && is_coding(value.as_ref()))
}
