//! The Prospero protocol, version 5: the directory service that RFC 1738 §3.11 and RFC 4157 define URLs for.
//! Requests and responses consist of text lines, carried by [`crate::ardp`] (`docs/spec/prospero.md`).
//!
//! [`AttributesQuery`] retrieves the attributes of an object, [`ContentsQuery`] its contents and [`LinksQuery`] the entries of a
//! directory; [`ResolvedAccess`] is a method to access an object.

mod access;
mod attributes_query;
mod contents_query;
mod line;
mod links_query;
mod metadata;
mod object;
mod query;
mod request;
mod tokens;

pub use access::{AccessMethod, ResolvedAccess};
pub use attributes_query::{AttributesQuery, AttributesResult};
pub use contents_query::ContentsQuery;
pub use links_query::LinksQuery;
pub use metadata::{LinkDetails, ObjectMetadata};
pub use object::{Attribute, ObjectName};
pub use query::{ObjectId, Query};
