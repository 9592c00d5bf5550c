//! Wildcards in the last part of an FTP URL of the command line (docs/spec/cli.md, rule 2.10).

use std::fs;

use crate::support::{entry_names, read_text_file, run_fetch_url_in, run_measuring_memory, temp_dir};
use fetch_url_tests::{FtpAction, FtpConfig, FtpServer};

fn start_server() -> FtpServer {
    let config = FtpConfig::new().file("/d/a.txt", "one").file("/d/b.txt", "two").file("/d/c.bin", "three");
    let config = config.file("/d/*", "star").file("/d/a?.txt", "question").dir("/d/sub.txt").dir("/empty");
    FtpServer::start(config).expect("start server")
}

#[test]
fn each_matching_file_is_fetched() {
    let (server, dir) = (start_server(), temp_dir());
    let run = |arguments: &[&str], path: &str| {
        run_fetch_url_in(dir.path(), arguments.iter().chain(&[server.url(path).as_str()]))
    };
    run(&["-O"], "/d/?.t*").assert_exit(0);
    assert_eq!(entry_names(dir.path()), ["a.txt", "b.txt"]);
    assert_eq!(read_text_file(dir.path(), "b.txt"), "two");
    assert_eq!(run(&[], "/d/*.bin").assert_exit(0).stdout_text(), "three");
    assert_eq!(run(&["-w", "%{urlnum} "], "/d/?.t*").assert_exit(0).stdout_text(), "one1 two2 ");
    run(&["-o", "one-file"], "/d/?.t*").assert_exit(2).assert_stderr_contains("-O names each file");
    run(&["-o", "one-file"], "/d/c*").assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "one-file"), "three");
    run(&[], "/d/*.iso").assert_exit(78).assert_stderr_contains("no file matches *.iso");
    run(&[], "/empty/*").assert_exit(78);
    run(&[], "/missing/*").assert_exit(78);
}

/// docs/spec/faults.md, rule N8.
#[test]
fn names_that_do_not_match_need_no_memory() {
    let names = (0..100_000).map(|number| format!("{number:01000}.bin\r\n")).collect::<String>();
    let config = FtpConfig::new().file("/d/a.txt", "one").on("NLST", FtpAction::Data(names.into_bytes()));
    let server = FtpServer::start(config).expect("start server");
    let (memory, result) = run_measuring_memory([&*server.url("/d/*.txt")]);
    result.assert_exit(78).assert_stderr_contains("no file matches *.txt");
    assert!(memory > 0 && memory < 64 * 1024, "{memory} KiB");
}

#[test]
fn file_with_the_name_of_the_pattern_is_fetched_alone() {
    let (server, dir) = (start_server(), temp_dir());
    for path in ["/d/*", "/d/a?.txt"] {
        let expected = if path == "/d/*" { "star" } else { "question" };
        let result = run_fetch_url_in(dir.path(), [server.url(path)]);
        assert_eq!(result.assert_exit(0).stdout_text(), expected, "{path}");
    }
}

#[test]
fn star_is_literal_if_it_is_encoded_or_with_globoff_or_in_an_input_file() {
    let (server, dir) = (start_server(), temp_dir());
    for arguments in [vec![server.url("/d/%2A")], vec!["-g".to_owned(), server.url("/d/*")]] {
        assert_eq!(run_fetch_url_in(dir.path(), arguments).assert_exit(0).stdout_text(), "star");
    }
    fs::write(dir.path().join("list"), server.url("/d/*") + "\tfile\n").expect("a file");
    run_fetch_url_in(dir.path(), ["--input-file", "list"]).assert_exit(0);
    assert_eq!(read_text_file(dir.path(), "file"), "star");
}

#[test]
fn names_of_a_hostile_listing_stay_in_the_directory() {
    let listing = "-rw-r--r-- 1 a a 1 Jan 1 2020 ../evil.txt\r\n-rw-r--r-- 1 a a 1 Jan 1 2020 .\r\n-rw-r--r-- 1 a a 1 Jan 1 2020 /etc/x.txt\r\n-rw-r--r-- 1 a a 3 Jan 1 2020 ok.txt\r\n";
    let config =
        FtpConfig::new().file("/d/ok.txt", "ok!").without("MLSD").on("LIST", FtpAction::Data(listing.into()));
    let (server, dir) = (FtpServer::start(config).expect("start server"), temp_dir());
    let inner = dir.path().join("inner");
    fs::create_dir(&inner).expect("a directory");
    run_fetch_url_in(&inner, ["-O", &server.url("/d/*")]).assert_exit(0);
    assert_eq!(
        (entry_names(&inner), entry_names(dir.path())),
        (vec!["ok.txt".to_owned()], vec!["inner".to_owned()])
    );
}
