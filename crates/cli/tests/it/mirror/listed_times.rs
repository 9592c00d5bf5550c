//! The modification times of files and of their lines in the listing.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::support::mirror::{MIRROR_JOURNAL, index_page, run_mirror, unix_time};
use crate::support::{http_server, temp_dir};
use fetch_url_tests::{HttpResponse, HttpServer};

/// A server with the file `/d/f` and its listing.
struct Site {
    server: HttpServer,
    state: Arc<Mutex<State>>,
}

struct State {
    /// The columns after the name in the listing.
    listed: &'static str,
    file: HttpResponse,
}

impl Site {
    fn new(listed: &'static str, file: HttpResponse) -> Self {
        let state = Arc::new(Mutex::new(State { listed, file }));
        let current = state.clone();
        let server = http_server(move |request| {
            let state = current.lock().expect("a state");
            match request.path().as_str() {
                "/d/" => index_page(&format!("<a href=\"f\">f</a>    {}\r\n", state.listed)),
                _ => state.file.clone(),
            }
        });
        Self { server, state }
    }

    fn set_listed(&self, listed: &'static str) {
        self.state.lock().expect("a state").listed = listed;
    }

    fn set_file(&self, file: HttpResponse) {
        self.state.lock().expect("a state").file = file;
    }

    /// Mirrors the directory and returns the methods of the requests for the file.
    fn mirror(&self, target: &Path) -> Vec<String> {
        let before = self.server.requests().len();
        run_mirror(&self.server.url("/d/"), target, "").assert_exit(0);
        let requests = self.server.requests();
        let of_file = requests[before..].iter().filter(|request| request.path() == "/d/f");
        of_file.map(|request| request.method.clone()).collect()
    }
}

fn file(modified: &str, content: &str) -> HttpResponse {
    HttpResponse::new(200).header("Last-Modified", modified).body(content)
}

fn content(directory: &Path) -> String {
    fs::read_to_string(directory.join("f")).unwrap_or_default()
}

/// A cache, or a server behind a load balancer, sends the old version although the listing shows the new one.
#[test]
fn old_version_under_new_listed_time_is_replaced_when_the_server_sends_the_new_one() {
    const OLD: &str = "Wed, 01 Jan 2020 10:00:00 GMT";
    const NEW: &str = "Mon, 01 Jun 2020 11:07:09 GMT";
    for (old, new) in [
        ("01-Jan-2020 10:00    3", "01-Jun-2020 11:07    3"),
        ("01-Jan-2020 10:00    0.1K", "01-Jun-2020 11:07    0.1K"),
        ("01-Jan-2020 10:00    -", "01-Jun-2020 11:07    -"),
        ("01-Jan-2020    3", "01-Jun-2020    3"),
    ] {
        let (site, dir) = (Site::new(old, file(OLD, "old")), temp_dir());
        assert_eq!(site.mirror(dir.path()), ["GET"], "{new}");
        site.set_listed(new);
        assert_eq!(site.mirror(dir.path()), ["GET"], "{new}");
        assert_eq!(site.mirror(dir.path()), ["HEAD"], "the old version is not transferred again: {new}");
        site.set_file(file(NEW, "new"));
        assert_eq!(site.mirror(dir.path()), ["HEAD", "GET"], "{new}");
        assert_eq!(content(dir.path()), "new", "{new}");
        assert_eq!(site.mirror(dir.path()), [""; 0], "{new}");
    }
}

