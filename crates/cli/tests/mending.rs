//! A body that broke off is mended in the same run: from the offset reached where the object is proven to be
//! the same, from its beginning where that does no harm, and otherwise not at all (SECURITY.md, rows 103 to
//! 108; SEMANTICS.md, section 3). Whatever comes out is a prefix of one version or the whole of one.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fetch_url_tests::{
    Before, Coding, FileFacts, HttpReply, HttpRequest, HttpServer, Ranges, Target, coded, file_handler,
    http_date, pattern_vec,
};
use support::{
    Ran, ended, fetch, first_then, journal_of, part_of, send_signal, serving, started, tagged, until,
};

const SIZE: usize = 300_000;
const CUT: usize = 200_000;

/// The object, and the other one that takes its place: no octet of the two is the same.
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

/// A strong tag, and a body that ends too early.
fn cut(_: &HttpRequest) -> HttpReply {
    tagged_reply().body(first_version()).cut_body_at(CUT as u64)
}

/// With short waits, to standard output, which is a pipe.
fn piped(words: &str, url: &str) -> Ran {
    fetch(["--retry-delay", "0.05"].into_iter().chain(words.split_whitespace()).chain([url]))
}

/// The same into a file.
fn filed(target: &Target, words: &str, url: &str) -> Ran {
    let path = target.path();
    let output = ["-o", path.to_str().expect("a path in UTF-8")];
    fetch(["--retry-delay", "0.05"].into_iter().chain(words.split_whitespace()).chain(output).chain([url]))
}

fn new_target() -> Target {
    Target::new(Before::Old).expect("a directory")
}

/// The requests' Range fields, `-` where there is none.
fn ranges(server: &HttpServer) -> Vec<String> {
    let range = |request: &HttpRequest| request.header_text("range").unwrap_or("-").to_owned();
    server.requests().iter().map(range).collect()
}

#[track_caller]
fn holds(target: &Target, content: &[u8], what: &str) {
    let now = target.content().expect("readable").unwrap_or_default();
    let same = now.iter().zip(content).take_while(|(left, right)| left == right).count();
    assert!(now == content, "{what}: {} octets for {}, the same up to {same}", now.len(), content.len());
    let left = target.leftovers().expect("a directory");
    assert!(left.is_empty(), "{what}: leaves {left:?}");
}

/// A pipe got a prefix of the one version and an exit status that says so, or that whole version.
#[track_caller]
fn is_no_splice(ran: &Ran, content: &[u8], what: &str) {
    let came = ran.stdout.len();
    assert!(content.starts_with(&ran.stdout), "{what}: a splice of {came} octets, exit {}", ran.exit);
    let is_told = if came == content.len() { ran.exit == 0 } else { ran.exit == 18 };
    assert!(is_told, "{what}: {came} of {} octets, exit {}: {}", content.len(), ran.exit, ran.stderr);
}

/// `SIZE` octets from a server that breaks off after `step` octets so many times, and how many octets of
/// bodies it sent in all.
fn breaking(step: usize, times: usize, how: fn(HttpReply) -> HttpReply) -> (HttpServer, Arc<AtomicU64>) {
    let (honest, asked) = (file_handler(first_version(), tagged()), AtomicUsize::new(0));
    let sent = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&sent);
    let server = serving(move |request| {
        let range = request.header_text("range").and_then(|range| range.strip_prefix("bytes="));
        let offset = range.and_then(|range| range.split('-').next()?.parse().ok()).unwrap_or(0);
        let breaks = asked.fetch_add(1, Ordering::SeqCst) < times;
        let most = if breaks { step } else { SIZE };
        count.fetch_add(most.min(SIZE - offset) as u64, Ordering::SeqCst);
        let reply = honest(request);
        if breaks { how(reply.cut_body_at(step as u64)) } else { reply }
    });
    (server, sent)
}

/// The ways in which a body breaks off. A reset comes after a while, so that what was sent before it is not
/// lost in the sender's buffers.
const BREAKS: [fn(HttpReply) -> HttpReply; 3] = [
    |reply| reply,
    |reply| reply.then_stall(Duration::from_millis(100)).then_reset(),
    |reply| reply.then_stall(Duration::from_secs(6)),
];

