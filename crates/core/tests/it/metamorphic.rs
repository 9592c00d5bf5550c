//! Changes to a URL that keep its meaning, and characters that are rejected everywhere.

use fetch_url_core::{Dialect, ParseErrorKind, PercentEncoded, Url, charset, parse, parse_with};

const DIALECTS: [Dialect; 3] = [Dialect::Rfc1738, Dialect::Lenient, Dialect::Cern1993];

/// Valid URLs that together contain every component.
const VALID: [&str; 16] = [
    "ftp://user:pass@host.example:2121/a/b/c.txt;type=a",
    "ftp://host.example",
    "http://host.example:8080/a/b?c+d",
    "https://host.example/a",
    "gopher://host.example:7070/7/find%09words%09+",
    "gopher://host.example/",
    "mailto:user@host.example",
    "news:comp.lang.rust",
    "news:unique@host.example",
    "nntp://host.example:1119/comp.lang.rust/123",
    "telnet://user:pass@host.example:2323/",
    "wais://host.example:2100/db?words",
    "wais://host.example/db/TEXT/id",
    "file://host.example/a/b",
    "prospero://host.example:191//a/b;VERSION=3",
    "x-other:a/b",
];

#[test]
fn valid_urls_are_accepted_without_notes() {
    for url in VALID {
        assert!(parse_with(url, Dialect::Rfc1738).is_ok_and(|parsed| parsed.notes.is_empty()), "{url}");
    }
}

#[test]
fn case_of_scheme_and_host_does_not_matter() {
    for url in VALID {
        let lower = parse(url).expect("a valid URL").url;
        let (scheme, rest) = url.split_once(':').expect("a scheme");
        for scheme in [scheme.to_uppercase(), scheme[..1].to_uppercase() + &scheme[1..]] {
            let text = format!("{scheme}:{rest}");
            let upper = parse(&text).expect("the case of the scheme does not matter").url;
            assert_eq!(upper, lower);
            assert_eq!(upper.to_string(), url);
        }
        let text = url.replace("host.example", "HOST.Example");
        let is_host = !matches!(lower, Url::Mailto(_) | Url::News(_) | Url::Other(_));
        assert_eq!(
            parse(&text).expect("the case of the host does not matter").url == lower,
            is_host || text == url
        );
    }
}

#[test]
fn escaped_byte_decodes_like_the_plain_byte() {
    let decoded = |url: &Url<'_>| -> Vec<Vec<u8>> {
        match url {
            Url::Ftp(ftp) => {
                let path = ftp.path().expect("a path");
                path.cwds().chain([path.name()]).map(|part| part.decode().into_owned()).collect()
            }
            Url::Http(http) => vec![http.path().expect("a path").decode().into_owned()],
            Url::Gopher(gopher) => vec![vec![gopher.gtype()], gopher.selector().decode().into_owned()],
            Url::Wais(wais) => vec![wais.database().decode().into_owned()],
            Url::File(file) => vec![file.path().decode().into_owned()],
            Url::Prospero(prospero) => vec![prospero.hsoname().decode().into_owned()],
            Url::Mailto(mailto) => vec![mailto.address().decode().into_owned()],
            _ => Vec::new(),
        }
    };
    for start in
        ["ftp://h/", "http://h/", "gopher://h/", "wais://h/", "file://h/", "prospero://h/", "mailto:"]
    {
        for byte in (0..=0x7f_u8).filter(|&byte| charset::UCHAR.contains(byte)) {
            let plain = format!("{start}a{}z", byte as char);
            for escaped in [format!("{start}a%{byte:02X}z"), format!("{start}%61%{byte:02x}z")] {
                let (one, two) = (parse(&plain).expect("a valid URL"), parse(&escaped).expect("a valid URL"));
                assert_eq!(decoded(&one.url), decoded(&two.url), "{plain} {escaped}");
                assert_eq!(two.url.to_string(), escaped, "an escape stays as it was written");
            }
        }
    }
}

