//! A scheme of one's own: `x-memo:NAME` answers from a table in memory. The engine, limits, sinks
//! and receipts are the same as for every other scheme.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::fmt;

use fetch_url::url::Url;
use fetch_url::{
    Body, Code, Content, Ctx, Driver, Error, Fetcher, Meta, Outcome, Phase, Plan, Request, Response,
    RunFuture, Sink, deliver,
};

struct Memos;

struct Recall {
    url: Url<'static>,
    name: String,
}

impl Driver for Memos {
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
        let name = String::from_utf8_lossy(&url.rest().decode()).into_owned();
        Ok(Box::new(Recall { url: request.url().clone(), name }))
    }
}

impl Plan for Recall {
    fn run(self: Box<Self>, _: Ctx) -> RunFuture {
        Box::pin(async move {
            let text = match self.name.as_str() {
                "milk" => "two litres\n",
                "bread" => "rye\n",
                _ => return Err(Error::new(Code::NotFound, Phase::Request, "no such memo")),
            };
            let body = Content::Body(Body::from_bytes(text));
            Ok(Outcome::Answer(Response::new(Meta::new(self.url), body)))
        })
    }
}

impl fmt::Display for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recall {}", self.name)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let fetcher = Fetcher::builder().driver(Memos).build();
    let response = fetcher.get("x-memo:milk").await?;
    let receipt = deliver(response, Sink::writer(std::io::stdout()), &mut ()).await?;
    println!("{} octets, {}", receipt.bytes, receipt.proof);

    let missing = fetcher.get("x-memo:jam").await.err().map(|error| error.code());
    println!("x-memo:jam: {missing:?}");
    Ok(())
}
