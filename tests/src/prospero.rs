//! A Prospero server (over ARDP), and its tables of faults.

pub(crate) mod all_access_methods;
pub(crate) mod attribute;
pub(crate) mod config;
pub(crate) mod directory_fault_list;
pub(crate) mod exchange;
pub(crate) mod fault_configs;
pub(crate) mod fault_list;
pub(crate) mod faults;
pub(crate) mod header;
pub(crate) mod host;
pub(crate) mod link;
pub(crate) mod object;
pub(crate) mod packet;
pub(crate) mod redirect_fault_list;
pub(crate) mod request_handler;
pub(crate) mod rule;
pub(crate) mod server;
pub(crate) mod socket_handler;
#[cfg(test)]
pub(crate) mod test_client;
pub(crate) mod text;
pub(crate) mod text_fault_list;
pub(crate) mod token;
pub(crate) mod window;
