//! One file per scheme: its parts, how they are read, how they are printed.

mod file;
mod ftp;
mod gopher;
mod http;
mod mailto;
mod news;
mod nntp;
mod other;
mod prospero;
mod telnet;
mod wais;

pub use file::FileUrl;
pub use ftp::{FtpPath, FtpUrl, Typecode};
pub use gopher::GopherUrl;
pub use http::HttpUrl;
pub use mailto::MailtoUrl;
pub use news::{NewsPart, NewsUrl};
pub use nntp::{Articles, NntpUrl};
pub use other::OtherUrl;
pub use prospero::ProsperoUrl;
pub use telnet::TelnetUrl;
pub use wais::{WaisPart, WaisUrl};
