//! `fetch-url mirror` of each kind of server, and `--list` of index pages: the mirror equals the served tree, and a
//! second run downloads nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::ftp_server::{FtpServer, each_ftp_server};
use super::gopher_server::{GopherServer, each_gopher_server};
use super::nntp_server::{NewsServer, each_news_server};
use super::program::{RunResult, start_other};
use super::server::{NGINX, Server, each_server};
use super::tree::{BIG, files, odd_files};
use super::work_dir::WorkDir;
use fetch_url_tests::sha256;

const JOURNAL: &str = ".fetch-url-mirror";

/// Special files, unreadable files, and directories that have tests of their own.
const EXCLUDED: [&str; 5] = ["many", "noperm*", "loop", "dangling", "odd"];

/// Returns path and content of all files below a directory except the journal.
fn read_tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            let kind = fs::symlink_metadata(&path).expect("it is there").file_type();
            assert!(kind.is_dir() || kind.is_file(), "{}", path.display());
            if kind.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("below").to_str().expect("UTF-8").to_owned();
            if name != JOURNAL {
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

/// Mirrors `url` into `mirror` with eight parallel transfers.
fn run_mirror(dir: &WorkDir, url: &str, more: &[&str]) -> RunResult {
    let own = ["mirror", "-Z", "--parallel-max", "8", "--retry", "0", "--events", "-"];
    super::program::start(dir.folder(), &[&own, more, &[url, "mirror"]].concat()).wait()
}

/// Returns `files`, `skipped` and `failed` of the summary, which is the last event.
#[track_caller]
fn summary(result: &RunResult) -> [usize; 3] {
    let text = result.text();
    let last = text.lines().last().unwrap_or_default();
    assert!(last.contains("\"event\":\"summary\""), "{last}\n{}", result.err);
    ["files", "skipped", "failed"].map(|count| {
        let (_, rest) = last.split_once(&format!("\"{count}\":")).expect("a count");
        rest.split(|letter: char| !letter.is_ascii_digit())
            .next()
            .and_then(|digits| digits.parse().ok())
            .expect("a number")
    })
}

/// Runs the mirror again and asserts that every file is skipped and nothing changes.
#[track_caller]
fn assert_second_run_fetches_nothing(dir: &WorkDir, url: &str, more: &[&str], count: usize) {
    let before = read_tree(&dir.path("mirror"));
    let again = run_mirror(dir, url, more);
    let [files, skipped, _] = summary(&again);
    // A link to a directory or to nothing is skipped each time.
    assert!(files == 0 && (count..count + 5).contains(&skipped), "{files} {skipped} {}", again.err);
    assert!(read_tree(&dir.path("mirror")) == before, "the tree is another");
}

/// Asserts that the mirror has exactly the plain files that are not excluded; `links` are the links to files.
#[track_caller]
fn assert_is_tree(found: &BTreeMap<String, Vec<u8>>, links: &[&str]) {
    for (path, bytes) in files() {
        let name = &path[1..];
        if name.starts_with("many/")
            || name.starts_with("link") && !links.iter().any(|link| name.starts_with(link))
        {
            continue;
        }
        assert!(found.get(name) == Some(&bytes), "{name} is not what it is there: {:?}", found.keys());
    }
    assert_eq!(sha256(&found["big.bin"]), BIG);
    let known = |name: &str| {
        name == "big.bin"
            || name.starts_with("link-dir/")
            || files().iter().any(|(path, _)| &path[1..] == name)
    };
    let others: Vec<&String> = found.keys().filter(|name| !known(name)).collect();
    assert!(others.is_empty(), "{others:?}");
}

fn excluding() -> Vec<&'static str> {
    EXCLUDED.into_iter().flat_map(|glob| ["--exclude-glob", glob]).collect()
}

fn mirror_of_index_pages_equals_the_tree(server: Server) {
    let (dir, url) = (WorkDir::new(), server.http("/"));
    let result = run_mirror(&dir, &url, &excluding()).assert_exit(0);
    let found = read_tree(&dir.path("mirror"));
    assert_is_tree(&found, &["link"]);
    assert_eq!(summary(&result), [found.len(), 0, 0]);
    assert_second_run_fetches_nothing(&dir, &url, &excluding(), found.len());
}

