//! Stores the results of finished lines, and then acknowledges the lines.
//!
//! Results that are ready while earlier ones are not confirmed are sent together, as Nagle's algorithm does: the first
//! one is sent at once, and the others with one write when it is confirmed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::{Client, HeaderMap, Message, StatusCode, Subscriber};
use fetch_url::Error;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::Entry;
use crate::lease::Delivery;
use crate::record::headers_for_first;
use crate::session::REQUEST_TIMEOUT;
use crate::worker::Shared;

/// The longest wait for the confirmation of earlier results.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// A finished line.
pub(crate) struct Finished {
    pub(crate) id: u64,
    pub(crate) delivery: Arc<Delivery>,
    pub(crate) entry: Entry,
}

/// Stores the results of one worker.
pub(crate) struct Recorder {
    shared: Arc<Shared>,
    client: Client,
    /// The confirmation of result `N` arrives at the subject `inbox.N`.
    inbox: String,
    confirmations: Subscriber,
    headers: HeaderMap,
    /// The results that were sent and not confirmed, by number.
    unconfirmed: HashMap<u64, (Finished, Instant)>,
    last_number: u64,
    /// The earlier results were not confirmed for [`MAX_WAIT`].
    waited: bool,
    /// Results that need more than one message, or were refused, or are not confirmed.
    slow: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Recorder {
    pub(crate) async fn open(shared: &Arc<Shared>) -> Result<Self, Error> {
        let session = &shared.queue.session;
        let client = session.context().client();
        let inbox = client.new_inbox();
        let confirmations = client.subscribe(format!("{inbox}.*")).await;
        Ok(Self {
            confirmations: confirmations.map_err(|error| session.error("cannot write the record", &error))?,
            shared: shared.clone(),
            client,
            inbox,
            headers: headers_for_first(),
            unconfirmed: HashMap::new(),
            last_number: 0,
            waited: false,
            slow: FuturesUnordered::new(),
        })
    }

    /// Stores the results of `finished`, until its senders are dropped and everything is stored.
    pub(crate) async fn run(mut self, mut finished: UnboundedReceiver<Finished>) {
        let mut has_more = true;
        while has_more || !self.unconfirmed.is_empty() || !self.slow.is_empty() {
            let is_waiting = !self.unconfirmed.is_empty();
            tokio::select! {
                biased;
                Some(confirmation) = self.confirmations.next(), if is_waiting => {
                    self.confirm(&confirmation).await;
                    while let Some(Some(confirmation)) = self.confirmations.next().now_or_never() {
                        self.confirm(&confirmation).await;
                    }
                }
                first = finished.recv(), if has_more && (self.waited || !is_waiting) => {
                    has_more = first.is_some();
                    if let Some(first) = first {
                        self.send(first).await;
                    }
                    while let Ok(next) = finished.try_recv() {
                        self.send(next).await;
                    }
                    self.waited = false;
                }
                Some(()) = self.slow.next(), if !self.slow.is_empty() => {}
                () = tokio::time::sleep(MAX_WAIT), if is_waiting => {
                    self.waited = true;
                    self.give_up_old();
                }
            }
        }
    }

    async fn send(&mut self, finished: Finished) {
        let Finished { delivery, entry, .. } = &finished;
        if entry.is_failed() || delivery.line.as_ref().is_none_or(|line| line.is_retry) {
            self.store_slowly(finished);
            return;
        }
        let subject = self.shared.queue.record_subject(&delivery.digest);
        let max_length = self.shared.queue.session.max_message();
        let message = entry.to_message(delivery.line.as_ref(), max_length);
        self.last_number += 1;
        let inbox = [self.inbox.as_str(), ".", &self.last_number.to_string()].concat();
        let sent =
            self.client.publish_with_reply_and_headers(subject, inbox, self.headers.clone(), message).await;
        match sent {
            Ok(()) => {
                self.unconfirmed.insert(self.last_number, (finished, Instant::now()));
            }
            Err(_) => self.store_slowly(finished),
        }
    }

    async fn confirm(&mut self, confirmation: &Message) {
        let number = confirmation.subject.rsplit('.').next().and_then(|number| number.parse().ok());
        let Some((finished, _)) = number.and_then(|number: u64| self.unconfirmed.remove(&number)) else {
            return;
        };
        if is_stored(confirmation) {
            self.shared.acknowledge(finished.id, &finished.delivery).await;
        } else {
            self.store_slowly(finished);
        }
    }

    /// Stores a result with as many messages as it needs, and repeats them.
    fn store_slowly(&self, finished: Finished) {
        let shared = self.shared.clone();
        self.slow.push(Box::pin(async move { shared.finish(finished.id, &finished.entry).await }));
    }

    fn give_up_old(&mut self) {
        let (now, unconfirmed) = (Instant::now(), &mut self.unconfirmed);
        let old: Vec<(u64, (Finished, Instant))> =
            unconfirmed.extract_if(|_, (_, sent)| now - *sent > REQUEST_TIMEOUT).collect();
        for (_, (finished, _)) in old {
            self.store_slowly(finished);
        }
    }
}

/// Returns `true` if the server has stored the message. It may also refuse it, because the subject has a message. The
/// reply is not parsed: it is `{"stream":NAME,"seq":NUMBER}` for each line, and NAME has no quotes.
fn is_stored(confirmation: &Message) -> bool {
    let has = |name: &[u8]| confirmation.payload.windows(name.len()).any(|part| part == name);
    confirmation.status.is_none_or(|status| status == StatusCode::OK)
        && has(br#""seq":"#)
        && !has(br#""error":"#)
}
