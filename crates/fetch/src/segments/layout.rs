//! How an object is divided into segments.

use crate::{ByteRange, Resume};

/// Each segment is requested with this many bytes of overlap. Not every protocol reports the offset of the data that it
/// sends, so the overlap is compared with the end of the previous segment.
pub(super) const OVERLAP_LEN: usize = Resume::TAIL;
/// The minimum size of a segment: below it, a connection costs more than it gains.
const MIN_SEGMENT_SIZE: u64 = 1024 * 1024;

/// The maximum number of segments, each of which has a connection.
pub(super) const MAX_SEGMENTS: u16 = 64;

/// A segment that is being fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// The offset of the next byte to fetch.
    pub(super) next_offset: u64,
    /// The offset of the last byte of the segment.
    pub(super) last: u64,
    /// The overlaps received before the segment, one for each request, until they are compared.
    pub(super) overlaps: Vec<Overlap>,
    /// The number of overlaps that were compared with the end of the previous segment, or of this one.
    pub(super) compared: usize,
    /// An overlap equals the first bytes of the object, so it does not show that the server started at the requested
    /// offset.
    pub(super) is_ambiguous: bool,
}

/// Bytes at `offset` that belong to the previous segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Overlap {
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

impl Segment {
    /// Returns the segment from `next_offset` to `last`.
    pub(super) const fn new(next_offset: u64, last: u64) -> Self {
        Self { next_offset, last, overlaps: Vec::new(), compared: 0, is_ambiguous: false }
    }

    /// Returns the offset from which the segment is requested, which is the start of the overlap.
    pub(super) const fn request_offset(&self) -> u64 {
        self.next_offset.saturating_sub(OVERLAP_LEN as u64)
    }

    /// Returns the number of bytes that are still to be fetched.
    pub(super) const fn missing(&self) -> u64 {
        (self.last + 1).saturating_sub(self.next_offset)
    }

    pub(super) const fn range(&self) -> ByteRange {
        ByteRange::Span { first: self.request_offset(), last: Some(self.last) }
    }
}

/// Divides `size` bytes into at most `max_segments` segments, and at most 64, of equal length; the last one can be shorter.
pub(super) fn divide(size: u64, max_segments: u16) -> Vec<Segment> {
    if size == 0 {
        return Vec::new();
    }
    let count = u64::from(max_segments.min(MAX_SEGMENTS)).min(size / MIN_SEGMENT_SIZE).max(1);
    let length = size.div_ceil(count);
    (0..count)
        .map(|index| Segment::new(index * length, ((index + 1) * length).min(size) - 1))
        .filter(|segment| segment.next_offset <= segment.last)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cover_the_object() {
        for (size, max_segments, count) in [
            (0, 4, 0),
            (1, 4, 1),
            (MIN_SEGMENT_SIZE, 4, 1),
            (2 * MIN_SEGMENT_SIZE, 4, 2),
            (4 * MIN_SEGMENT_SIZE - 1, 4, 3),
            (10 * MIN_SEGMENT_SIZE + 7, 4, 4),
            (u64::MAX / 2, 3, 3),
            (1000 * MIN_SEGMENT_SIZE, u16::MAX, 64),
        ] {
            let segments = divide(size, max_segments);
            assert_eq!(segments.len(), count, "{size} in {max_segments}");
            let mut next = 0;
            for segment in &segments {
                assert_eq!(segment.next_offset, next);
                next = segment.last + 1;
            }
            assert_eq!(next, size);
        }
    }
}
