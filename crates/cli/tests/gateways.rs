//! Gateways (`--gateway`, SEMANTICS §11), and what becomes of the schemes that have none: reserved, experimental and
//! unknown ones (§1), and `mid:`.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use fetch_url_tests::{
    GopherItem, GopherServer, GopherSite, HttpReply, HttpServer, NntpArticle, NntpGroup, NntpServer,
    NntpSite, ProsperoObject, ProsperoServer, ProsperoSite,
};
use support::{Ran, content_of, ensure, fetch, fetch_in, in_parallel, mirror, serving};

/// Asks for a URL through gateways.
fn through(gateways: &[&str], more: &[&str], url: &str) -> Ran {
    let gateways = gateways.iter().flat_map(|gateway| ["--gateway", gateway]);
    fetch(gateways.chain(more.iter().copied()).chain([url]))
}

/// Each of them says why in its own words.
#[test]
fn schemes_without_a_method() {
    let reserved = [
        "afs://cell/path",
        "afs:/x",
        "AFS:x",
        "mid:a@b",
        "cid:a@b",
        "nfs://h/p",
        "tn3270://h/",
        "mailserver:x",
        "z39.50://h/d",
    ];
    let experimental = ["x-foo:bar", "X-Foo://h/", "x-:a", "x-a.b+c:d"];
    let unknown =
        ["foo:bar", "xfoo:bar", "foo://h/p", "httpx://h/", "host:8080", "C:/x", "javascript:x", "mids:a@b"];
    let rows = [
        (&reserved[..], "reserved by RFC 1738 §4, no access method is defined; a gateway can be configured"),
        (&experimental[..], "experimental"),
        (&unknown[..], "unknown scheme"),
    ];
    let all = ["reserved", "experimental", "unknown scheme"];
    for (urls, words) in rows {
        for url in urls {
            let ran = fetch([url]);
            ran.exits(1).says(words);
            assert_eq!(all.iter().filter(|word| ran.stderr.contains(**word)).count(), 1, "{ran:?}");
            assert_eq!((ran.stdout.len(), ran.stderr.lines().count()), (0, 1), "{ran:?}");
            let json = fetch(["--format", "json", url]);
            assert!(json.exits(1).stderr.contains("\"code\":\"unsupported\""), "{json:?}");
            let explained = fetch(["explain", url]);
            assert!(explained.exits(0).text().contains("scheme"), "{explained:?}");
        }
    }
    // Never guessed: what has no scheme has none.
    for text in ["example.com", "www.example.com/x", "//h/x", "/etc/passwd", ""] {
        fetch([text]).exits(3);
    }
}

