//! Compares the parsing time per URL with that of other parsers, in rounds that alternate between the parsers.
//!
//! Run it with `cargo bench -p fetch-url-core`. Each parser is timed until it returns its result. This crate has then
//! also checked and split the components of the scheme.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::time::{Duration, Instant};

/// URLs that all parsers accept, 45 bytes long on average.
const URLS: [&str; 12] = [
    "http://www.example.com/instructions/overview.html",
    "https://docs.rs/fluent-uri/0.4.1/fluent_uri/",
    "http://ds.internic.net:8080/cgi-bin/find?rfc+1738",
    "https://192.0.2.17/a/b/c?d=e&f=g",
    "ftp://ftp.example.org/pub/mirror/debian/ls-lR.gz",
    "ftp://anonymous:guest@ftp.funet.fi:2121/pub/README",
    "gopher://gopher.floodgap.com:70/0/gopher/welcome",
    "gopher://gopher.example/7/v2/vs%09search%20words",
    "nntp://news.example.net/comp.infosystems.www/12345",
    "wais://quake.think.com/directory-of-servers?wine",
    "telnet://guest@melvyl.ucop.example:2323/",
    "prospero://host.example//pros/name/of/it",
];

/// The number of rounds of each parser.
const ROUNDS: usize = 15;
/// The duration of one round.
const ROUND_TIME: Duration = Duration::from_millis(40);

/// A parser and the time of each of its rounds, in nanoseconds per URL.
struct Peer {
    name: &'static str,
    accepts: fn(&str) -> bool,
    rounds: Vec<f64>,
}

impl Peer {
    const fn new(name: &'static str, accepts: fn(&str) -> bool) -> Self {
        Self { name, accepts, rounds: Vec::new() }
    }

    fn run_round(&mut self) {
        let start = Instant::now();
        let mut urls = 0_u32;
        while start.elapsed() < ROUND_TIME {
            for _ in 0..100 {
                for url in URLS {
                    black_box((self.accepts)(black_box(url)));
                }
            }
            urls += 100 * URLS.len() as u32;
        }
        self.rounds.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(urls));
    }

    fn best_and_median(&mut self) -> (f64, f64) {
        self.rounds.sort_by(f64::total_cmp);
        (self.rounds[0], self.rounds[ROUNDS / 2])
    }
}

/// Keeps the compiler from removing an unused result. Takes a reference, so that the result is not moved.
fn is_ok<T, E>(result: &Result<T, E>) -> bool {
    black_box(result).is_ok()
}

fn main() {
    let mut peers = [
        Peer::new("fetch-url-core", |url| is_ok(&fetch_url_core::parse(url))),
        Peer::new("fetch-url-core, Rfc1738", |url| {
            is_ok(&fetch_url_core::parse_with(url, fetch_url_core::Dialect::Rfc1738))
        }),
        Peer::new("fluent-uri", |url| is_ok(&fluent_uri::Uri::parse(url))),
        Peer::new("http::Uri", |url| is_ok(&url.parse::<http::Uri>())),
        Peer::new("iri-string", |url| is_ok(&iri_string::types::UriStr::new(url))),
        Peer::new("url", |url| is_ok(&url::Url::parse(url))),
    ];
    for peer in &peers {
        for url in URLS {
            assert!((peer.accepts)(url), "{} rejects {url}", peer.name);
        }
    }
    for _ in 0..ROUNDS {
        peers.iter_mut().for_each(Peer::run_round);
    }
    let bytes: usize = URLS.iter().map(|url| url.len()).sum();
    let mean = bytes as f64 / URLS.len() as f64;
    println!("{} URLs of {mean:.0} bytes on average, {ROUNDS} alternating rounds of each parser", URLS.len());
    println!("{:<24} {:>8} {:>8} {:>8}", "ns per URL", "best", "median", "ratio");
    let (_, ours) = peers[0].best_and_median();
    for peer in &mut peers {
        let (best, median) = peer.best_and_median();
        println!("{:<24} {best:>8.1} {median:>8.1} {:>8.2}", peer.name, median / ours);
    }
}
