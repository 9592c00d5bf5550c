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
        let script =
            format!("exec 7>f; echo before >&7; \"$F\" -C {offset} -o /dev/fd/7 \"$1\" && echo after >&7");
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

#[test]
fn file_is_not_copied_to_a_descriptor_of_itself() {
    let directory = temp_dir();
    let local = format!("file://{}/f", directory.path().display());
    for url in [local.as_str(), "file:///dev/fd/3"] {
        for redirect in ["3<>f", "3>>f"] {
            write_file(directory.path(), "f", "0123456789");
            let script = format!("\"$F\" -o /dev/fd/3 \"$1\" {redirect}");
            run_with_file(directory.path(), &script, url)
                .assert_exit(23)
                .assert_stderr_contains("source and destination are the same file");
            let now = fs::read_to_string(directory.path().join("f")).expect("a file");
            assert_eq!(now, "0123456789", "{url} {redirect}");
        }
    }
}

/// The files of these options were truncated, and written from their start.
#[test]
fn options_write_to_the_position_of_a_descriptor() {
    let directory = temp_dir();
    let server = http_server(|_| {
        HttpResponse::new(200).header("Set-Cookie", "a=b; Max-Age=1000").header("ETag", "\"1\"").body("x")
    });
    for (option, part) in [
        ("-D PATH", "ETag: \"1\"\n"),
        ("--etag-save PATH", "\"1\"\n"),
        ("--trace PATH", "GET / HTTP/1.1"),
        ("--events PATH", "\"done\""),
        ("-c PATH", "# Netscape"),
        ("-w '%output{PATH}code %{exitcode}\\n'", "code 0\n"),
        ("-w '%output{>>PATH}code %{exitcode}\\n'", "code 0\n"),
    ] {
        for (path, number) in [
            ("/dev/stdout", 1),
            ("/dev/fd/1", 1),
            ("/dev/stderr", 2),
            ("/dev/fd/7", 7),
            ("/proc/self/fd/7", 7),
        ] {
            write_file(directory.path(), "f", "");
            let option = option.replace("PATH", path);
            let script = format!(
                "exec {number}>f; echo before >&{number}; \"$F\" {option} -o object \"$1\"; code=$?; \
                 echo after >&{number}; exit $code"
            );
            run_with_file(directory.path(), &script, &server.url("/")).assert_exit(0);
            let text = fs::read_to_string(directory.path().join("f")).expect("a file");
            let between = text.strip_prefix("before\n").and_then(|text| text.strip_suffix("after\n"));
            assert!(between.is_some_and(|text| text.contains(part)), "{option}: {text}");
        }
    }
}

#[test]
fn headers_and_object_on_standard_output_keep_their_order() {
    let directory = temp_dir();
    let server = http_server(|_| HttpResponse::new(200).header("ETag", "\"1\"").body("object\n"));
    let mut texts = Vec::new();
    for path in ["-", "/dev/stdout", "/dev/fd/1", "/dev/fd/7"] {
        write_file(directory.path(), "f", "");
        let script =
            format!("{{ echo before; \"$F\" -D {path} --etag-save {path} \"$1\" 7>&1; echo after; }} >f");
        run_with_file(directory.path(), &script, &server.url("/")).assert_exit(0);
        texts.push(fs::read_to_string(directory.path().join("f")).expect("a file"));
    }
    assert!(texts[0].ends_with("\n\nobject\n\"1\"\nafter\n"), "{}", texts[0]);
    let head_and_rest = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("Date:"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for text in &texts[1..] {
        assert_eq!(head_and_rest(text), head_and_rest(&texts[0]));
    }
}

#[test]
fn logs_of_serve_are_written_at_the_position_of_a_descriptor() {
    let directory = temp_dir();
    write_file(directory.path(), "f", "");
    let script = "exec 7>f; echo before >&7
        \"$F\" serve --listen 127.0.0.1:0 --events /dev/fd/7 & server=$!
        until grep -q listening f; do sleep 0.05; done
        kill $server; wait $server; code=$?; echo after >&7; exit $code";
    run_with_file(directory.path(), script, "").assert_exit(0);
    let text = fs::read_to_string(directory.path().join("f")).expect("a file");
    assert!(text.starts_with("before\n{") && text.ends_with("}\nafter\n"), "{text}");
}

#[test]
fn closed_descriptor_of_an_option_is_an_error() {
    let (directory, server) = (temp_dir(), start_server());
    for option in ["-D", "--etag-save", "--trace", "--events", "-c"] {
        let script = format!("\"$F\" {option} /dev/fd/7 -o object \"$1\" 7<&-");
        let result = run_with_file(directory.path(), &script, &server.url("/o"));
        assert!([2, 23].contains(&result.exit), "{option}: {result:?}");
        result.assert_stderr_contains("descriptor 7 is not open\n");
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
