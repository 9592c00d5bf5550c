//! Credentials of the library: to which servers they are sent, and where they are not shown.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use fetch_url::credentials::{PromptRequest, Prompter};
use fetch_url::{Credential, Credentials, Error, Fetcher};
use fetch_url_tests::{HttpRequest, HttpResponse, HttpServer};

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

#[test]
fn credential_for_an_ipv6_address_is_found_with_and_without_brackets() {
    let url = "http://[::1]/".parse().expect("a URL");
    for host in ["::1", "[::1]", "0:0::1"] {
        assert!(Credentials::default().for_host(host, login()).has_login_for(&url), "{host}");
    }
    assert!(!Credentials::default().for_host("::2", login()).has_login_for(&url));
}

/// A prompter that counts its questions.
struct CountingPrompter(Arc<AtomicUsize>);

impl Prompter for CountingPrompter {
    fn ask(&self, _: &PromptRequest) -> Result<Option<Credential>, Error> {
        self.0.fetch_add(1, Ordering::SeqCst);
        // Requests that do not wait for this answer ask, too.
        std::thread::sleep(Duration::from_millis(100));
        Ok(Some(login()))
    }
}

fn requires_login(request: &HttpRequest) -> HttpResponse {
    // "user:secret"
    match request.header("Authorization") {
        Some(b"Basic dXNlcjpzZWNyZXQ=") => HttpResponse::new(200).body("content"),
        _ => HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"r\""),
    }
}

#[tokio::test]
async fn parallel_requests_ask_once_for_each_server() {
    const REQUESTS: usize = 6;
    let (all_arrived, asked) = (Barrier::new(REQUESTS), Arc::new(AtomicUsize::new(0)));
    let server = HttpServer::start(move |request| {
        // Every request is refused before the first question is answered.
        if request.header("Authorization").is_none() {
            all_arrived.wait();
        }
        requires_login(request)
    });
    let server = server.expect("a server");
    let credentials = Credentials::default().prompt_with(CountingPrompter(asked.clone()));
    let fetcher = Fetcher::builder().credentials(credentials).build();
    let mut requests = tokio::task::JoinSet::new();
    for _ in 0..REQUESTS {
        let (fetcher, url) = (fetcher.clone(), server.url("/"));
        requests
            .spawn(async move { fetcher.get(url).await.expect("a response").text().await.expect("text") });
    }
    assert_eq!(requests.join_all().await, ["content"; REQUESTS]);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
