//! A Gopher and Gopher+ server, and its table of faults.

pub(crate) mod answer;
pub(crate) mod config;
pub(crate) mod connection;
pub(crate) mod content;
pub(crate) mod fault_configs;
pub(crate) mod fault_list;
pub(crate) mod faults;
pub(crate) mod form;
pub(crate) mod item;
pub(crate) mod plus_fault_list;
pub(crate) mod request;
pub(crate) mod rule;
pub(crate) mod server;
