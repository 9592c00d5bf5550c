//! The journal of a batch, `.LIST.journal` in the output directory: `-C -` continues an interrupted run and fetches
//! only the missing files.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{
    BINARY, RunResult, check_in_parallel, ensure, entry_names, fetch_url_command, http_server,
    isolate_environment, read_text_or_empty, run_command, run_fetch_url_in, send_signal, temp_dir,
    wait_for_exit, wait_until,
};
use fetch_url_tests::{FtpConfig, FtpServer, HttpResponse, HttpServer};

const WAIT_LIMIT: Duration = Duration::from_secs(10);
const MD5_OF_ABC: &str = "md5:900150983cd24fb0d6963f7d28e17f72";
const MD5_OF_EMPTY: &str = "md5:d41d8cd98f00b204e9800998ecf8427e";
const JOURNAL: &str = ".list.journal";

/// An HTTP server; the content of every path is its name. Until `repair` is called, `/no…` gets 404 and `/slow…`
/// stalls after half of its 200,000 bytes.
struct Site {
    http: HttpServer,
    is_repaired: Arc<AtomicBool>,
}

impl Site {
    fn start() -> Self {
        let is_repaired = Arc::new(AtomicBool::new(false));
        let repaired = Arc::clone(&is_repaired);
        let http = http_server(move |request| {
            let path = request.path();
            let reply = HttpResponse::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
            match (path.trim_start_matches('/'), repaired.load(Ordering::SeqCst)) {
                (name, false) if name.starts_with("no") => HttpResponse::new(404),
                (name, false) if name.starts_with("slow") => {
                    let half = reply.header("Content-Length", "200000").then_send(vec![b's'; 100_000]);
                    half.then_stall(Duration::from_secs(20))
                }
                (name, true) if name.starts_with("slow") => match request.header_text("range") {
                    Some(_) => HttpResponse::new(206)
                        .header("ETag", "\"v1\"")
                        .header("Content-Range", "bytes 99936-199999/200000")
                        .body(vec![b's'; 100_064]),
                    None => reply.body(vec![b's'; 200_000]),
                },
                (name, _) => reply.body(name.to_owned()),
            }
        });
        Self { http, is_repaired }
    }

    fn repair(&self) {
        self.is_repaired.store(true, Ordering::SeqCst);
    }

    /// Returns an input line for each name.
    fn lines(&self, names: &[&str]) -> String {
        names.iter().map(|name| format!("{}\n", self.http.url(name))).collect()
    }

    /// Returns the names that were requested after the first `before` requests, sorted.
    fn requested_since(&self, before: usize) -> Vec<String> {
        let name = |request: &fetch_url_tests::HttpRequest| request.path().trim_start_matches('/').to_owned();
        let mut names: Vec<String> = self.http.requests()[before..].iter().map(name).collect();
        names.sort();
        names
    }

    /// Checks the exit status of a run and returns the names that it requested, sorted.
    #[track_caller]
    fn requested_by(&self, exit: i32, run: impl FnOnce() -> RunResult) -> Vec<String> {
        let before = self.http.requests().len();
        run().assert_exit(exit);
        self.requested_since(before)
    }
}

fn write_list(directory: &Path, lines: &str) {
    fs::write(directory.join("list"), lines).expect("a list");
}

fn batch(directory: &Path, options: &[&str]) -> RunResult {
    run_fetch_url_in(directory, ["--input-file", "list"].iter().chain(options))
}

fn spawn_batch(directory: &Path, options: &[&str]) -> Child {
    let mut command = fetch_url_command();
    command.args(["--retry", "0", "--input-file", "list"]).args(options).current_dir(directory);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary can be started")
}

/// Runs a batch in which `a`, `b` and `c` succeed and `no` fails, so that a journal remains.
fn run_interrupted_batch(site: &Site, directory: &Path) {
    write_list(directory, &site.lines(&["a", "b", "c", "no"]));
    batch(directory, &[]).assert_exit(78);
    assert!(directory.join(JOURNAL).exists());
}

