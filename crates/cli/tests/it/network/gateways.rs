//! Gateways (`--gateway`, docs/spec/semantics.md §11), and schemes without an access method: reserved, experimental
//! and unknown ones (§1), and `mid:`.

use crate::support::{
    RunResult, check_in_parallel, echo_server, ensure, http_server, read_text_file, run_fetch_url,
    run_fetch_url_in, temp_dir,
};
use fetch_url_tests::{
    GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer, NntpArticle, NntpConfig, NntpGroup,
    NntpServer, ProsperoConfig, ProsperoObject, ProsperoServer,
};

/// Runs fetch-url with these gateways.
fn run_with_gateways(gateways: &[&str], extra_options: &[&str], url: &str) -> RunResult {
    let gateways = gateways.iter().flat_map(|gateway| ["--gateway", gateway]);
    run_fetch_url(gateways.chain(extra_options.iter().copied()).chain([url]))
}

/// Reserved, experimental and unknown schemes have different messages.
#[test]
fn schemes_without_access_method_exit_with_1_and_a_reason() {
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
        ["foo:bar", "xfoo:bar", "foo://h/p", "zzzz://h/", "host:x", "C:/x", "javascript:x", "mids:a@b"];
    let rows = [
        (&reserved[..], "reserved by RFC 1738 §4, no access method is defined; a gateway can be configured"),
        (&experimental[..], "experimental"),
        (&unknown[..], "unknown scheme"),
    ];
    let reasons = ["reserved", "experimental", "unknown scheme"];
    for (urls, reason) in rows {
        for url in urls {
            let result = run_fetch_url([url]);
            result.assert_exit(1).assert_stderr_contains(reason);
            assert_eq!(reasons.iter().filter(|word| result.stderr.contains(**word)).count(), 1, "{result:?}");
            assert_eq!((result.stdout.len(), result.stderr.lines().count()), (0, 1), "{result:?}");
            let json = run_fetch_url(["--format", "json", url]);
            assert!(json.assert_exit(1).stderr.contains("\"code\":\"unsupported\""), "{json:?}");
            let explained = run_fetch_url(["explain", url]);
            assert!(explained.assert_exit(0).stdout_text().contains("scheme"), "{explained:?}");
        }
    }
    // The scheme of a host is guessed (cli.md, rule for URLs without a scheme), that of a path is not.
    for text in ["//h/x", "/etc/passwd", "./x", ""] {
        run_fetch_url([text]).assert_exit(3);
    }
}

/// A URL and the values of {scheme}, {host}, {port}, {path} and {url}, separated by commas.
const PLACEHOLDER_VALUES: [(&str, &str); 31] = [
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
fn gateway_template_is_filled_for_every_scheme() {
    let gateway = echo_server();
    check_in_parallel(&PLACEHOLDER_VALUES, 4, |&(url, values)| {
        let scheme = url.split(':').next().expect("a scheme").to_lowercase();
        for scheme in [scheme.clone(), scheme.to_uppercase()] {
            let template = format!("{scheme}={}", gateway.url("/{scheme},{host},{port},{path},{url}"));
            let result = run_with_gateways(&[&template], &[], url);
            ensure(result.exit == 0, || format!("{url}: {result:?}"))?;
            let (got, wanted) = (result.stdout_text(), format!("/{values}"));
            ensure(got == wanted, || format!("{url}:\n  {got}\n  {wanted}"))?;
        }
        Ok(())
    });
    // A placeholder may occur several times, in a query, or not at all.
    for (template, requested) in [
        ("/{path}/{path}", "/db/db"),
        ("/fixed", "/fixed"),
        ("/x?u={url}&p={port}", "/x?u=wais%3A%2F%2Fh%2Fdb&p=210"),
    ] {
        let result = run_with_gateways(&[&format!("wais={}", gateway.url(template))], &[], "wais://h/db");
        assert_eq!(result.assert_exit(0).stdout_text(), requested);
    }
    // The last of two gateways for the same scheme is used; gateways of other schemes are not.
    let (one, two) = (format!("wais={}", gateway.url("/1")), format!("wais={}", gateway.url("/2")));
    let other = format!("afs={}", gateway.url("/3"));
    assert_eq!(
        run_with_gateways(&[&one, &two, &other], &[], "wais://h/db").assert_exit(0).stdout_text(),
        "/2"
    );
    run_with_gateways(&[&other], &[], "nfs://h/x").assert_exit(1);
}

#[test]
fn invalid_gateway_template_exits_with_2() {
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
        let result = run_with_gateways(&[template], &[], "wais://h/db");
        assert_eq!((result.exit, result.stdout_text().as_str()), (2, ""), "{template}: {result:?}");
    }
    // An invalid template is reported before any request, also if it is not used.
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    run_with_gateways(&["wais=http://127.0.0.1/{foo}"], &[], &server.url("/")).assert_exit(2);
    assert_eq!(server.requests().len(), 0);
}

