//! A request that the policy forbids is refused before a connection is made (docs/spec/faults.md, 2.B and 2.D).

use std::time::{Duration, Instant};

use fetch_url::driver::SchemeSupport;
use fetch_url::policy::NetworkPolicy;
use fetch_url::{
    Code, Content, Credential, Credentials, Error, Fetcher, Phase, Policy, Request, Response, Trust,
};
use fetch_url_tests::{HttpResponse, HttpServer, ServerCert};

fn server() -> HttpServer {
    HttpServer::start(|_| HttpResponse::new(200).body("octets")).expect("a server")
}

fn with(change: impl FnOnce(&mut Policy)) -> Fetcher {
    let mut policy = Policy::default();
    change(&mut policy);
    Fetcher::builder().policy(policy).build()
}

async fn refusal(fetcher: &Fetcher, url: &str) -> Error {
    match fetcher.get(url).await {
        Ok(response) => panic!("{url} was fetched: {response:?}"),
        Err(error) => error,
    }
}

async fn bytes(response: Response) -> Vec<u8> {
    match response.content {
        Content::Body(body) => body.collect(1 << 20).await.expect("a body"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn public_only_refuses_every_spelling_of_a_private_address() {
    let server = server();
    let port = server.addr().port();
    let fetcher = with(|policy| policy.network = NetworkPolicy::strict());
    let mut told = Vec::new();
    for host in [
        "127.0.0.1",
        "127.8.9.10",
        "localhost",
        "LOCALHOST",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "0.0.0.0",
        "[::]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "[fe80::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
    ] {
        for scheme in ["http", "https"] {
            let began = Instant::now();
            let error = refusal(&fetcher, &format!("{scheme}://{host}:{port}/")).await;
            if (error.code(), error.exit_status()) != (Code::Policy, 90)
                || began.elapsed() > Duration::from_secs(2)
            {
                told.push(format!("{scheme} {host}: {error:?} after {:?}", began.elapsed()));
            }
        }
    }
    assert!(told.is_empty(), "{told:#?}");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn refusal_names_the_class_of_the_address() {
    for (url, words) in [
        ("http://127.0.0.1/", "127.0.0.1 is a loopback address"),
        ("http://0.0.0.0/", "0.0.0.0 is an unspecified address"),
    ] {
        let error = refusal(&with(|policy| policy.network.public_only = true), url).await.to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[tokio::test]
async fn private_address_is_allowed_by_default() {
    let server = server();
    let by_name = format!("http://localhost:{}/", server.addr().port());
    for url in [server.url("/"), by_name] {
        let response = Fetcher::new().get(&url).await.expect("an answer");
        assert_eq!(bytes(response).await, b"octets");
    }
}

#[tokio::test]
async fn ports_of_other_protocols_are_refused_unless_allowed() {
    let fetcher = Fetcher::new();
    // The ports that the WHATWG blocks, except those that HTTP itself may use.
    for port in [
        1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
        104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513,
        514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720,
        1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
        10080,
    ] {
        let error = refusal(&fetcher, &format!("http://127.0.0.1:{port}/")).await;
        assert_eq!(error.code(), Code::Policy, "{port}: {error:?}");
    }
    let allowed = with(|policy| policy.network.allowed_ports = vec![6667]);
    assert_eq!(refusal(&allowed, "http://127.0.0.1:6667/").await.code(), Code::ConnectFailed);
    assert_eq!(refusal(&allowed, "http://127.0.0.1:6668/").await.code(), Code::Policy);
}

#[tokio::test]
async fn redirects_beyond_the_limit_are_not_followed() {
    let server = HttpServer::start(|request| match request.path().as_str() {
        "/a" => HttpResponse::new(302).header("Location", "/b").body("moved"),
        _ => HttpResponse::new(200).body("found"),
    })
    .expect("a server");
    let url = server.url("/a");
    let followed = Fetcher::new().get(&url).await.expect("an answer");
    assert_eq!((followed.meta.redirects, followed.meta.url.to_string()), (1, server.url("/b")));
    assert_eq!(bytes(followed).await, b"found");
    let stays = with(|policy| policy.redirects.max_redirects = None).get(&url).await.expect("an answer");
    assert_eq!(stays.meta.redirects, 0);
    assert_eq!(bytes(stays).await, b"moved");
    let none = with(|policy| policy.redirects.max_redirects = Some(0));
    assert_eq!(refusal(&none, &url).await.code(), Code::TooManyRedirects);
}

#[tokio::test]
async fn redirect_from_https_to_http_is_refused_unless_allowed() {
    let cert = ServerCert::good().expect("a certificate");
    let plain = server();
    let location = plain.url("/");
    let secure = HttpServer::start_tls(move |_| HttpResponse::new(302).header("Location", &location), &cert);
    let url = secure.as_ref().expect("a server").url("/");
    let trust = || Trust::Authorities(cert.ca_pem().as_bytes().to_vec());
    let strict = Fetcher::builder().trust(trust()).build();
    let error = refusal(&strict, &url).await;
    assert_eq!((error.code(), error.phase()), (Code::Policy, Phase::Redirect));
    assert_eq!(plain.connections(), 0);
    let mut policy = Policy::default();
    policy.redirects.allow_downgrade = true;
    let lax = Fetcher::builder().trust(trust()).policy(policy).build();
    assert_eq!(bytes(lax.get(&url).await.expect("an answer")).await, b"octets");
}

#[tokio::test]
async fn timeouts_report_the_phase_that_expired() {
    let mute =
        HttpServer::start(|_| HttpResponse::raw("").then_stall(Duration::from_secs(9))).expect("a server");
    let stalled = HttpServer::start(|_| {
        HttpResponse::new(200).body(vec![1; 100]).cut_body_at(50).then_stall(Duration::from_secs(9))
    })
    .expect("a server");
    let short = Duration::from_millis(200);
    let error = refusal(&with(|policy| policy.timeouts.reply = short), &mute.url("/")).await;
    assert_eq!((error.code(), error.phase()), (Code::TimedOut, Phase::Reply), "{error:?}");
    assert!(error.is_transient());
    let response = with(|policy| policy.timeouts.idle = short).get(&stalled.url("/")).await.expect("a head");
    let Content::Body(body) = response.content else { panic!("no body") };
    let error = body.collect(1000).await.expect_err("a stall");
    assert_eq!((error.code(), error.phase()), (Code::TimedOut, Phase::Body), "{error:?}");
    let began = Instant::now();
    let error = refusal(&with(|policy| policy.timeouts.total = Some(short)), &mute.url("/")).await;
    assert_eq!(error.code(), Code::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn removed_scheme_is_unsupported() {
    let server = server();
    let fetcher = Fetcher::builder().without("http").build();
    assert_eq!(refusal(&fetcher, &server.url("/")).await.code(), Code::Unsupported);
    assert_eq!(server.connections(), 0);
    let request = Request::new("http://h/").expect("a URL");
    assert_ne!(fetcher.support(request.url()), SchemeSupport::BuiltIn);
    assert_eq!(Fetcher::new().support(request.url()), SchemeSupport::BuiltIn);
}

/// Errors contain no passwords, so that they can be shown to everybody.
#[tokio::test]
async fn errors_and_debug_output_hide_the_password() {
    let server = HttpServer::start(|_| HttpResponse::new(404)).expect("a server");
    let url = server.url("/x").replacen("://", "://u:KanarienVogel@", 1);
    for url in [
        url.as_str(),
        "ftp://u:KanarienVogel@h/",
        "http://u:KanarienVogel@h:x/",
        "http://u:KanarienVogel@127.0.0.1:25/",
    ] {
        let error = refusal(&Fetcher::new(), url).await;
        let shown = format!("{error} {error:?} {error:#?} {:?} {:?}", error.url(), error.hint());
        assert!(!shown.contains("Kanarien"), "{shown}");
    }
    let request = format!("{:?}", Request::new(&url).expect("a URL"));
    assert!(!request.contains("Kanarien"), "{request}");
    let server = self::server();
    let url = server.url("/x").replacen("://", "://u:KanarienVogel@", 1);
    let response = format!("{:?}", Fetcher::new().get(&url).await.expect("an answer"));
    assert!(!response.contains("Kanarien"), "{response}");
}

/// The preset for servers that fetch URLs of untrusted users.
#[tokio::test]
async fn strict_policy_refuses_private_addresses_files_and_other_schemes() {
    let server = server();
    let fetcher = Fetcher::builder().policy(Policy::strict()).build();
    let private = server.url("/");
    for url in [private.as_str(), "ftp://example.com/x", "gopher://example.com/", "file:///etc/hostname"] {
        assert_ne!(refusal(&fetcher, url).await.exit_status(), 0, "{url}");
    }
    assert_eq!(refusal(&fetcher, &private).await.code(), Code::Policy);
    assert_eq!(refusal(&fetcher, "file:///etc/hostname").await.code(), Code::Policy);
    assert_eq!(server.connections(), 0);
}

/// A metadata service returns the credentials of a cloud machine to everybody who can ask.
#[tokio::test]
async fn redirect_from_a_private_server_never_reaches_a_metadata_service() {
    for target in
        ["http://169.254.169.254/latest/", "http://[fd00:ec2::254]/", "http://[::ffff:169.254.169.254]/"]
    {
        let server = HttpServer::start(move |_| HttpResponse::new(302).header("Location", target));
        let server = server.expect("a server");
        let start = Instant::now();
        let error = refusal(&Fetcher::new(), &server.url("/")).await;
        assert_eq!(error.code(), Code::Policy, "{target}: {error}");
        assert!(start.elapsed() < Duration::from_secs(20), "a connection was tried");
    }
}

#[tokio::test]
async fn credential_for_one_origin_is_sent_to_no_other_url_of_the_fetcher() {
    let (mine, other) = (server(), server());
    let bound = Credentials::default().for_origin(&mine.url("/"), Credential::login("me", "secret"));
    let fetcher = Fetcher::builder().credentials(bound.expect("a URL")).build();
    for server in [&mine, &other] {
        fetcher.get(server.url("/a")).await.expect("a response");
    }
    let has_login = |server: &HttpServer| {
        server.requests().iter().any(|request| request.header("authorization").is_some())
    };
    assert!(has_login(&mine) && !has_login(&other));
    let unbound = Credentials::default().for_every_url(Credential::login("me", "secret"));
    let fetcher = Fetcher::builder().credentials(unbound).build();
    fetcher.get(other.url("/b")).await.expect("a response");
    assert!(has_login(&other));
    assert!(Credentials::default().for_origin("no URL", Credential::login("a", "b")).is_err());
}
