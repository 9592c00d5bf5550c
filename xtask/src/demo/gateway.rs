//! The gateway of the demo: `fetch-url serve` on a free port.

use std::io::{BufRead as _, BufReader, Error, Result};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

/// A running gateway. It is killed when dropped.
pub(super) struct Gateway {
    process: Child,
    /// Its messages; the pipe stays open, so that it can write them.
    _messages: BufReader<ChildStderr>,
    address: String,
}

impl Gateway {
    /// Starts `program` and waits until it listens.
    pub(super) fn start(program: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--allow-private"]);
        let mut process =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let Some(messages) = process.stderr.take() else { return Err(Error::other("no pipe")) };
        let (mut messages, mut line) = (BufReader::new(messages), String::new());
        messages.read_line(&mut line)?;
        let address = line.split("http://").nth(1).map(|rest| rest.trim().trim_end_matches('/').to_owned());
        let address = address.ok_or_else(|| Error::other(format!("the gateway says {line:?}")))?;
        Ok(Self { process, _messages: messages, address })
    }

    /// Returns host and port.
    pub(super) fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
