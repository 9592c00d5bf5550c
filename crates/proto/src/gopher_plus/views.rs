//! The forms in which an item can be had: a line of `+VIEWS` ("Gopher+" §2.6).

use bytes::Bytes;
use memchr::{memchr, memrchr};

/// How many digits of a number are looked at.
const MOST_DIGITS: usize = 15;

/// One form of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct View {
    /// Such as `text/plain`, as it came.
    pub media_type: Bytes,
    /// Such as `En_US`.
    pub language: Option<Bytes>,
    /// About how many octets it has, to the nearest: servers round, and count as they like.
    pub size: Option<u64>,
}

impl View {
    /// What a line says: `text/plain En_US: <10k>`. None if it names no media type.
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

/// The media type, and the language behind its last blank: parameters may stand between them.
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

/// `<10k>`, `<.5k>`, `<1234b>`, `<2M>`, `<1234>`.
fn size(bracket: &[u8]) -> Option<u64> {
    let inner = bracket.strip_prefix(b"<")?;
    let inner = inner.get(..memchr(b'>', inner)?)?.trim_ascii();
    let digits = inner.iter().take_while(|octet| octet.is_ascii_digit() || **octet == b'.').count();
    let (number, unit) = inner.split_at_checked(digits)?;
    let unit = match unit.trim_ascii_start() {
        [] | [b'b' | b'B'] => 1,
        [b'k' | b'K'] | [b'k' | b'K', b'b' | b'B'] => 1 << 10,
        [b'm' | b'M'] | [b'm' | b'M', b'b' | b'B'] => 1 << 20,
        [b'g' | b'G'] | [b'g' | b'G', b'b' | b'B'] => 1 << 30,
        _ => return None,
    };
    octets(number, unit)
}

/// `number` times `unit`, to the nearest.
fn octets(number: &[u8], unit: u128) -> Option<u64> {
    let point = memchr(b'.', number).unwrap_or(number.len());
    let (whole, fraction) = number.split_at_checked(point)?;
    let fraction = fraction.strip_prefix(b".").unwrap_or(fraction);
    if !(1..=MOST_DIGITS).contains(&(whole.len() + fraction.len())) || fraction.contains(&b'.') {
        return None;
    }
    let push = |number: u128, digit: &u8| number * 10 + u128::from(digit - b'0');
    let number = whole.iter().chain(fraction).fold(0, push);
    let parts = fraction.iter().fold(1, |parts: u128, _| parts * 10);
    u64::try_from((number * unit + parts / 2) / parts).ok()
}
