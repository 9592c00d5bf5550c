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
    let socket_path = directory.path().join("socket");
    for (path, exit) in [
        (fifo.as_path(), 90),
        (Path::new("/dev/zero"), 90),
        (Path::new("/dev/null"), 90),
        (socket_path.as_path(), 1),
    ] {
        let result = run_fetch_url([format!("file://{}", path.display())]);
        assert!(result.exit == exit && result.stdout.is_empty(), "{}: {result:?}", path.display());
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    let url = format!("file://{}", socket_path.display());
    run_fetch_url(["--special-files", &url])
        .assert_exit(1)
        .assert_stderr_contains("not supported: the file cannot be read");
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
fn range_of_a_generated_file_is_delivered_exactly() {
    let version = fs::read("/proc/version").expect("read /proc/version");
    let size = version.len();
    // The second read of an integer in /proc/sys returns nothing.
    let maximum = fs::read("/proc/sys/kernel/pid_max").expect("read a file");
    for (range, path, expected) in [
        ("3-5", "version", &version[3..6]),
        ("0-0", "version", &version[..1]),
        ("5-", "version", &version[5..]),
        (&format!("{}-99999", size - 1), "version", &version[size - 1..]),
        ("2-3", "sys/kernel/pid_max", &maximum[2..4]),
    ] {
        let result = run_fetch_url(["-r", range, &format!("file:///proc/{path}")]);
        assert_eq!(result.assert_exit(0).stdout, expected, "{range} of {path}");
    }
    for range in [&format!("{size}-"), "99999-", "99999-999999", "-4"] {
        let result = run_fetch_url(["-r", range, "file:///proc/version"]);
        assert!(result.assert_exit(33).stdout.is_empty(), "{range}");
    }
    let head = run_fetch_url(["-I", "file:///proc/version"]).assert_exit(0).stdout_text();
    assert!(!head.contains("size") && !head.contains("modified"), "{head}");
}

#[test]
fn range_of_a_fifo_or_device_ends_with_its_last_byte() {
    let directory = temp_dir();
    let fifo = directory.path().join("fifo");
    run_shell("mkfifo \"$1\"", [&fifo]).assert_exit(0);
    // The writer keeps the FIFO open.
    let script =
        "(printf abcdefghij; sleep 20) >\"$1\" & \"$F\" --special-files -r 2-4 \"file://$1\"; kill $!";
    assert_eq!(run_shell(script, [&fifo]).assert_exit(0).stdout_text(), "cde");
    for (range, length) in [("0-9", 10), ("200000-299999", 100_000)] {
        let options = ["--special-files", "--max-filesize", "1M", "-r", range, "file:///dev/zero"];
        assert_eq!(run_fetch_url(options).assert_exit(0).stdout, vec![0; length], "{range}");
    }
    run_fetch_url(["--special-files", "-r", "-10", "file:///dev/zero"]).assert_exit(33);
}

#[test]
fn continue_at_offset_appends_the_rest_of_a_generated_file_or_keeps_the_file() {
    let directory = temp_dir();
    let version = fs::read_to_string("/proc/version").expect("read /proc/version");
    let kept = directory.path().join("kept");
    for (url, exit, expected) in [
        ("file:///proc/version", 0, format!("XYZ{}", &version[3..])),
        ("file:///proc/", 33, "XYZ".to_owned()),
    ] {
        fs::write(&kept, "XYZ").expect("write file");
        run_fetch_url_in(directory.path(), ["-C", "3", "-o", "kept", url]).assert_exit(exit);
        assert_eq!(fs::read_to_string(&kept).expect("read file"), expected, "{url}");
    }
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

#[test]
fn file_is_not_written_onto_itself_under_any_name() {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    for content in [vec![b'x'; 5], vec![b'x'; 300_000]] {
        let directory = temp_dir();
        let source = directory.path().join("a");
        fs::write(&source, &content).expect("write file");
        fs::hard_link(&source, directory.path().join("hard")).expect("create hard link");
        symlink("a", directory.path().join("link")).expect("create symbolic link");
        let before = fs::metadata(&source).expect("a file");
        for name in ["a", "./a", "hard", "link"] {
            for options in [&["-o", "a"][..], &["-C", "3", "-o", "a"], &["-o", "hard"]] {
                let url = format!("file://{}/{name}", directory.path().display());
                run_fetch_url_in(directory.path(), [options, &[&url]].concat())
                    .assert_exit(23)
                    .assert_stderr_contains("same file");
            }
        }
        let after = fs::metadata(&source).expect("a file");
        assert_eq!((before.ino(), before.nlink()), (after.ino(), after.nlink()));
        assert_eq!(
            fs::read_dir(directory.path()).expect("a directory").count(),
            3,
            "a temporary file is left"
        );
    }
}

#[test]
fn range_of_a_directory_exits_33_and_prints_nothing() {
    let directory = hostile_directory();
    let url = format!("file://{}/", directory.path().display());
    for range in ["0-3", "5000-", "-5"] {
        for format in ["text", "raw", "json"] {
            let result = run_fetch_url(["--format", format, "-r", range, &url]);
            assert!(result.assert_exit(33).stdout.is_empty(), "{range} {format}");
        }
    }
    // -I prints metadata, which have no range.
    run_fetch_url(["-I", "-r", "0-3", &url]).assert_exit(0);
}

#[test]
fn object_is_no_directory_with_list() {
    let dir = temp_dir();
    fs::write(dir.path().join("f"), "object").expect("a file");
    let url = |name: &str| format!("file://{}/{name}", dir.path().display());
    let result = run_fetch_url(["--list", &url("f")]);
    result.assert_exit(78).assert_stderr_contains("it is not a directory");
    assert!(result.stdout.is_empty());
    run_fetch_url_in(dir.path(), ["--list", "-o", "out", &url("f")]).assert_exit(78);
    assert!(!dir.path().join("out").exists());
    for options in [&["--list"][..], &["--list", "--format", "raw"], &["--list", "--format", "json"]] {
        let result = run_fetch_url(options.iter().copied().chain([&*url("")]));
        assert!(result.assert_exit(0).stdout_text().contains('f'), "{options:?}");
    }
}
