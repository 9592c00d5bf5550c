//! Properties of FTP servers that the driver has learned and uses for later connections.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fetch_url_core::Host;

use crate::net::idle_pool::server_name;

/// Maximum number of servers that are stored for each property; further servers are not stored.
const MAX_SERVERS: usize = 1024;

/// A server: its host name in lower case, and its port.
type ServerName = (String, u16);

/// Learned properties of servers, independent of the user.
#[derive(Default)]
pub(super) struct KnownServers {
    sequential: Mutex<HashSet<ServerName>>,
    several_directories: Mutex<HashSet<ServerName>>,
    pasv_only: Mutex<HashSet<ServerName>>,
}

impl KnownServers {
    /// Returns `true` if this run fetches URLs in several directories of the server.
    pub(super) fn uses_several_directories(&self, host: &Host<'_>, port: u16) -> bool {
        locked(&self.several_directories).contains(&(server_name(host), port))
    }

    /// Stores that this run fetches URLs in several directories of the server.
    pub(super) fn mark_several_directories(&self, name: String, port: u16) {
        insert_limited(&self.several_directories, (name, port));
    }

    /// Returns `true` if PASV worked before, after a data port of EPSV could not be reached.
    pub(super) fn needs_pasv(&self, host: &Host<'_>, port: u16) -> bool {
        locked(&self.pasv_only).contains(&(server_name(host), port))
    }

    /// Stores that PASV worked after EPSV had failed, so that the next file does not wait for the same timeout.
    pub(super) fn mark_pasv_only(&self, host: &Host<'_>, port: u16) {
        insert_limited(&self.pasv_only, (server_name(host), port));
    }

    /// Returns `true` if the server mishandled pipelined commands before.
    pub(super) fn needs_sequential_commands(&self, host: &Host<'_>, port: u16) -> bool {
        locked(&self.sequential).contains(&(server_name(host), port))
    }

    /// Stores that the server mishandles pipelined commands.
    pub(super) fn mark_sequential(&self, host: &Host<'_>, port: u16) {
        self.mark_sequential_name(server_name(host), port);
    }

    /// Does the same as [`Self::mark_sequential`] for a server name in lower case.
    pub(super) fn mark_sequential_name(&self, name: String, port: u16) {
        insert_limited(&self.sequential, (name, port));
    }
}

fn insert_limited(set: &Mutex<HashSet<ServerName>>, name: ServerName) {
    let mut set = locked(set);
    if set.len() < MAX_SERVERS {
        set.insert(name);
    }
}

fn locked(set: &Mutex<HashSet<ServerName>>) -> MutexGuard<'_, HashSet<ServerName>> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}
