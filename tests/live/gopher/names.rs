//! Every odd name of the tree, in a URL and by the items of menus.

use std::collections::BTreeSet;

use super::completeness::AssertOutput as _;
use super::menus::{field, links};
use crate::live::gopher_server::{GopherServer, each_gopher_server};
use crate::live::tree::odd_files;
use crate::live::work_dir::fetch;

each_gopher_server![
    each_odd_name_is_fetched_or_fails_as_expected,
    unescaped_allowed_characters_name_the_same_file,
    odd_names_in_one_run_give_the_right_files,
    menu_urls_of_odd_names_fetch_their_files
];

/// Returns the exit status if the server cannot serve a name whose bytes are sent unchanged.
fn exception(server: GopherServer, path: &str) -> Option<i32> {
    let has = |part: &str| path.contains(part);
    match () {
        () if has("%0A") || has("%0D") => Some(93),
        // Text after the TAB is a search string. gophernicus reports that as plain text.
        () if has("%09") => Some(if server.is_plus { 78 } else { 0 }),
        () if server.is_plus && (has("trailing%20space%20") || has("/...")) => Some(78),
        () if !server.is_plus && (has("%25") || has("%3F") || has("%23") || has("/.")) => Some(0),
        () => None,
    }
}

fn served(server: GopherServer) -> Vec<(String, Vec<u8>)> {
    let rows = odd_files().into_iter().filter(|(path, _)| exception(server, path).is_none());
    rows.map(|(path, bytes)| (server.url(&format!("/0{path}")), server.as_text(bytes.as_bytes()))).collect()
}

fn each_odd_name_is_fetched_or_fails_as_expected(server: GopherServer) {
    for (path, bytes) in odd_files() {
        let result = fetch(&[&server.url(&format!("/0{path}"))]);
        match exception(server, &path) {
            None => drop(result.assert_output_with_note(server.as_text(bytes.as_bytes()))),
            Some(0) => assert!(result.assert_exit(0).text().starts_with("Error: "), "{path}"),
            Some(exit) => drop(result.assert_exit(exit).assert_stdout("")),
        }
    }
    let count = if server.is_plus { 27 } else { 23 };
    assert_eq!(served(server).len(), count, "an exception too many");
}

/// No character is reserved in a selector (RFC 4266 §2.1), so each may be unescaped if a URL can contain it.
fn unescaped_allowed_characters_name_the_same_file(server: GopherServer) {
    for (mut url, bytes) in served(server) {
        for byte in "!$&'()*+,;=:@?".chars() {
            url = url.replace(&format!("%{:02X}", u32::from(byte)), &byte.to_string());
        }
        fetch(&[&url]).assert_output_with_note(&bytes);
    }
}

fn odd_names_in_one_run_give_the_right_files(server: GopherServer) {
    let rows = served(server);
    let urls: Vec<&str> = rows.iter().map(|(url, _)| url.as_str()).collect();
    fetch(&urls)
        .assert_output_with_note(rows.iter().flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<u8>>());
}

/// Collects the contents of all files that a menu and its submenus link to.
fn found(url: &str, found_there: &mut BTreeSet<Vec<u8>>) {
    let menu = fetch(&["--format", "json", url]).assert_exit(0).text();
    for (line, url) in links(&menu) {
        match field(line, "type").as_deref() {
            // The link to the parent menu.
            Some("1") if field(line, "name").is_some_and(|name| name.starts_with("..")) => {}
            Some("1") => found(&url, found_there),
            _ => drop(found_there.insert(fetch(&[&url]).out)),
        }
    }
}

/// The URL of a menu item sends exactly the selector that the server listed.
fn menu_urls_of_odd_names_fetch_their_files(server: GopherServer) {
    let mut there = BTreeSet::new();
    found(&server.url("/1/odd"), &mut there);
    let is_missing = |(_, bytes): &(String, String)| !there.contains(&server.as_text(bytes.as_bytes()));
    let missing: BTreeSet<String> =
        odd_files().into_iter().filter(is_missing).map(|(path, _)| path).collect();
    let expected: BTreeSet<String> = unreachable(server).map(|name| format!("/odd/{name}")).collect();
    assert_eq!(missing, expected);
}

/// Returns the files that no menu of the server links to: they are not listed, or the listed selector does not work.
fn unreachable(server: GopherServer) -> impl Iterator<Item = String> {
    let both = ["...", ".hidden", "new%0Aline/f.txt", "tab%09here.txt"].map(str::to_owned);
    let own: Vec<String> = if server.is_plus {
        // CR cannot be sent.
        ["cr%0Dname.txt", "trailing%20space%20"].map(str::to_owned).into()
    } else {
        let long = format!("{}.txt", "a".repeat(200));
        ["100%25/f.txt", "hash%23dir/f%231.txt", "ques%3Ftion/f.txt", &long].map(str::to_owned).into()
    };
    both.into_iter().chain(own)
}
