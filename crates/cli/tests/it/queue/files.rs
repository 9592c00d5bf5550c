//! The files of lines: those that exist already.

use std::fs;

use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer};

use super::Site;
use super::nats::NatsServer;

/// Answers with `body`, or the range of it that is requested.
fn answer_range(request: &HttpRequest, body: &[u8]) -> HttpResponse {
    let range = request.header_text("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((Ok(first), last)) = range.map(|(first, last)| (first.parse::<usize>(), last)) else {
        return HttpResponse::new(200).header("ETag", "\"new\"").body(body.to_vec());
    };
    let last = last.parse().unwrap_or(body.len() - 1);
    HttpResponse::new(206)
        .header("ETag", "\"new\"")
        .header("Content-Range", format!("bytes {first}-{last}/{}", body.len()))
        .body(body[first..=last].to_vec())
}

#[test]
fn file_of_an_earlier_crawl_with_the_same_size_and_end_is_fetched_again() {
    let Some(nats) = NatsServer::start() else { return };
    let new = [vec![b'n'; 900], vec![b'e'; 100]].concat();
    let body = new.clone();
    let mut site = Site::on(nats, |_| HttpResponse::new(200));
    site.http = HttpServer::start(move |request| answer_range(request, &body)).expect("a server");
    let old = [vec![b'o'; 900], vec![b'e'; 100]].concat();
    fs::write(site.out().join("a"), old).expect("written");
    site.add(&["a"]);
    site.work(&[]).assert_exit(0);
    assert!(fs::read(site.out().join("a")).expect("the file") == new, "the old file was kept");
    assert_eq!(site.count("done"), 1);
}
