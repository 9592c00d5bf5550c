//! Which octets of an object of known size are wanted: all of them, a range, or what is missing of
//! the same version.

use crate::{ByteRange, Code, Error, Meta, Phase, Resume};

/// Where the wanted octets of an object of `size` begin and end; from its beginning when what is
/// there already is of another version.
pub(crate) fn wanted(
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
        let detail = format!("the file has {size} octets");
        return Err(Error::new(Code::RangeRefused, Phase::Request, detail));
    }
    Ok((first, end))
}

fn is_same(resume: &Resume, meta: &Meta, size: u64) -> bool {
    meta.validator.as_ref() == Some(&resume.validator)
        && resume.offset <= size
        && resume.size.is_none_or(|known| known == size)
}
