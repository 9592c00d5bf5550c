//! Reports of a batch: `--write-out` for each transfer, `--events` and summaries, the exit status of the first
//! failure, shell completions; and checksums, memory and a full disk in a batch.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::support::{
    BINARY, RunResult, entry_names, http_server, isolate_environment, run_command, run_fetch_url,
    run_fetch_url_in, run_measuring_memory, run_shell, strong_etag_headers, temp_dir,
};
use fetch_url_tests::{FtpConfig, FtpServer, HttpResponse, HttpServer, Terminal, file_handler, pattern_vec};

const MD5_OF_ABC: &str = "md5:900150983cd24fb0d6963f7d28e17f72";

/// Starts an HTTP server; the content of a path is its name. The prefixes `no`, `denied`, `cut`, `open` and `slow`
/// select a failure or a delay of 150 ms.
fn start_server() -> HttpServer {
    http_server(|request| match request.path().trim_start_matches('/') {
        name if name.starts_with("no") => HttpResponse::new(404),
        name if name.starts_with("denied") => HttpResponse::new(403),
        name if name.starts_with("cut") => HttpResponse::new(200).body("abcdef").cut_body_at(3),
        name if name.starts_with("open") => HttpResponse::new(200).until_close("open"),
        name if name.starts_with("slow") => {
            HttpResponse::new(200).then_stall(Duration::from_millis(150)).body(name.to_owned())
        }
        name => HttpResponse::new(200).body(name.to_owned()),
    })
}

fn batch(directory: &Path, lines: &[String], options: &[&str]) -> RunResult {
    fs::write(directory.join("list"), lines.join("\n")).expect("a list");
    run_fetch_url_in(directory, ["--input-file", "list"].iter().chain(options))
}

fn urls(site: &HttpServer, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| site.url(name)).collect()
}

fn parse_json_lines(text: &str) -> Vec<Value> {
    let value = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(value).collect()
}

fn event_name(event: &Value) -> &str {
    event["event"].as_str().unwrap_or_default()
}

