//! URLs that a server names for an object, by `Link: rel=duplicate` or in a Metalink document: the rules of redirects hold
//! for their addresses, schemes and secrets (docs/spec/semantics.md 3.11, 3.12).

use crate::support::{
    RunResult, http_server, read_text_file, run_fetch_url_in, strong_etag_headers, temp_dir,
};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer, ProxyServer, ServerCert, file_handler};

/// The SHA-256 of `object` in base64.
const DIGEST: &str = "sha-256=:KVjUFtCKpaRy17UJA2y36v1UKt2EUn5moUXqZMtM3HU=:";

/// The SHA-256 of `object` in hexadecimal.
const SHA256: &str = "2958d416d08aa5a472d7b509036cb7eafd542add84527e66a145ea64cb4cdc75";

/// The SHA-256 of 4 MiB of the byte 7.
const SEGMENTED_DIGEST: &str = "sha-256=:x1YQDXOLl7lTUGkETgLFqSyw9ixK7NepIBb+sRktL28=:";

fn object_server() -> HttpServer {
    http_server(|_| HttpResponse::new(200).body("object"))
}

/// Replies for a server that names `url`: a failure with a duplicate, or a Metalink document at `/document`.
fn naming(url: &str) -> impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static {
    let url = url.to_owned();
    move |request| {
        match request.path().as_str() {
        "/document" => HttpResponse::new(200).body(format!(
            "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"f\"><url>{url}</url></file></metalink>"
        )),
        "/digest" => HttpResponse::new(200)
            .header("Link", format!("<{url}>; rel=duplicate"))
            .header("Repr-Digest", DIGEST)
            .body("object")
            .cut_body_at(2)
            .then_close(),
        _ => HttpResponse::new(503).header("Link", format!("<{url}>; rel=duplicate")),
    }
    }
}

/// Fetches the object of `url` to `f`, with the URLs that its server names.
fn run(options: &str, url: &str) -> (RunResult, Option<String>) {
    let dir = temp_dir();
    let from_document = ["--metalink", url];
    let from_header = ["--metalink-over-http", "-o", "f", url];
    let named = if url.ends_with("/document") { &from_document[..] } else { &from_header };
    let options = ["--retry", "0", "--connect-timeout", "2"].into_iter().chain(options.split_whitespace());
    let result = run_fetch_url_in(dir.path(), options.chain(named.iter().copied()));
    let file = dir.path().join("f").exists().then(|| read_text_file(dir.path(), "f"));
    (result, file)
}

#[test]
fn private_address_that_a_public_server_names_is_refused() {
    let (inside, proxy) = (object_server(), ProxyServer::http().expect("a proxy"));
    let port = inside.addr().port();
    for host in ["127.0.0.1", "10.0.0.1", "[::1]", "localhost"] {
        let outside = http_server(naming(&format!("http://{host}:{port}/x")));
        for (from, path) in [("93.184.216.34", "x"), ("a.test", "x"), ("a.test", "document")] {
            let url = format!("http://{from}:{}/{path}", outside.addr().port());
            let direct = "--noproxy 127.0.0.1,10.0.0.1,::1,localhost";
            // The list would be fetched before the object, from the same server.
            let list = &*format!("{direct} --checksum-from auto");
            let options = ["", direct, "--segments 3", list];
            for options in &options[..if path == "document" { 4 } else { 3 }] {
                let (result, file) = run(&format!("-x {} {options}", proxy.url()), &url);
                assert_eq!(result.exit, 90, "{from} {path} to {host} {options}: {}", result.stderr);
                assert_eq!(file, None);
            }
        }
    }
    assert_eq!(inside.connections(), 0, "a connection to the private address");
    // A private server may name private addresses, and the user may allow them.
    let outside = http_server(naming(&inside.url("/x")));
    let url = format!("http://a.test:{}/x", outside.addr().port());
    for (options, url) in
        [(format!("-x {} --allow-private", proxy.url()), url), (String::new(), outside.url("/x"))]
    {
        let (result, file) = run(&options, &url);
        assert_eq!((result.exit, file.as_deref()), (0, Some("object")), "{options}: {}", result.stderr);
    }
}

/// The segments of an object that the public server itself sends are not requested at a private address.
#[test]
fn segments_are_not_fetched_from_a_private_address_that_a_public_server_names() {
    let content = vec![7; 4 << 20];
    let inside = http_server(file_handler(content.clone(), strong_etag_headers()));
    let proxy = ProxyServer::http().expect("a proxy");
    let link = format!("<{}>; rel=duplicate", inside.url("/x"));
    let handler = file_handler(content, strong_etag_headers());
    let outside = http_server(move |request| {
        handler(request).header("Link", &link).header("Repr-Digest", SEGMENTED_DIGEST)
    });
    let segments = |url: &str, options: &str| {
        let (result, file) = run(&format!("--segments 3 {options}"), url);
        assert_eq!(result.exit, 0, "{}", result.stderr);
        assert!(file.is_some());
        inside.connections()
    };
    let url = format!("http://a.test:{}/x", outside.addr().port());
    assert_eq!(segments(&url, &format!("-x {} --noproxy 127.0.0.1", proxy.url())), 0);
    assert_ne!(segments(&outside.url("/x"), ""), 0, "a private server may name it");
}

#[test]
fn url_without_tls_that_an_https_server_names_needs_a_checksum_or_proto_redir() {
    let plain = object_server();
    let cert = ServerCert::self_signed_ca().expect("a certificate");
    let server = HttpServer::start_tls(naming(&plain.url("/x")), &cert).expect("a server");
    for (path, options, exit) in [
        ("/x", "", 90),
        ("/document", "", 90),
        ("/x", "--proto-redir https", 90),
        ("/digest", "", 0),
        ("/digest", "--proto-redir =https", 90),
        ("/x", "--proto-redir http,https", 0),
        ("/document", "--proto-redir all", 0),
    ] {
        let (result, file) = run(&format!("-k {options}"), &server.url(path));
        assert_eq!(result.exit, exit, "{path} {options}: {}", result.stderr);
        assert_eq!(file.is_some(), exit == 0, "{path} {options}");
    }
    // A list without TLS protects nothing.
    let list = http_server(|_| HttpResponse::new(200).body(format!("{SHA256}  digest\n")));
    let options = format!("-k --checksum-from {}", list.url("/list"));
    let (result, file) = run(&options, &server.url("/digest"));
    assert_eq!((result.exit, file), (90, None), "{}", result.stderr);
}

#[test]
fn proto_redir_limits_the_schemes_of_named_urls() {
    let server = http_server(naming("ftp://127.0.0.1:1/x"));
    for (options, exit) in [("", 7), ("--proto-redir =http", 90), ("--proto-redir +ftp", 7)] {
        for path in ["/x", "/document"] {
            let (result, _) = run(&format!("--allow-port 1 {options}"), &server.url(path));
            assert_eq!(result.exit, exit, "{path} {options}: {}", result.stderr);
        }
    }
}
