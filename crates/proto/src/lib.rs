//! What the wire says: octets in, events out. No socket, no clock, no TLS, no runtime.
//!
//! A [`Machine`] is asked for its next [`Step`] and given an [`Inbox`] of octets that have arrived.
//! It never waits and never reads: whoever holds the connection does. So a whole conversation can
//! be played in a test, cut at every octet.
//!
//! [`outline`] says, without any connection, what a URL would make the client send.

pub mod ardp;
pub mod calendar;
mod entry;
mod forbidden;
pub mod ftp;
pub mod ftp_list;
pub mod gopher;
pub mod gopher_plus;
mod http;
mod inbox;
mod index_page;
mod machine;
pub mod nntp;
mod outline;
pub mod prospero;
mod refused;
mod stranger;
pub mod telnet;
pub mod text;
pub mod wais;

pub use entry::{Details, Entry, EntryKind, Head};
pub use forbidden::{ForbiddenOctet, Octets};
pub use inbox::Inbox;
pub use index_page::IndexPage;
pub use machine::{Event, Machine, Step, WireError};
pub use outline::{Outline, outline};
pub use refused::Refused;
