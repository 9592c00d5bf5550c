//! News (RFC 3977, RFC 5536): what a conversation with a server says and means, its lists, and the articles
//! themselves.

mod active;
mod ask;
mod capabilities;
mod command;
mod date;
mod facts;
mod header;
mod mbox;
mod outline;
mod overview;
mod reply;
mod session;
mod terms;
mod wildmat;

pub use active::active_entry;
pub use ask::{ArticleAt, Ask, GroupName, ListForm, MOST_NUMBER, MessageId, NameError, Part};
pub use date::date_seconds;
pub use facts::{ArticleFacts, GroupFacts};
pub use header::HeaderReader;
pub use mbox::Mbox;
pub use overview::{overview_entry, overview_line};
pub use session::{Selected, Session};
pub use terms::{Login, StartTls, Terms};
pub use wildmat::wildmat;

pub(crate) use outline::{news_requests, requests};