#[test]
fn journal_exists_until_every_file_is_fetched() {
    for parallel in [&[][..], &["-Z"]] {
        let (site, dir) = (Site::start(), temp_dir());
        run_interrupted_batch(&site, dir.path());
        assert_eq!(entry_names(dir.path()), [JOURNAL, "a", "b", "c", "list"]);
        let mode = fs::metadata(dir.path().join(JOURNAL)).expect("a journal").permissions().mode();
        assert_eq!(mode & 0o077, 0, "the journal is readable by other users: {mode:o}");
        let rerun = [&["-C", "-"], parallel].concat();
        assert_eq!(site.requested_by(78, || batch(dir.path(), &rerun)), ["no"]);
        site.repair();
        assert_eq!(site.requested_by(0, || batch(dir.path(), &rerun)), ["no"]);
        assert_eq!(entry_names(dir.path()), ["a", "b", "c", "list", "no"]);
        // Without a journal and without -C every file is fetched again.
        assert_eq!(site.requested_by(0, || batch(dir.path(), parallel)), ["a", "b", "c", "no"]);
        assert_eq!(entry_names(dir.path()), ["a", "b", "c", "list", "no"]);
    }
}

#[test]
fn journal_is_in_the_output_directory() {
    let (site, dir) = (Site::start(), temp_dir());
    fs::create_dir(dir.path().join("lists")).expect("a directory");
    let lines = site.lines(&["a", "no"]);
    fs::write(dir.path().join("lists/my list.txt"), &lines).expect("a list");
    let run = |options: &[&str]| {
        run_fetch_url_in(
            dir.path(),
            ["--input-file", "lists/my list.txt", "--create-dirs"].iter().chain(options),
        )
    };
    run(&["--output-dir", "out/sub"]).assert_exit(78);
    assert_eq!(entry_names(&dir.path().join("out/sub")), [".my list.txt.journal", "a"]);
    run(&[]).assert_exit(78);
    assert_eq!(entry_names(dir.path()), [".my list.txt.journal", "a", "lists", "out"]);
    assert_eq!(entry_names(&dir.path().join("lists")), ["my list.txt"]);
    site.repair();
    let options = ["-C", "-", "--output-dir", "out/sub"];
    assert_eq!(site.requested_by(0, || run(&options)), ["no"]);
    assert_eq!(entry_names(&dir.path().join("out/sub")), ["a", "no"]);
    assert!(
        dir.path().join(".my list.txt.journal").exists(),
        "the journal of the other output directory is gone"
    );
}

#[test]
fn without_continue_every_file_is_fetched_again() {
    let (site, dir) = (Site::start(), temp_dir());
    run_interrupted_batch(&site, dir.path());
    assert_eq!(site.requested_by(78, || batch(dir.path(), &[])), ["a", "b", "c", "no"]);
    // The journal now describes the latest run.
    assert_eq!(site.requested_by(78, || batch(dir.path(), &["-C", "-"])), ["no"]);
    fs::remove_file(dir.path().join("b")).expect("a file");
    site.repair();
    assert_eq!(site.requested_by(0, || batch(dir.path(), &["-C", "-"])), ["b", "no"]);
}

