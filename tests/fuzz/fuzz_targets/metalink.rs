//! Arbitrary bytes as a Metalink document: no panic, and the limits of a document hold.
#![no_main]

use fetch_url_proto::metalink::{MAX_SIZE, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(files) = parse(data) else { return };
    assert!(data.len() <= MAX_SIZE && !files.is_empty() && files.len() <= 10_000);
    for file in files {
        assert!(!file.name.is_empty() && !file.urls.is_empty() && file.urls.len() <= 100, "{file:?}");
        assert!(file.hashes.len() <= 16, "{file:?}");
    }
});
