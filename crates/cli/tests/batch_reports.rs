//! What is said of many transfers: `-w` once for each, `--events` for all of them with a summary, a summary for people, and
//! the exit status of the first failure. And what they cost: memory, and no file when there is no room for a journal.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fetch_url_tests::{FtpServer, FtpSite, HttpReply, HttpServer, Terminal, file_handler, pattern_vec};
use serde_json::Value;
use support::sound::measured;
use support::{BINARY, Ran, fetch_in, names, serving};

const MD5_OF_ABC: &str = "md5:900150983cd24fb0d6963f7d28e17f72";

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// Every path holds its own name, but for those that say what is wrong with them; `/slow…` takes some time for it.
fn site() -> HttpServer {
    serving(|request| match request.path().trim_start_matches('/') {
        name if name.starts_with("no") => HttpReply::new(404),
        name if name.starts_with("denied") => HttpReply::new(403),
        name if name.starts_with("cut") => HttpReply::new(200).body("abcdef").cut_body_at(3),
        name if name.starts_with("open") => HttpReply::new(200).until_close("open"),
        name if name.starts_with("slow") => {
            HttpReply::new(200).then_stall(Duration::from_millis(150)).body(name.to_owned())
        }
        name => HttpReply::new(200).body(name.to_owned()),
    })
}

fn batch(directory: &Path, lines: &[String], more: &[&str]) -> Ran {
    fs::write(directory.join("list"), lines.join("\n")).expect("a list");
    fetch_in(directory, ["--input-file", "list"].iter().chain(more))
}

fn urls(site: &HttpServer, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| site.url(name)).collect()
}

fn json(text: &str) -> Vec<Value> {
    let value = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(value).collect()
}

fn name(event: &Value) -> &str {
    event["event"].as_str().unwrap_or_default()
}

