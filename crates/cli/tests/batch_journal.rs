//! The journal of a batch (`.LIST.journal` beside the files): an interrupted run is gone on with, whatever ended it, and
//! only what is missing is fetched.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fetch_url_tests::{FtpServer, FtpSite, HttpReply, HttpServer};
use support::{Ran, command, ended, ensure, fetch_in, in_parallel, names, ran, send_signal, serving, until};

const PATIENCE: Duration = Duration::from_secs(10);
const MD5_OF_ABC: &str = "md5:900150983cd24fb0d6963f7d28e17f72";
const MD5_OF_NOTHING: &str = "md5:d41d8cd98f00b204e9800998ecf8427e";
const JOURNAL: &str = ".list.journal";

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// Every path holds its own name. Until it is mended, `/no…` is not there, and of `/slow…` only a part comes.
struct Site {
    http: HttpServer,
    is_mended: Arc<AtomicBool>,
}

impl Site {
    fn start() -> Self {
        let is_mended = Arc::new(AtomicBool::new(false));
        let mended = Arc::clone(&is_mended);
        let http = serving(move |request| {
            let path = request.path();
            let reply = HttpReply::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
            match (path.trim_start_matches('/'), mended.load(Ordering::SeqCst)) {
                (name, false) if name.starts_with("no") => HttpReply::new(404),
                (name, false) if name.starts_with("slow") => {
                    let begun = reply.header("Content-Length", "200000").then_send(vec![b's'; 100_000]);
                    begun.then_stall(Duration::from_secs(20))
                }
                (name, true) if name.starts_with("slow") => match request.header_text("range") {
                    Some(_) => HttpReply::new(206)
                        .header("ETag", "\"v1\"")
                        .header("Content-Range", "bytes 100000-199999/200000")
                        .body(vec![b's'; 100_000]),
                    None => reply.body(vec![b's'; 200_000]),
                },
                (name, _) => reply.body(name.to_owned()),
            }
        });
        Self { http, is_mended }
    }

    fn mend(&self) {
        self.is_mended.store(true, Ordering::SeqCst);
    }

    /// A line for each name.
    fn lines(&self, names: &[&str]) -> String {
        names.iter().map(|name| format!("{}\n", self.http.url(name))).collect()
    }

    /// The names that were asked for since there were so many requests, sorted.
    fn asked_since(&self, before: usize) -> Vec<String> {
        let name = |request: &fetch_url_tests::HttpRequest| request.path().trim_start_matches('/').to_owned();
        let mut names: Vec<String> = self.http.requests()[before..].iter().map(name).collect();
        names.sort();
        names
    }

    /// What a run that ends with this status asks for.
    #[track_caller]
    fn asked(&self, exit: i32, run: impl FnOnce() -> Ran) -> Vec<String> {
        let before = self.http.requests().len();
        run().exits(exit);
        self.asked_since(before)
    }
}

fn write_list(directory: &Path, lines: &str) {
    fs::write(directory.join("list"), lines).expect("a list");
}

fn batch(directory: &Path, more: &[&str]) -> Ran {
    fetch_in(directory, ["--input-file", "list"].iter().chain(more))
}

fn begun(directory: &Path, more: &[&str]) -> Child {
    let mut command = command();
    command.args(["--retry", "0", "--input-file", "list"]).args(more).current_dir(directory);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary can be started")
}

fn text(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap_or_default()
}

/// Makes a journal in which `a`, `b` and `c` are finished and `no` is not.
fn interrupted(site: &Site, directory: &Path) {
    write_list(directory, &site.lines(&["a", "b", "c", "no"]));
    batch(directory, &[]).exits(78);
    assert!(directory.join(JOURNAL).exists());
}

#[test]
fn it_is_there_while_something_is_missing() {
    for parallel in [&[][..], &["-Z"]] {
        let (site, here) = (Site::start(), place());
        interrupted(&site, here.path());
        assert_eq!(names(here.path()), [JOURNAL, "a", "b", "c", "list"]);
        let mode = fs::metadata(here.path().join(JOURNAL)).expect("a journal").permissions().mode();
        assert_eq!(mode & 0o077, 0, "others may read it: {mode:o}");
        let again = [&["-C", "-"], parallel].concat();
        assert_eq!(site.asked(78, || batch(here.path(), &again)), ["no"]);
        site.mend();
        assert_eq!(site.asked(0, || batch(here.path(), &again)), ["no"]);
        assert_eq!(names(here.path()), ["a", "b", "c", "list", "no"]);
        // Nothing is missing and nothing is told of it, so all of it is fetched.
        assert_eq!(site.asked(0, || batch(here.path(), parallel)), ["a", "b", "c", "no"]);
        assert_eq!(names(here.path()), ["a", "b", "c", "list", "no"]);
    }
}

