//! Runs that do not come to their end: signals, sudden death, a second process on the same target, a reader
//! that goes away.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use fetch_url_tests::{Before, HttpReply, HttpRequest, HttpServer, Target, file_handler, pattern_vec};
use support::{
    ended, ensure, fetch, first_then, in_parallel, journal_of, part_of, send_signal, shell, started, tagged,
    until,
};

const SIZE: usize = 400_000;

fn content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

/// Five seconds for the whole: there is time to act.
fn slowly(_: &HttpRequest) -> HttpReply {
    let reply = HttpReply::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
    reply.body(content()).drip(4000, Duration::from_millis(50))
}

fn run(target: &Target, url: &str) -> Child {
    started(["-C".as_ref(), "-".as_ref(), "-o".as_ref(), target.path().as_os_str(), url.as_ref()])
}

/// Waits until octets are in the `.part`.
#[track_caller]
fn is_under_way(target: &Target) {
    let part = part_of(&target.path());
    let has_octets = || fs::metadata(&part).is_ok_and(|facts| facts.len() > 8000);
    assert!(until(Duration::from_secs(10), has_octets), "nothing comes");
}

#[track_caller]
fn finishes(target: &Target, server: &HttpServer) {
    let path = target.path();
    fetch(["-C", "-", "-o", path.to_str().expect("UTF-8"), &server.url("/o")]).exits(0);
    assert!(target.content().expect("a file").as_deref() == Some(&content()[..]), "not the right content");
    assert!(target.leftovers().expect("a directory").is_empty());
}

#[test]
fn it_dies_of_the_signal_and_keeps_what_came() {
    for (name, number) in [("TERM", 15), ("INT", 2)] {
        for before in Before::ALL {
            let target = Target::new(before).expect("a directory");
            let server = first_then(slowly, file_handler(content(), tagged()));
            let child = run(&target, &server.url("/o"));
            is_under_way(&target);
            send_signal(&child, name);
            let sent = Instant::now();
            let ran = ended(child);
            assert_eq!(ran.signal, Some(number), "{ran:?}");
            assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
            assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
            assert!(target.is_untouched().expect("a file"), "{name} {before:?}");
            let kept = fs::read(part_of(&target.path())).expect("a .part");
            assert!(!kept.is_empty() && content().starts_with(&kept), "{} octets", kept.len());
            assert!(journal_of(&target.path()).exists());
            assert_eq!(target.leftovers().expect("a directory").len(), 2);
            finishes(&target, &server);
            let requests = server.requests();
            let range = requests.last().and_then(|request| request.header_text("range"));
            assert_eq!(range, Some(format!("bytes={}-", kept.len()).as_str()));
        }
    }
}

