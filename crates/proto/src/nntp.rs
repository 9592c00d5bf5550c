//! NNTP (RFC 3977) and netnews articles (RFC 5536): the client session, group and article lists, and the article
//! formats.

mod active;
mod capabilities;
mod command;
mod comments;
mod date;
mod details;
mod header;
mod mbox;
mod options;
mod overview;
mod reply;
mod request;
mod session;
mod wildmat;

pub use active::parse_active_line;
pub use date::parse_article_date;
pub use details::{ArticleDetails, GroupDetails};
pub use header::HeaderReader;
pub use mbox::MboxConverter;
pub use options::{Login, SessionOptions, StartTls};
pub use overview::{format_overview_line, parse_overview_line};
pub use reply::is_missing_article_code;
pub use request::{
    ArticleAddress, ArticlePart, GroupName, ListForm, MAX_ARTICLE_NUMBER, MessageId, NameError, NewsRequest,
};
pub use session::{Selected, Session};
pub use wildmat::wildmat;
