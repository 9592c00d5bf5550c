//! The Prospero protocol, version 5: the directory service that RFC 1738 §3.11 and RFC 4157 define URLs for.
//! Requests and responses consist of text lines, carried by [`crate::ardp`] (`docs/spec/prospero.md`).
//!
//! [`Inquiry`] queries the attributes of an object, [`Contents`] its contents and [`Links`] a directory; [`ResolvedAccess`]
//! is a method to access an object.

mod access;
mod contents;
mod facts;
mod inquiry;
mod line;
mod links;
mod object;
mod question;
mod request;
mod tokens;

pub use access::{AccessMethod, ResolvedAccess};
pub use contents::Contents;
pub use facts::{LinkFacts, ObjectFacts};
pub use inquiry::{Inquiry, InquiryResult};
pub use links::Links;
pub use object::{Attribute, ObjectName};
pub use question::{ObjectId, Question};
