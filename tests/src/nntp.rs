//! A news server (NNTP), and its tables of faults.

pub(crate) mod article;
pub(crate) mod config;
pub(crate) mod connection;
pub(crate) mod deflate;
pub(crate) mod fault_configs;
pub(crate) mod fault_list;
pub(crate) mod faults;
pub(crate) mod group;
pub(crate) mod listing_fault_list;
pub(crate) mod lists;
pub(crate) mod login;
pub(crate) mod login_fault_list;
pub(crate) mod reply;
pub(crate) mod rule;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod stream;
pub(crate) mod wildmat;
