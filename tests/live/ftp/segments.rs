//! One file over several connections.

use crate::live::ftp_server::{FtpServer, each_ftp_server};
use crate::live::tree::{BIG, HELLO};
use crate::live::work_dir::WorkDir;
use fetch_url_tests::sha256;

each_ftp_server![four_segments_fetch_a_big_file_over_four_connections, small_file_uses_one_segment];

fn four_segments_fetch_a_big_file_over_four_connections(server: FtpServer) {
    let dir = WorkDir::new();
    let result = dir.fetch(&["-v", "--segments", "4", "-o", "big", &server.url("/big.bin")]).assert_exit(0);
    dir.assert_entries(&["big"]);
    assert_eq!(sha256(&dir.read("big")), BIG);
    let count = |what: &str| result.err.lines().filter(|line| line.starts_with(what)).count();
    // Only the first segment starts at byte 0.
    assert_eq!((count("> RETR big.bin"), count("> REST ")), (4, 3), "{}", result.err);
}

fn small_file_uses_one_segment(server: FtpServer) {
    let dir = WorkDir::new();
    let result =
        dir.fetch(&["-v", "--segments", "4", "-o", "here", &server.url("/hello.txt")]).assert_exit(0);
    assert_eq!(dir.read("here"), HELLO.as_bytes());
    result.assert_stderr_omits("> REST");
}