/// Checks that the last event is a summary that agrees with the events before it, and that each transfer has one start
/// event and one end event. Returns the files, failures, skipped files, assumed files and bytes of the summary.
#[track_caller]
fn check_summary(events: &[Value]) -> [u64; 5] {
    let (last, before) = events.split_last().expect("events");
    assert_eq!(event_name(last), "summary");
    let mut transfers: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for event in before {
        transfers.entry(event["number"].as_u64().expect("a number")).or_default().push(event);
    }
    assert!(transfers.keys().copied().eq(0..transfers.len() as u64), "{:?}", transfers.keys());
    let [mut files, mut failed, mut skipped, mut assumed, mut bytes] = [0; 5];
    for (number, events_of_transfer) in transfers {
        assert_eq!(
            events_of_transfer.iter().filter(|event| event_name(event) == "start").count(),
            1,
            "{number}: {events_of_transfer:?}"
        );
        assert_eq!(event_name(events_of_transfer[0]), "start", "{number}");
        let is_end = |event: &&&Value| ["done", "error"].contains(&event_name(event));
        assert_eq!(events_of_transfer.iter().filter(is_end).count(), 1, "{number}: {events_of_transfer:?}");
        let end = events_of_transfer.last().expect("an end");
        let is_done = event_name(end) == "done";
        let is_skipped = is_done && end["skipped"] == true;
        failed += u64::from(!is_done);
        skipped += u64::from(is_skipped);
        files += u64::from(is_done && !is_skipped);
        assumed += u64::from(end["proof"].as_str().is_some_and(|proof| proof.contains("assumed")));
        bytes += if is_done { end["octets"].as_u64().expect("octets") } else { 0 };
    }
    let counts = ["files", "failed", "skipped", "assumed", "octets"];
    let reported = counts.map(|count| last[count].as_u64().expect("a count"));
    assert_eq!(reported[..4], [files, failed, skipped, assumed], "{last}");
    // The bytes of failed transfers may count in the summary; no event shows them.
    assert!(
        reported[4] == bytes || failed > 0 && reported[4] > bytes,
        "{last}: {bytes} bytes of complete files"
    );
    assert!(last["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{last}");
    reported
}

#[test]
fn summary_event_agrees_with_the_events_of_all_transfers() {
    let site = start_server();
    let ftp = FtpServer::start(FtpConfig::new().anonymous().file("/f", "12345")).expect("a server");
    for parallel in [&[][..], &["-Z"], &["-Z", "--parallel-max", "2"]] {
        let dir = temp_dir();
        fs::write(dir.path().join("old"), "old").expect("a file");
        let mut lines = urls(&site, &["a", "no", "bb", "old", "cut", "slow", "denied", "ccc"]);
        lines.extend([ftp.url("f"), ftp.url("missing"), "http://h:x/".to_owned(), "nfs://h/x".to_owned()]);
        lines.push(format!("{}\twrong\t{MD5_OF_ABC}", site.url("d")));
        lines.push(format!("{} {}\tsecond\t", site.url("no2"), site.url("eeee")).trim_end().to_owned());
        let options = [&["--skip-existing", "--events", "events"], parallel].concat();
        let result = batch(dir.path(), &lines, &options);
        result.assert_exit(78);
        let events = parse_json_lines(&fs::read_to_string(dir.path().join("events")).expect("events"));
        // The contents of `a`, `bb`, `slow`, `ccc`, `f` and `second`.
        let [files, failed, skipped, _, bytes] = check_summary(&events);
        assert_eq!((files, failed, skipped), (6, 7, 1), "{parallel:?}");
        let complete_bytes = 1 + 2 + 4 + 3 + 5 + 4;
        assert!(
            bytes == complete_bytes || bytes == complete_bytes + 3 + 1,
            "{bytes}: {complete_bytes}, 3 of `cut`, 1 of `wrong`"
        );
        let starts = events.iter().filter(|event| event_name(event) == "start").count();
        assert_eq!(starts, lines.len());
    }
}

#[test]
fn summary_event_counts_assumed_files() {
    let (site, dir) = (start_server(), temp_dir());
    let result = batch(dir.path(), &urls(&site, &["open1", "a", "open2"]), &["-Z", "--events", "-"]);
    let [files, failed, _, assumed, _] =
        check_summary(&parse_json_lines(&result.assert_exit(0).stdout_text()));
    assert_eq!((files, failed, assumed), (3, 0, 2));
    // URLs on the command line are a batch, too.
    let arguments = ["-Z", "--remote-name-all", "--events", "-"].map(str::to_owned);
    let result = run_fetch_url_in(dir.path(), arguments.into_iter().chain(urls(&site, &["x", "no", "y"])));
    let [files, failed, ..] = check_summary(&parse_json_lines(&result.assert_exit(78).stdout_text()));
    assert_eq!((files, failed), (2, 1));
}

/// With `-C -`, files of an earlier run count as skipped.
#[test]
fn summary_event_counts_skipped_files_of_continued_run() {
    let (site, dir) = (start_server(), temp_dir());
    let lines = urls(&site, &["a", "bb", "no", "ccc"]);
    batch(dir.path(), &lines, &[]).assert_exit(78);
    for parallel in [&[][..], &["-Z"]] {
        let options = [&["-C", "-", "--events", "-"], parallel].concat();
        let result = batch(dir.path(), &lines, &options);
        let [files, failed, skipped, _, bytes] =
            check_summary(&parse_json_lines(&result.assert_exit(78).stdout_text()));
        assert_eq!((files, failed, skipped, bytes), (0, 1, 3, 0));
    }
}

#[test]
fn write_out_prints_one_line_per_transfer() {
    let site = start_server();
    let names = ["a", "no", "bb", "cut", "old", "slow"];
    for parallel in [&[][..], &["-Z"]] {
        let dir = temp_dir();
        fs::write(dir.path().join("old"), "old").expect("a file");
        let format = "%{urlnum} %{exitcode} %{http_code} %{size_download}\n";
        let options = [&["--skip-existing", "-w", format], parallel].concat();
        let result = batch(dir.path(), &urls(&site, &names), &options);
        let text = result.assert_exit(78).stdout_text();
        let mut lines: Vec<&str> = text.lines().collect();
        if parallel.is_empty() {
            assert!(lines.is_sorted(), "{text}");
        }
        lines.sort_unstable();
        let expected = ["0 0 200 1", "1 78 404 0", "2 0 200 2", "3 18 200 3", "4 0 000 0", "5 0 200 4"];
        assert_eq!(lines, expected, "{parallel:?}");
        let options = [&["-w", "%{json}\n"], parallel].concat();
        let values =
            parse_json_lines(&batch(temp_dir().path(), &urls(&site, &names), &options).stdout_text());
        let mut numbers: Vec<u64> = values.iter().filter_map(|value| value["urlnum"].as_u64()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    }
}

/// "First" means first in the list, not first to fail.
#[test]
fn exit_status_is_that_of_the_first_failed_line() {
    let site = start_server();
    for (names, exit) in [
        (&["a", "slow-b", "c"][..], 0),
        (&["a", "denied", "no", "cut"], 9),
        (&["cut", "a", "no", "denied"], 18),
        (&["a", "no", "cut"], 78),
    ] {
        for parallel in [&[][..], &["-Z"], &["-Z", "--parallel-max", "3"]] {
            let dir = temp_dir();
            batch(dir.path(), &urls(&site, names), parallel).assert_exit(exit);
        }
    }
    // The first line fails later than the others.
    let late = http_server(|request| match request.path().as_str() {
        "/late" => HttpResponse::new(403).body("x").drip(20, Duration::from_millis(30)),
        "/no" => HttpResponse::new(404),
        _ => HttpResponse::new(200),
    });
    let lines = urls(&late, &["late", "no", "a", "no"]);
    batch(temp_dir().path(), &lines, &["-Z"]).assert_exit(9);
}

#[test]
fn fail_early_starts_no_further_transfer() {
    let (site, dir) = (start_server(), temp_dir());
    let lines = urls(&site, &["a", "no", "b", "denied"]);
    let result = batch(dir.path(), &lines, &["--fail-early", "--events", "-"]);
    let [files, failed, ..] = check_summary(&parse_json_lines(&result.assert_exit(78).stdout_text()));
    assert_eq!((files, failed), (1, 1));
    assert_eq!(entry_names(dir.path()), [".list.journal", "a", "list"]);
    // The second run fetches the failed line and those that were not started.
    let result = batch(dir.path(), &lines, &["-C", "-", "--events", "-"]);
    let [files, failed, skipped, ..] =
        check_summary(&parse_json_lines(&result.assert_exit(78).stdout_text()));
    assert_eq!((files, failed, skipped), (1, 2, 1));
    // In parallel: no transfer is started after the failure; those that were started may finish.
    let dir = temp_dir();
    let many: Vec<String> = (0..200).map(|number| format!("slow{number}")).collect();
    let many: Vec<&str> = ["a", "no"].into_iter().chain(many.iter().map(String::as_str)).collect();
    let before = site.requests().len();
    let options = ["-Z", "--parallel-max", "4", "--fail-early"];
    batch(dir.path(), &urls(&site, &many), &options).assert_exit(78);
    let requested = site.requests().len() - before;
    assert!(requested <= 8, "{requested} requests");
    assert!(
        entry_names(dir.path()).iter().all(|name| !name.contains(".fetch-url.")),
        "{:?}",
        entry_names(dir.path())
    );
}

/// Runs a batch in a terminal of 80 columns and returns the exit status and the screen.
fn run_in_terminal(directory: &Path, lines: &[String], options: &[&str]) -> (i32, String) {
    fs::write(directory.join("list"), lines.join("\n")).expect("a list");
    let mut command = Command::new(BINARY);
    command.args(["--retry", "0", "--input-file", "list"]).args(options).current_dir(directory);
    let mut terminal = Terminal::start(&command, 80).expect("a terminal");
    let exit = terminal.exit_status().expect("an end");
    (exit, terminal.screen())
}

#[test]
fn summary_is_printed_to_terminals_unless_silent() {
    let (site, dir) = (start_server(), temp_dir());
    let lines = urls(&site, &["a", "bb", "no", "ccc"]);
    let (exit, screen) = run_in_terminal(dir.path(), &lines, &[]);
    assert_eq!(exit, 78);
    let summary = |screen: &str| screen.lines().filter(|line| line.contains("files")).count();
    assert_eq!(summary(&screen), 1, "{screen}");
    assert!(screen.contains("3 files") && screen.contains("1 failed"), "{screen}");
    let (_, screen) = run_in_terminal(dir.path(), &lines, &["-Z", "-C", "-"]);
    assert_eq!(summary(&screen), 1, "{screen}");
    assert!(screen.contains("3 ") && screen.contains("1 failed"), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80 || line.contains("http:")), "{screen}");
    for quiet in ["-s", "-sS"] {
        let (_, screen) = run_in_terminal(dir.path(), &lines, &[quiet]);
        assert_eq!(summary(&screen), 0, "{quiet}: {screen}");
    }
}

/// If standard error is a pipe, it gets only the error messages.
#[test]
fn no_summary_is_printed_to_pipes() {
    let (site, dir) = (start_server(), temp_dir());
    for options in [&[][..], &["-Z"], &["-Z", "-C", "-"]] {
        let result = batch(dir.path(), &urls(&site, &["a", "bb", "slow"]), options);
        assert_eq!((result.assert_exit(0).stderr.as_str(), result.stdout.len()), ("", 0), "{options:?}");
        let result = batch(dir.path(), &urls(&site, &["a", "no", "bb"]), options);
        assert_eq!(result.assert_exit(78).stderr.lines().count(), 1, "{options:?}: {}", result.stderr);
    }
}

/// An input file shows one progress bar for each running transfer and one for the total.
#[test]
fn progress_shows_each_file_and_the_total() {
    let slow = http_server(|_| HttpResponse::new(200).stream(60_000).drip(5000, Duration::from_millis(60)));
    let dir = temp_dir();
    let lines = urls(&slow, &["one.iso", "two.iso", "three.iso"]);
    let (exit, screen) = run_in_terminal(dir.path(), &lines, &["-Z"]);
    assert_eq!(exit, 0, "{screen}");
    for word in ["one.iso", "two.iso", "three.iso", "total", "3 files"] {
        assert!(screen.contains(word), "no {word:?} in {screen}");
    }
}

#[test]
fn completions_contain_options_and_match_docs() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let result = run_shell("\"$F\" completions \"$1\"", [shell]);
        let text = result.assert_exit(0).stdout_text();
        for option in ["parallel-max-host", "skip-existing", "max-entries", "mirror"] {
            assert!(text.contains(option), "{shell}: no {option}");
        }
    }
    run_shell("\"$F\" completions tcsh", [""]).assert_exit(2);
    run_shell("\"$F\" completions", [""]).assert_exit(2);
    let script = "\"$F\" completions bash | bash -n && \"$F\" completions bash | head -c 1 >/dev/null";
    run_shell(script, [""]).assert_exit(0);
    if cfg!(feature = "queue") {
        for shell in ["bash", "fish", "zsh"] {
            let text = run_shell("\"$F\" completions \"$1\"", [shell]).assert_exit(0).stdout_text();
            for word in ["queue", "nats-creds", "max-tries", "buckets"] {
                assert!(text.contains(word), "{shell}: no {word}");
            }
        }
        // The files in docs are those of a build without the feature.
        return;
    }
    // The files in docs/completions are the output of the command.
    for shell in ["bash", "fish", "zsh"] {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/completions").join(shell);
        let arguments = [Path::new(shell), docs.as_path()];
        let result = run_shell("\"$F\" completions \"$1\" | cmp - \"$2\"", arguments);
        assert_eq!((result.exit, result.stdout_text().as_str()), (0, ""), "{shell}: {}", result.stderr);
    }
}

