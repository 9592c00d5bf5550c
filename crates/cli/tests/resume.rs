//! Going on where an earlier run ended (`-C -`, `-C OFFSET`) and parts of an object (`-r`): the file is
//! right whatever the server, the disk and the journal say (SECURITY.md, rows 103 to 108; N4, N5).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::Path;
use std::time::Duration;

use fetch_url_tests::{
    Before, FileFacts, HttpReply, HttpRequest, HttpServer, Ranges, Target, file_handler, http_date,
    pattern_vec,
};
use support::{Ran, fetch, first_then, journal_of, part_of, serving, tagged};

const SIZE: usize = 300_000;
const CUT: usize = 200_000;

/// The object, and the other object that takes its place: no octet of the two is the same.
fn first_version() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

fn second_version() -> Vec<u8> {
    pattern_vec(0, SIZE).iter().map(|octet| !octet).collect()
}

fn facts(etag: &str, ranges: Ranges) -> FileFacts {
    FileFacts { etag: Some(etag.to_owned()), last_modified: None, ranges }
}

fn tagged_reply() -> HttpReply {
    HttpReply::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes")
}

/// The first answer of most tests: a strong tag, and a body that ends too early.
fn cut(_: &HttpRequest) -> HttpReply {
    tagged_reply().body(first_version()).cut_body_at(CUT as u64)
}

fn continued(target: &Path, url: &str) -> Ran {
    let output = target.to_str().expect("a path in UTF-8");
    fetch(["--read-timeout", "1.5", "-C", "-", "-o", output, url])
}

/// The requests' Range fields, `-` where there is none.
fn ranges(server: &HttpServer) -> Vec<String> {
    let range = |request: &HttpRequest| request.header_text("range").unwrap_or("-").to_owned();
    server.requests().iter().map(range).collect()
}

#[track_caller]
fn is_whole(target: &Target, content: &[u8]) {
    assert!(target.content().expect("a file").as_deref() == Some(content), "not the right content");
    assert_eq!(target.leftovers().expect("a directory"), Vec::<std::path::PathBuf>::new());
}

/// A first run that is cut, whatever `between` does to the disk, and a second run that must end with
/// `content`; the ranges that were asked for.
#[track_caller]
fn two_runs(
    first: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static,
    between: impl FnOnce(&Path),
    then: impl Fn(&HttpRequest) -> HttpReply + Send + Sync + 'static,
    content: &[u8],
) -> Vec<String> {
    let target = Target::new(Before::Old).expect("a directory");
    let server = first_then(first, then);
    let url = server.url("/object");
    let ran = continued(&target.path(), &url);
    assert!([18, 28].contains(&ran.exit), "{ran:?}");
    assert!(target.is_untouched().expect("a file"));
    between(&target.path());
    continued(&target.path(), &url).exits(0);
    is_whole(&target, content);
    ranges(&server)
}

#[test]
fn only_what_is_missing_is_asked_for() {
    let faults: [fn(&HttpRequest) -> HttpReply; 3] =
        [cut, |r| cut(r).then_reset(), |r| cut(r).then_stall(Duration::from_secs(12))];
    for fault in faults {
        let kept = std::cell::Cell::new(0);
        let between = |target: &Path| {
            let octets = fs::read(part_of(target)).expect("a .part");
            assert!(!octets.is_empty() && first_version().starts_with(&octets));
            kept.set(octets.len());
        };
        let ranges = two_runs(fault, between, file_handler(first_version(), tagged()), &first_version());
        assert_eq!(ranges, ["-".to_owned(), format!("bytes={}-", kept.get())]);
    }
}

#[test]
fn the_condition_is_the_strong_tag_or_an_old_date() {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    for (name, value, condition) in [("ETag", "\"v1\"", "\"v1\""), ("Last-Modified", date, date)] {
        let target = Target::new(Before::Absent).expect("a directory");
        let facts = FileFacts {
            etag: (name == "ETag").then(|| value.to_owned()),
            last_modified: (name != "ETag").then(|| value.to_owned()),
            ranges: Ranges::Honest,
        };
        let now = http_date(std::time::SystemTime::now());
        let first = move |_: &HttpRequest| {
            HttpReply::new(200)
                .header("Date", &now)
                .header(name, value)
                .body(first_version())
                .cut_body_at(CUT as u64)
        };
        let server = first_then(first, file_handler(first_version(), facts));
        continued(&target.path(), &server.url("/o")).exits(18);
        continued(&target.path(), &server.url("/o")).exits(0);
        is_whole(&target, &first_version());
        let last = server.requests().pop().expect("a request");
        assert_eq!(last.header_text("if-range"), Some(condition), "{name}");
        assert_eq!(last.header_text("range"), Some(format!("bytes={CUT}-").as_str()));
    }
}

