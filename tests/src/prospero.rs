//! A Prospero server, and its column of the fault matrix.

#[cfg(test)]
pub(crate) mod asking;
pub(crate) mod attribute;
pub(crate) mod clerk;
pub(crate) mod desk;
pub(crate) mod every_method;
pub(crate) mod exchange;
pub(crate) mod fault_list;
pub(crate) mod fault_sites;
pub(crate) mod faults;
pub(crate) mod header;
pub(crate) mod hop_fault_list;
pub(crate) mod link;
pub(crate) mod link_fault_list;
pub(crate) mod object;
pub(crate) mod packet;
pub(crate) mod place;
pub(crate) mod rule;
pub(crate) mod sending;
pub(crate) mod server;
pub(crate) mod site;
pub(crate) mod text;
pub(crate) mod text_fault_list;
pub(crate) mod token;
