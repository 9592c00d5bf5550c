//! `--compressed`: the object as it was before a server coded it, whole or not at all, and no more of it than
//! is good (SEMANTICS.md §3, SECURITY.md row 82).

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::time::{Duration, Instant};

use fetch_url_tests::{Coding, HttpReply, HttpServer, coded, coded_zeros, pattern_vec};
use support::sound::measured;
use support::{fetch, fetch_in, first_then, in_parallel, names, part_of, serving};

/// RSS may not pass this, whatever a server sends (SECURITY.md, N8).
const MEMORY: u64 = 64 * 1024;

/// More than any buffer holds at once.
fn object() -> Vec<u8> {
    pattern_vec(0, 300_000)
}

fn sending(token: &'static str, body: Vec<u8>) -> HttpServer {
    serving(move |_| HttpReply::new(200).header("Content-Encoding", token).body(body.as_slice()))
}

fn here() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn every_coding() {
    for coding in Coding::ALL {
        for octets in [Vec::new(), b"a".to_vec(), object()] {
            let body = coded(coding, &octets).expect("coded");
            let server = sending(coding.token(), body.clone());
            let ran = fetch(["--compressed", &server.url("/")]);
            assert!(
                ran.exits(0).stdout == octets,
                "{coding:?} {}: {} octets",
                octets.len(),
                ran.stdout.len()
            );
            // Unasked, it is stored as it was sent.
            let ran = fetch([server.url("/")]);
            assert!(ran.exits(0).stdout == body, "{coding:?} as sent");
            let asked =
                |number: usize| server.requests()[number].header_text("accept-encoding").map(str::to_owned);
            let offered = asked(0).expect("the codings that are understood");
            for token in ["gzip", "deflate", "br", "zstd"] {
                assert!(offered.split(',').any(|offer| offer.trim() == token), "{token} in {offered}");
            }
            assert!(asked(1).is_none_or(|text| text == "identity"), "{:?}", asked(1));
        }
    }
}

/// In whatever pieces it comes.
#[test]
fn in_pieces() {
    let octets = pattern_vec(0, 3000);
    let rows: Vec<(Coding, usize)> =
        Coding::ALL.into_iter().flat_map(|coding| [(coding, 1), (coding, 7)]).collect();
    in_parallel(&rows, 4, |&(coding, piece)| {
        let body = coded(coding, &octets).expect("coded");
        let pieces: Vec<Vec<u8>> = body.chunks(piece).map(<[u8]>::to_vec).collect();
        let server = serving(move |_| {
            HttpReply::new(200).header("Content-Encoding", coding.token()).chunked(pieces.clone())
        });
        let ran = fetch(["--compressed", &server.url("/")]);
        support::ensure(ran.exit == 0 && ran.stdout == octets, || {
            format!("{coding:?} by {piece}: {}", ran.stderr)
        })
    });
}

#[test]
fn what_counts_as_no_coding_or_as_gzip() {
    let body = coded(Coding::Gzip, b"the object").expect("coded");
    for (token, body) in [
        ("identity", b"the object".to_vec()),
        ("", b"the object".to_vec()),
        ("x-gzip", body.clone()),
        ("GZIP", body.clone()),
        (" gzip ", body),
    ] {
        let ran = fetch(["--compressed", &sending(token, body).url("/")]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, "the object"), "{token:?}: {}", ran.stderr);
    }
}