/// The password of the URL is neither sent to the gateway nor printed.
#[test]
fn url_password_is_not_sent_to_gateway() {
    let gateway = echo_server();
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
        let result = run_with_gateways(&[&format!("{scheme}={}", gateway.url("/{url}"))], &["-v"], url);
        assert_eq!(result.assert_exit(0).stdout_text(), format!("/{shown}"), "{url}");
        assert!(!result.stderr.contains("geheim"), "{result:?}");
        let result =
            run_with_gateways(&[&format!("{scheme}={}", gateway.url("/{host}/{path}"))], &["-v"], url);
        assert!(
            !format!("{} {}", result.stdout_text(), result.stderr).contains("geheim"),
            "{url}: {result:?}"
        );
    }
}

#[test]
fn credentials_headers_and_cookies_are_not_sent_to_gateway() {
    let received_requests = |gateway: &HttpServer| format!("{:?}", gateway.requests());
    for url in ["http://h/x", "ftp://h/x", "x-foo://h/x", "wais://h/db"] {
        let gateway = echo_server();
        let scheme = url.split(':').next().expect("a scheme");
        let template = format!("{scheme}={}", gateway.url("/{url}"));
        for options in [
            &["-u", "joe:canary"][..],
            &["-H", "X-Secret: canary"],
            &["-H", "Authorization: canary"],
            &["-b", "a=canary"],
        ] {
            let result = run_with_gateways(&[&template], &[options, &["-v"]].concat(), url);
            assert!(!result.stderr.contains("canary"), "{result:?}");
        }
        let received = received_requests(&gateway);
        assert!(
            gateway.requests().len() == 4
                && !received.contains("canary")
                && !received.contains("uthorization"),
            "{received}"
        );
        assert!(!received.contains("am9lOmNhbmFyeQ"), "{received}");
    }
    // A cookie that the gateway sets is sent back to it.
    let server = http_server(|request| match request.path().as_str() {
        "/next" => HttpResponse::new(200).body("over"),
        _ => HttpResponse::new(302).header("Set-Cookie", "own=1; Path=/").header("Location", "/next"),
    });
    run_with_gateways(&[&format!("x-foo={}", server.url("/{path}"))], &["-u", "joe:canary"], "x-foo:a")
        .assert_exit(0);
    assert!(!received_requests(&server).contains("am9lOmNhbmFyeQ"), "{}", received_requests(&server));
}

/// URLs on the gateway's own server are requested directly.
#[test]
fn gateway_is_not_used_for_its_own_server() {
    let (gateway, other) = (echo_server(), echo_server());
    let template = format!("http={}", gateway.url("/gw/{url}"));
    assert_eq!(
        run_with_gateways(&[&template], &[], &gateway.url("/direct?x")).assert_exit(0).stdout_text(),
        "/direct?x"
    );
    let text = run_with_gateways(&[&template], &[], &other.url("/elsewhere")).assert_exit(0).stdout_text();
    assert!(text.starts_with("/gw/http%3A%2F%2F127.0.0.1%3A") && text.ends_with("%2Felsewhere"), "{text}");
    assert_eq!(other.requests().len(), 0);
}

/// Starts a gateway that redirects every path to this Location; `/end` has a body.
fn redirecting_gateway(location: &'static str) -> HttpServer {
    http_server(move |request| match request.path().as_str() {
        "/end" => HttpResponse::new(200).body("over"),
        _ => HttpResponse::new(302).header("Location", location),
    })
}

