//! The directory of the cache: damage, other owners, size, several processes, failures.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fetch_url::{Code, Error};
use fetch_url_serve::{ServeOptions, Server};
use fetch_url_tests::{HttpResponse, HttpServer};

use crate::cache::{files, mark, with_cache};
use crate::support::{LogText, TestServer, options};

/// A server whose objects are fresh for a day: `/SIZE` has SIZE bytes.
fn http() -> HttpServer {
    HttpServer::start(|request| {
        let size =
            request.path().trim_start_matches('/').split('/').next().and_then(|size| size.parse().ok());
        let response =
            HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", "max-age=86400");
        response.body(vec![b'x'; size.unwrap_or(0)])
    })
    .expect("starts")
}

/// Returns the files of objects whose names end with `extension`.
fn find(cache: &Path, extension: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(cache.join("objects")).expect("a directory");
    let paths = files.map(|file| file.expect("a file").path());
    paths.filter(|path| path.to_string_lossy().ends_with(extension)).collect()
}

/// Returns the number of bytes of all files of objects.
fn size(cache: &Path) -> u64 {
    find(cache, "").iter().map(|path| fs::metadata(path).map_or(0, |metadata| metadata.len())).sum()
}

/// Waits until `check` is true.
fn wait_until(check: impl Fn() -> bool) {
    for _ in 0..600 {
        if check() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it did not happen");
}

#[test]
fn objects_outlive_the_server() {
    let http = http();
    let (first, folder) = with_cache();
    let server = TestServer::with(first);
    assert_eq!(mark(&server.get(&http.url("/100000"), &[])), "fwd=uri-miss; stored");
    server.stop();
    let mut second = options();
    second.cache = Some(folder.path().join("cache"));
    let reply = TestServer::with(second).get(&http.url("/100000"), &[]);
    assert_eq!((mark(&reply).as_str(), reply.body.len()), ("hit", 100_000));
    assert_eq!(http.requests().len(), 1);
}

#[test]
fn damaged_object_is_fetched_again() {
    let http = http();
    let (options, folder) = with_cache();
    let cache = folder.path().join("cache");
    let server = TestServer::with(options);
    for (extension, position) in
        [(".entry", 3), (".entry", 100), (".body", 0), (".body", 70_000), (".body", 100_003)]
    {
        assert_eq!(server.get(&http.url("/100000"), &[]).body.len(), 100_000);
        assert_eq!(mark(&server.get(&http.url("/100000"), &[])), "hit");
        let path = find(&cache, extension).pop().expect("a file");
        let mut bytes = fs::read(&path).expect("a file");
        bytes[position] ^= 1;
        fs::write(&path, &bytes).expect("written");
        let reply = server.get(&http.url("/100000"), &[]);
        assert_eq!(
            (reply.status, mark(&reply).as_str()),
            (200, "fwd=uri-miss; stored"),
            "{extension} {position}"
        );
        assert!(reply.body.iter().all(|byte| *byte == b'x') && reply.is_complete, "{extension} {position}");
    }
    for (extension, length) in [(".entry", 0), (".entry", 50), (".body", 0), (".body", 99_999)] {
        let path = find(&cache, extension).pop().expect("a file");
        fs::File::options().write(true).open(&path).and_then(|file| file.set_len(length)).expect("cut");
        let reply = server.get(&http.url("/100000"), &[]);
        assert_eq!(
            (mark(&reply).as_str(), reply.body.len()),
            ("fwd=uri-miss; stored", 100_000),
            "{extension} {length}"
        );
    }
    assert_eq!(mark(&server.get(&http.url("/100000"), &[])), "hit");
}

#[test]
fn answer_from_a_large_damaged_object_is_incomplete_and_the_next_one_is_whole() {
    let http = http();
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    let url = http.url("/3000000");
    assert_eq!(server.get(&url, &[]).body.len(), 3_000_000);
    let path = find(&folder.path().join("cache"), ".body").pop().expect("a file");
    let mut bytes = fs::read(&path).expect("a file");
    bytes[2_900_000] = b'y';
    fs::write(&path, &bytes).expect("written");
    let broken = server.get(&url, &[]);
    assert!(!broken.is_complete && broken.body.len() < 2_900_000, "{} bytes", broken.body.len());
    let reply = server.get(&url, &[]);
    assert_eq!(
        (mark(&reply).as_str(), reply.body.len(), reply.is_complete),
        ("fwd=uri-miss; stored", 3_000_000, true)
    );
}

/// Returns the error of a server with the cache in `directory`.
fn refusal(directory: &Path) -> Error {
    let mut options = ServeOptions::default();
    options.listen = vec![([127, 0, 0, 1], 0).into()];
    options.cache = Some(directory.to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(Server::bind(options)).expect_err("it cannot be used")
}

#[test]
fn directory_that_is_no_cache_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("foreign")).expect("a directory");
    fs::write(at("foreign/thesis.txt"), "years of work").expect("a file");
    fs::create_dir(at("tagged")).expect("a directory");
    fs::write(at("tagged/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n").expect("a file");
    fs::write(at("file"), "x").expect("a file");
    fs::create_dir(at("shared")).expect("a directory");
    let open: fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(at("shared"), open).expect("a mode");
    for (path, why) in [
        (at("foreign"), "the directory has other files"),
        (at("tagged"), "CACHEDIR.TAG is not that of this cache"),
        (at("file"), "File exists"),
        (at("shared"), "other users may write there"),
        (PathBuf::from("/proc/no-cache-here"), ""),
    ] {
        let error = refusal(&path);
        assert_eq!(error.code(), Code::Usage, "{error}");
        assert!(error.to_string().contains(why) && error.to_string().contains("cache"), "{error}");
    }
    assert_eq!(fs::read_dir(at("foreign")).expect("a directory").count(), 1);
    assert_eq!(fs::read_to_string(at("foreign/thesis.txt")).expect("a file"), "years of work");
}

#[test]
fn size_is_bounded_and_the_object_that_was_not_used_goes_first() {
    let http = http();
    let (mut options, folder) = with_cache();
    let cache = folder.path().join("cache");
    options.cache_size = 1_000_000;
    let server = TestServer::with(options);
    let url = |number: usize| http.url(&format!("/90000/{number}"));
    for number in 0..8 {
        server.get(&url(number), &[]);
    }
    for number in 8..30 {
        // The first one is used again and again.
        assert_eq!(mark(&server.get(&url(0), &[])), "hit", "{number}");
        assert_eq!(mark(&server.get(&url(number), &[])), "fwd=uri-miss; stored", "{number}");
        assert!(size(&cache) <= 1_000_000, "{} bytes", size(&cache));
    }
    assert_eq!(mark(&server.get(&url(29), &[])), "hit");
    assert_eq!(mark(&server.get(&url(2), &[])), "fwd=uri-miss; stored");
    // An object that is larger than the cache is sent without it.
    let large = server.get(&http.url("/2000000"), &[]);
    assert_eq!((mark(&large).as_str(), large.body.len()), ("fwd=uri-miss", 2_000_000));
    assert_eq!(mark(&server.get(&url(0), &[])), "hit", "it removes no other object");
}

#[test]
fn object_of_unknown_size_that_does_not_fit_is_sent_whole() {
    let http = HttpServer::start(|_| {
        let pieces = vec![vec![b'x'; 100_000]; 30];
        HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", "max-age=600").chunked(pieces)
    })
    .expect("starts");
    let (mut options, folder) = with_cache();
    options.cache_size = 2_000_000;
    let log = LogText::default();
    options.events = Some(log.sink());
    let server = TestServer::with(options);
    let reply = server.get(&http.url("/a"), &[]);
    assert_eq!((reply.body.len(), reply.is_complete), (3_000_000, true));
    log.wait_for("\"event\":\"cache\"");
    wait_until(|| files(&folder) == 0);
}

#[test]
fn cache_that_fails_while_it_runs_changes_no_answer() {
    let http = http();
    let (mut options, folder) = with_cache();
    let log = LogText::default();
    options.events = Some(log.sink());
    let server = TestServer::with(options);
    server.get(&http.url("/100000"), &[]);
    fs::remove_dir_all(folder.path().join("cache/objects")).expect("removed");
    for _ in 0..2 {
        let reply = server.get(&http.url("/100000"), &[]);
        assert_eq!(
            (mark(&reply).as_str(), reply.body.len(), reply.is_complete),
            ("fwd=uri-miss", 100_000, true)
        );
    }
    let text = log.wait_for("\"event\":\"cache\"");
    assert!(text.contains(&http.url("/100000")), "{text}");
}

#[test]
fn cancelled_request_stores_nothing() {
    use std::io::{Read as _, Write as _};
    let http = HttpServer::start(|_| {
        HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", "max-age=600").stream(1 << 29)
    })
    .expect("starts");
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    let mut stream = server.connect();
    stream.write_all(format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", http.url("/a")).as_bytes()).expect("sent");
    stream.read_exact(&mut vec![0; 1 << 20]).expect("bytes");
    assert_eq!(files(&folder), 1, "the body is being written");
    drop(stream);
    wait_until(|| files(&folder) == 0);
}

#[test]
fn object_that_breaks_off_is_not_stored() {
    let http = HttpServer::start(|_| {
        let response = HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", "max-age=600");
        response.body(vec![b'x'; 300_000]).cut_body_at(200_000)
    })
    .expect("starts");
    let (options, folder) = with_cache();
    let server = TestServer::with(options);
    assert!(!server.get(&http.url("/a"), &[]).is_complete);
    wait_until(|| files(&folder) == 0);
}

#[test]
fn two_servers_use_one_directory_within_its_size() {
    let http = http();
    let (mut first, folder) = with_cache();
    let cache = folder.path().join("cache");
    first.cache_size = 2_000_000;
    let mut second = options();
    (second.cache, second.cache_size) = (first.cache.clone(), first.cache_size);
    let servers = [TestServer::with(first), TestServer::with(second)];
    assert_eq!(mark(&servers[0].get(&http.url("/1000"), &[])), "fwd=uri-miss; stored");
    assert_eq!(mark(&servers[1].get(&http.url("/1000"), &[])), "hit");
    std::thread::scope(|scope| {
        for client in 0..8 {
            let (servers, http, cache) = (&servers, &http, &cache);
            scope.spawn(move || {
                for number in 0..40 {
                    let url = http.url(&format!("/70000/{}", number * (client % 4 + 1) % 60));
                    let reply = servers[client % 2].get(&url, &[]);
                    assert_eq!((reply.status, reply.body.len(), reply.is_complete), (200, 70_000, true));
                    assert!(size(cache) <= 2_000_000, "{} bytes", size(cache));
                }
            });
        }
    });
}

#[test]
fn remains_of_a_killed_process_are_removed() {
    let http = http();
    let (options, folder) = with_cache();
    let objects = folder.path().join("cache/objects");
    let server = TestServer::with(options);
    server.get(&http.url("/1000"), &[]);
    server.stop();
    fs::write(objects.join("0123456789abcdef.body"), vec![0; 500_000]).expect("written");
    fs::write(objects.join("00.entry.new"), "half").expect("written");
    fs::write(objects.join("00.entry"), "half").expect("written");
    // A process was killed while the files changed.
    fs::write(folder.path().join("cache/size"), "").expect("written");
    let mut again = crate::support::options();
    again.cache = Some(folder.path().join("cache"));
    let server = TestServer::with(again);
    assert_eq!(files(&folder), 2);
    assert_eq!(mark(&server.get(&http.url("/1000"), &[])), "hit");
    let size: u64 =
        fs::read_to_string(folder.path().join("cache/size")).expect("text").trim().parse().expect("it");
    assert_eq!(size, self::size(&folder.path().join("cache")));
    let entry = find(&folder.path().join("cache"), ".entry").pop().expect("an entry");
    let used = fs::metadata(entry).and_then(|metadata| metadata.modified()).expect("a time");
    assert!(used.elapsed().unwrap_or_default() < Duration::from_secs(60) || used > SystemTime::now());
}

#[test]
fn special_file_in_place_of_an_object_is_replaced() {
    let http = http();
    let (options, folder) = with_cache();
    let cache = folder.path().join("cache");
    let server = TestServer::with(options);
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "not of the cache").expect("written");
    let fifo = |path: &Path| {
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).expect("a FIFO");
    };
    let link = |path: &Path| std::os::unix::fs::symlink(&elsewhere, path).expect("a link");
    for (number, extension) in [".entry", ".body"].into_iter().cycle().take(4).enumerate() {
        server.get(&http.url("/1000"), &[]);
        assert_eq!(mark(&server.get(&http.url("/1000"), &[])), "hit", "{extension}");
        let path = find(&cache, extension).pop().expect("a file");
        fs::remove_file(&path).expect("removed");
        if number < 2 {
            fifo(&path)
        } else {
            link(&path)
        }
        let reply = server.get(&http.url("/1000"), &[]);
        assert_eq!((mark(&reply).as_str(), reply.body.len()), ("fwd=uri-miss; stored", 1000), "{extension}");
        let is_file = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
        assert!(find(&cache, "").iter().all(is_file), "{extension}");
    }
    server.stop();
    assert_eq!(fs::read_to_string(&elsewhere).expect("a file"), "not of the cache");
    // All files are read at the start.
    for name in ["0123456789abcdef.body", "00.entry", "00.entry.new"] {
        fifo(&cache.join("objects").join(name));
    }
    let mut again = crate::support::options();
    again.cache = Some(cache.clone());
    let server = TestServer::with(again);
    assert_eq!(mark(&server.get(&http.url("/1000"), &[])), "hit");
    assert_eq!(files(&folder), 2);
    server.stop();
    for name in ["size", "CACHEDIR.TAG"] {
        fs::remove_file(cache.join(name)).expect("removed");
        fifo(&cache.join(name));
        assert_eq!(refusal(&cache).code(), Code::Usage, "{name}");
        fs::remove_file(cache.join(name)).expect("removed");
    }
}

#[test]
fn object_that_is_announced_removes_others_only_as_its_bytes_arrive() {
    use std::io::{Read as _, Write as _};
    let http = HttpServer::start(|request| {
        let response = HttpResponse::new(200).header("ETag", "\"v1\"").header("Cache-Control", "max-age=600");
        match request.path().as_str() {
            "/announced" => {
                response.body(vec![b'x'; 9_000_000]).cut_body_at(100_000).then_stall(Duration::from_secs(60))
            }
            _ => response.body(vec![b'x'; 100_000]),
        }
    })
    .expect("starts");
    let (mut options, _folder) = with_cache();
    options.cache_size = 10_000_000;
    let server = TestServer::with(options);
    let url = |number: usize| http.url(&format!("/{number}"));
    for number in 0..50 {
        server.get(&url(number), &[]);
    }
    let mut stream = server.connect();
    let head = format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", http.url("/announced"));
    stream.write_all(head.as_bytes()).expect("sent");
    stream.read_exact(&mut [0; 50_000]).expect("bytes");
    for number in 0..50 {
        assert_eq!(mark(&server.get(&url(number), &[])), "hit", "{number}");
    }
}
