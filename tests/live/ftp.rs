//! `ftp:` and `ftps:` against real servers.

mod commands;
mod data;
mod entries;
mod errors;
mod forbidden;
mod listings;
mod login_at_a_terminal;
mod logins;
mod methods;
mod names;
mod parts;
mod paths;
mod received_commands;
mod resume;
mod reuse;
mod segments;
mod small_servers;
mod text;
mod tls;