/// Complete files are not fetched again; the incomplete file is resumed.
#[test]
fn batch_continues_after_signal() {
    for (signal, parallel) in
        [("KILL", false), ("TERM", false), ("INT", true), ("KILL", true), ("TERM", true)]
    {
        let (site, dir) = (Site::start(), temp_dir());
        write_list(dir.path(), &site.lines(&["a", "b", "c", "slow", "d"]));
        let parallel: &[&str] = if parallel { &["-Z"] } else { &[] };
        let child = spawn_batch(dir.path(), &[&["-C", "-"], parallel].concat());
        let finished = if parallel.is_empty() { 3 } else { 4 };
        let is_half_done = || {
            let part =
                fs::metadata(dir.path().join("slow.fetch-url.part")).map_or(0, |metadata| metadata.len());
            read_text_or_empty(dir.path(), JOURNAL).matches("\"path\"").count() == finished && part == 100_000
        };
        assert!(
            wait_until(WAIT_LIMIT, is_half_done),
            "{:?}\n{}",
            entry_names(dir.path()),
            read_text_or_empty(dir.path(), JOURNAL)
        );
        send_signal(&child, signal);
        let killed = wait_for_exit(child);
        assert!(killed.signal.is_some(), "{killed:?}");
        assert!(dir.path().join(JOURNAL).exists());
        site.repair();
        let options = [&["-C", "-"], parallel].concat();
        let requested = site.requested_by(0, || batch(dir.path(), &options));
        assert_eq!(requested, if parallel.is_empty() { vec!["d", "slow"] } else { vec!["slow"] }, "{signal}");
        assert_eq!(entry_names(dir.path()), ["a", "b", "c", "d", "list", "slow"]);
        assert_eq!(fs::metadata(dir.path().join("slow")).expect("a file").len(), 200_000);
        let range = |request: &fetch_url_tests::HttpRequest| request.header_text("range").map(str::to_owned);
        if signal != "KILL" {
            assert!(site.http.requests().iter().filter_map(range).any(|text| text.starts_with("bytes=")));
        }
    }
}

/// The journal is truncated at every fifth byte: the complete lines count, and the batch finishes.
#[test]
fn truncated_journal_keeps_its_complete_lines() {
    let (site, first) = (Site::start(), temp_dir());
    run_interrupted_batch(&site, first.path());
    let full_journal = fs::read(first.path().join(JOURNAL)).expect("a journal");
    let lines: Vec<&[u8]> = full_journal.split_inclusive(|&byte| byte == b'\n').collect();
    let cuts: Vec<usize> =
        (0..full_journal.len()).step_by(5).chain(full_journal.len() - 12..full_journal.len()).collect();
    site.repair();
    check_in_parallel(&cuts, 4, |&cut| {
        let dir = temp_dir();
        for name in ["a", "b", "c", "list"] {
            let status = Command::new("cp").arg("-p").arg(first.path().join(name)).arg(dir.path()).status();
            ensure(status.is_ok_and(|status| status.success()), || "cp failed".to_owned())?;
        }
        fs::write(dir.path().join(JOURNAL), &full_journal[..cut]).expect("a journal");
        let result = batch(dir.path(), &["-C", "-", "--events", "-"]);
        ensure(result.exit == 0, || format!("{cut}: {result:?}"))?;
        ensure(entry_names(dir.path()) == ["a", "b", "c", "list", "no"], || {
            format!("{cut}: {:?}", entry_names(dir.path()))
        })?;
        // The first line identifies the list. All other complete lines are valid if the system was not restarted.
        let mut end = 0;
        let is_complete = |line: &&&[u8]| {
            end += line.len();
            end <= cut
        };
        let complete_lines =
            lines.iter().filter(is_complete).filter(|line| line.windows(6).any(|part| part == b"\"path\""));
        let finished = complete_lines.count();
        let skipped = result.stdout_text().matches("\"skipped\":true").count();
        // The last line without its final LF may be valid or not.
        ensure(skipped == finished || skipped == finished + 1 && full_journal[cut] == b'\n', || {
            format!("cut at {cut}: {finished} finished, {skipped} skipped")
        })
    });
}

#[test]
fn locally_changed_files_are_fetched_again() {
    let (site, dir) = (Site::start(), temp_dir());
    run_interrupted_batch(&site, dir.path());
    fs::remove_file(dir.path().join("a")).expect("a file");
    fs::write(dir.path().join("b"), "longer").expect("a file");
    let requested = site.requested_by(78, || batch(dir.path(), &["-C", "-"]));
    assert_eq!(requested, ["a", "b", "no"]);
    // The same size, but another modification time.
    std::thread::sleep(Duration::from_millis(20));
    fs::write(dir.path().join("c"), "x").expect("a file");
    // A directory in place of the file.
    fs::remove_file(dir.path().join("b")).expect("a file");
    fs::create_dir(dir.path().join("b")).expect("a directory");
    let requested = site.requested_by(23, || batch(dir.path(), &["-C", "-"]));
    assert!(requested.contains(&"c".to_owned()) && !requested.contains(&"a".to_owned()), "{requested:?}");
    fs::remove_dir(dir.path().join("b")).expect("a directory");
    site.repair();
    let requested = site.requested_by(0, || batch(dir.path(), &["-C", "-"]));
    assert_eq!(requested, ["b", "no"]);
    for name in ["a", "b", "c", "no"] {
        assert_eq!(read_text_or_empty(dir.path(), name), name);
    }
}

