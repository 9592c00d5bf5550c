//! NNTP (RFC 3977).

mod articles;
mod greeting;
mod listing_lines;
mod listings;
mod login;
mod mbox;
mod model;
mod pipelining;
mod transcript;
