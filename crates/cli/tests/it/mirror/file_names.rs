//! File names of a mirror: for any listing, local names are sanitised, unique, stable and inside DIR
//! (docs/spec/faults.md, rows 17, 66, 68, 69 and 76, and rule N6).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, Mutex};

use crate::support::fault_checks::is_terminal_control;
use crate::support::mirror::{
    MIRROR_JOURNAL, directory_server, hostile_index_server, list_tree, minimal_index_page, nginx_index,
    run_mirror, run_mirror_with,
};
use crate::support::{entry_names, read_text_or_empty, temp_dir, write_file};
use fetch_url_tests::{
    FtpAction, FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer,
};

/// Returns `true` if every part of the path of a [`list_tree`] entry is a safe file name. Names that start with a dot
/// are safe only if `allow_dots` is set.
fn is_safe(entry: &str, allow_dots: bool) -> bool {
    let path = entry.split_once('=').map_or(entry, |(path, _)| path).trim_end_matches('/');
    path.split('/').all(|name| {
        let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
        let is_device = ["con", "nul", "aux", "prn", "com1", "lpt1"].contains(&stem.as_str());
        let is_reserved =
            name.ends_with(".fetch-url.part") || name.ends_with(".fetch-url.json") || name == MIRROR_JOURNAL;
        let is_odd = name.contains(is_terminal_control)
            || name.contains(['\\', '\n'])
            || name.len() > 255
            || name.is_empty();
        !is_device
            && !is_reserved
            && !is_odd
            && (allow_dots || !name.starts_with('.'))
            && name != ".."
            && name != "."
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
        "x.fetch-url.part",
        "x",
        "x.fetch-url.json",
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
fn hostile_names_in_index_pages_are_sanitised() {
    let hrefs = hostile_hrefs();
    let hrefs: Vec<&str> = hrefs.iter().map(String::as_str).collect();
    let server = hostile_index_server(&hrefs);
    for options in ["", "-v", "-Z --parallel-max 8", "--dot-names"] {
        let dir = temp_dir();
        write_file(dir.path(), "outside", "mine");
        let target = dir.path().join("a/b/target");
        fs::create_dir_all(&target).expect("a directory");
        let result = run_mirror(&server.url("/d/"), &target, options);
        assert!(
            !result.stderr.contains("panicked") && !result.stderr.contains(is_terminal_control),
            "{options}: {:?}",
            result.stderr
        );
        assert_eq!(entry_names(dir.path()), ["a", "outside"], "{options}");
        assert_eq!(entry_names(&dir.path().join("a")), ["b"], "{options}");
        assert_eq!(entry_names(&dir.path().join("a/b")), ["target"], "{options}");
        let found = list_tree(&target);
        let unsafe_names: Vec<&String> =
            found.iter().filter(|name| !is_safe(name, options == "--dot-names")).collect();
        assert!(unsafe_names.is_empty(), "{options}: {unsafe_names:?}");
        let journal = fs::read_to_string(target.join(MIRROR_JOURNAL)).expect("a journal");
        assert!(journal.starts_with('{') && journal.contains(&server.url("/d/")), "{options}: {journal}");
        // The second run gives the same names and downloads no file again.
        let before = server.requests().len();
        run_mirror(&server.url("/d/"), &target, options);
        assert_eq!(list_tree(&target), found, "{options}");
        let file_requests =
            server.requests()[before..].iter().filter(|request| !request.path().ends_with('/')).count();
        assert_eq!(file_requests, 0, "{options}: {:?}", server.requests()[before..].last());
    }
}

/// Different names with the same sanitised form, and a file and a directory of the same name, do not overwrite each
/// other.
#[test]
fn colliding_names_stay_separate_files() {
    let (one, other) = (format!("{}1", "n".repeat(250)), format!("{}2", "n".repeat(250)));
    let hrefs = [
        &*one,
        &other,
        "a%01",
        "a%02",
        "a_",
        "a%01/",
        "b",
        "b/",
        "con",
        "_con",
        "c.fetch-url.part",
        "c.part",
        "c",
        ".d",
        "_d",
        "d",
    ];
    let all = hrefs.map(str::to_owned);
    let started = HttpServer::start(move |request| match request.path().as_str() {
        "/d/" => nginx_index(&all),
        path if path.ends_with('/') => nginx_index(&["inside".to_owned()]),
        path => HttpResponse::new(200).body(format!("<{path}>")),
    });
    let (server, dir) = (started.expect("a server"), temp_dir());
    let result = run_mirror(&server.url("/d/"), dir.path(), "-Z");
    let found = list_tree(dir.path());
    let content = |href: &str| format!("=</d/{href}{}>", if href.ends_with('/') { "inside" } else { "" });
    let count = |href: &&str| found.iter().filter(|name| name.ends_with(&content(href))).count();
    let reported = |href: &&str| result.stderr.contains(&format!("/d/{href}"));
    let lost: Vec<&str> = hrefs.into_iter().filter(|href| count(href) != 1 && !reported(href)).collect();
    assert!(lost.is_empty(), "{lost:?} (exit {}): {found:?} {}", result.exit, result.stderr);
    assert!(found.iter().all(|name| is_safe(name, false)), "{found:?}");
    run_mirror(&server.url("/d/"), dir.path(), "");
    assert_eq!(list_tree(dir.path()), found);
    run_mirror(&server.url("/d/"), dir.path(), "--delete");
    assert_eq!(list_tree(dir.path()), found);
}

#[test]
fn hostile_names_in_ftp_listings_are_sanitised() {
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
        b"x.fetch-url.part",
        b"\xff\xfe",
        b" lead",
        b"good",
        b"sub/../../evil",
        b"a\rDELE good",
        b"~root",
        b"\xc2\x9b31m",
    ];
    let mlsd_line = |name: &&[u8]| [b"type=file;size=4;modify=19941201123456; ", *name, b"\r\n"].concat();
    let mlsd_lines: Vec<u8> = names_sent.iter().flat_map(mlsd_line).collect();
    let list_line = |name: &&[u8]| [b"-rw-r--r-- 1 0 0 4 Dec 01  1994 ", *name, b"\r\n"].concat();
    let list_lines: Vec<u8> = names_sent.iter().flat_map(list_line).collect();
    let nlst_line = |name: &&[u8]| [*name, b"\r\n"].concat();
    let nlst_lines: Vec<u8> = names_sent.iter().flat_map(nlst_line).collect();
    let files = || {
        let site = FtpConfig::new()
            .file("/up", "evil")
            .file("/etc/evil", "evil")
            .file("/tmp/evil", "evil")
            .dir("/d/sub");
        let inside: [&[u8]; 8] =
            [b"a/b", b"\x1b[2J", b"|id", b"con", b".fetch-url-mirror", b"x.fetch-url.part", b"good", b"-la"];
        inside.into_iter().fold(site, |site, name| site.file([b"/d/", name].concat(), "evil"))
    };
    for (case, site) in [
        ("MLSD", files().on("MLSD", FtpAction::Data(mlsd_lines))),
        ("LIST", files().without("MLSD").without("MLST").on("LIST", FtpAction::Data(list_lines))),
        (
            "NLST",
            files().without("MLSD").without("MLST").without("LIST").on("NLST", FtpAction::Data(nlst_lines)),
        ),
    ] {
        let server = FtpServer::start(site).expect("a server");
        let dir = temp_dir();
        let target = dir.path().join("a/target");
        fs::create_dir_all(&target).expect("a directory");
        let result = run_mirror(&server.url("d/"), &target, "--read-timeout 3 -v");
        assert!(
            !result.stderr.contains("panicked") && !result.stderr.contains(is_terminal_control),
            "{case}: {:?}",
            result.stderr
        );
        assert_eq!(
            (entry_names(dir.path()), entry_names(&dir.path().join("a"))),
            (vec!["a".into()], vec!["target".into()]),
            "{case}"
        );
        let found = list_tree(&target);
        assert!(found.iter().all(|name| is_safe(name, false)), "{case}: {found:?}");
        assert!(found.contains(&"good=evil".to_owned()), "{case}: {found:?} {}", result.stderr);
        let lines = server.received_text();
        assert!(!lines.iter().any(|line| line.starts_with("DELE")), "{case}: {lines:?}");
        assert!(!lines.iter().any(|line| line.contains("/etc") || line.contains("..")), "{case}: {lines:?}");
    }
}

/// Two names with the same sanitised form: neither the order of the listing nor a deletion changes the local names.
#[test]
fn colliding_names_stay_stable_over_runs() {
    let rows = Arc::new(Mutex::new(vec!["a:b", "a*b"]));
    let listed = rows.clone();
    let server = directory_server(move |_| {
        let row = |name: &&str| format!("<a href=\"./{name}\">{name}</a>  01-Dec-1994 12:34  3\n");
        minimal_index_page(&listed.lock().expect("rows").iter().map(row).collect::<String>())
    });
    let dir = temp_dir();
    let by_content = |wanted: &str| {
        let names = entry_names(dir.path());
        names.into_iter().filter(|name| read_text_or_empty(dir.path(), name) == wanted).collect::<Vec<_>>()
    };
    run_mirror_with(&server.url("/d/"), dir.path(), &[]).assert_exit(0);
    let before = (by_content("a:b"), by_content("a*b"));
    assert!(before.0.len() == 1 && before.1.len() == 1, "{before:?}");
    *rows.lock().expect("rows") = vec!["a*b", "a:b"];
    run_mirror_with(&server.url("/d/"), dir.path(), &[]).assert_exit(0);
    assert_eq!((by_content("a:b"), by_content("a*b")), before);
    *rows.lock().expect("rows") = vec!["a*b"];
    run_mirror_with(&server.url("/d/"), dir.path(), &["--delete"]).assert_exit(0);
    assert_eq!((by_content("a:b").len(), by_content("a*b").len()), (0, 1));
}

/// Hostile selectors in a Gopher menu, each as a text and as a menu.
#[test]
fn hostile_selectors_are_sanitised() {
    let selectors = [
        "/d/..",
        "/d/../..",
        "/d/../../evil",
        "/d/\x1b[2J",
        "/d/con",
        "/d/.fetch-url-mirror",
        "/d/x.fetch-url.part",
        "/d/x.fetch-url.json",
        "/d//",
        "/d/.",
        "/d/ ",
        "/d/a\\..\\b",
        "/d/C:x",
        "/d/-rf",
        "/d/|id",
        "/d/\u{202e}gpj",
        "/d/.ssh/authorized_keys",
    ];
    let line = |kind: char, selector: &str| format!("{kind}{selector}\t{selector}\tsite.test\t70\r\n");
    let menu: String =
        selectors.iter().flat_map(|selector| [line('0', selector), line('1', selector)]).collect();
    let site = selectors
        .iter()
        .fold(GopherConfig::new().item(GopherItem::new('1', "/d", menu)), |site, selector| {
            site.item(GopherItem::text(selector, "evil"))
        });
    let server = GopherServer::start(site).expect("a server");
    let connect_to = format!("--connect-to site.test:70:127.0.0.1:{}", server.addr().port());
    for options in ["", "--dot-names"] {
        let dir = temp_dir();
        let target = dir.path().join("a/target");
        fs::create_dir_all(&target).expect("a directory");
        let result = run_mirror("gopher://site.test/1/d", &target, &format!("-v {options} {connect_to}"));
        assert!(
            !result.stderr.contains("panicked") && !result.stderr.contains(is_terminal_control),
            "{:?}",
            result.stderr
        );
        assert_eq!(
            (entry_names(dir.path()), entry_names(&dir.path().join("a"))),
            (vec!["a".into()], vec!["target".into()])
        );
        for entry in list_tree(&target) {
            let path = entry.split('=').next().unwrap_or_default().trim_end_matches('/').to_owned();
            for name in path.split('/') {
                let is_odd = name.contains(is_terminal_control)
                    || name.contains('\\')
                    || name.ends_with(".fetch-url.part")
                    || name == "con";
                assert!(!is_odd && name != ".." && name != MIRROR_JOURNAL, "{entry:?}");
                assert!(!name.starts_with('.') || !options.is_empty(), "{entry:?}");
            }
        }
        let journal = fs::read_to_string(target.join(MIRROR_JOURNAL)).expect("a journal");
        assert!(journal.contains("gopher://site.test/1/d"), "{journal}");
    }
}

/// Safe names stay as they are; other names are sanitised. The content is the same in both cases.
#[test]
fn safe_names_are_kept_and_other_names_are_sanitised() {
    let dir = temp_dir();
    let (source, target) = (dir.path().join("source"), dir.path().join("target"));
    fs::create_dir(&source).expect("a directory");
    let safe_names = [
        "a#b",
        "a%41",
        "a%2fb",
        "ü",
        "two words",
        "a&amp;b",
        "a;type=d",
        "x+y",
        "'q'",
        "日本",
        "UPPER",
        "upper",
    ];
    for name in safe_names {
        fs::write(source.join(name), name).expect("a file");
    }
    let unsafe_names: [&[u8]; 5] = [b"a?b", b"\xff\xfe", b"new\nline", b"tab\t", b"esc\x1b[2J"];
    for name in unsafe_names {
        fs::write(source.join(OsStr::from_bytes(name)), name).expect("a file");
    }
    let url = format!("file://{}/", source.display());
    run_mirror(&url, &target, "").assert_exit(0);
    for name in safe_names {
        assert_eq!(
            fs::read_to_string(target.join(name)).unwrap_or_default(),
            name,
            "{:?}",
            entry_names(&target)
        );
    }
    let found: Vec<Vec<u8>> = fs::read_dir(&target)
        .expect("a directory")
        .map(|entry| fs::read(entry.expect("an entry").path()).expect("a file"))
        .collect();
    for name in unsafe_names {
        assert!(found.iter().any(|content| content == name), "{name:?}: {:?}", entry_names(&target));
    }
    assert!(
        !entry_names(&target).iter().any(|name| name.contains(is_terminal_control)),
        "{:?}",
        entry_names(&target)
    );
    let result = run_mirror(&url, &target, "--delete --events -");
    assert_eq!(entry_names(&target).len(), safe_names.len() + unsafe_names.len() + 1, "{}", result.stderr);
}
