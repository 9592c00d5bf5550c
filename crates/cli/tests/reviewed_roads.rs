//! What a second review found on the HTTP road, each as a test: ends that were none, connections that were
//! used too long or not at all, retries without end.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fetch_url_tests::{Before, HttpReply, HttpRequest, HttpServer, Target};
use support::{Ran, fetch, fetch_in, serving};

const TAG: (&str, &str) = ("ETag", "\"a\"");

/// Into a file, with short waits.
fn filed(words: &[&str], server: &HttpServer) -> (Ran, Option<Vec<u8>>) {
    let target = Target::new(Before::Absent).expect("a directory");
    let path = target.path();
    let own = ["--retry-delay", "0.05", "-o", path.to_str().expect("UTF-8")];
    let ran = fetch(own.iter().chain(words).copied().chain([server.url("/o").as_str()]));
    (ran, target.content().expect("readable"))
}

/// The first answer, then another for what asks for a range, then a third for what does not.
fn in_turn(first: fn() -> HttpReply, ranged: fn() -> HttpReply, plain: fn() -> HttpReply) -> HttpServer {
    let asked = AtomicUsize::new(0);
    serving(move |request: &HttpRequest| match request.header("range") {
        _ if asked.fetch_add(1, Ordering::SeqCst) == 0 => first(),
        Some(_) => ranged(),
        None => plain(),
    })
}

fn cut() -> HttpReply {
    HttpReply::new(200).header(TAG.0, TAG.1).body(vec![1; 1000]).cut_body_at(100)
}

/// The rest says how long it is, though the beginning did not.
#[test]
fn the_rest_of_a_body_is_counted() {
    let chunked = || HttpReply::new(200).header(TAG.0, TAG.1).chunked(vec![vec![1; 100]]).cut_body_at(105);
    let short: [fn() -> HttpReply; 2] = [
        || {
            let part = HttpReply::new(206).header(TAG.0, TAG.1).header("Content-Range", "bytes 100-999/1000");
            part.until_close(vec![1; 100])
        },
        || {
            let part = HttpReply::new(206).header(TAG.0, TAG.1).header("Content-Range", "bytes 100-999/1000");
            part.chunked(vec![vec![1; 5]])
        },
    ];
    for rest in short {
        let server = in_turn(chunked, rest, rest);
        let (ran, content) = filed(&[], &server);
        assert!(ran.exit != 0 && content.is_none(), "{ran:?}");
    }
}

/// An error page never takes the place of the object that was begun.
#[test]
fn an_error_page_is_not_the_rest() {
    for words in ["--fail-with-body", "--no-fail", "--fail"] {
        let server = in_turn(cut, || HttpReply::new(416), || HttpReply::new(404).body("error page"));
        let (ran, content) = filed(&[words], &server);
        assert!(ran.exit == 78 && content.is_none(), "{words}: {ran:?} {content:?}");
    }
}

/// What is asked of the end of a body is asked of the one that takes its place.
#[test]
fn a_new_beginning_proves_its_end() {
    let other = || HttpReply::new(200).header("ETag", "\"b\"").until_close(vec![2; 100]);
    let (ran, content) = filed(&["--require-complete"], &in_turn(cut, other, other));
    assert!(ran.exit == 18 && content.is_none(), "{ran:?}");
    let (ran, content) = filed(&[], &in_turn(cut, other, other));
    assert_eq!((ran.exit, content), (0, Some(vec![2; 100])), "{}", ran.stderr);
}

/// Coded octets and plain ones are not two parts of one thing, whatever the tag says.
#[test]
fn codings_are_not_spliced() {
    let coded = || cut().header("Content-Encoding", "gzip");
    let plain = || {
        let part = HttpReply::new(206).header(TAG.0, TAG.1).header("Content-Range", "bytes 100-999/1000");
        part.body(vec![1; 900])
    };
    let (ran, content) = filed(&[], &in_turn(coded, plain, coded));
    assert!(ran.exit == 18 && content.is_none(), "{ran:?}");
}

/// A server of our own that plays a connection at a time.
fn played(play: impl Fn(usize, std::net::TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let play = Arc::new(play);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let play = play.clone();
            std::thread::spawn(move || play(number, stream));
        }
    });
    address
}

