//! FTP (RFC 1738 §3.2): its commands and replies, without a connection.
//!
//! An [`Errand`] says where an object is and what is wanted of it; a [`Session`] says what to say next
//! and what the replies mean. The octets of listings are read by [`crate::ftp_list`].

mod command;
mod errand;
mod facts;
mod outline;
mod port;
mod session;

pub use command::{Command, Iac, Verb};
pub use errand::{Errand, Form, ListVerb, Method, Task, Wish};
pub use facts::{Facts, Modified};
pub(crate) use outline::requests;
pub use port::port_argument;
pub use session::{DataRoad, Fault, Login, Pace, Session, Step};
