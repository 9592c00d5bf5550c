//! The slots of a worker: callers that wait for a line, and the lines that are ready for them.

use std::collections::{HashSet, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fetch_url::Error;
use tokio::sync::Notify;

use crate::Lease;

/// A worker without a free slot for this time stops pulling.
const BUSY_TIME: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Slots {
    state: Mutex<State>,
    /// Notified when a slot may be free.
    may_be_free: Notify,
    /// Notified when a line, an error or the end is ready.
    is_ready: Notify,
}

#[derive(Default)]
struct State {
    /// The number of callers that wait for a line.
    waiting: usize,
    /// The number of slots that are kept for lines that were requested.
    reserved: usize,
    ready: VecDeque<Result<Lease, Error>>,
    has_ended: bool,
    /// The digests of lines with an unsupported format version.
    unsupported: HashSet<String>,
}

impl State {
    fn free(&self) -> usize {
        self.waiting.saturating_sub(self.ready.len() + self.reserved)
    }
}

impl Slots {
    /// Returns the next line, or `None` after the end. The caller is a free slot while it waits.
    pub(crate) async fn next(&self) -> Option<Result<Lease, Error>> {
        let _waiting = Waiting::new(self);
        loop {
            let mut is_ready = pin!(self.is_ready.notified());
            is_ready.as_mut().enable();
            {
                let mut state = self.lock();
                if let Some(line) = state.ready.pop_front() {
                    return Some(line);
                }
                if state.has_ended {
                    return None;
                }
            }
            is_ready.await;
        }
    }

    /// Waits until a slot is free and `count`, which gets the number of free slots, returns a number. Reserves that many
    /// slots.
    pub(crate) async fn reserve(self: &Arc<Self>, count: impl Fn(usize) -> Option<usize>) -> SlotReservation {
        loop {
            let mut may_be_free = pin!(self.may_be_free.notified());
            may_be_free.as_mut().enable();
            {
                let mut state = self.lock();
                let free = state.free();
                if let Some(count) = Some(free).filter(|free| *free > 0).and_then(&count) {
                    let count = count.min(free);
                    state.reserved += count;
                    return SlotReservation { slots: self.clone(), count };
                }
            }
            may_be_free.await;
        }
    }

    /// Lets the callers of [`Self::reserve`] check again.
    pub(crate) fn check_again(&self) {
        self.may_be_free.notify_waiters();
    }

    /// Hands a line to a slot, which is reserved or becomes free within `timeout`. Returns `false` if there is none.
    pub(crate) async fn hand_over(
        self: &Arc<Self>,
        lease: Lease,
        reserved: &mut SlotReservation,
        timeout: Duration,
    ) -> bool {
        if reserved.count == 0 {
            let Ok(one) = tokio::time::timeout(timeout, self.reserve(|_| Some(1))).await else {
                return false;
            };
            *reserved = one;
        }
        let mut state = self.lock();
        reserved.count -= 1;
        state.reserved -= 1;
        state.ready.push_back(Ok(lease));
        drop(state);
        self.is_ready.notify_waiters();
        true
    }

    /// Offers the line of a lease again that was handed over before. The lease waits until a slot is free.
    pub(crate) fn offer_again(&self, lease: Lease) {
        self.lock().ready.push_back(Ok(lease));
        self.is_ready.notify_waiters();
    }

    /// Reports the error for a line with an unsupported format version, once.
    pub(crate) fn report_unsupported(&self, digest: &str, error: Error) {
        let mut state = self.lock();
        if state.unsupported.insert(digest.to_owned()) {
            state.ready.push_back(Err(error));
            drop(state);
            self.is_ready.notify_waiters();
        }
    }

    /// Returns the number of lines with an unsupported format version.
    pub(crate) fn unsupported_count(&self) -> u64 {
        u64::try_from(self.lock().unsupported.len()).unwrap_or(u64::MAX)
    }

    /// Returns `true` if no caller waits for a line.
    pub(crate) fn are_all_busy(&self) -> bool {
        let state = self.lock();
        state.waiting <= state.ready.len()
    }

    /// Completes when all slots were busy at two checks, [`BUSY_TIME`] apart.
    pub(crate) async fn wait_until_saturated(&self) {
        let mut were_busy = false;
        loop {
            tokio::time::sleep(BUSY_TIME).await;
            let are_busy = self.are_all_busy();
            if are_busy && were_busy {
                return;
            }
            were_busy = are_busy;
        }
    }

    /// Ends the worker if no line is ready. Returns `true` if it has ended.
    pub(crate) fn end_if_nothing_is_ready(&self) -> bool {
        let mut state = self.lock();
        if !state.ready.is_empty() {
            return false;
        }
        state.has_ended = true;
        drop(state);
        self.is_ready.notify_waiters();
        true
    }

    /// Ends the worker with an error, unless it has ended.
    pub(crate) fn end_with(&self, error: Error) {
        let mut state = self.lock();
        if !std::mem::replace(&mut state.has_ended, true) {
            state.ready.push_back(Err(error));
        }
        drop(state);
        self.is_ready.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a caller of [`Slots::next`] as a free slot while it waits.
struct Waiting<'s>(&'s Slots);

impl<'s> Waiting<'s> {
    fn new(slots: &'s Slots) -> Self {
        slots.lock().waiting += 1;
        slots.check_again();
        Self(slots)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}

/// Slots that are kept for lines that were requested. They are free again when this is dropped.
pub(crate) struct SlotReservation {
    slots: Arc<Slots>,
    count: usize,
}

impl SlotReservation {
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn release(&mut self) {
        let count = std::mem::take(&mut self.count);
        if count > 0 {
            self.slots.lock().reserved -= count;
            self.slots.check_again();
        }
    }
}

impl Drop for SlotReservation {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;

    use super::*;
    use crate::Line;

    fn lease(id: u64) -> Lease {
        let line = Line::new(vec!["http://h/a".to_owned()], None, None).expect("a line");
        Lease { id, line, tries: 1 }
    }

    /// Starts `count` callers that wait for a line.
    async fn wait_in(slots: &Arc<Slots>, count: usize) -> JoinSet<()> {
        let mut callers = JoinSet::new();
        for _ in 0..count {
            let slots = slots.clone();
            callers.spawn(async move { drop(slots.next().await) });
        }
        tokio::task::yield_now().await;
        callers
    }

    #[tokio::test]
    async fn reserved_slots_are_not_free_until_they_are_released() {
        let slots = Arc::new(Slots::default());
        let _callers = wait_in(&slots, 3).await;
        let two = slots.reserve(|free| Some(free - 1)).await;
        let mut one = slots.reserve(Some).await;
        assert_eq!((two.count(), one.count()), (2, 1));
        let none = tokio::time::timeout(Duration::from_millis(10), slots.reserve(Some)).await;
        assert!(none.is_err());
        drop(two);
        one.release();
        assert_eq!(slots.reserve(Some).await.count(), 3);
    }

    #[tokio::test]
    async fn line_without_a_reserved_or_free_slot_is_not_handed_over() {
        let slots = Arc::new(Slots::default());
        let _callers = wait_in(&slots, 1).await;
        let mut reserved = slots.reserve(Some).await;
        let mut nothing = SlotReservation { slots: slots.clone(), count: 0 };
        assert!(!slots.hand_over(lease(1), &mut nothing, Duration::from_millis(10)).await);
        assert!(slots.hand_over(lease(2), &mut reserved, Duration::ZERO).await);
        assert_eq!(reserved.count(), 0);
        assert!(slots.are_all_busy());
    }
}
