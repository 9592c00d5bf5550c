//! What the caller allows of a body: how much of it, and how long it may be silent.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::time::{Instant, Sleep, sleep_until};

use crate::net::contact::Contact;
use crate::{Deadline, Error, Limits};

/// Limits, and the idle guard: armed while there is nothing.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) limits: Limits,
    deadline: Deadline,
    contact: Contact,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Clone for Guard {
    fn clone(&self) -> Self {
        Self::new(self.limits, self.deadline, &self.contact)
    }
}

impl Guard {
    /// `contact` tells when octets arrived: not all of them make a piece of the body at once.
    pub(crate) fn new(limits: Limits, deadline: Deadline, contact: &Contact) -> Self {
        Self { limits, deadline, contact: contact.clone(), timer: None }
    }

    /// Whether an end that nothing proves is none.
    pub(crate) const fn requires_proof(&self) -> bool {
        self.limits.requires_proof
    }

    /// How long things may take.
    pub(crate) const fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Something came: whether it came in time.
    ///
    /// # Errors
    /// `timed_out`: the time for everything is over.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.timer = None;
        self.deadline.check()
    }

    /// Ready when nothing has come for too long.
    pub(crate) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        loop {
            let deadline = self.deadline;
            let arm = || Box::pin(sleep_until(deadline.idle_until(Instant::now())));
            ready!(self.timer.get_or_insert_with(arm).as_mut().poll(cx));
            self.timer = None;
            let heard = self.contact.facts().heard.map(Instant::from_std);
            match heard.map(|heard| deadline.idle_until(heard)).filter(|until| *until > Instant::now()) {
                Some(until) => self.timer = Some(Box::pin(sleep_until(until))),
                None => return Poll::Ready(deadline.idle_error()),
            }
        }
    }
}
