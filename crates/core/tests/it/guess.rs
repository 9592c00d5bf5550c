//! Guesses for text without a known scheme.

use fetch_url_core::{Guess, ParseErrorKind, Url, guess, parse};
use proptest::prelude::*;

#[test]
fn host_without_a_scheme_is_http_or_ftp() {
    for (text, url) in [
        ("example.com", "http://example.com"),
        ("example.com/x?y#z", "http://example.com/x?y#z"),
        ("www.example.com", "http://www.example.com"),
        ("localhost:8080/x", "http://localhost:8080/x"),
        ("localhost:8080", "http://localhost:8080"),
        ("127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
        ("[::1]:8080/x", "http://[::1]:8080/x"),
        ("ftp.example.org/pub/", "ftp://ftp.example.org/pub/"),
        ("FTP.example.org:2121", "ftp://FTP.example.org:2121"),
        ("me@ftp.example.org/pub/", "ftp://me@ftp.example.org/pub/"),
        ("user:pw@example.com/x", "http://user:pw@example.com/x"),
        ("first.last:p:w@[::1]:80?x@y", "http://first.last:p:w@[::1]:80?x@y"),
        ("user:@ftp.example.org", "ftp://user:@ftp.example.org"),
        ("ftp", "http://ftp"),
        ("a/b:c", "http://a/b:c"),
    ] {
        let guessed = guess(text).and_then(|guess| guess.url(text));
        assert_eq!(guessed.as_deref(), Some(url), "{text}");
        assert!(parse(url).is_ok(), "{url}");
    }
}

#[test]
fn path_is_recognised() {
    for text in ["/etc/hostname", "./x", "../x", "~/x", ".", "/"] {
        assert_eq!(guess(text), Some(Guess::Path), "{text}");
        assert_eq!(Guess::Path.url(text), None);
    }
}

#[test]
fn misspelt_scheme_is_corrected() {
    for (text, url) in [
        ("htp://h/x", "http://h/x"),
        ("ttp://h/x", "http://h/x"),
        ("htpps://h/x", "https://h/x"),
        ("HTTTP://h/x", "http://h/x"),
        ("fpt://h/x", "ftp://h/x"),
        ("gofer://h/1", "gopher://h/1"),
        ("http//h/x", "http://h/x"),
        ("https//h/x", "https://h/x"),
    ] {
        let guessed = guess(text).and_then(|guess| guess.url(text));
        assert_eq!(guessed.as_deref(), Some(url), "{text}");
    }
}

#[test]
fn nothing_is_guessed_for_urls_and_for_other_text() {
    for text in [
        "http://h/",
        "HTTP://h/",
        "news:a@b",
        "mailto:a@b",
        "telnet:23",
        "mid:80",
        "x-any:foo",
        "doi:10.1000/182",
        "sip:me@h",
        "SIP:me@h",
        "sftp:me@h",
        "NTP:me@h",
        "xmpp:me@h/x",
        "mailto:me@h?subject=x",
        "mialto:me@h",
        "mids:a@b",
        "svn+ssh:me@h/x",
        "x-any:a/b@c",
        "x-any:foo?a@b",
        "X-any:a@b",
        "user:pw@",
        "tel:5551234",
        "sftp://h/x",
        "s3://b/k",
        "ws://h/",
        "zzz://h/",
        "",
        " ",
        "a b",
        "//h/a",
        "://h/",
        ":a",
        "?a",
        "#a",
        "user@host:path",
        "h:99999/",
        "h:/x",
        "<example.com>",
        "URL:example.com",
        "http%3A//h/",
        "0x7f.1",
        "\u{e9}://u:p@h/",
        "h://",
        "a\tb",
        "h\\x",
    ] {
        assert_eq!(guess(text), None, "{text}");
    }
}

#[test]
fn parser_adds_no_scheme() {
    assert_eq!(parse("example.com/x").expect_err("no scheme").kind(), ParseErrorKind::MissingScheme);
    assert!(matches!(parse("localhost:8080/x").expect("a scheme").url, Url::Other(_)));
}

proptest! {
    #[test]
    fn guess_never_panics_and_hosts_become_urls(text in "[a-zA-Z0-9.:/@\\[\\]%#? é~-]{0,24}") {
        match guess(&text) {
            Some(guessed @ Guess::Host(scheme)) => {
                let url = guessed.url(&text).expect("a URL");
                let parsed = parse(&url).expect("a guessed URL is valid");
                prop_assert_eq!(parsed.url.scheme_name(), scheme);
                prop_assert!(parsed.url.host().is_some());
                prop_assert!(parse(&text).map_or(true, |parsed| matches!(parsed.url, Url::Other(_))));
            }
            Some(guessed @ Guess::Correction { .. }) => prop_assert!(guessed.url(&text).is_some()),
            _ => {}
        }
    }

    #[test]
    fn host_with_port_and_path_is_kept(
        host in "[a-z][a-z0-9]{0,8}(\\.[a-z]{2,5}){1,2}", port in 1_u16.., path in "(/[a-z0-9]{0,5}){0,3}",
    ) {
        let text = format!("{host}:{port}{path}");
        let url = guess(&text).and_then(|guess| guess.url(&text)).expect("a host");
        let parsed = parse(&url).expect("a guessed URL is valid").url;
        prop_assert_eq!(parsed.host().map(|host| host.to_string()), Some(host));
    }
}
