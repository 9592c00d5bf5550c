//! Credentials of the library: to which servers they are sent, and where they are not shown.

use fetch_url::{Credential, Credentials, Fetcher};
use fetch_url_tests::{HttpResponse, HttpServer};

fn login() -> Credential {
    Credential::new(b"user", Some(b"secret".to_vec()))
}

/// Returns whether the server got a login.
async fn sends_login(credentials: Credentials, server: &HttpServer, url: &str) -> bool {
    Fetcher::builder().credentials(credentials).build().get(url).await.expect("a response");
    server.requests().last().is_some_and(|request| request.header("Authorization").is_some())
}

#[tokio::test]
async fn credential_for_a_host_is_sent_to_this_host_only() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("x")).expect("a server");
    let url = server.url("/");
    let for_host = |host| Credentials::default().for_host(host, login());
    assert!(sends_login(for_host("127.0.0.1"), &server, &url).await);
    assert!(!sends_login(for_host("127.0.0.2"), &server, &url).await);
    let with_user = |user: &str| url.replace("//", &format!("//{user}@"));
    assert!(sends_login(for_host("127.0.0.1"), &server, &with_user("user")).await);
    assert!(!sends_login(for_host("127.0.0.1"), &server, &with_user("other")).await, "another user");
}

#[test]
fn passwords_are_not_shown_by_debug() {
    let credentials = Credentials::default().for_every_url(login()).for_host("h", login());
    let shown = format!("{:?} {credentials:?}", login());
    assert!(shown.contains("user:***") && !shown.contains("secret"), "{shown}");
}
