//! Byte ranges, and their offsets in an object of known size.

use crate::{Code, Error, Meta, Phase, Resume};

/// A byte range (RFC 9110 §14.1.2). Both ends are inclusive and counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "RFC 9110 has exactly these two")]
pub enum ByteRange {
    /// From `first` to `last`, or to the end of the object.
    Span {
        /// Offset of the first byte.
        first: u64,
        /// Offset of the last byte; `None` for the end of the object.
        last: Option<u64>,
    },
    /// The last bytes of the object: this number of them.
    Suffix(u64),
}

impl ByteRange {
    /// Returns the offset of the first byte in an object of `size` bytes, or `None` if that depends on an unknown size.
    pub(crate) fn first_offset(self, size: Option<u64>) -> Option<u64> {
        match self {
            Self::Span { first, .. } => Some(first),
            Self::Suffix(count) => Some(size?.saturating_sub(count)),
        }
    }

    /// Returns the offset of the last byte, if the range does not go to the end of the object.
    pub(crate) const fn last_offset(self) -> Option<u64> {
        match self {
            Self::Span { last, .. } => last,
            Self::Suffix(_) => None,
        }
    }
}

/// Returns the start and end offsets of the bytes to read from an object of `size` bytes. Without a range, the start is 0
/// if the object is not the version that `resume` describes.
///
/// # Errors
/// `Code::RangeRefused` if the range is outside the object, or the object is not the version of which `resume` has the
/// start of the range.
pub(crate) fn select_range(
    resume: Option<&Resume>,
    range: Option<ByteRange>,
    meta: &Meta,
    size: u64,
) -> Result<(u64, u64), Error> {
    let resumed = resume.filter(|resume| is_same(resume, meta, size)).map(|resume| resume.offset);
    let Some(range) = range else { return Ok((resumed.unwrap_or(0), size)) };
    let refused = |detail: String| Err(Error::new(Code::RangeRefused, Phase::Request, detail));
    let first = range.first_offset(Some(size)).unwrap_or(0);
    let end = range.last_offset().map_or(size, |last| last.saturating_add(1).min(size));
    if first >= end {
        return refused(format!("the file has {size} bytes"));
    }
    match (resume, resumed) {
        (None, _) => Ok((first, end)),
        (Some(_), Some(offset)) if (first..=end).contains(&offset) => Ok((offset, end)),
        (Some(_), _) => refused("the file is not the one of which a part was received".to_owned()),
    }
}

/// Returns the offsets of the first and last byte to read of an object of unknown size, or `None` without a range: the
/// whole object is read then, because no version of it can be continued.
///
/// # Errors
/// `Code::RangeRefused` if the range is counted from the end or has no bytes, or if its rest is requested.
pub(crate) fn select_unsized_range(
    resume: Option<&Resume>,
    range: Option<ByteRange>,
) -> Result<Option<(u64, Option<u64>)>, Error> {
    let refused = |detail: &str| Err(Error::new(Code::RangeRefused, Phase::Request, detail));
    match range {
        None => Ok(None),
        Some(_) if resume.is_some() => refused("the file of which a part was received cannot be identified"),
        Some(ByteRange::Suffix(_)) => refused("the size of the file is unknown"),
        Some(ByteRange::Span { first, last: Some(last) }) if last < first => refused("the range is empty"),
        Some(ByteRange::Span { first, last }) => Ok(Some((first, last))),
    }
}

fn is_same(resume: &Resume, meta: &Meta, size: u64) -> bool {
    meta.validator.as_ref() == Some(&resume.validator)
        && resume.offset <= size
        && resume.size.is_none_or(|known| known == size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Validator;

    #[test]
    fn rest_of_a_range_ends_with_the_range_and_needs_the_same_version() {
        let validator = Validator::Modified("1".to_owned());
        let mut meta = Meta::new(fetch_url_core::parse("ftp://h/x").expect("a URL").into_owned().url);
        meta.validator = Some(validator.clone());
        let resume = |offset| Resume {
            offset,
            size: None,
            validator: validator.clone(),
            resource: None,
            tail: Vec::new(),
        };
        let span = |first, last| Some(ByteRange::Span { first, last });
        let selected =
            |offset, range, meta: &Meta| select_range(Some(&resume(offset)), range, meta, 100).ok();
        for (offset, range, expected) in [
            (20, None, Some((20, 100))),
            (100, None, Some((100, 100))),
            (20, span(10, Some(29)), Some((20, 30))),
            (30, span(10, Some(29)), Some((30, 30))),
            (20, span(10, Some(500)), Some((20, 100))),
            (20, span(10, None), Some((20, 100))),
            (95, Some(ByteRange::Suffix(10)), Some((95, 100))),
            (5, span(10, Some(29)), None),
            (31, span(10, Some(29)), None),
            (20, span(100, None), None),
        ] {
            assert_eq!(selected(offset, range, &meta), expected, "{offset} {range:?}");
        }
        meta.validator = None;
        assert_eq!(selected(20, None, &meta), Some((0, 100)));
        assert_eq!(selected(20, span(10, Some(29)), &meta), None);
    }
}
