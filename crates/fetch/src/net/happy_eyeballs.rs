//! Happy Eyeballs (RFC 8305): connection attempts to addresses of alternating families start 250 ms apart; the first
//! connection is used.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// RFC 8305 §5: Connection Attempt Delay.
const CONNECTION_ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Returns the first connection that `connect` opens, or the first error if all attempts fail. `None` if `addresses`
/// is empty.
pub(super) async fn connect_to_first<T, E, F>(
    addresses: &[SocketAddr],
    connect: impl Fn(SocketAddr) -> F,
) -> Option<Result<T, E>>
where
    F: Future<Output = Result<T, E>>,
{
    let mut waiting = alternate_families(addresses).into_iter();
    let mut running: Vec<Pin<Box<F>>> = Vec::new();
    let mut first_failure = None;
    let mut delay = Box::pin(sleep_until(Instant::now()));
    // The first attempt must not wait for the timer, which fires a millisecond late.
    let mut may_begin = true;
    std::future::poll_fn(|cx| {
        loop {
            let mut index = 0;
            while index < running.len() {
                match running[index].as_mut().poll(cx) {
                    Poll::Ready(Ok(connection)) => return Poll::Ready(Some(Ok(connection))),
                    Poll::Ready(Err(error)) => {
                        drop(running.swap_remove(index));
                        first_failure.get_or_insert(error);
                        may_begin = true;
                    }
                    Poll::Pending => index += 1,
                }
            }
            may_begin = may_begin || delay.as_mut().poll(cx).is_ready();
            match waiting.len() {
                0 if running.is_empty() => return Poll::Ready(first_failure.take().map(Err)),
                0 => return Poll::Pending,
                _ if !may_begin => return Poll::Pending,
                _ => {}
            }
            running.extend(waiting.next().map(|address| Box::pin(connect(address))));
            delay.as_mut().reset(Instant::now() + CONNECTION_ATTEMPT_DELAY);
            may_begin = false;
        }
    })
    .await
}

/// Returns the addresses with alternating families, starting with the family of the first one (RFC 8305 §4).
fn alternate_families(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let Some(first) = addresses.first() else { return Vec::new() };
    let (one, other): (Vec<_>, Vec<_>) =
        addresses.iter().copied().partition(|address: &SocketAddr| address.is_ipv4() == first.is_ipv4());
    let mut alternating = Vec::with_capacity(addresses.len());
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    while alternating.len() < addresses.len() {
        alternating.extend(one.next());
        alternating.extend(other.next());
    }
    alternating
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCEPTING: &str = "127.0.0.1:1";

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().expect("an address")).collect()
    }

    /// Refuses port 2, never answers on port 3, opens the rest.
    async fn connect(address: SocketAddr) -> Result<SocketAddr, u16> {
        match address.port() {
            2 => Err(2),
            3 => std::future::pending().await,
            _ => Ok(address),
        }
    }

    #[test]
    fn families_alternate() {
        let given = addresses(&["[::1]:1", "[::2]:1", "[::3]:1", "127.0.0.1:1"]);
        assert_eq!(alternate_families(&given), addresses(&["[::1]:1", "127.0.0.1:1", "[::2]:1", "[::3]:1"]));
        assert!(alternate_families(&[]).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn unresponsive_address_delays_the_next_by_250_ms() {
        let start = Instant::now();
        let won = connect_to_first(&addresses(&["[::1]:3", ACCEPTING]), connect).await;
        assert_eq!(won, Some(Ok(ACCEPTING.parse().expect("an address"))));
        assert!(
            start.elapsed() >= CONNECTION_ATTEMPT_DELAY && start.elapsed() < CONNECTION_ATTEMPT_DELAY * 2
        );
    }

    #[tokio::test(start_paused = true)]
    async fn refused_address_starts_the_next_at_once() {
        let start = Instant::now();
        let won = connect_to_first(&addresses(&["[::1]:2", ACCEPTING]), connect).await;
        assert_eq!(won, Some(Ok(ACCEPTING.parse().expect("an address"))));
        assert!(start.elapsed() < CONNECTION_ATTEMPT_DELAY);
    }

    #[tokio::test(start_paused = true)]
    async fn first_error_is_returned_when_all_addresses_fail() {
        assert_eq!(connect_to_first(&addresses(&["[::1]:2", "127.0.0.1:2"]), connect).await, Some(Err(2)));
        assert_eq!(connect_to_first(&[], connect).await, None);
    }
}
