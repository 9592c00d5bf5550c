//! A server far away on this machine: `wan.py` makes two network namespaces and holds packets back between
//! them. Only for root, where Python, iproute2 and /dev/net/tun are.

use std::io::{BufRead as _, BufReader, Error, Result};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::program::root;

/// There and back.
const ROUND_TRIP_MS: &str = "50";
const NEAR: &str = "fetch-url-near";
const FAR: &str = "fetch-url-far";
/// The far end's address, as `wan.py` sets it.
pub(super) const FAR_ADDRESS: &str = "10.77.0.2";

/// The way, as long as it is open.
pub(super) struct Far(Child);

impl Far {
    /// Opens the way; an error says why there is none.
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

impl Drop for Far {
    fn drop(&mut self) {
        // The end of its input ends it, and it takes the namespaces away.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// The command, run at the far end.
pub(super) fn over_there(command: &Command) -> Command {
    inside(FAR, command)
}

/// The command, run at the near end.
pub(super) fn from_here(command: &Command) -> Command {
    inside(NEAR, command)
}

fn inside(namespace: &str, command: &Command) -> Command {
    let mut entered = Command::new("ip");
    entered.args(["netns", "exec", namespace]).arg(command.get_program()).args(command.get_args());
    entered
}