/// Scheme, URL, and what {scheme}, {host}, {port}, {path} and {url} are.
const PLACES: [(&str, &str); 31] = [
    ("wais://h/db%20x?a+b", "wais,h,210,db%20x%3Fa%2Bb,wais%3A%2F%2Fh%2Fdb%2520x%3Fa%2Bb"),
    ("wais://h/db/TEXT/1%2F2", "wais,h,210,db/TEXT/1%2F2,wais%3A%2F%2Fh%2Fdb%2FTEXT%2F1%252F2"),
    ("afs://cell/path/x", "afs,cell,,path/x,afs%3A%2F%2Fcell%2Fpath%2Fx"),
    ("mid:a%25b@c", "mid,,,a%25b@c,mid%3Aa%2525b%40c"),
    ("cid:x@y", "cid,,,x@y,cid%3Ax%40y"),
    ("nfs://h/p", "nfs,h,,p,nfs%3A%2F%2Fh%2Fp"),
    ("tn3270://h:99/", "tn3270,h,99,,tn3270%3A%2F%2Fh%3A99%2F"),
    ("mailserver:x@y", "mailserver,,,x@y,mailserver%3Ax%40y"),
    ("z39.50://h:210/d", "z39.50,h,210,d,z39.50%3A%2F%2Fh%3A210%2Fd"),
    ("x-foo:bar", "x-foo,,,bar,x-foo%3Abar"),
    ("x-foo://h:99/bar?q#f", "x-foo,h,99,bar%3Fq,x-foo%3A%2F%2Fh%3A99%2Fbar%3Fq"),
    ("foo:a/b;c=d", "foo,,,a/b;c=d,foo%3Aa%2Fb%3Bc%3Dd"),
    ("foo://h", "foo,h,,,foo%3A%2F%2Fh"),
    (
        "mailto:a%25b@c?subject=x%20y",
        "mailto,,,a%25b@c%3Fsubject=x%20y,mailto%3Aa%2525b%40c%3Fsubject%3Dx%2520y",
    ),
    ("telnet://joe@h/", "telnet,h,23,,telnet%3A%2F%2Fjoe%40h%2F"),
    ("ftp://h/a%2Fb;type=i", "ftp,h,21,a%2Fb;type=i,ftp%3A%2F%2Fh%2Fa%252Fb%3Btype%3Di"),
    ("ftp://h//etc/x", "ftp,h,21,/etc/x,ftp%3A%2F%2Fh%2F%2Fetc%2Fx"),
    ("ftps://h/x", "ftps,h,990,x,ftps%3A%2F%2Fh%2Fx"),
    ("http://h/a?b=c%20d#f", "http,h,80,a%3Fb=c%20d,http%3A%2F%2Fh%2Fa%3Fb%3Dc%2520d"),
    ("http://h:8080", "http,h,8080,,http%3A%2F%2Fh%3A8080"),
    ("https://h/", "https,h,443,,https%3A%2F%2Fh%2F"),
    ("file:///etc/passwd", "file,,,etc/passwd,file%3A%2F%2F%2Fetc%2Fpasswd"),
    ("file://other/etc/passwd", "file,other,,etc/passwd,file%3A%2F%2Fother%2Fetc%2Fpasswd"),
    ("gopher://h/11%09x", "gopher,h,70,11%09x,gopher%3A%2F%2Fh%2F11%2509x"),
    ("gopher://h", "gopher,h,70,,gopher%3A%2F%2Fh"),
    ("gophers://h/0x", "gophers,h,70,0x,gophers%3A%2F%2Fh%2F0x"),
    ("news:a@b", "news,,119,a@b,news%3Aa%40b"),
    ("snews:comp.x", "snews,,563,comp.x,snews%3Acomp.x"),
    ("nntp://h/g/12", "nntp,h,119,g/12,nntp%3A%2F%2Fh%2Fg%2F12"),
    ("prospero://h/n%00v;v=1", "prospero,h,1525,n%00v;v=1,prospero%3A%2F%2Fh%2Fn%2500v%3Bv%3D1"),
    ("AFS://Cell/P", "afs,Cell,,P,afs%3A%2F%2FCell%2FP"),
];

#[test]
fn every_scheme_has_a_gateway() {
    let gateway = mirror();
    in_parallel(&PLACES, 4, |&(url, places)| {
        let scheme = url.split(':').next().expect("a scheme").to_lowercase();
        for scheme in [scheme.clone(), scheme.to_uppercase()] {
            let template = format!("{scheme}={}", gateway.url("/{scheme},{host},{port},{path},{url}"));
            let ran = through(&[&template], &[], url);
            ensure(ran.exit == 0, || format!("{url}: {ran:?}"))?;
            let (got, wanted) = (ran.text(), format!("/{places}"));
            ensure(got == wanted, || format!("{url}:\n  {got}\n  {wanted}"))?;
        }
        Ok(())
    });
    // Each place as often as it stands there, or not at all; in a query too.
    for (template, asked) in [
        ("/{path}/{path}", "/db/db"),
        ("/fixed", "/fixed"),
        ("/x?u={url}&p={port}", "/x?u=wais%3A%2F%2Fh%2Fdb&p=210"),
    ] {
        let ran = through(&[&format!("wais={}", gateway.url(template))], &[], "wais://h/db");
        assert_eq!(ran.exits(0).text(), asked);
    }
    // Of two for one scheme the last; those of other schemes are not asked.
    let (one, two) = (format!("wais={}", gateway.url("/1")), format!("wais={}", gateway.url("/2")));
    let other = format!("afs={}", gateway.url("/3"));
    assert_eq!(through(&[&one, &two, &other], &[], "wais://h/db").exits(0).text(), "/2");
    through(&[&other], &[], "nfs://h/x").exits(1);
}

