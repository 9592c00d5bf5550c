//! One file over several connections.

use crate::live::digest::sha256;
use crate::live::ftp_server::{FtpServer, each_ftp_server};
use crate::live::tree::{BIG, HELLO};
use crate::live::work_dir::WorkDir;

each_ftp_server![four_segments_fetch_a_big_file_over_four_connections, small_file_uses_one_segment];

fn four_segments_fetch_a_big_file_over_four_connections(server: FtpServer) {
    let dir = WorkDir::new();
    let ran = dir.fetch(&["-v", "--segments", "4", "-o", "big", &server.url("/big.bin")]).exits(0);
    dir.assert_entries(&["big"]);
    assert_eq!(sha256(&dir.read("big")), BIG);
    let count = |what: &str| ran.err.lines().filter(|line| line.starts_with(what)).count();
    // Only the first begins at the beginning.
    assert_eq!((count("> RETR big.bin"), count("> REST ")), (4, 3), "{}", ran.err);
}

fn small_file_uses_one_segment(server: FtpServer) {
    let dir = WorkDir::new();
    let ran = dir.fetch(&["-v", "--segments", "4", "-o", "here", &server.url("/hello.txt")]).exits(0);
    assert_eq!(dir.read("here"), HELLO.as_bytes());
    ran.hides("> REST");
}
