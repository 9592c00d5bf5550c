//! The standard traits of [`Url`]: parsing, equality, order and hash.

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};

use fetch_url_core::{Dialect, ParseErrorKind, Url, parse, parse_with};

fn url(text: &str) -> Url<'static> {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn from_str_and_try_from_return_the_lenient_url_without_fragment() {
    let expected = parse("HTTP://h/~a#b").expect("a URL").url;
    assert_eq!("HTTP://h/~a#b".parse::<Url<'static>>().as_ref(), Ok(&expected));
    assert_eq!(Url::try_from("HTTP://h/~a#b").as_ref(), Ok(&expected));
    assert_eq!(expected.to_string(), "http://h/~a");
}

#[test]
fn from_str_returns_the_error_of_parse() {
    let error = "http://h/a b".parse::<Url<'static>>().expect_err("a space");
    assert_eq!((error.kind(), error.span()), (ParseErrorKind::Space, 10..11));
    assert_eq!(Url::try_from("http://h/a b"), Err(error));
}

#[test]
fn order_is_the_order_of_the_texts_with_the_host_in_lower_case() {
    let sorted = [
        "ftp://a@b/",
        "ftp://B/",
        "ftp://u:p@A/",
        "http://B./a",
        "http://b/b",
        "http://C",
        "http://C/",
        "http://c:80/",
        "mailto:B@c",
        "mailto:b@c",
    ];
    let mut urls: Vec<_> = sorted.iter().rev().map(|text| url(text)).collect();
    urls.sort();
    let texts: Vec<_> = urls.iter().map(ToString::to_string).collect();
    assert_eq!(texts, sorted);
}

#[test]
fn urls_that_differ_only_in_host_case_or_final_dot_are_one_set_element() {
    for [one, other] in [
        ["http://H.Example:80/A", "http://h.example:80/A"],
        ["ftp://u?x:p?y@H/", "ftp://u?x:p?y@h./"],
        ["news://H./a@b", "news://h/a@b"],
        ["file://H/a", "file://h./a"],
        ["http://h./?a", "http://H/?a"],
    ] {
        let urls = [url(one), url(other)];
        assert_eq!(urls.iter().collect::<HashSet<_>>().len(), 1, "{one} {other}");
        assert_eq!(urls.iter().collect::<BTreeSet<_>>().len(), 1, "{one} {other}");
    }
}

#[test]
fn server_in_a_news_url_differs_from_a_message_id_with_the_same_text() {
    let [strict, lenient] = [Dialect::Rfc1738, Dialect::Lenient]
        .map(|dialect| parse_with("news://h/a@b", dialect).expect("a URL").url);
    assert_eq!(strict.to_string(), lenient.to_string());
    assert_ne!(strict, lenient);
    assert!(strict < lenient);
    assert!(lenient > strict);
}

#[test]
fn equality_order_and_hash_agree_for_every_url_of_the_tables() {
    let state = RandomState::new();
    let rows = crate::rows::rows();
    let mut urls = Vec::new();
    for row in &rows {
        urls.extend(row.dialects.iter().filter_map(|&dialect| Some(parse_with(&row.url, dialect).ok()?.url)));
    }
    urls.sort();
    assert!(urls.len() > 1000);
    for pair in urls.windows(2) {
        let [one, other] = pair else { unreachable!() };
        assert!(one <= other);
        assert_eq!(one == other, one.cmp(other).is_eq(), "{one} {other}");
        if one == other {
            assert_eq!(state.hash_one(one), state.hash_one(other), "{one} {other}");
        }
    }
}