#[test]
fn it_lies_beside_the_files() {
    let (site, here) = (Site::start(), place());
    fs::create_dir(here.path().join("lists")).expect("a directory");
    let lines = site.lines(&["a", "no"]);
    fs::write(here.path().join("lists/my list.txt"), &lines).expect("a list");
    let run = |more: &[&str]| {
        fetch_in(here.path(), ["--input-file", "lists/my list.txt", "--create-dirs"].iter().chain(more))
    };
    run(&["--output-dir", "out/sub"]).exits(78);
    assert_eq!(names(&here.path().join("out/sub")), [".my list.txt.journal", "a"]);
    run(&[]).exits(78);
    assert_eq!(names(here.path()), [".my list.txt.journal", "a", "lists", "out"]);
    assert_eq!(names(&here.path().join("lists")), ["my list.txt"]);
    site.mend();
    let more = ["-C", "-", "--output-dir", "out/sub"];
    assert_eq!(site.asked(0, || run(&more)), ["no"]);
    assert_eq!(names(&here.path().join("out/sub")), ["a", "no"]);
    assert!(here.path().join(".my list.txt.journal").exists(), "the other one's journal");
}

#[test]
fn without_the_option_everything_anew() {
    let (site, here) = (Site::start(), place());
    interrupted(&site, here.path());
    assert_eq!(site.asked(78, || batch(here.path(), &[])), ["a", "b", "c", "no"]);
    // And what stands in the journal is of the latest run.
    assert_eq!(site.asked(78, || batch(here.path(), &["-C", "-"])), ["no"]);
    fs::remove_file(here.path().join("b")).expect("a file");
    site.mend();
    assert_eq!(site.asked(0, || batch(here.path(), &["-C", "-"])), ["b", "no"]);
}

/// Files that came stay; of the one that was under way the rest is asked for.
#[test]
fn after_a_signal() {
    for (signal, parallel) in
        [("KILL", false), ("TERM", false), ("INT", true), ("KILL", true), ("TERM", true)]
    {
        let (site, here) = (Site::start(), place());
        write_list(here.path(), &site.lines(&["a", "b", "c", "slow", "d"]));
        let parallel: &[&str] = if parallel { &["-Z"] } else { &[] };
        let child = begun(here.path(), &[&["-C", "-"], parallel].concat());
        let finished = if parallel.is_empty() { 3 } else { 4 };
        let is_there = || {
            let part = fs::metadata(here.path().join("slow.part")).map_or(0, |facts| facts.len());
            text(here.path(), JOURNAL).matches("\"path\"").count() == finished && part == 100_000
        };
        assert!(until(PATIENCE, is_there), "{:?}\n{}", names(here.path()), text(here.path(), JOURNAL));
        send_signal(&child, signal);
        let died = ended(child);
        assert!(died.signal.is_some(), "{died:?}");
        assert!(here.path().join(JOURNAL).exists());
        site.mend();
        let more = [&["-C", "-"], parallel].concat();
        let asked = site.asked(0, || batch(here.path(), &more));
        assert_eq!(asked, if parallel.is_empty() { vec!["d", "slow"] } else { vec!["slow"] }, "{signal}");
        assert_eq!(names(here.path()), ["a", "b", "c", "d", "list", "slow"]);
        assert_eq!(fs::metadata(here.path().join("slow")).expect("a file").len(), 200_000);
        let range = |request: &fetch_url_tests::HttpRequest| request.header_text("range").map(str::to_owned);
        if signal != "KILL" {
            assert!(site.http.requests().iter().filter_map(range).any(|text| text.starts_with("bytes=")));
        }
    }
}

