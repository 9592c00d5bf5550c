//! `mirror` of servers that mean harm (SECURITY.md, rows 17, 66, 68, 69 and 76; N6): whatever a listing calls its files,
//! they get safe names in DIR, no two the same.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;

use fetch_url_tests::{Act, FtpServer, FtpSite, HttpReply, HttpServer};
use support::mirrored::{JOURNAL, evil_server, mirror, page, place, put, tree};
use support::names;
use support::outcome::is_raw;

/// Names that nobody can be hurt by.
fn is_safe(entry: &str, dots: bool) -> bool {
    let path = entry.split_once('=').map_or(entry, |(path, _)| path).trim_end_matches('/');
    path.split('/').all(|name| {
        let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
        let is_device = ["con", "nul", "aux", "prn", "com1", "lpt1"].contains(&stem.as_str());
        let is_ours = name.ends_with(".part") || name.ends_with(".part.json") || name == JOURNAL;
        let is_odd =
            name.contains(is_raw) || name.contains(['\\', '\n']) || name.len() > 255 || name.is_empty();
        !is_device && !is_ours && !is_odd && (dots || !name.starts_with('.')) && name != ".." && name != "."
    })
}

fn hostile_hrefs() -> Vec<String> {
    let mut hrefs: Vec<String> = [
        "%2e%2e%2fevil1",
        "..%2fevil2",
        "%2fetc%2fevil3",
        "/d/%2e%2e%2f%2e%2e%2fevil4",
        "a%2f..%2f..%2fevil5",
        "a%00b",
        "a%0d%0aX-Evil:%201",
        "a%0ab",
        "%1b[31mred",
        "%c2%9b31m",
        "%e2%80%aegnp.exe",
        "con",
        "NUL.txt",
        "com1",
        "aux.c/",
        "x.part",
        "x",
        "x.part.json",
        ".fetch-url-mirror",
        "%2efetch-url-mirror",
        ".fetch-url-mirror.part",
        ".fetch-url-mirror/",
        ".bashrc",
        ".ssh/",
        ".git/",
        "%7e",
        "-rf",
        "%7cid",
        "%24(id)",
        "%60id%60",
        "a%5cb",
        "..%5c..%5cevil6",
        "C:%5cevil7",
        "C:evil8",
        "%20",
        "%20/",
        "trailing.",
        "trailing%20",
        "%ff%fe",
        "...",
        "..../",
        "%e2%80%a8",
        "%",
        "%zz",
        "same",
        "same/",
    ]
    .map(str::to_owned)
    .to_vec();
    hrefs.push("n".repeat(300));
    hrefs.push(format!("{}/", "m".repeat(300)));
    hrefs.push("%c3%a9".repeat(200));
    hrefs
}

#[test]
fn names_on_pages() {
    let hrefs = hostile_hrefs();
    let hrefs: Vec<&str> = hrefs.iter().map(String::as_str).collect();
    let server = evil_server(&hrefs);
    for words in ["", "-v", "-Z --parallel-max 8", "--dot-names"] {
        let here = place();
        put(here.path(), "outside", "mine");
        let target = here.path().join("a/b/target");
        fs::create_dir_all(&target).expect("a directory");
        let ran = mirror(&server.url("/d/"), &target, words);
        assert!(
            !ran.stderr.contains("panicked") && !ran.stderr.contains(is_raw),
            "{words}: {:?}",
            ran.stderr
        );
        assert_eq!(names(here.path()), ["a", "outside"], "{words}");
        assert_eq!(names(&here.path().join("a")), ["b"], "{words}");
        assert_eq!(names(&here.path().join("a/b")), ["target"], "{words}");
        let found = tree(&target);
        let unsafe_names: Vec<&String> =
            found.iter().filter(|name| !is_safe(name, words == "--dot-names")).collect();
        assert!(unsafe_names.is_empty(), "{words}: {unsafe_names:?}");
        let journal = fs::read_to_string(target.join(JOURNAL)).expect("a journal, and it is ours");
        assert!(journal.starts_with('{') && journal.contains(&server.url("/d/")), "{words}: {journal}");
        // The same names the next time, and nothing is sent that was there.
        let before = server.requests().len();
        mirror(&server.url("/d/"), &target, words);
        assert_eq!(tree(&target), found, "{words}");
        let again =
            server.requests()[before..].iter().filter(|request| !request.path().ends_with('/')).count();
        assert_eq!(again, 0, "{words}: {:?}", server.requests()[before..].last());
    }
}