#[test]
fn without_a_strong_validator_it_starts_again() {
    let now = http_date(std::time::SystemTime::now());
    let rows: [&[(&'static str, String)]; 3] = [
        &[],
        &[("ETag", "W/\"v1\"".to_owned())],
        // Changed within the last minute: it may change again in the same second.
        &[("Date", now.clone()), ("Last-Modified", now)],
    ];
    for fields in rows {
        let fields = fields.to_vec();
        let first = move |_: &HttpRequest| {
            let reply = HttpReply::new(200).header("Accept-Ranges", "bytes");
            let reply = fields.iter().fold(reply, |reply, (name, value)| reply.header(name, value));
            reply.body(first_version()).cut_body_at(CUT as u64)
        };
        let ignored = file_handler(second_version(), facts("\"v2\"", Ranges::IfRangeIgnored));
        let ranges = two_runs(first, |_| {}, ignored, &second_version());
        assert_eq!(ranges, ["-", "-"]);
    }
}

#[test]
fn a_changed_object_starts_again() {
    for how in [Ranges::Honest, Ranges::IfRangeIgnored, Ranges::Ignored, Ranges::WrongOffset] {
        let changed = file_handler(second_version(), facts("\"v2\"", how));
        let ranges = two_runs(cut, |_| {}, changed, &second_version());
        assert_eq!(ranges[..2], ["-".to_owned(), format!("bytes={CUT}-")], "{how:?}");
    }
    let shorter = file_handler(second_version()[..1000].to_vec(), facts("\"v2\"", Ranges::IfRangeIgnored));
    two_runs(cut, |_| {}, shorter, &second_version()[..1000]);
}

#[test]
fn a_server_without_or_with_wrong_ranges_sends_it_all() {
    for how in [Ranges::Ignored, Ranges::WrongOffset] {
        two_runs(cut, |_| {}, file_handler(first_version(), facts("\"v1\"", how)), &first_version());
    }
}

/// 206 answers that do not prove to be the rest of the same object: each is followed by the whole of another.
#[test]
fn a_doubtful_rest_is_not_taken() {
    let total = SIZE.to_string();
    let rows: [&[(&'static str, String)]; 8] = [
        &[("Content-Range", format!("bytes {CUT}-{}/{total}", SIZE - 1))],
        &[("ETag", "\"v2\"".into()), ("Content-Range", format!("bytes {CUT}-{}/{total}", SIZE - 1))],
        &[("ETag", "W/\"v1\"".into()), ("Content-Range", format!("bytes {CUT}-{}/{total}", SIZE - 1))],
        &[("ETag", "\"v1\"".into()), ("Content-Range", format!("bytes {CUT}-{}/{}", SIZE - 1, SIZE + 7))],
        &[("ETag", "\"v1\"".into())],
        &[("ETag", "\"v1\"".into()), ("Content-Range", "bytes 7".into())],
        &[("ETag", "\"v1\"".into()), ("Content-Range", format!("lines {CUT}-{}/{total}", SIZE - 1))],
        &[("ETag", "\"v1\"".into()), ("Content-Type", "multipart/byteranges; boundary=x".into())],
    ];
    for fields in rows {
        let row = fields.to_vec();
        let fields = fields.to_vec();
        let then = move |request: &HttpRequest| match request.header_text("range") {
            Some(_) => fields
                .iter()
                .fold(HttpReply::new(206), |reply, (name, value)| reply.header(name, value))
                .body(&second_version()[CUT..]),
            None => HttpReply::new(200).header("ETag", "\"v2\"").body(second_version()),
        };
        println!("{row:?}");
        two_runs(cut, |_| {}, then, &second_version());
    }
}

/// A .part that is whole, but nothing proved it: the last chunk was missing.
fn unproven(_: &HttpRequest) -> HttpReply {
    let octets = first_version();
    let chunk = [format!("{:x}\r\n", octets.len()).as_bytes(), &octets, b"\r\n"].concat();
    tagged_reply().header("Transfer-Encoding", "chunked").header("Connection", "close").then_send(chunk)
}

#[test]
fn a_complete_part_is_not_fetched_twice() {
    let ranges = two_runs(unproven, |_| {}, file_handler(first_version(), tagged()), &first_version());
    assert_eq!(ranges, ["-".to_owned(), format!("bytes={SIZE}-")], "416 with length and tag is a success");
}

#[test]
fn a_416_that_proves_nothing_starts_again() {
    let mute = file_handler(first_version(), facts("\"v1\"", Ranges::NoContentRangeOn416));
    two_runs(unproven, |_| {}, mute, &first_version());
    let longer = [second_version(), vec![1; 50]].concat();
    let other = file_handler(longer.clone(), facts("\"v2\"", Ranges::Honest));
    two_runs(unproven, |_| {}, other, &longer);
    let shorter = second_version()[..1000].to_vec();
    let cut_down = file_handler(shorter.clone(), facts("\"v2\"", Ranges::IfRangeIgnored));
    two_runs(unproven, |_| {}, cut_down, &shorter);
}

/// SECURITY.md, row 106: a 416 is a success if length *and* validator match.
#[test]
fn a_416_of_another_object_of_the_same_length_starts_again() {
    let swapped = |request: &HttpRequest| match request.header_text("range") {
        Some(_) => {
            HttpReply::new(416).header("ETag", "\"v2\"").header("Content-Range", format!("bytes */{SIZE}"))
        }
        None => HttpReply::new(200).header("ETag", "\"v2\"").body(second_version()),
    };
    two_runs(unproven, |_| {}, swapped, &second_version());
}

fn change_octet(path: &Path, at: usize) {
    let mut octets = fs::read(path).expect("a .part");
    octets[at] ^= 1;
    fs::write(path, octets).expect("a .part");
}

#[test]
fn a_damaged_part_is_thrown_away() {
    let honest = || file_handler(first_version(), tagged());
    for at in [CUT - 1, CUT - 100, CUT - 65_536] {
        let ranges = two_runs(cut, |target| change_octet(&part_of(target), at), honest(), &first_version());
        assert_eq!(ranges, ["-", "-"], "octet {at}");
    }
    let shorten = |target: &Path| fs::write(part_of(target), &first_version()[..CUT - 1]).expect("a .part");
    assert_eq!(two_runs(cut, shorten, honest(), &first_version()), ["-", "-"]);
    let empty = |target: &Path| fs::write(part_of(target), "").expect("a .part");
    assert_eq!(two_runs(cut, empty, honest(), &first_version()), ["-", "-"]);
    let gone = |target: &Path| fs::remove_file(part_of(target)).expect("a .part");
    assert_eq!(two_runs(cut, gone, honest(), &first_version()), ["-", "-"]);
}

#[test]
fn an_unsynced_tail_is_cut() {
    let lengthen = |target: &Path| {
        let longer = [fs::read(part_of(target)).expect("a .part"), b"garbage".repeat(100)].concat();
        fs::write(part_of(target), longer).expect("a .part");
    };
    let ranges = two_runs(cut, lengthen, file_handler(first_version(), tagged()), &first_version());
    assert_eq!(ranges, ["-".to_owned(), format!("bytes={CUT}-")]);
}

#[test]
fn a_journal_that_is_not_ours_is_not_believed() {
    let with = |name: &'static str, value: serde_json::Value| {
        move |target: &Path| {
            let text = fs::read(journal_of(target)).expect("a journal");
            let mut journal: serde_json::Value = serde_json::from_slice(&text).expect("a journal in JSON");
            assert!(journal.get(name).is_some(), "no {name} in {journal}");
            journal[name] = value;
            fs::write(journal_of(target), journal.to_string()).expect("a journal");
        }
    };
    let honest = || file_handler(first_version(), tagged());
    for between in [
        with("url", "http://127.0.0.1:1/other".into()),
        with("url", serde_json::Value::Null),
        with("octets", serde_json::json!(-1)),
        with("octets", serde_json::json!(u64::MAX)),
        with("octets", serde_json::json!(1.5)),
        with("octets", serde_json::json!(CUT - 1)),
        with("octets", serde_json::json!(0)),
        with("validator", "nonsense".into()),
        with("validator", serde_json::Value::Null),
    ] {
        assert_eq!(two_runs(cut, between, honest(), &first_version()), ["-", "-"]);
    }
    // Another tag than the server has now: asked under a condition that fails.
    two_runs(cut, with("validator", "etag \"v9\"".into()), honest(), &first_version());
}

/// N5: whatever the journal holds, the same command ends in the same file.
#[test]
fn a_journal_with_a_validator_that_no_header_can_hold() {
    for evil in ["etag \"v1\"\r\nX-Evil: 1", "etag \"\0\"", "modified \n"] {
        let between = |target: &Path| {
            let text = fs::read(journal_of(target)).expect("a journal");
            let mut journal: serde_json::Value = serde_json::from_slice(&text).expect("a journal in JSON");
            journal["validator"] = evil.into();
            fs::write(journal_of(target), journal.to_string()).expect("a journal");
        };
        two_runs(cut, between, file_handler(first_version(), tagged()), &first_version());
    }
}

#[test]
fn a_journal_of_garbage_is_none() {
    for garbage in [&b""[..], b"{", b"\0\0\0\0", b"[]", b"null", b"{\"url\":7}", &[0xff; 100]] {
        let between = |target: &Path| fs::write(journal_of(target), garbage).expect("a journal");
        let ranges = two_runs(cut, between, file_handler(first_version(), tagged()), &first_version());
        assert_eq!(ranges, ["-", "-"]);
    }
    let between = |target: &Path| fs::remove_file(journal_of(target)).expect("a journal");
    assert_eq!(two_runs(cut, between, file_handler(first_version(), tagged()), &first_version()), ["-", "-"]);
    let deep = |target: &Path| fs::write(journal_of(target), "[".repeat(100_000)).expect("a journal");
    two_runs(cut, deep, file_handler(first_version(), tagged()), &first_version());
}

#[test]
fn many_cuts_converge_and_cost_no_more_than_the_object() {
    let target = Target::new(Before::Old).expect("a directory");
    let (content, step) = (first_version(), 70_000);
    let honest = file_handler(content.clone(), tagged());
    let server = serving(move |request| honest(request).cut_body_at(step));
    let runs = (0..10).map(|_| continued(&target.path(), &server.url("/o")).exit).collect::<Vec<_>>();
    assert_eq!(runs[..5], [18, 18, 18, 18, 0]);
    is_whole(&target, &content);
    assert_eq!(
        ranges(&server)[..5],
        ["-", "bytes=70000-", "bytes=140000-", "bytes=210000-", "bytes=280000-"]
    );
}

#[test]
fn without_c_it_starts_again_and_leaves_nothing() {
    let target = Target::new(Before::Absent).expect("a directory");
    let server = first_then(cut, file_handler(first_version(), tagged()));
    continued(&target.path(), &server.url("/o")).exits(18);
    fetch(["-o".as_ref(), target.path().as_os_str(), server.url("/o").as_ref()]).exits(0);
    is_whole(&target, &first_version());
    assert_eq!(ranges(&server), ["-", "-"]);
}

#[test]
fn the_long_spelling_is_the_same() {
    let target = Target::new(Before::Absent).expect("a directory");
    let server = first_then(cut, file_handler(first_version(), tagged()));
    let output = target.path();
    continued(&output, &server.url("/o")).exits(18);
    fetch(["--continue".as_ref(), "-o".as_ref(), output.as_os_str(), server.url("/o").as_ref()]).exits(0);
    is_whole(&target, &first_version());
    assert_eq!(ranges(&server)[1], format!("bytes={CUT}-"));
}

#[test]
fn continue_at_an_offset() {
    let server = serving(file_handler(first_version(), tagged()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), first_version()).expect("a file");
    let local = format!("file://{}", file.path().display());
    for url in [server.url("/o"), local] {
        let ran = fetch(["-C", "299000", &url]);
        ran.exits(0);
        assert!(ran.stdout == first_version()[299_000..], "{url}: {} octets", ran.stdout.len());
        let target = Target::new(Before::Absent).expect("a directory");
        fs::write(target.path(), &first_version()[..1000]).expect("a file");
        fetch(["-C", "1000", "-o", target.path().to_str().expect("UTF-8"), &url]).exits(0);
        is_whole(&target, &first_version());
    }
    assert_eq!(ranges(&server), ["bytes=299000-", "bytes=1000-"]);
}

#[test]
fn an_offset_that_cannot_be_is_refused_and_nothing_is_lost() {
    let content = first_version();
    let server = serving(file_handler(content.clone(), tagged()));
    let target = Target::new(Before::Old).expect("a directory");
    let path = target.path();
    let output = path.to_str().expect("UTF-8");
    // The file is shorter than the offset; then the offset is beyond the object.
    let ran = fetch(["-C", "5000", "-o", output, &server.url("/o")]);
    assert!([2, 23, 33].contains(&ran.exit), "{ran:?}");
    assert!(target.is_untouched().expect("a file") && target.leftovers().expect("a directory").is_empty());
    let ran = fetch(["-C", "400000", &server.url("/o")]);
    assert!(ran.exit == 33 && ran.stdout.is_empty(), "{ran:?}");
    // A server without ranges: the whole file or a refusal, never the whole behind the part.
    let plain = serving(file_handler(content.clone(), facts("\"v1\"", Ranges::Ignored)));
    let ran = fetch(["-C", "10", "-o", output, &plain.url("/o")]);
    let now = target.content().expect("a file").expect("a file");
    assert!(ran.exit == 33 && now == Before::OLD_CONTENT || ran.exit == 0 && now == content, "{}", ran.exit);
}

#[test]
fn ranges_in_three_forms() {
    let content = first_version();
    let server = serving(file_handler(content.clone(), tagged()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), &content).expect("a file");
    let local = format!("file://{}", file.path().display());
    for (range, expected) in [
        ("0-99", 0..100),
        ("100-100", 100..101),
        ("299000-", 299_000..SIZE),
        ("299999-", 299_999..SIZE),
        ("-100", SIZE - 100..SIZE),
        ("-400000", 0..SIZE),
        ("299990-999999", 299_990..SIZE),
    ] {
        for url in [&server.url("/o"), &local] {
            let ran = fetch(["-r", range, url]);
            assert!(
                ran.exit == 0 && ran.stdout == content[expected.clone()],
                "{range} of {url}: {}",
                ran.stderr
            );
            let target = Target::new(Before::Old).expect("a directory");
            fetch(["-r", range, "-o", target.path().to_str().expect("UTF-8"), url]).exits(0);
            is_whole(&target, &content[expected.clone()]);
        }
    }
    assert_eq!(ranges(&server)[0], "bytes=0-99");
    assert_eq!(ranges(&server)[8], "bytes=-100");
}

#[test]
fn ranges_that_cannot_be() {
    let server = serving(file_handler(first_version(), tagged()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), first_version()).expect("a file");
    let local = format!("file://{}", file.path().display());
    for range in ["300000-", "400000-400001", "-0"] {
        for url in [&server.url("/o"), &local] {
            let target = Target::new(Before::Old).expect("a directory");
            let ran = fetch(["-r", range, "-o", target.path().to_str().expect("UTF-8"), url]);
            assert_eq!(ran.exit, 33, "{range} of {url}: {}", ran.stderr);
            assert!(target.is_untouched().expect("a file"), "{range} of {url}");
            assert!(target.leftovers().expect("a directory").is_empty(), "{range} of {url}");
        }
    }
    for range in ["9-0", "x", "1", "-", "1-2-3", "0-1,4-5", ""] {
        fetch(["-r", range, &server.url("/o")]).exits(2);
    }
}

/// RFC 9110, section 14.1.2: positions are digits.
#[test]
fn numbers_have_no_sign() {
    let server = serving(file_handler(first_version(), tagged()));
    for option in [["-r", "+1-2"], ["-r", "1-+2"], ["-r", "-+2"], ["-C", "+5"], ["--max-filesize", "+500k"]] {
        fetch([option[0], option[1], &server.url("/o")]).exits(2);
    }
}

#[test]
fn a_range_that_is_not_the_one_asked_for_is_never_delivered_as_it() {
    for how in [Ranges::Ignored, Ranges::WrongOffset] {
        let server = serving(file_handler(first_version(), facts("\"v1\"", how)));
        for (range, right) in [("5-9", 5..10), ("0-9", 0..10), ("299990-", 299_990..SIZE)] {
            let ran = fetch(["-r", range, &server.url("/o")]);
            let is_right = ran.exit == 0 && ran.stdout == first_version()[right];
            let is_refused = [33, 8].contains(&ran.exit) && ran.stdout.is_empty();
            assert!(is_right || is_refused, "{how:?} {range}: {} and {} octets", ran.exit, ran.stdout.len());
        }
    }
}

#[test]
fn files_of_this_machine_continue_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("source");
    let url = format!("file://{}", source.display());
    let target = Target::new(Before::Old).expect("a directory");
    for content in [first_version(), second_version(), vec![]] {
        fs::write(&source, &content).expect("a file");
        continued(&target.path(), &url).exits(0);
        is_whole(&target, &content);
    }
}
