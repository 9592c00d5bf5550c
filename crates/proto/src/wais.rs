//! The WAIS client protocol: Z39.50-1988 with the WAIS information part, as in RFC 1625 and the software of its
//! time (`docs/spec/wais.md`).
//!
//! Every message has a header of 25 bytes and one APDU. A search is PDU 22 with words; a retrieval is PDU 22 with
//! a document identifier and a byte range; PDU 23 is the response to both. Requests are never pipelined: servers
//! drop requests that arrive together.

mod coding;
mod frame;
mod request;
mod response;
mod retrieval;
mod search;
mod url_parts;

pub use request::{DocumentId, WaisName, WaisNameError};
pub use response::{Diagnostic, DocumentDetails};
pub use retrieval::Retrieval;
pub use search::Search;

pub(crate) use url_parts::document_id;
