//! Arbitrary bytes as what a server does on its gopher connections: see `exchange/gopher.rs`, which the random test shares.
#![no_main]
#![allow(dead_code, reason = "the other protocols")]

#[path = "../../../crates/fetch/tests/it/exchange/mod.rs"]
mod exchange;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    exchange::gopher::check(data);
});
