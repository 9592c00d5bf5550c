//! A deterministic body of any size that costs next to nothing to make: what the benches transfer.
//!
//! The octets repeat with a prime period, so that a piece put at the wrong place of a file does not look
//! right.

use std::sync::OnceLock;

/// The largest prime below 2^20.
const PERIOD: usize = 1_048_573;

/// Fills `buffer` with the octets that the pattern has from `offset` on.
pub fn pattern(offset: u64, buffer: &mut [u8]) {
    let mut done = 0;
    while done < buffer.len() {
        let part = pattern_part(offset + done as u64, buffer.len() - done);
        buffer[done..done + part.len()].copy_from_slice(part);
        done += part.len();
    }
}

/// `length` octets of the pattern from `offset` on.
#[must_use]
pub fn pattern_vec(offset: u64, length: usize) -> Vec<u8> {
    let mut octets = vec![0; length];
    pattern(offset, &mut octets);
    octets
}

/// As many octets from `offset` on as lie together in memory, at most `limit`.
pub(crate) fn pattern_part(offset: u64, limit: usize) -> &'static [u8] {
    let start = (offset % PERIOD as u64) as usize;
    let end = PERIOD.min(start.saturating_add(limit));
    &block()[start..end]
}

/// One period, by splitmix64.
fn block() -> &'static [u8] {
    static BLOCK: OnceLock<Vec<u8>> = OnceLock::new();
    BLOCK.get_or_init(|| {
        let mut octets = Vec::with_capacity(PERIOD + 8);
        let mut state = 0x1738_u64;
        while octets.len() < PERIOD {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            octets.extend_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes());
        }
        octets.truncate(PERIOD);
        octets
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_equal_the_whole_across_the_period() {
        let from = PERIOD as u64 - 100;
        let whole = pattern_vec(from, 300);
        for (index, octet) in whole.iter().enumerate() {
            assert_eq!(pattern_vec(from + index as u64, 1), [*octet]);
        }
        assert_ne!(whole[..100], whole[100..200]);
    }
}