/// After a restart of the system only the lines before the last `synced` mark count: later files may not have reached
/// the disk.
#[test]
fn journal_lines_after_last_sync_are_ignored_after_reboot() {
    let (site, dir) = (Site::start(), temp_dir());
    run_interrupted_batch(&site, dir.path());
    let journal = read_text_or_empty(dir.path(), JOURNAL);
    let head = journal
        .lines()
        .next()
        .filter(|line| line.contains("\"boot\""))
        .expect("a line with the boot identifier");
    let files = journal.lines().filter(|line| line.contains("\"path\""));
    let lines: Vec<&str> = [head].into_iter().chain(files).collect();
    assert!(lines.len() == 4 && journal.contains("{\"synced\":3}"), "{journal}");
    let other_boot = lines[0].replacen("\"boot\":\"", "\"boot\":\"0", 1);
    for (head, rest, expected) in [
        (other_boot.as_str(), vec![lines[1], lines[2], "{\"synced\":2}", lines[3]], &["c", "no"][..]),
        (&other_boot, vec![lines[1], lines[2], lines[3]], &["a", "b", "c", "no"]),
        (&other_boot, vec![lines[1], "{\"synced\":1}", lines[2], lines[3], "{\"synced\":3}"], &["no"]),
        (lines[0], vec![lines[1], lines[2], lines[3]], &["no"]),
    ] {
        let copy = temp_dir();
        let from: Vec<_> = ["a", "b", "c", "list"].iter().map(|name| dir.path().join(name)).collect();
        let copied = Command::new("cp").arg("-p").args(from).arg(copy.path()).status();
        assert!(copied.expect("cp runs").success());
        let lines = [&[head], &rest[..]].concat();
        fs::write(copy.path().join(JOURNAL), lines.join("\n") + "\n").expect("a journal");
        let requested = site.requested_by(78, || batch(copy.path(), &["-C", "-"]));
        assert_eq!(requested, expected, "{lines:?}");
        // The journal of the second run has the current boot identifier, so all its lines count.
        let requested = site.requested_by(78, || batch(copy.path(), &["-C", "-"]));
        assert_eq!(requested, ["no"], "{}", read_text_or_empty(copy.path(), JOURNAL));
    }
}

#[test]
fn second_run_at_the_same_time_is_refused() {
    for options in [&[][..], &["-C", "-"], &["-Z", "-C", "-"]] {
        let dir = temp_dir();
        let http = http_server(|request| match request.path().as_str() {
            "/slow" => HttpResponse::new(200).then_stall(Duration::from_millis(300)).body("slow"),
            path => HttpResponse::new(200).body(path[1..].to_owned()),
        });
        let urls: Vec<String> = ["a", "b", "slow", "c"].iter().map(|name| http.url(name)).collect();
        write_list(dir.path(), &urls.join("\n"));
        let first = spawn_batch(dir.path(), options);
        assert!(wait_until(WAIT_LIMIT, || dir.path().join("b").exists()), "the first run downloads nothing");
        let result = batch(dir.path(), options);
        result.assert_exit(2).assert_stderr_contains(JOURNAL);
        wait_for_exit(first).assert_exit(0);
        assert_eq!(http.requests().len(), urls.len(), "the second run sends requests");
        assert_eq!(entry_names(dir.path()), ["a", "b", "c", "list", "slow"], "{options:?}");
        for name in ["a", "b", "slow", "c"] {
            assert_eq!(read_text_or_empty(dir.path(), name), name);
        }
    }
}

