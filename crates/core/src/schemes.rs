//! The URL types, one module per family of schemes: how each is parsed, printed and split into components.
//!
//! Each `parse` function reads the text after the scheme and hands its URL and the notes to the closure `wrap`, whose
//! result it returns. The URL is thus built inside the result of the caller and never copied.

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
pub use news::{NewsResource, NewsUrl};
pub use nntp::{ArticleNumbers, NntpUrl};
pub use other::OtherUrl;
pub use prospero::ProsperoUrl;
pub use telnet::TelnetUrl;
pub use wais::{WaisResource, WaisUrl};