#[test]
fn templates_that_are_wrong() {
    for template in [
        "wais",
        "wais=",
        "=http://h/{url}",
        "=",
        "w s=http://h/{url}",
        "wais=/x/{url}",
        "wais={url}",
        "wais=http://127.0.0.1/{foo}",
        "wais=http://127.0.0.1/{URL}",
        "wais=http://127.0.0.1/{",
        "wais=http://127.0.0.1/}",
        "wais=http://127.0.0.1/{url",
        "wais=http://127.0.0.1/{}",
        "wais=http://127.0.0.1/ {url}",
        "wais=http://127.0.0.1/%zz{url}",
        "wais=http://[bad/{url}",
        "wais=http://127.0.0.1:x/{url}",
        "wais=//h/{url}",
    ] {
        let ran = through(&[template], &[], "wais://h/db");
        assert_eq!((ran.exit, ran.text().as_str()), (2, ""), "{template}: {ran:?}");
    }
    // Known before anything is asked, whoever is asked.
    let server = serving(|_| HttpReply::new(200).body("x"));
    through(&["wais=http://127.0.0.1/{foo}"], &[], &server.url("/")).exits(2);
    assert_eq!(server.requests().len(), 0);
}

/// What the URL keeps secret, and what was meant for its server, is not the gateway's.
#[test]
fn credentials_stay_here() {
    let gateway = mirror();
    for (url, shown) in [
        ("ftp://joe:geheim@h/x", "ftp%3A%2F%2Fjoe%40h%2Fx"),
        ("http://joe:geheim@h/x", "http%3A%2F%2Fjoe%40h%2Fx"),
        ("telnet://joe:geheim@h/", "telnet%3A%2F%2Fjoe%40h%2F"),
        ("telnet://joe:@h/", "telnet%3A%2F%2Fjoe%40h%2F"),
        ("x-foo://joe:geheim@h/x", "x-foo%3A%2F%2Fjoe%40h%2Fx"),
        ("afs://joe:geheim@h/x", "afs%3A%2F%2Fjoe%40h%2Fx"),
        ("foo://joe:geheim@h/x", "foo%3A%2F%2Fjoe%40h%2Fx"),
    ] {
        let scheme = url.split(':').next().expect("a scheme");
        let ran = through(&[&format!("{scheme}={}", gateway.url("/{url}"))], &["-v"], url);
        assert_eq!(ran.exits(0).text(), format!("/{shown}"), "{url}");
        assert!(!ran.stderr.contains("geheim"), "{ran:?}");
        let ran = through(&[&format!("{scheme}={}", gateway.url("/{host}/{path}"))], &["-v"], url);
        assert!(!format!("{} {}", ran.text(), ran.stderr).contains("geheim"), "{url}: {ran:?}");
    }
}

#[test]
fn what_was_meant_for_the_server() {
    let all = |gateway: &HttpServer| format!("{:?}", gateway.requests());
    for url in ["http://h/x", "ftp://h/x", "x-foo://h/x", "wais://h/db"] {
        let gateway = mirror();
        let scheme = url.split(':').next().expect("a scheme");
        let template = format!("{scheme}={}", gateway.url("/{url}"));
        for words in [
            &["-u", "joe:canary"][..],
            &["-H", "X-Secret: canary"],
            &["-H", "Authorization: canary"],
            &["-b", "a=canary"],
        ] {
            let ran = through(&[&template], &[words, &["-v"]].concat(), url);
            assert!(!ran.stderr.contains("canary"), "{ran:?}");
        }
        let seen = all(&gateway);
        assert!(
            gateway.requests().len() == 4 && !seen.contains("canary") && !seen.contains("uthorization"),
            "{seen}"
        );
        assert!(!seen.contains("am9lOmNhbmFyeQ"), "{seen}");
    }
    // A cookie of the gateway's own is its own.
    let server = serving(|request| match request.path().as_str() {
        "/next" => HttpReply::new(200).body("over"),
        _ => HttpReply::new(302).header("Set-Cookie", "own=1; Path=/").header("Location", "/next"),
    });
    through(&[&format!("x-foo={}", server.url("/{path}"))], &["-u", "joe:canary"], "x-foo:a").exits(0);
    assert!(!all(&server).contains("am9lOmNhbmFyeQ"), "{}", all(&server));
}

