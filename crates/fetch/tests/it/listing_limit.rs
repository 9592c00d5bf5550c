//! A listing that needs more memory than the limit: its entries so far are returned with the error.

use std::fmt;
use std::iter;

use fetch_url::driver::{Driver, Outcome, Plan, RunContext, RunFuture};
use fetch_url::url::Url;
use fetch_url::{Code, Content, Entry, EntryKind, Error, Fetcher, Listing, Meta, Request, Response};
use fetch_url_proto::Details;
use fetch_url_proto::nntp::ArticleDetails;

/// The length of the name or of the subject of each entry.
const TEXT_LENGTH: usize = 16 << 20;
/// The number of entries: as many as the limit of 88 MiB allows, and as many again.
const ENTRIES: usize = 12;

/// A driver whose listings have large entries.
struct LargeDriver(fn() -> Entry);

impl Driver for LargeDriver {
    fn id(&self) -> &'static str {
        "large"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["x-large"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(LargePlan(request.url().clone(), self.0)))
    }
}

struct LargePlan(Url<'static>, fn() -> Entry);

impl Plan for LargePlan {
    fn run(self: Box<Self>, _: RunContext) -> RunFuture {
        let listing = Listing::from_entries(iter::repeat_with(self.1).map(Ok).take(ENTRIES));
        let response = Response::new(Meta::new(self.0), Content::Listing(listing));
        Box::pin(async { Ok(Outcome::Response(response)) })
    }
}

impl fmt::Display for LargePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("list")
    }
}

fn large_name() -> Entry {
    let mut entry = Entry::new(EntryKind::File);
    entry.name = vec![0; TEXT_LENGTH];
    entry
}

fn large_subject() -> Entry {
    let mut entry = Entry::new(EntryKind::File);
    let mut article = ArticleDetails::default();
    article.subject = vec![0; TEXT_LENGTH];
    entry.details = Details::Article(Box::new(article));
    entry
}

#[tokio::test]
async fn listing_whose_names_or_details_exceed_the_memory_limit_is_cut_and_incomplete() {
    for entry in [large_name, large_subject] {
        let fetcher = Fetcher::builder().driver(LargeDriver(entry)).build();
        let request = Request::new("x-large:all").expect("a URL");
        let listing = fetcher.list_all(&request).await.expect("entries");
        assert_eq!(listing.limit_error.map(|error| error.code()), Some(Code::LimitReached));
        assert!(!listing.is_complete);
        assert_eq!(listing.entries.len(), ENTRIES / 2);
    }
}
