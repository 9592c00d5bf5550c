//! Go and get it: one call that retrieves the object a URL names.
//!
//! ```no_run
//! # async fn run() -> Result<(), fetch_url::Error> {
//! use fetch_url::{FileOptions, FileSink, Fetcher, Request, Sink, deliver};
//!
//! let fetcher = Fetcher::new();
//! let request = Request::new("http://example.com/iso.img")?;
//! let sink = FileSink::open("iso.img".as_ref(), FileOptions::default().resuming(true))?;
//! let resume = sink.resume_of(request.url());
//! let response = fetcher.fetch(request.resuming(resume)).await?;
//! let receipt = deliver(response, Sink::file(sink), &mut ()).await?;
//! println!("{} octets, {}", receipt.bytes, receipt.proof);
//! # Ok(())
//! # }
//! ```
//!
//! The file to read first is `engine.rs`: the one loop that every URL goes through.

pub mod blocking;
mod body;
mod deliver;
mod driver;
mod drivers;
mod engine;
mod error;
mod fetcher;
mod net;
mod original;
mod policy;
mod registry;
mod request;
mod response;
mod sink;

pub use body::{Body, ByteSource, Proof};
pub use deliver::{Receipt, Watch, deliver};
pub use driver::{Ctx, Driver, Hop, Outcome, Plan, RunFuture};
pub use engine::deadline::Deadline;
pub use error::{CODES, Code, CodeRow, Error, Phase};
pub use fetch_url_core as url;
pub use fetch_url_proto as proto;
pub use fetcher::{Explained, Fetcher, FetcherBuilder};
pub use net::address::AddressClass;
pub use net::dial::Dial;
pub use net::tls::Trust;
pub use policy::{Follow, Limits, Policy, Reach, Timeouts};
pub use registry::Standing;
pub use request::{ByteRange, DeliverErrors, Request, Resume, SpecialFiles, Validator, Want};
pub use response::{Advice, Content, Listing, Meta, Response};
pub use sink::Sink;
pub use sink::digest::Algorithm;
pub use sink::file::{FileOptions, FileSink, Sync};
pub use sink::name::safe_name;
