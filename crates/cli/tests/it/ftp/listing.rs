//! Directory listings of FTP servers (docs/spec/semantics.md §2, "Listings"; docs/spec/faults.md, rows 68, 76, 83 and
//! 84): every listing format, empty, huge and truncated listings, and names with arbitrary bytes.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::run_measuring_memory;
use crate::support::{BINARY, RunResult, run_fetch_url, temp_dir};
use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpServer, Terminal};

/// The memory limit of one run in KiB (docs/spec/faults.md, rule N8).
const MEMORY_LIMIT: u64 = 64 * 1024;

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

fn test_config() -> FtpConfig {
    let config = FtpConfig::new().file("/d/one", "12345").dir("/d/sub").file("/d/two words", "");
    config.modified("/d/one", "19941201123456").dir("/void")
}

fn list_directory(server: &FtpServer, path: &str, options: &str) -> RunResult {
    run_fetch_url(
        ["--read-timeout", "2"]
            .into_iter()
            .chain(options.split_whitespace())
            .chain([server.url(path).as_str()]),
    )
}

fn list_commands(server: &FtpServer) -> Vec<String> {
    let is_list_command = |line: &String| ["NLST", "LIST", "MLSD"].iter().any(|verb| line.starts_with(verb));
    server.received_text().into_iter().filter(is_list_command).collect()
}