/// Names that become the same safe name, and a file and a directory of one name, do not overwrite each other.
#[test]
fn names_that_meet() {
    let (one, other) = (format!("{}1", "n".repeat(250)), format!("{}2", "n".repeat(250)));
    let hrefs = [
        &*one, &other, "a%01", "a%02", "a_", "a%01/", "b", "b/", "con", "_con", "c.part", "c", ".d", "_d",
        "d",
    ];
    let all = hrefs.map(str::to_owned);
    let started = HttpServer::start(move |request| match request.path().as_str() {
        "/d/" => page(&all),
        path if path.ends_with('/') => page(&["inside".to_owned()]),
        path => HttpReply::new(200).body(format!("<{path}>")),
    });
    let (server, here) = (started.expect("a server"), place());
    let ran = mirror(&server.url("/d/"), here.path(), "-Z");
    let found = tree(here.path());
    let content = |href: &str| format!("=</d/{href}{}>", if href.ends_with('/') { "inside" } else { "" });
    let times = |href: &&str| found.iter().filter(|name| name.ends_with(&content(href))).count();
    let told = |href: &&str| ran.stderr.contains(&format!("/d/{href}"));
    let lost: Vec<&str> = hrefs.into_iter().filter(|href| times(href) != 1 && !told(href)).collect();
    assert!(lost.is_empty(), "{lost:?} (exit {}): {found:?} {}", ran.exit, ran.stderr);
    assert!(found.iter().all(|name| is_safe(name, false)), "{found:?}");
    mirror(&server.url("/d/"), here.path(), "");
    assert_eq!(tree(here.path()), found);
    mirror(&server.url("/d/"), here.path(), "--delete");
    assert_eq!(tree(here.path()), found);
}

#[test]
fn names_of_ftp_servers() {
    let names_sent: [&[u8]; 22] = [
        b"../up",
        b"/etc/evil",
        b"..",
        b".",
        b"",
        b"a/b",
        b"../../../tmp/evil",
        b"a\0b",
        b"\x1b[2J",
        b"C:\\evil",
        b"|id",
        b"-la",
        b"con",
        b".fetch-url-mirror",
        b"x.part",
        b"\xff\xfe",
        b" lead",
        b"good",
        b"sub/../../evil",
        b"a\rDELE good",
        b"~root",
        b"\xc2\x9b31m",
    ];
    let line = |name: &&[u8]| [b"type=file;size=4;modify=19941201123456; ", *name, b"\r\n"].concat();
    let facts: Vec<u8> = names_sent.iter().flat_map(line).collect();
    let long = |name: &&[u8]| [b"-rw-r--r-- 1 0 0 4 Dec 01  1994 ", *name, b"\r\n"].concat();
    let listed: Vec<u8> = names_sent.iter().flat_map(long).collect();
    let plain = |name: &&[u8]| [*name, b"\r\n"].concat();
    let bare: Vec<u8> = names_sent.iter().flat_map(plain).collect();
    let files = || {
        let site = FtpSite::new()
            .file("/up", "evil")
            .file("/etc/evil", "evil")
            .file("/tmp/evil", "evil")
            .dir("/d/sub");
        let inside: [&[u8]; 8] =
            [b"a/b", b"\x1b[2J", b"|id", b"con", b".fetch-url-mirror", b"x.part", b"good", b"-la"];
        inside.into_iter().fold(site, |site, name| site.file([b"/d/", name].concat(), "evil"))
    };
    for (what, site) in [
        ("MLSD", files().on("MLSD", Act::Data(facts))),
        ("LIST", files().no("MLSD").no("MLST").on("LIST", Act::Data(listed))),
        ("NLST", files().no("MLSD").no("MLST").no("LIST").on("NLST", Act::Data(bare))),
    ] {
        let server = FtpServer::start(site).expect("a server");
        let here = place();
        let target = here.path().join("a/target");
        fs::create_dir_all(&target).expect("a directory");
        let ran = mirror(&server.url("d/"), &target, "--read-timeout 3 -v");
        assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains(is_raw), "{what}: {:?}", ran.stderr);
        assert_eq!(
            (names(here.path()), names(&here.path().join("a"))),
            (vec!["a".into()], vec!["target".into()]),
            "{what}"
        );
        let found = tree(&target);
        assert!(found.iter().all(|name| is_safe(name, false)), "{what}: {found:?}");
        assert!(found.contains(&"good=evil".to_owned()), "{what}: {found:?} {}", ran.stderr);
        let lines = server.dialogue();
        assert!(!lines.iter().any(|line| line.starts_with("DELE")), "{what}: {lines:?}");
        assert!(!lines.iter().any(|line| line.contains("/etc") || line.contains("..")), "{what}: {lines:?}");
    }
}
