//! Listings of local directories (docs/spec/semantics.md §9).

#![cfg(unix)]
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fetch_url::output::{Sink, save};
use fetch_url::{Code, Content, Fetcher, Policy, Request, blocking};
use fetch_url_proto::{Entry, EntryKind};

async fn entries(url: &str) -> Vec<Entry> {
    let response = Fetcher::new().get(url).await.expect("a listing");
    let Content::Listing(mut listing) = response.content else { panic!("{:?}", response.content) };
    let mut entries = Vec::new();
    while let Some(entry) = listing.next().await.expect("an entry") {
        entries.push(entry);
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries
}

fn url_of(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[tokio::test]
async fn entries_keep_every_byte_of_a_name_and_their_urls_fetch_the_files() {
    let directory = tempfile::tempdir().expect("a directory");
    // Names with every byte that a file name may contain.
    let all: Vec<Vec<u8>> =
        (1..=255).filter(|byte| *byte != b'/').map(|byte| vec![b'x', byte, b'y']).collect();
    for name in &all {
        fs::write(directory.path().join(OsStr::from_bytes(name)), name).expect("a file");
    }
    for url in [url_of(directory.path()), url_of(directory.path()) + "/"] {
        let entries = entries(&url).await;
        let names: Vec<Vec<u8>> = entries.iter().map(|entry| entry.name.clone()).collect();
        assert_eq!(names, all);
        for entry in entries {
            assert_eq!((entry.kind, entry.size), (EntryKind::File, Some(3)), "{:?}", entry.name);
            let url = entry.url.expect("a URL");
            let response = Fetcher::new().get(&url).await.expect("the entry's URL is sound");
            let Content::Body(body) = response.content else { panic!("{url} is no file") };
            assert_eq!(body.collect(10).await.expect("octets"), entry.name, "{url}");
        }
    }
}

#[tokio::test]
async fn entries_of_a_directory_have_kind_size_and_time() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::create_dir(directory.path().join("directory")).expect("a directory");
    fs::write(directory.path().join("directory/inner"), "").expect("a file");
    fs::write(directory.path().join("file"), "12345").expect("a file");
    std::os::unix::fs::symlink("nowhere", directory.path().join("link")).expect("a link");
    let entries = entries(&url_of(directory.path())).await;
    let kinds: Vec<EntryKind> = entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Directory, EntryKind::File, EntryKind::Link]);
    assert_eq!(entries[1].size, Some(5));
    assert!(entries[1].modified.is_some_and(|seconds| seconds > 1_600_000_000));
    // The URL of a directory entry lists that directory.
    let inner = self::entries(entries[0].url.as_deref().expect("a URL")).await;
    assert_eq!(inner[0].name, b"inner");
}

#[tokio::test]
async fn empty_directory_gives_an_empty_listing() {
    let directory = tempfile::tempdir().expect("a directory");
    assert!(entries(&url_of(directory.path())).await.is_empty());
}

#[tokio::test]
async fn saved_listing_contains_one_name_per_line() {
    let directory = tempfile::tempdir().expect("a directory");
    for name in ["b", "a", "c"] {
        fs::write(directory.path().join(name), name).expect("a file");
    }
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let response = Fetcher::new().get(&url_of(directory.path())).await.expect("a listing");
    let receipt = save(response, Sink::writer(Shared(bytes.clone())), &mut ()).await.expect("delivered");
    let text = String::from_utf8(bytes.lock().expect("a lock").clone()).expect("UTF-8");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!((lines, receipt.bytes), (vec!["a", "b", "c"], 6));
}

struct Shared(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn directory_of_5000_files_lists_each_file_once() {
    let directory = tempfile::tempdir().expect("a directory");
    for number in 0..5000 {
        fs::write(directory.path().join(format!("{number:05}")), "").expect("a file");
    }
    let entries = entries(&url_of(directory.path())).await;
    assert_eq!(entries.len(), 5000);
    assert!(entries.windows(2).all(|pair| pair[0].name < pair[1].name), "an entry came twice");
}

#[tokio::test]
async fn head_of_a_directory_returns_metadata_only() {
    let directory = tempfile::tempdir().expect("a directory");
    let request = Request::new(&url_of(directory.path())).expect("a URL").head();
    let response = Fetcher::new().fetch(request).await.expect("an answer");
    assert!(matches!(response.content, Content::Head), "{:?}", response.content);
}

/// A path through a file, and the name of a file with a final slash.
#[tokio::test]
async fn file_with_a_final_slash_is_not_found() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("file"), "octets").expect("a file");
    for rest in ["/file/", "/file/x", "/none", "/none/"] {
        let error = Fetcher::new().get(&(url_of(directory.path()) + rest)).await.expect_err(rest);
        assert_eq!(error.code(), Code::NotFound, "{rest}: {error:?}");
    }
}

#[test]
fn blocking_fetcher_reads_lists_and_downloads() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("only"), "octets").expect("a file");
    let fetcher = blocking::Fetcher::new().expect("a runtime");
    let listing = fetcher.get(url_of(directory.path())).expect("a response").bytes();
    assert_eq!(&listing.expect("a listing")[..], b"only\n");
    assert_eq!(fetcher.list(url_of(directory.path())).expect("a listing").len(), 1);
    let file = url_of(&directory.path().join("only"));
    assert_eq!(fetcher.get(&file).expect("a response").text().expect("a text"), "octets");
    let copy = directory.path().join("copy");
    assert_eq!(fetcher.download(&file, &copy, |download| download.resume()).expect("saved").bytes, 6);
    assert_eq!(fs::read(copy).expect("a file"), b"octets");
}

#[test]
fn blocking_fetcher_fails_above_the_size_limit() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("only"), "octets").expect("a file");
    let file = url_of(&directory.path().join("only"));
    for (limit, is_allowed) in [(6, true), (5, false)] {
        let fetcher = Fetcher::builder().policy(Policy::default().max_size(limit)).build();
        let fetcher = blocking::Fetcher::from_fetcher(fetcher).expect("a runtime");
        match fetcher.get(&file).and_then(blocking::Response::bytes) {
            Ok(bytes) => assert!(is_allowed && &bytes[..] == b"octets"),
            Err(error) => assert!(!is_allowed && error.code() == Code::LimitReached, "{error:?}"),
        }
    }
}