#[test]
fn no_metadata_are_requested_if_the_times_differ_by_rounding_or_time_zone() {
    for (listed, modified) in [
        ("01-Dec-1994 12:34    3", "Thu, 01 Dec 1994 12:34:59 GMT"),
        ("01-Dec-1994 12:35    3", "Thu, 01 Dec 1994 12:34:31 GMT"),
        ("01-Dec-1994 12:34:56    3", "Thu, 01 Dec 1994 12:34:56 GMT"),
        ("01-Dec-1994 14:34    3", "Thu, 01 Dec 1994 12:34:56 GMT"),
        ("01-Dec-1994 18:19    3", "Thu, 01 Dec 1994 12:34:56 GMT"),
        ("30-Nov-1994 22:34    3", "Thu, 01 Dec 1994 12:34:56 GMT"),
        ("01-Dec-1994    3", "Thu, 01 Dec 1994 12:34:56 GMT"),
        ("02-Dec-1994    3", "Thu, 01 Dec 1994 12:34:56 GMT"),
        ("01-Dec-1994    3", "Fri, 02 Dec 1994 10:00:00 GMT"),
    ] {
        let (site, dir) = (Site::new(listed, file(modified, "old")), temp_dir());
        assert_eq!(site.mirror(dir.path()), ["GET"], "{listed}");
        assert_eq!(site.mirror(dir.path()), [""; 0], "{listed}, {modified}");
    }
}

/// A server that lists local times, whose offset from UTC changes twice a year.
#[test]
fn metadata_are_requested_instead_of_the_file_if_the_listed_time_differs_by_an_hour() {
    const BEFORE: &str = "Thu, 01 Dec 1994 12:34:56 GMT";
    let (site, dir) = (Site::new("01-Dec-1994 12:34    3", file(BEFORE, "old")), temp_dir());
    assert_eq!(site.mirror(dir.path()), ["GET"]);
    site.set_listed("01-Dec-1994 13:34    3");
    assert_eq!(site.mirror(dir.path()), ["HEAD"]);
    assert_eq!(site.mirror(dir.path()), [""; 0]);
    site.set_listed("01-Dec-1994 14:34    3");
    site.set_file(file("Thu, 01 Dec 1994 13:34:56 GMT", "new"));
    assert_eq!(site.mirror(dir.path()), ["HEAD", "GET"]);
    assert_eq!(content(dir.path()), "new");
    assert_eq!(site.mirror(dir.path()), [""; 0]);
}

#[test]
fn file_has_its_listed_time_if_the_response_states_none() {
    let (site, dir) = (Site::new("01-Dec-1994 12:34    3", HttpResponse::new(200).body("old")), temp_dir());
    assert_eq!(site.mirror(dir.path()), ["GET"]);
    let modified = fs::metadata(dir.path().join("f")).and_then(|file| file.modified()).expect("a time");
    assert_eq!(modified, unix_time(786_285_240));
    assert_eq!(site.mirror(dir.path()), [""; 0]);
}

/// The server sent an error page with status 200.
#[test]
fn file_without_time_and_of_another_size_than_listed_is_requested_again() {
    const LISTED: &str = "01-Dec-1994 12:34    1.2K";
    let (site, dir) = (Site::new(LISTED, HttpResponse::new(200).body("busy")), temp_dir());
    assert_eq!(site.mirror(dir.path()), ["GET"]);
    site.set_file(file("Thu, 01 Dec 1994 12:34:56 GMT", "the file"));
    assert_eq!(site.mirror(dir.path()), ["HEAD", "GET"]);
    assert_eq!(content(dir.path()), "the file");
    assert_eq!(site.mirror(dir.path()), [""; 0]);
}

/// It may change again on the day that the listing states.
#[test]
fn metadata_of_file_of_today_are_requested_if_the_listing_states_days() {
    let hours_ago =
        |hours: u64| httpdate::fmt_http_date(SystemTime::now() - Duration::from_secs(hours * 60 * 60));
    let date = hours_ago(5);
    let listed = format!("{}-{}-{}    3", &date[5..7], &date[8..11], &date[12..16]);
    let (site, dir) = (Site::new(listed.leak(), file(&date, "old")), temp_dir());
    for expected in ["GET", "HEAD"] {
        assert_eq!(site.mirror(dir.path()), [expected]);
    }
    site.set_file(file(&hours_ago(1), "new"));
    assert_eq!(site.mirror(dir.path()), ["HEAD", "GET"]);
    assert_eq!(content(dir.path()), "new");
}