/// On the gateway's own server nothing is rewritten; elsewhere it is.
#[test]
fn its_own_server() {
    let (gateway, other) = (mirror(), mirror());
    let template = format!("http={}", gateway.url("/gw/{url}"));
    assert_eq!(through(&[&template], &[], &gateway.url("/direct?x")).exits(0).text(), "/direct?x");
    let text = through(&[&template], &[], &other.url("/elsewhere")).exits(0).text();
    assert!(text.starts_with("/gw/http%3A%2F%2F127.0.0.1%3A") && text.ends_with("%2Felsewhere"), "{text}");
    assert_eq!(other.requests().len(), 0);
}

/// A gateway that answers every path with this Location, and `/end` with a body.
fn leading_to(location: &'static str) -> HttpServer {
    serving(move |request| match request.path().as_str() {
        "/end" => HttpReply::new(200).body("over"),
        _ => HttpReply::new(302).header("Location", location),
    })
}

/// Where a gateway leads is judged like every redirect.
#[test]
fn redirects_of_a_gateway() {
    for (location, words, status) in [
        ("/end", &[][..], 0),
        ("/other", &[], 47),
        ("file:///etc/passwd", &[], 90),
        ("wais://h/db", &[], 90),
        ("wais://other/db", &[], 90),
        ("telnet://127.0.0.1:2323/", &[], 90),
        ("mailto:a@b", &[], 90),
        ("x-foo:other", &[], 90),
        ("unknown:a", &[], 90),
        // Where it was allowed to lead back, that ends.
        ("wais://h/db", &["--proto-redir", "+wais"], 47),
        ("x-foo:a", &["--proto-redir", "+x-foo"], 47),
    ] {
        let gateway = leading_to(location);
        let template = |scheme: &str| format!("{scheme}={}", gateway.url("/{path}"));
        let ran = through(&[&template("wais"), &template("x-foo")], words, "wais://h/db");
        let is_right = ran.exit == status || status == 90 && ran.exit == 1;
        assert!(is_right && !ran.text().contains("root:"), "{location} {words:?}: {ran:?}");
        assert!(gateway.requests().len() <= 12, "{location}: {}", gateway.requests().len());
    }
    // To http elsewhere, which has a gateway of its own.
    let end = mirror();
    let away = end.url("/away");
    let gateway = serving(move |_| HttpReply::new(302).header("Location", &away));
    let ran = through(&[&format!("wais={}", gateway.url("/{path}"))], &["-u", "joe:canary"], "wais://h/db");
    assert_eq!(ran.exits(0).text(), "/away");
    assert!(!format!("{:?}", end.requests()).contains("uthorization"));
}

/// Gateways for each other's schemes come to an end.
#[test]
fn loops() {
    let gateway = mirror();
    for gateways in [
        &["x-a=x-a:{url}"][..],
        &["x-a=x-b:{url}", "x-b=x-a:{url}"],
        &["wais=wais://h2/{path}", "http=wais://h/{path}"],
        &["x-a=x-b:{path}", "x-b=x-c:{path}", "x-c=x-a:{path}"],
        &["x-a=mid:{path}", "mid=x-a:{path}"],
    ] {
        let ran = through(gateways, &["-m", "5"], "x-a:q");
        assert!([1, 2, 47].contains(&ran.exit), "{gateways:?}: {ran:?}");
    }
    assert_eq!(gateway.requests().len(), 0);
}