/// Redirects of a gateway follow the same rules as all redirects.
#[test]
fn redirects_of_a_gateway_are_restricted() {
    for (location, options, status) in [
        ("/end", &[][..], 0),
        ("/other", &[], 47),
        ("file:///etc/passwd", &[], 90),
        ("wais://h/db", &[], 90),
        ("wais://other/db", &[], 90),
        ("telnet://127.0.0.1:2323/", &[], 90),
        ("mailto:a@b", &[], 90),
        ("x-foo:other", &[], 90),
        ("unknown:a", &[], 90),
        // A redirect back to the scheme of the gateway, if allowed, ends at the redirect limit.
        ("wais://h/db", &["--proto-redir", "+wais"], 47),
        ("x-foo:a", &["--proto-redir", "+x-foo"], 47),
    ] {
        let gateway = redirecting_gateway(location);
        let template = |scheme: &str| format!("{scheme}={}", gateway.url("/{path}"));
        let result = run_with_gateways(&[&template("wais"), &template("x-foo")], options, "wais://h/db");
        let is_expected = result.exit == status || status == 90 && result.exit == 1;
        assert!(is_expected && !result.stdout_text().contains("root:"), "{location} {options:?}: {result:?}");
        assert!(gateway.requests().len() <= 12, "{location}: {}", gateway.requests().len());
    }
    // To another HTTP server.
    let other = echo_server();
    let other_url = other.url("/away");
    let gateway = http_server(move |_| HttpResponse::new(302).header("Location", &other_url));
    let result = run_with_gateways(
        &[&format!("wais={}", gateway.url("/{path}"))],
        &["-u", "joe:canary"],
        "wais://h/db",
    );
    assert_eq!(result.assert_exit(0).stdout_text(), "/away");
    assert!(!format!("{:?}", other.requests()).contains("uthorization"));
}

/// Gateways that refer to each other's schemes.
#[test]
fn gateway_loops_end_with_an_error() {
    let gateway = echo_server();
    for gateways in [
        &["x-a=x-a:{url}"][..],
        &["x-a=x-b:{url}", "x-b=x-a:{url}"],
        &["wais=wais://h2/{path}", "http=wais://h/{path}"],
        &["x-a=x-b:{path}", "x-b=x-c:{path}", "x-c=x-a:{path}"],
        &["x-a=mid:{path}", "mid=x-a:{path}"],
    ] {
        let result = run_with_gateways(gateways, &["-m", "5"], "x-a:q");
        assert!([1, 2, 47].contains(&result.exit), "{gateways:?}: {result:?}");
    }
    assert_eq!(gateway.requests().len(), 0);
}

/// --proto, --public-only and blocked ports apply to the URL of the gateway.
#[test]
fn network_policy_applies_to_the_gateway_url() {
    let gateway = echo_server();
    let template = format!("wais={}", gateway.url("/{url}"));
    for options in [&["--proto", "=wais"][..], &["--proto", "-http"], &["--public-only"]] {
        run_with_gateways(&[&template], options, "wais://h/db").assert_exit(90);
    }
    run_with_gateways(&["wais=http://127.0.0.1:25/{url}"], &[], "wais://h/db")
        .assert_exit(90)
        .assert_stderr_contains("--allow-port 25");
    run_with_gateways(&["wais=http://169.254.169.254/{url}"], &["--public-only"], "wais://h/db")
        .assert_exit(90);
    assert_eq!(gateway.requests().len(), 0);
    run_with_gateways(&[&template], &["--proto", "=wais,http"], "wais://h/db").assert_exit(0);
    // Decoded control characters are refused as in every URL.
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "text\r\n"))).expect("a server");
    let template = format!("x-foo={}", gopher.url("0/{path}"));
    run_with_gateways(&[&template], &[], "x-foo:a%0D%0Ab").assert_exit(93);
    assert_eq!(gopher.requests().len(), 0);
    assert_eq!(run_with_gateways(&[&template], &[], "x-foo:a").assert_exit(0).stdout_text(), "text\r\n");
    // The gateway's own URL has no access method.
    run_with_gateways(&["wais=unknown:{url}"], &[], "wais://h/db")
        .assert_exit(1)
        .assert_stderr_contains("unknown scheme");
    run_with_gateways(&["wais=afs://cell/{path}"], &[], "wais://h/db")
        .assert_exit(1)
        .assert_stderr_contains("reserved");
}