/// The values of one JSON field, one per output line.
fn json_values(result: &RunResult, name: &str) -> Vec<String> {
    let value =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("valid JSON")[name].clone();
    result.stdout_text().lines().map(|line| value(line).as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn list_prints_names_in_every_format() {
    let server = start_server(test_config());
    let result = list_directory(&server, "/d/", "");
    assert_eq!(result.assert_exit(0).stdout_text().lines().count(), 3, "{}", result.stdout_text());
    for name in ["one", "sub", "two words"] {
        assert!(
            result.stdout_text().lines().any(|line| line.ends_with(name)),
            "{name}: {}",
            result.stdout_text()
        );
    }
    assert_eq!(list_directory(&server, "/d/", "--format raw").stdout_text(), "one\r\nsub\r\ntwo words\r\n");
    let result = list_directory(&server, "/d/", "--format json");
    assert_eq!(json_values(result.assert_exit(0), "name"), ["one", "sub", "two words"]);
    assert_eq!(
        list_directory(&server, "/d/", "-l --format raw").stdout_text(),
        "one\r\nsub\r\ntwo words\r\n"
    );
    assert!(list_commands(&server).iter().all(|verb| verb == "NLST"), "{:?}", list_commands(&server));
    // With `;type=d` the server puts the directory before each name; the directory is removed.
    let result = list_directory(&server, "/d;type=d", "--format json");
    assert_eq!(
        json_values(result.assert_exit(0), "name"),
        ["one", "sub", "two words"],
        "{}",
        result.stdout_text()
    );
}

#[test]
fn long_listing_falls_back_from_mlsd_to_list_to_nlst() {
    for (config, expected) in [
        (test_config(), &["MLSD"][..]),
        (test_config().without("MLSD"), &["MLSD", "LIST"]),
        (test_config().without("MLSD").without("LIST"), &["MLSD", "LIST", "NLST"]),
        (
            test_config().answer("MLSD", "502 No.\r\n").answer("LIST", "502 No.\r\n"),
            &["MLSD", "LIST", "NLST"],
        ),
    ] {
        let server = start_server(config);
        let result = list_directory(&server, "/d/", "--list-format long --format json");
        // If FEAT does not announce MLSD, it may be skipped.
        let commands = list_commands(&server);
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        assert!(!commands.is_empty() && expected.ends_with(&commands), "{expected:?}: {commands:?}");
        assert_eq!(json_values(result.assert_exit(0), "name"), ["one", "sub", "two words"]);
        if expected.last() != Some(&"NLST") {
            assert_eq!(
                json_values(&result, "kind"),
                ["file", "directory", "file"],
                "{}",
                result.stdout_text()
            );
            let first: serde_json::Value =
                serde_json::from_str(result.stdout_text().lines().next().unwrap_or_default())
                    .expect("valid JSON");
            assert_eq!(first["size"], 5);
        }
    }
    let result = list_directory(&start_server(test_config()), "/d/", "--list-format long");
    assert!(
        result.stdout_text().contains("1994-12-01 12:34") && result.stdout_text().contains("sub/"),
        "{}",
        result.stdout_text()
    );
    let raw =
        list_directory(&start_server(test_config()), "/d/", "--list-format long --format raw").stdout_text();
    assert!(raw.contains("type=file;size=5;modify=19941201123456; one\r\n"), "{raw}");
}

/// LIST replies in DOS and Unix format, with a line that is not an entry.
#[test]
fn unix_and_dos_list_formats_are_parsed() {
    let unix = "total 8\r\ndrwxr-xr-x 2 0 0 4096 Jan 02  2024 sub\r\n-rw-r--r-- 1 me us 5 Dec 01  1994 two words\r\n\
                lrwxrwxrwx 1 0 0 3 Jan 02 03:04 link -> one\r\n";
    let dos = "01-02-24  03:04AM       <DIR>          sub\r\n12-01-1994  12:34PM                    5 two words\r\n";
    for (case, text, expected) in
        [("unix", unix, &["sub", "two words", "link"][..]), ("dos", dos, &["sub", "two words"])]
    {
        let server = start_server(test_config().without("MLSD").on("LIST", FtpAction::Data(text.into())));
        let result = list_directory(&server, "/d/", "--list-format long --format json");
        assert_eq!(json_values(result.assert_exit(0), "name"), expected, "{case}: {}", result.stdout_text());
        assert_eq!(json_values(&result, "kind")[..2], ["directory", "file"], "{case}");
    }
}

/// Servers report an empty directory with six different replies.
#[test]
fn empty_directory_is_an_empty_listing() {
    for (case, config) in [
        ("an empty listing", test_config()),
        ("226 at once", test_config().answer("NLST", "226 Nothing.\r\n")),
        ("250 at once", test_config().answer("NLST", "250 Nothing.\r\n")),
        ("450", test_config().answer("NLST", "450 No files found.\r\n")),
        ("550", test_config().answer("NLST", "550 No files found.\r\n")),
        ("150, then 450", test_config().replace_reply("NLST", "450 No files.\r\n")),
    ] {
        let server = start_server(config);
        for options in ["", "--format json", "--format raw"] {
            let result = list_directory(&server, "/void/", options);
            if case == "150, then 450" {
                assert!([0, 18].contains(&result.exit) && result.stdout.is_empty(), "{case}: {result:?}");
                continue;
            }
            assert_eq!((result.exit, result.stdout.len()), (0, 0), "{case} {options}: {}", result.stderr);
        }
    }
    // A 550 to CWD means that the directory does not exist, and 553 to NLST means that access is denied.
    let server = start_server(test_config());
    list_directory(&server, "/missing/", "").assert_exit(78);
    list_directory(&server, "/d/missing;type=d", "").assert_exit(78);
    list_directory(&start_server(test_config().answer("NLST", "553 Not for you.\r\n")), "/d/", "")
        .assert_exit(9);
}

#[test]
fn listing_of_5000_entries_is_complete_in_every_format() {
    let server = start_server(FtpConfig::new().generated_dir("/many", 5000));
    for options in ["--format json", "", "--format raw", "--list-format long --format json"] {
        let result = list_directory(&server, "/many/", options);
        assert_eq!(result.assert_exit(0).stdout_text().lines().count(), 5000, "{options}");
        assert!(result.stdout_text().contains("entry-0004999.txt"), "{options}");
    }
}

/// docs/spec/faults.md, row 84: the listing is streamed, not collected in memory.
#[test]
fn listing_of_a_million_entries_stays_below_the_memory_limit() {
    let server = start_server(FtpConfig::new().generated_dir("/many", 1_000_000));
    let dir = temp_dir();
    let output = dir.path().join("list");
    let path = output.to_str().expect("valid UTF-8");
    let (memory, result) = run_measuring_memory(&["--format", "raw", "-o", path, &server.url("/many/")]);
    result.assert_exit(0);
    assert_eq!(
        fs::metadata(&output).expect("read file metadata").len(),
        1_000_000 * "entry-0000000.txt\r\n".len() as u64
    );
    assert!(memory > 0 && memory < MEMORY_LIMIT, "{memory} KiB");
}

/// docs/spec/faults.md, rows 83 and 84: a 3 MiB line without an end, and a listing larger than `--max-filesize`.
#[test]
fn endless_line_and_endless_listing_exit_63() {
    let endless_line = start_server(test_config().on("NLST", FtpAction::Data(vec![b'x'; 3 << 20])));
    for options in ["", "--format json"] {
        list_directory(&endless_line, "/d/", options).assert_exit(63);
    }
    let started = Instant::now();
    let endless_listing = start_server(FtpConfig::new().generated_dir("/many", 50_000_000));
    let (memory, result) = run_measuring_memory(&["--max-filesize", "2M", &endless_listing.url("/many/")]);
    result.assert_exit(63);
    assert!(
        memory < MEMORY_LIMIT && started.elapsed() < Duration::from_secs(8),
        "{memory} {:?}",
        started.elapsed()
    );
}

/// Tests every output format.
#[test]
fn truncated_listing_exits_18_and_writes_no_file() {
    for (case, config) in [
        ("426", test_config().on("NLST", FtpAction::CutData(6, Ending::Close))),
        ("reset", test_config().on("NLST", FtpAction::CutData(6, Ending::Reset))),
        ("451", test_config().replace_reply("NLST", "451 Read error.\r\n")),
        ("no final reply", test_config().on("NLST", FtpAction::EndBeforeFinalReply(Ending::Close))),
    ] {
        let server = start_server(config);
        for options in ["", "--format json", "--format raw"] {
            let result = list_directory(&server, "/d/", options);
            assert_eq!(result.exit, 18, "{case} {options}: {}", result.stderr);
        }
        let dir = temp_dir();
        let output = dir.path().join("list");
        list_directory(&server, "/d/", &format!("-o {}", output.display())).assert_exit(18);
        assert!(!output.exists(), "{case}");
    }
}

/// Names that a terminal, a shell or a file system could interpret.
const HOSTILE_NAMES: [&[u8]; 12] = [
    b"\x1b[2J\x1b]0;evil\x07",
    b"\xc2\x9b31m",
    b"\xe2\x80\xaetxt.exe",
    b"../../etc/passwd",
    b"/etc/passwd",
    b"..",
    b"a\rb",
    b"\xff\xfe",
    b"caf\xe9",
    b"-rf",
    b"http://evil.example/x",
    b"a;type=d",
];

fn start_hostile_server() -> FtpServer {
    let lines: Vec<u8> = HOSTILE_NAMES.iter().flat_map(|name| [name, &b"\r\n"[..]].concat()).collect();
    start_server(test_config().on("NLST", FtpAction::Data(lines)))
}

#[test]
fn hostile_names_are_escaped_in_a_terminal() {
    let server = start_hostile_server();
    for options in [&[][..], &["--format", "raw"], &["--format", "json"]] {
        let url = server.url("/d/");
        let arguments: Vec<&str> = [options, &["--retry", "0", &url]].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 100).expect("start terminal");
        assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
        let screen = terminal.bytes();
        let text = String::from_utf8_lossy(screen).into_owned();
        let is_control_character = |character: char| {
            character.is_control() && !"\r\n\t".contains(character) || character == '\u{202e}'
        };
        // Standard output is the terminal, so the program adds no colours and no progress bar here.
        assert!(!text.contains(is_control_character), "{options:?}: {}", screen.escape_ascii());
        let has_lone_cr = screen.windows(2).any(|pair| pair[0] == b'\r' && !b"\r\n".contains(&pair[1]));
        assert!(!has_lone_cr, "{options:?}: {}", screen.escape_ascii());
    }
}

/// Each line is one entry. Its URL, if present, names a file in the listed directory.
#[test]
fn hostile_names_in_json_never_leave_the_directory() {
    let result = list_directory(&start_hostile_server(), "/d/", "--format json");
    assert!(
        !result.assert_exit(0).stdout.iter().any(|byte| *byte < 0x20 && *byte != b'\n'),
        "{}",
        result.stdout_text()
    );
    for line in result.stdout_text().lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect("valid JSON");
        let Some(url) = entry["url"].as_str() else { continue };
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let inner = path.strip_prefix("d/").unwrap_or_else(|| panic!("{url} left the directory"));
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        let inner = inner.split(";type=").next().unwrap_or_default();
        assert!(!inner.contains('/') && inner != "..", "{url} left the directory");
        assert!(url.starts_with("ftp://127.0.0.1:") && url.is_ascii(), "{url}");
    }
    // `--format raw` writes the server's bytes unchanged to a pipe.
    let raw = list_directory(&start_hostile_server(), "/d/", "--format raw").stdout;
    assert!(HOSTILE_NAMES.iter().all(|name| raw.windows(name.len()).any(|window| window == *name)));
}

