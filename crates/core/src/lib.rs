//! A strict, allocation-free parser for the URLs of RFC 1738.
//!
//! Every scheme has a type of its own, with accessors for what its protocol needs: the directories and the typecode of
//! an FTP URL, the selector of a Gopher URL, the article number of an NNTP URL.
//!
//! ```
//! use fetch_url_core::{Url, parse};
//!
//! let parsed = parse("ftp://myname@host.dom/%2Fetc/motd;type=a")?;
//! let Url::Ftp(ftp) = &parsed.url else { unreachable!() };
//! let path = ftp.path().expect("a slash follows the host");
//! let directories: Vec<_> = path.cwds().map(|cwd| cwd.decode().into_owned()).collect();
//! assert_eq!(directories, [b"/etc"]);
//! assert_eq!(&*path.name().decode(), b"motd");
//! assert_eq!(parsed.url.to_string(), "ftp://myname@host.dom/%2Fetc/motd;type=a");
//! # Ok::<(), fetch_url_core::ParseError>(())
//! ```
//!
//! # Schemes
//!
//! | Schemes | Type | Defined in |
//! |---|---|---|
//! | `ftp`, `ftps` | [`FtpUrl`] | RFC 1738 §3.2 |
//! | `http`, `https` | [`HttpUrl`] | RFC 1738 §3.3 |
//! | `gopher`, `gophers` | [`GopherUrl`] | RFC 1738 §3.4 |
//! | `mailto` | [`MailtoUrl`] | RFC 1738 §3.5, RFC 6068 |
//! | `news`, `snews` | [`NewsUrl`] | RFC 1738 §3.6, RFC 5538 |
//! | `nntp`, `nntps` | [`NntpUrl`] | RFC 1738 §3.7, RFC 5538 |
//! | `telnet` | [`TelnetUrl`] | RFC 1738 §3.8, RFC 4248 |
//! | `wais` | [`WaisUrl`] | RFC 1738 §3.9, RFC 4156 |
//! | `file` | [`FileUrl`] | RFC 1738 §3.10, RFC 8089 |
//! | `prospero` | [`ProsperoUrl`] | RFC 1738 §3.11, RFC 4157 |
//! | every other scheme | [`OtherUrl`] | RFC 1738 §4 and §5 |
//!
//! # Behaviour
//!
//! - [`parse`] applies the lenient dialect: common deviations from RFC 1738 are accepted and reported as [`Note`]s.
//!   [`parse_with`] also offers the strict grammar of RFC 1738 and the BNF of 1993 ([`Dialect`]).
//! - Text that could be read in two ways is an error with its place in the text ([`ParseError`]): spaces, backslashes,
//!   control characters, a second `@` in front of the host, numbers such as `0x7f.1` in place of an IPv4 address.
//! - Paths and queries are not normalised: `/a/../b` and `%2e` stay. Every correction of the text is a note. Components
//!   stay [`PercentEncoded`] until the caller decodes them, once.
//! - Parsing borrows from the text. It allocates only for notes and for text that it had to change.
//! - Passwords are masked by Debug and by [`Url::redacted`]. Display prints them.
//! - [`find_urls`] finds URLs in prose, [`resolve_reference`] resolves relative references, [`mask_password`] masks the
//!   password in text that is not a URL. [`guess`] adds the scheme to a host that a person typed without one; the parser
//!   never does.
//!
//! The crate does no I/O and builds for `wasm32-unknown-unknown`.
//!
//! # Features
//!
//! - `idn` (off by default): the lenient dialect converts non-ASCII host names to their `xn--` form (UTS 46,
//!   non-transitional). Without it such names are errors.

#![forbid(unsafe_code)]

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod authority;
mod component;
mod dialect;
mod error;
mod find;
mod guess;
mod host;
mod news_server;
mod note;
mod parse;
mod parsed;
mod password_span;
mod percent_encoding;
mod read_authority;
mod reader;
mod redact;
mod resolve;
mod scheme_table;
mod schemes;
mod url;

pub use authority::{Authority, Password, UserInfo};
pub use component::Component;
pub use dialect::Dialect;
pub use error::{ParseError, ParseErrorKind};
pub use find::{FoundUrl, find_urls};
pub use guess::{Guess, guess};
pub use host::{Host, HostPort};
pub use note::{Note, NoteKind};
pub use parse::{MAX_LENGTH, parse, parse_with};
pub use parsed::Parsed;
pub use percent_encoding::{CharSet, PercentEncoded};
pub use redact::mask_password;
pub use resolve::{reference_text, resolve_reference};
pub use scheme_table::{SCHEMES, Scheme, SchemeFamily, SchemeStatus, Security, find_scheme};
pub use schemes::{
    ArticleNumbers, FileUrl, FtpPath, FtpUrl, GopherUrl, HttpUrl, MailtoUrl, NewsResource, NewsUrl, NntpUrl,
    OtherUrl, ProsperoUrl, TelnetUrl, Typecode, WaisResource, WaisUrl,
};
pub use url::Url;

/// The character classes of RFC 1738 as [`CharSet`] constants, for [`PercentEncoded::encode`] and
/// [`CharSet::contains`]. Section numbers are those of RFC 1738.
pub mod charset {
    pub use crate::percent_encoding::sets::*;
}
