//! What must not change when a URL is written otherwise, and what must always be refused.

use fetch_url_core::{Dialect, Escaped, ParseErrorKind, Url, charset, parse, parse_with};

const DIALECTS: [Dialect; 3] = [Dialect::Rfc1738, Dialect::Lenient, Dialect::Cern1993];

/// One good URL of every kind of part.
const GOOD: [&str; 16] = [
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
fn good_urls_are_good() {
    for url in GOOD {
        assert!(parse_with(url, Dialect::Rfc1738).is_ok_and(|parsed| parsed.notes.is_empty()), "{url}");
    }
}

#[test]
fn the_case_of_scheme_and_host_says_nothing() {
    for url in GOOD {
        let lower = parse(url).expect("good").url;
        let (scheme, rest) = url.split_once(':').expect("a scheme");
        for scheme in [scheme.to_uppercase(), scheme[..1].to_uppercase() + &scheme[1..]] {
            let text = format!("{scheme}:{rest}");
            let upper = parse(&text).expect("the scheme's case says nothing").url;
            assert_eq!(upper, lower);
            assert_eq!(upper.to_string(), url);
        }
        let text = url.replace("host.example", "HOST.Example");
        let is_host = !matches!(lower, Url::Mailto(_) | Url::News(_) | Url::Other(_));
        assert_eq!(parse(&text).expect("the host's case says nothing").url == lower, is_host || text == url);
    }
}

#[test]
fn an_octet_written_as_an_escape_decodes_alike() {
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
        for octet in (0..=0x7f_u8).filter(|&octet| charset::UCHAR.contains(octet)) {
            let plain = format!("{start}a{}z", octet as char);
            for escaped in [format!("{start}a%{octet:02X}z"), format!("{start}%61%{octet:02x}z")] {
                let (one, two) = (parse(&plain).expect("legal"), parse(&escaped).expect("legal"));
                assert_eq!(decoded(&one.url), decoded(&two.url), "{plain} {escaped}");
                assert_eq!(two.url.to_string(), escaped, "an escape stays as it was written");
            }
        }
    }
}

#[test]
fn every_octet_comes_back_from_one_decoding() {
    for octet in 0..=0xff_u8 {
        let written = Escaped::encode(&[octet], charset::UCHAR);
        let text = format!("http://h/{written}");
        let Url::Http(url) = parse(&text).expect("escaped").url else { panic!("http is http") };
        assert_eq!(&*url.path().expect("a path").decode(), [octet]);
    }
}

#[test]
fn a_control_octet_is_refused_wherever_it_stands() {
    for url in GOOD {
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
fn a_control_octet_is_called_one_when_nothing_else_is_wrong() {
    for url in GOOD {
        for at in 0..=url.len() {
            let text = format!("{}\n{}", &url[..at], &url[at..]);
            let error = parse_with(&text, Dialect::Rfc1738).expect_err("refused");
            if &url[at - usize::from(at > 0)..(at + 1).min(url.len())] == "//" {
                continue; // What stands between two slashes leaves none behind the scheme.
            }
            if url.find(";type=").is_some_and(|semicolon| at > semicolon) {
                continue; // A broken typecode is refused before its octets are looked at.
            }
            assert_eq!((error.kind(), error.span()), (ParseErrorKind::ControlOctet, at..at + 1), "{text:?}");
        }
    }
}

#[test]
fn a_space_or_a_backslash_is_refused_wherever_it_stands() {
    for url in GOOD {
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
fn a_url_of_64_kib_is_read_and_a_longer_one_refused() {
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
fn empty_is_not_absent() {
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
        assert_ne!(parse(one).expect("good").url, parse(two).expect("good").url, "{one} {two}");
    }
}

#[test]
fn what_the_label_and_the_wrapper_hold_is_the_same_url() {
    for url in GOOD {
        let bare = parse(url).expect("good").url;
        for text in [format!("URL:{url}"), format!("<{url}>"), format!("<URL:{url}>"), format!("<url:{url}>")]
        {
            let wrapped = parse(&text).expect("the appendix says so");
            assert_eq!(wrapped.url, bare);
            assert!(!wrapped.notes.is_empty());
        }
    }
}
