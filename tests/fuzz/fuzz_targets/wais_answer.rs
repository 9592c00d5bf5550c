//! Arbitrary bytes as the answers of a WAIS server: see `fuzz_body.rs`, which the random test shares.
#![no_main]

#[path = "../../../crates/proto/tests/it/wais/fuzz_body.rs"]
mod wais_body;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| wais_body::check(data));
