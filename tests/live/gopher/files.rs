//! Files of every kind: the output has exactly the bytes that the server sends.

use super::completeness::AssertOutput as _;
use super::menus::{field, links};
use crate::live::gopher_server::{GopherServer, each_gopher_server};
use crate::live::tree::{BIG, files};
use crate::live::work_dir::{WorkDir, fetch};
use fetch_url_tests::sha256;

each_gopher_server![
    every_file_of_the_tree_is_fetched_by_its_type,
    every_file_of_the_tree_is_fetched_as_binary,
    binary_item_equals_the_raw_response,
    every_item_type_fetches_the_same_bytes,
    item_of_64_mib_is_fetched_unchanged,
    several_items_in_one_run_give_the_right_files,
    output_files_have_safe_names,
    ranges_are_refused_and_partial_files_restarted,
    slow_item_exits_28_after_max_time,
];

/// Returns `true` if both servers treat the file as binary.
fn is_binary(path: &str) -> bool {
    path.ends_with(".bin")
}

/// Returns the bytes that the server sends for a file of the tree.
fn bytes_sent_for(server: GopherServer, path: &str, bytes: &[u8]) -> Vec<u8> {
    if is_binary(path) { bytes.to_vec() } else { server.as_text(bytes) }
}

fn every_file_of_the_tree_is_fetched_by_its_type(server: GopherServer) {
    for (path, bytes) in files() {
        let gtype = if is_binary(path) { '9' } else { '0' };
        fetch(&[&server.url(&format!("/{gtype}{path}"))])
            .assert_output_with_note(bytes_sent_for(server, path, &bytes));
    }
}

/// The item type is not part of the request, so the server sends the same bytes.
fn every_file_of_the_tree_is_fetched_as_binary(server: GopherServer) {
    for (path, bytes) in files() {
        fetch(&[&server.url(&format!("/9{path}"))])
            .assert_output_with_note(bytes_sent_for(server, path, &bytes));
    }
}

fn binary_item_equals_the_raw_response(server: GopherServer) {
    let own =
        ["/about.txt", "/page.html", "/dot.gif", "/unended.txt", "/dots/none-doubled.txt", "/dots/large.txt"];
    for path in files().iter().map(|(path, _)| *path).chain(own) {
        let bytes = server.answer(path);
        fetch(&[&server.url(&format!("/9{path}"))]).assert_output_with_note(&bytes);
        // Without the leading slash the selector names the same file.
        fetch(&[&server.url(&format!("/9{}", &path[1..]))]).assert_output_with_note(&bytes);
    }
}

/// Fetches the same bytes as an item of each type, by the URLs of a menu.
fn every_item_type_fetches_the_same_bytes(server: GopherServer) {
    let menu = fetch(&["--format", "json", &server.url("/1/kinds")]).assert_exit(0).text();
    let bytes = (0..=255).collect::<Vec<u8>>().repeat(16);
    let mut seen = String::new();
    for (line, url) in links(&menu) {
        let gtype = field(line, "type").expect("a type");
        seen.push_str(&gtype);
        match gtype.as_str() {
            "7" | "8" => {}
            "h" => drop(fetch(&[&url]).assert_exit(0).assert_stdout(server.answer("/page.html"))),
            _ => drop(fetch(&[&url]).assert_exit(0).assert_stdout(&bytes)),
        }
    }
    assert_eq!(seen, "0456789gIsd;MPX<rh", "{menu}");
    for gtype in
        ["0", "4", "5", "6", "9", "g", "I", "s", "d", ";", "M", "P", "X", "m", "c", "p", ":", "h", "%3C"]
    {
        fetch(&[&server.url(&format!("/{gtype}/all-bytes.bin"))]).assert_output_with_note(&bytes);
    }
}

fn item_of_64_mib_is_fetched_unchanged(server: GopherServer) {
    let dir = WorkDir::new();
    let url = server.url("/9/big.bin");
    dir.fetch(&["-o", "here", &url]).assert_output_with_note("");
    assert_eq!(sha256(&dir.read("here")), BIG);
    dir.assert_entries(&["here"]);
    let result = fetch(&[&url]).assert_exit(0);
    assert_eq!(sha256(&result.out), BIG);
    // As a text it is streamed, and its bytes are unchanged.
    let result = fetch(&[&server.url("/0/big.bin")]).assert_exit(0);
    assert_eq!(sha256(&result.out), BIG);
}

fn several_items_in_one_run_give_the_right_files(server: GopherServer) {
    let numbers = 300..320;
    let urls: Vec<String> =
        numbers.clone().map(|number| server.url(&format!("/0/many/f{number:04}.txt"))).collect();
    let all: Vec<u8> =
        numbers.clone().flat_map(|number| server.as_text(format!("{number:04}\n").as_bytes())).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    fetch(&urls).assert_output_with_note(&all);
    let dir = WorkDir::new();
    dir.fetch(&[&["-s", "-Z", "--remote-name-all"], &urls[..]].concat()).assert_output_with_note("");
    for number in numbers {
        let expected = server.as_text(format!("{number:04}\n").as_bytes());
        assert_eq!(dir.read(&format!("f{number:04}.txt")), expected);
    }
}

fn output_files_have_safe_names(server: GopherServer) {
    let dir = WorkDir::new();
    dir.fetch(&["-O", &server.url("/0/pub/a/b/c/deep.txt")]).assert_output_with_note("");
    assert_eq!(dir.read("deep.txt"), server.as_text(b"path=pub/a/b/c/deep.txt\n"));
    dir.fetch(&["-O", &server.url("/9/all-bytes.bin")]).assert_output_with_note("");
    dir.fetch(&["-o", "here", &server.url("/9/empty.bin")]).assert_output_with_note("");
    assert_eq!(dir.read("here"), b"");
    // A name that is not a safe file name is sanitised.
    dir.fetch(&["-O", &server.url("/0/odd/.hidden")]);
    dir.fetch(&["-O", &server.url("/0/odd/-la")]);
    assert!(dir.names().iter().all(|name| !name.starts_with(['.', '-'])), "{:?}", dir.names());
}

fn ranges_are_refused_and_partial_files_restarted(server: GopherServer) {
    fetch(&["-r", "0-9", &server.url("/9/all-bytes.bin")]).assert_exit(33).assert_stdout("");
    // Gopher cannot resume: a `.part` file of an earlier run is replaced.
    let dir = WorkDir::new();
    let url = server.url("/9/all-bytes.bin");
    dir.leave_part("here", &url, "none", b"left over", 4096);
    dir.fetch(&["-C", "-", "-o", "here", &url]).assert_exit(0);
    assert_eq!(dir.read("here"), (0..=255).collect::<Vec<u8>>().repeat(16));
}

fn slow_item_exits_28_after_max_time(server: GopherServer) {
    let dir = WorkDir::new();
    let url = server.url("/0/cgi-bin/slow");
    let result = dir.fetch(&["-m", "2", "-o", "here", &url]).assert_exit(28);
    assert!((1900..4500).contains(&result.took.as_millis()), "{:?}", result.took);
    assert!(!dir.names().contains(&"here".to_owned()), "{:?}", dir.names());
    fetch(&[&url]).assert_output_with_note("first\nlast\n");
}