/// Whatever is left of the journal's last line, and of all others: what stood before counts, and nothing is lost.
#[test]
fn torn_anywhere() {
    let (site, first) = (Site::start(), place());
    interrupted(&site, first.path());
    let whole = fs::read(first.path().join(JOURNAL)).expect("a journal");
    let lines: Vec<&[u8]> = whole.split_inclusive(|&octet| octet == b'\n').collect();
    let cuts: Vec<usize> = (0..whole.len()).step_by(5).chain(whole.len() - 12..whole.len()).collect();
    site.mend();
    in_parallel(&cuts, 4, |&cut| {
        let here = place();
        for name in ["a", "b", "c", "list"] {
            let status = Command::new("cp").arg("-p").arg(first.path().join(name)).arg(here.path()).status();
            ensure(status.is_ok_and(|status| status.success()), || "no copy".to_owned())?;
        }
        fs::write(here.path().join(JOURNAL), &whole[..cut]).expect("a journal");
        let ran = batch(here.path(), &["-C", "-", "--events", "-"]);
        ensure(ran.exit == 0, || format!("{cut}: {ran:?}"))?;
        ensure(names(here.path()) == ["a", "b", "c", "list", "no"], || {
            format!("{cut}: {:?}", names(here.path()))
        })?;
        // The first line says whose journal it is; of the others those that are whole count, in the same boot.
        let mut end = 0;
        let is_whole = |line: &&&[u8]| {
            end += line.len();
            end <= cut
        };
        let whole_lines =
            lines.iter().filter(is_whole).filter(|line| line.windows(6).any(|part| part == b"\"path\""));
        let finished = whole_lines.count();
        let skipped = ran.text().matches("\"skipped\":true").count();
        // Without its last LF a line may count or not.
        ensure(skipped == finished || skipped == finished + 1 && whole[cut] == b'\n', || {
            format!("cut at {cut}: {finished} finished, {skipped} skipped")
        })
    });
}

#[test]
fn what_changed_here_is_fetched_again() {
    let (site, here) = (Site::start(), place());
    interrupted(&site, here.path());
    fs::remove_file(here.path().join("a")).expect("a file");
    fs::write(here.path().join("b"), "longer").expect("a file");
    let asked = site.asked(78, || batch(here.path(), &["-C", "-"]));
    assert_eq!(asked, ["a", "b", "no"]);
    // As large as it was, but written to.
    std::thread::sleep(Duration::from_millis(20));
    fs::write(here.path().join("c"), "x").expect("a file");
    // No file any more.
    fs::remove_file(here.path().join("b")).expect("a file");
    fs::create_dir(here.path().join("b")).expect("a directory");
    let asked = site.asked(23, || batch(here.path(), &["-C", "-"]));
    assert!(asked.contains(&"c".to_owned()) && !asked.contains(&"a".to_owned()), "{asked:?}");
    fs::remove_dir(here.path().join("b")).expect("a directory");
    site.mend();
    let asked = site.asked(0, || batch(here.path(), &["-C", "-"]));
    assert_eq!(asked, ["b", "no"]);
    for name in ["a", "b", "c", "no"] {
        assert_eq!(text(here.path(), name), name);
    }
}

/// After a power cut only what stands before the last mark is sure to be on the disk.
#[test]
fn another_boot() {
    let (site, here) = (Site::start(), place());
    interrupted(&site, here.path());
    let journal = text(here.path(), JOURNAL);
    let head = journal.lines().next().filter(|line| line.contains("\"boot\"")).expect("its boot");
    let files = journal.lines().filter(|line| line.contains("\"path\""));
    let lines: Vec<&str> = [head].into_iter().chain(files).collect();
    assert!(lines.len() == 4 && journal.contains("{\"synced\":3}"), "{journal}");
    let other = lines[0].replacen("\"boot\":\"", "\"boot\":\"0", 1);
    for (head, rest, expected) in [
        (other.as_str(), vec![lines[1], lines[2], "{\"synced\":2}", lines[3]], &["c", "no"][..]),
        (&other, vec![lines[1], lines[2], lines[3]], &["a", "b", "c", "no"]),
        (&other, vec![lines[1], "{\"synced\":1}", lines[2], lines[3], "{\"synced\":3}"], &["no"]),
        (lines[0], vec![lines[1], lines[2], lines[3]], &["no"]),
    ] {
        let copy = place();
        let from: Vec<_> = ["a", "b", "c", "list"].iter().map(|name| here.path().join(name)).collect();
        let copied = Command::new("cp").arg("-p").args(from).arg(copy.path()).status();
        assert!(copied.expect("cp runs").success());
        let lines = [&[head], &rest[..]].concat();
        fs::write(copy.path().join(JOURNAL), lines.join("\n") + "\n").expect("a journal");
        let asked = site.asked(78, || batch(copy.path(), &["-C", "-"]));
        assert_eq!(asked, expected, "{lines:?}");
        // This run's journal is of this boot, and knows what that run has fetched.
        let asked = site.asked(78, || batch(copy.path(), &["-C", "-"]));
        assert_eq!(asked, ["no"], "{}", text(copy.path(), JOURNAL));
    }
}

