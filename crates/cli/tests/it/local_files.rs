//! `file:` URLs (docs/spec/semantics.md §9): directories, special files and unreadable files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{run_fetch_url, run_fetch_url_in, run_shell, temp_dir};
use serde_json::Value;

/// File names with control characters, invalid UTF-8, and characters with a meaning in URLs.
const HOSTILE_NAMES: [&[u8]; 10] = [
    b"plain.txt",
    b"a\nb",
    b"\x1b[31mred",
    b"caf\xc3\xa9",
    b"\xff\xfe",
    b"%41",
    b"a b#c?d",
    b".hidden",
    b"-dash",
    b"a\\b\r",
];

/// Creates a directory with [`HOSTILE_NAMES`], a subdirectory and a symbolic link.
fn hostile_directory() -> tempfile::TempDir {
    let directory = temp_dir();
    for name in HOSTILE_NAMES {
        fs::write(directory.path().join(OsStr::from_bytes(name)), name).expect("write file");
    }
    fs::create_dir(directory.path().join("sub")).expect("create directory");
    std::os::unix::fs::symlink("plain.txt", directory.path().join("link")).expect("create symbolic link");
    directory
}

#[test]
fn directory_as_text_shows_one_sanitised_line_per_entry() {
    let directory = hostile_directory();
    for url in [
        format!("file://{}", directory.path().display()),
        format!("file://localhost{}/", directory.path().display()),
    ] {
        let result = run_fetch_url([&url]);
        let text = String::from_utf8(result.assert_exit(0).stdout.clone()).expect("valid UTF-8");
        assert_eq!(text.lines().count(), HOSTILE_NAMES.len() + 2, "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert!(text.contains("sub/") && text.contains("plain.txt"), "{text}");
    }
}

#[test]
fn directory_as_raw_shows_the_exact_bytes_of_names() {
    let directory = hostile_directory();
    let result = run_fetch_url(["--format", "raw", &format!("file://{}/", directory.path().display())]);
    let bytes = &result.assert_exit(0).stdout;
    for name in HOSTILE_NAMES {
        let line = [name, b"\n"].concat();
        assert!(bytes.windows(line.len()).any(|window| window == line), "{name:?}");
    }
    let extra: usize = ["sub\n", "link\n"].iter().map(|name| name.len()).sum();
    assert_eq!(bytes.len(), HOSTILE_NAMES.iter().map(|name| name.len() + 1).sum::<usize>() + extra);
}

#[test]
fn directory_as_json_has_urls_that_fetch_the_entries() {
    let directory = hostile_directory();
    let result = run_fetch_url(["--format", "json", &format!("file://{}/", directory.path().display())]);
    let text = String::from_utf8(result.assert_exit(0).stdout.clone()).expect("valid UTF-8");
    let values: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("valid JSON")).collect();
    assert_eq!(values.len(), HOSTILE_NAMES.len() + 2);
    let mut fetched = Vec::new();
    for value in &values {
        let url = value["url"].as_str().expect("url is a string");
        match value["kind"].as_str().expect("kind is a string") {
            "directory" => assert_eq!(value["name"], "sub"),
            "link" => assert_eq!(run_fetch_url([url]).assert_exit(0).stdout_text(), "plain.txt"),
            _ => {
                let bytes = run_fetch_url([url]).assert_exit(0).stdout.clone();
                assert_eq!(value["size"], bytes.len(), "{value}");
                fetched.push(bytes);
            }
        }
    }
    fetched.sort();
    let mut expected = HOSTILE_NAMES.map(<[u8]>::to_vec);
    expected.sort();
    assert_eq!(fetched, expected);
}

#[test]
fn special_files_require_special_files_option() {
    let directory = temp_dir();
    let fifo = directory.path().join("fifo");
    run_shell("mkfifo \"$1\"", [&fifo]).assert_exit(0);
    let socket =
        std::os::unix::net::UnixListener::bind(directory.path().join("socket")).expect("create socket");
    let start = Instant::now();
    for path in
        [fifo.as_path(), Path::new("/dev/zero"), Path::new("/dev/null"), &directory.path().join("socket")]
    {
        let result = run_fetch_url([format!("file://{}", path.display())]);
        assert!(
            [1, 9, 90].contains(&result.exit) && result.stdout.is_empty(),
            "{}: {result:?}",
            path.display()
        );
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    drop(socket);
    assert!(run_fetch_url(["--special-files", "file:///dev/null"]).assert_exit(0).stdout.is_empty());
    run_fetch_url(["--special-files", "--max-filesize", "1M", "file:///dev/zero"]).assert_exit(63);
    let script = "(echo octets >\"$2\") & \"$F\" --special-files \"$1\"";
    let result = run_shell(script, [format!("file://{}", fifo.display()).as_ref(), fifo.as_os_str()]);
    assert_eq!(result.assert_exit(0).stdout_text(), "octets\n");
}

#[test]
fn max_time_ends_waiting_for_a_fifo_writer() {
    let directory = temp_dir();
    let fifo = directory.path().join("fifo");
    run_shell("mkfifo \"$1\"", [&fifo]).assert_exit(0);
    let script = "timeout -k 1 6 \"$F\" --special-files -m 1 \"$1\"";
    run_shell(script, [format!("file://{}", fifo.display())]).assert_exit(28);
}

#[test]
fn missing_or_invalid_path_is_an_error() {
    run_fetch_url(["file:///no/such/file"]).assert_exit(78);
    run_fetch_url(["file:///etc/passwd/below"]).assert_exit(78);
    run_fetch_url(["file:///a%00b"]).assert_exit(93);
    run_fetch_url(["file:///etc%2Fpasswd"]).assert_exit(93);
    let directory = temp_dir();
    std::os::unix::fs::symlink("loop", directory.path().join("loop")).expect("create symbolic link");
    let result = run_fetch_url([format!("file://{}/loop", directory.path().display())]);
    assert!(result.exit != 0 && result.exit != 99, "{result:?}");
    let long = format!("file:///{}", "x".repeat(5000));
    let result = run_fetch_url([long]);
    assert!(result.exit != 0 && result.exit != 99, "{result:?}");
}

#[test]
fn proc_files_with_reported_size_0_are_read_to_the_end() {
    let version = fs::read("/proc/version").expect("read /proc/version");
    assert_eq!(run_fetch_url(["file:///proc/version"]).assert_exit(0).stdout, version);
}

#[test]
fn included_header_precedes_a_local_file() {
    let directory = temp_dir();
    fs::write(directory.path().join("source"), "the body").expect("write file");
    let url = format!("file://{}/source", directory.path().display());
    let printed = run_fetch_url(["-i", &url]).assert_exit(0).stdout_text();
    assert!(printed.starts_with("size: 8\n") && printed.ends_with("\n\nthe body"), "{printed:?}");
    run_fetch_url_in(directory.path(), ["-i", "-o", "copy", &url]).assert_exit(0);
    assert_eq!(fs::read_to_string(directory.path().join("copy")).expect("read file"), printed);
}