/// The second run may come so soon that the object could have changed again within the listed minute.
#[test]
fn metadata_of_recently_modified_file_are_requested_instead_of_the_file() {
    const FUTURE: &str = "Sat, 01 Jan 2125 12:34:56 GMT";
    let (site, dir) = (Site::new("01-Jan-2125 12:34    3", file(FUTURE, "new")), temp_dir());
    for expected in [&["GET"][..], &["HEAD"], &["HEAD"]] {
        assert_eq!(site.mirror(dir.path()), expected);
    }
    site.set_file(file("Sat, 01 Jan 2125 12:34:57 GMT", "two"));
    assert_eq!(site.mirror(dir.path()), ["HEAD", "GET"]);
    assert_eq!(content(dir.path()), "two");
}

/// Nothing but the listing shows when the object was modified, and it may have changed again within that minute.
#[test]
fn file_with_a_recent_listed_time_is_transferred_again_if_the_server_states_none() {
    let minute = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs() / 60 * 60;
    for (age, is_fetched) in [(0, true), (60 * 60, true), (7 * 60, false), (60 * 60 * 24 * 30, false)] {
        let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(minute - age));
        let listed = format!("{}-{}-{} {}    3", &date[5..7], &date[8..11], &date[12..16], &date[17..22]);
        let (site, dir) = (Site::new(listed.clone().leak(), HttpResponse::new(200).body("new")), temp_dir());
        assert_eq!(site.mirror(dir.path()), ["GET"], "{listed}");
        let requests = site.mirror(dir.path());
        assert_eq!(requests.iter().any(|method| method == "GET"), is_fetched, "{listed}: {requests:?}");
    }
}

#[test]
fn metadata_of_file_that_was_recent_are_requested_only_once() {
    let (site, dir) =
        (Site::new("01-Dec-1994 12:34    3", file("Thu, 01 Dec 1994 12:34:56 GMT", "new")), temp_dir());
    assert_eq!(site.mirror(dir.path()), ["GET"]);
    // The line that a run in the minute after the modification would have written.
    let (journal, url) = (dir.path().join(MIRROR_JOURNAL), site.server.url("/d/f"));
    let text = fs::read_to_string(&journal).expect("a journal");
    let recent = text.replace(&format!("\"source\":\"{url}\""), &format!("\"source\":\"{url} 3 786285240\""));
    let recent = recent.replace("\"facts\":\"3 786285240\"", "\"facts\":\"3 786285296 -\"");
    assert!(recent.contains("f 3 786285240\"") && recent.contains("\"3 786285296 -\""), "{text}");
    fs::write(&journal, &recent).expect("a journal");
    let result = run_mirror(&site.server.url("/d/"), dir.path(), "--dry-run");
    assert!(!result.assert_exit(0).stderr.contains("journal"), "{}", result.stderr);
    assert_eq!(fs::read_to_string(&journal).expect("a journal"), recent);
    assert_eq!(site.mirror(dir.path()), ["HEAD"]);
    assert_eq!(site.mirror(dir.path()), [""; 0]);
}

/// Apache states no Content-Length in its responses to HEAD for empty files.
#[test]
fn file_is_unchanged_if_the_response_to_head_lacks_only_the_size() {
    let server = http_server(|request| match (request.path().as_str(), &*request.method) {
        ("/d/", _) => index_page("<a href=\"empty\">empty</a>\r\n"),
        (_, "HEAD") => HttpResponse::new(200).header("ETag", "\"0-1\"").until_close(""),
        _ => HttpResponse::new(200).header("ETag", "\"0-1\"").body(""),
    });
    let dir = temp_dir();
    for expected in ["1 file,", "0 files,"] {
        let result = run_mirror(&server.url("/d/"), dir.path(), "");
        result.assert_exit(0).assert_stderr_contains(expected);
    }
}
