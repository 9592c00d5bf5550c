//! `-z`, `--fail-with-body`, address families and the local address.

use super::server::{ALL, APACHE, NGINX};
use super::tree::{HELLO, MODIFIED};
use super::work_dir::{WorkDir, fetch};

/// All files of the tree are from 1 December 1994, 12:34:56.
#[test]
#[ignore = "needs the servers of docker/"]
fn unchanged_file_is_not_transferred_with_time_cond() {
    for server in ALL {
        let dir = WorkDir::new();
        let url = server.http("/hello.txt");
        dir.fetch(&["-z", "Thu, 01 Dec 1994 12:34:55 GMT", "-o", "here", &url]).assert_success("");
        assert_eq!(dir.read("here"), HELLO.as_bytes());
        dir.write("here", "old");
        dir.fetch(&["-z", "Thu, 01 Dec 1994 12:34:56 GMT", "-o", "here", &url]).assert_exit(0);
        assert_eq!(dir.read("here"), b"old", "{}", server.name);
        dir.assert_entries(&["here"]);
    }
}

/// The time of an existing file is the condition: the file is fetched once.
#[test]
#[ignore = "needs the servers of docker/"]
fn file_not_newer_than_the_reference_is_not_transferred() {
    for server in ALL {
        let (dir, url) = (WorkDir::new(), server.http("/hello.txt"));
        dir.fetch(&["-R", "-o", "here", &url]).assert_success("");
        let modified = std::fs::metadata(dir.path("here")).and_then(|metadata| metadata.modified());
        let since = modified.expect("a time").duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        assert_eq!(since.as_secs(), MODIFIED);
        dir.write("copy", "other octets");
        std::fs::File::options()
            .write(true)
            .open(dir.path("copy"))
            .and_then(|file| file.set_modified(std::time::UNIX_EPOCH + since))
            .expect("our own file");
        dir.fetch(&["-z", "here", "-o", "copy", &url]).assert_exit(0);
        assert_eq!(dir.read("copy"), b"other octets", "{}", server.name);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn changed_file_is_not_transferred_with_negated_time_cond() {
    for server in [NGINX, APACHE] {
        let url = server.http("/hello.txt");
        fetch(&["-z", "-Fri, 02 Dec 1994 12:34:56 GMT", &url]).assert_success(HELLO);
        let result = fetch(&["-z", "-Wed, 30 Nov 1994 12:34:56 GMT", &url]).assert_stdout("");
        assert!([0, 22].contains(&result.exit), "{}", result.err);
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn fail_with_body_writes_the_error_body_and_sets_the_exit_status() {
    for (status, exit) in [("404", 78), ("400", 22), ("403", 9), ("500", 22)] {
        let url = NGINX.http(&format!("/status/{status}"));
        fetch(&["--fail-with-body", &url]).assert_exit(exit).assert_stdout(format!("{status}\n"));
        let dir = WorkDir::new();
        dir.fetch(&["--fail-with-body", "-o", "here", &url]).assert_exit(exit);
        dir.assert_entries(&["here"]);
        assert_eq!(dir.read("here"), format!("{status}\n").as_bytes());
    }
    fetch(&["--fail-with-body", &NGINX.http("/hello.txt")]).assert_success(HELLO);
}

/// The servers listen on 127.0.0.1 only.
#[test]
#[ignore = "needs the servers of docker/"]
fn address_family_and_interface_select_the_connection() {
    let url = "http://localhost:17080/hello.txt";
    fetch(&["-4", url]).assert_success(HELLO);
    let result = fetch(&["-6", url]).assert_stdout("");
    assert!([6, 7].contains(&result.exit), "{}", result.err);
    fetch(&["-6", &NGINX.http("/hello.txt")]).assert_stdout("");
    fetch(&["--interface", "127.0.0.1", &NGINX.http("/hello.txt")]).assert_success(HELLO);
    // RFC 5737: a documentation address is never a local address.
    let result = fetch(&["--interface", "192.0.2.1", &NGINX.http("/hello.txt")]).assert_stdout("");
    assert!([2, 7, 45].contains(&result.exit), "{}", result.err);
}
