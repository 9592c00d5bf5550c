//! Logins: status 401, and what is never sent or written.

use fetch_url::Credentials;
use fetch_url_tests::{FtpConfig, FtpServer, HttpResponse, HttpServer};

use crate::support::{LogText, TestServer, options};

/// `me:secret`.
const LOGIN: &str = "Authorization: Basic bWU6c2VjcmV0";

fn ftp() -> FtpServer {
    FtpServer::start(FtpConfig::new().user("me", "secret").file("/a.txt", "hello")).expect("starts")
}

#[test]
fn server_that_needs_a_login_asks_the_user_of_the_browser() {
    let (ftp, server) = (ftp(), TestServer::start());
    for target in [format!("/{}", ftp.url("/a.txt")), ftp.url("/a.txt")] {
        let reply = server.get(&target, &[]);
        let realm = format!("Basic realm=\"ftp://{}\", charset=\"UTF-8\"", ftp.addr());
        assert_eq!((reply.status, reply.field("www-authenticate")), (401, Some(realm.as_str())), "{reply:?}");
        let reply = server.get(&target, &[LOGIN]);
        assert_eq!((reply.status, reply.text().as_str()), (200, "hello"), "{reply:?}");
        let wrong = server.get(&target, &["Authorization: Basic bWU6d3Jvbmc="]);
        assert_eq!(wrong.status, 401);
    }
}

#[test]
fn login_is_sent_to_no_other_server() {
    let (ftp, other, server) = (ftp(), ftp(), TestServer::start());
    assert_eq!(server.get(&format!("/{}", ftp.url("/a.txt")), &[LOGIN]).status, 200);
    let reply = server.get(&format!("/{}", other.url("/a.txt")), &[LOGIN]);
    assert_eq!(reply.status, 401);
    assert!(!other.received_text().join("\n").contains("secret"));
    // A request without the login does not use the connection of the one with it.
    assert_eq!(server.get(&format!("/{}", ftp.url("/a.txt")), &[]).status, 401);
}

#[test]
fn http_server_that_needs_a_login_gets_it() {
    let http = HttpServer::start(|request| match request.header_text("authorization") {
        Some("Basic bWU6c2VjcmV0") => HttpResponse::new(200).body("hello"),
        _ => HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"own\"").body("login"),
    })
    .expect("starts");
    let server = TestServer::start();
    let path = format!("/{}", http.url("/a"));
    let reply = server.get(&path, &[]);
    assert_eq!(reply.status, 401, "{reply:?}");
    assert!(
        reply.field("www-authenticate").is_some_and(|realm| realm.contains("http://127.0.0.1")),
        "{reply:?}"
    );
    assert_eq!(server.get(&path, &[LOGIN]).text(), "hello");
    let proxied = server.get(&http.url("/a"), &[]);
    assert_eq!((proxied.status, proxied.field("www-authenticate")), (401, Some("Basic realm=\"own\"")));
    assert_eq!(server.get(&http.url("/a"), &[LOGIN]).text(), "hello");
}

#[test]
fn passwords_appear_in_no_log_and_no_page() {
    let (ftp, log, events) = (ftp(), LogText::default(), LogText::default());
    let mut options = options();
    (options.log, options.events) = (Some(log.sink()), Some(events.sink()));
    let server = TestServer::with(options);
    let with_login = ftp.url("/a.txt").replace("ftp://", "ftp://me:secret@");
    let wrong = ftp.url("/missing").replace("ftp://", "ftp://me:secret@");
    assert_eq!(server.get(&format!("/{with_login}"), &[]).text(), "hello");
    let mut shown = String::new();
    for target in [format!("/{wrong}"), wrong.clone(), format!("/{}", wrong.replace("missing", "a b"))] {
        shown += &server.page(&target).text();
        shown += &server.get(&target, &[LOGIN]).text();
    }
    shown += &server.page(&format!("/{}", with_login.replace("/a.txt", "/"))).text();
    shown += &server.page("/").text();
    server.stop();
    for text in [shown, log.text(), events.text()] {
        assert!(text.contains("/missing") || text.contains("GET"), "{text}");
        for secret in ["secret", "bWU6c2VjcmV0"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn netrc_is_used_for_its_host() {
    let ftp = ftp();
    let mut options = options();
    let netrc = b"machine 127.0.0.1 login me password secret\n";
    options.credentials = Credentials::default().netrc(netrc, false).expect("a netrc file");
    let server = TestServer::with(options);
    assert_eq!(server.get(&format!("/{}", ftp.url("/a.txt")), &[]).text(), "hello");
}

#[test]
fn many_logins_of_one_client_refuse_no_login() {
    use std::io::{BufRead as _, BufReader, Write as _};
    let (ftp, server) = (ftp(), TestServer::start());
    let mut client = BufReader::new(server.connect());
    // Searches without words are answered without a server.
    for number in 0..10_050 {
        let login = format!("{number:012}");
        let head = format!(
            "HEAD /gopher://a.example/7/s HTTP/1.1\r\nHost: {}\r\nAuthorization: Basic {login}\r\n\r\n",
            server.addr
        );
        client.get_mut().write_all(head.as_bytes()).expect("sent");
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            assert_ne!(client.read_line(&mut line).expect("an answer"), 0);
        }
    }
    assert_eq!(server.get(&format!("/{}", ftp.url("/a.txt")), &[LOGIN]).text(), "hello");
}
