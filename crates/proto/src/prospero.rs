//! Prospero, version 5: the directory service that RFC 1738 §3.11 and RFC 4157 name objects of. A request is a text
//! of lines, and so is its answer; [`crate::ardp`] carries both.
//!
//! An object is asked about ([`Inquiry`]); what is found are ways to its octets ([`Way`]), the octets themselves
//! ([`Contents`]), or the links of a directory ([`Links`]).

mod access;
mod contents;
mod facts;
mod inquiry;
mod line;
mod links;
mod question;
mod talk;
mod tokens;

pub use access::{AccessMethod, Way};
pub use contents::Contents;
pub use facts::{Attribute, LinkFacts, ObjectFacts, ObjectName};
pub use inquiry::{Inquired, Inquiry};
pub use links::Links;
pub use question::{ObjectId, Question};

pub(crate) use question::requests;
