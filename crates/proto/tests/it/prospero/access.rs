//! Access methods and their URLs: one row for each form that servers send.

use crate::prospero::transcript::{format_access, object, play};
use fetch_url_core::{Url, parse};
use fetch_url_proto::gopher::GopherRequest;
use fetch_url_proto::prospero::{
    AttributesQuery, AttributesResult, ObjectId, ObjectName, Query, ResolvedAccess,
};

/// Returns a token between apostrophes.
fn quoted(bytes: &[u8]) -> Vec<u8> {
    let inside = bytes.split(|&byte| byte == b'\'').collect::<Vec<_>>().join(&b"''"[..]);
    [b"'", &inside[..], b"'"].concat()
}

/// Returns the resolved access method of these tokens, for the object `/own` of `own.test(2525)`, or `None` if they are
/// not an access method.
fn resolve_tokens(tokens: &[&[u8]]) -> Option<ResolvedAccess> {
    let tokens: Vec<_> = tokens.iter().map(|token| quoted(token)).collect();
    let text = [b"ATTRIBUTE OBJECT FIELD ACCESS-METHOD ", &tokens.join(&b' ')[..], b"\n"].concat();
    let query = AttributesQuery::new(&Query::AccessMethods, &object(b"/own"));
    let (words, query) = play(query, &text, &|_| false);
    assert_eq!(words, ["done"]);
    let AttributesResult::Metadata(metadata) = query.into_result() else { panic!("{text:?}") };
    let own = ObjectName::new("own.test(2525)", "/own", "0");
    metadata.methods(&own).first().map(|method| method.resolve())
}

/// Returns the resolved access for a row: the method, `host`, `name` and additional arguments.
fn of(method: &str, host: &str, name: &[u8], extra: &[&str]) -> String {
    let mut tokens: Vec<&[u8]> = vec![method.as_bytes(), b"INTERNET-D", host.as_bytes(), b"ASCII", name];
    tokens.extend(extra.iter().map(|extra| extra.as_bytes()));
    resolve_tokens(&tokens).map_or("none".to_owned(), |found| format_access(&found))
}

#[track_caller]
fn check(method: &str, host: &str, name: &str, extra: &[&str], expected: &str) {
    assert_eq!(of(method, host, name.as_bytes(), extra), expected, "{method} {host} {name} {extra:?}");
}

#[test]
fn aftp_method_gives_an_ftp_url() {
    let f =
        |host: &str, name: &str, extra: &[&str], expected: &str| check("AFTP", host, name, extra, expected);
    f("f.test", "/pub/a.txt", &["BINARY"], "ftp://f.test/pub/a.txt;type=i");
    f("f.test", "/pub/a.txt", &["TEXT"], "ftp://f.test/pub/a.txt;type=a");
    f("f.test", "/pub/a.txt", &["text"], "ftp://f.test/pub/a.txt;type=a");
    f("f.test", "/pub/a.txt", &[], "ftp://f.test/pub/a.txt");
    f("f.test", "/pub/a.txt", &[""], "ftp://f.test/pub/a.txt");
    f("f.test", "pub/a.txt", &["BINARY"], "ftp://f.test/pub/a.txt;type=i");
    f("f.test(2121)", "/a", &["BINARY"], "ftp://f.test:2121/a;type=i");
    f("1.2.3.4(2121)", "/a", &[], "ftp://1.2.3.4:2121/a");
    f("F.TEST", "/a", &[], "ftp://F.TEST/a");
    f("f.test", "/it's + x.txt", &["TEXT"], "ftp://f.test/it's%20+%20x.txt;type=a");
    f("f.test", "/a;type=d", &["TEXT"], "ftp://f.test/a%3Btype=d;type=a");
    f("f.test", "/a%2Fb", &[], "ftp://f.test/a%252Fb");
    f("f.test", "/a#b", &[], "ftp://f.test/a%23b");
    f("f.test", "/~a/\u{e9}", &[], "ftp://f.test/%7Ea/%C3%A9");
    f("f.test", "/a\r\nDELE b", &[], "unknown");
    f("f.test", "/a\nb", &["BINARY"], "unknown");
    f("f.test", "/a\0b", &[], "unknown");
    check("aftp", "f.test", "/a", &["BINARY"], "ftp://f.test/a;type=i");
    check("FTP", "f.test", "/etc/a", &["TEXT"], "ftp://f.test/%2Fetc/a;type=a");
    check("FTP", "f.test(21)", "/a b", &[], "ftp://f.test:21/%2Fa%20b");
    check("FTP", "f.test", "/a\rb", &[], "unknown");
}