/// Names with special characters are percent-encoded in the `url` field.
#[test]
fn url_of_an_entry_fetches_that_entry() {
    let special_names: [&[u8]; 10] = [
        b"plain",
        b"two words",
        b"100%",
        b"a?b#c",
        b"a;type=a",
        b"caf\xc3\xa9",
        b"\xe9\xff",
        b"q\"uo'te",
        b"a:b@c",
        b"~x\\y",
    ];
    let config = special_names.iter().enumerate().fold(FtpConfig::new(), |config, (number, name)| {
        config.file([b"/d d/", *name].concat(), format!("<{number}>"))
    });
    let server = start_server(config);
    for options in ["--format json", "--format json --list-format long"] {
        let result = list_directory(&server, "/d%20d/", options);
        let urls = json_values(result.assert_exit(0), "url");
        assert_eq!(urls.len(), special_names.len(), "{}", result.stdout_text());
        let all = run_fetch_url(&urls).assert_exit(0).stdout_text();
        for (number, name) in special_names.iter().enumerate() {
            assert!(all.contains(&format!("<{number}>")), "{options}: {} {urls:?}", name.escape_ascii());
        }
    }
    // The URL of a directory entry lists that directory.
    let server = start_server(FtpConfig::new().file("/a/b/c", "c"));
    let result = list_directory(&server, "/a/", "--format json --list-format long");
    let urls = json_values(&result, "url");
    assert_eq!(
        run_fetch_url(["--format", "raw", &urls[0]]).assert_exit(0).stdout_text(),
        "c\r\n",
        "{urls:?}"
    );
}