#[test]
fn two_at_once() {
    for more in [&[][..], &["-C", "-"], &["-Z", "-C", "-"]] {
        let here = place();
        let http = serving(|request| match request.path().as_str() {
            "/slow" => HttpReply::new(200).then_stall(Duration::from_millis(300)).body("slow"),
            path => HttpReply::new(200).body(path[1..].to_owned()),
        });
        let urls: Vec<String> = ["a", "b", "slow", "c"].iter().map(|name| http.url(name)).collect();
        write_list(here.path(), &urls.join("\n"));
        let first = begun(here.path(), more);
        assert!(until(PATIENCE, || here.path().join("b").exists()), "nothing comes");
        let asked = http.requests().len();
        let ran = batch(here.path(), more);
        ran.exits(2).says(JOURNAL);
        assert!(http.requests().len() <= asked + 2, "the second one has fetched");
        ended(first).exits(0);
        assert_eq!(names(here.path()), ["a", "b", "c", "list", "slow"], "{more:?}");
        for name in ["a", "b", "slow", "c"] {
            assert_eq!(text(here.path(), name), name);
        }
    }
}

#[test]
fn passwords_are_not_in_it() {
    let (site, here) = (Site::start(), place());
    let ftp = FtpSite::new().user("me", "Geheim").file("/f", "f");
    let ftp = FtpServer::start(ftp).expect("a server");
    let with = |url: String| url.replacen("://", "://me:Geheim@", 1);
    let lines = format!("{}\n{}\n{}", with(site.http.url("a")), with(ftp.url("f")), site.lines(&["b", "no"]));
    write_list(here.path(), &lines);
    let more = ["-u", "me:Geheim", "-H", "X-Key: Geheim", "-b", "c=Geheim"];
    batch(here.path(), &more).exits(78);
    let journal = text(here.path(), JOURNAL);
    assert!(journal.contains("\"a\"") && journal.contains("\"f\"") && journal.contains("\"b\""), "{journal}");
    assert!(!journal.contains("Geheim"), "{journal}");
    let sessions = ftp.connections();
    let asked = site.asked(78, || batch(here.path(), &[&["-C", "-"], &more[..]].concat()));
    assert_eq!((asked, ftp.connections()), (vec!["no".to_owned()], sessions));
}

/// Several places of one object, checksums, and other names.
#[test]
fn lines_of_every_kind() {
    let (site, here) = (Site::start(), place());
    let at = |name: &str| site.http.url(name);
    let lines = format!(
        "{} {}\tone\n{}\ttwo words\t{MD5_OF_ABC}\n{}\n{}\t\n",
        at("no1"),
        at("b"),
        at("abc"),
        at("c"),
        at("no")
    );
    write_list(here.path(), &lines);
    batch(here.path(), &["-Z"]).exits(78);
    let asked = site.asked(78, || batch(here.path(), &["-Z", "-C", "-"]));
    assert_eq!(asked, ["no"]);
    // A line more, and one that now goes elsewhere.
    let lines = lines.replace("\tone", "\tother") + &site.lines(&["d"]);
    write_list(here.path(), &lines);
    let asked = site.asked(78, || batch(here.path(), &["-C", "-"]));
    assert_eq!(asked, ["b", "d", "no", "no1"]);
    // Another URL for the same file is another object.
    let lines = lines.replace(&at("c"), &format!("{}\tc", at("cc")));
    write_list(here.path(), &lines);
    let asked = site.asked(78, || batch(here.path(), &["-C", "-"]));
    assert_eq!((asked, text(here.path(), "c")), (vec!["cc".to_owned(), "no".to_owned()], "cc".to_owned()));
    // A file that is not what its line now says is not finished.
    write_list(here.path(), &lines.replace(MD5_OF_ABC, MD5_OF_NOTHING));
    batch(here.path(), &["-C", "-"]).exits(91).says("checksum");
}

