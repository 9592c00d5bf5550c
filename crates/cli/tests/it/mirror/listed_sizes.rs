//! Files whose size differs from the size in the listing.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::support::mirror::{index_page, list_files, nginx_index_with_sizes, received_commands, run_mirror};
use crate::support::{http_server, temp_dir};
use fetch_url_tests::{
    ContentCoding, Ending, FtpAction, FtpConfig, FtpRule, FtpServer, HttpResponse, HttpServer, encode,
};

const DATE: &str = "Thu, 01 Dec 1994 12:34:00 GMT";
/// The content of the file, with the size of the listing.
const CONTENT: &str = "0123456789";

/// A server whose listing states the size of [`CONTENT`] for `/d/f`.
struct Site {
    server: HttpServer,
    reply: Arc<Mutex<HttpResponse>>,
}

impl Site {
    fn new(reply: HttpResponse) -> Self {
        let reply = Arc::new(Mutex::new(reply));
        let current = reply.clone();
        let server = http_server(move |request| match request.path().as_str() {
            "/d/" => nginx_index_with_sizes(&[("f", "10")]),
            _ => current.lock().expect("a reply").clone(),
        });
        Self { server, reply }
    }

    fn set_reply(&self, reply: HttpResponse) {
        *self.reply.lock().expect("a reply") = reply;
    }

    fn url(&self) -> String {
        self.server.url("/d/")
    }

    /// Returns the number of requests for the file.
    fn requests(&self) -> usize {
        self.server.requests().iter().filter(|request| request.path() == "/d/f").count()
    }
}

fn dated() -> HttpResponse {
    HttpResponse::new(200).header("Last-Modified", DATE)
}

fn content(directory: &Path) -> String {
    fs::read_to_string(directory.join("f")).unwrap_or_default()
}

#[test]
fn body_without_proof_that_is_shorter_than_listed_is_truncated() {
    let (site, dir) = (Site::new(dated().until_close("0123")), temp_dir());
    let result = run_mirror(&site.url(), dir.path(), "");
    result.assert_exit(18).assert_stderr_contains("after 4 bytes; the listing states 10 bytes");
    assert_eq!(list_files(dir.path()), [""; 0]);
    site.set_reply(dated().until_close(CONTENT));
    run_mirror(&site.url(), dir.path(), "").assert_exit(0);
    assert_eq!(content(dir.path()), CONTENT);
}

#[test]
fn ftp_transfer_without_size_that_is_shorter_than_listed_is_truncated() {
    let site = FtpConfig::new().file("/d/f", CONTENT).modified("/d/f", "19941201123400");
    let site = site.without("SIZE").without("MDTM").final_reply("226 Transfer complete.\r\n");
    let site = site.rule(FtpRule::on("RETR", FtpAction::CutData(4, Ending::Close)).nth(1));
    let (server, dir) = (FtpServer::start(site).expect("a server on loopback"), temp_dir());
    run_mirror(&server.url("d/"), dir.path(), "").assert_exit(18);
    assert_eq!(list_files(dir.path()), [""; 0]);
    run_mirror(&server.url("d/"), dir.path(), "").assert_exit(0);
    assert_eq!(content(dir.path()), CONTENT);
}

/// A complete response of another size, such as a page with status 200 that announces maintenance.
#[test]
fn file_of_another_size_than_listed_is_fetched_again_until_it_is_the_listed_one() {
    for reply in [HttpResponse::new(200).body("Down."), dated().body("Down for maintenance.")] {
        let (site, dir) = (Site::new(reply), temp_dir());
        run_mirror(&site.url(), dir.path(), "").assert_exit(0);
        assert!(content(dir.path()).starts_with("Down"));
        site.set_reply(
            HttpResponse::new(200).header("Last-Modified", "Thu, 01 Dec 1994 12:34:56 GMT").body(CONTENT),
        );
        run_mirror(&site.url(), dir.path(), "").assert_exit(0);
        assert_eq!(content(dir.path()), CONTENT);
        let before = site.requests();
        run_mirror(&site.url(), dir.path(), "").assert_exit(0);
        assert_eq!(site.requests(), before, "the listing shows that it is unchanged");
    }
}

#[test]
fn file_of_another_size_than_listed_is_not_fetched_again_if_its_metadata_are_unchanged() {
    let (site, dir) = (Site::new(dated().body("always longer")), temp_dir());
    for _ in 0..3 {
        run_mirror(&site.url(), dir.path(), "").assert_exit(0);
    }
    let requests = site.server.requests();
    let methods: Vec<_> =
        requests.iter().filter(|request| request.path() == "/d/f").map(|request| &*request.method).collect();
    assert_eq!(methods, ["GET", "HEAD", "HEAD"]);
}

#[test]
fn file_of_another_size_than_listed_is_requested_by_get_if_head_is_refused() {
    for status in [400, 403, 405, 408, 429, 500, 501, 502, 503] {
        let reply = Arc::new(Mutex::new("Down"));
        let current = reply.clone();
        let server = http_server(move |request| match (request.path().as_str(), &*request.method) {
            ("/d/", _) => nginx_index_with_sizes(&[("f", "10")]),
            (_, "HEAD") => HttpResponse::new(status),
            _ => dated().body(*current.lock().expect("a reply")),
        });
        let dir = temp_dir();
        for expected in ["Down", CONTENT] {
            *reply.lock().expect("a reply") = expected;
            run_mirror(&server.url("/d/"), dir.path(), "").assert_exit(0);
            assert_eq!(content(dir.path()), expected, "{status}");
        }
    }
}