/// The numbers of the one summary, which comes last, as they follow from the events before it: each transfer starts
/// once and ends once.
#[track_caller]
fn summary_that_agrees(events: &[Value]) -> [u64; 5] {
    let (last, before) = events.split_last().expect("events");
    assert_eq!(name(last), "summary");
    let mut stories: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for event in before {
        stories.entry(event["number"].as_u64().expect("a number")).or_default().push(event);
    }
    assert!(stories.keys().copied().eq(0..stories.len() as u64), "{:?}", stories.keys());
    let [mut files, mut failed, mut skipped, mut assumed, mut octets] = [0; 5];
    for (number, story) in stories {
        assert_eq!(story.iter().filter(|event| name(event) == "start").count(), 1, "{number}: {story:?}");
        assert_eq!(name(story[0]), "start", "{number}");
        let is_end = |event: &&&Value| ["done", "error"].contains(&name(event));
        assert_eq!(story.iter().filter(is_end).count(), 1, "{number}: {story:?}");
        let end = story.last().expect("an end");
        let is_done = name(end) == "done";
        let is_skipped = is_done && end["skipped"] == true;
        failed += u64::from(!is_done);
        skipped += u64::from(is_skipped);
        files += u64::from(is_done && !is_skipped);
        assumed += u64::from(end["proof"].as_str().is_some_and(|proof| proof.contains("assumed")));
        octets += if is_done { end["octets"].as_u64().expect("octets") } else { 0 };
    }
    let counts = ["files", "failed", "skipped", "assumed", "octets"];
    let told = counts.map(|count| last[count].as_u64().expect("a count"));
    assert_eq!(told[..4], [files, failed, skipped, assumed], "{last}");
    // What came of those that failed may count, and no event tells it.
    assert!(told[4] == octets || failed > 0 && told[4] > octets, "{last}: {octets} of files that are done");
    assert!(last["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{last}");
    told
}

#[test]
fn events_of_all() {
    let site = site();
    let ftp = FtpServer::start(FtpSite::new().anonymous().file("/f", "12345")).expect("a server");
    for parallel in [&[][..], &["-Z"], &["-Z", "--parallel-max", "2"]] {
        let here = place();
        fs::write(here.path().join("old"), "old").expect("a file");
        let mut lines = urls(&site, &["a", "no", "bb", "old", "cut", "slow", "denied", "ccc"]);
        lines.extend([ftp.url("f"), ftp.url("missing"), "http://h:x/".to_owned(), "nfs://h/x".to_owned()]);
        lines.push(format!("{}\twrong\t{MD5_OF_ABC}", site.url("d")));
        lines.push(format!("{} {}\tsecond\t", site.url("no2"), site.url("eeee")).trim_end().to_owned());
        let more = [&["--skip-existing", "--events", "events"], parallel].concat();
        let ran = batch(here.path(), &lines, &more);
        ran.exits(78);
        let events = json(&fs::read_to_string(here.path().join("events")).expect("events"));
        // a, bb, slow, ccc, f, second.
        let [files, failed, skipped, _, octets] = summary_that_agrees(&events);
        assert_eq!((files, failed, skipped), (6, 7, 1), "{parallel:?}");
        let whole = 1 + 2 + 4 + 3 + 5 + 4;
        assert!(
            octets == whole || octets == whole + 3 + 1,
            "{octets}: {whole}, 3 of the cut, 1 of the wrong"
        );
        let starts = events.iter().filter(|event| name(event) == "start").count();
        assert_eq!(starts, lines.len());
    }
}

#[test]
fn events_of_what_has_no_mark_of_its_end() {
    let (site, here) = (site(), place());
    let ran = batch(here.path(), &urls(&site, &["open1", "a", "open2"]), &["-Z", "--events", "-"]);
    let [files, failed, _, assumed, _] = summary_that_agrees(&json(&ran.exits(0).text()));
    assert_eq!((files, failed, assumed), (3, 0, 2));
    // URLs of the command line are a batch too.
    let arguments = ["-Z", "--remote-name-all", "--events", "-"].map(str::to_owned);
    let ran = fetch_in(here.path(), arguments.into_iter().chain(urls(&site, &["x", "no", "y"])));
    let [files, failed, ..] = summary_that_agrees(&json(&ran.exits(78).text()));
    assert_eq!((files, failed), (2, 1));
}

/// `-C -`: what an earlier run has finished is skipped, and is in the numbers as that.
#[test]
fn events_of_the_rest() {
    let (site, here) = (site(), place());
    let lines = urls(&site, &["a", "bb", "no", "ccc"]);
    batch(here.path(), &lines, &[]).exits(78);
    for parallel in [&[][..], &["-Z"]] {
        let more = [&["-C", "-", "--events", "-"], parallel].concat();
        let ran = batch(here.path(), &lines, &more);
        let [files, failed, skipped, _, octets] = summary_that_agrees(&json(&ran.exits(78).text()));
        assert_eq!((files, failed, skipped, octets), (0, 1, 3, 0));
    }
}

#[test]
fn a_format_for_each() {
    let site = site();
    let wanted = ["a", "no", "bb", "cut", "old", "slow"];
    for parallel in [&[][..], &["-Z"]] {
        let here = place();
        fs::write(here.path().join("old"), "old").expect("a file");
        let format = "%{urlnum} %{exitcode} %{http_code} %{size_download}\n";
        let more = [&["--skip-existing", "-w", format], parallel].concat();
        let ran = batch(here.path(), &urls(&site, &wanted), &more);
        let text = ran.exits(78).text();
        let mut lines: Vec<&str> = text.lines().collect();
        if parallel.is_empty() {
            assert!(lines.is_sorted(), "{text}");
        }
        lines.sort_unstable();
        let expected = ["0 0 200 1", "1 78 404 0", "2 0 200 2", "3 18 200 3", "4 0 000 0", "5 0 200 4"];
        assert_eq!(lines, expected, "{parallel:?}");
        let more = [&["-w", "%{json}\n"], parallel].concat();
        let values = json(&batch(place().path(), &urls(&site, &wanted), &more).text());
        let mut numbers: Vec<u64> = values.iter().filter_map(|value| value["urlnum"].as_u64()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    }
}

/// Not of the one that failed first, but of the one that stands first.
#[test]
fn the_status_of_the_first_failure() {
    let site = site();
    for (wanted, exit) in [
        (&["a", "slow-b", "c"][..], 0),
        (&["a", "denied", "no", "cut"], 9),
        (&["cut", "a", "no", "denied"], 18),
        (&["a", "no", "cut"], 78),
    ] {
        for parallel in [&[][..], &["-Z"], &["-Z", "--parallel-max", "3"]] {
            let here = place();
            batch(here.path(), &urls(&site, wanted), parallel).exits(exit);
        }
    }
    // The first one fails last.
    let late = serving(|request| match request.path().as_str() {
        "/late" => HttpReply::new(403).body("x").drip(20, Duration::from_millis(30)),
        "/no" => HttpReply::new(404),
        _ => HttpReply::new(200),
    });
    let lines = urls(&late, &["late", "no", "a", "no"]);
    batch(place().path(), &lines, &["-Z"]).exits(9);
}

#[test]
fn it_stops_at_the_first_failure() {
    let (site, here) = (site(), place());
    let lines = urls(&site, &["a", "no", "b", "denied"]);
    let ran = batch(here.path(), &lines, &["--fail-early", "--events", "-"]);
    let [files, failed, ..] = summary_that_agrees(&json(&ran.exits(78).text()));
    assert_eq!((files, failed), (1, 1));
    assert_eq!(names(here.path()), [".list.journal", "a", "list"]);
    // What is missing are the failure and all that was not begun.
    let ran = batch(here.path(), &lines, &["-C", "-", "--events", "-"]);
    let [files, failed, skipped, ..] = summary_that_agrees(&json(&ran.exits(78).text()));
    assert_eq!((files, failed, skipped), (1, 2, 1));
    // Side by side: none is begun any more; those that were may end.
    let here = place();
    let many: Vec<String> = (0..200).map(|number| format!("slow{number}")).collect();
    let many: Vec<&str> = ["a", "no"].into_iter().chain(many.iter().map(String::as_str)).collect();
    let before = site.requests().len();
    let more = ["-Z", "--parallel-max", "4", "--fail-early"];
    batch(here.path(), &urls(&site, &many), &more).exits(78);
    let asked = site.requests().len() - before;
    assert!(asked <= 8, "{asked} were asked for");
    assert!(names(here.path()).iter().all(|name| !name.contains(".part")), "{:?}", names(here.path()));
}

/// What a person sees; and the exit status.
fn seen(directory: &Path, lines: &[String], more: &[&str]) -> (i32, String) {
    fs::write(directory.join("list"), lines.join("\n")).expect("a list");
    let mut command = Command::new(BINARY);
    command.args(["--retry", "0", "--input-file", "list"]).args(more).current_dir(directory);
    let mut terminal = Terminal::start(&command, 80).expect("a terminal");
    let exit = terminal.exit().expect("an end");
    (exit, terminal.screen())
}

#[test]
fn a_summary_for_people() {
    let (site, here) = (site(), place());
    let lines = urls(&site, &["a", "bb", "no", "ccc"]);
    let (exit, screen) = seen(here.path(), &lines, &[]);
    assert_eq!(exit, 78);
    let summary = |screen: &str| screen.lines().filter(|line| line.contains("files")).count();
    assert_eq!(summary(&screen), 1, "{screen}");
    assert!(screen.contains("3 files") && screen.contains("1 failed"), "{screen}");
    let (_, screen) = seen(here.path(), &lines, &["-Z", "-C", "-"]);
    assert_eq!(summary(&screen), 1, "{screen}");
    assert!(screen.contains("3 ") && screen.contains("1 failed"), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80 || line.contains("http:")), "{screen}");
    // Nobody wants it.
    for quiet in ["-s", "-sS"] {
        let (_, screen) = seen(here.path(), &lines, &[quiet]);
        assert_eq!(summary(&screen), 0, "{quiet}: {screen}");
    }
}

/// A pipe gets what went wrong and nothing else.
#[test]
fn none_for_programs() {
    let (site, here) = (site(), place());
    for more in [&[][..], &["-Z"], &["-Z", "-C", "-"]] {
        let ran = batch(here.path(), &urls(&site, &["a", "bb", "slow"]), more);
        assert_eq!((ran.exits(0).stderr.as_str(), ran.stdout.len()), ("", 0), "{more:?}");
        let ran = batch(here.path(), &urls(&site, &["a", "no", "bb"]), more);
        assert_eq!(ran.exits(78).stderr.lines().count(), 1, "{more:?}: {}", ran.stderr);
    }
}

/// "One bar per running file and a total": with a list from a file as well.
#[test]
fn a_total_of_a_list() {
    let slow = serving(|_| HttpReply::new(200).stream(60_000).drip(5000, Duration::from_millis(60)));
    let here = place();
    let lines = urls(&slow, &["one.iso", "two.iso", "three.iso"]);
    let (exit, screen) = seen(here.path(), &lines, &["-Z"]);
    assert_eq!(exit, 0, "{screen}");
    for word in ["one.iso", "two.iso", "three.iso", "total", "3 files"] {
        assert!(screen.contains(word), "no {word:?} in {screen}");
    }
}

/// `fetch-url completions SHELL`.
#[test]
fn completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = support::shell("\"$F\" completions \"$1\"", [shell]);
        let text = ran.exits(0).text();
        for option in ["parallel-max-host", "skip-existing", "max-entries", "mirror"] {
            assert!(text.contains(option), "{shell}: no {option}");
        }
    }
    support::shell("\"$F\" completions tcsh", [""]).exits(2);
    support::shell("\"$F\" completions", [""]).exits(2);
    let script = "\"$F\" completions bash | bash -n && \"$F\" completions bash | head -c 1 >/dev/null";
    support::shell(script, [""]).exits(0);
    // What is in docs/ is what it prints.
    for shell in ["bash", "fish", "zsh"] {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/completions").join(shell);
        let arguments = [Path::new(shell), docs.as_path()];
        let ran = support::shell("\"$F\" completions \"$1\" | cmp - \"$2\"", arguments);
        assert_eq!((ran.exit, ran.text().as_str()), (0, ""), "{shell}: {}", ran.stderr);
    }
}

