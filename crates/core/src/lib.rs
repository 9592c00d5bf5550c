//! What a URL says: text in, typed URL out, for every scheme of RFC 1738.
//!
//! ```
//! use fetch_url_core::{Url, parse};
//!
//! let parsed = parse("ftp://myname@host.dom/%2Fetc/motd;type=a")?;
//! let Url::Ftp(ftp) = &parsed.url else { unreachable!() };
//! let path = ftp.path().expect("there is a slash after the host");
//! let cwds: Vec<_> = path.cwds().map(|cwd| cwd.decode().into_owned()).collect();
//! assert_eq!(cwds, [b"/etc"]);
//! assert_eq!(&*path.name().decode(), b"motd");
//! assert_eq!(parsed.url.to_string(), "ftp://myname@host.dom/%2Fetc/motd;type=a");
//! # Ok::<(), fetch_url_core::ParseError>(())
//! ```
//!
//! Parsing borrows from the text and allocates nothing unless something had to be noted.
//! This crate knows no I/O, no clock and no other crate of the project.

mod authority;
mod error;
mod escape;
mod find;
mod host;
mod note;
mod parse;
mod part;
mod reader;
mod redact;
mod resolve;
mod scheme_table;
mod schemes;
mod url;

pub use error::{ParseError, ParseErrorKind};
pub use escape::{CharSet, Escaped};
pub use find::{Found, find_urls};
pub use host::{Host, HostPort, Login, Secret};
pub use note::{Note, NoteKind};
pub use parse::{Dialect, MAX_LENGTH, Parsed, parse, parse_with};
pub use part::Part;
pub use redact::mask_password;
pub use resolve::resolve;
pub use scheme_table::{Family, SCHEMES, Scheme, Security, Standing, scheme};
pub use schemes::{
    Articles, FileUrl, FtpPath, FtpUrl, GopherUrl, HttpUrl, MailtoUrl, NewsPart, NewsUrl, NntpUrl, OtherUrl,
    ProsperoUrl, TelnetUrl, Typecode, WaisPart, WaisUrl,
};
pub use url::Url;

/// RFC 1738's character classes, each with the section that names it.
pub mod charset {
    pub use crate::escape::sets::*;
}
