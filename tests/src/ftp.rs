//! An FTP server, and its column of the fault matrix.

pub(crate) mod data;
pub(crate) mod directory;
pub(crate) mod fault_list;
pub(crate) mod fault_sites;
pub(crate) mod faults;
pub(crate) mod login;
pub(crate) mod rule;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod site;
pub(crate) mod transfer;
pub(crate) mod tree;