/// 24 parallel transfers need the same checksum list.
#[test]
fn checksum_list_is_requested_once() {
    let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let list: String = (0..24).map(|number| format!("{sum}  f{number}\n")).collect();
    let server = http_server(move |request| match request.path().as_str() {
        "/SHA256SUMS" => HttpResponse::new(200).then_stall(Duration::from_millis(200)).body(list.clone()),
        path if path.starts_with("/f") && !path.contains('.') => HttpResponse::new(200).body("abc"),
        _ => HttpResponse::new(404),
    });
    let dir = temp_dir();
    let names: Vec<String> = (0..24).map(|number| server.url(&format!("/f{number}"))).collect();
    batch(dir.path(), &names, &["-Z", "--checksum-from", "/SHA256SUMS"]).assert_exit(0);
    assert_eq!(server.requests().iter().filter(|request| request.path() == "/SHA256SUMS").count(), 1);
    assert_eq!(entry_names(dir.path()).len(), 25);
}

#[test]
fn checksum_is_checked_over_all_segments() {
    const SIZE: usize = 3_000_000;
    let dir = temp_dir();
    let server = http_server(file_handler(pattern_vec(0, SIZE), strong_etag_headers()));
    let url = server.url("/f");
    fs::write(dir.path().join("whole"), pattern_vec(0, SIZE)).expect("a file");
    let sum = run_shell("sha256sum \"$1\"", [dir.path().join("whole")]).assert_exit(0).stdout_text()[..64]
        .to_owned();
    let run = |sum: &str| {
        let checksum = format!("sha256:{sum}");
        run_fetch_url_in(dir.path(), ["--segments", "4", "--checksum", &checksum, "-o", "out", &url])
    };
    run(&"0".repeat(64)).assert_exit(91);
    assert_eq!(entry_names(dir.path()), ["whole"]);
    run(&sum).assert_exit(0);
    assert!(fs::read(dir.path().join("out")).expect("a file") == pattern_vec(0, SIZE));
    assert!(server.requests().iter().filter(|request| request.header("range").is_some()).count() > 2);
}

