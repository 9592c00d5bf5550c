//! A WAIS server, and its column of the fault matrix.

pub(crate) mod answer;
#[cfg(test)]
pub(crate) mod asking;
pub(crate) mod database;
pub(crate) mod desk;
pub(crate) mod diagnostic;
pub(crate) mod document;
pub(crate) mod fault_list;
pub(crate) mod fault_sites;
pub(crate) mod faults;
pub(crate) mod field;
pub(crate) mod request;
pub(crate) mod rule;
pub(crate) mod search_fault_list;
pub(crate) mod sending;
pub(crate) mod server;
pub(crate) mod site;
pub(crate) mod talk;