/// §8: the type `DIRECTORY` is an error for FTP.
#[test]
fn aftp_with_type_directory_is_unknown() {
    check("AFTP", "f.test", "/pub", &["DIRECTORY"], "unknown");
}

#[test]
fn gopher_method_gives_a_gopher_url() {
    let g =
        |host: &str, name: &str, extra: &[&str], expected: &str| check("GOPHER", host, name, extra, expected);
    g("g.test(70)", "0/about.txt", &["0"], "gopher://g.test:70/00/about.txt");
    g("g.test(70)", "/about.txt", &["0"], "gopher://g.test:70/0/about.txt");
    g("g.test(7070)", "/p", &["BINARY"], "gopher://g.test:7070/9/p");
    g("g.test", "/p", &["TEXT"], "gopher://g.test/0/p");
    g("g.test", "/p", &["text"], "gopher://g.test/0/p");
    g("g.test", "/p", &["I"], "gopher://g.test/I/p");
    g("g.test", "", &["1"], "gopher://g.test/1/own");
    g("g.test", "/a b?c#d%e", &["1"], "gopher://g.test/1/a%20b?c%23d%25e");
    g("g.test", "/a;b", &["1"], "gopher://g.test/1/a%3Bb");
    g("g.test", "/\u{e9}", &["1"], "gopher://g.test/1/%C3%A9");
    g("g.test", "/a\r\nb", &["0"], "unknown");
    g("g.test", "/a\0b", &["0"], "unknown");
    g("g.test", "0/a\r", &[], "unknown");
    g("", "0/a", &["0"], "gopher://own.test:2525/00/a");
    // Without a type argument, the first character of the name is the type.
    let without_type = of("GOPHER", "g.test", b"0/a", &[]);
    assert!(["gopher://g.test/00/a", "gopher://g.test/0/a"].contains(&&without_type[..]), "{without_type}");
}

/// The type is a character, BINARY or TEXT (§8); vcache.c rejects all others as malformed.
#[test]
fn gopher_with_an_invalid_type_is_unknown() {
    for word in ["IMAGE", "DIRECTORY", "00", "TEXTS"] {
        check("GOPHER", "g.test", "/a", &[word], "unknown");
    }
}

/// The selector that a gopher URL sends has exactly the bytes that the server sent, or there is no URL.
#[test]
fn gopher_url_has_the_exact_selector_or_none_exists() {
    for byte in 0..=255_u8 {
        let name = [b"/a", &[byte][..], b"b"].concat();
        let found = resolve_tokens(&[b"GOPHER", b"INTERNET-D", b"g.test", b"ASCII", &name, b"0"]);
        let Some(ResolvedAccess::Url(url)) = found else {
            assert!(matches!(byte, 0 | b'\t' | b'\r' | b'\n'), "{byte}: {found:?}");
            continue;
        };
        let Url::Gopher(url) = parse(&url).expect("a URL").url else { panic!("{url} is gopher") };
        let request = GopherRequest::from_url(&url).expect("sendable");
        assert_eq!(request.lines(), [name], "{byte}");
    }
}

