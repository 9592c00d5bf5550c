//! The head of a block of attributes: `+NAME:`, and what follows on its line ("Gopher+" §2.5).

use bytes::Bytes;

/// Names that are a head without their colon too: some servers leave it out.
const BARE_NAMES: [&[u8]; 5] = [b"INFO", b"ADMIN", b"VIEWS", b"ABSTRACT", b"ASK"];

/// What a head says.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) name: Bytes,
    /// What follows on its line, without one leading blank.
    pub(super) inline: Bytes,
}

impl Head {
    /// What a line says, if it is a head.
    pub(super) fn of(line: &Bytes) -> Option<Self> {
        let rest = line.strip_prefix(b"+")?;
        let length = rest.iter().take_while(|octet| is_of_name(**octet)).count();
        let (name, behind) = rest.split_at_checked(length)?;
        let inline = match behind {
            [b':', inline @ ..] if !name.is_empty() => inline,
            [] | [b' ', ..] if BARE_NAMES.iter().any(|bare| name.eq_ignore_ascii_case(bare)) => behind,
            _ => return None,
        };
        let inline = inline.strip_prefix(b" ").unwrap_or(inline);
        Some(Self { name: line.slice_ref(name), inline: line.slice_ref(inline) })
    }

    /// Whether it begins the next item.
    pub(super) fn is_info(&self) -> bool {
        self.name.eq_ignore_ascii_case(b"INFO")
    }
}

const fn is_of_name(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_' | b'.')
}
