//! Gopher+ formats: status lines, refusals, attributes, views and forms ("Gopher+", Anklesaria et al., 1993; RFC
//! 1738 §3.4.3 to §3.4.9).
//!
//! This module only parses and formats bytes. Requests, menus and connections are in [`crate::gopher`].

mod admin;
mod answers;
mod ask;
mod attributes;
mod data_block;
mod error_response;
mod head;
mod status;
mod views;

pub use admin::Admin;
pub use answers::{AnswerError, encode_answers};
pub use ask::{Question, QuestionKind};
pub use attributes::{Attributes, AttributesReader, Block};
pub use data_block::is_data_block;
pub use error_response::ErrorResponse;
pub use status::{Framing, MAX_STATUS_BYTES, Status, status};
pub use views::View;