fn mirror_of_an_ftp_server_equals_the_tree(server: FtpServer) {
    let (dir, url) = (WorkDir::new(), server.url("/"));
    let result = run_mirror(&dir, &url, &excluding()).assert_exit(0);
    let found = read_tree(&dir.path("mirror"));
    assert_is_tree(&found, &["link.txt"]);
    let [files, _, failed] = summary(&result);
    assert_eq!((files, failed), (found.len(), 0));
    assert_second_run_fetches_nothing(&dir, &url, &excluding(), found.len());
}

/// Asserts that each file of `odd` was mirrored with its content under a safe name, except paths that contain one of
/// `but`.
#[track_caller]
fn assert_odd_files(found: &BTreeMap<String, Vec<u8>>, but: &[&str]) {
    let served: BTreeMap<String, String> = odd_files().into_iter().map(|(path, text)| (text, path)).collect();
    let mut come = BTreeSet::new();
    for (name, bytes) in found {
        let text = String::from_utf8_lossy(bytes).trim_end().to_owned() + "\n";
        let path = served.get(&text).unwrap_or_else(|| panic!("{name}: no such file: {text}"));
        assert!(come.insert(path.as_str()), "{path} came twice");
        assert!(!name.contains(char::is_control), "{name:?}");
        for part in name.split('/') {
            assert!(!part.starts_with('.') && part.len() <= 255 && !part.contains('\\'), "{name:?}");
        }
        // A name that is safe is not changed.
        let own = path.trim_start_matches("/odd/");
        let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
        if own.chars().all(is_safe) && !own.starts_with(['-', '.']) && own.len() < 190 {
            assert_eq!(name, own);
        }
    }
    let missing: Vec<&String> = served.values().filter(|path| !come.contains(path.as_str())).collect();
    let expected: Vec<&String> =
        served.values().filter(|path| but.iter().any(|but| path.contains(but))).collect();
    assert_eq!(missing, expected);
}

/// The index pages of nginx and apache omit names with a leading dot; `...` is not a safe file name.
fn mirror_of_index_pages_gives_odd_names_safe_names(server: Server) {
    let (dir, url) = (WorkDir::new(), server.http("/odd/"));
    let but: &[&str] = if server.name == "caddy" { &["/..."] } else { &["/...", "/.hidden"] };
    let result = run_mirror(&dir, &url, &[]).assert_exit(0);
    let found = read_tree(&dir.path("mirror"));
    assert_odd_files(&found, but);
    assert_eq!(summary(&result), [found.len(), 0, 0]);
    assert_second_run_fetches_nothing(&dir, &url, &[], found.len());
}

/// CR and LF cannot be sent in a command; the servers do not list or send the other missing names.
fn mirror_of_an_ftp_server_gives_odd_names_safe_names(server: FtpServer) {
    let (dir, url) = (WorkDir::new(), server.url("/odd/"));
    let lost = match server.name {
        "vsftpd" => &["/.hidden"][..],
        "pureftpd" => &["/.hidden", "%5C", "%01", "%7F", "%09"],
        _ => &[],
    };
    let but = [&["/...", "%0D", "%0A"], lost].concat();
    run_mirror(&dir, &url, &[]);
    let found = read_tree(&dir.path("mirror"));
    assert_odd_files(&found, &but);
    assert_second_run_fetches_nothing(&dir, &url, &[], found.len());
}

/// Local names are those of the files. Gopher shows no modification times.
fn mirror_of_a_menu_equals_the_tree(server: GopherServer) {
    let dir = WorkDir::new();
    let url = server.url("/1/pub");
    run_mirror(&dir, &url, &[]).assert_exit(0);
    let expected: BTreeMap<String, Vec<u8>> = ["README", "a/b/c/deep.txt"]
        .map(|name| (name.to_owned(), server.as_text(format!("path=pub/{name}\n").as_bytes())))
        .into();
    let found = read_tree(&dir.path("mirror"));
    assert_eq!(found, expected);
    assert_second_run_fetches_nothing(&dir, &url, &["--skip-existing"], 2);
}

