//! `news:`, `nntp:`, `snews:` and `nntps:` against real servers.

mod articles;
mod bodies;
mod errors;
mod files;
mod forbidden;
mod groups;
mod heads;
mod json;
mod logins;
mod mbox;
mod overviews;
mod parts;
mod peers;
mod ranges;
mod received_commands;
mod requests;
mod terminal;
mod tls;
mod which_server;
