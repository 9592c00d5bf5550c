//! `mirror --checksum-from`: every file needs a checksum, except the lists themselves and their signatures.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::mirror::{list_files, list_tree, nginx_index_with_sizes, run_mirror};
use crate::support::{RunResult, http_server, run_fetch_url, temp_dir};
use fetch_url_tests::{HttpResponse, HttpServer};

const A_SHA256: &str = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
const OTHER_SHA256: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Starts a server whose `/d/` lists these files.
fn server(files: &[(&str, &str)]) -> HttpServer {
    let files: BTreeMap<String, String> =
        files.iter().map(|(name, text)| (format!("/d/{name}"), (*text).to_owned())).collect();
    http_server(move |request| match (request.path().as_str(), files.get(&request.path())) {
        ("/d/", _) => {
            let sizes: Vec<_> =
                files.iter().map(|(path, text)| (&path["/d/".len()..], text.len().to_string())).collect();
            let entries: Vec<_> = sizes.iter().map(|(name, size)| (*name, &**size)).collect();
            nginx_index_with_sizes(&entries)
        }
        (_, Some(text)) => HttpResponse::new(200).body(text.clone()),
        _ => HttpResponse::new(404),
    })
}

/// Mirrors these files and returns the result with the names of the copied files.
fn mirror(files: &[(&str, &str)], from: &str) -> (RunResult, Vec<String>) {
    let (server, dir) = (server(files), temp_dir());
    let from = from.replace("SERVER", &server.url("/d"));
    let result = run_mirror(&server.url("/d/"), dir.path(), &format!("--checksum-from {from}"));
    (result, list_files(dir.path()))
}

#[test]
fn lists_of_a_mirrored_directory_and_their_signatures_need_no_checksum() {
    let list = format!("{A_SHA256}  a\n");
    let files = [
        ("SHA256SUMS", &*list),
        ("SHA256SUMS.gpg", "signature"),
        ("a", "a"),
        ("a.sha256", &list),
        ("b", "b"),
    ];
    let expected = ["SHA256SUMS", "SHA256SUMS.gpg", "a", "a.sha256"];
    for from in ["auto", "SERVER/SHA256SUMS"] {
        let (result, found) = mirror(&files[..4], from);
        result.assert_exit(0);
        assert_eq!(found, expected, "{from}");
        // Every other file needs one.
        let (result, found) = mirror(&files, from);
        result.assert_exit(78).assert_stderr_contains("/d/b: ");
        assert_eq!(found, expected, "{from}");
    }
    let files = [("MINE", &*list), ("MINE.asc", "signature"), ("a", "a")];
    let (result, found) = mirror(&files, "SERVER/MINE");
    result.assert_exit(0);
    assert_eq!(found, ["MINE", "MINE.asc", "a"]);
    mirror(&files, "auto").0.assert_exit(78);
}

/// `sha256sum * >SHA256SUMS` writes the checksum of the empty list into the list.
#[test]
fn checksum_of_a_list_in_the_list_itself_is_not_used() {
    let list = format!("{OTHER_SHA256}  SHA256SUMS\n{A_SHA256}  a\n");
    for from in ["auto", "SERVER/SHA256SUMS"] {
        let (result, found) = mirror(&[("SHA256SUMS", &list), ("a", "a")], from);
        result.assert_exit(0);
        assert_eq!(found, ["SHA256SUMS", "a"], "{from}");
    }
}

#[test]
fn checksum_of_a_list_in_another_list_is_required() {
    let list = format!("{A_SHA256}  a\n");
    let other = format!("{OTHER_SHA256}  SHA256SUMS\n{OTHER_SHA256}  SHA256SUMS.gpg\n");
    let files = [("SHA256SUMS", &*list), ("SHA256SUMS.gpg", "signature"), ("SHA512SUMS", &other), ("a", "a")];
    let (result, found) = mirror(&files, "auto");
    result.assert_exit(91);
    assert_eq!(found, ["SHA512SUMS", "a"]);
}

#[test]
fn list_that_is_fetched_by_its_own_url_needs_a_checksum() {
    let list = format!("{A_SHA256}  a\n");
    let server = server(&[("SHA256SUMS", &list)]);
    run_fetch_url(["--checksum-from", "auto", &server.url("/d/SHA256SUMS")]).assert_exit(78);
}

/// A server whose `/d/` has the list `SHA256SUMS` and the file `a`, whose content is changed to `a` by a call of
/// `repair`.
struct RepairedSite {
    server: HttpServer,
    is_repaired: Arc<AtomicBool>,
}

impl RepairedSite {
    fn start(list: &str) -> Self {
        let (is_repaired, list) = (Arc::new(AtomicBool::new(false)), list.to_owned());
        let repaired = Arc::clone(&is_repaired);
        let server = http_server(move |request| match request.path().as_str() {
            "/d/" => nginx_index_with_sizes(&[("a", "1"), ("SHA256SUMS", &list.len().to_string())]),
            "/d/SHA256SUMS" => HttpResponse::new(200).body(list.clone()),
            _ => HttpResponse::new(200)
                .header("Last-Modified", "Thu, 01 Dec 1994 12:34:00 GMT")
                .body(if repaired.load(Ordering::SeqCst) { "a" } else { "x" }),
        });
        Self { server, is_repaired }
    }

    fn repair(&self) {
        self.is_repaired.store(true, Ordering::SeqCst);
    }

    /// Returns the number of requests for the file `a`.
    fn count_fetches(&self) -> usize {
        self.server.requests().iter().filter(|request| request.path() == "/d/a").count()
    }
}

#[test]
fn unchanged_file_of_a_run_without_checksums_is_fetched_again_if_its_checksum_is_wrong() {
    for options in ["", "--skip-existing "] {
        let (site, dir) = (RepairedSite::start(&format!("{A_SHA256}  a\n")), temp_dir());
        let run = |options: &str| run_mirror(&site.server.url("/d/"), dir.path(), options);
        run("").assert_exit(0);
        let options = format!("{options}--checksum-from SHA256SUMS");
        // The file is still wrong.
        run(&options).assert_exit(91);
        assert_eq!(list_tree(dir.path())[1], "a=x");
        site.repair();
        run(&options).assert_exit(0).assert_stderr_contains("does not have the required checksum");
        assert_eq!(list_tree(dir.path())[1], "a=a");
        let before = site.count_fetches();
        run(&options).assert_exit(0);
        assert_eq!(site.count_fetches(), before, "a correct file is not fetched again");
    }
}

#[test]
fn unchanged_file_that_the_list_lacks_is_an_error_as_in_the_first_run() {
    let (site, dir) = (RepairedSite::start(&format!("{A_SHA256}  b\n")), temp_dir());
    let run = |options: &str| run_mirror(&site.server.url("/d/"), dir.path(), options);
    run("").assert_exit(0);
    run("--checksum-from SHA256SUMS").assert_exit(78).assert_stderr_contains("/d/a: ");
}
