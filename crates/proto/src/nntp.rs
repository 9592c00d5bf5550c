//! NNTP (RFC 3977) and netnews articles (RFC 5536): the client session, group and article lists, and the article
//! formats.

mod active;
mod capabilities;
mod command;
mod comments;
mod date;
mod facts;
mod header;
mod mbox;
mod options;
mod overview;
mod reply;
mod request;
mod session;
mod wildmat;

pub use active::active_entry;
pub use date::date_seconds;
pub use facts::{ArticleFacts, GroupFacts};
pub use header::HeaderReader;
pub use mbox::Mbox;
pub use options::{Login, SessionOptions, StartTls};
pub use overview::{overview_entry, overview_line};
pub use request::{
    ArticleAddress, ArticlePart, GroupName, ListForm, MAX_ARTICLE_NUMBER, MessageId, NameError, NewsRequest,
};
pub use session::{Selected, Session};
pub use wildmat::wildmat;
