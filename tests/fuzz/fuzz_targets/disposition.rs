//! Arbitrary bytes as a Content-Disposition field and as a file name: no panic; a file name stays in its directory, has
//! only visible characters and is not a device name.
//!
//! The modules are private to their crate and are compiled here a second time.
#![no_main]
#![allow(dead_code, reason = "the engine uses the rest")]

#[path = "../../../crates/fetch/src/drivers/http/content_disposition.rs"]
mod content_disposition;
#[path = "../../../crates/fetch/src/sink/name.rs"]
mod name;
#[path = "../../../crates/fetch/src/sink/temporary_names.rs"]
mod temporary_names;

use std::path::{Component, Path};

use content_disposition::file_name;
use libfuzzer_sys::fuzz_target;
use name::safe_name;

fuzz_target!(|bytes: &[u8]| {
    let suggested = file_name(bytes);
    assert!(suggested.as_ref().is_none_or(|suggested| !suggested.is_empty()));
    let of_field = suggested.as_deref().and_then(safe_name);
    of_field.into_iter().chain(safe_name(bytes)).for_each(|name| check(&name));
});

fn check(name: &str) {
    let components: Vec<_> = Path::new(name).components().collect();
    assert_eq!(components, [Component::Normal(name.as_ref())]);
    assert!(!name.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|']), "{name:?}");
    assert!(!name.starts_with(['.', '-', '~', ' ']) && !name.ends_with(['.', ' ']), "{name:?}");
    assert!(!name.contains(char::is_control) && name.len() <= 200, "{name:?}");
    assert_eq!(fetch_url_proto::text::sanitise(name.as_bytes()), name);
    let lower = name.to_lowercase();
    assert!(
        ![".fetch-url.part", ".fetch-url.json", ".fetch-url.new"].iter().any(|ours| lower.ends_with(ours)),
        "{name:?}"
    );
    let stem = lower.split('.').next().unwrap_or_default().trim_end();
    assert!(!["con", "prn", "aux", "nul", "com1", "lpt9", "conin$", "com\u{b9}"].contains(&stem), "{name:?}");
}
