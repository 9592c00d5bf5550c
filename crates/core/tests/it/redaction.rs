//! Passwords: only Display of [`Url`] prints them.

use fetch_url_core::{Url, mask_password, parse};

/// A password that occurs nowhere else in the output.
const CANARY: &str = "c4n4ry";

/// Returns URLs whose password contains the canary: plain, with reserved characters, escaped, and irregular.
fn urls() -> Vec<String> {
    let passwords = [
        CANARY.to_owned(),
        format!("{CANARY};?&="),
        format!("a%40{CANARY}"),
        format!("a:{CANARY}"),
        format!("{CANARY}é"),
    ];
    let starts = [
        "ftp://u:",
        "ftps://u:",
        "ftp://:",
        "telnet://u:",
        "http://u:",
        "https://u:",
        "http://:",
        "x-any://u:",
        "nfs://u:",
        "tn3270://u:",
    ];
    let ends = ["@h/", "@h:81", "@h"];
    let mut urls = Vec::new();
    for start in starts {
        // In HTTP a "?" ends the authority (§3.3), so the password cannot contain it.
        for password in passwords.iter().filter(|word| !(start.starts_with("http") && word.contains('?'))) {
            urls.extend(ends.iter().map(|end| format!("{start}{password}{end}")));
        }
    }
    urls
}

fn assert_hidden(what: &str, text: &str, url: &str) {
    assert!(!text.contains(CANARY), "{what} of {url} contains the password: {text}");
}

fn check(url: &str) {
    let parsed = parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
    let redacted = parsed.url.redacted().to_string();
    assert_hidden("redacted()", &redacted, url);
    assert_hidden("components()", &format!("{:?}", parsed.url.components()), url);
    assert_hidden("the notes", &format!("{:?}", parsed.notes), url);
    if !matches!(parsed.url, Url::Other(_)) {
        assert_hidden("Debug", &format!("{:?} {:#?}", parsed.url, parsed.url), url);
        assert_hidden("Debug of Parsed", &format!("{parsed:?}"), url);
        assert!(redacted.contains("***@h"), "{redacted}");
        assert!(parse(&redacted).is_ok(), "{redacted}");
    }
    assert!(parsed.url.to_string().contains(CANARY), "{url} lost its password");
    assert_hidden("mask_password()", &mask_password(url), url);
    let owned = parsed.into_owned();
    assert_hidden("redacted() of the owned URL", &owned.url.redacted().to_string(), url);
}

#[test]
fn password_is_printed_only_by_display() {
    let urls = urls();
    assert!(urls.len() > 100);
    urls.iter().for_each(|url| check(url));
}

#[test]
fn debug_of_an_unknown_scheme_masks_the_password() {
    let url = format!("x-any://u:{CANARY}@h/");
    assert_hidden("Debug", &format!("{:?}", parse(&url).expect("a URL")), &url);
}

#[test]
fn error_does_not_contain_the_password() {
    for text in [
        format!("ftp://u:{CANARY} @h/"),
        format!("ftp://u:{CANARY}@h:99999/"),
        format!("ftp://u:{CANARY}@0x7f.1/"),
        format!("ftp://u:{CANARY}@x@h/"),
        format!("gopher://u:{CANARY}@h/"),
        format!("http://u:{CANARY}\n@h/"),
    ] {
        let error = parse(&text).expect_err("refused");
        assert_hidden("the error", &format!("{error} {error:?}"), &text);
        assert_hidden("mask_password()", &mask_password(&text), &text);
    }
}

#[test]
fn empty_password_is_masked_like_any_other() {
    let parsed = parse("ftp://foo:@host.com/").expect("an example of RFC 1738 §3.1");
    assert_eq!(parsed.url.redacted().to_string(), "ftp://foo:***@host.com/");
}