/// A batch ends at the signal: the second URL is not begun.
#[test]
fn a_signal_ends_the_whole_batch() {
    let target = Target::new(Before::Absent).expect("a directory");
    let server = first_then(slowly, file_handler(content(), tagged()));
    let path = target.path();
    let url = server.url("/o");
    let child = started(["-o".as_ref(), path.as_os_str(), url.as_ref(), url.as_ref()]);
    is_under_way(&target);
    send_signal(&child, "TERM");
    assert_eq!(ended(child).signal, Some(15));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_signal_before_the_answer_leaves_nothing() {
    let target = Target::new(Before::Old).expect("a directory");
    let server = first_then(
        |_| HttpReply::raw("").then_stall(Duration::from_secs(20)),
        file_handler(content(), tagged()),
    );
    let child = run(&target, &server.url("/o"));
    assert!(until(Duration::from_secs(10), || server.requests().len() == 1));
    send_signal(&child, "TERM");
    assert_eq!(ended(child).signal, Some(15));
    assert!(target.is_untouched().expect("a file"));
    assert_eq!(target.leftovers().expect("a directory"), Vec::<std::path::PathBuf>::new());
    finishes(&target, &server);
}

fn one_sudden_death(number: u64, before: Before) -> Result<(), String> {
    let target = Target::new(before).expect("a directory");
    let honest = file_handler(content(), tagged());
    let server = support::serving(move |request| honest(request).drip(20_000, Duration::from_millis(10)));
    let path = target.path();
    // Up to three deaths in a row, at moments spread over start, transfer and rename.
    for round in 0..1 + number % 3 {
        let mut child = run(&target, &server.url("/o"));
        std::thread::sleep(Duration::from_millis((number * 37 + round * 91) % 280));
        let is_over = child.try_wait().expect("a child").is_some();
        child.kill().expect("a child");
        let ran = ended(child);
        ensure(is_over || ran.signal == Some(9) || ran.exit == 0, || format!("{number}: {ran:?}"))?;
        let now = target.content().expect("readable");
        let is_sound = now.as_deref() == before.content() || now.as_deref() == Some(&content()[..]);
        ensure(is_sound, || format!("{number}: the name holds {:?} octets", now.map(|now| now.len())))?;
        let others = target.leftovers().expect("a directory");
        let ours = |path: &std::path::PathBuf| path.to_string_lossy().contains("target.bin.part");
        ensure(others.iter().all(ours), || format!("{number}: {others:?}"))?;
    }
    let ran = fetch(["-C", "-", "-o", path.to_str().expect("UTF-8"), &server.url("/o")]);
    ensure(ran.exit == 0, || format!("{number}: {ran:?}"))?;
    ensure(target.content().expect("readable").as_deref() == Some(&content()[..]), || {
        format!("{number}: not the right content")
    })?;
    let left = target.leftovers().expect("a directory");
    ensure(left.is_empty(), || format!("{number}: leaves {left:?}"))
}

#[test]
fn a_sudden_death_at_any_moment_is_mended() {
    let rows: Vec<(u64, Before)> = (0..20).map(|number| (number, Before::ALL[number as usize % 2])).collect();
    in_parallel(&rows, 5, |(number, before)| one_sudden_death(*number, *before));
}

/// After more than the journal's interval of five seconds a SIGKILL loses no more than that.
#[test]
fn a_long_run_that_dies_suddenly_keeps_what_the_journal_names() {
    let target = Target::new(Before::Old).expect("a directory");
    let server = first_then(
        |request| slowly(request).drip(1500, Duration::from_millis(50)),
        file_handler(content(), tagged()),
    );
    let mut child = run(&target, &server.url("/o"));
    let journal = journal_of(&target.path());
    assert!(until(Duration::from_secs(9), || journal.exists()), "no journal within 9 seconds");
    child.kill().expect("a child");
    ended(child);
    assert!(target.is_untouched().expect("a file"));
    finishes(&target, &server);
    let requests = server.requests();
    let range = requests.last().and_then(|request| request.header_text("range").map(str::to_owned));
    assert!(range.as_deref().is_some_and(|range| range != "bytes=0-"), "started again: {range:?}");
}

#[test]
fn a_second_process_on_the_same_target_goes_at_once() {
    for before in Before::ALL {
        let target = Target::new(before).expect("a directory");
        let server = support::serving(|request| slowly(request).drip(8000, Duration::from_millis(25)));
        let first = run(&target, &server.url("/o"));
        is_under_way(&target);
        let path = target.path();
        for continued in [&["-C", "-"][..], &[]] {
            let began = Instant::now();
            let output = ["-o", path.to_str().expect("UTF-8")];
            let ran = fetch([continued, &output, &[server.url("/o").as_str()]].concat());
            ran.exits(2);
            assert!(began.elapsed() < Duration::from_secs(1));
        }
        assert_eq!(server.connections(), 1, "the second asked the server");
        ended(first).exits(0);
        assert!(target.content().expect("a file").as_deref() == Some(&content()[..]));
        assert!(target.leftovers().expect("a directory").is_empty());
    }
}

#[test]
fn a_reader_that_goes_away_is_no_news() {
    let server = support::serving(file_handler(pattern_vec(0, 4_000_000), tagged()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), pattern_vec(0, 4_000_000)).expect("a file");
    let directory = tempfile::tempdir().expect("a directory");
    for number in 0..3000 {
        fs::write(directory.path().join(format!("a-rather-long-name-of-a-file-{number:060}")), "")
            .expect("a file");
    }
    let file = format!("file://{}", file.path().display());
    let listing = format!("file://{}/", directory.path().display());
    for url in [server.url("/o"), file, listing] {
        let ran = shell("{ \"$F\" \"$1\"; echo \"exit $?\" >&2; } | head -c 10 >/dev/null", [&url]);
        assert_eq!(ran.stderr, "exit 23\n", "{url}");
        let ran = shell("{ \"$F\" \"$1\" \"$1\"; echo \"exit $?\" >&2; } | head -c 10 >/dev/null", [&url]);
        assert_eq!(ran.stderr, "exit 23\n", "{url} twice");
    }
    let script = "{ sleep 0.1; \"$F\" explain http://h/; echo \"exit $?\" >&2; } | true";
    assert_eq!(shell(script, [""]).stderr, "exit 23\n");
}