/// Row 108: three breaks, and no octet is sent twice.
#[test]
fn from_where_it_broke() {
    for how in BREAKS {
        let target = new_target();
        let (server, sent) = breaking(80_000, 3, how);
        let ran = filed(&target, "--read-timeout 0.5 -w %{num_retries}", &server.url("/o"));
        assert_eq!(ran.exits(0).text(), "3");
        holds(&target, &first_version(), "three breaks");
        assert_eq!(ranges(&server), ["-", "bytes=80000-", "bytes=160000-", "bytes=240000-"]);
        let conditions =
            server.requests().iter().skip(1).all(|r| r.header_text("if-range") == Some("\"v1\""));
        assert!(conditions, "a range without its condition");
        let sent = sent.load(Ordering::SeqCst);
        assert!(sent * 10 <= SIZE as u64 * 11, "{sent} octets sent for {SIZE}");
        // An exact resume may also go on where a pipe stands.
        let (server, _) = breaking(80_000, 3, how);
        let ran = piped("--read-timeout 0.5", &server.url("/o"));
        assert!(ran.exits(0).stdout == first_version(), "{} octets", ran.stdout.len());
        assert_eq!(server.requests().len(), 4);
    }
}

/// `--retry` counts for bodies too, and what is kept is for the next run.
#[test]
fn no_more_often_than_asked() {
    for (words, requests) in [("--retry 0", 1), ("--retry 2", 3)] {
        let target = new_target();
        // One break more than the first run may mend: the second run meets it.
        let (server, _) = breaking(50_000, requests + 1, |reply| reply);
        filed(&target, words, &server.url("/o")).exits(18);
        assert!(target.is_untouched().expect("a file"));
        let kept = fs::read(part_of(&target.path())).expect("a .part");
        assert!(kept == first_version()[..50_000 * requests], "{words}: {} octets", kept.len());
        assert_eq!(server.requests().len(), requests, "{words}");
        filed(&target, "-C -", &server.url("/o")).exits(0);
        holds(&target, &first_version(), words);
        assert_eq!(ranges(&server)[requests..].len(), 2);
        assert!(ranges(&server)[1..].iter().all(|range| range != "-"), "{:?}", ranges(&server));
    }
}

/// The condition is the date where there is no tag, if it is old enough (row 103).
#[test]
fn by_the_date() {
    let old = FileFacts {
        etag: None,
        last_modified: Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned()),
        ranges: Ranges::Honest,
    };
    let honest = file_handler(first_version(), old.clone());
    let server = first_then(move |r| honest(r).cut_body_at(CUT as u64), file_handler(first_version(), old));
    let ran = piped("", &server.url("/o"));
    assert!(ran.exits(0).stdout == first_version());
    assert_eq!(server.requests()[1].header_text("if-range"), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
}

type Handler = Box<dyn Fn(&HttpRequest) -> HttpReply + Send + Sync>;

