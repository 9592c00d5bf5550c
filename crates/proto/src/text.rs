//! The text kit that line protocols share: bounded lines, numbered replies, dot-blocks, and the
//! one escaper for octets that a person will see.

mod dot_block;
mod hidden;
mod line;
mod printable;
mod reply;

pub use dot_block::DotBlock;
pub use hidden::hidden;
pub use line::{Line, LineReader};
pub use printable::{escaped, printable};
pub use reply::{Reply, ReplyReader};
