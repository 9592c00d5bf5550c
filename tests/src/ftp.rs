//! An FTP server (RFC 959, 2428, 3659, 4217), and its table of faults.

pub(crate) mod config;
pub(crate) mod data;
pub(crate) mod directory;
pub(crate) mod fault_configs;
pub(crate) mod fault_list;
pub(crate) mod faults;
pub(crate) mod login;
pub(crate) mod rule;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod transfer;
pub(crate) mod tree;
