//! Small FTP servers (pyftpdlib, Twisted, busybox): batches, listings, mirror, resume. They differ from the other servers
//! in what they do with pipelined commands and in the commands that they support.

use crate::live::tree::{HELLO, range};
use crate::live::work_dir::{WorkDir, fetch};

const PYFTPDLIB: u16 = 17125;
const TWISTED: u16 = 17126;
const BUSYBOX: u16 = 17127;

macro_rules! each_small_server {
    ($($test:ident),+ $(,)?) => {
        mod pyftpdlib { $(each_small_server!(@one $test PYFTPDLIB);)+ }
        mod twisted { $(each_small_server!(@one $test TWISTED);)+ }
        mod busybox { $(each_small_server!(@one $test BUSYBOX);)+ }
    };
    (@one $test:ident $port:ident) => {
        #[test]
        #[ignore = "needs the servers of docker/"]
        fn $test() {
            super::$test(super::$port);
        }
    };
}

each_small_server![
    text_is_fetched_unchanged,
    sequential_batch_fetches_every_file,
    parallel_batch_fetches_every_file,
    listing_contains_every_entry,
    missing_file_exits_78,
    mirror_copies_the_tree_and_the_second_run_fetches_nothing,
    partial_file_is_completed,
];

fn url(port: u16, path: &str) -> String {
    format!("ftp://127.0.0.1:{port}{path}")
}

fn many(port: u16) -> Vec<String> {
    (0..20).map(|number| url(port, &format!("/many/f{number:04}.txt"))).collect()
}

fn text_is_fetched_unchanged(port: u16) {
    fetch(&[&url(port, "/hello.txt")]).assert_exit(0).assert_success(HELLO);
    fetch(&[&url(port, "/pub/a/b/c/deep.txt")]).assert_exit(0).assert_success("path=pub/a/b/c/deep.txt\n");
    fetch(&[&url(port, "/empty.bin")]).assert_exit(0).assert_success("");
}

/// The default takes one URL after another over one session.
fn sequential_batch_fetches_every_file(port: u16) {
    let urls = many(port);
    let arguments: Vec<&str> = ["--retry", "0"].into_iter().chain(urls.iter().map(String::as_str)).collect();
    let expected: String = (0..20).map(|number| format!("{number:04}\n")).collect();
    fetch(&arguments).assert_exit(0).assert_success(expected);
}

fn parallel_batch_fetches_every_file(port: u16) {
    let (dir, urls) = (WorkDir::new(), many(port));
    let options = ["-Z", "--retry", "0", "--remote-name-all"];
    let arguments: Vec<&str> = options.into_iter().chain(urls.iter().map(String::as_str)).collect();
    dir.fetch(&arguments).assert_exit(0);
    for number in 0..20 {
        assert_eq!(dir.read(&format!("f{number:04}.txt")), format!("{number:04}\n").as_bytes());
    }
}

fn listing_contains_every_entry(port: u16) {
    for format in ["names", "long"] {
        let text = fetch(&["--list-format", format, &url(port, "/pub/")]).assert_exit(0).text();
        assert!(text.contains("README") && text.contains('a'), "{format}: {text}");
    }
    let text = fetch(&[&url(port, "/many/")]).assert_exit(0).text();
    assert_eq!(text.lines().count(), 5000);
}

fn missing_file_exits_78(port: u16) {
    fetch(&[&url(port, "/nowhere.txt")]).assert_exit(78);
    fetch(&[&url(port, "/nowhere/")]).assert_exit(78);
}

fn mirror_copies_the_tree_and_the_second_run_fetches_nothing(port: u16) {
    let dir = WorkDir::new();
    let start = url(port, "/pub/");
    let arguments = ["mirror", "-Z", "--retry", "0", "--events", "-", &start, "copy"];
    let first = dir.fetch(&arguments).assert_exit(0).text();
    assert!(first.contains("\"files\":2"), "{first}");
    assert_eq!(dir.read("copy/a/b/c/deep.txt"), b"path=pub/a/b/c/deep.txt\n");
    assert_eq!(dir.read("copy/README"), b"path=pub/README\n");
    let second = dir.fetch(&arguments).assert_exit(0).text();
    assert!(second.contains("\"files\":0"), "{second}");
}

/// A server that refuses REST sends the whole file again.
fn partial_file_is_completed(port: u16) {
    let dir = WorkDir::new();
    let (start, whole) = (url(port, "/range.txt"), range());
    dir.write("range.txt", &whole[..40_000]);
    dir.fetch(&["-C", "-", "-o", "fresh.txt", &start]).assert_exit(0);
    assert_eq!(dir.read("fresh.txt"), whole);
    dir.leave_part("range2.txt", &start, "19941201123456", &whole[..40_000], whole.len());
    dir.fetch(&["-C", "-", "-o", "range2.txt", &start]).assert_exit(0);
    assert_eq!(dir.read("range2.txt"), whole);
}
