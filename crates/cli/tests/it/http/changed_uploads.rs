//! Files that change before or while they are sent (docs/spec/cli.md 15.23): what a server accepts is one version.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use crate::support::{http_server, http_server_first_then, run_fetch_url_in, run_shell, temp_dir};
use fetch_url_tests::{HttpResponse, HttpServer};

/// Size of a file in bytes: more than the buffers of a socket.
const LARGE: usize = 32 << 20;

fn old_version() -> Vec<u8> {
    vec![b'o'; 12_000]
}

fn new_version() -> Vec<u8> {
    vec![b'n'; 40_007]
}

/// Replaces the file `f` by the new version.
fn replace(dir: &Path) {
    fs::write(dir.join("new"), new_version()).expect("a file");
    fs::rename(dir.join("new"), dir.join("f")).expect("renamed");
}

/// Returns the server whose first response replaces the file in `dir`.
fn replacing_server(dir: &Path, first: HttpResponse) -> HttpServer {
    let dir = dir.to_owned();
    let first = move |_: &_| {
        replace(&dir);
        first.clone()
    };
    http_server_first_then(first, |_| HttpResponse::new(201))
}

#[test]
fn each_attempt_sends_the_whole_file_that_has_the_name_then() {
    let moved = HttpResponse::new(307).header("Location", "/other");
    for (case, first) in [
        ("503", HttpResponse::new(503)),
        ("no response", HttpResponse::raw("")),
        ("a redirect", moved),
        ("another URL", HttpResponse::new(201)),
    ] {
        for option in ["-T f", "-X PUT --data-binary @f", "-X PUT --json @f"] {
            let dir = temp_dir();
            fs::write(dir.path().join("f"), old_version()).expect("a file");
            let server = replacing_server(dir.path(), first.clone());
            let (url, second) = (server.url("/o"), server.url("/p"));
            let mut arguments: Vec<&str> = option.split(' ').collect();
            arguments.extend(["--retry", "1", "--retry-delay", "0.01", &url]);
            if case == "another URL" {
                arguments.extend(["--next"].into_iter().chain(option.split(' ')).chain([&*second]));
            }
            run_fetch_url_in(dir.path(), arguments).assert_exit(0);
            let bodies: Vec<_> = server.requests().into_iter().map(|request| request.body).collect();
            assert!(bodies == [old_version(), new_version()], "{case}, {option}");
        }
    }
}

#[test]
fn file_that_is_rewritten_while_it_is_sent_exits_18_and_is_not_sent_as_a_whole() {
    for size in [LARGE, LARGE + 1000] {
        let dir = temp_dir();
        let path = dir.path().join("f");
        fs::write(&path, vec![b'o'; LARGE]).expect("a file");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/o", listener.local_addr().expect("an address"));
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut received = stream.read(&mut [0; 4096]).expect("bytes");
            fs::write(&path, vec![b'n'; size]).expect("rewritten");
            let mut buffer = vec![0; 65_536];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                received += count;
            }
            let _ = stream.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
            received
        });
        let result = run_fetch_url_in(dir.path(), ["-T", "f", "--retry", "0", &url]);
        result.assert_exit(18).assert_stderr_contains("changed while it was being sent");
        assert!(server.join().expect("a count") < LARGE, "{size}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn file_whose_size_is_not_stated_is_sent_as_a_whole() {
    let server = http_server(|_| HttpResponse::new(200));
    let content = fs::read("/proc/version").expect("a file");
    for options in
        [["--data-binary", "@/proc/version"], ["--json", "@/proc/version"], ["-T", "/proc/version"]]
    {
        run_fetch_url_in(Path::new("/"), options.iter().chain(&[server.url("/o").as_str()])).assert_exit(0);
        let request = server.requests().pop().expect("a request");
        assert_eq!(request.header_text("content-length"), Some(content.len().to_string().as_str()));
        assert!(request.body == content, "{options:?}");
    }
}

#[test]
fn data_for_an_upload_that_do_not_end_exit_28_after_max_time() {
    let server = http_server(|_| HttpResponse::new(200));
    let dir = temp_dir();
    run_shell("mkfifo \"$1\"", [dir.path().join("fifo")]).assert_exit(0);
    // Nothing is written to the FIFO, and the shell keeps it open.
    for script in ["exec 3<>\"$2\"; \"$F\" -m 0.3 -T - \"$1\" <&3 3>&-", "\"$F\" -m 0.3 -T \"$2\" \"$1\""] {
        let arguments = [server.url("/o").into(), dir.path().join("fifo").into_os_string()];
        run_shell(script, arguments).assert_exit(28).assert_stderr_contains("its end has not arrived");
    }
    assert!(server.requests().is_empty());
}
