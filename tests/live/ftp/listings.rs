//! Directories: names, metadata of entries, missing and unreadable directories.

use std::collections::BTreeSet;

use super::entries::{entries, field};
use super::received_commands::assert_commands;
use crate::live::ftp_server::{FtpServer, PROFTPD, PUREFTPD, each_ftp_server};
use crate::live::tree::MODIFIED;
use crate::live::work_dir::{WorkDir, fetch, key};

each_ftp_server![
    text_listing_shows_each_name_within_80_columns,
    every_url_form_of_a_directory_lists_the_same_names,
    raw_listing_prints_the_lines_of_the_server,
    json_listing_has_a_url_for_each_entry,
    long_listing_has_kind_size_and_time,
    long_listing_sends_mlsd_and_falls_back_to_list,
    link_target_is_not_part_of_the_entry_name,
    directory_of_5000_files_is_listed_completely,
    empty_directory_gives_an_empty_listing,
    missing_directory_exits_78_without_a_file,
    unreadable_directory_exits_9_or_78,
    file_listed_as_a_directory_exits_78,
    listing_is_written_to_a_file_unchanged,
];

fn has_mlsd(server: FtpServer) -> bool {
    [PROFTPD.name, PUREFTPD.name].contains(&server.name)
}

/// Returns the names of a JSON listing, sorted.
fn names_of(listing: &str) -> BTreeSet<String> {
    entries(listing).into_iter().map(|line| field(line, "name").expect("a name")).collect()
}

