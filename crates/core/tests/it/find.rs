//! [`find_urls`]: URLs in prose (RFC 1738 appendix).

use fetch_url_core::{find_urls, parse};
use proptest::prelude::*;

fn texts(prose: &str) -> Vec<String> {
    find_urls(prose).map(|found| found.text().to_owned()).collect()
}

#[test]
fn paragraph_of_the_appendix_gives_three_urls() {
    let prose = "\
Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;
type=d> but you can probably pick it up from <URL:ftp://ds.in
ternic.net/rfc>.  Note the warning in <URL:http://ds.internic.
net/instructions/overview.html#WARNING>.";
    let expected = [
        "ftp://info.cern.ch/pub/www/doc;type=d",
        "ftp://ds.internic.net/rfc",
        "http://ds.internic.net/instructions/overview.html#WARNING",
    ];
    assert_eq!(texts(prose), expected);
    assert_eq!(texts(&prose.replace('\n', "\r\n    ")), expected);
    let found: Vec<_> = find_urls(prose).collect();
    assert!(found.iter().all(|found| found.alternative().is_none()));
    assert!(
        found
            .iter()
            .all(|found| prose[found.span()].starts_with("<URL:") && prose[found.span()].ends_with('>'))
    );
    assert_eq!(found[2].parse().expect("a URL").fragment, Some("WARNING"));
}

#[test]
fn hyphen_at_line_end_gives_an_alternative() {
    let found: Vec<_> = find_urls("<URL:ftp://ds.in-\n   ternic.net/rfc>").collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].text(), "ftp://ds.in-ternic.net/rfc");
    assert_eq!(found[0].alternative(), Some("ftp://ds.internic.net/rfc"));
}

#[test]
fn punctuation_and_unbalanced_brackets_are_trimmed() {
    for (prose, url) in [
        ("See http://h/a, please.", "http://h/a"),
        ("See http://h/a; then", "http://h/a"),
        ("Is it http://h/a?", "http://h/a"),
        ("It is http://h/a!", "http://h/a"),
        ("(see http://h/a)", "http://h/a"),
        ("(see http://h/a_(b))", "http://h/a_(b)"),
        ("[ftp://h/a]", "ftp://h/a"),
        ("'gopher://h/0a'", "gopher://h/0a"),
        ("\"wais://h/db\"", "wais://h/db"),
        ("http://h/a...", "http://h/a"),
        ("<http://h/a>", "http://h/a"),
        ("a,http://h/a?b=c,d", "http://h/a?b=c,d"),
        ("see URL:http://h/a now", "http://h/a"),
        ("write to mailto:a@b.example.", "mailto:a@b.example"),
        ("read news:comp.lang.c, or", "news:comp.lang.c"),
        ("telnet://h/\n", "telnet://h/"),
        ("http://h/a\u{a0}b", "http://h/a"),
        ("ü http://h/é.", "http://h/é"),
    ] {
        assert_eq!(texts(prose), [url], "{prose:?}");
    }
}

#[test]
fn text_without_a_url_gives_none() {
    for prose in ["", ":", "<", "<URL:>", "<URL:>>", "a:b", "x < y > z", "http:", "http://", "1://2", "C:\\x"]
    {
        assert_eq!(texts(prose), Vec::<String>::new(), "{prose:?}");
    }
}

#[test]
fn several_urls_are_returned_in_text_order() {
    let prose = "http://a/ <URL:http://b/> (http://c/) <news:d> http://e/<http://f/>";
    assert_eq!(texts(prose), ["http://a/", "http://b/", "http://c/", "news:d", "http://e/", "http://f/"]);
}

fn prose() -> BoxedStrategy<String> {
    let pieces = [
        "<URL:",
        "<url:",
        "<",
        ">",
        "http://h/a",
        "ftp://u:p@h/",
        "://",
        ":",
        "-\n",
        "\n  ",
        " ",
        "news:a",
        "mailto:",
        "é",
        "(",
        ")",
        ".",
        "#x",
        "%41",
        "%",
        "\u{1f600}",
        "]",
        "[::1]",
        "x",
        "-",
    ];
    let piece = prop_oneof![4 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat()).boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn found_text_parses_and_its_span_is_in_the_prose(prose in prose()) {
        let mut end = 0;
        for found in find_urls(&prose) {
            let span = found.span();
            prop_assert!(end <= span.start && span.start < span.end);
            prop_assert!(prose.get(span.clone()).is_some(), "{:?}", span);
            end = span.end;
            prop_assert!(parse(found.text()).is_ok(), "{:?}", found.text());
            prop_assert!(found.alternative() != Some(found.text()));
        }
    }

    #[test]
    fn wrapped_url_is_found_with_a_line_break_at_any_place(at in 1_usize..30) {
        let url = "ftp://ds.internic.net/rfc/1738";
        let prose = format!("see <URL:{}\n   {}> there", &url[..at], &url[at..]);
        prop_assert_eq!(texts(&prose), [url]);
    }
}
