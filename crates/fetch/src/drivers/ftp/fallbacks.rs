//! The alternatives of an FTP plan that is repeated after a failure. `recovery.rs` decides which alternative is used
//! next.

use fetch_url_proto::ftp::{IacEscaping, ListVerb};

/// Alternatives to the commands of the first attempt; the default is the first attempt itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fallbacks {
    /// Sends the whole path in one command, because the server refused a CWD.
    pub(super) no_cwd: bool,
    /// How a byte 0xFF in a command is sent.
    pub(super) iac: IacEscaping,
    /// Waits for the reply to each command before it sends the next one.
    pub(super) sequential: bool,
    /// Uses PASV without trying EPSV, because the port that EPSV returned is closed.
    pub(super) pasv_only: bool,
    /// The number of data ports that were rejected so far because they belong to another protocol.
    pub(super) refused_ports: u8,
    /// The listing command to use in place of the one that the options ask for.
    pub(super) list_verb: Option<ListVerb>,
}
