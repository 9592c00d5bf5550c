//! Arbitrary bytes as a netrc file: no panic; a result is of the requested user, is a part of the file, and does not
//! depend on entries of other machines.
//!
//! The modules are private to their crate and are compiled here a second time.
#![no_main]
#![allow(dead_code, reason = "the engine uses the rest")]

#[path = "../../../crates/fetch/src/ascii_host.rs"]
mod ascii_host;
#[path = "../../../crates/fetch/src/credentials"]
mod credentials {
    pub(crate) mod netrc;
    pub(crate) mod secret;
}

use credentials::netrc::{Netrc, NetrcEntry};
use libfuzzer_sys::fuzz_target;

const HOSTS: [&str; 5] = ["h", "example.com", "b.example", "[::1]", ""];
const USERS: [Option<&[u8]>; 4] = [None, Some(b"u"), Some(b"user"), Some(b"")];

fuzz_target!(|file: &[u8]| {
    let Ok(netrc) = Netrc::parse(file) else { return };
    let longer = [file, b"\n\nmachine other.example login other password \"a canary\"\n"].concat();
    let longer = Netrc::parse(&longer).ok();
    for host in HOSTS {
        for (user, allow_default) in USERS.into_iter().flat_map(|user| [(user, false), (user, true)]) {
            let found = netrc.find(host, user, allow_default);
            found.iter().for_each(|entry| check(file, host, user, entry));
            if let Some(longer) = &longer {
                let again = longer.find(host, user, allow_default);
                assert_eq!(found.map(bytes), again.map(bytes), "another machine's entry counts");
            }
        }
    }
    assert!(netrc.find("not-in-any-file.example", None, false).is_none());
});

fn check(file: &[u8], host: &str, user: Option<&[u8]>, entry: &NetrcEntry<'_>) {
    assert!(!host.is_empty() || file.windows(7).any(|word| word.eq_ignore_ascii_case(b"default")));
    assert!(user.is_none_or(|user| entry.login == Some(user)));
    assert!(entry.login.is_some() || entry.password.is_some());
    // Only an escape sequence can make a value that is not a part of the file.
    let stands = |value: &[u8]| value.is_empty() || file.windows(value.len()).any(|part| part == value);
    for value in bytes(*entry).into_iter().flatten().filter(|_| !file.contains(&b'\\')) {
        assert!(stands(value));
    }
}

fn bytes(entry: NetrcEntry<'_>) -> [Option<&[u8]>; 3] {
    [entry.login, entry.password.map(|secret| secret.expose()), entry.account.map(|secret| secret.expose())]
}
