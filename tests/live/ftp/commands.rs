//! FTP commands of RFC 1738 §3.2.2: for each form of a path, the received bytes and the commands in order.

use super::received_commands::{assert_commands, traced_commands};
use crate::live::ftp_server::{FtpServer, each_ftp_server};
use crate::live::program::start;
use crate::live::tree::files;
use crate::live::work_dir::{WorkDir, fetch};
use fetch_url_tests::sha256;

each_ftp_server![
    file_path_sends_cwd_type_size_mdtm_and_retr,
    directory_path_sends_nlst,
    path_segments_are_decoded_after_splitting,
    question_mark_belongs_to_the_file_name,
    dot_segments_are_sent_unchanged,
    ascii_transfer_sends_neither_size_nor_mdtm,
    verbose_trace_equals_the_commands_in_the_server_log,
    explained_commands_equal_the_sent_commands,
    every_file_of_the_tree_is_fetched_unchanged,
];

const MOTD: &str = "motd of the served tree, not of the host\n";

/// Asserts that `path` has these bytes and that the server received these commands.
#[track_caller]
fn check(server: FtpServer, path: &str, bytes: &str, expected: &[&str]) {
    let result = fetch(&[&server.url(path)]).assert_success(bytes);
    assert_eq!(sha256(&result.out), sha256(bytes.as_bytes()), "{path}");
    assert_commands(server, &[], path, expected);
}

fn file_path_sends_cwd_type_size_mdtm_and_retr(server: FtpServer) {
    let image = ["TYPE I", "SIZE README", "MDTM README", "EPSV", "RETR README"];
    let row = |path: &str, cwd: &[&str]| check(server, path, "path=pub/README\n", &[cwd, &image].concat());
    row("/pub/README", &["CWD pub"]);
    row("/pub/README;type=i", &["CWD pub"]);
    row("/pub/README;type=I", &["CWD pub"]);
    row("/link-dir/README", &["CWD link-dir"]);
    let deep = ["TYPE I", "SIZE deep.txt", "MDTM deep.txt", "EPSV", "RETR deep.txt"];
    let row = |path: &str, cwd: &[&str]| {
        check(server, path, "path=pub/a/b/c/deep.txt\n", &[cwd, &deep].concat());
    };
    row("/pub/a/b/c/deep.txt", &["CWD pub", "CWD a", "CWD b", "CWD c"]);
    let hello = ["TYPE I", "SIZE hello.txt", "MDTM hello.txt", "EPSV", "RETR hello.txt"];
    check(server, "/hello.txt", "Hello, world\n", &hello);
}

fn directory_path_sends_nlst(server: FtpServer) {
    for (path, expected) in [
        ("", &["EPSV", "NLST"][..]),
        ("/", &["EPSV", "NLST"]),
        ("/;type=d", &["EPSV", "NLST"]),
        ("/pub;type=d", &["EPSV", "NLST pub"]),
        ("/pub/a;type=d", &["CWD pub", "EPSV", "NLST a"]),
        ("/pub/a/;type=d", &["CWD pub", "CWD a", "EPSV", "NLST"]),
        ("/pub/a/", &["CWD pub", "CWD a", "EPSV", "NLST"]),
        ("/empty-dir/", &["CWD empty-dir", "EPSV", "NLST"]),
    ] {
        fetch(&[&server.url(path)]).assert_exit(0);
        assert_commands(server, &[], path, expected);
    }
}

fn path_segments_are_decoded_after_splitting(server: FtpServer) {
    let deep = ["TYPE I", "SIZE deep.txt", "MDTM deep.txt", "EPSV", "RETR deep.txt"];
    let content = "path=pub/a/b/c/deep.txt\n";
    for (path, cwd) in [
        ("/pub%2Fa/b%2fc/deep.txt", &["CWD pub/a", "CWD b/c"][..]),
        ("/%2Fpub%2Fa%2Fb%2Fc/deep.txt", &["CWD /pub/a/b/c"]),
        ("/%70ub/%61/b/c/%64eep.txt", &["CWD pub", "CWD a", "CWD b", "CWD c"]),
    ] {
        check(server, path, content, &[cwd, &deep].concat());
    }
    let whole = "pub/a/b/c/deep.txt";
    let [size, mdtm, retr] = ["SIZE", "MDTM", "RETR"].map(|verb| format!("{verb} {whole}"));
    let path = "/pub%2Fa%2Fb%2Fc%2Fdeep.txt";
    check(server, path, content, &["TYPE I", &size, &mdtm, "EPSV", &retr]);
    let motd = ["CWD /etc", "TYPE I", "SIZE motd", "MDTM motd", "EPSV", "RETR motd"];
    check(server, "/%2Fetc/motd", MOTD, &motd);
}

