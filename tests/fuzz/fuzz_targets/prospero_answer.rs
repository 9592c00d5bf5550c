//! Any octets as the answer of a Prospero server, and any datagrams: see the body, which the random test shares.
#![no_main]

#[path = "../../../crates/proto/tests/prospero_body/mod.rs"]
mod prospero_body;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| prospero_body::check(data));
