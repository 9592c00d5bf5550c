//! FTP sessions and listings.

mod listing;
mod session;
