//! Arbitrary bytes of a client of `fetch-url serve`: no panic; a head ends at one place; the head that hyper gets instead
//! has no byte of the client and no body; a target in the log is one word.
//!
//! The modules are private to their crate and are compiled here a second time.
#![no_main]
#![allow(dead_code, reason = "the server uses the rest")]

#[path = "../../../crates/serve/src/access.rs"]
mod access;
#[path = "../../../crates/serve/src/conditions.rs"]
mod conditions;
#[path = "../../../crates/serve/src/link.rs"]
mod link;
#[path = "../../../crates/serve/src/request_head.rs"]
mod request_head;
#[path = "../../../crates/serve/src/request_target.rs"]
mod request_target;

use libfuzzer_sys::fuzz_target;
use request_head::RequestHead;
use request_target::{RequestTarget, target_for_log};

fuzz_target!(|bytes: &[u8]| {
    let Ok(Some((head, length))) = RequestHead::parse(bytes) else { return };
    assert!(length <= bytes.len());
    assert_eq!(RequestHead::parse(&bytes[..length]), Ok(Some((head.clone(), length))));
    assert!(!matches!(RequestHead::parse(&bytes[..length - 1]), Ok(Some(_))));
    check_canonical(&head);
    let shown = target_for_log(&head.target);
    assert!(!shown.contains(['"', ' ']) && !shown.contains(char::is_control), "{shown:?}");
    if let Ok(RequestTarget::Object(requested)) = RequestTarget::from_head(&head) {
        assert!(head.target.contains(&requested.text));
    }
    let local = "127.0.0.1:1738".parse().expect("an address");
    let _ = access::is_of_another_site(&head, local, &[]);
    let _ = (conditions::wanted_range(&head), conditions::modified_since(&head));
    let _ = conditions::matches_etag(&head, "\"a\"");
});

fn check_canonical(head: &RequestHead) {
    let canonical = head.canonical();
    let mut fields = [httparse::EMPTY_HEADER; 4];
    let mut request = httparse::Request::new(&mut fields);
    let parsed = request.parse(&canonical).expect("a valid head");
    assert_eq!(parsed, httparse::Status::Complete(canonical.len()));
    assert!(matches!(request.method, Some("GET" | "HEAD" | "CONNECT")));
    assert!(matches!(request.path, Some("/" | "tunnel.invalid:1")));
    assert!(request.headers.iter().all(|field| ["host", "connection"].contains(&field.name)));
}
