//! Output to open file descriptors: `/dev/stdout`, `/dev/stderr`, `/dev/fd/N`. The shell that has opened the file writes
//! to it before and after fetch-url.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_setfl};

use crate::support::{
    RunResult, fetch_url_command, http_server, run_shell, strong_etag_headers, temp_dir, write_file,
};
use fetch_url_tests::{
    FileHeaders, FtpConfig, FtpServer, HttpResponse, HttpServer, RangeSupport, file_handler, pattern_vec,
};

const SIZE: usize = 200_000;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn start_server() -> HttpServer {
    http_server(file_handler(content(), strong_etag_headers()))
}

/// Runs a script with the URL `$1` in a directory with the file `f`.
fn run_with_file(directory: &Path, script: &str, url: &str) -> RunResult {
    run_shell(&format!("cd \"$2\" && {script}"), [url, directory.to_str().expect("UTF-8")])
}

#[test]
fn object_is_written_at_the_position_of_the_descriptor_and_moves_it() {
    let (directory, server) = (temp_dir(), start_server());
    for (path, number) in
        [("/dev/stdout", 1), ("/dev/fd/1", 1), ("/dev/stderr", 2), ("/dev/fd/7", 7), ("/proc/self/fd/7", 7)]
    {
        for redirect in [">", ">>", "<>"] {
            let case = format!("-o {path} {number}{redirect}f");
            write_file(directory.path(), "f", "");
            let script = format!(
                "exec {number}{redirect}f; echo before >&{number}; \"$F\" -o {path} \"$1\"; code=$?; \
                 echo after >&{number}; exit $code"
            );
            run_with_file(directory.path(), &script, &server.url("/o")).assert_exit(0);
            let written = fs::read(directory.path().join("f")).expect("a file");
            assert!(written == [b"before\n", &*content(), b"after\n"].concat(), "{case}");
        }
    }
}

#[test]
fn file_of_a_descriptor_is_not_truncated() {
    let directory = temp_dir();
    let server = http_server(|_| HttpResponse::new(200).body("abc"));
    write_file(directory.path(), "f", "0123456789");
    run_with_file(directory.path(), "\"$F\" -o /dev/fd/7 \"$1\" 7<>f", &server.url("/")).assert_exit(0);
    assert_eq!(fs::read_to_string(directory.path().join("f")).expect("a file"), "abc3456789");
}

#[test]
fn closed_or_read_only_descriptor_is_23_before_connecting() {
    let (directory, server) = (temp_dir(), start_server());
    write_file(directory.path(), "f", "old");
    // Some of these numbers are those of descriptors that the program opens.
    for number in 3..10 {
        for options in ["", "-C 5 ", "--skip-existing ", "--keep-both "] {
            for (redirect, state) in [("<&-", "is not open"), ("<f", "is not open for writing")] {
                let script = format!("exec \"$F\" {options}-o /dev/fd/{number} \"$1\" {number}{redirect}");
                run_with_file(directory.path(), &script, &server.url("/o"))
                    .assert_exit(23)
                    .assert_stderr_contains(&format!("descriptor {number} {state}\n"));
            }
        }
    }
    assert!(server.requests().is_empty());
    assert_eq!(fs::read_to_string(directory.path().join("f")).expect("a file"), "old");
}

#[test]
fn existing_file_of_a_descriptor_is_written() {
    let directory = temp_dir();
    let server = http_server(|_| HttpResponse::new(200).body("abc"));
    for option in ["--skip-existing", "--keep-both", "--no-clobber"] {
        write_file(directory.path(), "f", "old ");
        let script = format!("\"$F\" {option} -o /dev/fd/7 \"$1\" 7>>f");
        run_with_file(directory.path(), &script, &server.url("/")).assert_exit(0);
        assert_eq!(fs::read_to_string(directory.path().join("f")).expect("a file"), "old abc", "{option}");
    }
}

#[test]
fn resume_of_the_file_of_a_descriptor_is_a_usage_error() {
    let (directory, server) = (temp_dir(), start_server());
    write_file(directory.path(), "f", "old");
    for path in ["/dev/fd/7", "/proc/self/fd/7", "/dev/stderr"] {
        let script = format!("\"$F\" -C - -o {path} \"$1\" 7>>f 2>>f");
        let result = run_with_file(directory.path(), &script, &server.url("/o"));
        result.assert_exit(2);
        let now = fs::read_to_string(directory.path().join("f")).expect("a file");
        assert!(now.starts_with("oldfetch-url: ") && now.contains("-C OFFSET"), "{now}");
        write_file(directory.path(), "f", "old");
    }
    assert!(server.requests().is_empty());
    // A pipe has nothing that could be resumed.
    let script = "{ \"$F\" -C - -o /dev/fd/7 \"$1\" 7>&1 >/dev/null; } | cat";
    let result = run_with_file(directory.path(), script, &server.url("/o"));
    assert!(result.assert_exit(0).stdout == content(), "{} bytes", result.stdout.len());
}

#[test]
fn rest_of_the_object_is_written_at_the_position_of_the_descriptor() {
    let (directory, server) = (temp_dir(), start_server());
    write_file(directory.path(), "source", "0123456789");
    let source = format!("file://{}/source", directory.path().display());
    let ftp = FtpConfig::new().anonymous().file("/source", "0123456789");
    let ftp = FtpServer::start(ftp).expect("a server");
    for (url, offset, rest) in [
        (server.url("/o"), SIZE - 100, &content()[SIZE - 100..]),
        (source, 7, b"789"),
        // The 7 bytes before the position are not those of the object.
        (ftp.url("/source"), 7, b"789"),
    ] {
        write_file(directory.path(), "f", "");
        let script = format!("exec 7>f; echo before >&7; \"$F\" -C {offset} -o /dev/fd/7 \"$1\" && echo after >&7");
        run_with_file(directory.path(), &script, &url).assert_exit(0);
        let written = fs::read(directory.path().join("f")).expect("a file");
        assert!(written == [b"before\n", rest, b"after\n"].concat(), "{url}");
    }
}

#[test]
fn object_from_its_start_is_not_written_to_a_descriptor_instead_of_its_rest() {
    let directory = temp_dir();
    let headers = FileHeaders { ranges: RangeSupport::Ignored, ..strong_etag_headers() };
    let server = http_server(file_handler(content(), headers));
    write_file(directory.path(), "f", "old");
    for url in [server.url("/o"), format!("file://{}/", directory.path().display())] {
        run_with_file(directory.path(), "\"$F\" -C 3 -o /dev/fd/7 \"$1\" 7>>f", &url).assert_exit(33);
        assert_eq!(fs::read_to_string(directory.path().join("f")).expect("a file"), "old", "{url}");
    }
}

/// Another program, such as a terminal multiplexer, may have set the flag of the pipe that both have.
#[test]
fn full_pipe_whose_writes_do_not_wait_is_written_completely() {
    let server = start_server();
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    fcntl_setfl(&writer, OFlags::NONBLOCK).expect("a flag");
    let mut command = fetch_url_command();
    command.args(["-s", "-o", "/dev/stderr", &server.url("/o")]).stderr(Stdio::from(writer));
    let mut child = command.stdin(Stdio::null()).spawn().expect("started");
    drop(command);
    // Until then, the pipe is full.
    std::thread::sleep(Duration::from_millis(200));
    let mut written = Vec::new();
    reader.read_to_end(&mut written).expect("the bytes");
    assert!(child.wait().expect("a status").success());
    assert!(written == content(), "{} bytes", written.len());
}