#[test]
fn a_list_from_a_pipe() {
    let (site, here) = (Site::start(), place());
    write_list(here.path(), &site.lines(&["a", "b", "no"]));
    let piped = |more: &str| {
        let mut command = Command::new("sh");
        support::alone(&mut command);
        let script = format!("\"$F\" --retry 0 --input-file - {more} <list");
        command.env("F", support::BINARY).current_dir(here.path()).args(["-c", &script]);
        ran(command)
    };
    piped("").exits(78);
    site.mend();
    assert_eq!(site.asked(0, || piped("-C -")), ["no"]);
    assert_eq!(names(here.path()), ["a", "b", "list", "no"]);
}

/// Neither followed, nor waited for, nor made into something else.
#[test]
fn what_is_no_file_is_no_journal() {
    for kind in ["link", "dangling link", "directory", "FIFO"] {
        for more in [&[][..], &["-C", "-"]] {
            let (site, here) = (Site::start(), place());
            let journal = here.path().join(JOURNAL);
            write_list(here.path(), &site.lines(&["a", "no"]));
            fs::write(here.path().join("victim"), "victim").expect("a file");
            match kind {
                "link" => symlink("victim", &journal).expect("a link"),
                "dangling link" => symlink("nowhere", &journal).expect("a link"),
                "directory" => fs::create_dir(&journal).expect("a directory"),
                _ => assert!(Command::new("mkfifo").arg(&journal).status().expect("mkfifo").success()),
            }
            let ran = batch(here.path(), more);
            assert!(ran.exit != 0, "{kind} {more:?}");
            ran.says(JOURNAL);
            assert_eq!(text(here.path(), "victim"), "victim");
            assert!(!here.path().join("nowhere").exists());
            let facts = fs::symlink_metadata(&journal).expect("it is still there").file_type();
            assert!(facts.is_symlink() || facts.is_dir() || facts.is_fifo(), "{kind} {more:?}");
        }
    }
}

#[test]
fn a_foreign_file_under_its_name() {
    let junk: Vec<u8> =
        (0..4000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let rows: [(&str, &[u8]); 4] = [
        ("notes", b"my own notes\nand more\n"),
        ("junk", &junk),
        ("another list's", b"{\"boot\":\"x\",\"journal\":\"other\"}\n"),
        ("JSON", b"[1, 2]\n"),
    ];
    let mut wrong = Vec::new();
    for (what, octets) in rows {
        for more in [&[][..], &["-C", "-"]] {
            for name in ["no", "b"] {
                let (site, here) = (Site::start(), place());
                write_list(here.path(), &site.lines(&["a", name]));
                fs::write(here.path().join(JOURNAL), octets).expect("a file");
                let ran = batch(here.path(), more);
                let is_same = fs::read(here.path().join(JOURNAL)).is_ok_and(|now| now == octets);
                if !is_same || !ran.stderr.contains(JOURNAL) {
                    wrong.push(format!("{what} {more:?} {name}: unchanged {is_same}, says {:?}", ran.stderr));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a journal claims is looked at, not believed.
#[test]
fn a_journal_that_lies() {
    let (site, here) = (Site::start(), place());
    interrupted(&site, here.path());
    let journal = text(here.path(), JOURNAL);
    let more = format!(
        "{journal}{}\n{}\n{}\n{{\"synced\":99999999999999999999}}\n{{}}\nnull\n",
        "{\"changed\":\"1.0\",\"facts\":\"x\",\"path\":\"../../../../etc/passwd\",\"size\":1}",
        "{\"changed\":\"-1\",\"facts\":7,\"path\":[],\"size\":-1}",
        "x".repeat(3 << 20),
    );
    fs::write(here.path().join(JOURNAL), more).expect("a journal");
    let ran = batch(here.path(), &["-C", "-"]);
    assert!(!ran.stderr.contains("panicked") && ran.exit != 99 && ran.exit != 0, "{ran:?}");
    for name in ["a", "b", "c"] {
        assert_eq!(text(here.path(), name), name);
    }
}