/// The journal's name is too long, or the directory does not allow new files: the batch runs without a journal.
#[test]
fn batch_runs_without_journal_if_it_cannot_be_created() {
    let (site, dir) = (start_server(), temp_dir());
    let named = |name: &str| format!("{}\t{}\n", site.url(name), dir.path().join(name).display());
    let lines = ["a", "b"].map(named).concat();
    let list = dir.path().join("list");
    fs::write(&list, &lines).expect("a list");
    // A name that is too long for any file system, and a directory in which no file can be created.
    let long = dir.path().join("l".repeat(250));
    fs::write(&long, &lines).expect("a list");
    for options in [&[][..], &["-C", "-"]] {
        for (directory, list) in [(dir.path(), &long), (Path::new("/proc"), &list)] {
            let arguments = ["--input-file", list.to_str().expect("UTF-8")];
            let result = run_fetch_url_in(directory, arguments.iter().chain(options));
            result.assert_exit(0);
            assert!(directory == dir.path() || result.stderr.contains("journal"), "{result:?}");
            for name in ["a", "b"] {
                assert_eq!(fs::read_to_string(dir.path().join(name)).expect("a file"), name);
                fs::remove_file(dir.path().join(name)).expect("a file");
            }
        }
    }
}

/// The file size limit stops the journal after 1 KiB: all files are downloaded, and files without a journal line are
/// fetched again by the next run.
#[test]
fn batch_finishes_when_journal_cannot_grow_and_says_so_once() {
    for (options, notes) in [("", 1), ("-Z", 1), ("-s", 0)] {
        let (site, dir) = (start_server(), temp_dir());
        let names: Vec<String> = (10..40).map(|number| format!("f{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let lines = urls(&site, &[&names[..], &["no"]].concat());
        fs::write(dir.path().join("list"), lines.join("\n")).expect("a list");
        let mut command = Command::new("sh");
        isolate_environment(&mut command);
        let script = format!("ulimit -f 2; exec \"$F\" {options} --retry 0 --input-file list");
        command.env("F", BINARY).current_dir(dir.path()).args(["-c", &script]);
        let result = run_command(command);
        result.assert_exit(78);
        let note = "note: the journal could not be written, so a later run may fetch";
        assert_eq!(result.stderr.matches(note).count(), notes, "{options}: {}", result.stderr);
        assert_eq!(entry_names(dir.path()).iter().filter(|name| name.starts_with('f')).count(), 30);
        let before = site.requests().len();
        batch(dir.path(), &urls(&site, &names), &["-C", "-"]).assert_exit(0);
        assert!(site.requests().len() - before <= 30);
        assert!(!dir.path().join(".list.journal").exists());
    }
}

/// The only line is written after the last file. The limit of the file size is 1 KiB, which the file itself does not reach.
#[test]
fn journal_that_has_no_room_for_its_last_line_is_reported() {
    let (site, dir) = (start_server(), temp_dir());
    let last = format!("{}f", "directory/".repeat(98));
    fs::write(dir.path().join("list"), urls(&site, &["no", &last]).join("\n")).expect("a list");
    let mut command = Command::new("sh");
    isolate_environment(&mut command);
    let script = "ulimit -f 2; exec \"$F\" --retry 0 --input-file list";
    command.env("F", BINARY).current_dir(dir.path()).args(["-c", script]);
    run_command(command).assert_exit(78).assert_stderr_contains("the journal could not be written");
    assert!(dir.path().join("f").exists());
}

/// 100,000 lines, all but the last one complete, in at most 64 MiB. To be fast, the test uses 1,000 hard links to one file in
/// each of 100 directories, and copies the first line of the journal.
#[test]
fn continued_run_of_100_000_lines_needs_bounded_memory() {
    let (site, dir) = (http_server(|_| HttpResponse::new(200).body("x")), temp_dir());
    for number in 0..100 {
        fs::create_dir(dir.path().join(format!("d{number:02}"))).expect("a directory");
    }
    let url = |number: usize| site.url(&format!("/a/rather/long/path/of/no/use/{number:06}"));
    let path =
        |number: usize| format!("{}/d{:02}/f{:03}", dir.path().display(), number / 1000, number % 1000);
    let line = |number: usize| format!("{}\t{}\n", url(number), path(number));
    let (list, missing) = (dir.path().join("list"), "file:///no/such/file\tz\n");
    fs::write(&list, line(0) + missing).expect("a list");
    let directory = dir.path().to_str().expect("UTF-8");
    let arguments = ["-C", "-", "--output-dir", directory, "--input-file", list.to_str().expect("UTF-8")];
    run_fetch_url(arguments).assert_exit(78);
    let journal = dir.path().join(".list.journal");
    let first = fs::read_to_string(&journal).expect("a journal");
    let model = first.lines().find(|line| line.contains(&url(0))).expect("a line of the journal");
    let options: String = (1..100_000)
        .map(|number| model.replace(&url(0), &url(number)).replace(&path(0), &path(number)) + "\n")
        .collect();
    fs::write(&journal, first.clone() + &options).expect("a journal");
    fs::write(&list, (0..100_000).map(line).collect::<String>() + missing).expect("a list");
    let time = fs::metadata(path(0)).and_then(|file| file.modified()).expect("a time");
    for first in (0..100_000).step_by(1000) {
        let file = fs::File::options().append(true).create(true).open(path(first)).expect("a file");
        if first > 0 {
            (&file).write_all(b"x").and_then(|()| file.set_modified(time)).expect("a file");
        }
        (first + 1..first + 1000)
            .for_each(|number| fs::hard_link(path(first), path(number)).expect("a link"));
    }
    let (memory, result) = run_measuring_memory(&arguments);
    result.assert_exit(78);
    assert_eq!(site.requests().len(), 1);
    assert!(memory > 0 && memory <= 64 * 1024, "{memory} KiB");
}
