//! The fields of WAIS messages: encoding, deliberate errors, and parsing.

use crate::wais::diagnostic::WaisDiagnostic;
use crate::wais::rule::{WaisAction, WaisLayer};

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
    /// A tag that no client knows.
    pub(crate) const UNKNOWN: u64 = 200;
}

/// One field of a message.
#[derive(Clone, Debug)]
pub(crate) enum Field {
    Diagnostic(WaisDiagnostic),
    Group(u64, Vec<Self>),
    Bytes(u64, Vec<u8>),
}

impl Field {
    pub(crate) fn bytes(tag: u64, bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bytes(tag, bytes.into())
    }

    /// A number in its shortest encoding.
    pub(crate) fn number(tag: u64, value: u64) -> Self {
        let long = value.to_be_bytes();
        let zeros = long.iter().take(7).take_while(|byte| **byte == 0).count();
        Self::Bytes(tag, long[zeros..].to_vec())
    }
}

/// Encodes fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldEncoder {
    pads_lengths: bool,
    reverses_fields: bool,
    adds_unknown_fields: bool,
    omits_terminators: bool,
    overstated: Vec<(WaisLayer, u64)>,
}

impl FieldEncoder {
    /// An encoder that makes the errors of these actions.
    pub(crate) fn new(actions: &[WaisAction]) -> Self {
        let mut encoder = Self::default();
        for action in actions {
            match action {
                WaisAction::PaddedLengths => encoder.pads_lengths = true,
                WaisAction::ReversedFields => encoder.reverses_fields = true,
                WaisAction::UnknownFields => encoder.adds_unknown_fields = true,
                WaisAction::NoTerminator => encoder.omits_terminators = true,
                WaisAction::OverstateLength(layer, by) => encoder.overstated.push((*layer, *by)),
                _ => {}
            }
        }
        encoder
    }

    /// Returns the encoded fields.
    pub(crate) fn encode(&self, fields: &[Field]) -> Vec<u8> {
        self.encode_fields(fields, false)
    }

    fn encode_fields(&self, fields: &[Field], is_record: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for at in 0..fields.len() {
            if self.adds_unknown_fields {
                self.push(&mut bytes, tag::UNKNOWN, b"\0?", 0);
            }
            let index = if self.reverses_fields && is_record { fields.len() - 1 - at } else { at };
            let by =
                if is_record && at + 1 == fields.len() { self.overstated_by(WaisLayer::Field) } else { 0 };
            self.encode_field(&mut bytes, &fields[index], by);
        }
        bytes
    }

    fn encode_field(&self, bytes: &mut Vec<u8>, field: &Field, by: u64) {
        match field {
            Field::Diagnostic(diagnostic) => {
                bytes.extend(diagnostic.encode());
                if self.omits_terminators {
                    bytes.pop();
                }
            }
            Field::Group(tag, fields) => {
                let (is_record, layer) = match *tag {
                    tag::HEADER | tag::TEXT_RECORD => (true, Some(WaisLayer::Record)),
                    tag::INFORMATION => (false, Some(WaisLayer::Information)),
                    _ => (false, None),
                };
                let by = layer.map_or(by, |layer| self.overstated_by(layer));
                self.push(bytes, *tag, &self.encode_fields(fields, is_record), by);
            }
            Field::Bytes(tag, value) => self.push(bytes, *tag, value, by),
        }
    }

    fn overstated_by(&self, layer: WaisLayer) -> u64 {
        self.overstated.iter().filter(|(concerned, _)| *concerned == layer).map(|(_, by)| by).sum()
    }

    fn push(&self, bytes: &mut Vec<u8>, tag: u64, value: &[u8], by: u64) {
        push_integer(bytes, tag);
        if self.pads_lengths {
            bytes.push(0x80);
        }
        push_integer(bytes, value.len() as u64 + by);
        bytes.extend_from_slice(value);
    }
}

/// Returns an encoded field: tag, length and value.
pub(crate) fn field(tag: u64, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    FieldEncoder::default().push(&mut bytes, tag, value, 0);
    bytes
}