fn question_mark_belongs_to_the_file_name(server: FtpServer) {
    let expected = ["CWD odd", "CWD ques?tion", "TYPE I", "SIZE f.txt", "MDTM f.txt", "EPSV", "RETR f.txt"];
    check(server, "/odd/ques?tion/f.txt", "path=odd/ques%3Ftion/f.txt\n", &expected);
    let missing = fetch(&[&server.url("/hello.txt?x=1")]).assert_exit(78).assert_stdout("");
    missing.assert_stderr_contains("RETR");
}

fn dot_segments_are_sent_unchanged(server: FtpServer) {
    let motd = ["TYPE I", "SIZE motd", "MDTM motd", "EPSV", "RETR motd"];
    for (path, cwd) in [
        ("/pub/../etc/motd", &["CWD pub", "CWD ..", "CWD etc"][..]),
        ("/pub/a/../../etc/motd", &["CWD pub", "CWD a", "CWD ..", "CWD ..", "CWD etc"]),
        ("/./etc/./motd", &["CWD .", "CWD etc", "CWD ."]),
        ("/pub/%2E%2E/etc/motd", &["CWD pub", "CWD ..", "CWD etc"]),
    ] {
        check(server, path, MOTD, &[cwd, &motd].concat());
    }
}

fn ascii_transfer_sends_neither_size_nor_mdtm(server: FtpServer) {
    let lf = files().into_iter().find(|(path, _)| *path == "/lf.txt").expect("a file of the tree").1;
    let lf = String::from_utf8(lf).expect("text");
    check(server, "/lf.txt;type=a", &lf, &["TYPE A", "EPSV", "RETR lf.txt"]);
    assert_commands(server, &["-B"], "/lf.txt", &["TYPE A", "EPSV", "RETR lf.txt"]);
}

/// The wire trace of `-v` shows exactly the commands that the server received.
fn verbose_trace_equals_the_commands_in_the_server_log(server: FtpServer) {
    for path in ["/pub/a/b/c/deep.txt", "/pub/a/", "/pub;type=d", "/lf.txt;type=a"] {
        let result = fetch(&["-v", &server.url(path)]).assert_exit(0);
        let shown = traced_commands(server, &result.err);
        assert_commands(server, &["-v"], path, &shown.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// `explain` uses no network and prints the commands that a fetch sends.
fn explained_commands_equal_the_sent_commands(server: FtpServer) {
    for path in [
        "",
        "/",
        "/pub/a/b/c/deep.txt",
        "/pub/a/",
        "/pub;type=d",
        "/lf.txt;type=a",
        "/%2Fetc/motd",
        "/odd/%2A",
    ] {
        let dir = WorkDir::new();
        let told = start(dir.folder(), &["explain", &server.url(path)]).wait().assert_exit(0).text();
        let (_, lines) = told.split_once("  commands\n").unwrap_or_else(|| panic!("no commands: {told}"));
        let lines = lines.lines().map(str::trim_start).skip_while(|line| !line.starts_with("PASS"));
        let expected: Vec<&str> = lines.skip(1).collect();
        let result = fetch(&["-v", &server.url(path)]).assert_exit(0);
        assert_eq!(traced_commands(server, &result.err), expected, "{path}: {told}");
    }
}

/// Fetches every file of the tree, each in one run and all in one run.
fn every_file_of_the_tree_is_fetched_unchanged(server: FtpServer) {
    for (path, bytes) in files() {
        let result = fetch(&["--require-complete", &server.url(path)]).assert_success(&bytes);
        assert_eq!(sha256(&result.out), sha256(&bytes), "{path}");
    }
    let urls: Vec<String> = files().iter().map(|(path, _)| server.url(path)).collect();
    let all: Vec<u8> = files().into_iter().flat_map(|(_, bytes)| bytes).collect();
    fetch(&urls.iter().map(String::as_str).collect::<Vec<_>>()).assert_success(all);
}