fn mirror_of_a_menu_gives_odd_names_safe_names(server: GopherServer) {
    let (dir, url) = (WorkDir::new(), server.url("/1/odd"));
    run_mirror(&dir, &url, &[]);
    let found = read_tree(&dir.path("mirror"));
    let served: BTreeSet<String> =
        odd_files().into_iter().map(|(_, text)| text.trim_end().to_owned()).collect();
    let (right, wrong): (Vec<_>, Vec<_>) =
        found.iter().partition(|(_, bytes)| served.contains(String::from_utf8_lossy(bytes).trim_end()));
    // gophernicus sends an error text for some of the files that it lists, and lists `new\nline/` as two lines.
    let stray = |bytes: &[u8]| !bytes.starts_with(b"Error: ");
    let strays = wrong.iter().filter(|(_, bytes)| stray(bytes)).count();
    let (most_wrong, most_strays) = if server.is_plus { (0, 0) } else { (4, 1) };
    assert!(right.len() >= 20 && strays <= most_strays && wrong.len() <= most_wrong, "{wrong:?}");
    for name in found.keys() {
        assert!(
            !name.contains(char::is_control) && !name.starts_with('.') && !name.contains("/."),
            "{name:?}"
        );
    }
    assert_second_run_fetches_nothing(&dir, &url, &["--skip-existing"], found.len());
}

/// 1,748 articles, each in a file named by its number.
fn mirror_of_a_group_has_one_file_per_article(server: NewsServer) {
    let (dir, url) = (WorkDir::new(), server.url("fetch.test"));
    let result = run_mirror(&dir, &url, &[]).assert_exit(0);
    assert_eq!(summary(&result), [1748, 0, 0]);
    let found = read_tree(&dir.path("mirror"));
    let numbers: BTreeSet<String> = (1..=1748).map(|nth| server.number(nth).to_string()).collect();
    assert!(found.keys().cloned().eq(numbers), "{} files", found.len());
    for nth in [1, 2, 1000, 1700, 1701, 1702, 1703, 1748] {
        let name = server.number(nth).to_string();
        assert!(found[&name] == server.nth("ARTICLE", "fetch.test", nth), "{name}");
    }
    assert_second_run_fetches_nothing(&dir, &url, &[], 1748);
}

/// Cancelled articles are missing and are not failures.
fn mirror_of_a_group_skips_cancelled_articles(server: NewsServer) {
    let (dir, url) = (WorkDir::new(), server.url("fetch.holes"));
    assert_eq!(summary(&run_mirror(&dir, &url, &[]).assert_exit(0)), [42, 0, 0]);
    assert_eq!(read_tree(&dir.path("mirror")).len(), 42);
    assert_second_run_fetches_nothing(&dir, &url, &[], 42);
    let dir = WorkDir::new();
    assert_eq!(summary(&run_mirror(&dir, &server.url("fetch.empty"), &[]).assert_exit(0)), [0, 0, 0]);
}

/// Mirrors 1000 of 5000 files. `--max-entries 3` is exceeded, `--max-entries 5` is not.
#[test]
#[ignore = "needs the servers of docker/"]
fn mirror_of_1000_files_is_complete_and_max_entries_exits_63() {
    let (dir, url) = (WorkDir::new(), NGINX.http("/many/"));
    let more = ["--include-glob", "f[0]???.txt"];
    run_mirror(&dir, &url, &more).assert_exit(0);
    let found = read_tree(&dir.path("mirror"));
    assert_eq!(found.len(), 1000);
    let is_right = |(name, bytes): (&String, &Vec<u8>)| {
        *name == format!("f{}.txt", String::from_utf8_lossy(bytes).trim())
    };
    assert!(found.iter().all(is_right));
    assert_second_run_fetches_nothing(&dir, &url, &more, 1000);
    let dir = WorkDir::new();
    run_mirror(&dir, &NGINX.http("/pub/"), &["--max-entries", "3"]).assert_exit(63);
    let dir = WorkDir::new();
    run_mirror(&dir, &NGINX.http("/pub/"), &["--max-entries", "5"]).assert_exit(0);
}

