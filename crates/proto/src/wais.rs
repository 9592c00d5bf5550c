//! WAIS: Z39.50-1988 and its information part, as RFC 1625 and the programs of its time have them.
//!
//! Every message has a header of 25 octets and one APDU. To search is PDU 22 with words, to retrieve is PDU 22
//! with the identifier of a document and a range of its octets; PDU 23 answers both. Strictly one request, one
//! answer: servers drop what comes together.

mod answer;
mod coding;
mod frame;
mod outline;
mod request;
mod retrieval;
mod search;

pub use answer::{Diagnostic, DocumentFacts};
pub use request::{DocumentId, WaisName, WaisNameError};
pub use retrieval::Retrieval;
pub use search::Search;

pub(crate) use outline::{document_id, requests};
