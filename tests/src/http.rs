//! HTTP servers, and their table of faults.

pub(crate) mod content_coding;
pub(crate) mod date;
pub(crate) mod fault_list;
pub(crate) mod fault_responses;
pub(crate) mod faults;
pub(crate) mod file_handler;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod server;