/// A coded body that stops inside is not whole, even though Content-Length was met.
#[test]
fn truncated() {
    let mut told = Vec::new();
    for coding in Coding::ALL {
        let body = coded(coding, &object()).expect("coded");
        for length in [1, body.len() / 2, body.len() - 1] {
            let server = sending(coding.token(), body[..length].to_vec());
            let here = here();
            fs::write(here.path().join("target"), "old").expect("a file");
            let ran = fetch_in(here.path(), ["--compressed", "-o", "target", &server.url("/")]);
            if ran.exit != 18 {
                told.push(format!("{coding:?} at {length} of {}: {} {}", body.len(), ran.exit, ran.stderr));
            }
            assert_eq!(support::content_of(here.path(), "target"), "old");
        }
        // And one whose connection breaks.
        let server = serving({
            let body = body.clone();
            move |_| {
                let reply = HttpReply::new(200).header("Content-Encoding", coding.token());
                reply.body(body.as_slice()).cut_body_at(body.len() as u64 / 2)
            }
        });
        fetch(["--compressed", &server.url("/")]).exits(18);
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// No octets are no coding of anything; servers that code on the fly send them for an empty object, though.
#[test]
fn nothing_at_all() {
    let ends =
        Coding::ALL.map(|coding| fetch(["--compressed", &sending(coding.token(), Vec::new()).url("/")]).exit);
    assert!(ends == [0; 5] || ends == [18; 5], "{ends:?} for {:?}", Coding::ALL);
}

/// Behind the end of the coding there is nothing, and what claims to be coded is.
#[test]
fn not_what_it_claims() {
    for coding in Coding::ALL {
        let good = coded(coding, b"the object").expect("coded");
        let mut broken = coded(coding, &object()).expect("coded");
        let middle = broken.len() / 2;
        broken[middle..middle + 40].fill(0xff);
        for (what, body) in [
            ("trailing garbage", [good.as_slice(), b"garbage, and more of it"].concat()),
            ("no coding at all", b"plain text, as servers send it now and then".to_vec()),
            ("broken inside", broken),
        ] {
            let here = here();
            fs::write(here.path().join("target"), "old").expect("a file");
            // Without a checksum, what is wrong inside can be known to nobody.
            if what == "broken inside" && !matches!(coding, Coding::Gzip | Coding::Deflate) {
                continue;
            }
            let server = sending(coding.token(), body);
            let ran = fetch_in(here.path(), ["--compressed", "-o", "target", &server.url("/")]);
            let content = fs::read(here.path().join("target")).expect("a file");
            assert!(ran.exit != 0 && content == b"old", "{coding:?}, {what}: exit {}", ran.exit);
            assert!([8, 18].contains(&ran.exit), "{coding:?}, {what}: {ran:?}");
            assert_eq!(names(here.path()), ["target"], "{coding:?}, {what}: what is wrong is not continued");
        }
    }
    // RFC 1952 §2.2: a gzip file may have several members, one after the other.
    let two =
        [coded(Coding::Gzip, b"one ").expect("coded"), coded(Coding::Gzip, b"two").expect("coded")].concat();
    assert_eq!(fetch(["--compressed", &sending("gzip", two).url("/")]).exits(0).text(), "one two");
}

/// "One coding only", and none that is not known: never stored as if it were the object.
#[test]
fn other_codings() {
    let twice = coded(Coding::Gzip, &coded(Coding::Gzip, b"x").expect("coded")).expect("coded");
    for token in ["gzip, gzip", "gzip,gzip", "br, gzip", "compress", "x-unknown", "gzip;q=1", "aes128gcm"] {
        let here = here();
        let ran =
            fetch_in(here.path(), ["--compressed", "-o", "target", &sending(token, twice.clone()).url("/")]);
        assert!(ran.exit != 0, "{token}: {ran:?}");
        assert_eq!(names(here.path()), [""; 0], "{token}");
        // Unasked, the same is stored as sent.
        let server = sending(token, twice.clone());
        assert!(fetch([server.url("/")]).exits(0).stdout == twice, "{token}");
    }
    let two = serving(|_| {
        let body = coded(Coding::Gzip, b"x").expect("coded");
        HttpReply::new(200).header("Content-Encoding", "gzip").header("Content-Encoding", "br").body(body)
    });
    assert_ne!(fetch(["--compressed", &two.url("/")]).exit, 0);
}

/// `--max-filesize` counts what is written.
#[test]
fn the_limit_counts_output() {
    let server = sending("gzip", coded_zeros(Coding::Gzip, 100_000).expect("coded"));
    let here = here();
    fetch_in(here.path(), ["--compressed", "--max-filesize", "99999", "-o", "a", &server.url("/")]).exits(63);
    fetch_in(here.path(), ["--compressed", "--max-filesize", "100000", "-o", "b", &server.url("/")]).exits(0);
    fetch_in(here.path(), ["--max-filesize", "99999", "-o", "c", &server.url("/")]).exits(0);
    assert_eq!(names(here.path()), ["b", "c"]);
}

/// Row 82: a ratio of more than 200 past 16 MiB is a bomb.
#[test]
fn bombs() {
    let rows = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];
    in_parallel(&rows, 2, |&coding| {
        let server = sending(coding.token(), coded_zeros(coding, 64 << 20).expect("coded"));
        let here = here();
        let target = here.path().join("target");
        let path = target.to_str().expect("UTF-8");
        let begun = Instant::now();
        let (memory, ran) = measured(&["--compressed", "-o", path, &server.url("/")]);
        let took = begun.elapsed();
        support::ensure(ran.exit == 63, || format!("{coding:?}: {ran:?}"))?;
        support::ensure(memory > 0 && memory < MEMORY, || format!("{coding:?}: {memory} KiB"))?;
        support::ensure(took < Duration::from_secs(5), || format!("{coding:?}: {took:?}"))?;
        support::ensure(!target.exists(), || format!("{coding:?}: it was kept"))
    });
}

/// A small one that is very repetitive is no bomb.
#[test]
fn what_is_only_small() {
    let server = sending("gzip", coded_zeros(Coding::Gzip, 8 << 20).expect("coded"));
    let here = here();
    fetch_in(here.path(), ["--compressed", "-o", "target", &server.url("/")]).exits(0);
    let length = fs::metadata(here.path().join("target")).expect("a file").len();
    assert_eq!(length, 8 << 20);
}

/// What came of a coded body is continued by nobody: the next run begins at the beginning.
#[test]
fn not_resumable() {
    let octets = object();
    let body = coded(Coding::Gzip, &octets).expect("coded");
    let length = body.len() as u64;
    let whole = move || {
        HttpReply::new(200).header("Content-Encoding", "gzip").header("ETag", "\"v\"").body(body.as_slice())
    };
    let first = whole.clone();
    let server = first_then(move |_| first().cut_body_at(length / 2), move |_| whole());
    let here = here();
    let target = here.path().join("target");
    fetch_in(here.path(), ["--compressed", "-o", "target", &server.url("/")]).exits(18);
    assert!(!target.exists() && !part_of(&target).exists(), "{:?}", names(here.path()));
    fetch_in(here.path(), ["--compressed", "-C", "-", "-o", "target", &server.url("/")]).exits(0);
    assert!(fs::read(&target).expect("a file") == octets);
    assert!(server.requests().iter().all(|request| request.header("range").is_none()), "a range of what?");
    assert_eq!(names(here.path()), ["target"]);
}

/// What came without a coding is not continued with one, nor the other way round.
#[test]
fn a_part_is_of_one_kind() {
    let octets = object();
    let coded_body = coded(Coding::Gzip, &octets).expect("coded");
    let plain = octets.clone();
    // As servers do that code on the fly, and leave ranges alone then.
    let server = serving(move |request| {
        let reply = HttpReply::new(200).header("ETag", "\"v\"").header("Accept-Ranges", "bytes");
        let wants = |name: &str| request.header_text(name).is_some_and(|text| text.contains("gzip"));
        match request.header_text("range") {
            None if wants("accept-encoding") => {
                reply.header("Content-Encoding", "gzip").body(coded_body.as_slice())
            }
            None => reply.body(plain.as_slice()).cut_body_at(100_000),
            Some(range) => {
                let from: usize =
                    range.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("an offset");
                let content = format!("bytes {from}-{}/{}", plain.len() - 1, plain.len());
                HttpReply::new(206)
                    .header("ETag", "\"v\"")
                    .header("Content-Range", content)
                    .body(&plain[from..])
            }
        }
    });
    let here = here();
    fetch_in(here.path(), ["-o", "target", &server.url("/")]).exits(18);
    fetch_in(here.path(), ["-C", "-", "--compressed", "-o", "target", &server.url("/")]).exits(0);
    assert!(fs::read(here.path().join("target")).expect("a file") == octets, "a splice");
}

/// Where there is no body, or nobody reads it, its coding does not matter.
#[test]
fn bodies_that_are_not_read() {
    let server = serving(|request| {
        let reply = |status| HttpReply::new(status).header("Content-Encoding", "x-unknown");
        match (request.method.as_str(), request.path().as_str()) {
            ("HEAD", _) => {
                HttpReply::new(200).header("Content-Encoding", "gzip").header("Content-Length", "100")
            }
            (_, "/none") => reply(204),
            (_, "/gone") => reply(404).body("gone"),
            _ => HttpReply::new(200).body("object"),
        }
    });
    let ran = |words: &[&str], path: &str| fetch([&["--compressed"], words, &[&server.url(path)]].concat());
    assert!(ran(&["-I"], "/to").exits(0).text().to_ascii_lowercase().contains("content-encoding: gzip"));
    assert_eq!(ran(&[], "/none").exits(0).text(), "");
    ran(&[], "/gone").exits(78);
}

/// What a redirect says beside its Location is nobody's object.
#[test]
fn a_coded_redirect() {
    let server = serving(|request| match request.path().as_str() {
        "/from" => HttpReply::new(302)
            .header("Location", "/to")
            .header("Content-Encoding", "x-unknown")
            .body("elsewhere"),
        _ => HttpReply::new(200).body("object"),
    });
    assert_eq!(fetch(["--compressed", &server.url("/from")]).exits(0).text(), "object");
}

/// The body of an error is decoded like any other, and its coding is not what is told of a failure.
#[test]
fn bodies_of_errors() {
    let body = coded(Coding::Gzip, b"why not").expect("coded");
    let server =
        serving(move |_| HttpReply::new(404).header("Content-Encoding", "gzip").body(body.as_slice()));
    let url = server.url("/");
    assert_eq!(fetch(["--compressed", "--fail-with-body", &url]).exits(78).text(), "why not");
    assert_eq!(fetch(["--compressed", "--no-fail", &url]).exits(0).text(), "why not");
}