/// The gate judges what comes out.
#[test]
fn the_gate() {
    let gateway = mirror();
    let template = format!("wais={}", gateway.url("/{url}"));
    for words in [&["--proto", "=wais"][..], &["--proto", "-http"], &["--public-only"]] {
        through(&[&template], words, "wais://h/db").exits(90);
    }
    through(&["wais=http://127.0.0.1:25/{url}"], &[], "wais://h/db").exits(90).says("--allow-port 25");
    through(&["wais=http://169.254.169.254/{url}"], &["--public-only"], "wais://h/db").exits(90);
    assert_eq!(gateway.requests().len(), 0);
    through(&[&template], &["--proto", "=wais,http"], "wais://h/db").exits(0);
    // Decoded octets that would change the protocol are refused there as anywhere.
    let gopher =
        GopherServer::start(GopherSite::new().item(GopherItem::text("/a", "text\r\n"))).expect("a server");
    let template = format!("x-foo={}", gopher.url("0/{path}"));
    through(&[&template], &[], "x-foo:a%0D%0Ab").exits(93);
    assert_eq!(gopher.requests().len(), 0);
    assert_eq!(through(&[&template], &[], "x-foo:a").exits(0).text(), "text\r\n");
    // One that has no access method itself is told as what it is.
    through(&["wais=unknown:{url}"], &[], "wais://h/db").exits(1).says("unknown scheme");
    through(&["wais=afs://cell/{path}"], &[], "wais://h/db").exits(1).says("reserved");
}

#[test]
fn explained() {
    let gateway = mirror();
    let template = format!("wais={}", gateway.url("/{url}"));
    for verb in [&["explain"][..], &["explain", "--json"]] {
        let ran = fetch([verb, &["--gateway", &template, "wais://h/db"]].concat());
        assert!(ran.exits(0).text().contains(&gateway.url("/wais%3A%2F%2Fh%2Fdb")), "{ran:?}");
        let template = format!("ftp={}", gateway.url("/{url}"));
        let ran = fetch([verb, &["--gateway", &template, "ftp://joe:geheim@h/x"]].concat());
        assert!(
            ran.exits(0).text().contains("ftp%3A%2F%2Fjoe%40h%2Fx") && !ran.text().contains("geheim"),
            "{ran:?}"
        );
        fetch([verb, &["--gateway", "wais=/x", "wais://h/db"]].concat()).exits(2);
    }
    assert_eq!(gateway.requests().len(), 0);
}

fn news() -> NntpServer {
    let article = NntpArticle::post("one@test.invalid", "first", "the body\r\n");
    NntpServer::start(NntpSite::new().group(NntpGroup::new("fetch.test").next(article))).expect("a server")
}

/// `news=nntp://server` is the news server.
#[test]
fn a_news_server_as_a_gateway() {
    let server = news();
    for template in
        [format!("news=nntp://{}", server.news_server()), format!("news=nntp://{}/", server.news_server())]
    {
        let ran = through(&[&template], &[], "news:one@test.invalid");
        assert!(ran.exits(0).text().ends_with("\r\n\r\nthe body\r\n"), "{ran:?}");
        let ran = through(&[&template], &[], "news:fetch.test");
        assert!(ran.exits(0).text().contains("first"), "{ran:?}");
        let ran = through(&[&template], &[], "news:*");
        assert!(ran.exits(0).text().contains("fetch.test"), "{ran:?}");
        through(&[&template], &[], "news:gone@test.invalid").exits(78);
        through(&[&template], &["--public-only"], "news:fetch.test").exits(90);
        through(&[&template], &["--proto", "=http"], "news:fetch.test").exits(90);
    }
    // Any other gateway is one for news as well.
    let gateway = mirror();
    let template = format!("news={}", gateway.url("/{path}"));
    assert_eq!(through(&[&template], &[], "news:fetch.test").exits(0).text(), "/fetch.test");
}

/// `mid:` on a configured news server is the article of that message-id, and a note says so.
#[test]
fn mid_is_a_message() {
    let server = news();
    let address = server.news_server();
    let template = format!("news=nntp://{address}");
    for words in [["--news-server", &address], ["--gateway", &template]] {
        let ran = fetch([&words[..], &["mid:one@test.invalid"]].concat());
        assert!(ran.exits(0).text().ends_with("\r\n\r\nthe body\r\n"), "{ran:?}");
        ran.says("note: ");
        let json = fetch([&words[..], &["--format", "json", "mid:one@test.invalid"]].concat());
        assert!(json.exits(0).stderr.contains("\"note\""), "{json:?}");
        fetch([&words[..], &["mid:gone@test.invalid"]].concat()).exits(78);
        fetch([&words[..], &["mid:a%0D%0AQUIT@b"]].concat()).exits(93);
        let ran = fetch([&words[..], &["mid:fetch.test"]].concat());
        assert!(ran.exit != 0 && !ran.text().contains("first"), "a group is no message: {ran:?}");
        // The others are reserved all the same.
        fetch([&words[..], &["cid:one@test.invalid"]].concat()).exits(1).says("reserved");
    }
    assert!(server.dialogue().iter().any(|line| line.contains("ARTICLE <one@test.invalid>")));
    fetch(["mid:one@test.invalid"]).exits(1).says("reserved");
    // Who names a gateway for it means that.
    let gateway = mirror();
    let template = format!("mid={}", gateway.url("/{path}"));
    let ran = fetch(["--news-server", &address, "--gateway", &template, "mid:one@test.invalid"]);
    assert_eq!(ran.exits(0).text(), "/one@test.invalid");
}