/// A list of checksums is asked for once, however many wait for it.
#[test]
fn one_list_of_checksums() {
    let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let list: String = (0..24).map(|number| format!("{sum}  f{number}\n")).collect();
    let server = serving(move |request| match request.path().as_str() {
        "/SHA256SUMS" => HttpReply::new(200).then_stall(Duration::from_millis(200)).body(list.clone()),
        path if path.starts_with("/f") && !path.contains('.') => HttpReply::new(200).body("abc"),
        _ => HttpReply::new(404),
    });
    let here = place();
    let wanted: Vec<String> = (0..24).map(|number| server.url(&format!("/f{number}"))).collect();
    batch(here.path(), &wanted, &["-Z", "--checksum-from", "/SHA256SUMS"]).exits(0);
    assert_eq!(server.requests().iter().filter(|request| request.path() == "/SHA256SUMS").count(), 1);
    assert_eq!(names(here.path()).len(), 25);
}

/// What comes in pieces is checked as a whole.
#[test]
fn checksums_of_segments() {
    const SIZE: usize = 3_000_000;
    let here = place();
    let server = serving(file_handler(pattern_vec(0, SIZE), support::tagged()));
    let url = server.url("/f");
    fs::write(here.path().join("whole"), pattern_vec(0, SIZE)).expect("a file");
    let sum =
        support::shell("sha256sum \"$1\"", [here.path().join("whole")]).exits(0).text()[..64].to_owned();
    let run = |sum: &str| {
        let checksum = format!("sha256:{sum}");
        fetch_in(here.path(), ["--segments", "4", "--checksum", &checksum, "-o", "out", &url])
    };
    run(&"0".repeat(64)).exits(91);
    assert_eq!(names(here.path()), ["whole"]);
    run(&sum).exits(0);
    assert!(fs::read(here.path().join("out")).expect("a file") == pattern_vec(0, SIZE));
    assert!(server.requests().iter().filter(|request| request.header("range").is_some()).count() > 2);
}

