//! `-I`: the metadata of an item, without fetching it.

use crate::live::gopher_server::{GOPHERNICUS, GopherServer, PYGOPHERD, each_gopher_server};
use crate::live::work_dir::{fetch, key};

each_gopher_server![head_shows_the_item_type, head_does_not_fetch_the_item];

fn head_shows_the_item_type(server: GopherServer) {
    for (path, word) in [("/0/about.txt", "text"), ("/1/pub", "menu"), ("/9/all-bytes.bin", "binary")] {
        let result = fetch(&["-I", &server.url(path)]).assert_exit(0);
        assert!(result.text().to_lowercase().contains(word), "{path}: {}", result.text());
    }
}

fn head_does_not_fetch_the_item(server: GopherServer) {
    let result = fetch(&["-I", &server.url("/9/big.bin")]).assert_exit(0);
    assert!(result.out.len() < 2000, "{} octets", result.out.len());
    let result = fetch(&["-I", &server.url("/0/about.txt")]).assert_exit(0);
    assert!(!result.text().contains("About the gopher servers"), "{}", result.text());
}

#[test]
#[ignore = "needs the servers of docker/"]
fn gopher_plus_head_shows_attributes() {
    let text = fetch(&["-I", &PYGOPHERD.url("/0/plus/doc.txt")]).assert_exit(0).text();
    for part in
        ["in two lines.", "gopher plus test", "Admin of the tests <admin@test.invalid>", "text/plain", "1994"]
    {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let json = fetch(&["-I", "--format", "json", &PYGOPHERD.url("/0/plus/doc.txt")]).assert_exit(0).text();
    assert!(json.contains("gopher plus test"), "{json}");
    fetch(&["-I", &PYGOPHERD.url(&format!("/0/{}", key()))])
        .assert_exit(78)
        .assert_stdout("")
        .assert_stderr_contains("does not exist");
}

#[test]
#[ignore = "needs the servers of docker/"]
fn head_sends_one_request() {
    for server in [GOPHERNICUS, PYGOPHERD] {
        let (key, watch) = (key(), server.watch());
        fetch(&["-I", &server.url(&format!("/0/{key}"))]);
        assert_eq!(watch.line(&key), format!("/{key}\\x09!"));
        assert_eq!(watch.all(&key).len(), 1);
    }
}
