//! A Gopher and Gopher+ server, and its column of the fault matrix.

pub(crate) mod answer;
pub(crate) mod content;
pub(crate) mod fault_list;
pub(crate) mod fault_sites;
pub(crate) mod faults;
pub(crate) mod form;
pub(crate) mod item;
pub(crate) mod plus_fault_list;
pub(crate) mod request;
pub(crate) mod rule;
pub(crate) mod server;
pub(crate) mod site;
pub(crate) mod talk;
