//! Gopher (RFC 1436, RFC 4266, RFC 1738 §3.4): requests, menus, texts and the detection of the end of a response.
//!
//! Gopher+ responses are parsed by [`crate::gopher_plus`].

mod dot_stuffing;
mod entry;
mod error_response;
mod exchange;
mod item;
mod menu;
mod reader;
mod refusal_detector;
mod request;
mod response_framing;
mod sniff;

pub use dot_stuffing::DotStuffing;
pub use exchange::Exchange;
pub use item::{ItemType, MenuItem, ServerAddress, link_target};
pub use menu::MenuReader;
pub use reader::ResponseKind;
pub use request::{GopherRequest, PlusRequest};