/// Where there is no room for a journal a batch goes on without.
#[test]
fn no_room_for_a_journal() {
    let (site, here) = (site(), place());
    let named = |name: &str| format!("{}\t{}\n", site.url(name), here.path().join(name).display());
    let lines = ["a", "b"].map(named).concat();
    let list = here.path().join("list");
    fs::write(&list, &lines).expect("a list");
    // A name that no file system takes, and a directory in which nobody creates anything.
    let long = here.path().join("l".repeat(250));
    fs::write(&long, &lines).expect("a list");
    for more in [&[][..], &["-C", "-"]] {
        for (directory, list) in [(here.path(), &long), (Path::new("/proc"), &list)] {
            let arguments = ["--input-file", list.to_str().expect("UTF-8")];
            let ran = fetch_in(directory, arguments.iter().chain(more));
            ran.exits(0);
            assert!(directory == here.path() || ran.stderr.contains("journal"), "{ran:?}");
            for name in ["a", "b"] {
                assert_eq!(fs::read_to_string(here.path().join(name)).expect("a file"), name);
                fs::remove_file(here.path().join(name)).expect("a file");
            }
        }
    }
}

/// No room from the middle on: the files are there all the same, and what is not noted is fetched again.
#[test]
fn a_journal_that_is_full() {
    let (site, here) = (site(), place());
    let wanted: Vec<String> = (10..40).map(|number| format!("f{number}")).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let lines = urls(&site, &[&wanted[..], &["no"]].concat());
    fs::write(here.path().join("list"), lines.join("\n")).expect("a list");
    let mut command = Command::new("sh");
    support::alone(&mut command);
    let script = "ulimit -f 2; trap '' XFSZ; exec \"$F\" --retry 0 --input-file list";
    command.env("F", BINARY).current_dir(here.path()).args(["-c", script]);
    support::ran(command).exits(78);
    assert_eq!(names(here.path()).iter().filter(|name| name.starts_with('f')).count(), 30);
    let before = site.requests().len();
    batch(here.path(), &urls(&site, &wanted), &["-C", "-"]).exits(0);
    assert!(site.requests().len() - before <= 30);
    assert!(!here.path().join(".list.journal").exists());
}