#[test]
fn refused_head_is_not_retried_after_a_retry_has_failed_at_the_server() {
    // Up to four files are requested at once, and each of these requests may be retried. A request on a connection that was used before, and that the server closes
    // without a response, is sent again over a new one.
    for (refusal, max_heads) in [(HttpResponse::new(503), 12 + 4), (HttpResponse::raw(""), 2 * 12 + 4)] {
        let heads = heads_of_12_files(refusal);
        assert!((13..=max_heads).contains(&heads), "{heads} requests of 12 files");
    }
}

/// Runs a mirror of 12 files twice and returns the number of requests with HEAD, which the server refuses.
#[track_caller]
fn heads_of_12_files(refusal: HttpResponse) -> usize {
    let names: Vec<String> = (0..12).map(|number| format!("f{number}")).collect();
    let index = nginx_index_with_sizes(&names.iter().map(|name| (&**name, "10")).collect::<Vec<_>>());
    let server = http_server(move |request| match (request.path().as_str(), &*request.method) {
        ("/d/", _) => index.clone(),
        (_, "HEAD") => refusal.clone(),
        _ => dated().body("Down"),
    });
    let dir = temp_dir();
    for _ in 0..2 {
        run_mirror(&server.url("/d/"), dir.path(), "--retry 6 --retry-delay 1").assert_exit(0);
    }
    server.requests().iter().filter(|request| request.method == "HEAD").count()
}

/// `identity` and `none` name no coding.
#[test]
fn body_that_is_shorter_than_listed_is_truncated_if_its_content_coding_is_none() {
    for coding in ["identity", "none", "NONE", ""] {
        let (site, dir) =
            (Site::new(dated().header("Content-Encoding", coding).until_close("short")), temp_dir());
        for _ in 0..2 {
            run_mirror(&site.url(), dir.path(), "").assert_exit(18);
        }
        assert_eq!(site.requests(), 2, "{coding}");
    }
}

#[test]
fn file_that_has_grown_since_it_was_listed_is_saved() {
    for reply in [dated().until_close("0123456789ab"), dated().body("0123456789ab")] {
        let (site, dir) = (Site::new(reply), temp_dir());
        run_mirror(&site.url(), dir.path(), "").assert_exit(0);
        assert_eq!(content(dir.path()), "0123456789ab");
    }
}

/// A transfer that did not match the reply to SIZE, such as one of a file that was growing.
#[test]
fn file_of_another_length_than_its_size_is_fetched_again_until_it_has_that_length() {
    let site = FtpConfig::new().file("/d/f", CONTENT).modified("/d/f", "19941201123400");
    let site = site.rule(FtpRule::on("RETR", FtpAction::AppendData(b"more".to_vec())).nth(1));
    let (server, dir) = (FtpServer::start(site).expect("a server on loopback"), temp_dir());
    for (transferred, expected) in [(1, "0123456789more"), (2, CONTENT), (2, CONTENT)] {
        run_mirror(&server.url("d/"), dir.path(), "").assert_exit(0);
        assert_eq!(content(dir.path()), expected);
        assert_eq!(received_commands(&server, "RETR").len(), transferred, "{:?}", server.received_text());
    }
}

/// The size in the header is that of the coded file.
#[test]
fn coded_file_of_another_size_than_listed_is_not_fetched_again() {
    let coded = encode(ContentCoding::Gzip, b"a decoded text that is longer").expect("a coder");
    let coded = dated().header("Content-Encoding", "gzip").header("ETag", "\"1\"").body(coded);
    let (server, dir) = (
        http_server(move |request| match request.path().as_str() {
            "/d/" => index_page("<a href=\"f\">f</a>\r\n"),
            _ => coded.clone(),
        }),
        temp_dir(),
    );
    for expected in ["1 file,", "0 files,"] {
        let result = run_mirror(&server.url("/d/"), dir.path(), "--compressed");
        result.assert_exit(0).assert_stderr_contains(expected);
    }
    assert_eq!(content(dir.path()), "a decoded text that is longer");
}

/// The listing states the size before the content coding, or with other line ends.
#[test]
fn size_of_coded_or_converted_file_is_not_compared_with_the_listing() {
    let coded = encode(ContentCoding::Gzip, b"short").expect("a coder");
    let coded = dated().header("Content-Encoding", "gzip").until_close(coded);
    let (site, dir) = (Site::new(coded), temp_dir());
    for _ in 0..2 {
        run_mirror(&site.url(), dir.path(), "--compressed").assert_exit(0);
    }
    assert_eq!((&*content(dir.path()), site.requests()), ("short", 1));

    let site = FtpConfig::new().file("/d/f", "one\r\ntwo\r\n").modified("/d/f", "19941201123400");
    let (server, dir) = (FtpServer::start(site).expect("a server on loopback"), temp_dir());
    for _ in 0..2 {
        run_mirror(&server.url("d/"), dir.path(), "--use-ascii").assert_exit(0);
    }
    assert_eq!(received_commands(&server, "RETR").len(), 1, "{:?}", server.received_text());
}
