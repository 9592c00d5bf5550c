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

/// Returns the start and end offsets of the bytes to read from an object of `size` bytes. The start is 0 if
/// the object is not the version that `resume` describes.
///
/// # Errors
/// `Code::RangeRefused` if the range is outside the object.
pub(crate) fn select_range(
    resume: Option<&Resume>,
    range: Option<ByteRange>,
    meta: &Meta,
    size: u64,
) -> Result<(u64, u64), Error> {
    if let Some(resume) = resume {
        let first = if is_same(resume, meta, size) { resume.offset } else { 0 };
        return Ok((first, size));
    }
    let (first, end) = match range {
        None => return Ok((0, size)),
        Some(ByteRange::Span { first, last }) => {
            (first, last.map_or(size, |last| last.saturating_add(1).min(size)))
        }
        Some(ByteRange::Suffix(count)) => (size.saturating_sub(count), size),
    };
    if first >= end {
        let detail = format!("the file has {size} bytes");
        return Err(Error::new(Code::RangeRefused, Phase::Request, detail));
    }
    Ok((first, end))
}

fn is_same(resume: &Resume, meta: &Meta, size: u64) -> bool {
    meta.validator.as_ref() == Some(&resume.validator)
        && resume.offset <= size
        && resume.size.is_none_or(|known| known == size)
}
