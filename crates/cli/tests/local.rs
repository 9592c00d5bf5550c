//! Directories, special files and unreadable files of this machine.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{fetch, shell};

const HOSTILE: [&[u8]; 10] = [
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

fn hostile_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for name in HOSTILE {
        fs::write(directory.path().join(OsStr::from_bytes(name)), name).expect("a file");
    }
    fs::create_dir(directory.path().join("sub")).expect("a directory");
    std::os::unix::fs::symlink("plain.txt", directory.path().join("link")).expect("a link");
    directory
}

#[test]
fn a_directory_as_text_shows_one_harmless_line_for_each_entry() {
    let directory = hostile_directory();
    for url in [
        format!("file://{}", directory.path().display()),
        format!("file://localhost{}/", directory.path().display()),
    ] {
        let ran = fetch([&url]);
        let text = String::from_utf8(ran.exits(0).stdout.clone()).expect("UTF-8");
        assert_eq!(text.lines().count(), HOSTILE.len() + 2, "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        assert!(text.contains("sub/") && text.contains("plain.txt"), "{text}");
    }
}

#[test]
fn a_directory_as_raw_names_is_octets() {
    let directory = hostile_directory();
    let ran = fetch(["--format", "raw", &format!("file://{}/", directory.path().display())]);
    let octets = &ran.exits(0).stdout;
    for name in HOSTILE {
        let line = [name, b"\n"].concat();
        assert!(octets.windows(line.len()).any(|window| window == line), "{name:?}");
    }
    let extra: usize = ["sub\n", "link\n"].iter().map(|name| name.len()).sum();
    assert_eq!(octets.len(), HOSTILE.iter().map(|name| name.len() + 1).sum::<usize>() + extra);
}

#[test]
fn a_directory_in_json_has_urls_that_lead_to_the_entries() {
    let directory = hostile_directory();
    let ran = fetch(["--format", "json", &format!("file://{}/", directory.path().display())]);
    let text = String::from_utf8(ran.exits(0).stdout.clone()).expect("UTF-8");
    let values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(values.len(), HOSTILE.len() + 2);
    let mut fetched = Vec::new();
    for value in &values {
        let url = value["url"].as_str().expect("an entry has its URL");
        match value["kind"].as_str().expect("a kind") {
            "directory" => assert_eq!(value["name"], "sub"),
            "link" => assert_eq!(fetch([url]).exits(0).text(), "plain.txt"),
            _ => {
                let octets = fetch([url]).exits(0).stdout.clone();
                assert_eq!(value["size"], octets.len(), "{value}");
                fetched.push(octets);
            }
        }
    }
    fetched.sort();
    let mut expected = HOSTILE.map(<[u8]>::to_vec);
    expected.sort();
    assert_eq!(fetched, expected);
}

#[test]
fn special_files_only_when_asked() {
    let directory = tempfile::tempdir().expect("a directory");
    let fifo = directory.path().join("fifo");
    shell("mkfifo \"$1\"", [&fifo]).exits(0);
    let socket = std::os::unix::net::UnixListener::bind(directory.path().join("socket")).expect("a socket");
    let began = Instant::now();
    for path in
        [fifo.as_path(), Path::new("/dev/zero"), Path::new("/dev/null"), &directory.path().join("socket")]
    {
        let ran = fetch([format!("file://{}", path.display())]);
        assert!([1, 9, 90].contains(&ran.exit) && ran.stdout.is_empty(), "{}: {ran:?}", path.display());
    }
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(socket);
    assert!(fetch(["--special-files", "file:///dev/null"]).exits(0).stdout.is_empty());
    fetch(["--special-files", "--max-filesize", "1M", "file:///dev/zero"]).exits(63);
    let script = "(echo octets >\"$2\") & \"$F\" --special-files \"$1\"";
    let ran = shell(script, [format!("file://{}", fifo.display()).as_ref(), fifo.as_os_str()]);
    assert_eq!(ran.exits(0).text(), "octets\n");
}

/// Nobody writes into the FIFO: the time that was given ends it.
#[test]
fn a_fifo_without_a_writer_ends_in_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let fifo = directory.path().join("fifo");
    shell("mkfifo \"$1\"", [&fifo]).exits(0);
    let script = "timeout -k 1 6 \"$F\" --special-files -m 1 \"$1\"";
    shell(script, [format!("file://{}", fifo.display())]).exits(28);
}

#[test]
fn files_that_cannot_be_read() {
    fetch(["file:///no/such/file"]).exits(78);
    fetch(["file:///etc/passwd/below"]).exits(78);
    fetch(["file:///a%00b"]).exits(93);
    fetch(["file:///etc%2Fpasswd"]).exits(93);
    let directory = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::symlink("loop", directory.path().join("loop")).expect("a link");
    let ran = fetch([format!("file://{}/loop", directory.path().display())]);
    assert!(ran.exit != 0 && ran.exit != 99, "{ran:?}");
    let long = format!("file:///{}", "x".repeat(5000));
    let ran = fetch([long]);
    assert!(ran.exit != 0 && ran.exit != 99, "{ran:?}");
}
