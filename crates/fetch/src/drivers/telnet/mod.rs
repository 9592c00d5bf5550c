//! `telnet:` (RFC 1738 §3.8, RFC 4248): a session with a person, which names no object. Said to be one, unless it is
//! asked for.

pub(super) mod advice;
mod plan;

use std::future::poll_fn;

use bytes::Bytes;
use fetch_url_proto::telnet::TelnetSession;
use fetch_url_proto::{Event, Step};

use crate::net::pump::Pump;
use crate::{Code, Deadline, Driver, Error, Phase, Plan, Request};

/// Tells what a person can do, or opens the session.
pub(crate) struct TelnetDriver;

impl Driver for TelnetDriver {
    fn id(&self) -> &'static str {
        "telnet"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["telnet"]
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(plan::TelnetPlan::new(request)?))
    }
}

/// An extra for the telnet driver: the session itself is wanted.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Connect {}

/// A session with a server: what it says is heard, what is typed is said. Every option is refused.
pub struct Session {
    pump: Pump<TelnetSession>,
    deadline: Deadline,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

impl Session {
    /// What the server says next, line ends as they are here; none when it has closed the session. May be given up and
    /// asked again.
    ///
    /// # Errors
    /// `timed_out`, when the time for everything is over; the connection was lost.
    pub async fn hear(&mut self) -> Result<Option<Bytes>, Error> {
        let deadline = self.deadline;
        let heard = poll_fn(|cx| self.pump.poll_step(cx));
        match deadline.bound_total(Phase::Body, heard).await? {
            Step::Emit(Event::Body(text)) => Ok(Some(text)),
            Step::Done => Ok(None),
            _ => Err(Error::new(Code::Internal, Phase::Body, "the machine and its driver disagree")),
        }
    }

    /// Says `text`; it goes out while the next is heard.
    pub fn say(&mut self, text: &[u8]) {
        self.pump.machine_mut().say(text);
    }
}
