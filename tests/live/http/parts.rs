//! Ranges, and what an earlier run left: joined only where the server proves that it belongs together.

use crate::live::place::{Place, fetch};
use crate::live::server::{APACHE, CA, CADDY, NGINX, Server, each_server};
use crate::live::tree::range;

each_server![
    ranges,
    ranges_by_tls,
    ranges_that_are_refused,
    half_is_resumed,
    half_is_resumed_by_tls,
    all_is_there_already,
    too_much_is_there,
    weak_validators_are_not_joined,
    foreign_validators_are_not_joined,
];

/// Range and what of the 80,000 bytes it names.
pub(crate) const RANGES: [(&str, std::ops::Range<usize>); 9] = [
    ("0-0", 0..1),
    ("0-7", 0..8),
    ("8-15", 8..16),
    ("39997-40003", 39_997..40_004),
    ("79999-79999", 79_999..80_000),
    ("79992-", 79_992..80_000),
    ("-8", 79_992..80_000),
    ("0-", 0..80_000),
    ("79000-99999", 79_000..80_000),
];

fn ranges(server: Server) {
    for (asked, part) in RANGES {
        fetch(&["-r", asked, &server.http("/range.txt")]).gives(&range()[part]);
    }
    let place = Place::new();
    place.fetch(&["-r", "8-15", "-o", "here", &server.http("/pub/../range.txt")]).gives("");
    place.holds(&["here"]);
    assert_eq!(place.read("here"), b"0000001\n");
}

fn ranges_by_tls(server: Server) {
    for (asked, part) in RANGES {
        fetch(&["--cacert", CA, "-r", asked, &server.https("/range.txt")]).gives(&range()[part]);
    }
}

fn ranges_that_are_refused(server: Server) {
    for asked in ["80000-", "80000-80007", "99999999999-"] {
        fetch(&["-r", asked, &server.http("/range.txt")]).exits(33).writes("");
    }
    fetch(&["-r", "0-9", &server.http("/empty.bin")]).exits(33);
    fetch(&["-r", "9-0", &server.http("/range.txt")]).exits(2);
    fetch(&["-r", "0-9", &server.http("/no/such/file")]).exits(78);
}

/// The validator of `url`, as a state file writes it.
fn validator(url: &str) -> String {
    let json = fetch(&["--cacert", CA, "-I", "--format", "json", url]).exits(0).text();
    let (_, rest) = json.split_once("\"validator\":\"").unwrap_or_else(|| panic!("no validator: {json}"));
    // The tag stands in quotes of its own, which JSON escapes.
    let end = rest.find("\",\"").or_else(|| rest.find("\"}")).expect("the end of a string");
    rest[..end].replace("\\\"", "\"")
}

/// Half of range.txt is there: the rest is asked for and joined.
#[track_caller]
fn resumes_half(url: &str) {
    let place = Place::new();
    place.leave_part("here", url, &validator(url), &range()[..40_000], 80_000);
    let ran = place.fetch(&["-v", "--cacert", CA, "-C", "-", "-o", "here", url]).exits(0);
    ran.says("> Range: bytes=40000-")
        .says("> If-Range: ")
        .says("> Accept-Encoding: identity")
        .says(" 206 Partial Content");
    place.holds(&["here"]);
    assert_eq!(place.read("here"), range());
}

fn half_is_resumed(server: Server) {
    resumes_half(&server.http("/range.txt"));
    resumes_half(&server.http("/pub/../range.txt"));
}

fn half_is_resumed_by_tls(server: Server) {
    resumes_half(&server.https("/range.txt"));
}

/// nginx and caddy say `bytes */80000`; apache says nothing, so the object is fetched again.
fn all_is_there_already(server: Server) {
    let (place, url) = (Place::new(), server.http("/range.txt"));
    place.leave_part("here", &url, &validator(&url), &range(), 80_000);
    let ran = place.fetch(&["-v", "-C", "-", "-o", "here", &url]).exits(0).says("> Range: bytes=80000-");
    let requests = ran.err.matches("> GET /range.txt HTTP/1.1").count();
    assert_eq!(requests, if server.name == APACHE.name { 2 } else { 1 }, "{}", ran.err);
    place.holds(&["here"]);
    assert_eq!(place.read("here"), range());
    // The whole file, and no .part: the command once more is no error and changes nothing.
    place.fetch(&["-C", "-", "-o", "here", &url]).gives("");
    assert_eq!(place.read("here"), range());
}

