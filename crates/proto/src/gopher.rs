//! Gopher (RFC 1436, RFC 4266, RFC 1738 §3.4): what is asked, what a menu says, and where an answer
//! ends.
//!
//! Gopher+ answers are framed and described as [`crate::gopher_plus`] says.

mod answer;
mod described;
mod dots;
mod doubt;
mod frame;
mod item;
mod menu;
mod outline;
mod reader;
mod refusal;
mod request;
mod sniff;

pub use answer::{Answer, Expected};
pub use dots::Dots;
pub use item::{Here, ItemType, MenuItem, link};
pub use menu::MenuReader;
pub(crate) use outline::requests;
pub use request::{GopherRequest, Plus};
