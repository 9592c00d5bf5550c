//! Reads the first field of an HTTP/2 header block (RFC 7541 §6), to find pseudo-header fields: they precede all other
//! fields (RFC 9113 §8.3), and h2 rejects a block in another order.

/// The first field of a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstField {
    /// `:status`, with its value if that is a number of three digits.
    Status(Option<u16>),
    /// Another pseudo-header field.
    OtherPseudo,
    Regular,
    /// An entry of the dynamic table, which is not tracked, or an invalid or incomplete field.
    Unknown,
}

/// The statuses of entries 8 to 14 of the static table (RFC 7541, appendix A).
const STATIC_STATUSES: [u16; 7] = [200, 204, 206, 304, 400, 404, 500];
/// The number of entries of the static table.
const STATIC_ENTRIES: usize = 61;
/// `:status` in the Huffman code (RFC 7541, appendix B).
const HUFFMAN_STATUS: &[u8] = b"\xb8\x84\x8d\x36\xa3";
/// The Huffman code of a colon, which has 7 bits.
const HUFFMAN_COLON: u8 = 0x5c;

impl FirstField {
    /// Reads the first field of `block`, which may lack its end.
    pub(super) fn read(block: &[u8]) -> Self {
        BlockReader(block).first_field().unwrap_or(Self::Unknown)
    }

    /// Returns the kind of entry `index` of the static table.
    fn of_index(index: usize) -> Self {
        match index {
            1..8 => Self::OtherPseudo,
            8..15 => Self::Status(Some(STATIC_STATUSES[index - 8])),
            15..=STATIC_ENTRIES => Self::Regular,
            _ => Self::Unknown,
        }
    }
}

/// A string literal: its bytes, and whether they are in the Huffman code.
struct Literal<'b> {
    bytes: &'b [u8],
    is_huffman: bool,
}

impl Literal<'_> {
    fn is_status_name(&self) -> bool {
        self.bytes == if self.is_huffman { HUFFMAN_STATUS } else { b":status" }
    }

    fn is_pseudo_name(&self) -> bool {
        let first = self.bytes.first();
        first.is_some_and(|first| if self.is_huffman { first >> 1 == HUFFMAN_COLON } else { *first == b':' })
    }

    /// Returns the string as a status code, or `None` if it is not a number of three digits.
    fn status(&self) -> Option<u16> {
        let digits = if self.is_huffman { huffman_digits(self.bytes) } else { self.bytes.to_vec() };
        let is_number = digits.len() == 3 && digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| digits.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0')))
    }
}

/// Decodes digits: `0`, `1` and `2` have 5 bits in the Huffman code, the others 6. Other characters end the text.
fn huffman_digits(bytes: &[u8]) -> Vec<u8> {
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1)).collect();
    let number = |bits: &[u8]| bits.iter().fold(0, |number, bit| number << 1 | bit);
    let (mut digits, mut rest) = (Vec::new(), &bits[..]);
    while let Some((five, after)) = rest.split_at_checked(5) {
        let digit = match (number(five), rest.get(..6).map(number)) {
            (digit @ 0..3, _) => (digit, after),
            (_, Some(code @ 0x19..0x20)) => (code - 0x19 + 3, &rest[6..]),
            _ => break,
        };
        digits.push(b'0' + digit.0);
        rest = digit.1;
    }
    digits
}

/// The rest of a header block.
struct BlockReader<'b>(&'b [u8]);

impl<'b> BlockReader<'b> {
    fn first_field(&mut self) -> Option<FirstField> {
        loop {
            let first = *self.0.first()?;
            let index = match first {
                0x80.. => return Some(FirstField::of_index(self.integer(7)?)),
                0x40.. => self.integer(6)?,
                // A dynamic table size update (RFC 7541 §6.3).
                0x20.. => {
                    self.integer(5)?;
                    continue;
                }
                _ => self.integer(4)?,
            };
            return match index {
                0 => self.field_with_new_name(),
                8..15 => Some(FirstField::Status(self.literal().and_then(|value| value.status()))),
                index => Some(FirstField::of_index(index)),
            };
        }
    }

    fn field_with_new_name(&mut self) -> Option<FirstField> {
        let name = self.literal()?;
        if name.is_status_name() {
            return Some(FirstField::Status(self.literal().and_then(|value| value.status())));
        }
        Some(if name.is_pseudo_name() { FirstField::OtherPseudo } else { FirstField::Regular })
    }

    /// Reads an integer with a prefix of `bits` bits (RFC 7541 §5.1). Returns `None` if it is incomplete, or larger
    /// than any index or length of interest.
    fn integer(&mut self, bits: u32) -> Option<usize> {
        let limit = (1 << bits) - 1;
        let mut value = usize::from(self.byte()?) & limit;
        let mut shift = 0;
        while value >= limit {
            let byte = usize::from(self.byte()?);
            value += (byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
            if shift > 21 {
                return None;
            }
        }
        Some(value)
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads a string literal (RFC 7541 §5.2). Bytes beyond the end of the block are left out.
    fn literal(&mut self) -> Option<Literal<'b>> {
        let is_huffman = self.0.first()? & 0x80 != 0;
        let length = self.integer(7)?;
        let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        Some(Literal { bytes, is_huffman })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_read_in_each_representation() {
        let blocks: [(&[u8], u16); 11] = [
            (b"\x88", 200),
            (b"\x8e\xff", 500),
            (b"\x3f\xe1\x1f\x88", 200),
            (b"\x20\x3f\xe1\x1f\x89", 204),
            (b"\x08\x03101", 101),
            (b"\x48\x03103", 103),
            (b"\x18\x03299", 299),
            (b"\x08\x82\x08\x03", 101),
            (b"\x48\x83\x13\xef\xff", 299),
            (b"\x00\x07:status\x03101", 101),
            (b"\x40\x85\xb8\x84\x8d\x36\xa3\x82\x08\x03", 101),
        ];
        for (block, status) in blocks {
            assert_eq!(FirstField::read(block), FirstField::Status(Some(status)), "{block:02x?}");
        }
        assert_eq!(FirstField::read(b"\x08\x03abc"), FirstField::Status(None));
    }

    #[test]
    fn other_pseudo_header_fields_regular_fields_and_unknown_ones_are_told_apart() {
        let blocks: [(&[u8], FirstField); 10] = [
            (b"\x82", FirstField::OtherPseudo),
            (b"\x04\x02/a", FirstField::OtherPseudo),
            (b"\x00\x05:path\x01/", FirstField::OtherPseudo),
            (b"\x00\x84\xb9\x58\xd3\x3f\x81\x63", FirstField::OtherPseudo),
            (b"\x0f\x10\x011", FirstField::Regular),
            (b"\x40\x01x\x01y", FirstField::Regular),
            (b"\xbd", FirstField::Regular),
            (b"\xbe", FirstField::Unknown),
            (b"\x7f\x00\x01y", FirstField::Unknown),
            (b"", FirstField::Unknown),
        ];
        for (block, field) in blocks {
            assert_eq!(FirstField::read(block), field, "{block:02x?}");
        }
    }

    #[test]
    fn every_prefix_of_random_bytes_is_read_without_a_panic() {
        let mut state = 1_u32;
        for _ in 0..20_000 {
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .take(12)
            .collect();
            for end in 0..bytes.len() {
                FirstField::read(&bytes[..end]);
            }
        }
    }
}