fn too_much_is_there(server: Server) {
    let (place, url) = (Place::new(), server.http("/range.txt"));
    let long = [range(), b"more".to_vec()].concat();
    place.leave_part("here", &url, &validator(&url), &long, 80_004);
    place.fetch(&["-C", "-", "-o", "here", &url]).gives("");
    place.holds(&["here"]);
    assert_eq!(place.read("here"), range());
}

/// Lays down 40,000 bytes of another object and this validator: nothing of them may stay.
#[track_caller]
fn starts_again(url: &str, validator: &str) {
    let place = Place::new();
    place.leave_part("here", url, validator, &[b'x'; 40_000], 80_000);
    place.fetch(&["-C", "-", "-o", "here", url]).gives("");
    place.holds(&["here"]);
    assert_eq!(place.read("here"), range(), "{url} {validator}");
}

fn weak_validators_are_not_joined(server: Server) {
    for path in ["/range.txt", "/pub/../range.txt"] {
        let url = server.http(path);
        let strong = validator(&url);
        let tag = strong.strip_prefix("etag ").expect("an entity tag");
        starts_again(&url, &format!("etag W/{tag}"));
    }
}

fn foreign_validators_are_not_joined(server: Server) {
    for validator in
        ["etag \"other\"", "etag \"\"", "etag *", "modified Fri, 02 Dec 1994 12:34:56 GMT", "x", ""]
    {
        starts_again(&server.http("/range.txt"), validator);
    }
}

/// The whole object comes instead: fetched from the start, or refused when a range was asked for.
#[test]
#[ignore = "needs the servers of docker/"]
fn a_server_without_ranges() {
    let (place, url) = (Place::new(), NGINX.http("/no-ranges/range.txt"));
    place.leave_part("here", &url, &validator(&url), &range()[..40_000], 80_000);
    let ran = place.fetch(&["-v", "-C", "-", "-o", "here", &url]).exits(0);
    ran.says("> Range: bytes=40000-").says(" 200 OK").hides(" 206 Partial");
    assert_eq!(place.read("here"), range());
    fetch(&["-r", "8-15", &url]).exits(33).writes("");
    place.write("there", &range()[..40_000]);
    place.fetch(&["-C", "40000", "-o", "there", &url]).exits(33);
    assert_eq!(place.read("there"), range()[..40_000]);
}

/// Two ranges would come as one body with heads of its own in it: they are not asked for.
#[test]
#[ignore = "needs the servers of docker/"]
fn several_ranges_are_not_asked_for() {
    for asked in ["0-7,16-23", "0-0,-1", "8-15,"] {
        fetch(&["-v", "-r", asked, &NGINX.http("/range.txt")]).exits(2).writes("").hides("> GET");
    }
}

/// One range is all that is ever asked for, and it is cut from the file, not from something compressed.
#[test]
#[ignore = "needs the servers of docker/"]
fn servers_that_compress_or_give_one_range() {
    for url in [
        NGINX.http("/one-range/range.txt"),
        NGINX.http("/gz/range.txt"),
        APACHE.http("/gz/range.txt"),
        CADDY.http("/range.txt"),
    ] {
        fetch(&["-r", "8-15", &url]).gives("0000001\n");
        resumes_half(&url);
    }
}

/// 40,000,000 bytes of 64 MiB are there.
#[test]
#[ignore = "needs the servers of docker/"]
fn a_big_file_is_resumed() {
    let (place, url) = (Place::new(), CADDY.http("/big.bin"));
    let whole = fetch(&[&url]).exits(0).out;
    place.leave_part("big", &url, &validator(&url), &whole[..40_000_000], whole.len());
    place
        .fetch(&["-v", "-C", "-", "-o", "big", &url])
        .exits(0)
        .says("> Range: bytes=40000000-")
        .says(" 206 Partial Content");
    place.holds(&["big"]);
    assert!(place.read("big") == whole, "the octets differ");
}
