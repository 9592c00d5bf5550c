//! The fields of WAIS messages: their octets, what is wrong with them on purpose, and how they are read.

use crate::wais::diagnostic::WaisDiagnostic;
use crate::wais::rule::{WaisAct, WaisLayer};

/// Tags of Z39.50-1988 and of WAIS's information part.
pub(crate) mod tag {
    pub(crate) const REFERENCE: u64 = 2;
    pub(crate) const VERSION: u64 = 3;
    pub(crate) const OPTIONS: u64 = 4;
    pub(crate) const PREFERRED_SIZE: u64 = 5;
    pub(crate) const MAXIMUM_SIZE: u64 = 6;
    pub(crate) const IMPLEMENTATION: u64 = 8;
    pub(crate) const IMPLEMENTATION_NAME: u64 = 9;
    pub(crate) const IMPLEMENTATION_VERSION: u64 = 10;
    pub(crate) const DATABASE: u64 = 18;
    pub(crate) const QUERY_TYPE: u64 = 20;
    pub(crate) const QUERY: u64 = 21;
    pub(crate) const PRESENT_STATUS: u64 = 27;
    pub(crate) const ATTRIBUTES: u64 = 44;
    pub(crate) const TERM: u64 = 45;
    pub(crate) const INFORMATION: u64 = 99;
    pub(crate) const CHUNK_CODE: u64 = 100;
    pub(crate) const CHUNK_ID_LENGTH: u64 = 101;
    pub(crate) const WORDS: u64 = 106;
    pub(crate) const DATE_FACTOR: u64 = 111;
    pub(crate) const MOST_DOCUMENTS: u64 = 114;
    pub(crate) const ID: u64 = 116;
    pub(crate) const VERSION_NUMBER: u64 = 117;
    pub(crate) const SCORE: u64 = 118;
    pub(crate) const BEST_MATCH: u64 = 119;
    pub(crate) const LENGTH: u64 = 120;
    pub(crate) const SOURCE: u64 = 121;
    pub(crate) const DATE: u64 = 122;
    pub(crate) const HEADLINE: u64 = 123;
    pub(crate) const CITY: u64 = 124;
    pub(crate) const TEXT: u64 = 127;
    pub(crate) const LINES: u64 = 131;
    pub(crate) const TYPES: u64 = 132;
    pub(crate) const TYPE: u64 = 133;
    pub(crate) const HEADER: u64 = 150;
    pub(crate) const TEXT_RECORD: u64 = 153;
    /// Nobody knows it.
    pub(crate) const UNKNOWN: u64 = 200;
}

/// One field of a message.
#[derive(Clone, Debug)]
pub(crate) enum Field {
    Diagnostic(WaisDiagnostic),
    Group(u64, Vec<Self>),
    Octets(u64, Vec<u8>),
}

impl Field {
    pub(crate) fn octets(tag: u64, octets: impl Into<Vec<u8>>) -> Self {
        Self::Octets(tag, octets.into())
    }

    /// A number in its shortest form.
    pub(crate) fn number(tag: u64, value: u64) -> Self {
        let long = value.to_be_bytes();
        let zeros = long.iter().take(7).take_while(|octet| **octet == 0).count();
        Self::Octets(tag, long[zeros..].to_vec())
    }
}

/// How fields become octets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coding {
    is_padded: bool,
    is_reversed: bool,
    has_unknown: bool,
    has_no_terminator: bool,
    too_long: Vec<(WaisLayer, u64)>,
}

impl Coding {
    /// As the acts want it.
    pub(crate) fn of(acts: &[WaisAct]) -> Self {
        let mut coding = Self::default();
        for act in acts {
            match act {
                WaisAct::Padded => coding.is_padded = true,
                WaisAct::Reversed => coding.is_reversed = true,
                WaisAct::UnknownFields => coding.has_unknown = true,
                WaisAct::NoTerminator => coding.has_no_terminator = true,
                WaisAct::TooLong(layer, by) => coding.too_long.push((*layer, *by)),
                _ => {}
            }
        }
        coding
    }

    /// All fields, one after the other.
    pub(crate) fn octets(&self, fields: &[Field]) -> Vec<u8> {
        self.run(fields, false)
    }

    fn run(&self, fields: &[Field], is_record: bool) -> Vec<u8> {
        let mut octets = Vec::new();
        for at in 0..fields.len() {
            if self.has_unknown {
                self.push(&mut octets, tag::UNKNOWN, b"\0?", 0);
            }
            let place = if self.is_reversed && is_record { fields.len() - 1 - at } else { at };
            let by = if is_record && at + 1 == fields.len() { self.longer(WaisLayer::Field) } else { 0 };
            self.one(&mut octets, &fields[place], by);
        }
        octets
    }

    fn one(&self, octets: &mut Vec<u8>, field: &Field, by: u64) {
        match field {
            Field::Diagnostic(diagnostic) => {
                octets.extend(diagnostic.octets());
                if self.has_no_terminator {
                    octets.pop();
                }
            }
            Field::Group(tag, fields) => {
                let (is_record, layer) = match *tag {
                    tag::HEADER | tag::TEXT_RECORD => (true, Some(WaisLayer::Record)),
                    tag::INFORMATION => (false, Some(WaisLayer::Information)),
                    _ => (false, None),
                };
                let by = layer.map_or(by, |layer| self.longer(layer));
                self.push(octets, *tag, &self.run(fields, is_record), by);
            }
            Field::Octets(tag, value) => self.push(octets, *tag, value, by),
        }
    }

