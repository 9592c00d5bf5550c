//! Parses the first line of an attribute block: `+NAME:` and the rest of the line ("Gopher+" §2.5).

use bytes::Bytes;

/// Names that are accepted without a colon because some servers omit it.
const BARE_NAMES: [&[u8]; 5] = [b"INFO", b"ADMIN", b"VIEWS", b"ABSTRACT", b"ASK"];

/// The parsed first line of a block.
#[derive(Debug)]
pub(super) struct BlockHeader {
    pub(super) name: Bytes,
    /// The rest of the line, without one leading blank.
    pub(super) inline: Bytes,
}

impl BlockHeader {
    /// Parses a line; returns `None` if it does not start a block.
    pub(super) fn parse(line: &Bytes) -> Option<Self> {
        let rest = line.strip_prefix(b"+")?;
        let length = rest.iter().take_while(|byte| is_of_name(**byte)).count();
        let (name, behind) = rest.split_at_checked(length)?;
        let inline = match behind {
            [b':', inline @ ..] if !name.is_empty() => inline,
            [] | [b' ', ..] if BARE_NAMES.iter().any(|bare| name.eq_ignore_ascii_case(bare)) => behind,
            _ => return None,
        };
        let inline = inline.strip_prefix(b" ").unwrap_or(inline);
        Some(Self { name: line.slice_ref(name), inline: line.slice_ref(inline) })
    }

    /// Returns `true` if the block starts the next item.
    pub(super) fn is_info(&self) -> bool {
        self.name.eq_ignore_ascii_case(b"INFO")
    }
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}