#[test]
fn explain_shows_the_gateway_url_without_password() {
    let gateway = echo_server();
    let template = format!("wais={}", gateway.url("/{url}"));
    for verb in [&["explain"][..], &["explain", "--json"]] {
        let result = run_fetch_url([verb, &["--gateway", &template, "wais://h/db"]].concat());
        assert!(
            result.assert_exit(0).stdout_text().contains(&gateway.url("/wais%3A%2F%2Fh%2Fdb")),
            "{result:?}"
        );
        let template = format!("ftp={}", gateway.url("/{url}"));
        let result = run_fetch_url([verb, &["--gateway", &template, "ftp://joe:geheim@h/x"]].concat());
        assert!(
            result.assert_exit(0).stdout_text().contains("ftp%3A%2F%2Fjoe%40h%2Fx")
                && !result.stdout_text().contains("geheim"),
            "{result:?}"
        );
        run_fetch_url([verb, &["--gateway", "wais=/x", "wais://h/db"]].concat()).assert_exit(2);
    }
    assert_eq!(gateway.requests().len(), 0);
}

/// Starts a news server with one group and one article.
fn start_news_server() -> NntpServer {
    let article = NntpArticle::post("one@test.invalid", "first", "the body\r\n");
    NntpServer::start(NntpConfig::new().group(NntpGroup::new("fetch.test").append(article)))
        .expect("a server")
}

/// `--gateway news=nntp://SERVER` selects the news server.
#[test]
fn nntp_gateway_for_news_is_the_news_server() {
    let server = start_news_server();
    for template in
        [format!("news=nntp://{}", server.news_server()), format!("news=nntp://{}/", server.news_server())]
    {
        let result = run_with_gateways(&[&template], &[], "news:one@test.invalid");
        assert!(result.assert_exit(0).stdout_text().ends_with("\r\n\r\nthe body\r\n"), "{result:?}");
        let result = run_with_gateways(&[&template], &[], "news:fetch.test");
        assert!(result.assert_exit(0).stdout_text().contains("first"), "{result:?}");
        let result = run_with_gateways(&[&template], &[], "news:*");
        assert!(result.assert_exit(0).stdout_text().contains("fetch.test"), "{result:?}");
        run_with_gateways(&[&template], &[], "news:gone@test.invalid").assert_exit(78);
        run_with_gateways(&[&template], &["--public-only"], "news:fetch.test").assert_exit(90);
        run_with_gateways(&[&template], &["--proto", "=http"], "news:fetch.test").assert_exit(90);
    }
    // A gateway of another scheme works for news, too.
    let gateway = echo_server();
    let template = format!("news={}", gateway.url("/{path}"));
    assert_eq!(
        run_with_gateways(&[&template], &[], "news:fetch.test").assert_exit(0).stdout_text(),
        "/fetch.test"
    );
}

/// With a configured news server, `mid:` fetches the article with that message identifier and prints a note.
#[test]
fn mid_url_fetches_article_from_news_server() {
    let server = start_news_server();
    let address = server.news_server();
    let template = format!("news=nntp://{address}");
    for options in [["--news-server", &address], ["--gateway", &template]] {
        let result = run_fetch_url([&options[..], &["mid:one@test.invalid"]].concat());
        assert!(result.assert_exit(0).stdout_text().ends_with("\r\n\r\nthe body\r\n"), "{result:?}");
        result.assert_stderr_contains("note: ");
        let json = run_fetch_url([&options[..], &["--format", "json", "mid:one@test.invalid"]].concat());
        assert!(json.assert_exit(0).stderr.contains("\"note\""), "{json:?}");
        run_fetch_url([&options[..], &["mid:gone@test.invalid"]].concat()).assert_exit(78);
        run_fetch_url([&options[..], &["mid:a%0D%0AQUIT@b"]].concat()).assert_exit(93);
        let result = run_fetch_url([&options[..], &["mid:fetch.test"]].concat());
        assert!(
            result.exit != 0 && !result.stdout_text().contains("first"),
            "a group was fetched as a message: {result:?}"
        );
        // The other reserved schemes stay without access method.
        run_fetch_url([&options[..], &["cid:one@test.invalid"]].concat())
            .assert_exit(1)
            .assert_stderr_contains("reserved");
    }
    assert!(server.received_text().iter().any(|line| line.contains("ARTICLE <one@test.invalid>")));
    run_fetch_url(["mid:one@test.invalid"]).assert_exit(1).assert_stderr_contains("reserved");
    // An explicit gateway for `mid` takes precedence.
    let gateway = echo_server();
    let template = format!("mid={}", gateway.url("/{path}"));
    let result = run_fetch_url(["--news-server", &address, "--gateway", &template, "mid:one@test.invalid"]);
    assert_eq!(result.assert_exit(0).stdout_text(), "/one@test.invalid");
}

