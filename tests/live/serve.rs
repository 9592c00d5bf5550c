//! `fetch-url serve` in front of the servers of `docker/`: curl gets the objects byte by byte and the lists of ftp, http,
//! gopher and nntp, as a proxy's client and as paths.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::program::{fetch_url, start_other};
use super::tree::{HELLO, range};
use super::work_dir::{WorkDir, fetch};

const FTP: [&str; 4] = ["127.0.0.1:17121", "127.0.0.1:17122", "127.0.0.1:17123", "127.0.0.1:17124"];
const HTTP: [&str; 3] = ["127.0.0.1:17080", "127.0.0.1:17081", "127.0.0.1:17082"];
const GOPHER: [&str; 2] = ["127.0.0.1:17070", "127.0.0.1:17071"];
const NNTP: [&str; 2] = ["127.0.0.1:17119", "127.0.0.1:17118"];

/// A running server. It is killed when dropped.
struct Serve {
    process: Child,
    address: String,
}

impl Serve {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(fetch_url());
        command.args(["serve", "--listen", "127.0.0.1:0", "--allow-private", "-x", ""]).args(arguments);
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(process.stderr.take().expect("a pipe")).read_line(&mut line).expect("a message");
        let address =
            line.split("http://").nth(1).expect("an address").trim().trim_end_matches('/').to_owned();
        Self { process, address }
    }

    /// Returns what curl gets for `url`, with further options, in each form of the request.
    #[track_caller]
    fn curl(&self, options: &[&str], url: &str) -> [Vec<u8>; 2] {
        let proxy = format!("http://{}", self.address);
        let path = format!("{proxy}/{url}");
        let dir = WorkDir::new();
        let run = |last: &[&str]| {
            let own = ["-q", "-s", "-S", "-f", "-g", "--path-as-is"];
            start_other("curl", dir.folder(), &[&own[..], options, last].concat()).wait().assert_exit(0).out
        };
        // curl asks for gopher by a tunnel, and knows no nntp.
        let is_asked = url.starts_with("ftp:") || url.starts_with("http:");
        let by_path = run(&[&path]);
        let by_proxy = if is_asked { run(&["-x", &proxy, url]) } else { by_path.clone() };
        [by_proxy, by_path]
    }

    #[track_caller]
    fn assert_object(&self, url: &str, expected: &[u8]) {
        for bytes in self.curl(&[], url) {
            assert!(bytes == expected, "{url}: {} bytes, not {}", bytes.len(), expected.len());
        }
    }

    /// Checks that the page of a list names each of `names`.
    #[track_caller]
    fn assert_list(&self, url: &str, names: &[&str]) {
        for bytes in self.curl(&["-H", "Accept: text/html"], url) {
            let page = String::from_utf8_lossy(&bytes).into_owned();
            for name in names {
                assert!(page.contains(name), "{url}: {name:?} is missing in\n{page}");
            }
            assert!(page.trim_end().ends_with("</html>"), "{url}: the page is incomplete");
        }
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn ftp_files_and_directories_are_served() {
    let serve = Serve::start(&[]);
    for server in FTP {
        serve.assert_object(&format!("ftp://{server}/hello.txt"), HELLO.as_bytes());
        serve.assert_object(&format!("ftp://{server}/range.txt"), &range());
        for part in serve.curl(&["-r", "3-9"], &format!("ftp://{server}/range.txt")) {
            assert_eq!(part, &range()[3..10], "{server}");
        }
        serve.assert_list(&format!("ftp://{server}/"), &["hello.txt", "range.txt", "pub"]);
        serve.assert_list(&format!("ftp://{server}/pub/"), &["README"]);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn http_objects_are_served() {
    let serve = Serve::start(&[]);
    for server in HTTP {
        serve.assert_object(&format!("http://{server}/hello.txt"), HELLO.as_bytes());
        serve.assert_object(&format!("http://{server}/pub/README"), b"path=pub/README\n");
        for part in serve.curl(&["-r", "3-9"], &format!("http://{server}/range.txt")) {
            assert_eq!(part, &range()[3..10], "{server}");
        }
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn cached_objects_of_ftp_and_http_are_the_same() {
    let dir = WorkDir::new();
    let cache = dir.path("cache");
    let serve = Serve::start(&["--cache", cache.to_str().expect("UTF-8")]);
    let urls = FTP.map(|server| format!("ftp://{server}/range.txt"));
    for url in urls.into_iter().chain(HTTP.map(|server| format!("http://{server}/range.txt"))) {
        // Each form twice: from the server, and from the cache.
        for _ in 0..2 {
            serve.assert_object(&url, &range());
        }
        let [by_proxy, _] = serve.curl(&["-D", "-", "-o", "/dev/null"], &url);
        let head = String::from_utf8_lossy(&by_proxy).to_ascii_lowercase();
        assert!(head.contains("\r\nage: ") && head.contains("cache-status: fetch-url; "), "{url}: {head}");
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn gopher_items_and_menus_equal_those_of_a_fetch() {
    let serve = Serve::start(&[]);
    for server in GOPHER {
        for path in ["0/hello.txt", "9/range.txt"] {
            let url = format!("gopher://{server}/{path}");
            serve.assert_object(&url, &fetch(&["-s", &url]).assert_exit(0).out);
        }
        serve.assert_list(
            &format!("gopher://{server}/1/"),
            &["All octets", "One of each kind", "Ten thousand items"],
        );
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn articles_and_groups_equal_those_of_a_fetch() {
    let serve = Serve::start(&[]);
    for server in NNTP {
        let url = format!("news://{server}/plain-1200@test.invalid");
        serve.assert_object(&url, &fetch(&["-s", &url]).assert_exit(0).out);
        let listed = fetch(&["-s", "--list", &format!("news://{server}/*")]).assert_exit(0).out;
        let listed = String::from_utf8(listed).expect("names");
        let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert!(!names.is_empty(), "{server} has groups");
        serve.assert_list(&format!("news://{server}/*"), &names);
    }
}
