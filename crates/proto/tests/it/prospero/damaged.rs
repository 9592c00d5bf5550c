//! Captured answers and datagrams with random damage, from a fixed seed.

use crate::prospero::transcript::{Random, Side, data, datagrams};

const ROUNDS: usize = 6000;
/// Valid and invalid parts of response lines.
const PIECES: [&[u8]; 12] = [
    b"'",
    b"''",
    b"\n",
    b" ",
    b"\0",
    b"\r",
    b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA ",
    b"TAGGED t ",
    b"UNRESOLVED a\n",
    b"FORWARDED INTERNET-D h.test(70) ASCII /x 0\n",
    b"FAILURE NOT-FOUND\n",
    b"ACCESS-METHOD URL '' '' '' file:///x",
];

fn damaged(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 if !bytes.is_empty() => drop(bytes.remove(at)),
            1 if !bytes.is_empty() => bytes[at] = random.next() as u8,
            2 => {
                let end = at + random.below(bytes.len() - at);
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].iter().copied())),
        }
    }
    bytes
}

#[test]
fn damaged_answers() {
    let answers: Vec<_> = datagrams()
        .into_iter()
        .filter(|(_, side, _)| *side == Side::Server)
        .map(|(_, _, bytes)| bytes)
        .collect();
    let mut random = Random(191);
    for _ in 0..ROUNDS {
        let choice = random.below(4) as u8;
        let mut data_of = vec![choice];
        for _ in 0..=random.below(2) {
            let at = random.below(answers.len());
            if choice == 3 {
                let mut answer = damaged(&mut random, &answers[at]);
                if answer.len() > 3 {
                    answer[1..3].copy_from_slice(&[1, 0x1a]);
                }
                data_of.extend((answer.len() as u16).to_be_bytes());
                data_of.extend(answer);
            } else {
                data_of.extend(damaged(&mut random, data(&answers[at])));
            }
        }
        crate::prospero::fuzz_body::check(&data_of);
    }
}

/// Runs the check of the fuzz target on its seeds.
#[test]
fn seeds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fuzz/seeds/prospero_answer");
    let Ok(seeds) = std::fs::read_dir(folder) else { panic!("{folder}") };
    let count = seeds.flatten().filter_map(|seed| std::fs::read(seed.path()).ok());
    let count = count.inspect(|seed| crate::prospero::fuzz_body::check(seed)).count();
    assert!(count >= 21, "{count}");
}
