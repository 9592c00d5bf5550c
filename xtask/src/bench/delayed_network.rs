//! A slow network on this machine: `wan.py` creates two network namespaces and delays the packets between them. It
//! needs root, Python, iproute2 and /dev/net/tun.

use std::io::{BufRead as _, BufReader, Error, Result};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::program::root;

/// The round-trip time.
const ROUND_TRIP_MS: &str = "50";
const NEAR: &str = "fetch-url-near";
const FAR: &str = "fetch-url-far";
/// The address of the remote namespace, as `wan.py` sets it.
pub(super) const REMOTE_ADDRESS: &str = "10.77.0.2";

/// The two network namespaces; they are removed when this value is dropped.
pub(super) struct DelayedNetwork(Child);

impl DelayedNetwork {
    /// Creates the namespaces. The error says why that is not possible.
    pub(super) fn open() -> Result<Self> {
        if !Path::new("/dev/net/tun").exists() {
            return Err(Error::other("there is no /dev/net/tun"));
        }
        let mut command = Command::new("python3");
        command.arg(root().join("xtask").join("wan.py")).arg(ROUND_TRIP_MS);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        if let Some(said) = child.stdout.take() {
            BufReader::new(said).read_line(&mut line)?;
        }
        if line.trim() == "ready" {
            return Ok(Self(child));
        }
        child.wait()?;
        Err(Error::other("wan.py does not start: is this root?"))
    }
}

impl Drop for DelayedNetwork {
    fn drop(&mut self) {
        // `wan.py` ends when its standard input is closed, and then removes the namespaces.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Returns the command, to be run in the remote namespace.
pub(super) fn in_remote_namespace(command: &Command) -> Command {
    inside(FAR, command)
}

/// Returns the command, to be run in the local namespace.
pub(super) fn in_local_namespace(command: &Command) -> Command {
    inside(NEAR, command)
}

fn inside(namespace: &str, command: &Command) -> Command {
    let mut entered = Command::new("ip");
    entered.args(["netns", "exec", namespace]).arg(command.get_program()).args(command.get_args());
    entered
}