    fn longer(&self, layer: WaisLayer) -> u64 {
        self.too_long.iter().filter(|(concerned, _)| *concerned == layer).map(|(_, by)| by).sum()
    }

    fn push(&self, octets: &mut Vec<u8>, tag: u64, value: &[u8], by: u64) {
        push_integer(octets, tag);
        if self.is_padded {
            octets.push(0x80);
        }
        push_integer(octets, value.len() as u64 + by);
        octets.extend_from_slice(value);
    }
}

/// Tag, length and octets, as the identifiers of documents have them.
pub(crate) fn field(tag: u64, value: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    Coding::default().push(&mut octets, tag, value, 0);
    octets
}

/// Seven bits an octet, the highest first, with the top bit in all but the last.
fn push_integer(octets: &mut Vec<u8>, value: u64) {
    let groups = (0..9).rev().map(|group| (value >> (7 * group) & 127) as u8);
    let groups: Vec<u8> = groups.skip_while(|group| *group == 0).collect();
    let (last, before) = groups.split_last().unwrap_or((&0, &[]));
    octets.extend(before.iter().map(|group| group | 128));
    octets.push(*last);
}

/// The fields that a run of octets consists of; none if it does not.
pub(crate) fn fields(mut octets: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut fields = Vec::new();
    while !octets.is_empty() {
        let tag = integer(&mut octets)?;
        let length = usize::try_from(integer(&mut octets)?).ok()?;
        let (value, rest) = octets.split_at_checked(length)?;
        fields.push((tag, value));
        octets = rest;
    }
    Some(fields)
}

/// The value of the first field with this tag.
pub(crate) fn find<'a>(fields: &[(u64, &'a [u8])], tag: u64) -> Option<&'a [u8]> {
    fields.iter().find(|(found, _)| *found == tag).map(|(_, value)| *value)
}

/// A number of one to four octets.
pub(crate) fn number(octets: &[u8]) -> Option<u64> {
    let is_number = (1..=4).contains(&octets.len());
    is_number.then(|| octets.iter().fold(0, |number, octet| number << 8 | u64::from(*octet)))
}

fn integer(octets: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for at in 0..5 {
        let octet = *octets.get(at)?;
        value = value << 7 | u64::from(octet & 127);
        if octet < 128 {
            *octets = &octets[at + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_compressed() {
        let rows: [(u64, &[u8]); 9] = [
            (0, &[0]),
            (1, &[1]),
            (127, &[0x7f]),
            (128, &[0x81, 0]),
            (150, &[0x81, 0x16]),
            (268, &[0x82, 0x0c]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x81, 0x80, 0]),
            (2_097_152, &[0x81, 0x80, 0x80, 0]),
        ];
        for (value, octets) in rows {
            let mut written = Vec::new();
            push_integer(&mut written, value);
            assert_eq!(written, octets);
            assert_eq!(integer(&mut &*written), Some(value));
        }
        assert_eq!(integer(&mut [0x80, 5].as_slice()), Some(5));
        assert_eq!(integer(&mut [0xff; 6].as_slice()), None);
    }

    #[test]
    fn fields_are_what_they_were() {
        let octets = [field(3, b"local"), field(150, &[7; 200])].concat();
        assert_eq!(fields(&octets), Some(vec![(3, b"local".as_slice()), (150, &[7; 200])]));
        assert_eq!(fields(&octets[..octets.len() - 1]), None);
        assert_eq!(fields(b""), Some(Vec::new()));
        assert_eq!(number(b"\x01\xe9"), Some(489));
    }

    #[test]
    fn fields_can_be_wrong_on_purpose() {
        let record = || Field::Group(tag::HEADER, vec![Field::number(118, 489), Field::octets(123, "ab")]);
        let all = [Field::Group(tag::INFORMATION, vec![record()])];
        let rows: [(&[WaisAct], &[u8]); 7] = [
            (&[], b"\x63\x0b\x81\x16\x08\x76\x02\x01\xe9\x7b\x02ab"),
            (&[WaisAct::Padded], b"\x63\x80\x0e\x81\x16\x80\x0a\x76\x80\x02\x01\xe9\x7b\x80\x02ab"),
            (&[WaisAct::Reversed], b"\x63\x0b\x81\x16\x08\x7b\x02ab\x76\x02\x01\xe9"),
            (&[WaisAct::TooLong(WaisLayer::Field, 1)], b"\x63\x0b\x81\x16\x08\x76\x02\x01\xe9\x7b\x03ab"),
            (&[WaisAct::TooLong(WaisLayer::Record, 1)], b"\x63\x0b\x81\x16\x09\x76\x02\x01\xe9\x7b\x02ab"),
            (&[WaisAct::TooLong(WaisLayer::Information, 1)], b"\x63\x0c\x81\x16\x08\x76\x02\x01\xe9\x7b\x02ab"),
            (
                &[WaisAct::UnknownFields],
                b"\x81\x48\x02\0?\x63\x1a\x81\x48\x02\0?\x81\x16\x12\x81\x48\x02\0?\x76\x02\x01\xe9\x81\x48\x02\0?\x7b\x02ab",
            ),
        ];
        for (acts, octets) in rows {
            assert_eq!(Coding::of(acts).octets(&all), octets, "{acts:?}");
        }
    }
}