/// What answers the request for the rest, when the rest is of something else or cannot be trusted. Asked for
/// the whole, every one of them sends the second version.
fn doubtful() -> Vec<(&'static str, Handler)> {
    let rest = |tag: &'static str, range: String| -> Handler {
        Box::new(move |request| match request.header_text("range") {
            Some(_) => {
                let reply = HttpReply::new(206).header("Content-Range", &range);
                let reply = if tag.is_empty() { reply } else { reply.header("ETag", tag) };
                reply.body(&second_version()[CUT..])
            }
            None => HttpReply::new(200).header("ETag", "\"v2\"").body(second_version()),
        })
    };
    let (last, right) = (SIZE - 1, format!("bytes {CUT}-{}/{SIZE}", SIZE - 1));
    let at = |first: usize| format!("bytes {first}-{}/{SIZE}", first + SIZE - CUT - 1);
    vec![
        ("200 under another tag", Box::new(file_handler(second_version(), facts("\"v2\"", Ranges::Honest)))),
        ("no If-Range", Box::new(file_handler(second_version(), facts("\"v2\"", Ranges::IfRangeIgnored)))),
        ("206 under another tag", rest("\"v2\"", right.clone())),
        ("206 under the weak tag", rest("W/\"v1\"", right.clone())),
        ("206 without a tag", rest("", right)),
        ("206 from an earlier octet", rest("\"v1\"", at(CUT - 1000))),
        ("206 from a later octet", rest("\"v1\"", format!("bytes {}-{last}/{SIZE}", CUT + 1))),
        ("206 from the start", rest("\"v1\"", at(0))),
        ("206 of another total", rest("\"v1\"", format!("bytes {CUT}-{last}/{}", SIZE + 7))),
        ("206 without its range", rest("\"v1\"", String::new())),
        ("206 of other units", rest("\"v1\"", format!("lines {CUT}-{last}/{SIZE}"))),
        (
            "200 of unknown length",
            Box::new(|_| HttpReply::new(200).header("ETag", "\"v2\"").chunked(vec![second_version()])),
        ),
    ]
}

#[test]
fn a_file_begins_anew_when_the_object_changed() {
    for (what, then) in doubtful() {
        let target = new_target();
        let server = first_then(cut, then);
        let ran = filed(&target, "", &server.url("/o"));
        assert_eq!(ran.exit, 0, "{what}: {}", ran.stderr);
        holds(&target, &second_version(), what);
        assert_eq!(ranges(&server)[1], format!("bytes={CUT}-"), "{what}");
    }
}

#[test]
fn a_pipe_never_holds_a_splice() {
    for (what, then) in doubtful() {
        let server = first_then(cut, then);
        let ran = piped("", &server.url("/o"));
        assert_eq!(ran.exit, 18, "{what}: {}", ran.stderr);
        assert!(ran.stdout == first_version()[..CUT], "{what}: {} octets", ran.stdout.len());
        let server = first_then(cut, |_| HttpReply::new(404).body("gone"));
        let ran = piped("--fail-with-body", &server.url("/o"));
        assert!(ran.exit != 0 && ran.stdout == first_version()[..CUT], "gone: {}", ran.stderr);
    }
}

/// The same with all errors retried: also then nothing is written twice (row 107).
#[test]
fn a_pipe_never_holds_a_splice_whatever_is_retried() {
    for (what, then) in doubtful() {
        let server = first_then(cut, then);
        let ran = piped("--retry-all-errors", &server.url("/o"));
        is_no_splice(&ran, &first_version(), what);
    }
}

