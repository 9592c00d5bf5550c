//! Happy Eyeballs (RFC 8305): addresses of both families in turn, the next one begun a quarter of
//! a second after the last, the first connection wins.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// RFC 8305 §5: Connection Attempt Delay.
const DELAY: Duration = Duration::from_millis(250);

/// The first of `addresses` that `connect` opens; otherwise the first failure.
pub(super) async fn race<T, E, F>(
    addresses: &[SocketAddr],
    connect: impl Fn(SocketAddr) -> F,
) -> Option<Result<T, E>>
where
    F: Future<Output = Result<T, E>>,
{
    let mut waiting = in_turn(addresses).into_iter();
    let mut running: Vec<Pin<Box<F>>> = Vec::new();
    let mut first_failure = None;
    let mut delay = Box::pin(sleep_until(Instant::now()));
    // A timer that is due now still fires a millisecond later: what need not wait asks none.
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
            delay.as_mut().reset(Instant::now() + DELAY);
            may_begin = false;
        }
    })
    .await
}

/// One of each family after the other, beginning with the resolver's first (RFC 8305 §4).
fn in_turn(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let Some(first) = addresses.first() else { return Vec::new() };
    let (one, other): (Vec<_>, Vec<_>) =
        addresses.iter().copied().partition(|address: &SocketAddr| address.is_ipv4() == first.is_ipv4());
    let mut turns = Vec::with_capacity(addresses.len());
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    while turns.len() < addresses.len() {
        turns.extend(one.next());
        turns.extend(other.next());
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "127.0.0.1:1";

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
    fn families_take_turns() {
        let given = addresses(&["[::1]:1", "[::2]:1", "[::3]:1", "127.0.0.1:1"]);
        assert_eq!(in_turn(&given), addresses(&["[::1]:1", "127.0.0.1:1", "[::2]:1", "[::3]:1"]));
        assert!(in_turn(&[]).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_address_costs_a_quarter_of_a_second() {
        let start = Instant::now();
        let won = race(&addresses(&["[::1]:3", GOOD]), connect).await;
        assert_eq!(won, Some(Ok(GOOD.parse().expect("an address"))));
        assert!(start.elapsed() >= DELAY && start.elapsed() < DELAY * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_costs_nothing() {
        let start = Instant::now();
        let won = race(&addresses(&["[::1]:2", GOOD]), connect).await;
        assert_eq!(won, Some(Ok(GOOD.parse().expect("an address"))));
        assert!(start.elapsed() < DELAY);
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_refuse_the_first_refusal_counts() {
        assert_eq!(race(&addresses(&["[::1]:2", "127.0.0.1:2"]), connect).await, Some(Err(2)));
        assert_eq!(race(&[], connect).await, None);
    }
}