#[test]
fn ftp_url_has_the_exact_path_or_none_exists() {
    for byte in 0..=255_u8 {
        let name = [b"/d/a", &[byte][..], b"b"].concat();
        let found = resolve_tokens(&[b"AFTP", b"INTERNET-D", b"f.test", b"ASCII", &name, b"BINARY"]);
        let Some(ResolvedAccess::Url(url)) = found else {
            assert!(matches!(byte, 0 | b'\r' | b'\n'), "{byte}: {found:?}");
            continue;
        };
        let Url::Ftp(url) = parse(&url).expect("a URL").url else { panic!("{url}") };
        let path = url.path().expect("a path");
        let cwds: Vec<_> = path.cwds().chain([path.name()]).map(|part| part.decode().into_owned()).collect();
        assert_eq!([b"/", &cwds.join(&b'/')[..]].concat(), name, "{byte}");
    }
}

const ID: &str = "%01%0Aw.test%3A210%02%08%2Fsrv%2Fi%2Ft%03%110%2078%20%2Fsrv%2Fd%2Fa.txt";

#[test]
fn wais_method_gives_a_wais_url() {
    let w = |name: &str, expected: &str| check("WAIS", "w.test", name, &[], expected);
    w(&format!("WAIS-GW/w.test(210)/TEXT/t/{ID}"), &format!("wais://w.test:210/t/TEXT/{ID}"));
    w(&format!("WAIS-GW/v.test/TEXT/t/{ID}"), &format!("wais://v.test/t/TEXT/{ID}"));
    let raw = "\u{1}\nw.test:210\u{2}\u{8}/srv/i/t\u{3}\u{11}0 78 /srv/d/a.txt";
    w(&format!("WAIS-GW/w.test(210)/TEXT/t/{raw}"), &format!("wais://w.test:210/t/TEXT/{ID}"));
    w(&format!("WAIS-GW/w.test(8000)/GIF/a b/{raw}"), &format!("wais://w.test:8000/a%20b/GIF/{ID}"));
    w(
        &format!("WAIS-GW/w.test(210)/TEXT/t/{raw}\u{7}\u{1}\0"),
        &format!("wais://w.test:210/t/TEXT/{ID}%07%01%00"),
    );
    w("WAIS-GW/w.test(210)/TEXT/t/\u{3}\u{3}a%b", "wais://w.test:210/t/TEXT/%03%03a%25b");
    w(
        "WAIS/OBJECT/1=w.test:210;2=/srv/i/t;3=0 78 /srv/d/a.txt;",
        &format!("wais://w.test:210/%2Fsrv%2Fi%2Ft/TEXT/{ID}"),
    );
    w("WAIS-GW/w.test(210)/TEXT/t", "unknown");
    w("WAIS-GW/w.test(210)/TEXT", "unknown");
    w("WAIS-GW", "unknown");
    w("WAIS/OBJECT/", "unknown");
    w("/some/file", "unknown");
    for host in ["a@b", "h(70)x", "h?x", "h#x", "", "h(0)", "h(x)"] {
        let found = of("WAIS", "w.test", format!("WAIS-GW/{host}/TEXT/t/{ID}").as_bytes(), &[]);
        assert_eq!(found, "unknown", "{host}");
    }
    w(&format!("WAIS-GW/w.test/TEXT/t\n/{ID}"), "unknown");
    w(&format!("WAIS-GW/w.test/TE\rXT/t/{ID}"), "unknown");
}

/// The host of a locator must be a host only; otherwise the rest of it would become part of the path.
#[test]
fn locator_with_a_hostile_host_is_unknown() {
    let hosts = [
        "a/b", "a/b/c/d", "a/x?", "a@b", "a?b", "a#b", "h(70)x", "a:210/x", "", ":210", "a\nb", "a\0", "[::1",
    ];
    let of_host = |host: &str| of("WAIS", "w.test", format!("WAIS/OBJECT/1={host};2=t;3=x;").as_bytes(), &[]);
    let found = hosts.iter().map(|host| (*host, of_host(host))).filter(|(_, found)| found != "unknown");
    assert_eq!(found.collect::<Vec<_>>(), []);
}