#[test]
fn journal_contains_no_passwords() {
    let (site, dir) = (Site::start(), temp_dir());
    let ftp = FtpConfig::new().user("me", "Geheim").file("/f", "f");
    let ftp = FtpServer::start(ftp).expect("a server");
    let with_login = |url: String| url.replacen("://", "://me:Geheim@", 1);
    let lines = format!(
        "{}\n{}\n{}",
        with_login(site.http.url("a")),
        with_login(ftp.url("f")),
        site.lines(&["b", "no"])
    );
    write_list(dir.path(), &lines);
    let options = ["-u", "me:Geheim", "-H", "X-Key: Geheim", "-b", "c=Geheim"];
    batch(dir.path(), &options).assert_exit(78);
    let journal = read_text_or_empty(dir.path(), JOURNAL);
    assert!(journal.contains("\"a\"") && journal.contains("\"f\"") && journal.contains("\"b\""), "{journal}");
    assert!(!journal.contains("Geheim"), "{journal}");
    let sessions = ftp.connections();
    let requested = site.requested_by(78, || batch(dir.path(), &[&["-C", "-"], &options[..]].concat()));
    assert_eq!((requested, ftp.connections()), (vec!["no".to_owned()], sessions));
}

#[test]
fn repeated_line_is_fetched_once_unless_it_has_another_checksum() {
    let (site, dir) = (Site::start(), temp_dir());
    let abc = site.http.url("abc");
    let lines = [format!("{abc}\tf"), format!("{abc}\tf\t{MD5_OF_ABC}")];
    let [plain, verified] = &lines;
    write_list(
        dir.path(),
        &[plain, plain, verified, verified, plain].map(|line| format!("{line}\n")).concat(),
    );
    let requested = site.requested_by(0, || batch(dir.path(), &[]));
    assert_eq!(requested, ["abc", "abc"]);
    let other = verified.replace(MD5_OF_ABC, MD5_OF_EMPTY);
    write_list(dir.path(), &format!("{plain}\n{plain}\n{other}\n"));
    batch(dir.path(), &[]).assert_exit(91);
}

/// Lines with alternative URLs, checksums and file names.
#[test]
fn changed_lines_are_fetched_again() {
    let (site, dir) = (Site::start(), temp_dir());
    let at = |name: &str| site.http.url(name);
    let lines = format!(
        "{} {}\tone\n{}\ttwo words\t{MD5_OF_ABC}\n{}\n{}\t\n",
        at("no1"),
        at("b"),
        at("abc"),
        at("c"),
        at("no")
    );
    write_list(dir.path(), &lines);
    batch(dir.path(), &["-Z"]).assert_exit(78);
    let requested = site.requested_by(78, || batch(dir.path(), &["-Z", "-C", "-"]));
    assert_eq!(requested, ["no"]);
    // A new line, and a line with another file name.
    let lines = lines.replace("\tone", "\tother") + &site.lines(&["d"]);
    write_list(dir.path(), &lines);
    let requested = site.requested_by(78, || batch(dir.path(), &["-C", "-"]));
    assert_eq!(requested, ["b", "d", "no", "no1"]);
    // Another URL for the same file name.
    let lines = lines.replace(&at("c"), &format!("{}\tc", at("cc")));
    write_list(dir.path(), &lines);
    let requested = site.requested_by(78, || batch(dir.path(), &["-C", "-"]));
    assert_eq!(
        (requested, read_text_or_empty(dir.path(), "c")),
        (vec!["cc".to_owned(), "no".to_owned()], "cc".to_owned())
    );
    // A file that does not match the new checksum of its line is not complete.
    write_list(dir.path(), &lines.replace(MD5_OF_ABC, MD5_OF_EMPTY));
    batch(dir.path(), &["-C", "-"]).assert_exit(91).assert_stderr_contains("checksum");
}

#[test]
fn list_from_standard_input_has_a_journal() {
    let (site, dir) = (Site::start(), temp_dir());
    write_list(dir.path(), &site.lines(&["a", "b", "no"]));
    let run_piped = |options: &str| {
        let mut command = Command::new("sh");
        isolate_environment(&mut command);
        let script = format!("\"$F\" --retry 0 --input-file - {options} <list");
        command.env("F", BINARY).current_dir(dir.path()).args(["-c", &script]);
        run_command(command)
    };
    run_piped("").assert_exit(78);
    site.repair();
    assert_eq!(site.requested_by(0, || run_piped("-C -")), ["no"]);
    assert_eq!(entry_names(dir.path()), ["a", "b", "list", "no"]);
}