/// An answer that cannot be proven to be of the same object is not asked for again, unless the caller says
/// so, and then only where it can begin anew.
#[test]
fn without_a_strong_validator() {
    let now = http_date(std::time::SystemTime::now());
    let rows: [&[(&'static str, String)]; 3] = [
        &[],
        &[("ETag", "W/\"v1\"".to_owned())],
        // Changed within the last minute: it may change again in the same second.
        &[("Date", now.clone()), ("Last-Modified", now)],
    ];
    for fields in rows {
        let server = |how: Ranges| {
            let fields = fields.to_vec();
            let first = move |_: &HttpRequest| {
                let reply = HttpReply::new(200).header("Accept-Ranges", "bytes");
                let reply = fields.iter().fold(reply, |reply, (name, value)| reply.header(name, value));
                reply.body(first_version()).cut_body_at(CUT as u64)
            };
            first_then(first, file_handler(second_version(), facts("\"v2\"", how)))
        };
        let (target, first) = (new_target(), server(Ranges::Honest));
        filed(&target, "", &first.url("/o")).exits(18);
        assert_eq!((first.requests().len(), target.is_untouched().expect("a file")), (1, true), "{fields:?}");
        for how in [Ranges::Honest, Ranges::IfRangeIgnored] {
            let (target, all) = (new_target(), server(how));
            filed(&target, "--retry-all-errors", &all.url("/o")).exits(0);
            holds(&target, &second_version(), "all errors");
            assert_eq!(ranges(&all), ["-", "-"], "{fields:?}");
        }
        for words in ["", "--retry-all-errors"] {
            let pipe = server(Ranges::IfRangeIgnored);
            let ran = piped(words, &pipe.url("/o"));
            assert!(ran.exits(18).stdout == first_version()[..CUT], "{words} {fields:?}");
            assert_eq!(pipe.requests().len(), 1, "{words} {fields:?}: nothing could be done with the answer");
        }
    }
}

/// Row 104: a 200 to the request for the rest is the whole, and is not put behind the part.
#[test]
fn a_server_without_ranges() {
    for accept in ["bytes", "none"] {
        let whole = move |_: &HttpRequest| {
            HttpReply::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", accept).body(first_version())
        };
        let server = first_then(move |r| whole(r).cut_body_at(CUT as u64), whole);
        let target = new_target();
        let ran = filed(&target, "--retry-all-errors", &server.url("/o"));
        ran.exits(0);
        holds(&target, &first_version(), accept);
        let server = first_then(move |r| whole(r).cut_body_at(CUT as u64), whole);
        is_no_splice(&piped("", &server.url("/o")), &first_version(), accept);
    }
}

/// All octets came, but nothing proved it: a 416 with length and tag is the proof (row 106).
#[test]
fn a_416_on_the_retry() {
    let unproven = |_: &HttpRequest| {
        let octets = first_version();
        let chunk = [format!("{:x}\r\n", octets.len()).as_bytes(), &octets, b"\r\n"].concat();
        tagged_reply().header("Transfer-Encoding", "chunked").header("Connection", "close").then_send(chunk)
    };
    let target = new_target();
    let server = first_then(unproven, file_handler(first_version(), tagged()));
    filed(&target, "", &server.url("/o")).exits(0);
    holds(&target, &first_version(), "the same");
    let target = new_target();
    let changed = file_handler(second_version()[..1000].to_vec(), facts("\"v2\"", Ranges::IfRangeIgnored));
    let server = first_then(unproven, changed);
    filed(&target, "", &server.url("/o")).exits(0);
    holds(&target, &second_version()[..1000], "a shorter one");
    let changed = file_handler(second_version()[..1000].to_vec(), facts("\"v2\"", Ranges::IfRangeIgnored));
    let server = first_then(unproven, changed);
    let ran = piped("", &server.url("/o"));
    assert!(ran.exit == 18 && first_version().starts_with(&ran.stdout), "{}: {}", ran.exit, ran.stderr);
}

/// A part of an object is that part, whole or not at all, also when the object changes under it.
#[test]
fn a_range_is_never_mended_wrongly() {
    let content = first_version();
    for (range, part) in [
        ("1000-250000", 1000..250_001),
        ("1000-", 1000..SIZE),
        ("-250000", SIZE - 250_000..SIZE),
        ("0-", 0..SIZE),
    ] {
        let honest = || file_handler(first_version(), tagged());
        let first = move |request: &HttpRequest| honest()(request).cut_body_at(100_000);
        let words = format!("-r {range}");
        let server = first_then(first, honest());
        is_no_splice(&piped(&words, &server.url("/o")), &content[part.clone()], &words);
        for how in [Ranges::Honest, Ranges::IfRangeIgnored, Ranges::Ignored, Ranges::WrongOffset] {
            for more in ["", "--retry-all-errors"] {
                let what = format!("{words} {more} and then {how:?}");
                let changed = || file_handler(second_version(), facts("\"v2\"", how));
                let server = first_then(first, changed());
                is_no_splice(
                    &piped(&format!("{words} {more}"), &server.url("/o")),
                    &content[part.clone()],
                    &what,
                );
                let target = new_target();
                let server = first_then(first, changed());
                let ran = filed(&target, &format!("{words} {more}"), &server.url("/o"));
                match ran.exit {
                    0 => holds(&target, &second_version()[part.clone()], &what),
                    _ => assert!(target.is_untouched().expect("a file"), "{what}: {ran:?}"),
                }
            }
        }
    }
}

/// `-C OFFSET`: the octets before it are the caller's, and are not the server's to replace.
#[test]
fn an_offset_of_the_caller() {
    let first = |request: &HttpRequest| file_handler(first_version(), tagged())(request).cut_body_at(100_000);
    for (then, is_same) in [(tagged(), true), (facts("\"v2\"", Ranges::Honest), false)] {
        let content = if is_same { first_version() } else { second_version() };
        let server = first_then(first, file_handler(content.clone(), then.clone()));
        let ran = piped("-C 1000", &server.url("/o"));
        is_no_splice(&ran, &first_version()[1000..], "-C 1000");
        assert_eq!(ran.exit == 0, is_same, "{}", ran.stderr);
        let target = Target::new(Before::Absent).expect("a directory");
        fs::write(target.path(), &first_version()[..1000]).expect("a file");
        let server = first_then(first, file_handler(content.clone(), then));
        let ran = filed(&target, "-C 1000", &server.url("/o"));
        let now = target.content().expect("readable").expect("a file");
        let is_kept = now == first_version()[..1000] && ran.exit != 0;
        assert!(is_kept || ran.exit == 0 && now == content, "exit {}: {} octets", ran.exit, now.len());
    }
}

/// `-i` shows the head of the answer that the body is of, once.
#[test]
fn with_the_head_in_front() {
    let server = first_then(cut, file_handler(first_version(), tagged()));
    let ran = piped("-i", &server.url("/o"));
    let end = ran.stdout.windows(2).position(|two| two == b"\n\n").expect("the end of a head") + 2;
    let (head, body) = (String::from_utf8_lossy(&ran.stdout[..end]).to_lowercase(), &ran.stdout[end..]);
    assert!(first_version().starts_with(body), "a splice");
    assert!(ran.exit == if body.len() == SIZE { 0 } else { 18 }, "{}: {} octets", ran.exit, body.len());
    assert_eq!((head.matches("http/1.1").count(), head.contains("\"v1\"")), (1, true), "{head}");
    let target = new_target();
    let server = first_then(cut, file_handler(second_version(), facts("\"v2\"", Ranges::Honest)));
    let ran = filed(&target, "-i", &server.url("/o"));
    if ran.exit == 0 {
        let now = target.content().expect("readable").expect("a file");
        let head = String::from_utf8_lossy(&now[..now.len() - SIZE]).to_lowercase();
        assert!(now.ends_with(&second_version()), "not the second version");
        assert!(head.contains("\"v2\"") && head.matches("http/1.1").count() == 1, "head of another: {head}");
    }
    assert!(ran.exit == 0 || ran.exit == 18 && target.is_untouched().expect("a file"), "{ran:?}");
}

/// What was undone of a coding is not what a range counts.
#[test]
fn a_coded_body() {
    let gzip = |content: &[u8]| coded(Coding::Gzip, content).expect("gzip");
    let coded_as = move |tag: &'static str, content: &[u8]| {
        let honest = file_handler(gzip(content), facts(tag, Ranges::Honest));
        move |request: &HttpRequest| honest(request).header("Content-Encoding", "gzip")
    };
    let half = gzip(&first_version()).len() as u64 / 2;
    for (tag, content) in [("\"v1\"", first_version()), ("\"v2\"", second_version())] {
        let whole = coded_as("\"v1\"", &first_version());
        let server = first_then(move |r| whole(r).cut_body_at(half), coded_as(tag, &content));
        is_no_splice(&piped("--compressed", &server.url("/o")), &first_version(), tag);
        let whole = coded_as("\"v1\"", &first_version());
        let server = first_then(move |r| whole(r).cut_body_at(half), coded_as(tag, &content));
        let target = new_target();
        let ran = filed(&target, "--compressed", &server.url("/o"));
        match ran.exit {
            0 => holds(&target, &content, tag),
            _ => assert!(ran.exit == 18 && target.is_untouched().expect("a file"), "{ran:?}"),
        }
    }
}

/// A tag is one resource's: another place that a redirect leads to the second time is another resource.
#[test]
fn a_redirect_that_leads_elsewhere_the_second_time() {
    let serve = || {
        let asked = AtomicUsize::new(0);
        let other = file_handler(second_version(), tagged());
        serving(move |request| match request.path().as_str() {
            "/one" => cut(request),
            "/two" => other(request),
            _ if asked.fetch_add(1, Ordering::SeqCst) == 0 => HttpReply::new(302).header("Location", "/one"),
            _ => HttpReply::new(302).header("Location", "/two"),
        })
    };
    let server = serve();
    is_no_splice(&piped("", &server.url("/o")), &first_version(), "elsewhere");
    let (server, target) = (serve(), new_target());
    let ran = filed(&target, "", &server.url("/o"));
    match ran.exit {
        0 => holds(&target, &second_version(), "elsewhere"),
        _ => assert!(ran.exit == 18 && target.is_untouched().expect("a file"), "{ran:?}"),
    }
}

/// A limit is on the object, not on what one answer brings.
#[test]
fn the_limit_counts_all_parts() {
    let chunks = || tagged_reply().chunked(vec![first_version()[..CUT].to_vec(); 1]).cut_body_at(CUT as u64);
    let server = first_then(move |_| chunks(), file_handler(first_version(), tagged()));
    let target = new_target();
    filed(&target, "--max-filesize 250000", &server.url("/o")).exits(63);
    assert!(target.is_untouched().expect("a file"));
}

#[test]
fn told_with_the_offset() {
    let events = tempfile::NamedTempFile::new().expect("a file");
    let server = first_then(cut, file_handler(first_version(), tagged()));
    let words =
        format!("--events {} -w %{{stderr}}|%{{size_download}}|%{{num_retries}}|", events.path().display());
    let ran = piped(&words, &server.url("/o"));
    assert!(ran.exits(0).stdout == first_version());
    let (line, written) = ran.stderr.split_once('\n').expect("a line for the retry");
    assert!(line.starts_with("fetch-url: http://127.0.0.1:"), "{line}");
    assert_eq!(written, format!("|{SIZE}|1|"), "the object's octets, and one retry");
    let text = fs::read_to_string(events.path()).expect("a file");
    let retry = text.lines().find(|line| line.contains("\"retry\"")).expect("an event");
    let retry: serde_json::Value = serde_json::from_str(retry).expect("JSON");
    assert_eq!((&retry["offset"], &retry["code"]), (&CUT.into(), &"truncated".into()), "{retry}");
    let done = text.lines().find(|line| line.contains("\"done\"")).expect("an event");
    let done: serde_json::Value = serde_json::from_str(done).expect("JSON");
    assert_eq!((&done["octets"], &done["retries"]), (&SIZE.into(), &1.into()), "{done}");
}

/// Who waits for a retry can be stopped at once, and loses nothing.
#[test]
fn a_signal_while_waiting() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let target = new_target();
        let server = first_then(cut, file_handler(first_version(), tagged()));
        let (path, url) = (target.path(), server.url("/o"));
        let child = started(["--retry-delay", "20", "-o", path.to_str().expect("UTF-8"), &url]);
        let part = part_of(&path);
        let is_kept = || fs::metadata(&part).is_ok_and(|facts| facts.len() == CUT as u64);
        assert!(until(Duration::from_secs(10), is_kept), "the octets are not in the .part while it waits");
        std::thread::sleep(Duration::from_millis(200));
        send_signal(&child, name);
        let sent = Instant::now();
        let ran = ended(child);
        assert_eq!(ran.signal, Some(number), "{ran:?}");
        assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
        assert!(target.is_untouched().expect("a file"));
        assert!(fs::read(&part).expect("a .part") == first_version()[..CUT]);
        assert!(journal_of(&path).exists(), "no journal");
        filed(&target, "-C -", &url).exits(0);
        holds(&target, &first_version(), name);
        assert_eq!(ranges(&server), ["-".to_owned(), format!("bytes={CUT}-")]);
    }
}
