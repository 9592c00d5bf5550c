//! `--cache` of `fetch-url serve`: processes that are killed. What is stored is tested in `crates/serve`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use fetch_url_tests::{HttpResponse, HttpServer};

use super::Serve;

/// The number of processes that are killed.
const KILLS: u64 = 12;
/// The maximum size of the cache in bytes.
const CACHE_SIZE: u64 = 3_000_000;

/// Returns the object at `/NUMBER`.
fn object(number: usize) -> Vec<u8> {
    (0..100_000 + number * 1000).map(|at| (at * 31 + number * 7) as u8).collect()
}

fn http() -> HttpServer {
    HttpServer::start(|request| {
        let number = request.path().trim_start_matches('/').parse().unwrap_or(0);
        let response =
            HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", "max-age=86400");
        response.body(object(number))
    })
    .expect("starts")
}

/// Returns the content of an answer; `None` if the process was killed before its end.
fn get(address: &str, url: &str) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    stream
        .write_all(format!("GET {url} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").as_bytes())
        .ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let length = format!("content-length: {}", answer.len() - end - 4);
    String::from_utf8_lossy(&answer[..end]).contains(&length).then(|| answer.split_off(end + 4))
}

fn size(cache: &Path) -> u64 {
    let files = std::fs::read_dir(cache.join("objects")).expect("a directory");
    files.map(|file| file.expect("a file").metadata().map_or(0, |metadata| metadata.len())).sum()
}

#[test]
fn cache_is_usable_after_a_kill_at_any_moment() {
    let http = http();
    let folder = tempfile::tempdir().expect("a directory");
    let cache = folder.path().join("cache");
    let size_text = CACHE_SIZE.to_string();
    let arguments =
        ["--allow-private", "--cache", cache.to_str().expect("UTF-8"), "--cache-size", &size_text];
    for round in 0..KILLS {
        let mut serve = Serve::start(&arguments, &[]);
        let address = serve.address.clone();
        std::thread::scope(|scope| {
            for client in 0..4 {
                let (address, http) = (&address, &http);
                scope.spawn(move || {
                    for step in 0..500 {
                        let number = (step * (client + 1)) % 40;
                        let Some(bytes) = get(address, &http.url(&format!("/{number}"))) else { return };
                        assert_eq!(bytes, object(number));
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(30 + round * 17));
            serve.process.kill().expect("SIGKILL");
            serve.process.wait().expect("it ends");
        });
    }
    let serve = Serve::start(&arguments, &[]);
    assert!(size(&cache) <= CACHE_SIZE, "{} bytes", size(&cache));
    for number in 0..40 {
        let url = http.url(&format!("/{number}"));
        assert_eq!(get(&serve.address, &url), Some(object(number)));
        let before = http.requests().len();
        assert_eq!(get(&serve.address, &url), Some(object(number)));
        assert_eq!(http.requests().len(), before, "{number} comes from the cache");
        assert!(size(&cache) <= CACHE_SIZE, "{} bytes", size(&cache));
    }
}