#[test]
fn explain_shows_article_command_for_mid_url() {
    let result =
        run_fetch_url(["explain", "--gateway", "news=nntp://127.0.0.1:1199", "mid:one@test.invalid"]);
    assert!(result.assert_exit(0).stdout_text().contains("ARTICLE <one@test.invalid>"), "{result:?}");
}

/// The gateway is used for redirect targets as well, if the redirect is allowed; endless redirects end at the limit.
#[test]
fn gateway_is_used_for_allowed_redirect_targets() {
    let gateway = echo_server();
    let server = http_server(|_| HttpResponse::new(302).header("Location", "ftp://joe:geheim@h/x"));
    let template = format!("ftp={}", gateway.url("/{url}"));
    run_with_gateways(&[&template], &["-u", "joe:canary"], &server.url("/")).assert_exit(90);
    let options = ["--proto-redir", "+ftp", "-u", "joe:canary", "-b", "a=canary"];
    let result = run_with_gateways(&[&template], &options, &server.url("/"));
    assert_eq!(result.assert_exit(0).stdout_text(), "/ftp%3A%2F%2Fjoe%40h%2Fx");
    let received = format!("{:?}", gateway.requests());
    assert!(!received.contains("canary") && !received.contains("uthorization"), "{received}");
    let endless = redirecting_gateway("http://h.test.invalid/on/and/on");
    let template = format!("http={}", endless.url("/{url}"));
    run_with_gateways(&[&template], &[], "http://h.test.invalid/").assert_exit(47);
    assert!(endless.requests().len() <= 12, "{}", endless.requests().len());
}

/// The response of a gateway is a file, also for schemes that normally do not name one.
#[test]
fn gateway_response_is_written_to_output_file() {
    let (gateway, dir) = (echo_server(), temp_dir());
    for url in ["mailto:a@b", "telnet://h/", "x-foo:a", "tn3270://h/"] {
        let template = format!("{}={}", url.split(':').next().expect("a scheme"), gateway.url("/{scheme}"));
        for word in ["--fail-advisory", "--connect", "--open"] {
            let result = run_fetch_url_in(dir.path(), ["--gateway", &template, word, "-o", "out", url]);
            assert!(result.exit != 99, "{url} {word}: {result:?}");
        }
        let result =
            run_fetch_url_in(dir.path(), ["--gateway", &template, "--fail-advisory", "-o", "out", url]);
        result.assert_exit(0);
        assert!(read_text_file(dir.path(), "out").starts_with('/'), "{url}");
    }
}

/// The access method of a Prospero object uses the gateway of its scheme. With a gateway for `prospero` itself, the
/// Prospero server is not contacted.
#[test]
fn prospero_access_method_uses_gateway() {
    let gateway = echo_server();
    let access_methods = [&["AFTP", "INTERNET-D", "f.test", "ASCII", "/pub/x", "BINARY"][..]];
    let object = ProsperoObject::file("bytes").intrinsic_access_methods(&access_methods);
    let server = ProsperoServer::start(ProsperoConfig::new().object("/o", object)).expect("a server");
    let url = server.object_url(b"/o");
    let result = run_with_gateways(&[&format!("ftp={}", gateway.url("/{host}/{url}"))], &[], &url);
    assert!(result.assert_exit(0).stdout_text().starts_with("/f.test/ftp%3A%2F%2Ff.test%2F"), "{result:?}");
    let requested = server.requests().len();
    let result = run_with_gateways(&[&format!("prospero={}", gateway.url("/{host}/{port}"))], &[], &url);
    assert_eq!(result.assert_exit(0).stdout_text(), format!("/127.0.0.1/{}", server.addr().port()));
    assert_eq!(server.requests().len(), requested);
}