/// Encodes an integer in groups of seven bits, most significant first. All bytes but the last have the top
/// bit.
fn push_integer(bytes: &mut Vec<u8>, value: u64) {
    let groups = (0..9).rev().map(|group| (value >> (7 * group) & 127) as u8);
    let groups: Vec<u8> = groups.skip_while(|group| *group == 0).collect();
    let (last, before) = groups.split_last().unwrap_or((&0, &[]));
    bytes.extend(before.iter().map(|group| group | 128));
    bytes.push(*last);
}

/// Parses a sequence of fields. Returns tags and values, or `None` if the bytes are not fields.
pub(crate) fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, &[u8])>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = integer(&mut bytes)?;
        let length = usize::try_from(integer(&mut bytes)?).ok()?;
        let (value, rest) = bytes.split_at_checked(length)?;
        fields.push((tag, value));
        bytes = rest;
    }
    Some(fields)
}

/// Returns the value of the first field with this tag.
pub(crate) fn find<'a>(fields: &[(u64, &'a [u8])], tag: u64) -> Option<&'a [u8]> {
    fields.iter().find(|(found, _)| *found == tag).map(|(_, value)| *value)
}

/// Parses a number of one to four bytes.
pub(crate) fn number(bytes: &[u8]) -> Option<u64> {
    let is_number = (1..=4).contains(&bytes.len());
    is_number.then(|| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn integer(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for at in 0..5 {
        let byte = *bytes.get(at)?;
        value = value << 7 | u64::from(byte & 127);
        if byte < 128 {
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_is_encoded_in_groups_of_seven_bits() {
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
        for (value, bytes) in rows {
            let mut written = Vec::new();
            push_integer(&mut written, value);
            assert_eq!(written, bytes);
            assert_eq!(integer(&mut &*written), Some(value));
        }
        assert_eq!(integer(&mut [0x80, 5].as_slice()), Some(5));
        assert_eq!(integer(&mut [0xff; 6].as_slice()), None);
    }

    #[test]
    fn encoded_fields_are_parsed() {
        let bytes = [field(3, b"local"), field(150, &[7; 200])].concat();
        assert_eq!(fields(&bytes), Some(vec![(3, b"local".as_slice()), (150, &[7; 200])]));
        assert_eq!(fields(&bytes[..bytes.len() - 1]), None);
        assert_eq!(fields(b""), Some(Vec::new()));
        assert_eq!(number(b"\x01\xe9"), Some(489));
    }

    #[test]
    fn actions_make_errors_in_fields() {
        let record = || Field::Group(tag::HEADER, vec![Field::number(118, 489), Field::bytes(123, "ab")]);
        let all = [Field::Group(tag::INFORMATION, vec![record()])];
        let rows: [(&[WaisAction], &[u8]); 7] = [
            (&[], b"\x63\x0b\x81\x16\x08\x76\x02\x01\xe9\x7b\x02ab"),
            (&[WaisAction::PaddedLengths], b"\x63\x80\x0e\x81\x16\x80\x0a\x76\x80\x02\x01\xe9\x7b\x80\x02ab"),
            (&[WaisAction::ReversedFields], b"\x63\x0b\x81\x16\x08\x7b\x02ab\x76\x02\x01\xe9"),
            (&[WaisAction::OverstateLength(WaisLayer::Field, 1)], b"\x63\x0b\x81\x16\x08\x76\x02\x01\xe9\x7b\x03ab"),
            (&[WaisAction::OverstateLength(WaisLayer::Record, 1)], b"\x63\x0b\x81\x16\x09\x76\x02\x01\xe9\x7b\x02ab"),
            (&[WaisAction::OverstateLength(WaisLayer::Information, 1)], b"\x63\x0c\x81\x16\x08\x76\x02\x01\xe9\x7b\x02ab"),
            (
                &[WaisAction::UnknownFields],
                b"\x81\x48\x02\0?\x63\x1a\x81\x48\x02\0?\x81\x16\x12\x81\x48\x02\0?\x76\x02\x01\xe9\x81\x48\x02\0?\x7b\x02ab",
            ),
        ];
        for (actions, bytes) in rows {
            assert_eq!(FieldEncoder::new(actions).encode(&all), bytes, "{actions:?}");
        }
    }
}
