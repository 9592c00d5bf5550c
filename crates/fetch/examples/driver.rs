//! A driver for a scheme of one's own: `x-memo:NAME` answers from a table in memory. Policy, retries, files and receipts
//! are the same as for every other scheme.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "an example prints, and knows what fails")]

use std::fmt;

use fetch_url::driver::{Driver, Outcome, Plan, RunContext, RunFuture};
use fetch_url::url::Url;
use fetch_url::{Body, Code, Content, Error, Fetcher, Meta, Phase, Request, Response};

struct MemoDriver;

impl Driver for MemoDriver {
    fn id(&self) -> &'static str {
        "memo"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["x-memo"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        let Url::Other(url) = request.url() else {
            return Err(Error::new(Code::Internal, Phase::Plan, "not an x-memo URL"));
        };
        let name = String::from_utf8_lossy(&url.scheme_specific_part().decode()).into_owned();
        Ok(Box::new(MemoPlan { url: request.url().clone(), name }))
    }
}

struct MemoPlan {
    url: Url<'static>,
    name: String,
}

impl Plan for MemoPlan {
    fn run(self: Box<Self>, _: RunContext) -> RunFuture {
        Box::pin(async move {
            let text = match self.name.as_str() {
                "milk" => "two litres\n",
                "bread" => "rye\n",
                _ => return Err(Error::new(Code::NotFound, Phase::Request, "no such memo")),
            };
            let body = Content::Body(Body::from_bytes(text));
            Ok(Outcome::Response(Response::new(Meta::new(self.url), body)))
        })
    }
}

/// `fetch-url explain` and the wire trace show this.
impl fmt::Display for MemoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recall {}", self.name)
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let fetcher = Fetcher::builder().driver(MemoDriver).build();
    println!("{}", fetcher.get("x-memo:milk").await?.text().await?.trim_end());
    let error = fetcher.get("x-memo:jam").await.expect_err("there is no such memo");
    println!("{error}");
    Ok(())
}