/// A hundred thousand lines, all but the last finished: BENCH.md, 7, in a run that goes on. (A thousand files by a hundred
/// names of their directory, and the journal's lines like the first one, so that the test itself is quick.)
#[test]
fn very_many_lines_once_more() {
    let (site, here) = (serving(|_| HttpReply::new(200).body("x")), place());
    fs::create_dir(here.path().join("files")).expect("a directory");
    for number in 0..100 {
        std::os::unix::fs::symlink("files", here.path().join(format!("d{number:02}"))).expect("a link");
    }
    let url = |number: usize| site.url(&format!("/a/rather/long/path/of/no/use/{number:06}"));
    let path =
        |number: usize| format!("{}/d{:02}/f{:03}", here.path().display(), number / 1000, number % 1000);
    let line = |number: usize| format!("{}\t{}\n", url(number), path(number));
    let (list, missing) = (here.path().join("list"), "file:///no/such/file\tz\n");
    fs::write(&list, line(0) + missing).expect("a list");
    let directory = here.path().to_str().expect("UTF-8");
    let arguments = ["-C", "-", "--output-dir", directory, "--input-file", list.to_str().expect("UTF-8")];
    support::fetch(arguments).exits(78);
    let journal = here.path().join(".list.journal");
    let first = fs::read_to_string(&journal).expect("a journal");
    let model = first.lines().find(|line| line.contains(&url(0))).expect("its line");
    let more: String = (1..100_000)
        .map(|number| model.replace(&url(0), &url(number)).replace(&path(0), &path(number)) + "\n")
        .collect();
    fs::write(&journal, first.clone() + &more).expect("a journal");
    fs::write(&list, (0..100_000).map(line).collect::<String>() + missing).expect("a list");
    let script = "cd \"$1\" && i=1 && while [ $i -lt 1000 ]; do n=000$i; printf x >f${n#\"${n%???}\"}; i=$((i+1)); done && touch -r f000 *";
    support::shell(script, [here.path().join("files")]).exits(0);
    let (memory, ran) = measured(&arguments);
    ran.exits(78);
    assert_eq!(site.requests().len(), 1);
    assert!(memory > 0 && memory <= 64 * 1024, "{memory} KiB");
}
