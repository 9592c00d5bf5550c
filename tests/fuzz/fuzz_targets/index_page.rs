//! Arbitrary bytes as the index page of a directory: no panic and a bounded number of tokens; every entry is directly
//! below the directory, with the name and kind that its URL states; the result does not depend on the file name, query
//! and login of the URL of the page.
//!
//! The first byte selects the directory.
#![no_main]

use fetch_url_core::{HttpUrl, Url, parse};
use fetch_url_proto::{Entry, EntryKind, IndexPage};
use libfuzzer_sys::fuzz_target;

/// Directories, each with the same directory in another spelling of the page URL.
const DIRECTORIES: [(&str, &str); 4] = [
    ("http://host/d/", "http://me:sesame@host/d/index.html?a=b/c"),
    ("http://host/", "http://host/?C=N;O=D"),
    ("https://host:8443/a%20b/c/", "https://me@host:8443/a%20b/c/x"),
    ("http://[::1]/%C3%A9/", "http://[::1]/%C3%A9/index.html"),
];
/// Maximum number of tokens for each byte of the page.
const MAX_TOKENS_PER_BYTE: usize = 8;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, page)) = data.split_first() else { return };
    let (directory, page_url) = DIRECTORIES[usize::from(choice) % DIRECTORIES.len()];
    let (entries, looks_like_index, is_directory_listing) = read(page, directory);
    entries.iter().for_each(|entry| check(entry, directory));
    assert!(looks_like_index || entries.is_empty(), "entries without a link");
    assert!(entries.len() <= page.iter().filter(|&&byte| byte == b'<').count());
    // So the login of the page reaches no entry.
    assert_eq!(read(page, page_url), (entries, looks_like_index, is_directory_listing));
});

fn read(page: &[u8], url: &str) -> (Vec<Entry>, bool, bool) {
    let mut index = IndexPage::new(page.to_vec().into(), url);
    let (mut entries, mut left) = (Vec::new(), MAX_TOKENS_PER_BYTE * page.len() + 16);
    while let Some(entry) = index.process_token() {
        entries.extend(entry);
        left -= 1;
        assert!(left > 0, "too many tokens");
    }
    assert!(index.process_token().is_none(), "the end is not stable");
    let of_iterator: Vec<Entry> = IndexPage::new(page.to_vec().into(), url).collect();
    assert_eq!(of_iterator, entries);
    (entries, index.looks_like_index(), index.is_directory_listing())
}

fn check(entry: &Entry, directory: &str) {
    let text = entry.url.as_deref().expect("a URL");
    let (url, directory) = (http(text), http(directory));
    assert!(!text.contains(['#', '?']), "{text}");
    assert_eq!(
        (url.scheme().name, url.authority().host_port()),
        (directory.scheme().name, directory.authority().host_port())
    );
    assert!(url.authority().user_info().is_none());
    let mut expected = segments(&directory);
    // The text after the last slash of the directory.
    expected.pop();
    expected.push(entry.name.clone());
    match entry.kind {
        EntryKind::Directory => expected.push(Vec::new()),
        kind => assert_eq!(kind, EntryKind::File),
    }
    assert_eq!(segments(&url), expected, "{text}");
    assert!(!entry.name.is_empty());
    assert!(entry.size.is_none() || entry.kind == EntryKind::File);
}

fn http(text: &str) -> HttpUrl<'static> {
    let parsed = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    assert_eq!(parsed.url.to_string(), text);
    let Url::Http(url) = parsed.url else { panic!("{text}") };
    url.into_owned()
}

/// Returns the percent-decoded segments of the path.
fn segments(url: &HttpUrl<'_>) -> Vec<Vec<u8>> {
    url.path().expect("a path").split('/').map(|part| part.decode().into_owned()).collect()
}
