//! [`fetch_url_core::Url::same_origin`]: scheme, host and effective port.

use fetch_url_core::parse;

fn same_origin(one: &str, other: &str) -> bool {
    let parsed = |text| parse(text).expect("a URL").url.into_owned();
    let same = parsed(one).same_origin(&parsed(other));
    assert_eq!(same, parsed(other).same_origin(&parsed(one)), "{one} {other}");
    same
}

#[test]
fn same_origin_ignores_host_case_default_port_user_and_path() {
    for (one, other) in [
        ("http://h.example/a", "http://h.example/b?c"),
        ("http://H.Example/", "http://h.example./"),
        ("http://h/", "http://h:80/"),
        ("ftp://u:p@h/", "ftp://h:21/a"),
        ("gopher://h/1", "GOPHER://h:70/0"),
        ("news://h/a@b", "news://h:119/c.d"),
        ("http://[::1]/", "http://[0:0::1]/"),
        ("x-any://u@H/a", "x-any://h/b"),
        ("file:///a", "file:///b"),
        ("mailto:a@b.c", "mailto:d@e.f"),
    ] {
        assert!(same_origin(one, other), "{one} {other}");
    }
}

#[test]
fn same_origin_differs_by_scheme_host_or_port() {
    for (one, other) in [
        ("http://h/", "https://h/"),
        ("http://h/", "https://h:80/"),
        ("http://h/", "http://h:8080/"),
        ("http://h/", "http://g/"),
        ("gopher://h/", "gophers://h/"),
        ("http://127.0.0.1/", "http://localhost/"),
        ("http://127.0.0.1/", "http://[::1]/"),
        ("file:///a", "file://h/a"),
        ("news:a.b", "news://h/a.b"),
        ("x-one://h/", "x-two://h/"),
    ] {
        assert!(!same_origin(one, other), "{one} {other}");
    }
}
