//! Tests of the cookie store: Set-Cookie, limits, cookie files.

use proptest::prelude::*;

use super::*;

const NOW: i64 = 1_800_000_000;

/// Returns a store with the cookies of a response from `https://h.example/a/b`.
fn store_with(fields: &[&str]) -> CookieStore {
    let mut store = CookieStore::default();
    fields.iter().for_each(|field| store.store_cookie("h.example", "/a/b", true, field.as_bytes(), NOW));
    store
}

fn sent_header(store: &CookieStore, host: &str, path: &str, is_tls: bool) -> String {
    let field = store.cookie_header(host, path, is_tls, NOW);
    field.map_or("none".into(), |field| String::from_utf8_lossy(&field).into_owned())
}

/// Returns the Cookie header that the same host receives over TLS.
fn sent_back(fields: &[&str]) -> String {
    sent_header(&store_with(fields), "h.example", "/a/b", true)
}

#[test]
fn set_cookie_is_parsed_as_rfc_6265_requires() {
    for (field, expected) in [
        ("a=b", "a=b"),
        (" \t a \t = \t b \t ; Path", "a=b"),
        ("a=b=c; x=y", "a=b=c"),
        ("a=\"b c\"", "a=\"b c\""),
        ("a=", "a="),
        ("a=b,c=d", "a=b,c=d"),
        ("a=caf\u{e9}", "a=caf\u{e9}"),
        ("a=b;;;=;;=x", "a=b"),
        // Without a name or `=` there is no cookie.
        ("", "none"),
        ("a", "none"),
        ("=b", "none"),
        (" =b", "none"),
        ("; a=b", "none"),
        // A control character anywhere: the whole header is ignored.
        ("a=b\0", "none"),
        ("a=b\r\nc=d", "none"),
        ("a=b\u{1}c", "none"),
        ("a=b\u{7f}", "none"),
        ("a\tb=c", "none"),
        ("a=b\tc", "none"),
        ("a=b; x=\u{1b}[31m", "none"),
        ("a=b; Path=/a\t/", "none"),
        // Expiry.
        ("a=b; Max-Age=1", "a=b"),
        ("a=b; max-age=0", "none"),
        ("a=b; Max-Age=-1", "none"),
        ("a=b; Max-Age=-", "none"),
        ("a=b; Max-Age=99999999999999999999999", "a=b"),
        ("a=b; Max-Age=-99999999999999999999999", "none"),
        ("a=b; Max-Age=0x", "a=b"),
        ("a=b; Max-Age=", "a=b"),
        ("a=b; Max-Age=+0", "a=b"),
        ("a=b; Max-Age=0; Max-Age=9", "a=b"),
        ("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "none"),
        ("a=b; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "a=b"),
        ("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=9", "a=b"),
        ("a=b; Max-Age=0; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "none"),
        ("a=b; Expires=never", "a=b"),
        // Domain can only reject a cookie.
        ("a=b; Domain=h.example", "a=b"),
        ("a=b; Domain=.H.Example", "a=b"),
        ("a=b; Domain=example", "a=b"),
        ("a=b; Domain=", "a=b"),
        ("a=b; Domain=.", "none"),
        ("a=b; Domain=..example", "none"),
        ("a=b; Domain=x.h.example", "none"),
        ("a=b; Domain=.example", "a=b"),
        ("a=b; Domain=ample", "none"),
        ("a=b; Domain=other.example", "none"),
        ("a=b; Domain=h.example; Domain=other", "none"),
        // Path.
        ("a=b; Path=/", "a=b"),
        ("a=b; Path=/a", "a=b"),
        ("a=b; Path=/a/", "a=b"),
        ("a=b; Path=/a/b", "a=b"),
        ("a=b; Path=/a/bc", "none"),
        ("a=b; Path=/A", "none"),
        ("a=b; Path=x", "a=b"),
        ("a=b; Path=/x; Path=", "a=b"),
        ("a=b; Path=/x; Path=/", "a=b"),
        // Prefixes (RFC 6265bis §4.1.3).
        ("__Secure-a=b", "none"),
        ("__Secure-a=b; Secure", "__Secure-a=b"),
        ("__SECURE-a=b", "none"),
        ("__Host-a=b; Secure", "none"),
        ("__Host-a=b; Secure; Path=/", "__Host-a=b"),
        ("__Host-a=b; Path=/", "none"),
        ("__Host-a=b; Secure; Path=/a", "none"),
        ("__Host-a=b; Secure; Path=/; Domain=h.example", "none"),
        ("__host-a=b; Secure; Path=/a", "none"),
        ("=__Secure-a=b", "none"),
    ] {
        assert_eq!(sent_back(&[field]), expected, "{field:?}");
    }
}

#[test]
fn oversized_cookies_are_ignored() {
    let text = |length: usize| "x".repeat(length);
    assert_ne!(sent_back(&[&format!("a={}", text(4096))]), "none");
    assert_eq!(sent_back(&[&format!("a={}", text(4097))]), "none");
    assert_ne!(sent_back(&[&format!("{}=a", text(4096))]), "none");
    assert_eq!(sent_back(&[&format!("{}=a", text(4097))]), "none");
    // An attribute of more than 1024 bytes is ignored.
    assert_eq!(sent_back(&[&format!("a=b; Path=/{}", text(1024))]), "a=b");
    assert_eq!(sent_back(&[&format!("a=b; Path=/{}", text(1023))]), "none");
    // The Cookie header is limited, however many large cookies there are.
    let large: Vec<_> = (0..50).map(|index| format!("n{index}={}", text(500))).collect();
    let field = sent_back(&large.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(field.len() <= MAX_COOKIE_HEADER && field.len() > MAX_COOKIE_HEADER - 510);
}

#[test]
fn cookie_of_a_domain_is_sent_to_its_hosts() {
    let store = |domain: &str| {
        let mut store = CookieStore::default();
        let field = format!("a=b; Path=/; Domain={domain}");
        store.store_cookie("www.a.co.uk", "/", true, field.as_bytes(), NOW);
        store
    };
    for domain in ["a.co.uk", ".a.co.uk", "A.co.UK"] {
        for (host, expected) in [
            ("a.co.uk", "a=b"),
            ("www.a.co.uk", "a=b"),
            ("x.y.a.co.uk", "a=b"),
            ("xa.co.uk", "none"),
            ("b.co.uk", "none"),
            ("co.uk", "none"),
        ] {
            assert_eq!(sent_header(&store(domain), host, "/", true), expected, "{domain} {host}");
        }
    }
    // With a dot at its end, it is no suffix of the host (§5.1.3).
    assert_eq!(sent_header(&store("a.co.uk."), "www.a.co.uk", "/", true), "none");
    // A public suffix: the cookie stays with its host.
    for host in ["b.co.uk", "x.www.a.co.uk", "a.co.uk"] {
        assert_eq!(sent_header(&store("co.uk"), host, "/", true), "none", "{host}");
    }
    // A response of another host of the domain replaces the cookie of the domain, but not that of a host.
    let mut both = store("a.co.uk");
    both.store_cookie("a.co.uk", "/", true, b"a=host; Path=/", NOW);
    both.store_cookie("other.a.co.uk", "/", true, b"a=new; Path=/; Domain=a.co.uk", NOW);
    assert_eq!(sent_header(&both, "a.co.uk", "/", true), "a=new; a=host");
    assert_eq!(sent_header(&both, "www.a.co.uk", "/", true), "a=new");
    // A Secure cookie of a host is protected from one of its domain without TLS, and the other way round.
    for (host, secure) in
        [("www.a.co.uk", "s=1; Secure; Path=/"), ("a.co.uk", "s=1; Secure; Path=/; Domain=a.co.uk")]
    {
        let mut store = CookieStore::default();
        store.store_cookie(host, "/", true, secure.as_bytes(), NOW);
        store.store_cookie("x.a.co.uk", "/", false, b"s=evil; Path=/; Domain=a.co.uk", NOW);
        store.store_cookie("www.a.co.uk", "/", false, b"s=evil; Path=/", NOW);
        assert_eq!(sent_header(&store, "www.a.co.uk", "/", true), "s=1", "{host}");
    }
}

#[test]
fn cookies_are_sent_to_their_own_host_only() {
    let store = store_with(&["a=b; Domain=example; Path=/"]);
    for host in ["example", "x.h.example", "xh.example", "h.example.org", "other", "", "[::1]"] {
        assert_eq!(sent_header(&store, host, "/", true), "none", "{host}");
    }
    for host in ["h.example", "H.EXAMPLE", "h.example."] {
        assert_eq!(sent_header(&store, host, "/", true), "a=b", "{host}");
    }
    for (host, domain, expected) in [
        ("127.0.0.1", "127.0.0.1", "a=b"),
        ("127.0.0.1", ".0.0.1", "none"),
        ("127.0.0.1", "0.0.1", "none"),
        ("127.0.0.1", "1", "none"),
        ("[::1]", "", "a=b"),
        ("[::1]", "1", "none"),
    ] {
        let mut store = CookieStore::default();
        store.store_cookie(host, "/", true, format!("a=b; Domain={domain}").as_bytes(), NOW);
        assert_eq!(sent_header(&store, host, "/", true), expected, "{host} {domain}");
    }
}

/// RFC 6265bis §5.7, "Leave Secure Cookies Alone".
#[test]
fn responses_without_tls_cannot_change_secure_cookies() {
    let secure = store_with(&["s=tls; Secure; Path=/a"]);
    assert_eq!(sent_header(&secure, "h.example", "/a", false), "none");
    for field in [
        "s=x; Path=/a",
        "s=x; Path=/a/b",
        "s=x; Path=/a; Max-Age=0",
        "s=x; Path=/a; Secure",
        "new=x; Secure",
        "__Secure-n=x; Secure",
        "__Host-n=x; Secure; Path=/",
    ] {
        let mut store = secure.clone();
        store.store_cookie("h.example", "/a/b", false, field.as_bytes(), NOW);
        assert_eq!(store, secure, "{field}");
    }
    let mut store = secure;
    store.store_cookie("h.example", "/", false, b"s=x; Path=/", NOW);
    assert_eq!(sent_header(&store, "h.example", "/a", true), "s=tls; s=x");
    // They cannot evict one by setting many cookies.
    for index in 0..400 {
        store.store_cookie("h.example", "/", false, format!("n{index}=x").as_bytes(), NOW);
    }
    assert!(sent_header(&store, "h.example", "/a", true).starts_with("s=tls; "));
    // An expired cookie is not protected.
    let mut store = CookieStore::default();
    store.store_cookie("h.example", "/a/b", true, b"s=tls; Secure; Max-Age=5", NOW);
    store.store_cookie("h.example", "/a/b", false, b"s=x", NOW + 5);
    assert_eq!(sent_header(&store, "h.example", "/a/b", false), "s=x");
}

#[test]
fn cookies_are_ordered_by_path_then_age() {
    let mut store = store_with(&[
        "c=1; Path=/",
        "b=1; Path=/a",
        "a=1; Path=/a",
        "d=1; Path=/a/b; Max-Age=5",
        "c=2; Path=/",
    ]);
    assert_eq!(sent_header(&store, "h.example", "/a/b", true), "d=1; b=1; a=1; c=2");
    store.store_cookie("h.example", "/a/b", true, b"b=2; Path=/a", NOW);
    assert_eq!(sent_header(&store, "h.example", "/a/b?x=/", true), "d=1; b=2; a=1; c=2");
    assert_eq!(sent_header(&store, "h.example", "/ab", true), "c=2");
    let field = |now| store.cookie_header("h.example", "/a/b", true, now).expect("some");
    assert!(field(NOW + 4).starts_with(b"d=1") && !field(NOW + 5).starts_with(b"d=1"));
    // The next response removes expired cookies.
    let mut later = store.clone();
    later.store_cookie("h.example", "/", true, b"e=1", NOW + 5);
    assert_eq!(format!("{later:?}"), r#"["c", "b", "a", "e"]"#);
    store.store_cookie("h.example", "/a/b", true, b"b=; Path=/a; Max-Age=0", NOW);
    assert_eq!(sent_header(&store, "h.example", "/a", true), "a=1; c=2");
}

#[test]
fn oldest_cookies_are_evicted_at_the_limits() {
    let mut store = CookieStore::default();
    for index in 0..200 {
        store.store_cookie("h", "/", true, format!("n{index}=x; Path=/p{index}").as_bytes(), NOW);
    }
    assert_eq!(store.cookies.len(), MAX_COOKIES_PER_HOST);
    assert_eq!(
        (sent_header(&store, "h", "/p19", true), sent_header(&store, "h", "/p20", true)),
        ("none".into(), "n20=x".into())
    );
    for index in 0..4000 {
        store.store_cookie(&format!("h{}", index % 40), "/", true, format!("n{index}=x").as_bytes(), NOW);
    }
    assert_eq!(store.cookies.len(), MAX_COOKIES);
    assert!(store.cookies.iter().all(|cookie| cookie.host != "h"), "the oldest are evicted first");
    let read = CookieStore::from_file(&store.to_netscape(), NOW).expect("small");
    assert!(read.store == store && read.skipped == 0);
}

#[test]
fn netscape_files_are_read_and_written() {
    let file = b"# Netscape HTTP Cookie File\r\n\r\n# a\tcomment\n\
        h.example\tFALSE\t/\tFALSE\t0\tsession\tv1\r\n\
        #HttpOnly_H.Example.\tfalse\t/a\ttrue\t1900000000\thttponly\tv 2\n\
        .h.example\tTRUE\t/\tFALSE\t1900000000\tdomain\tv3\n\
        h.example\tTRUE\t/\tFALSE\t99999999999999999999\tdomain too\tv4\n\
        .h.example\tFALSE\t/\tFALSE\t0\tdot only\tv5\n\
        .co.uk\tTRUE\t/\tFALSE\t0\tnarrowed\tv7\n\
        127.0.0.1\tTRUE\t/\tFALSE\t0\tnarrowed\tv8\n\
        h.example\tFALSE\t/\tFALSE\t0\tno-value\n\
        h.example\tFALSE\t/\tFALSE\t0\tempty\t\n\
        h.example\tFALSE\t/\tFALSE\t1\tlong ago\tx\n\
        [::1]\tFALSE\t/\tFALSE\t0\tsix\tv6\n\
        h.example\tFALSE\t/\tTRUE\t0\t__Host-x\ty";
    let read = CookieStore::from_file(file, NOW).expect("small");
    assert_eq!((read.skipped, read.narrowed_to_host), (0, 2));
    assert_eq!(
        sent_header(&read.store, "h.example", "/a", true),
        "httponly=v 2; session=v1; domain=v3; domain too=v4; dot only=v5; no-value=; empty=; __Host-x=y"
    );
    assert_eq!(sent_header(&read.store, "::1", "/a", true), "six=v6");
    assert_eq!(sent_header(&read.store, "x.h.example", "/", true), "domain=v3; domain too=v4");
    assert_eq!(sent_header(&read.store, "a.co.uk", "/", true), "none");
    let written = read.store.to_netscape();
    assert_eq!(CookieStore::from_file(&written, NOW).expect("small").store, read.store);
    let text = String::from_utf8(written).expect("text");
    assert!(text.starts_with("# Netscape HTTP Cookie File\nh.example\tFALSE\t/\tFALSE\t0\tsession\tv1\n"));
    assert!(text.contains("\n#HttpOnly_h.example\tFALSE\t/a\tTRUE\t1900000000\thttponly\tv 2\n"));
    assert!(text.contains("\n.h.example\tTRUE\t/\tFALSE\t1900000000\tdomain\tv3\n"));
    assert!(text.contains("\n::1\tFALSE\t/\tFALSE\t0\tsix\tv6\n"));
    assert!(!text.contains("long ago"), "an expired cookie is not written");
}

#[test]
fn empty_path_and_fraction_of_a_second_in_a_file_are_accepted() {
    let file = b"h.example\tFALSE\t\tFALSE\t1900000000.5\ta\t1\n\
        h.example\tFALSE\t/\tFALSE\t1900000000.\tb\t2\n\
        h.example\tFALSE\t/\tFALSE\t1900000000.x\tc\t3\n\
        h.example\tFALSE\t/\tFALSE\t.5\td\t4\n";
    let read = CookieStore::from_file(file, NOW).expect("small");
    assert_eq!(read.skipped, 2);
    assert_eq!(sent_header(&read.store, "h.example", "/x", false), "a=1; b=2");
    let text = String::from_utf8(read.store.to_netscape()).expect("text");
    assert!(text.contains("\nh.example\tFALSE\t/\tFALSE\t1900000000\ta\t1\n"), "{text}");
}

#[test]
fn header_lines_of_a_file_are_read_if_they_name_a_domain() {
    let file = b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
        Set-Cookie: a=1; domain=h.example\r\n\
        SET-COOKIE:b=2; Domain=.h.example; Path=/p; HttpOnly\n\
        set-cookie: c=3; domain=h.example; Max-Age=9\n\
        set-cookie: d=4; domain=h.example; Max-Age=0\n\
        Set-Cookie: e=5; domain=h.example; Secure\n\
        Set-Cookie: nowhere=6\n\
        Set-Cookie: __Host-x=7; domain=h.example; Secure; Path=/\n\
        Set-Cookie: suffix=8; domain=co.uk\n\
        Set-Cookie: ip=9; domain=127.0.0.1\n\
        h.example\tFALSE\t/\tFALSE\t0\tmixed\tv";
    let read = CookieStore::from_file(file, NOW).expect("small");
    assert_eq!(read.skipped, 4, "two other headers, one without a domain, one with a wrong prefix");
    assert_eq!(sent_header(&read.store, "x.h.example", "/p/q", true), "b=2; a=1; c=3; e=5");
    assert_eq!(sent_header(&read.store, "h.example", "/", false), "a=1; c=3; mixed=v");
    assert_eq!(read.store.cookie_header("x.h.example", "/", false, NOW + 9).as_deref(), Some(&b"a=1"[..]));
    assert_eq!(sent_header(&read.store, "a.co.uk", "/", true), "none");
    assert_eq!(sent_header(&read.store, "127.0.0.1", "/", true), "ip=9");
}

#[test]
fn invalid_lines_of_cookie_files_are_skipped() {
    let broken = [
        "h",
        "h\tFALSE\t/\tFALSE\t0",
        "h\tFALSE\t/\tFALSE\t0\t\tv",
        "h\tFALSE\t/\tFALSE\t0\tn\tv\tmore",
        "h\tYES\t/\tFALSE\t0\tn\tv",
        "h\tFALSE\t/\t1\t0\tn\tv",
        "h\tFALSE\tpath\tFALSE\t0\tn\tv",
        "h\tFALSE\t/\tFALSE\t-1\tn\tv",
        "h\tFALSE\t/\tFALSE\t\tn\tv",
        "h\tFALSE\t/\tFALSE\t1.x\tn\tv",
        "h\tFALSE\t/\tFALSE\t0\tn=m\tv",
        "h\tFALSE\t/\tFALSE\t0\tn\tv; m=w",
        "h\tFALSE\t/\tFALSE\t0\tn\tv\rw",
        "h\tFALSE\t/\tFALSE\t0\tn\u{0}\tv",
        "h\tFALSE\t/\tFALSE\t0\t__Secure-n\tv",
        "h\tFALSE\t/a\tTRUE\t0\t__Host-n\tv",
        "h.example\tTRUE\t/\tTRUE\t0\t__Host-n\tv",
        "\tFALSE\t/\tFALSE\t0\tn\tv",
        ".\tFALSE\t/\tFALSE\t0\tn\tv",
        "..h\tFALSE\t/\tFALSE\t0\tn\tv",
        "h..\tFALSE\t/\tFALSE\t0\tn\tv", // found by fuzzing: the written line named another host
        "h h\tFALSE\t/\tFALSE\t0\tn\tv",
        "#HttpOnly_",
    ];
    let read = CookieStore::from_file(broken.join("\n").as_bytes(), NOW).expect("small");
    assert_eq!((read.store, read.skipped, read.narrowed_to_host), (CookieStore::default(), broken.len(), 0));
    let read = CookieStore::from_file(b"h\xff\tFALSE\t/\tFALSE\t0\tn\tv", NOW).expect("small");
    assert_eq!(read.skipped, 1);
    assert_eq!(CookieStore::from_file(&vec![b'\n'; MAX_FILE_SIZE + 1], NOW).err(), Some(CookieFileTooLarge));
}

/// Returns a cookie file with `count` cookies of each of the hosts.
fn file_of_hosts(hosts: usize, count: usize) -> Vec<u8> {
    let line = |host, index| format!("h{host}.example\tFALSE\t/\tFALSE\t0\tn{index}\tv{index}\n");
    let lines = (0..hosts).flat_map(|host| (0..count).map(move |index| line(host, index)));
    lines.collect::<String>().into_bytes()
}

#[test]
fn all_cookies_of_a_file_are_kept_and_the_last_of_equal_ones_counts() {
    for (hosts, count) in [(1, 100_000), (100_000, 1), (1000, 100)] {
        let file =
            [file_of_hosts(hosts, count), b"h0.example\tFALSE\t/\tFALSE\t0\tn0\tnew\n".to_vec()].concat();
        let read = CookieStore::from_file(&file, NOW).expect("small");
        assert_eq!((read.store.cookies.len(), read.skipped), (100_000, 0));
        assert!(sent_header(&read.store, "h0.example", "/", true).starts_with("n0=new"));
        let again = CookieStore::from_file(&read.store.to_netscape(), NOW).expect("small");
        assert!(again.store == read.store);
    }
}

#[test]
fn cookies_of_responses_do_not_evict_those_of_a_file() {
    for (hosts, of_each, kept_of_host, kept) in [
        (1, 100, 80, 80),
        (1, 170, MIN_NEW_COOKIES_PER_HOST, MIN_NEW_COOKIES_PER_HOST),
        (1, 300, MIN_NEW_COOKIES_PER_HOST, MIN_NEW_COOKIES_PER_HOST),
        (29, 100, 80, MIN_NEW_COOKIES),
        (100, 100, 80, MIN_NEW_COOKIES),
    ] {
        let mut store = CookieStore::from_file(&file_of_hosts(hosts, of_each), NOW).expect("small").store;
        let from_file = store.clone().cookies;
        for index in 0..200 {
            store.store_cookie("h0.example", "/", true, format!("new{index}=x").as_bytes(), NOW);
        }
        assert!(store.cookies.starts_with(&from_file), "{hosts} {of_each}");
        assert_eq!(store.cookies.len() - from_file.len(), kept_of_host, "{hosts} {of_each}");
        assert!(store.cookies.iter().any(|cookie| cookie.name == b"new199"), "the newest is kept");
        for index in 0..200 {
            store.store_cookie(&format!("other{index}"), "/", true, b"a=x", NOW);
        }
        assert!(store.cookies.starts_with(&from_file), "{hosts} {of_each}");
        assert!(store.cookies.len() - from_file.len() >= kept, "{hosts} {of_each}");
        assert!(store.cookies.len() <= MAX_COOKIES.max(from_file.len() + MIN_NEW_COOKIES));
    }
}

#[test]
fn cookies_of_a_file_are_replaced_deleted_and_expire() {
    let file = b"h.example\tFALSE\t/\tFALSE\t0\ta\t1\nh.example\tFALSE\t/\tFALSE\t0\tb\t2\n\
        h.example\tFALSE\t/\tFALSE\t1800000009\tc\t3\nh.example\tFALSE\t/\tFALSE\t0\td\t4\n";
    let mut store = CookieStore::from_file(file, NOW).expect("small").store;
    for field in ["b=new; Path=/", "e=5; Path=/", "a=; Path=/; Max-Age=0"] {
        store.store_cookie("h.example", "/", true, field.as_bytes(), NOW);
    }
    assert_eq!(
        (sent_header(&store, "h.example", "/", true).as_str(), store.file_count),
        ("b=new; c=3; d=4; e=5", 3)
    );
    store.store_cookie("h.example", "/", true, b"e=6; Path=/", NOW + 9);
    assert_eq!(
        (sent_header(&store, "h.example", "/", true).as_str(), store.file_count),
        ("b=new; d=4; e=6", 2)
    );
}

#[test]
fn debug_shows_names_but_no_values() {
    let store = store_with(&["name=canary; Path=/", "n\u{e9}\u{202e}=canary"]);
    assert_eq!(format!("{store:?}"), "[\"name\", \"n\u{e9}\\\\u{202e}\"]");
}

fn field() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec![
        "a=b",
        "a=c",
        "b=",
        "=",
        ";",
        "; ",
        "__Host-a=b",
        "__Secure-b=c",
        "; Secure",
        "; HttpOnly",
        "; Path=/",
        "; Path=/a",
        "; Path=/a/b/",
        "; Path=",
        "; Domain=h.example",
        "; Domain=x",
        "; Max-Age=0",
        "; Max-Age=99",
        "; Max-Age=-9",
        "; Expires=Thu, 01 Jan 2099 00:00:00 GMT",
        "; Expires=1 jan 70 1:1:1",
        "\t",
        " ",
        "\r",
        "#HttpOnly_",
        "\u{e9}",
        "\"",
    ]);
    prop_oneof![
        prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_cookie_files_are_read_back_unchanged(
        stored in prop::collection::vec((field(), any::<bool>(), 0..3_usize, 0..200_i64), 0..12),
    ) {
        let mut store = CookieStore::default();
        for (field, is_tls, place, later) in stored {
            let (host, path) = [("h.example", "/a/b"), ("::1", "/"), ("x", "/a/b/c?d")][place];
            store.store_cookie(host, path, is_tls, &field, NOW + later);
            let sent = store.cookie_header(host, path, is_tls, NOW).unwrap_or_default();
            prop_assert!(!sent.iter().any(u8::is_ascii_control) && sent.len() <= MAX_COOKIE_HEADER);
            prop_assert!(store.cookie_header("example", path, true, NOW).is_none());
        }
        let read = CookieStore::from_file(&store.to_netscape(), NOW).expect("small");
        prop_assert!(read.store == store && read.skipped == 0 && read.narrowed_to_host == 0, "{:?}", store);
    }

    #[test]
    fn any_file_is_read_and_written_back_stably(file in prop::collection::vec(
        prop_oneof![any::<u8>().prop_map(|byte| vec![byte]), prop::sample::select(vec![
            b"h\tFALSE\t/\tFALSE\t0\tn\tv".to_vec(), b"\n".to_vec(), b"\t".to_vec(), b"TRUE".to_vec(),
            b"#HttpOnly_".to_vec(), b".".to_vec(), b"\r\n".to_vec(), b"9".to_vec(), b"/".to_vec(),
        ])],
        0..40,
    )) {
        let read = CookieStore::from_file(&file.concat(), NOW).expect("small");
        let again = CookieStore::from_file(&read.store.to_netscape(), NOW).expect("small");
        prop_assert!(again.store == read.store && again.skipped == 0);
    }
}