#[test]
fn mid_is_explained() {
    let ran = fetch(["explain", "--gateway", "news=nntp://127.0.0.1:1199", "mid:one@test.invalid"]);
    assert!(ran.exits(0).text().contains("ARTICLE <one@test.invalid>"), "{ran:?}");
}

/// Where one is led, a gateway is asked as well, if one may be led there; and one that leads on and on is left.
#[test]
fn hops_to_a_gateway() {
    let gateway = mirror();
    let server = serving(|_| HttpReply::new(302).header("Location", "ftp://joe:geheim@h/x"));
    let template = format!("ftp={}", gateway.url("/{url}"));
    through(&[&template], &["-u", "joe:canary"], &server.url("/")).exits(90);
    let words = ["--proto-redir", "+ftp", "-u", "joe:canary", "-b", "a=canary"];
    let ran = through(&[&template], &words, &server.url("/"));
    assert_eq!(ran.exits(0).text(), "/ftp%3A%2F%2Fjoe%40h%2Fx");
    let seen = format!("{:?}", gateway.requests());
    assert!(!seen.contains("canary") && !seen.contains("uthorization"), "{seen}");
    let endless = leading_to("http://h.test.invalid/on/and/on");
    let template = format!("http={}", endless.url("/{url}"));
    through(&[&template], &[], "http://h.test.invalid/").exits(47);
    assert!(endless.requests().len() <= 12, "{}", endless.requests().len());
}

/// What a gateway gives is an object, whatever the URL names.
#[test]
fn an_object_after_all() {
    let (gateway, here) = (mirror(), tempfile::tempdir().expect("a directory"));
    for url in ["mailto:a@b", "telnet://h/", "x-foo:a", "tn3270://h/"] {
        let template = format!("{}={}", url.split(':').next().expect("a scheme"), gateway.url("/{scheme}"));
        for word in ["--fail-advisory", "--connect", "--open"] {
            let ran = fetch_in(here.path(), ["--gateway", &template, word, "-o", "out", url]);
            assert!(ran.exit != 99, "{url} {word}: {ran:?}");
        }
        let ran = fetch_in(here.path(), ["--gateway", &template, "--fail-advisory", "-o", "out", url]);
        ran.exits(0);
        assert!(content_of(here.path(), "out").starts_with('/'), "{url}");
    }
}

/// A way that Prospero names leads through the gateway of its scheme; a gateway for Prospero itself leaves the server alone.
#[test]
fn ways_of_an_object() {
    let gateway = mirror();
    let ways = [&["AFTP", "INTERNET-D", "f.test", "ASCII", "/pub/x", "BINARY"][..]];
    let object = ProsperoObject::file("octets").own_access(&ways);
    let server = ProsperoServer::start(ProsperoSite::new().object("/o", object)).expect("a server");
    let url = server.object_url(b"/o");
    let ran = through(&[&format!("ftp={}", gateway.url("/{host}/{url}"))], &[], &url);
    assert!(ran.exits(0).text().starts_with("/f.test/ftp%3A%2F%2Ff.test%2F"), "{ran:?}");
    let asked = server.requests().len();
    let ran = through(&[&format!("prospero={}", gateway.url("/{host}/{port}"))], &[], &url);
    assert_eq!(ran.exits(0).text(), format!("/127.0.0.1/{}", server.addr().port()));
    assert_eq!(server.requests().len(), asked);
}
