//! `telnet:` (RFC 1738 §3.8, RFC 4248): a session with a person, which names no object. Said to be one, unless it is
//! asked for.

mod advice;
mod plan;

use std::future::poll_fn;
use std::task::Poll;

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
    /// What the server says next, line ends as they are here, or nothing yet, when what was said has gone out; none when
    /// it has closed the session. May be given up and asked again.
    ///
    /// # Errors
    /// `timed_out`, when the time for everything is over; the connection was lost.
    pub async fn hear(&mut self) -> Result<Option<Bytes>, Error> {
        let deadline = self.deadline;
        let was_saying = self.is_saying();
        let heard = poll_fn(|cx| match self.pump.poll_step(cx) {
            Poll::Pending if was_saying && !self.pump.is_saying() => {
                Poll::Ready(Ok(Step::Emit(Event::Body(Bytes::new()))))
            }
            polled => polled,
        });
        match deadline.bound_total(Phase::Body, heard).await? {
            Step::Emit(Event::Body(text)) => Ok(Some(text)),
            Step::Done => Ok(None),
            _ => Err(Error::new(Code::Internal, Phase::Body, "the machine and its driver disagree")),
        }
    }

    /// Whether something of what was said waits for the server, which does not read: more would pile up.
    pub const fn is_saying(&self) -> bool {
        self.pump.is_saying()
    }

    /// Nothing more will be said; more may be heard.
    pub fn say_end(&mut self) {
        self.pump.machine_mut().say_end();
    }

    /// How long it may take: for what else is waited for.
    pub const fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Whether the server may repeat what is typed, although that was refused.
    pub const fn may_echo(&self) -> bool {
        self.pump.machine().insists_on_echo()
    }

    /// Says `text`; it goes out while the next is heard.
    pub fn say(&mut self, text: &[u8]) {
        self.pump.machine_mut().say(text);
    }
}
