//! Makes the response of a stored object, with the range and the conditions of the client.

use std::sync::Arc;

use fetch_url::{Body, ByteRange, Content, Meta, Proof, Response, Url};

use super::Cache;
use super::blocks::{BlockFile, StoredSource};
use super::entry::Entry;
use crate::conditions::{fails_precondition, is_unmodified, matches_etag, wanted_range};
use crate::request_head::RequestHead;

/// The result of a request with the cache.
pub(crate) enum CachedResponse {
    /// A response, and the range of the request that it answers.
    Response(Box<Response>, Option<ByteRange>),
    /// The size of the stored object, which does not have the range of the request.
    UnsatisfiedRange(u64),
    /// The client wants a stored object only, and there is none that may be used without its server.
    NotStored,
}

/// Returns the response of the stored object `entry` for the request `head`.
pub(super) fn stored_response(
    cache: &Arc<Cache>,
    url: Url<'static>,
    head: &RequestHead,
    entry: &Entry,
    file: BlockFile,
) -> CachedResponse {
    let is_http = matches!(url, Url::Http(_));
    let mut meta = Meta::new(url);
    meta.head.size = Some(entry.length);
    meta.head.modified = entry.modified;
    meta.media_type.clone_from(&entry.media_type);
    meta.suggested_name.clone_from(&entry.suggested_name);
    meta.fields = entry.fields.iter().cloned().collect();
    meta.status = is_http.then_some(200);
    let has_etag = entry.field("etag").is_some_and(|etag| matches_etag(head, etag));
    if has_etag || is_unmodified(head, entry.modified) {
        meta.status = is_http.then_some(304);
        return CachedResponse::Response(Box::new(Response::new(meta, Content::Unchanged)), None);
    }
    // The status is then 412, even if the range cannot be satisfied. An http server checks this condition itself.
    let is_refused = fails_precondition(head, entry.modified);
    let range = wanted_range(head).filter(|_| head.field("if-range").is_none() && !is_refused);
    let Some((first, end)) = resolve_range(range, entry.length) else {
        return CachedResponse::UnsatisfiedRange(entry.length);
    };
    meta.offset = first;
    if range.is_some() && is_http {
        meta.status = Some(206);
        let value = format!("bytes {first}-{}/{}", end - 1, entry.length).into_bytes();
        meta.fields.extend([("Content-Range".to_owned(), value)]);
    }
    let source = StoredSource::new(file, first, end, cache.store.clone(), entry.key.clone());
    let body = Body::from_source(source, Some(end - first), Proof::Proven("the length of the stored object"));
    CachedResponse::Response(Box::new(Response::new(meta, Content::Body(body))), range)
}

/// Returns the offsets of the first byte of `range` and of the byte after its last, in an object of `length` bytes.
/// Returns `None` if the range contains no byte of the object.
fn resolve_range(range: Option<ByteRange>, length: u64) -> Option<(u64, u64)> {
    let (first, end) = match range {
        None => return Some((0, length)),
        Some(ByteRange::Span { first, last }) => {
            (first, last.map_or(length, |last| last.saturating_add(1).min(length)))
        }
        Some(ByteRange::Suffix(count)) => (length.saturating_sub(count), length),
    };
    (first < end).then_some((first, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_is_cut_at_the_end_of_the_object() {
        let span = |first, last| Some(ByteRange::Span { first, last });
        for (range, length, expected) in [
            (None, 10, Some((0, 10))),
            (None, 0, Some((0, 0))),
            (span(2, Some(4)), 10, Some((2, 5))),
            (span(2, None), 10, Some((2, 10))),
            (span(8, Some(u64::MAX)), 10, Some((8, 10))),
            (span(10, None), 10, None),
            (Some(ByteRange::Suffix(3)), 10, Some((7, 10))),
            (Some(ByteRange::Suffix(99)), 10, Some((0, 10))),
            (Some(ByteRange::Suffix(0)), 10, None),
        ] {
            assert_eq!(resolve_range(range, length), expected, "{range:?} of {length}");
        }
    }
}
