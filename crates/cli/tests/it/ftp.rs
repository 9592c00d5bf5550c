//! Integration tests of the `ftp:` and `ftps:` schemes.

mod command_bytes;
mod commands;
mod connection_reuse;
mod data_connection;
mod faults;
mod large_files;
mod listing;
mod login;
mod pipelining;
mod port_prefetch;
mod redirects;
mod resume;
mod tls;
mod transfer_replies;
mod wildcards;
