//! Gopher+: the line before a body, refusals, attributes, views and forms ("Gopher+", Anklesaria et
//! al., 1993; RFC 1738 §3.4.3 to §3.4.9).
//!
//! Only octets to what they say, and a filled form to octets: no menu, no request line, no
//! connection.

mod admin;
mod answers;
mod ask;
mod attributes;
mod data_block;
mod head;
mod refusal;
mod status;
mod views;

pub use admin::Admin;
pub use answers::{AnswerError, answers};
pub use ask::{Question, QuestionKind};
pub use attributes::{Attributes, AttributesReader, Block};
pub use data_block::is_data_block;
pub use refusal::Refusal;
pub use status::{Framing, STATUS_OCTETS, Status, status};
pub use views::View;
