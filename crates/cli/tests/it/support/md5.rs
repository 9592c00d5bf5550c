//! MD5 (RFC 1321) for the expected values of HTTP Digest authentication. It is implemented here, so that the tests do
//! not depend on the library that they test.

/// Returns the MD5 digest as lower-case hexadecimal digits.
pub(crate) fn md5_hex(bytes: &[u8]) -> String {
    let mut message = bytes.to_vec();
    message.push(0x80);
    message.resize(message.len().next_multiple_of(64), 0);
    if message.len() - bytes.len() < 9 {
        message.resize(message.len() + 64, 0);
    }
    let end = message.len() - 8;
    message[end..].copy_from_slice(&(bytes.len() as u64 * 8).to_le_bytes());
    let start = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let state = message.chunks_exact(64).fold(start, process_block);
    state.iter().flat_map(|word: &u32| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
}

/// Applies the four rounds of RFC 1321, section 3.4, to one block of 64 bytes and returns the new state.
fn process_block(state: [u32; 4], block: &[u8]) -> [u32; 4] {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let word = |at: usize| {
        u32::from_le_bytes([block[at * 4], block[at * 4 + 1], block[at * 4 + 2], block[at * 4 + 3]])
    };
    let [mut a, mut b, mut c, mut d] = state;
    for step in 0..64 {
        let (mixed, at) = match step / 16 {
            0 => (b & c | !b & d, step),
            1 => (d & b | !d & c, (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), 7 * step % 16),
        };
        let table = (f64::sin(step as f64 + 1.0).abs() * 4_294_967_296.0) as u32;
        let sum = a.wrapping_add(mixed).wrapping_add(table).wrapping_add(word(at));
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4])));
    }
    let [p, q, r, s] = state;
    [p.wrapping_add(a), q.wrapping_add(b), r.wrapping_add(c), s.wrapping_add(d)]
}
