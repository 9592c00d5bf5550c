//! `--compressed` with servers that encode on the fly; ranges and resume.

use super::server::{APACHE, CA, CADDY, NGINX, Server};
use super::tree::{files, range};
use super::work_dir::{WorkDir, fetch, key};

/// Paths at which these servers compress.
const CODING: [(Server, &str); 3] = [(NGINX, "/gz"), (APACHE, "/gz"), (CADDY, "")];

#[test]
#[ignore = "needs the servers of docker/"]
fn compressed_download_equals_the_file() {
    for (server, folder) in CODING {
        for (path, bytes) in files() {
            let path = format!("{folder}{path}");
            fetch(&["--compressed", &server.http(&path)]).assert_success(&bytes);
            fetch(&["--compressed", "--cacert", CA, &server.https(&path)]).assert_success(&bytes);
        }
        let dir = WorkDir::new();
        let url = server.http(&format!("{folder}/range.txt"));
        dir.fetch(&["--compressed", "--require-complete", "-o", "here", &url]).assert_success("");
        dir.assert_entries(&["here"]);
        assert_eq!(dir.read("here"), range());
    }
}

/// The request asks for a content coding, and the servers use one.
#[test]
#[ignore = "needs the servers of docker/"]
fn compressed_option_requests_an_encoded_body() {
    for (server, folder) in CODING {
        let url = server.http(&format!("{folder}/range.txt?{}", key()));
        let result = fetch(&["-v", "--compressed", &url]).assert_exit(0).assert_stdout(range());
        let said = result.err.to_ascii_lowercase();
        assert!(said.contains("< content-encoding: "), "{said}");
        assert!(said.contains("> accept-encoding: ") && !said.contains("identity"), "{said}");
    }
    let key = key();
    fetch(&["--compressed", &NGINX.http(&format!("/gz/range.txt?{key}"))]).assert_success(range());
    let line = NGINX.logged(&key);
    let sent = line.split(' ').nth(4).and_then(|count| count.parse::<usize>().ok());
    assert!(sent.is_some_and(|count| 0 < count && count < range().len()), "{line}");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn max_filesize_counts_decoded_bytes() {
    let dir = WorkDir::new();
    let url = NGINX.http("/gz/range.txt");
    dir.fetch(&["--compressed", "--max-filesize", "79999", "-o", "here", &url]).assert_exit(63);
    assert!(!dir.path("here").exists());
    dir.fetch(&["--compressed", "--max-filesize", "80000", "-o", "here", &url]).assert_success("");
}

/// A range of an encoded body is not a range of the file: caddy would send eight bytes of the file, compressed.
#[test]
#[ignore = "needs the servers of docker/"]
fn range_with_compressed_is_of_the_plain_file_or_refused() {
    for (server, folder) in CODING {
        let url = server.http(&format!("{folder}/range.txt"));
        let result = fetch(&["--compressed", "-r", "8-15", &url]);
        match result.exit {
            0 => drop(result.assert_stdout("0000001\n")),
            exit => assert!([2, 33].contains(&exit), "{url}: {}", result.err),
        }
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn download_stopped_by_max_filesize_is_completed_by_the_next_run() {
    for (server, folder) in CODING {
        let (dir, url) = (WorkDir::new(), server.http(&format!("{folder}/range.txt")));
        dir.fetch(&["--compressed", "--max-filesize", "70000", "-o", "here", &url]).assert_exit(63);
        dir.fetch(&["--compressed", "-C", "-", "-o", "here", &url]).assert_exit(0);
        dir.assert_entries(&["here"]);
        assert_eq!(dir.read("here"), range(), "{url}");
    }
}
