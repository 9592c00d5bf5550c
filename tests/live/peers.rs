//! Comparison with curl, if it is installed: the same bytes for the same URLs.

use std::process::{Command, Stdio};

use super::program::start_other;
use super::server::{ALL, APACHE, CA, NGINX, Server, each_server};
use super::tree::{files, odd_files};
use super::work_dir::{WorkDir, fetch};

each_server![files_equal_those_of_curl, ranges_equal_those_of_curl, index_pages_equal_those_of_curl];

/// Returns `true` if curl is installed.
fn has_curl() -> bool {
    let asked = Command::new("curl").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Asserts that curl and fetch-url print the same bytes for these options and URLs.
#[track_caller]
fn assert_same_as_curl(options: &[&str], urls: &[String]) {
    if !has_curl() {
        return;
    }
    let own = ["-q", "-s", "-S", "-L", "-f", "-g", "--path-as-is"];
    let both: Vec<&str> = ["--cacert", CA].iter().chain(options).copied().collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let dir = WorkDir::new();
    let peer = start_other("curl", dir.folder(), &[&own[..], &both, &urls].concat()).wait().assert_exit(0);
    fetch(&[&both[..], &urls].concat()).assert_success(peer.out);
}

fn files_equal_those_of_curl(server: Server) {
    let paths: Vec<String> = files().into_iter().map(|(path, _)| path.to_owned()).collect();
    let odd: Vec<String> = odd_files().into_iter().map(|(path, _)| path).collect();
    for paths in [paths, odd, vec!["/big.bin".to_owned()]] {
        assert_same_as_curl(&[], &paths.iter().map(|path| server.http(path)).collect::<Vec<_>>());
        assert_same_as_curl(&[], &paths.iter().map(|path| server.https(path)).collect::<Vec<_>>());
    }
}

fn ranges_equal_those_of_curl(server: Server) {
    for range in ["0-0", "8-15", "79992-", "-8", "33554432-41943039"] {
        let path = if range.starts_with('3') { "/big.bin" } else { "/range.txt" };
        assert_same_as_curl(&["-r", range], &[server.http(path), server.https(path)]);
    }
}

/// Pages that the server generates.
fn index_pages_equal_those_of_curl(server: Server) {
    let paths = ["/", "/pub", "/pub/", "/pub/a/../", "/many/", "/empty-dir/", "/link-dir/"];
    assert_same_as_curl(&[], &paths.map(|path| server.http(path)));
    assert_same_as_curl(&[], &paths.map(|path| server.https(path)));
}

#[test]
#[ignore = "needs the servers of docker/"]
fn redirected_files_equal_those_of_curl() {
    let names =
        ["301", "302", "303", "307", "308", "chain/9", "relative", "fragment", "network-path", "spaces"];
    assert_same_as_curl(&[], &names.map(|name| NGINX.http(&format!("/redir/{name}"))));
    assert_same_as_curl(
        &[],
        &names[..7].iter().map(|name| NGINX.https(&format!("/redir/{name}"))).collect::<Vec<_>>(),
    );
}

#[test]
#[ignore = "needs the servers of docker/"]
fn other_responses_equal_those_of_curl() {
    let paths =
        ["/status/204", "/gz/range.txt", "/latin1/latin1.txt", "/no-ranges/range.txt", "/named/hello.txt"];
    assert_same_as_curl(&[], &paths.map(|path| NGINX.http(path)));
    assert_same_as_curl(&[], &["/hello", "/cgi/nph-nolen", "/gz/range.txt"].map(|path| APACHE.http(path)));
}

/// Both fail with the same exit status.
#[test]
#[ignore = "needs the servers of docker/"]
fn failures_exit_as_curl_does() {
    if !has_curl() {
        return;
    }
    let mut urls = vec![
        (NGINX.http("/drop"), 52),
        (NGINX.http("/status/500"), 22),
        (NGINX.http("/redir/loop"), 47),
        (NGINX.http("/redir/closed-port"), 7),
        (APACHE.http("/cgi/nph-short"), 18),
        (APACHE.http("/cgi/nph-badchunk"), 18),
        ("https://localhost:17444/hello.txt".to_owned(), 60),
        ("https://localhost:17445/hello.txt".to_owned(), 60),
        ("https://localhost:17446/hello.txt".to_owned(), 60),
    ];
    urls.extend(ALL.map(|server| (format!("https://{}/", server.authority()), 35)));
    let dir = WorkDir::new();
    for (url, exit) in urls {
        start_other("curl", dir.folder(), &["-q", "-s", "-L", "-f", "--cacert", CA, &url])
            .wait()
            .assert_exit(exit);
        fetch(&["--cacert", CA, &url]).assert_exit(exit);
    }
}