#[test]
fn every_byte_survives_encode_parse_and_decode() {
    for byte in 0..=0xff_u8 {
        let written = PercentEncoded::encode(&[byte], charset::UCHAR);
        let text = format!("http://h/{written}");
        let Url::Http(url) = parse(&text).expect("escaped").url else { panic!("http is http") };
        assert_eq!(&*url.path().expect("a path").decode(), [byte]);
    }
}

#[test]
fn control_character_is_rejected_at_any_place() {
    for url in VALID {
        for control in (0..0x20_u8).chain([0x7f]).map(char::from) {
            for at in 0..=url.len() {
                let text = format!("{}{control}{}", &url[..at], &url[at..]);
                for dialect in DIALECTS {
                    let found = parse_with(&text, dialect);
                    assert!(found.is_err(), "{text:?} {dialect:?}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn error_names_the_control_character_if_nothing_else_is_wrong() {
    for url in VALID {
        for at in 0..=url.len() {
            let text = format!("{}\n{}", &url[..at], &url[at..]);
            let error = parse_with(&text, Dialect::Rfc1738).expect_err("refused");
            if &url[at - usize::from(at > 0)..(at + 1).min(url.len())] == "//" {
                continue; // Between the two slashes it hides the "//" after the scheme.
            }
            if url.find(";type=").is_some_and(|semicolon| at > semicolon) {
                continue; // An invalid typecode is reported before its bytes are checked.
            }
            assert_eq!(
                (error.kind(), error.span()),
                (ParseErrorKind::ControlCharacter, at..at + 1),
                "{text:?}"
            );
        }
    }
}

#[test]
fn space_and_backslash_are_rejected_at_any_place() {
    for url in VALID {
        for at in 0..=url.len() {
            for never in [' ', '\\'] {
                let text = format!("{}{never}{}", &url[..at], &url[at..]);
                for dialect in DIALECTS {
                    assert!(parse_with(&text, dialect).is_err(), "{text:?} {dialect:?}");
                }
            }
        }
    }
}

#[test]
fn url_of_64_kib_is_accepted_and_a_longer_one_rejected() {
    let start = "http://h/";
    let longest = format!("{start}{}", "a".repeat(fetch_url_core::MAX_LENGTH - start.len()));
    assert_eq!(longest.len(), 64 * 1024);
    for dialect in DIALECTS {
        assert!(parse_with(&longest, dialect).is_ok());
        let error = parse_with(&(longest.clone() + "a"), dialect).expect_err("too long");
        assert_eq!(error.kind(), ParseErrorKind::TooLong);
    }
}

#[test]
fn empty_component_differs_from_missing_component() {
    let different = [
        ["ftp://h/", "ftp://@h/"],
        ["ftp://u@h/", "ftp://u:@h/"],
        ["ftp://h", "ftp://h/"],
        ["ftp://h/a", "ftp://h/a/"],
        ["http://h/", "http://h/?"],
        ["gopher://h/7", "gopher://h/7%09"],
        ["gopher://h/7%09", "gopher://h/7%09%09"],
        ["wais://h/db", "wais://h/db?"],
        ["prospero://h/a", "prospero://h/a;="],
        ["file:///a", "file://localhost/a"],
    ];
    for [one, two] in different {
        assert_ne!(parse(one).expect("a valid URL").url, parse(two).expect("a valid URL").url, "{one} {two}");
    }
}

#[test]
fn label_and_wrapper_do_not_change_the_url() {
    for url in VALID {
        let bare = parse(url).expect("a valid URL").url;
        for text in [format!("URL:{url}"), format!("<{url}>"), format!("<URL:{url}>"), format!("<url:{url}>")]
        {
            let wrapped = parse(&text).expect("the appendix allows it");
            assert_eq!(wrapped.url, bare);
            assert!(!wrapped.notes.is_empty());
        }
    }
}
