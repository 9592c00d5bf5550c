//! Arbitrary Set-Cookie lines and cookie files: no panic; no host gets a cookie of another host; a Cookie field has no
//! control bytes; and a written jar is read back unchanged.
//!
//! The modules are private to their crate and are compiled here a second time.
#![no_main]
#![allow(dead_code, reason = "the driver uses the rest")]

#[path = "../../../crates/fetch/src/credentials"]
mod credentials {
    pub(crate) mod secret;
}
#[path = "../../../crates/fetch/src/drivers/http"]
mod http {
    pub(crate) mod cookie_store;
}

use http::cookie_store::CookieStore;
use libfuzzer_sys::fuzz_target;

const NOW: i64 = 1_800_000_000;
const PLACES: [(&str, &str); 4] =
    [("h.example", "/a/b"), ("127.0.0.1", "/"), ("[::1]", "/a/b/c?d/e"), ("H.Example.", "/a")];

fuzz_target!(|data: &[u8]| {
    let mut store = CookieStore::default();
    for (line, field) in data.split(|&byte| byte == b'\n').enumerate() {
        store_line(&mut store, field, NOW + i64::try_from(line).expect("few lines"));
    }
    check_written(&store);
    let read = CookieStore::from_file(data, NOW).expect("a small file");
    check_written(&read.store);
});

/// The first byte selects the URL of the response.
fn store_line(store: &mut CookieStore, line: &[u8], now: i64) {
    let Some((&first, field)) = line.split_first() else { return };
    let (host, path) = PLACES[usize::from(first >> 1) % PLACES.len()];
    store.store_cookie(host, path, first & 1 == 1, field, now);
    for (is_tls, now) in [(true, now), (false, now), (true, i64::MAX)] {
        let field = store.cookie_header(host, path, is_tls, now).unwrap_or_default();
        assert!(field.len() <= 8190 && !field.iter().any(u8::is_ascii_control));
    }
    for stranger in ["example", "other.example", "0.0.1", "1", ""] {
        assert!(store.cookie_header(stranger, path, true, NOW).is_none());
    }
}

fn check_written(store: &CookieStore) {
    let file = store.to_netscape();
    let again = CookieStore::from_file(&file, NOW).expect("a small file");
    assert!(again.store == *store, "{store:?} became {:?}", again.store);
    assert_eq!((again.skipped, again.narrowed_to_host), (0, 0));
    assert_eq!(again.store.to_netscape(), file);
}
