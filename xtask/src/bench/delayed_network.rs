//! A slow network on this machine: `wan.py` creates two network namespaces and delays the packets between them. It
//! needs root, Python, iproute2 and /dev/net/tun.

use std::io::{BufRead as _, BufReader, Error, Result};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::root;

/// The round-trip time.
const ROUND_TRIP_MS: &str = "50";
const NEAR: &str = "fetch-url-near";
const FAR: &str = "fetch-url-far";
/// The address of the remote namespace, as `wan.py` sets it.
pub(super) const REMOTE_ADDRESS: &str = "10.77.0.2";

/// The subcommand of `cargo xtask` that measures the round-trip time.
pub(crate) const CONNECT: &str = "bench-connect";
/// The number of connections whose times are compared.
const CONNECTIONS: usize = 9;

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

/// Returns the round-trip time to a remote server: the least time of several connections.
pub(super) fn round_trip(address: &str) -> Result<Duration> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([CONNECT, address]);
    let output = in_local_namespace(&command).output()?;
    let micros = String::from_utf8_lossy(&output.stdout).trim().parse();
    micros.map(Duration::from_micros).map_err(|_| Error::other(format!("{address} cannot be connected")))
}

/// Prints the least time of several connections to `address`, in microseconds.
pub(crate) fn time_connection(address: &str) -> std::result::Result<(), String> {
    let connect = || {
        let began = Instant::now();
        TcpStream::connect(address).map(|_| began.elapsed())
    };
    let times: Result<Vec<Duration>> = (0..CONNECTIONS).map(|_| connect()).collect();
    let least = times.map_err(|error| error.to_string())?.into_iter().min().unwrap_or_default();
    println!("{}", least.as_micros());
    Ok(())
}

fn inside(namespace: &str, command: &Command) -> Command {
    let mut entered = Command::new("ip");
    entered.args(["netns", "exec", namespace]).arg(command.get_program()).args(command.get_args());
    entered
}