/// wget, if it is installed, gets the same files below /pub/.
fn mirror_of_index_pages_equals_that_of_wget(server: Server) {
    if !Path::new("/usr/bin/wget").exists() {
        return;
    }
    let (dir, url) = (WorkDir::new(), server.http("/pub/"));
    run_mirror(&dir, &url, &[]).assert_exit(0);
    let wget = ["-m", "-np", "-nH", "--cut-dirs=1", "-q", "-R", "index.html*", "-P", "theirs", &url];
    start_other("wget", dir.folder(), &wget).wait();
    let theirs = read_tree(&dir.path("theirs"));
    let theirs: BTreeMap<_, _> =
        theirs.into_iter().filter(|(name, _)| !name.contains("index.html")).collect();
    assert_eq!(read_tree(&dir.path("mirror")), theirs);
}

/// Returns the JSON text of a member of a line.
fn member<'a>(line: &'a str, name: &str) -> &'a str {
    let (_, rest) = line.split_once(&format!("\"{name}\":")).expect("a member");
    if let Some(text) = rest.strip_prefix('"') {
        return text.split('"').next().expect("its end");
    }
    rest.split([',', '}']).next().expect("its end")
}

fn decoded(path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let mut digits =
            || rest.next().and_then(|digit| char::from(digit).to_digit(16)).expect("a digit") as u8;
        bytes.push(if byte == b'%' { digits() * 16 + digits() } else { byte });
    }
    bytes
}

fn index_page_entries_have_kind_size_and_time(server: Server) {
    let result = WorkDir::new().fetch(&["--list", "--format", "json", &server.http("/")]).assert_exit(0);
    let text = result.text();
    let entries: BTreeMap<&str, &str> = text.lines().map(|line| (member(line, "name"), line)).collect();
    for name in ["empty-dir", "etc", "many", "odd", "pub"] {
        assert_eq!(member(entries[name], "kind"), "directory", "{name}");
        assert_eq!(member(entries[name], "url"), server.http(&format!("/{name}/")));
        assert_eq!(member(entries[name], "size"), "null");
    }
    let plain = files().into_iter().filter(|(path, _)| !path[1..].contains('/') && !path.contains("link"));
    let big = ("/big.bin", 64 << 20);
    for (path, size) in plain.map(|(path, bytes)| (path, bytes.len())).chain([big]) {
        let line = entries[&path[1..]];
        assert_eq!((member(line, "kind"), member(line, "url")), ("file", server.http(path).as_str()));
        // apache shows rounded sizes such as `4.0K` and `64M`, which are not used.
        let is_rounded = server.name == "apache" && size > 999;
        let expected = if is_rounded { "null".to_owned() } else { size.to_string() };
        assert_eq!(member(line, "size"), expected, "{path}");
        let modified: u64 = member(line, "modified").parse().expect("a time");
        assert!((786_285_240..=786_285_296).contains(&modified), "{path}: {modified}");
    }
    let result = WorkDir::new().fetch(&["--list", &server.http("/")]).assert_exit(0);
    assert_eq!(result.text().lines().count(), entries.len());
}

/// Each URL of the index page of odd names is the URL of one of the files.
fn index_page_entry_urls_name_the_odd_files(server: Server) {
    let result = WorkDir::new().fetch(&["--list", "--format", "json", &server.http("/odd/")]).assert_exit(0);
    let begins = server.http("/odd/");
    let first = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let found: BTreeSet<Vec<u8>> = result
        .text()
        .lines()
        .map(|line| decoded(&first(member(line, "url").strip_prefix(&begins).expect("below"))))
        .collect();
    let hidden = |name: &[u8]| name.starts_with(b".") && server.name != "caddy";
    let served: BTreeSet<Vec<u8>> = odd_files()
        .into_iter()
        .map(|(path, _)| decoded(&first(path.trim_start_matches("/odd/"))))
        .filter(|name| !hidden(name))
        .collect();
    assert_eq!(found, served);
}

each_server![
    mirror_of_index_pages_equals_the_tree,
    mirror_of_index_pages_gives_odd_names_safe_names,
    mirror_of_index_pages_equals_that_of_wget,
    index_page_entries_have_kind_size_and_time,
    index_page_entry_urls_name_the_odd_files
];
each_ftp_server![mirror_of_an_ftp_server_equals_the_tree, mirror_of_an_ftp_server_gives_odd_names_safe_names];
each_gopher_server![mirror_of_a_menu_equals_the_tree, mirror_of_a_menu_gives_odd_names_safe_names];
each_news_server![mirror_of_a_group_has_one_file_per_article, mirror_of_a_group_skips_cancelled_articles];
