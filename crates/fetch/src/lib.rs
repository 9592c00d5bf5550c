//! Retrieves any URL that [RFC 1738](https://www.rfc-editor.org/rfc/rfc1738) can write: ftp, http, gopher, news, nntp,
//! wais, file, prospero, and https, ftps, gophers and nntps.
//!
//! ```no_run
//! # async fn example() -> Result<(), fetch_url::Error> {
//! let fetcher = fetch_url::Fetcher::new();
//! let text = fetcher.get("gopher://gopher.example.org/0/about").await?.text().await?;
//! let receipt = fetcher.download("ftp://ftp.example.org/pub/iso.img", "iso.img").resume().await?;
//! println!("{} bytes, {}", receipt.bytes, receipt.proof);
//! # Ok(())
//! # }
//! ```
//!
//! A download either completes or returns an error. A file gets its name only when the object is complete. If
//! the protocol cannot prove the end of the object, the [`Proof`] is *assumed*. Redirects, retries, timeouts,
//! limits and the address policy are the same for all schemes ([`Policy`]).
//!
//! | scheme | what a request returns |
//! |---|---|
//! | `http`, `https` | the body of the response; [`Fetcher::list`] reads index pages |
//! | `ftp`, `ftps` | a file, or the [`Listing`] of a directory |
//! | `gopher`, `gophers` | an item, or a menu as a [`Listing`]; Gopher+ attributes and forms |
//! | `news`, `snews`, `nntp`, `nntps` | an article, several articles, or a [`Listing`] of groups or articles |
//! | `wais` | a document, or the [`Listing`] of a search |
//! | `prospero` | the object with this name, from the server that stores it |
//! | `file` | a local file, or the [`Listing`] of a directory |
//! | `telnet`, `mailto` | no data object: [advice](advice::NotFetchable), or a telnet [session](telnet::Session) |
//!
//! # Modules
//! Options of one scheme are in [`http`], [`ftp`], [`gopher`] and [`news`]; files and other destinations in [`output`];
//! proxies and routes in [`network`]; TLS in [`tls`]; passwords in [`credentials`]; directories and mirrors in
//! [`mirror`]; the interface for drivers in [`driver`]; the URL parser in [`url`]. [`blocking`] is for programs without
//! an async runtime.
//!
//! # Runtime
//! The futures of this crate need a tokio runtime with I/O and time enabled (`enable_all`) and panic without it. The crate
//! `tokio` needs the features `rt-multi-thread` and `macros` for `#[tokio::main]`. [`blocking`] creates a runtime by itself, and
//! panics inside another one.
//!
//! # Features
//! `ftp`, `gopher`, `news`, `wais`, `prospero`, `telnet` and `mailto` compile one driver each; all are on by default.
//! `http`, `https` and `file` are always built. `http2`, `brotli`, `zstd`, `html` (index pages) and `public-suffix` (cookies
//! for all hosts of a domain) are parts of HTTP that are on by default. `aws-lc-rs` (default) or `ring` selects the cryptography of TLS.
//!
//! # Platforms
//! Unix systems. The tests run on Linux.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(
        feature = "ftp",
        feature = "gopher",
        feature = "news",
        feature = "prospero",
        feature = "telnet",
        feature = "wais"
    )),
    allow(
        dead_code,
        unused_imports,
        reason = "parts of the network layer serve drivers that are not compiled"
    )
)]

#[cfg(not(unix))]
compile_error!("fetch-url supports Unix systems only");

#[cfg(not(any(feature = "aws-lc-rs", feature = "ring")))]
compile_error!("TLS needs one of the features aws-lc-rs and ring");

pub mod advice;
mod ascii_host;
pub mod blocking;
mod blocking_threads;
mod body;
mod checksum;
pub mod credentials;
mod download;
pub mod driver;
mod drivers;
mod engine;
mod error;
mod fetcher;
mod header_fields;
mod into_request;
mod kernel_pipe;
mod listing;
mod meta;
mod net;
mod observe;
pub mod policy;
mod range;
mod redirect;
mod registry;
mod request;
pub mod response;
mod resume;
mod save;
mod segments;
mod session;
mod sink;
mod source_file;
mod started_future;
mod time;
mod timings;
mod tree;
mod virtual_files;

pub use body::{Body, Proof};
pub use checksum::{Checksum, ChecksumList};
pub use credentials::{Credential, Credentials};
pub use download::Download;
pub use error::{Code, Error, Hint, Phase};
pub use fetch_url_core::{self as url, Url};
pub use fetch_url_proto::{Entry, EntryKind};
pub use fetcher::{Fetcher, FetcherBuilder};
pub use header_fields::HeaderFields;
pub use into_request::IntoRequest;
pub use listing::Listing;
pub use meta::Meta;
pub use net::proxy::Proxy;
pub use net::tls::{TlsOptions, Trust};
pub use policy::{Limits, Policy, Retry, Timeouts};
pub use range::ByteRange;
pub use request::{Condition, PrecedingBytes, Request};
pub use response::{Content, Response};
pub use save::{Progress, Receipt};