/// `digits=value;` (wais.md §10): text with other tags is not a locator.
#[test]
fn locator_with_unknown_tags_is_unknown() {
    for parts in ["x=y;2=t;", "2=t;3=x;1000=z;", "2=t;=x;"] {
        let found = of("WAIS", "w.test", format!("WAIS/OBJECT/{parts}").as_bytes(), &[]);
        assert_eq!(found, "unknown", "{parts}");
    }
}

#[test]
fn other_methods_give_contents_local_path_or_session() {
    check("PROSPERO-CONTENTS", "", "", &[], "contents");
    check("LOCAL", "", "", &[], "local /own");
    check("LOCAL", "", "/etc/passwd", &[], "local /etc/passwd");
    check("TELNET", "t.test(2323)", "x", &[], "session telnet://t.test:2323/");
    check("TELNET", "t.test", "x", &["how to", "login"], "session telnet://t.test/");
    check("TELNET", "a@b", "x", &[], "unknown");
    for method in ["AFS", "NFS", "RCP", "X-NEW", "", "HTTP", "FILE", "\u{e9}"] {
        check(method, "h.test", "/a", &["x"], "unknown");
    }
    check("URL", "", "http://u.test/a", &[], "http://u.test/a");
    check("URL", "h.test", "gopher://u.test/0/a", &[], "gopher://u.test/0/a");
    for url in [
        "file:///etc/passwd",
        "file:/etc/passwd",
        "javascript:alert(1)",
        "data:,x",
        "",
        "/own",
        "http://u:secret@u.test/",
        "ftp://u:p@h/",
        "http://u.test/\r\nx",
        "http://u.test/a b\0",
        "x-y:z",
        "FILE://localhost/etc/passwd",
    ] {
        check("URL", "h.test", url, &[], "unknown");
    }
    assert_eq!(resolve_tokens(&[b"AFTP", b"INTERNET-D", b"f.test"]), None);
    assert_eq!(resolve_tokens(&[b"AFTP", b"INTERNET-D", b"f.test", b"ASCII"]), None);
    assert_eq!(resolve_tokens(&[b"AFTP"]), None);
}

/// §8: `TELNET` and `TN3270` are sessions.
#[test]
fn tn3270_is_a_session() {
    let found = resolve_tokens(&[b"TN3270", b"INTERNET-D", b"t.test(23)", b"ASCII", b"x"]);
    assert!(matches!(found, Some(ResolvedAccess::Session(_))), "{found:?}");
}

/// Empty tokens default to the values of the object.
#[test]
fn empty_tokens_default_to_the_object() {
    let check = |tokens: [&[u8]; 6], expected: &str| {
        assert_eq!(
            resolve_tokens(&tokens).as_ref().map(format_access).as_deref(),
            Some(expected),
            "{tokens:?}"
        );
    };
    check([b"AFTP", b"", b"", b"", b"", b"BINARY"], "ftp://own.test:2525/own;type=i");
    check([b"AFTP", b"", b"f.test", b"", b"", b"BINARY"], "ftp://f.test/own;type=i");
    check([b"AFTP", b"INTERNET-D", b"", b"ASCII", b"/x", b"BINARY"], "ftp://own.test:2525/x;type=i");
    check([b"GOPHER", b"", b"", b"", b"", b"0"], "gopher://own.test:2525/0/own");
    check([b"WAIS", b"", b"", b"", b"", b""], "unknown");
    check([b"AFTP", b"VIRTUAL-SYSTEM", b"#/EDU/X", b"ASCII", b"/x", b"BINARY"], "unknown");
    check([b"AFTP", b"X500", b"f.test", b"ASCII", b"/x", b"BINARY"], "unknown");
}

