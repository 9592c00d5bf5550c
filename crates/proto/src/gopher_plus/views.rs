//! Parses the lines of `+VIEWS`: the alternative formats of an item ("Gopher+" §2.6).

use bytes::Bytes;
use memchr::{memchr, memrchr};

/// Maximum number of digits of a size.
const MAX_DIGITS: usize = 15;

/// One alternative format of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct View {
    /// The media type as sent by the server, for example `text/plain`.
    pub media_type: Bytes,
    /// The language, for example `En_US`.
    pub language: Option<Bytes>,
    /// The approximate size in bytes; servers round it.
    pub size: Option<u64>,
}

impl View {
    /// Parses a line such as `text/plain En_US: <10k>`. Returns `None` if it has no media type.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let (name, size) = match memchr(b'<', line).and_then(|at| line.split_at_checked(at)) {
            Some((name, size)) => (name, self::size(size)),
            None => (line, None),
        };
        let name = memchr(b':', name).and_then(|colon| name.get(..colon)).unwrap_or(name);
        let (media_type, language) = split(name.trim_ascii());
        if media_type.is_empty() {
            return None;
        }
        let copy = Bytes::copy_from_slice;
        Some(Self { media_type: copy(media_type), language: language.map(copy), size })
    }
}

/// Splits off the language after the last blank; parameters may precede it.
fn split(name: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some((before, behind)) = memrchr(b' ', name).and_then(|at| name.split_at_checked(at)) else {
        return (name, None);
    };
    let (before, behind) = (before.trim_ascii_end(), behind.trim_ascii_start());
    if before.ends_with(b";") || behind.contains(&b'=') || behind.contains(&b';') {
        return (name, None);
    }
    (before, Some(behind))
}

/// Parses a size such as `<10k>`, `<.5k>`, `<1234b>`, `<2M>` or `<1234>` into bytes.
fn size(bracket: &[u8]) -> Option<u64> {
    let inner = bracket.strip_prefix(b"<")?;
    let inner = inner.get(..memchr(b'>', inner)?)?.trim_ascii();
    let digits = inner.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let (number, unit) = inner.split_at_checked(digits)?;
    let unit = match unit.trim_ascii_start() {
        [] | [b'b' | b'B'] => 1,
        [b'k' | b'K'] | [b'k' | b'K', b'b' | b'B'] => 1 << 10,
        [b'm' | b'M'] | [b'm' | b'M', b'b' | b'B'] => 1 << 20,
        [b'g' | b'G'] | [b'g' | b'G', b'b' | b'B'] => 1 << 30,
        _ => return None,
    };
    bytes(number, unit)
}

/// Returns `number` times `unit`, rounded to the nearest byte.
fn bytes(number: &[u8], unit: u128) -> Option<u64> {
    let point = memchr(b'.', number).unwrap_or(number.len());
    let (whole, fraction) = number.split_at_checked(point)?;
    let fraction = fraction.strip_prefix(b".").unwrap_or(fraction);
    if !(1..=MAX_DIGITS).contains(&(whole.len() + fraction.len())) || fraction.contains(&b'.') {
        return None;
    }
    let push = |number: u128, digit: &u8| number * 10 + u128::from(digit - b'0');
    let number = whole.iter().chain(fraction).fold(0, push);
    let parts = fraction.iter().fold(1, |parts: u128, _| parts * 10);
    u64::try_from((number * unit + parts / 2) / parts).ok()
}