/// Options of the HTTP driver (RFC 9110), and cookies.
pub mod http {
    pub use crate::drivers::http::cookie_jar::CookieJar;
    pub use crate::drivers::http::duplicates::{digest, duplicates};
    pub use crate::drivers::http::multipart::{FormPart, Multipart};
    pub use crate::drivers::http::options::{AuthMode, HeaderField, HttpOptions, HttpVersion, IndexRule};
    pub use crate::drivers::http::request_body::RequestBody;
}

/// Options of the file driver (RFC 1738 §3.10).
pub mod file {
    pub use crate::drivers::file::root::FileRoot;
}

/// Options of the FTP driver (RFC 959).
#[cfg(feature = "ftp")]
pub mod ftp {
    pub use crate::drivers::ftp::options::{ActiveAddress, FtpListing, FtpMethod, FtpOptions};
}

/// Options of the gopher driver (RFC 1436, Gopher+).
#[cfg(feature = "gopher")]
pub mod gopher {
    pub use crate::drivers::gopher::options::GopherOptions;
    pub use fetch_url_proto::gopher::DotStuffing;
}

/// Options of the news driver (RFC 3977, RFC 5538).
pub mod news {
    pub use crate::drivers::nntp::options::{ArticleFormat, NewsOptions, UpcomingUrls};
    pub use fetch_url_proto::nntp::ArticlePart;
}

/// The interactive session of a `telnet:` URL (RFC 854).
pub mod telnet {
    pub use crate::session::Session;
}

/// Destinations: files that get their name when they are complete, streams, digests, file names from URLs and servers.
pub mod output {
    pub use crate::resume::Resume;
    pub use crate::save::save;
    pub use crate::segments::Segments;
    pub use crate::sink::Sink;
    pub use crate::sink::digest::Algorithm;
    pub use crate::sink::file::{FileOptions, FileSink, SyncMode};
    pub use crate::sink::name::{safe_dot_name, safe_name};
    pub use crate::sink::output_directory::OutputDirectory;
    pub use crate::sink::saved_file::SavedFile;
    pub use crate::sink::url_name::file_name;
}

/// How servers are reached: proxies, address overrides, interfaces, gateways.
pub mod network {
    pub use crate::engine::gateway::Gateways;
    pub use crate::net::address::AddressClass;
    pub use crate::net::proxy::{Proxies, ProxyKind};
    pub use crate::net::route::{AddressFamily, ConnectTo, Interface, ResolveOverride, Routes};
}

/// Details of TLS: client certificates, pinned keys, versions, upgrades by command.
pub mod tls {
    pub use crate::net::tls::{Identity, Pins, StartTls, TlsVersion};
}

/// Redirects and retries as they happen.
pub mod events {
    pub use crate::observe::{Event, Observer};
}

/// Complete directory listings, and the parts of a mirror: the files of a tree, safe paths, a journal.
pub mod mirror {
    pub use fetch_url_proto::OtherLinkCounts;

    pub use crate::engine::list_all::{DirectoryListing, OrdinaryPage};
    pub use crate::listing::entry_list::{Entries, EntryList};
    pub use crate::sink::dir_handle::DirHandle;
    pub use crate::sink::journal::{Finished, Journal};
    pub use crate::tree::{
        Classified, DirEntry, FileEntries, FileEntry, Glob, ListedName, PossibleDirectories, Skipped,
        SkippedLinks, Tree, TreeRules, UncertainKind,
    };
}

/// Items for the command line and the crate `fetch-url-serve` only. They are public because these are separate crates,
/// and may change in every version.
#[doc(hidden)]
pub mod internal {
    pub use crate::blocking_threads::{Task, run as run_on_thread, start_error as thread_error};
    pub use crate::engine::host_limiter::{HostLimiter, HostPermit};
    pub use crate::error::{CODES, CodeRow};
    pub use crate::fetcher::check_request;
    pub use crate::redirect::{redirect_target, shown_text, shown_url};
    pub use crate::sink::descriptor::Descriptor;
    pub use crate::sink::device::open_direct;
    pub use crate::sink::part_paths::check_permanent_name;
    pub use crate::sink::private::write_private;
    pub use crate::tree::{fold_name, is_hierarchical, url_identity};
}

// Names that the modules of this crate import from the root, like the public names.
pub(crate) use advice::{AdviceValue, NotFetchable};
pub(crate) use body::ByteSource;
pub(crate) use credentials::PromptRequest;
pub(crate) use driver::{Driver, Outcome, Plan, Resend, RunContext};
pub(crate) use engine::host_limiter::HostPermit;
pub(crate) use engine::list_all::DirectoryListing;
pub(crate) use net::connector::Connector;
pub(crate) use net::proxy::Proxies;
pub(crate) use net::route::Routes;
pub(crate) use net::tls::StartTls;
pub(crate) use observe::{Event, Observer};
pub(crate) use output::{
    Algorithm, FileOptions, FileSink, Resume, Sink, file_name, safe_dot_name, safe_name,
};
pub(crate) use policy::{NetworkPolicy, RedirectLimits};
pub(crate) use redirect::{Redirect, RedirectKind};
pub(crate) use request::Want;
pub(crate) use resume::Validator;
pub(crate) use session::Session;
pub(crate) use time::deadline::Deadline;
pub(crate) use timings::Timings;
