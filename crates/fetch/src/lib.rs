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

mod advice;
pub mod blocking;
mod body;
mod checksum;
mod credentials;
mod deliver;
mod driver;
mod drivers;
mod engine;
mod error;
mod fetcher;
mod net;
mod observe;
mod original;
mod policy;
mod registry;
mod request;
mod response;
mod segments;
mod sink;
mod tree;

pub use advice::{Advice, Fact};
pub use body::{Body, ByteSource, Proof};
pub use checksum::Checksum;
pub use credentials::{Ask, Credential, Credentials, Question};
pub use deliver::{Receipt, Watch, deliver};
pub use driver::{Again, Ctx, Driver, Hop, HopKind, Outcome, Plan, RunFuture};
pub use drivers::ftp::options::{ActiveAddress, FtpListing, FtpOptions, FtpWalk};
pub use drivers::gopher::options::GopherOptions;
pub use drivers::http::cookies::CookieJar;
pub use drivers::http::options::{Field, HttpOptions, HttpVersion};
pub use drivers::nntp::options::{ArticleShape, Next, NntpOptions};
pub use drivers::telnet::{Connect, Session};
pub use engine::asking::Asking;
pub use engine::deadline::Deadline;
pub use engine::gate::Gate;
pub use engine::gateway::Gateways;
pub use engine::listed::Directory;
pub use engine::turns::{Turn, Turns};
pub use error::{CODES, Code, CodeRow, Error, Phase};
pub use fetch_url_core as url;
pub use fetch_url_proto as proto;
pub use fetcher::{Explained, Fetcher, FetcherBuilder};
pub use net::address::AddressClass;
pub use net::dial::Dial;
pub use net::proxy::{Proxies, Proxy, ProxyKind};
pub use net::route::{AddressFamily, AddressPin, Detour, Interface, Routes};
pub use net::tls::{Identity, Pins, StartTls, TlsOptions, TlsVersion, Trust};
pub use observe::{Event, Observe};
pub use policy::{Follow, Limits, MinRate, Policy, Reach, Retry, Schemes, Timeouts};
pub use registry::Standing;
pub use request::{ByteRange, Condition, Request, Resume, SpecialFiles, Validator, Want};
pub use response::{Content, Listing, Meta, Response, Steps};
pub use segments::Segments;
pub use sink::Sink;
pub use sink::beneath::Beneath;
pub use sink::digest::Algorithm;
pub use sink::file::{FileOptions, FileSink, Sync};
pub use sink::journal::{Finished, Journal};
pub use sink::name::{safe_dot_name, safe_name};
pub use sink::private::write_private;
pub use sink::url_name::file_name;
pub use tree::{Branch, Doubt, Glob, Leaf, Passed, Sorted, Tree, TreeRules};
