//! Plays the seeds of the fuzz targets, and random changes of them, on any compiler.

use std::fs;
use std::path::Path;

/// The number of random changes of each seed.
const CHANGES: usize = 64;

/// Calls `check` with each seed of a target, parts of it that end at a random position, and random changes.
/// At least one download must succeed.
fn check_seeds(target: &str, check: fn(&[u8]) -> bool) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/seeds").join(target);
    let mut seeds: Vec<_> =
        fs::read_dir(directory).expect("seeds").map(|entry| entry.expect("a seed").path()).collect();
    seeds.sort();
    assert!(seeds.len() > 5, "{seeds:?}");
    let (mut random, mut successes) = (Random(1), 0);
    for seed in seeds {
        let bytes = fs::read(&seed).expect("a seed");
        successes += u32::from(check(&bytes));
        for _ in 0..CHANGES {
            check(&bytes[..random.below(bytes.len())]);
            check(&random.changed(&bytes));
        }
    }
    assert!(successes > 0);
}

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// Returns `bytes` with one to four bytes replaced, inserted or removed.
    fn changed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let (at, new) = (self.below(bytes.len()), self.below(256) as u8);
            match self.below(4) {
                _ if bytes.is_empty() => bytes.push(new),
                0 => drop(bytes.remove(at)),
                1 => bytes.insert(at, new),
                2 => bytes[at] = [4, 5, b'0', b'.', b'\r', b'\n', 0xff, 0][self.below(8)],
                _ => bytes[at] = new,
            }
        }
        bytes
    }
}

#[test]
fn file_from_a_random_ftp_server_has_the_bytes_of_its_data_connection() {
    check_seeds("ftp_exchange", super::ftp::check);
}

#[test]
fn item_from_a_random_gopher_server_is_what_was_sent() {
    check_seeds("gopher_exchange", super::gopher::check);
}

#[test]
fn body_from_a_random_http_server_is_what_a_second_reader_finds() {
    check_seeds("http_exchange", super::http::check);
}

#[test]
fn article_from_a_random_news_server_was_sent_as_a_complete_block() {
    check_seeds("nntp_exchange", super::nntp::check);
}

#[test]
fn document_from_a_random_wais_server_consists_of_sent_bytes() {
    check_seeds("wais_exchange", super::wais::check);
}