/// Twisted replies 500 to NLST without an argument.
#[test]
fn directory_is_listed_by_list_if_nlst_is_refused() {
    let server =
        start_server(letter_files().answer("NLST", "500 Syntax error: NLST requires an argument.\r\n"));
    let result = run_fetch_url([server.url("")]);
    let text = result.assert_exit(0).stdout_text();
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e", "f"]);
    let neither = start_server(letter_files().without("NLST").without("LIST"));
    assert_ne!(run_fetch_url([neither.url("")]).exit, 0);
    assert!(neither.received_text().len() < 40, "{:?}", neither.received_text());
}

/// Files `/a` to `/f`, directly in the login directory.
fn letter_files() -> FtpConfig {
    "abcdef"
        .chars()
        .fold(FtpConfig::new(), |config, name| config.file(format!("/{name}"), format!("{name};")))
}

/// A 550 or 450 to NLST without a preceding CWD is an error, not an empty directory.
#[test]
fn unreadable_login_directory_is_an_error() {
    for reply in ["550 Permission denied.\r\n", "450 Try again later.\r\n"] {
        let server = start_server(letter_files().answer("NLST", reply));
        let result = run_fetch_url([server.url("")]);
        assert_ne!(result.exit, 0, "{reply}");
    }
}

#[test]
fn head_of_a_directory_checks_existence_without_data_connection() {
    let server = start_server(letter_files().dir("/d"));
    for (path, exit) in [("d/", 0), ("d;type=d", 0), ("", 0), ("x/", 78), ("x;type=d", 78)] {
        run_fetch_url(["-I", &server.url(path)]).assert_exit(exit);
    }
    assert!(
        !server.received_text().iter().any(|line| line.starts_with("EPSV")),
        "{:?}",
        server.received_text()
    );
}
