//! A password is in what [`Url`] prints for the machine, and in nothing else.

use fetch_url_core::{Url, mask_password, parse};

/// A word that stands nowhere in the code.
const CANARY: &str = "c4n4ry";

/// URLs whose password holds the canary: plain, with reserved characters, escaped, leniently read.
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
        // In http a "?" ends the host (§3.3): such a password cannot be written there.
        for password in passwords.iter().filter(|word| !(start.starts_with("http") && word.contains('?'))) {
            urls.extend(ends.iter().map(|end| format!("{start}{password}{end}")));
        }
    }
    urls
}

fn hidden_in(what: &str, text: &str, url: &str) {
    assert!(!text.contains(CANARY), "the password of {url} stands in {what}: {text}");
}

fn check(url: &str) {
    let parsed = parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
    let redacted = parsed.url.redacted().to_string();
    hidden_in("redacted()", &redacted, url);
    hidden_in("parts()", &format!("{:?}", parsed.url.parts()), url);
    hidden_in("its notes", &format!("{:?}", parsed.notes), url);
    if !matches!(parsed.url, Url::Other(_)) {
        hidden_in("Debug", &format!("{:?} {:#?}", parsed.url, parsed.url), url);
        hidden_in("Debug of Parsed", &format!("{parsed:?}"), url);
        assert!(redacted.contains("***@h"), "{redacted}");
        assert!(parse(&redacted).is_ok(), "{redacted}");
    }
    assert!(parsed.url.to_string().contains(CANARY), "{url} lost its password");
    hidden_in("mask_password()", &mask_password(url), url);
    let owned = parsed.into_owned();
    hidden_in("redacted() of the owned URL", &owned.url.redacted().to_string(), url);
}

#[test]
fn a_password_shows_nowhere() {
    let urls = urls();
    assert!(urls.len() > 100);
    urls.iter().for_each(|url| check(url));
}

#[test]
fn the_password_of_an_unknown_scheme_shows_not_even_in_debug() {
    let url = format!("x-any://u:{CANARY}@h/");
    hidden_in("Debug", &format!("{:?}", parse(&url).expect("a URL")), &url);
}

#[test]
fn an_error_says_nothing_of_the_password() {
    for text in [
        format!("ftp://u:{CANARY} @h/"),
        format!("ftp://u:{CANARY}@h:99999/"),
        format!("ftp://u:{CANARY}@0x7f.1/"),
        format!("ftp://u:{CANARY}@x@h/"),
        format!("gopher://u:{CANARY}@h/"),
        format!("http://u:{CANARY}\n@h/"),
    ] {
        let error = parse(&text).expect_err("refused");
        hidden_in("the error", &format!("{error} {error:?}"), &text);
        hidden_in("mask_password()", &mask_password(&text), &text);
    }
}

#[test]
fn an_empty_password_is_shown_as_one_all_the_same() {
    let parsed = parse("ftp://foo:@host.com/").expect("RFC 1738 §3.1 has it");
    assert_eq!(parsed.url.redacted().to_string(), "ftp://foo:***@host.com/");
}
