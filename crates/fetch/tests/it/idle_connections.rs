//! The number of idle HTTP connections of a fetcher is limited.

use std::net::Ipv4Addr;

use fetch_url::network::ConnectTo;
use fetch_url::url::Host;
use fetch_url::{Fetcher, Policy};

use fetch_url_tests::{HttpResponse, HttpServer};

/// More than the limit of 256.
const HOSTS: usize = 260;

#[tokio::test]
async fn connections_that_are_idle_longest_are_closed_when_there_are_too_many() {
    let server = HttpServer::start(|_| HttpResponse::new(200).body("content")).expect("a server");
    let mut policy = Policy::default();
    let to = ConnectTo {
        to_host: Some(Host::V4(Ipv4Addr::LOCALHOST)),
        to_port: Some(server.addr().port()),
        ..ConnectTo::default()
    };
    policy.network.routes.connect_to.push(to);
    let fetcher = Fetcher::builder().policy(policy).build();
    let fetch = async |number: usize| {
        let text =
            fetcher.get(format!("http://host{number}.example/")).await.expect("a response").text().await;
        assert_eq!(text.expect("text"), "content");
    };
    for number in 0..HOSTS {
        fetch(number).await;
    }
    for number in HOSTS - 100..HOSTS {
        fetch(number).await;
    }
    assert_eq!(server.connections(), HOSTS, "the connections that were used last are still open");
    fetch(0).await;
    assert_eq!(server.connections(), HOSTS + 1, "the first connection was closed");
}
