//! A listing that needs more memory than the limit: its entries so far are returned with the error.

use std::fmt;
use std::iter;

use fetch_url::driver::{Driver, Outcome, Plan, RunContext, RunFuture};
use fetch_url::url::Url;
use fetch_url::{Code, Content, Entry, EntryKind, Error, Fetcher, Listing, Meta, Request, Response};

/// The length of each name.
const NAME_LENGTH: usize = 16 << 20;
/// The number of entries: twice as many as the limit of 128 MiB allows.
const ENTRIES: usize = 16;

/// A driver whose listings are too large.
struct LargeDriver;

impl Driver for LargeDriver {
    fn id(&self) -> &'static str {
        "large"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["x-large"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(LargePlan(request.url().clone())))
    }
}

struct LargePlan(Url<'static>);

impl Plan for LargePlan {
    fn run(self: Box<Self>, _: RunContext) -> RunFuture {
        let entry = || {
            let mut entry = Entry::new(EntryKind::File);
            entry.name = vec![0; NAME_LENGTH];
            Ok(entry)
        };
        let listing = Listing::from_entries(iter::repeat_with(entry).take(ENTRIES));
        let response = Response::new(Meta::new(self.0), Content::Listing(listing));
        Box::pin(async { Ok(Outcome::Response(response)) })
    }
}

impl fmt::Display for LargePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("list")
    }
}

#[tokio::test]
async fn listing_over_the_memory_limit_is_cut_and_incomplete() {
    let fetcher = Fetcher::builder().driver(LargeDriver).build();
    let request = Request::new("x-large:all").expect("a URL");
    let listing = fetcher.list_all(&request).await.expect("entries");
    assert_eq!(listing.limit_error.map(|error| error.code()), Some(Code::LimitReached));
    assert!(!listing.is_complete);
    assert_eq!(listing.entries.len(), ENTRIES / 2);
}
