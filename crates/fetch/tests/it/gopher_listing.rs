//! A gopher menu read entry by entry: limits and the missing terminator apply there too.

use std::time::{Duration, Instant};

use fetch_url::{Code, Content, Fetcher, Listing, Policy, Proof, Request};
use fetch_url_tests::{Ending, GopherAction, GopherConfig, GopherItem, GopherServer, GopherTrigger};

const MENU: &str = "0a\t/a\th.example\t70\r\n";

async fn menu(site: GopherConfig, policy: Policy) -> (Listing, GopherServer) {
    let server =
        GopherServer::start(site.item(GopherItem::new('1', "/m", MENU))).expect("a server on loopback");
    let fetcher = Fetcher::builder().policy(policy).build();
    let request = Request::new(&server.url("1/m")).expect("a URL");
    let response = fetcher.fetch(request).await.expect("a menu");
    let Content::Listing(listing) = response.content else { panic!("{:?}", response.content) };
    (listing, server)
}

#[tokio::test]
async fn stalled_menu_fails_after_the_idle_timeout() {
    let mut policy = Policy::default();
    policy.timeouts.idle = Duration::from_millis(200);
    policy.retry.max_retries = 0;
    let stall = GopherAction::Cut(MENU.len() as u64 + 2, Ending::Stall(Duration::from_secs(3)));
    let (mut listing, _server) = menu(GopherConfig::new().on(GopherTrigger::Any, stall), policy).await;
    let begun = Instant::now();
    assert!(listing.next().await.expect("the first entry").is_some());
    assert_eq!(listing.next().await.expect_err("nothing comes").code(), Code::TimedOut);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn menu_without_final_dot_is_assumed_or_fails_if_proof_is_required() {
    for requires_proof in [false, true] {
        let mut policy = Policy::default();
        policy.limits.requires_proof = requires_proof;
        let (mut listing, _server) = menu(GopherConfig::new().no_dot(), policy).await;
        assert!(listing.next().await.expect("the first entry").is_some());
        match listing.next().await {
            Ok(None) if !requires_proof => assert!(matches!(listing.proof(), Proof::Assumed(_))),
            Err(error) if requires_proof => assert_eq!(error.code(), Code::Truncated),
            other => panic!("{other:?}"),
        }
    }
}
