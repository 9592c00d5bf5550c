//! Finds out that a queue was deleted while a worker or `add` runs, by `Queue::drop` or with the storage of the server.

use std::time::Duration;

use async_nats::jetstream::stream::Info;
use fetch_url::{Code, Error, Phase};

use crate::Queue;
use crate::error::{Cause, cause};

/// The wait before a missing stream is looked up again: a server that starts may not know its streams yet.
const CONFIRM_WAIT: Duration = Duration::from_secs(1);

/// The stream of lines, as the server knows it now.
pub(crate) enum LinesState {
    Exists(Box<Info>),
    /// The queue was deleted. It may have been created again, with other settings, lines and directory.
    Deleted(Error),
    /// The server did not answer.
    Unknown,
}

impl Queue {
    /// Asks the server whether the queue that was opened exists.
    pub(crate) async fn lines_state(&self) -> LinesState {
        let mut is_missing = false;
        loop {
            match self.lines.get_info().await {
                Ok(info) if self.is_own_stream(&info.config) => {
                    return LinesState::Exists(Box::new(info));
                }
                Ok(_) => return LinesState::Deleted(self.deletion("was deleted and created again")),
                Err(error) if cause(&error) != Cause::NotFound => return LinesState::Unknown,
                Err(_) if is_missing => return LinesState::Deleted(self.deletion("was deleted")),
                Err(_) => is_missing = true,
            }
            tokio::time::sleep(CONFIRM_WAIT).await;
        }
    }

    /// Returns the error that the queue was deleted, if this is why a request failed: nothing receives a message whose
    /// stream does not exist.
    pub(crate) async fn not_found_if_deleted(&self, error: Error) -> Error {
        match error.code() {
            Code::Unsupported | Code::PeerMisbehaved => match self.lines_state().await {
                LinesState::Deleted(deletion) => deletion,
                LinesState::Exists(_) | LinesState::Unknown => error,
            },
            _ => error,
        }
    }

    fn deletion(&self, what: &str) -> Error {
        let detail = format!("the queue {} {what} while this command was running", self.name);
        Error::new(Code::NotFound, Phase::Reply, detail)
    }
}
