//! Directories of FTP servers (SEMANTICS.md §2, "Listings"; SECURITY.md, rows 68, 76, 83 and 84): every form,
//! every size, every ending, and names that are octets and nothing more.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::time::{Duration, Instant};

use fetch_url_tests::{Act, Ending, FtpServer, FtpSite, Terminal};
use support::sound::measured;
use support::{BINARY, Ran, fetch};

/// In KiB; SECURITY.md, N8.
const MEMORY: u64 = 64 * 1024;

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

fn site() -> FtpSite {
    let site = FtpSite::new().file("/d/one", "12345").dir("/d/sub").file("/d/two words", "");
    site.modified("/d/one", "19941201123456").dir("/void")
}

fn list(server: &FtpServer, path: &str, words: &str) -> Ran {
    fetch(
        ["--read-timeout", "2"]
            .into_iter()
            .chain(words.split_whitespace())
            .chain([server.url(path).as_str()]),
    )
}

fn verbs(server: &FtpServer) -> Vec<String> {
    let lists = |line: &String| ["NLST", "LIST", "MLSD"].iter().any(|verb| line.starts_with(verb));
    server.dialogue().into_iter().filter(lists).collect()
}

/// The values of one member of each line of JSON.
fn members(ran: &Ran, name: &str) -> Vec<String> {
    let value = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON")[name].clone();
    ran.text().lines().map(|line| value(line).as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn names() {
    let server = serve(site());
    let ran = list(&server, "/d/", "");
    assert_eq!(ran.exits(0).text().lines().count(), 3, "{}", ran.text());
    for name in ["one", "sub", "two words"] {
        assert!(ran.text().lines().any(|line| line.ends_with(name)), "{name}: {}", ran.text());
    }
    assert_eq!(list(&server, "/d/", "--format raw").text(), "one\r\nsub\r\ntwo words\r\n");
    let ran = list(&server, "/d/", "--format json");
    assert_eq!(members(ran.exits(0), "name"), ["one", "sub", "two words"]);
    assert_eq!(list(&server, "/d/", "-l --format raw").text(), "one\r\nsub\r\ntwo words\r\n");
    assert!(verbs(&server).iter().all(|verb| verb == "NLST"), "{:?}", verbs(&server));
    // A server that puts the directory before each name means the same names.
    let ran = list(&server, "/d;type=d", "--format json");
    assert_eq!(members(ran.exits(0), "name"), ["one", "sub", "two words"], "{}", ran.text());
}

#[test]
fn long() {
    for (site, expected) in [
        (site(), &["MLSD"][..]),
        (site().no("MLSD"), &["MLSD", "LIST"]),
        (site().no("MLSD").no("LIST"), &["MLSD", "LIST", "NLST"]),
        (site().answer("MLSD", "502 No.\r\n").answer("LIST", "502 No.\r\n"), &["MLSD", "LIST", "NLST"]),
    ] {
        let server = serve(site);
        let ran = list(&server, "/d/", "--list-format long --format json");
        // Where FEAT tells, MLSD need not be tried.
        let asked = verbs(&server);
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        assert!(!asked.is_empty() && expected.ends_with(&asked), "{expected:?}: {asked:?}");
        assert_eq!(members(ran.exits(0), "name"), ["one", "sub", "two words"]);
        if expected.last() != Some(&"NLST") {
            assert_eq!(members(&ran, "kind"), ["file", "directory", "file"], "{}", ran.text());
            let first: serde_json::Value =
                serde_json::from_str(ran.text().lines().next().unwrap_or_default()).expect("JSON");
            assert_eq!(first["size"], 5);
        }
    }
    let ran = list(&serve(site()), "/d/", "--list-format long");
    assert!(ran.text().contains("1994-12-01 12:34") && ran.text().contains("sub/"), "{}", ran.text());
    let raw = list(&serve(site()), "/d/", "--list-format long --format raw").text();
    assert!(raw.contains("type=file;size=5;modify=19941201123456; one\r\n"), "{raw}");
}

/// LIST as DOS and Unix write it, with what does not belong there.
#[test]
fn long_lines_of_others() {
    let unix = "total 8\r\ndrwxr-xr-x 2 0 0 4096 Jan 02  2024 sub\r\n-rw-r--r-- 1 me us 5 Dec 01  1994 two words\r\n\
                lrwxrwxrwx 1 0 0 3 Jan 02 03:04 link -> one\r\n";
    let dos = "01-02-24  03:04AM       <DIR>          sub\r\n12-01-1994  12:34PM                    5 two words\r\n";
    for (what, text, expected) in
        [("unix", unix, &["sub", "two words", "link"][..]), ("dos", dos, &["sub", "two words"])]
    {
        let server = serve(site().no("MLSD").on("LIST", Act::Data(text.into())));
        let ran = list(&server, "/d/", "--list-format long --format json");
        assert_eq!(members(ran.exits(0), "name"), expected, "{what}: {}", ran.text());
        assert_eq!(members(&ran, "kind")[..2], ["directory", "file"], "{what}");
    }
}

/// servers.md §5: how servers say that there is nothing.
#[test]
fn nothing_there() {
    for (what, site) in [
        ("an empty listing", site()),
        ("226 at once", site().answer("NLST", "226 Nothing.\r\n")),
        ("250 at once", site().answer("NLST", "250 Nothing.\r\n")),
        ("450", site().answer("NLST", "450 No files found.\r\n")),
        ("550", site().answer("NLST", "550 No files found.\r\n")),
        ("150, then 450", site().reword("NLST", "450 No files.\r\n")),
    ] {
        let server = serve(site);
        for words in ["", "--format json", "--format raw"] {
            let ran = list(&server, "/void/", words);
            if what == "150, then 450" {
                assert!([0, 18].contains(&ran.exit) && ran.stdout.is_empty(), "{what}: {ran:?}");
                continue;
            }
            assert_eq!((ran.exit, ran.stdout.len()), (0, 0), "{what} {words}: {}", ran.stderr);
        }
    }
    // Without a CWD that succeeded 550 is what it says, and so is a CWD that fails.
    let server = serve(site());
    list(&server, "/missing/", "").exits(78);
    list(&server, "/d/missing;type=d", "").exits(78);
    list(&serve(site().answer("NLST", "553 Not for you.\r\n")), "/d/", "").exits(9);
}

#[test]
fn many() {
    let server = serve(FtpSite::new().crowd("/crowd", 5000));
    for words in ["--format json", "", "--format raw", "--list-format long --format json"] {
        let ran = list(&server, "/crowd/", words);
        assert_eq!(ran.exits(0).text().lines().count(), 5000, "{words}");
        assert!(ran.text().contains("entry-0004999.txt"), "{words}");
    }
}

/// Row 84: streamed, not collected.
#[test]
fn a_million() {
    let server = serve(FtpSite::new().crowd("/crowd", 1_000_000));
    let here = tempfile::tempdir().expect("a directory");
    let output = here.path().join("list");
    let path = output.to_str().expect("UTF-8");
    let (memory, ran) = measured(&["--format", "raw", "-o", path, &server.url("/crowd/")]);
    ran.exits(0);
    assert_eq!(
        fs::metadata(&output).expect("a file").len(),
        1_000_000 * "entry-0000000.txt\r\n".len() as u64
    );
    assert!(memory > 0 && memory < MEMORY, "{memory} KiB");
}

/// Rows 83 and 84: a line without an end, and a listing without one.
#[test]
fn endless() {
    let line = serve(site().on("NLST", Act::Data(vec![b'x'; 3 << 20])));
    for words in ["", "--format json"] {
        list(&line, "/d/", words).exits(63);
    }
    let begun = Instant::now();
    let many = serve(FtpSite::new().crowd("/crowd", 50_000_000));
    let (memory, ran) = measured(&["--max-filesize", "2M", &many.url("/crowd/")]);
    ran.exits(63);
    assert!(memory < MEMORY && begun.elapsed() < Duration::from_secs(8), "{memory} {:?}", begun.elapsed());
}

/// What is cut is no listing, in whatever shape it comes out.
#[test]
fn cut() {
    for (what, site) in [
        ("426", site().on("NLST", Act::CutData(6, Ending::Close))),
        ("reset", site().on("NLST", Act::CutData(6, Ending::Reset))),
        ("451", site().reword("NLST", "451 Read error.\r\n")),
        ("no last word", site().on("NLST", Act::EndAtFinal(Ending::Close))),
    ] {
        let server = serve(site);
        for words in ["", "--format json", "--format raw"] {
            let ran = list(&server, "/d/", words);
            assert_eq!(ran.exit, 18, "{what} {words}: {}", ran.stderr);
        }
        let here = tempfile::tempdir().expect("a directory");
        let output = here.path().join("list");
        list(&server, "/d/", &format!("-o {}", output.display())).exits(18);
        assert!(!output.exists(), "{what}");
    }
}

/// Names that would be commands to a terminal, a shell or a file system.
const HOSTILE: [&[u8]; 12] = [
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

fn hostile() -> FtpServer {
    let lines: Vec<u8> = HOSTILE.iter().flat_map(|name| [name, &b"\r\n"[..]].concat()).collect();
    serve(site().on("NLST", Act::Data(lines)))
}

#[test]
fn hostile_names_in_a_terminal() {
    let server = hostile();
    for words in [&[][..], &["--format", "raw"], &["--format", "json"]] {
        let url = server.url("/d/");
        let arguments: Vec<&str> = [words, &["--retry", "0", &url]].concat();
        let mut terminal = Terminal::run(BINARY, &arguments, 100).expect("a terminal");
        assert_eq!(terminal.exit().expect("an end"), 0, "{}", terminal.screen());
        let screen = terminal.octets();
        let text = String::from_utf8_lossy(screen).into_owned();
        let is_raw = |character: char| {
            character.is_control() && !"\r\n\t".contains(character) || character == '\u{202e}'
        };
        // Our own colours and bars are none here: standard output is the terminal.
        assert!(!text.contains(is_raw), "{words:?}: {}", screen.escape_ascii());
        let lone = screen.windows(2).any(|pair| pair[0] == b'\r' && !b"\r\n".contains(&pair[1]));
        assert!(!lone, "{words:?}: {}", screen.escape_ascii());
    }
}

/// In JSON a line is an entry, and its URL leads to that very name in that directory, or there is none.
#[test]
fn hostile_names_in_json() {
    let ran = list(&hostile(), "/d/", "--format json");
    assert!(!ran.exits(0).stdout.iter().any(|octet| *octet < 0x20 && *octet != b'\n'), "{}", ran.text());
    for line in ran.text().lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let Some(url) = entry["url"].as_str() else { continue };
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let inner = path.strip_prefix("d/").unwrap_or_else(|| panic!("{url} left the directory"));
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        let inner = inner.split(";type=").next().unwrap_or_default();
        assert!(!inner.contains('/') && inner != "..", "{url} left the directory");
        assert!(url.starts_with("ftp://127.0.0.1:") && url.is_ascii(), "{url}");
    }
    // A pipe gets the server's octets when it asks for them.
    let raw = list(&hostile(), "/d/", "--format raw").stdout;
    assert!(HOSTILE.iter().all(|name| raw.windows(name.len()).any(|window| window == *name)));
}

/// An entry's URL fetches that entry.
#[test]
fn entries_lead_back() {
    let strange: [&[u8]; 10] = [
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
    let site = strange.iter().enumerate().fold(FtpSite::new(), |site, (number, name)| {
        site.file([b"/d d/", *name].concat(), format!("<{number}>"))
    });
    let server = serve(site);
    for words in ["--format json", "--format json --list-format long"] {
        let ran = list(&server, "/d%20d/", words);
        let urls = members(ran.exits(0), "url");
        assert_eq!(urls.len(), strange.len(), "{}", ran.text());
        let all = fetch(&urls).exits(0).text();
        for (number, name) in strange.iter().enumerate() {
            assert!(all.contains(&format!("<{number}>")), "{words}: {} {urls:?}", name.escape_ascii());
        }
    }
    // A directory's URL lists it.
    let server = serve(FtpSite::new().file("/a/b/c", "c"));
    let ran = list(&server, "/a/", "--format json --list-format long");
    let urls = members(&ran, "url");
    assert_eq!(fetch(["--format", "raw", &urls[0]]).exits(0).text(), "c\r\n", "{urls:?}");
}
