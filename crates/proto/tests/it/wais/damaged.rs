//! Captured answers with random damage, from a fixed seed.

const CAPTURED: &str = include_str!("../../data/wais-vectors.txt");
const ROUNDS: usize = 20_000;
/// Longer captured answers are skipped to save time.
const MAX_BYTES: usize = 220;

/// The generator SplitMix64 of Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    /// Returns a message with up to five damaged bytes after its header. In most cases the length in the header is
    /// corrected.
    fn damaged(&mut self, message: &[u8]) -> Vec<u8> {
        let (header, apdu) = message.split_at(25);
        let (mut header, mut apdu) = (header.to_vec(), apdu.to_vec());
        for _ in 0..self.below(6) {
            let at = self.below(apdu.len());
            let byte = [0, 1, 0x1c, 0x1d, 0x63, 0x7f, 0x80, 0x81, 0xff, self.next() as u8][self.below(10)];
            match self.below(4) {
                0 => apdu.insert(at, byte),
                _ if apdu.is_empty() => {}
                1 => drop(apdu.remove(at)),
                2 => apdu[at] = byte,
                _ => {
                    let end = at + self.below(apdu.len() - at);
                    let copy = apdu[at..end].to_vec();
                    let _: Vec<u8> = apdu.splice(at..at, copy).collect();
                }
            }
        }
        match self.below(8) {
            0 => {
                let at = self.below(header.len());
                header[at] = self.next() as u8;
            }
            1 => {}
            _ => header[..10].copy_from_slice(format!("{:010}", apdu.len()).as_bytes()),
        }
        [header, apdu].concat()
    }
}

#[test]
fn damaged_answers() {
    let answers: Vec<_> = CAPTURED.lines().filter(|line| line.contains(" S> ")).map(unhexed).collect();
    let answers: Vec<_> = answers.into_iter().filter(|answer| answer.len() < MAX_BYTES).collect();
    let mut random = Random(1625);
    for _ in 0..ROUNDS {
        let mut data = vec![random.next() as u8];
        for _ in 0..=random.below(3) {
            let at = random.below(answers.len());
            data.extend(random.damaged(&answers[at]));
        }
        if random.below(8) == 0 {
            data.truncate(random.below(data.len()));
        }
        crate::wais::fuzz_body::check(&data);
    }
}

fn unhexed(line: &str) -> Vec<u8> {
    let hex = line.rsplit(' ').next().unwrap_or_default().as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).map_or(0, |digit| digit as u8);
    hex.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
