//! A news server, and its column of the fault matrix.

pub(crate) mod article;
pub(crate) mod deflate;
pub(crate) mod desk;
pub(crate) mod fault_list;
pub(crate) mod fault_sites;
pub(crate) mod faults;
pub(crate) mod group;
pub(crate) mod line;
pub(crate) mod listing_fault_list;
pub(crate) mod lists;
pub(crate) mod login;
pub(crate) mod login_fault_list;
pub(crate) mod reply;
pub(crate) mod rule;
pub(crate) mod server;
pub(crate) mod site;
pub(crate) mod talk;
pub(crate) mod wildmat;
