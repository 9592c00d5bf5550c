//! What the caller allows of a body: how much of it, and how long it may be silent.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::time::{Instant, Sleep, sleep_until};

use super::pace::Pace;
use crate::net::contact::Contact;
use crate::{Deadline, Error, Limits};

/// Limits, and the idle guard: armed while there is nothing.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) limits: Limits,
    deadline: Deadline,
    contact: Contact,
    timer: Option<Pin<Box<Sleep>>>,
    /// None where any pace will do.
    pace: Option<Box<Pace>>,
}

impl Clone for Guard {
    fn clone(&self) -> Self {
        Self::new(self.limits, self.deadline, &self.contact)
    }
}

impl Guard {
    /// `contact` tells when octets arrived: not all of them make a piece of the body at once.
    pub(crate) fn new(limits: Limits, deadline: Deadline, contact: &Contact) -> Self {
        let pace = Pace::of(&limits).map(Box::new);
        Self { limits, deadline, contact: contact.clone(), timer: None, pace }
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

    /// Ready when more may come.
    ///
    /// # Errors
    /// `timed_out`: there is no time for more, or it comes too slowly.
    pub(crate) fn poll_free(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let Some(pace) = &mut self.pace else { return Poll::Ready(Ok(())) };
        if pace.poll_free(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        match (self.deadline.check(), pace.poll_too_slow(cx)) {
            (Err(error), _) | (Ok(()), Poll::Ready(error)) => Poll::Ready(Err(error)),
            (Ok(()), Poll::Pending) => Poll::Pending,
        }
    }

    /// So many octets came.
    pub(crate) fn came(&mut self, octets: usize) {
        if let Some(pace) = &mut self.pace {
            pace.came(octets);
        }
    }

    /// Whether the pace of what comes matters.
    pub(crate) const fn is_paced(&self) -> bool {
        self.pace.is_some()
    }

    /// Ready when nothing has come for too long, or too little.
    pub(crate) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        if let Some(Poll::Ready(error)) = self.pace.as_mut().map(|pace| pace.poll_too_slow(cx)) {
            return Poll::Ready(error);
        }
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
