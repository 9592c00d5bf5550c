//! Drivers of the caller: which limits the engine applies to them, and how they are found.

use std::fmt;
use std::time::Duration;

use fetch_url::driver::{Driver, Outcome, Plan, RunContext, RunFuture, SchemeSupport};
use fetch_url::url::Url;
use fetch_url::{Body, Code, Content, Error, Fetcher, Meta, Policy, Request, Response, Retry};

/// A driver that answers, or never does.
struct TestDriver {
    schemes: &'static [&'static str],
    answers: bool,
}

impl Driver for TestDriver {
    fn id(&self) -> &'static str {
        "test"
    }

    fn schemes(&self) -> &'static [&'static str] {
        self.schemes
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(TestPlan { url: request.url().clone(), answers: self.answers }))
    }
}

struct TestPlan {
    url: Url<'static>,
    answers: bool,
}

impl Plan for TestPlan {
    fn run(self: Box<Self>, _: RunContext) -> RunFuture {
        Box::pin(async move {
            if !self.answers {
                std::future::pending::<()>().await;
            }
            let content = Content::Body(Body::from_bytes("content"));
            Ok(Outcome::Response(Response::new(Meta::new(self.url), content)))
        })
    }
}

impl fmt::Display for TestPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("get")
    }
}

#[tokio::test]
async fn total_time_ends_a_driver_that_waits_forever() {
    let mut policy = Policy::default().total_timeout(Duration::from_millis(100));
    policy.retry = Retry::never();
    let driver = TestDriver { schemes: &["x-test"], answers: false };
    let fetcher = Fetcher::builder().policy(policy).driver(driver).build();
    let fetched = tokio::time::timeout(Duration::from_secs(30), fetcher.get("x-test:a")).await;
    let error = fetched.expect("an end").expect_err("a timeout");
    assert_eq!(error.code(), Code::TimedOut);
    assert!(error.to_string().contains("maximum time of 0.1 s"), "{error}");
}

#[tokio::test]
async fn scheme_of_a_driver_is_found_in_any_case() {
    let driver = TestDriver { schemes: &["X-UPPER"], answers: true };
    let fetcher = Fetcher::builder().driver(driver).build();
    assert_eq!(fetcher.get("x-upper:a").await.expect("a response").text().await.expect("text"), "content");
}

#[test]
fn removed_scheme_is_found_in_any_case() {
    let url = fetch_url::url::parse("file:///x").expect("a URL").url;
    let fetcher = Fetcher::builder().without("FILE").build();
    assert_eq!(fetcher.support(&url), SchemeSupport::NotBuiltIn);
}
