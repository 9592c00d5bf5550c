//! FTP sessions and listings.

mod listing;
mod reply_codes;
mod session;
mod session_reuse;
