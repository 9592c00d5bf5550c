//! Tools shared by the line protocols: lines of limited length, three-digit replies, dot-terminated blocks, and text
//! that is safe to print.

mod bare_codes;
mod dot_block;
mod escape;
mod line;
mod mask_secret;
mod reply;

pub use bare_codes::BareCodes;
pub use dot_block::DotBlockReader;
pub use escape::{escape_non_ascii, sanitise};
pub use line::{LineReader, ReadLine};
pub use mask_secret::mask_secret;
pub use reply::{Reply, ReplyReader};
