//! FTP, Gopher, NNTP, WAIS, Prospero, Telnet and proxy clients as state machines without I/O.
//!
//! A *sans-I/O* implementation of a protocol contains no sockets, clocks, threads or async functions. It is given the
//! bytes that were received and returns the bytes to send. The caller owns the connection, so the same code works with
//! every runtime, blocking or async, and a test can replay an exchange byte by byte.
//!
//! The interface is [`Machine`]: the caller puts received bytes into a [`RecvBuffer`], calls [`Machine::step`], and
//! performs the [`Step`] that it returns.
//!
//! ```
//! use fetch_url_core::{Url, parse};
//! use fetch_url_proto::gopher::{DotStuffing, Exchange, GopherRequest};
//! use fetch_url_proto::{Event, Machine, RecvBuffer, Step};
//!
//! let parsed = parse("gopher://gopher.example.org/0/hello.txt")?;
//! let Url::Gopher(url) = &parsed.url else { unreachable!() };
//! let request = GopherRequest::from_url(url)?;
//! let mut machine = Exchange::new(&request, url.gtype(), DotStuffing::default(), false, None);
//!
//! // This program has no socket: two packets, and then the server closes the connection.
//! let mut packets = [&b"Hello"[..], b", world\r\n.\r\n"].into_iter();
//! let mut received = RecvBuffer::new();
//! let (mut sent, mut body) = (Vec::new(), Vec::new());
//! loop {
//!     match machine.step(&mut received)? {
//!         Step::Send(bytes) => sent.extend_from_slice(&bytes),
//!         Step::NeedMore => match packets.next() {
//!             Some(packet) => received.push(packet),
//!             None => received.mark_closed(),
//!         },
//!         Step::Emit(Event::Body(bytes)) => body.extend_from_slice(&bytes),
//!         Step::Emit(Event::Rejected(rejection)) => panic!("{rejection:?}"),
//!         Step::Emit(_) => {}
//!         Step::Done => break,
//!         Step::StartTls | Step::StartDeflate => unreachable!("Gopher uses neither"),
//!     }
//! }
//! assert_eq!(sent, b"/hello.txt\r\n");
//! assert_eq!(body, b"Hello, world\r\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Protocols
//!
//! | Protocol | Module | Contents | Specification |
//! |---|---|---|---|
//! | FTP | [`ftp`] | commands, login, pipelining, data connections | RFC 959, 2428, 3659, 4217 |
//! | FTP listings | [`ftp_list`] | MLSD, Unix, DOS, EPLF, VMS, NLST | RFC 3659 §7 |
//! | Gopher | [`gopher`] | requests, menus, text, searches | RFC 1436, RFC 4266 |
//! | Gopher+ | [`gopher_plus`] | attributes, views, forms | Gopher+ (1993) |
//! | NNTP | [`nntp`] | articles, groups, overview, mbox | RFC 3977, 4642, 4643, 8054 |
//! | WAIS | [`wais`] | search and retrieval | RFC 1625 |
//! | Prospero | [`prospero`] | queries, directories, access methods | Prospero version 5 |
//! | ARDP | [`ardp`] | the datagrams that carry Prospero | Prospero version 5 |
//! | Telnet | [`telnet`] | a session that refuses every option | RFC 854 |
//! | SOCKS 4, 4a, 5; HTTP CONNECT | [`proxy`] | tunnels through proxies | RFC 1928, 1929, 9110 §9.3.6 |
//! | HTTP index pages | [`IndexPage`] | directory listings in HTML | none |
//! | HTML pages, CSS | [`HtmlLinks`], [`CssLinks`] | links | none |
//!
//! FTP has two connections and its own interface, [`ftp::Session`]; ARDP is a datagram protocol and needs to know the
//! time ([`ardp::Exchange`]). All other protocols implement [`Machine`]. HTTP itself is not part of this crate.
//!
//! # Guarantees
//!
//! - Received bytes are untrusted. Every line, reply and message has a size limit; exceeding it is
//!   [`WireError::LimitExceeded`]. No input causes a panic.
//! - Arguments are checked before they are sent: a percent-encoded CR LF in a URL cannot become a second command
//!   ([`ForbiddenByte`], RFC 1738 §6). [`check_sendable`] checks a whole URL.
//! - Passwords do not appear in `Debug` output or in the lines of a trace ([`Event::Sent`], [`Event::Received`]).
//! - [`text::sanitise`] makes received text safe to print on a terminal.
//!
//! The crate builds for `wasm32-unknown-unknown`.

#![forbid(unsafe_code)]

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod ardp;
pub mod calendar;
mod entry;
mod forbidden;
pub mod ftp;
pub mod ftp_list;
pub mod gopher;
pub mod gopher_plus;
#[cfg(feature = "html")]
mod html_tokens;
pub mod http_date;
#[cfg(feature = "html")]
mod index_page;
mod link_field;
mod listing_counts;
mod machine;
pub mod metalink;
pub mod nntp;
mod page_links;
pub mod prospero;
pub mod proxy;
mod recv_buffer;
mod rejection;
mod sendable;
pub mod telnet;
pub mod text;
pub mod typed_date;
mod untrusted;
pub mod wais;
mod wire_error;

pub use entry::{Details, Entry, EntryKind, Head, OtherLinkCounts};
pub use forbidden::{ForbiddenByte, ForbiddenSet};
#[cfg(feature = "html")]
pub use index_page::{IndexPage, is_field_of_several_pages};
pub use link_field::{FieldLink, field_links};
pub use listing_counts::ListingCounts;
pub use machine::{Event, Machine, Step};
#[cfg(feature = "html")]
pub use page_links::HtmlLinks;
pub use page_links::{CssLinks, PageKind, PageLink};
pub use recv_buffer::RecvBuffer;
pub use rejection::Rejection;
pub use sendable::check_sendable;
pub use wire_error::WireError;
