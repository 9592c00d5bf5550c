//! HTTP servers, and their column of the fault matrix.

pub(crate) mod coded;
pub(crate) mod date;
pub(crate) mod fault_list;
pub(crate) mod fault_replies;
pub(crate) mod faults;
pub(crate) mod file_handler;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod server;