const BAD_HOSTS: [&str; 53] = [
    "a/b",
    "a@b",
    "a:b@c",
    "user:p@h.test",
    "h(70)x",
    "h(70",
    "h70)",
    "h((70))",
    "h(70)(80)",
    "h()x",
    "h(0)",
    "h(65536)",
    "h(-1)",
    "h(+7)",
    "h(7 0)",
    "h(x)",
    "h/(70)",
    "h?q",
    "h#f",
    "h\\x",
    "h%2Fx",
    "h%00",
    "h\r\nx",
    "h\n",
    "h\0",
    " h",
    "h ",
    "h x",
    "(70)",
    "//h",
    "h/../x",
    "h;x",
    "h&x",
    "h=x",
    "[::1",
    "::1",
    "[::1]x",
    "[g]",
    "h:70(70)",
    "h:x",
    ":70",
    "h..x",
    ".",
    "\u{ff0f}",
    "h\u{2044}x",
    "h\u{3002}x",
    "h\t",
    "'",
    "\"",
    "h,x",
    "999.1.1.1",
    "0x7f.1",
    "127.1",
];

/// The URL has exactly the host that the server sent, or there is no URL.
#[test]
fn hostile_host_gives_no_url() {
    for host in BAD_HOSTS {
        for (method, name, extra) in
            [("AFTP", "/a", "BINARY"), ("FTP", "/a", ""), ("GOPHER", "/a", "0"), ("TELNET", "x", "")]
        {
            let found = of(method, host, name.as_bytes(), &[extra]);
            assert_eq!(host_of(&found), None, "{method} {host:?}: {found}");
        }
    }
    for (host, written) in [
        ("h.test", "h.test"),
        ("h.test(80)", "h.test:80"),
        ("1.2.3.4", "1.2.3.4"),
        ("h-x.test.", "h-x.test."),
    ] {
        let found = of("GOPHER", host, b"/a", &["0"]);
        assert_eq!(host_of(&found).as_deref(), Some(written), "{found}");
    }
    // An address in brackets keeps its value, or there is no URL.
    let found = of("GOPHER", "[::1]", b"/a", &["0"]);
    assert!(matches!(host_of(&found).as_deref(), None | Some("[::1]")), "{found}");
    let not_utf8 = resolve_tokens(&[b"AFTP", b"INTERNET-D", b"h\xff.test", b"ASCII", b"/a"]);
    assert_eq!(not_utf8, Some(ResolvedAccess::Unknown));
}

/// Returns the text between `//` and the next slash.
fn host_of(found: &str) -> Option<String> {
    let (_, rest) = found.split_once("://")?;
    Some(rest.split('/').next().unwrap_or_default().to_owned())
}

/// The URL of an object parses to the same name and version.
#[test]
fn object_url_parses_to_the_same_object() {
    let url = |name: &[u8], version: &str| ObjectName::new("h.test(2525)", name, version).url();
    assert_eq!(url(b"/srv/pub", "0").as_deref(), Some("prospero://h.test:2525//srv/pub"));
    assert_eq!(url(b"pub", "").as_deref(), Some("prospero://h.test:2525/pub"));
    assert_eq!(url(b"/a;b=c", "7").as_deref(), Some("prospero://h.test:2525//a%3Bb=c;VERSION=7"));
    for byte in 1..=255_u8 {
        let name = [b"/a", &[byte][..], b"b"].concat();
        match url(&name, "3") {
            None => assert!(matches!(byte, b'\r' | b'\n'), "{byte}"),
            Some(url) => {
                let Url::Prospero(parsed) = parse(&url).expect("a URL").url else { panic!("{url}") };
                let id = ObjectId::from_url(&parsed).expect("a name");
                assert_eq!((id.name(), id.version()), (&name[..], &b"3"[..]), "{byte} {url}");
            }
        }
    }
    for host in ["a/b", "a@b", "h(70)x", "", "h\n"] {
        assert_eq!(ObjectName::new(host, "/a", "0").url(), None, "{host:?}");
    }
}

/// `%00` in a URL starts a version (§9), so an object with a NUL in its name has no URL; the URL would name another
/// object.
#[test]
fn name_with_a_nul_has_no_url() {
    let found = ObjectName::new("h.test", *b"/a\0b", "0").url();
    assert_eq!(found, None);
}
