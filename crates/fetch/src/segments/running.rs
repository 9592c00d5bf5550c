//! Runs the downloads of all segments at the same time.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use crate::Error;

/// The download of one segment.
type Fetching<'s> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 's>>;

/// A segment that is being fetched.
struct Running<'s> {
    index: usize,
    fetching: Fetching<'s>,
    /// The number of segments that were complete when the download of this one began.
    complete_before: usize,
}

/// Fetches all segments with `fetch`, and waits until they are complete or one fails. `started` has the requests that are
/// sent already.
///
/// If `refuses_connection` says that the server allows fewer connections, the segment waits until another one is
/// complete, and is then fetched again, over its connection. The last segment that is running does not wait.
pub(super) async fn join_segments<'s, R, F>(
    started: Vec<Option<R>>,
    fetch: impl Fn(usize, Option<R>) -> F,
    refuses_connection: impl Fn(&Error) -> bool,
) -> Result<(), Error>
where
    F: Future<Output = Result<(), Error>> + Send + 's,
{
    let begin = |index, started, complete_before| -> Running<'s> {
        Running { index, fetching: Box::pin(fetch(index, started)), complete_before }
    };
    let mut running: Vec<Running<'s>> =
        started.into_iter().enumerate().map(|(index, started)| begin(index, started, 0)).collect();
    let (mut refused, mut complete) = (Vec::new(), 0);
    poll_fn(move |cx| {
        let mut next = 0;
        while next < running.len() {
            let segment = &mut running[next];
            match segment.fetching.as_mut().poll(cx) {
                Poll::Pending => next += 1,
                Poll::Ready(Ok(())) => {
                    drop(running.swap_remove(next));
                    complete += 1;
                    running.extend(refused.pop().map(|index| begin(index, None, complete)));
                }
                Poll::Ready(Err(error)) if !refuses_connection(&error) => return Poll::Ready(Err(error)),
                // A connection has become free since the segment was requested.
                Poll::Ready(Err(_)) if segment.complete_before < complete => {
                    *segment = begin(segment.index, None, complete);
                }
                Poll::Ready(Err(_)) if running.len() > 1 => refused.push(running.swap_remove(next).index),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
        if running.is_empty() { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}
