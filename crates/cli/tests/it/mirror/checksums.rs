//! `mirror --checksum-from`: every file needs a checksum, except the lists themselves and their signatures.

use std::collections::BTreeMap;

use crate::support::mirror::{list_files, nginx_index_with_sizes, run_mirror};
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