/// Reads the head of a request; false when there is none.
fn head(stream: &mut std::net::TcpStream) -> bool {
    head_text(stream).is_some()
}

/// The head of a request, in small letters.
fn head_text(stream: &mut std::net::TcpStream) -> Option<String> {
    let mut octets = Vec::new();
    let mut octet = [0];
    while !octets.ends_with(b"\r\n\r\n") {
        match stream.read(&mut octet) {
            Ok(1) => octets.push(octet[0]),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&octets).to_ascii_lowercase())
}

/// A server that closes without saying so is an ordinary server: each request gets its answer.
#[test]
fn servers_that_close_without_a_word() {
    let server = played(|_, mut stream| {
        if head(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let urls: Vec<String> = (0..60).map(|number| format!("http://{server}/{number}")).collect();
    let ran = fetch(&urls);
    assert_eq!((ran.exit, ran.text()), (0, "ok".repeat(60)), "{}", ran.stderr);
}

/// An answer before the request was read to its end leaves a connection that nobody can use, nor wait for.
#[test]
fn a_connection_that_is_still_busy() {
    let server = played(|_, mut stream| {
        if head(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            std::thread::sleep(Duration::from_secs(8));
        }
    });
    let here = tempfile::tempdir().expect("a directory");
    fs::write(here.path().join("large"), vec![0; 30_000_000]).expect("a file");
    let url = format!("http://{server}/");
    let begun = Instant::now();
    let ran = fetch_in(here.path(), ["--data-binary", "@large", "-m", "6", &url, &url]);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?} {ran:?}", begun.elapsed());
    assert_eq!((ran.exit, ran.text().as_str()), (0, "okok"), "{}", ran.stderr);
}

/// Each answer to a challenge is another text; the connection is the same, and none is left behind.
#[test]
fn digest_uses_its_connection_again() {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    let server = played(move |_, mut stream| {
        count.fetch_add(1, Ordering::SeqCst);
        while let Some(head) = head_text(&mut stream) {
            let reply: &[u8] = if head.contains("authorization: digest ") {
                b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            } else {
                b"HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\nContent-Length: 0\r\n\r\n"
            };
            if stream.write_all(reply).is_err() {
                return;
            }
        }
    });
    let urls: Vec<String> = (0..40).map(|number| format!("http://{server}/{number}")).collect();
    let ran = fetch(["--digest", "-u", "a:b"].into_iter().chain(urls.iter().map(String::as_str)));
    assert_eq!((ran.exit, ran.text()), (0, "ok".repeat(40)), "{}", ran.stderr);
    assert!(opened.load(Ordering::SeqCst) <= 2, "{} connections", opened.load(Ordering::SeqCst));
}

/// What the caller says of routes holds for the way to a proxy, too.
#[test]
fn routes_lead_to_the_proxy() {
    let peers = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = peers.clone();
    let proxy = played(move |_, mut stream| {
        seen.lock().expect("a lock").push(stream.peer_addr().expect("a peer").ip().to_string());
        if head(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        }
    });
    let by_address = format!("http://{proxy}");
    let ran = fetch(["--interface", "127.0.0.9", "-x", &by_address, "http://a.invalid/"]);
    assert_eq!((ran.exit, ran.text().as_str()), (0, "ok"), "{}", ran.stderr);
    assert_eq!(*peers.lock().expect("a lock"), ["127.0.0.9"]);
    let (port, by_name) = (proxy.port(), format!("http://p.invalid:{}", proxy.port()));
    let pin = format!("p.invalid:{port}:127.0.0.1");
    fetch(["--resolve", &pin, "-x", &by_name, "http://a.invalid/"]).exits(0);
    fetch(["-x", &by_name, "http://a.invalid/"]).exits(5);
    fetch(["--connect-to", "::b.invalid:", "-x", &by_address, "http://a.invalid/"]).exits(1);
    assert_eq!(peers.lock().expect("a lock").len(), 2, "nothing else reached the proxy");
}

/// Progress that was made once is not made again by every failure.
#[test]
fn retries_end() {
    const SIZE: usize = 3_000_000;
    const MIB: usize = 1 << 20;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let server = serving(move |request| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        let tagged = |status| HttpReply::new(status).header(TAG.0, TAG.1);
        match request.header("range") {
            None => tagged(200).body(vec![1; SIZE]).cut_body_at(MIB as u64),
            Some(_) if number % 2 == 1 => HttpReply::new(503),
            Some(_) => {
                let range = format!("bytes {MIB}-{}/{SIZE}", SIZE - 1);
                tagged(206).header("Content-Range", range).body(vec![1; SIZE - MIB]).cut_body_at(0)
            }
        }
    });
    let (ran, content) = filed(&["--retry", "4"], &server);
    assert!(ran.exit != 0 && content.is_none(), "{ran:?}");
    assert!(asked.load(Ordering::SeqCst) <= 6, "{} requests", asked.load(Ordering::SeqCst));
}

/// POST, then 303 to the same place, then GET: what every form on the web does.
#[test]
fn a_form_that_leads_back_to_itself() {
    let server = serving(|request| match request.method.as_str() {
        "POST" => HttpReply::new(303).header("Location", "/form"),
        _ => HttpReply::new(200).body("thanks"),
    });
    let ran = fetch(["-d", "a=b", &server.url("/form")]);
    assert_eq!((ran.exit, ran.text().as_str()), (0, "thanks"), "{}", ran.stderr);
    let endless = serving(|_| HttpReply::new(303).header("Location", "/form"));
    fetch(["-d", "a=b", &endless.url("/form")]).exits(47);
}

/// Numbers that no part of an object can have.
#[test]
fn the_largest_numbers() {
    for range in ["bytes 0-18446744073709551615/*", "bytes 0-18446744073709551614/18446744073709551615"] {
        let server = serving(move |_| HttpReply::new(206).header("Content-Range", range).body("x"));
        let ran = fetch(["-r", "0-", &server.url("/")]);
        assert!([18, 33].contains(&ran.exit) && !ran.stderr.contains("panicked"), "{range}: {ran:?}");
    }
    let huge =
        serving(|_| HttpReply::raw("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551613\r\n\r\nx"));
    let ran = fetch(["-i", "-m", "10000000000000000000", &huge.url("/")]);
    assert!([8, 18].contains(&ran.exit) && !ran.stderr.contains("panicked"), "{ran:?}");
}

/// The head that `-i` shows is no part of the object, for no limit.
#[test]
fn a_limit_counts_the_object() {
    let server = serving(|_| HttpReply::new(200).body("ok"));
    let ran = fetch(["-i", "--max-filesize", "2", &server.url("/")]);
    assert!(ran.exit == 0 && ran.text().ends_with("\n\nok"), "{ran:?}");
    fetch(["-i", "--max-filesize", "1", &server.url("/")]).exits(63);
}

/// A private file of the user that happens to be called like one of ours stays.
#[test]
fn a_diary_called_part() {
    let server = serving(|_| HttpReply::new(200).body("ok"));
    let here = tempfile::tempdir().expect("a directory");
    let diary = here.path().join("notes.part");
    fs::write(&diary, "my diary").expect("a file");
    fs::set_permissions(&diary, fs::Permissions::from_mode(0o600)).expect("permissions");
    fetch_in(here.path(), ["-o", "notes", &server.url("/")]).exits(2).says("not ours");
    assert_eq!(fs::read_to_string(&diary).expect("a file"), "my diary");
    // One of another user is theirs, whatever stands beside it. (Only root can make one to try.)
    let foreign = here.path().join("mine.part");
    fs::write(&foreign, "clean").expect("a file");
    fs::write(here.path().join("mine.part.json"), "{}").expect("a file");
    if std::os::unix::fs::chown(&foreign, Some(12_345), None).is_ok() {
        fetch_in(here.path(), ["-o", "mine", &server.url("/")]).exits(2).says("not ours");
        assert!(!here.path().join("mine").exists() && fs::read(&foreign).expect("a file") == b"clean");
    }
    // And a second name of ours is somebody's trap.
    let (other, trap) = (here.path().join("other"), here.path().join("x.part"));
    fs::write(&other, "").expect("a file");
    fs::hard_link(&other, &trap).expect("a link");
    fetch_in(here.path(), ["-o", "x", &server.url("/")]).exits(2);
}