/// Links, directories and FIFOs are neither followed, opened nor replaced.
#[test]
fn journal_that_is_not_a_regular_file_is_refused() {
    for kind in ["symbolic link", "dangling symbolic link", "directory", "FIFO"] {
        for options in [&[][..], &["-C", "-"], &["--dry-run"]] {
            let (site, dir) = (Site::start(), temp_dir());
            let journal = dir.path().join(JOURNAL);
            write_list(dir.path(), &site.lines(&["a", "no"]));
            fs::write(dir.path().join("victim"), "victim").expect("a file");
            match kind {
                "symbolic link" => symlink("victim", &journal).expect("a link"),
                "dangling symbolic link" => symlink("nowhere", &journal).expect("a link"),
                "directory" => fs::create_dir(&journal).expect("a directory"),
                _ => assert!(Command::new("mkfifo").arg(&journal).status().expect("mkfifo").success()),
            }
            let result = batch(dir.path(), options);
            let words = format!("{JOURNAL}: it is a {}, not a journal", kind.trim_start_matches("dangling "));
            result.assert_exit(2).assert_stderr_contains(&words);
            assert!(site.http.requests().is_empty(), "{kind} {options:?}");
            assert_eq!(read_text_or_empty(dir.path(), "victim"), "victim");
            assert!(!dir.path().join("nowhere").exists());
            let metadata = fs::symlink_metadata(&journal).expect("the entry still exists").file_type();
            assert!(metadata.is_symlink() || metadata.is_dir() || metadata.is_fifo(), "{kind} {options:?}");
        }
    }
}

#[test]
fn foreign_file_with_the_journal_name_is_kept() {
    let junk: Vec<u8> =
        (0..4000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let rows: [(&str, &[u8]); 4] = [
        ("notes", b"my own notes\nand more\n"),
        ("junk", &junk),
        ("another list's", b"{\"boot\":\"x\",\"journal\":\"other\"}\n"),
        ("JSON", b"[1, 2]\n"),
    ];
    let mut wrong = Vec::new();
    for (case, bytes) in rows {
        for options in [&[][..], &["-C", "-"]] {
            for name in ["no", "b"] {
                let (site, dir) = (Site::start(), temp_dir());
                write_list(dir.path(), &site.lines(&["a", name]));
                fs::write(dir.path().join(JOURNAL), bytes).expect("a file");
                let result = batch(dir.path(), options);
                let is_same = fs::read(dir.path().join(JOURNAL)).is_ok_and(|now| now == bytes);
                if !is_same || !result.stderr.contains(JOURNAL) {
                    wrong.push(format!(
                        "{case} {options:?} {name}: unchanged {is_same}, stderr {:?}",
                        result.stderr
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tests paths outside of the directory, wrong types and huge lines in the journal.
#[test]
fn forged_journal_lines_change_no_files() {
    let (site, dir) = (Site::start(), temp_dir());
    run_interrupted_batch(&site, dir.path());
    let journal = read_text_or_empty(dir.path(), JOURNAL);
    let options = format!(
        "{journal}{}\n{}\n{}\n{{\"synced\":99999999999999999999}}\n{{}}\nnull\n",
        "{\"changed\":\"1.0\",\"facts\":\"x\",\"path\":\"../../../../etc/passwd\",\"size\":1}",
        "{\"changed\":\"-1\",\"facts\":7,\"path\":[],\"size\":-1}",
        "x".repeat(3 << 20),
    );
    fs::write(dir.path().join(JOURNAL), options).expect("a journal");
    let result = batch(dir.path(), &["-C", "-"]);
    assert!(!result.stderr.contains("panicked") && result.exit != 99 && result.exit != 0, "{result:?}");
    for name in ["a", "b", "c"] {
        assert_eq!(read_text_or_empty(dir.path(), name), name);
    }
}