fn text_listing_shows_each_name_within_80_columns(server: FtpServer) {
    let text = fetch(&[&server.url("/pub/")]).assert_exit(0).text();
    let last = |line: &str| line.split_whitespace().last().unwrap_or_default().to_owned();
    let names: BTreeSet<String> = text.lines().map(last).collect();
    assert_eq!(names, ["README", "a"].map(str::to_owned).into(), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

fn every_url_form_of_a_directory_lists_the_same_names(server: FtpServer) {
    let expected: BTreeSet<String> = ["README", "a"].map(str::to_owned).into();
    for path in ["/pub/", "/pub;type=d", "/pub/;type=d", "/link-dir/"] {
        let text = fetch(&["--format", "json", &server.url(path)]).assert_exit(0).text();
        assert_eq!(names_of(&text), expected, "{path}: {text}");
        let text = fetch(&["-l", "--format", "json", &server.url(path)]).assert_exit(0).text();
        assert_eq!(names_of(&text), expected, "-l {path}: {text}");
    }
    let text = fetch(&["--list", "--format", "json", &server.url("/pub")]).assert_exit(0).text();
    assert_eq!(names_of(&text), expected, "--list: {text}");
    let whole = fetch(&["--format", "json", &server.url("")]).assert_exit(0).text();
    assert_eq!(whole, fetch(&["--format", "json", &server.url("/")]).assert_exit(0).text());
    let names = names_of(&whole);
    for name in ["hello.txt", "odd", "many", "link.txt", "range.txt", "empty-dir", "noperm.txt"] {
        assert!(names.contains(name), "{name} is missing in {names:?}");
    }
    assert!(!names.contains(".") && !names.contains(".."), "{names:?}");
}

fn raw_listing_prints_the_lines_of_the_server(server: FtpServer) {
    let raw = fetch(&["--format", "raw", &server.url("/pub/")]).assert_exit(0).text();
    let lines: BTreeSet<&str> = raw.lines().filter(|line| !line.starts_with('.')).collect();
    assert_eq!(lines, ["README", "a"].into(), "{raw:?}");
    // With the directory name as argument of NLST, as in RFC 1738, the server puts it before each name.
    let raw = fetch(&["--format", "raw", &server.url("/pub;type=d")]).assert_exit(0).text();
    assert!(raw.lines().any(|line| line == "pub/README"), "{raw:?}");
    let raw =
        fetch(&["--format", "raw", "--list-format", "long", &server.url("/pub/")]).assert_exit(0).text();
    let line = raw.lines().find(|line| line.ends_with("README")).expect("a line of README");
    let mark = if has_mlsd(server) { "modify=19941201123456;" } else { "-rw-r--r--" };
    assert!(line.contains(mark), "{raw}");
}

fn json_listing_has_a_url_for_each_entry(server: FtpServer) {
    let text = fetch(&["--format", "json", &server.url("/pub/")]).assert_exit(0).text();
    for line in entries(&text) {
        let name = field(line, "name").expect("a name");
        assert_eq!(field(line, "url"), Some(server.url(&format!("/pub/{name}"))), "{line}");
    }
    assert_eq!(entries(&text).len(), 2, "{text}");
}

/// LIST shows no time of day for dates of earlier years.
fn long_listing_has_kind_size_and_time(server: FtpServer) {
    let options = ["--list-format", "long", "--format", "json"];
    for path in ["/pub/", "/pub;type=d"] {
        let text = fetch(&[&options[..], &[&server.url(path)]].concat()).assert_exit(0).text();
        let line = entries(&text).into_iter().find(|line| line.contains("\"README\"")).expect("README");
        let modified = if has_mlsd(server) { MODIFIED } else { MODIFIED - MODIFIED % 86_400 };
        for pair in
            ["\"kind\":\"file\"".to_owned(), "\"size\":16".to_owned(), format!("\"modified\":{modified}")]
        {
            assert!(line.contains(&pair), "{pair} is missing in {line}");
        }
        let line = entries(&text).into_iter().find(|line| line.contains("\"name\":\"a\"")).expect("a");
        assert!(line.contains("\"kind\":\"directory\""), "{line}");
        assert_eq!(field(line, "url"), Some(server.url("/pub/a/")));
        assert_eq!(entries(&text).len(), 2, "{text}");
    }
}

fn long_listing_sends_mlsd_and_falls_back_to_list(server: FtpServer) {
    let options = ["--list-format", "long"];
    if has_mlsd(server) {
        assert_commands(server, &options, "/pub/", &["CWD pub", "EPSV", "MLSD"]);
        return;
    }
    let result = fetch(&["-v", "--list-format", "long", &server.url("/pub/")]).assert_exit(0);
    let sent: Vec<&str> = result.err.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let verbs: Vec<&&str> = sent.iter().filter(|line| ["MLSD", "LIST", "NLST"].contains(*line)).collect();
    assert_eq!(verbs, [&"MLSD", &"LIST"], "{}", result.err);
    // An unknown command does not end the session.
    let logins = sent.iter().filter(|line| line.starts_with("USER")).count();
    assert_eq!(logins, 1, "{}", result.err);
}

/// The target of a link is not part of its name.
fn link_target_is_not_part_of_the_entry_name(server: FtpServer) {
    let options = ["--list-format", "long", "--format", "json"];
    let text = fetch(&[&options[..], &[&server.url("/")]].concat()).assert_exit(0).text();
    let line = entries(&text).into_iter().find(|line| line.contains("\"link.txt\"")).expect("the link");
    let url = field(line, "url").expect("a URL");
    fetch(&[&url]).assert_success("Hello, world\n");
    assert!(!text.contains("->"), "{text}");
    assert_eq!(text.contains("\"dangling\""), server.name != PROFTPD.name, "{text}");
}

fn directory_of_5000_files_is_listed_completely(server: FtpServer) {
    let all: BTreeSet<String> = (0..5000).map(|number| format!("f{number:04}.txt")).collect();
    for form in ["names", "long"] {
        let options = ["--list-format", form, "--format", "json", "--require-complete"];
        let text = fetch(&[&options[..], &[&server.url("/many/")]].concat()).assert_exit(0).text();
        assert_eq!(entries(&text).len(), 5000);
        assert!(names_of(&text) == all, "{form}: not the names of the folder");
    }
    let text = fetch(&[&server.url("/many;type=d")]).assert_exit(0).text();
    assert_eq!(text.lines().count(), 5000);
}

fn empty_directory_gives_an_empty_listing(server: FtpServer) {
    for form in ["names", "long"] {
        for path in ["/empty-dir/", "/empty-dir;type=d", "/empty-dir/;type=d"] {
            fetch(&["--list-format", form, &server.url(path)]).assert_success("");
            fetch(&["--list-format", form, "--format", "json", &server.url(path)]).assert_success("");
        }
    }
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", &server.url("/empty-dir/")]).assert_success("");
    assert_eq!(dir.read("here"), b"");
}

fn missing_directory_exits_78_without_a_file(server: FtpServer) {
    for form in ["names", "long"] {
        for end in ["/", ";type=d", "/;type=d"] {
            let (dir, name) = (WorkDir::new(), key());
            let url = server.url(&format!("/{name}{end}"));
            let result = dir.fetch(&["--list-format", form, "-o", "here", &url]).assert_exit(78);
            result.assert_stderr_contains("550");
            dir.assert_entries(&[]);
        }
    }
}

/// vsftpd lists the directory itself, and bsdftpd writes its error message among the names: neither is an entry.
fn unreadable_directory_exits_9_or_78(server: FtpServer) {
    for form in ["names", "long"] {
        for path in ["/noperm-dir/", "/noperm-dir;type=d"] {
            let result = fetch(&["--list-format", form, &server.url(path)]).assert_stdout("");
            assert!([9, 78].contains(&result.exit), "{form} {path}: {} {}", result.exit, result.err);
        }
    }
}

fn file_listed_as_a_directory_exits_78(server: FtpServer) {
    for form in ["names", "long"] {
        for path in ["/hello.txt/", "/hello.txt/;type=d", "/pub/README/"] {
            fetch(&["--list-format", form, &server.url(path)])
                .assert_exit(78)
                .assert_stdout("")
                .assert_stderr_contains("550");
        }
    }
    // With its name as argument of NLST, a file may be listed as the only entry. vsftpd adds links whose target has
    // this name.
    let result = fetch(&["--format", "json", &server.url("/hello.txt;type=d")]);
    assert!([0, 78].contains(&result.exit), "{}", result.err);
    for line in entries(&result.text()) {
        fetch(&[&field(line, "url").expect("a URL")]).assert_success("Hello, world\n");
    }
}

/// Raw and JSON listings are written to a file byte for byte.
fn listing_is_written_to_a_file_unchanged(server: FtpServer) {
    let dir = WorkDir::new();
    let url = server.url("/odd/");
    let raw = fetch(&["--format", "raw", &url]).assert_exit(0).out;
    dir.fetch(&["--format", "raw", "-o", "here", &url]).assert_success("");
    assert_eq!(dir.read("here"), raw);
    let json = fetch(&["--format", "json", &url]).assert_exit(0).out;
    dir.fetch(&["--format", "json", "-o", "here", &url]).assert_success("");
    assert_eq!(dir.read("here"), json);
    // 0xFF in a name is not doubled on the data connection.
    assert!(raw.windows(5).any(|name| name == b"iac\xff."), "{}", raw.escape_ascii());
}
