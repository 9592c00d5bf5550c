//! A WAIS server, and its tables of faults.

pub(crate) mod answer;
pub(crate) mod config;
pub(crate) mod connection;
pub(crate) mod database;
pub(crate) mod diagnostic;
pub(crate) mod document;
pub(crate) mod fault_configs;
pub(crate) mod fault_list;
pub(crate) mod faults;
pub(crate) mod field;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod rule;
pub(crate) mod search_fault_list;
pub(crate) mod server;
pub(crate) mod session;
#[cfg(test)]
pub(crate) mod test_client;
