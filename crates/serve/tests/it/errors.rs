//! The status and the content of answers that report an error.

use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherServer, NntpConfig, NntpServer, ReservedPort,
};

use crate::support::{TestServer, public_options};

#[test]
fn each_error_has_its_status() {
    let gopher = GopherServer::start(GopherConfig::new()).expect("starts");
    let ftp = FtpServer::start(FtpConfig::new().file("/a", "x")).expect("starts");
    let news = NntpServer::start(NntpConfig::new()).expect("starts");
    let server = TestServer::start();
    for (target, status, code) in [
        (gopher.url("0/missing"), 404, "not_found"),
        (ftp.url("/missing"), 404, "not_found"),
        (news.url("no.group/1"), 404, "not_found"),
        ("/x-unknown:y".to_owned(), 501, "unsupported"),
        ("/gopher://127.0.0.1:1999/0/a b".replace(' ', "%00"), 400, "forbidden_octet"),
        ("/gopher://h:99999/".to_owned(), 400, "bad_url"),
        ("/gopher://nowhere.invalid/".to_owned(), 502, "resolve_failed"),
        ("/news:comp.x".to_owned(), 400, "usage"),
    ] {
        let reply = server.get(&target, &[]);
        assert_eq!((reply.status, reply.problem("code").as_str()), (status, code), "{target}: {reply:?}");
        assert_eq!(reply.problem("status"), status.to_string());
        let page = server.page(&target);
        assert_eq!(page.status, status);
        assert_eq!(page.field("content-type"), Some("text/html; charset=utf-8"));
        page.assert_shows(&[code, "<h1>"]);
    }
}

#[test]
fn refused_connection_is_a_bad_gateway() {
    let port = ReservedPort::tcp().expect("a port");
    let server = TestServer::start();
    let reply = server.get(&format!("/gopher://{}/0/a", port.addr()), &[]);
    assert_eq!((reply.status, reply.problem("code").as_str()), (502, "connect_failed"), "{reply:?}");
}

#[test]
fn start_page_shows_the_last_errors() {
    let server = TestServer::with(public_options());
    server.get("/gopher://u.example:25/0/a", &[]);
    let page = server.page("/");
    page.assert_shows(&["gopher://u.example:25/0/a", "another protocol", "name=\"url\"", "gophers"]);
}

#[test]
fn typed_text_leads_to_its_url() {
    let server = TestServer::start();
    for (typed, location) in [
        ("gopher%3A%2F%2Fh.example%2F1%2F", "/gopher://h.example/1/"),
        ("example.org", "/http://example.org"),
        ("ftp://h.example", "/ftp://h.example/"),
        ("news%3Acomp.lang.rust", "/news:comp.lang.rust"),
    ] {
        let reply = server.page(&format!("/?url={typed}"));
        assert_eq!((reply.status, reply.field("location")), (303, Some(location)), "{typed}");
    }
    let reply = server.page("/ftp://h.example");
    assert_eq!((reply.status, reply.field("location")), (307, Some("/ftp://h.example/")));
}

#[test]
fn start_page_shows_an_error_to_its_client_only_and_without_the_query() {
    let port = ReservedPort::tcp().expect("a port");
    let closed = port.addr();
    let server = TestServer::start();
    for target in
        [format!("/http://{closed}/x?token=canary#canary"), format!("http://canary@{closed}/y?canary")]
    {
        assert_eq!(server.get(&target, &[]).status, 502, "{target}");
    }
    let own = server.page("/");
    own.assert_shows(&[&format!("http://{closed}/x?\u{2026}"), &format!("http://{closed}/y?\u{2026}")]);
    assert!(!own.text().contains("canary"), "{}", own.text());
    let mut other = crate::support::connect_from([127, 0, 0, 2], &server);
    std::io::Write::write_all(
        &mut other,
        format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.addr).as_bytes(),
    )
    .expect("sent");
    let other = crate::support::Reply::read(other);
    assert!(other.status == 200 && !other.text().contains(&closed.to_string()), "{}", other.text());
}
