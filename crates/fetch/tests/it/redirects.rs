//! The metadata of redirects.

use fetch_url::{Fetcher, Policy};
use fetch_url_tests::{HttpResponse, HttpServer};

#[tokio::test]
async fn metadata_of_each_redirect_is_kept_in_order() {
    let server = HttpServer::start(|request| match &*request.path() {
        "/a" => HttpResponse::new(301).header("Location", "/b"),
        "/b" => HttpResponse::new(302).header("Location", "/c"),
        _ => HttpResponse::new(200).body("end"),
    })
    .expect("a server");
    let response = Fetcher::new().get(server.url("/a")).await.expect("a response");
    let statuses: Vec<_> = response.meta.earlier.iter().map(|meta| meta.status).collect();
    assert_eq!((statuses, response.meta.redirects), (vec![Some(301), Some(302)], 2));
    assert_eq!(response.text().await.expect("a body"), "end");
}

#[tokio::test]
async fn redirect_that_is_not_followed_is_the_only_response() {
    let server = HttpServer::start(|_| HttpResponse::new(301).header("Location", "/b")).expect("a server");
    let mut policy = Policy::default();
    policy.redirects.max_redirects = None;
    let fetcher = Fetcher::builder().policy(policy).build();
    let response = fetcher.get(server.url("/a")).await.expect("a response");
    let meta = &response.meta;
    assert_eq!((meta.status, meta.earlier.len(), meta.redirects), (Some(301), 0, 0));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn metadata_of_at_most_100_redirects_is_kept() {
    let server = HttpServer::start(|request| {
        let number: u32 = request.path().trim_start_matches('/').parse().expect("a number");
        match number {
            105 => HttpResponse::new(200).body("end"),
            number => HttpResponse::new(301).header("Location", format!("/{}", number + 1)),
        }
    })
    .expect("a server");
    let mut policy = Policy::default();
    policy.redirects.max_redirects = Some(200);
    let response = Fetcher::builder().policy(policy).build().get(server.url("/0")).await.expect("a response");
    assert_eq!((response.meta.earlier.len(), response.meta.redirects), (100, 105));
}
