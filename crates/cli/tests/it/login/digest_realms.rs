//! Digest logins for realms with bytes that are not ASCII.

use crate::support::http_server;
use crate::support::md5::md5_hex;
use crate::support::run_fetch_url;
use fetch_url_tests::{HttpRequest, HttpResponse};

/// Returns the value of a parameter of the field Authorization, without its quotes.
fn parameter<'r>(request: &'r HttpRequest, name: &str) -> &'r [u8] {
    let field = request.header("authorization").unwrap_or_default();
    let start = [name.as_bytes(), b"="].concat();
    let parts = field.split(|&byte| byte == b',' || byte == b' ');
    let value = parts.into_iter().find_map(|part| part.strip_prefix(&start[..])).unwrap_or_default();
    value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value)
}

/// Returns `true` for a correct response (RFC 7616 §3.4.1) of user `u` with password `pw`. The realm is `unquoted`, and
/// returned as `quoted`.
fn is_authorized(request: &HttpRequest, quoted: &[u8], unquoted: &[u8]) -> bool {
    let of = |name: &str| parameter(request, name);
    let user_hash = md5_hex(&[b"u:", unquoted, b":pw"].concat());
    let request_hash = md5_hex(format!("GET:{}", request.path()).as_bytes());
    let middle = [b":", of("nonce"), b":", of("nc"), b":", of("cnonce"), b":", of("qop"), b":"].concat();
    let expected = md5_hex(&[user_hash.as_bytes(), &middle, request_hash.as_bytes()].concat());
    of("realm") == quoted && of("response") == expected.as_bytes()
}

/// RFC 7616 §3.4: the realm is returned as the server has sent it.
#[test]
fn realm_that_is_not_ascii_is_returned_and_hashed_unchanged() {
    for (quoted, unquoted) in [
        ("Geschützter-Bereich".as_bytes(), "Geschützter-Bereich".as_bytes()),
        (b"Gesch\xfctzter-Bereich", b"Gesch\xfctzter-Bereich"),
        (b"\\\"\xc3\xa9\\\"", b"\"\xc3\xa9\""),
        (b"\\\xc3\xa9", b"\xc3\xa9"),
    ] {
        let challenge =
            [b"Digest realm=\"", quoted, b"\", nonce=\"n\", qop=\"auth\", algorithm=MD5"].concat();
        let server = http_server(move |request| match is_authorized(request, quoted, unquoted) {
            true => HttpResponse::new(200).body("object"),
            false => HttpResponse::new(401).header("WWW-Authenticate", &challenge),
        });
        let result = run_fetch_url(["--digest", "-u", "u:pw", &server.url("/x")]);
        assert_eq!(result.assert_exit(0).stdout_text(), "object", "{:?}", String::from_utf8_lossy(quoted));
        assert_eq!(server.requests().len(), 2);
    }
}
