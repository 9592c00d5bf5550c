//! Arbitrary bytes as the answer of a Prospero server, and arbitrary datagrams: see `fuzz_body.rs`, which the random
//! test shares.
#![no_main]

#[path = "../../../crates/proto/tests/it/prospero/fuzz_body.rs"]
mod prospero_body;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| prospero_body::check(data));
