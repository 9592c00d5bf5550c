//! When to try again: only what a passing cause made fail, after a wait that grows, and not for ever.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use super::deadline::Deadline;
use crate::{Code, Error, Event, Phase, Request, Retry};

/// The first wait.
const FIRST: Duration = Duration::from_secs(1);
/// The longest wait of our own choice.
const LONGEST: Duration = Duration::from_secs(60);
/// A server that asks for a longer wait than this is not waited for.
const LONGEST_ASKED: Duration = Duration::from_secs(600);
/// An attempt that brought so many octets was none in vain: the count begins anew.
const WORTH_IT: u64 = 1024 * 1024;

/// How often one request has failed, and how often it still may.
#[derive(Debug)]
pub(crate) struct Patience {
    rules: Retry,
    begun: Instant,
    failures: u32,
    /// Where in the object the last failure was.
    offset: u64,
    total: u32,
}

impl Patience {
    pub(crate) fn new(rules: Retry) -> Self {
        Self { rules, begun: Instant::now(), failures: 0, offset: 0, total: 0 }
    }

    /// How often it was tried again.
    pub(super) const fn retries(&self) -> u32 {
        self.total
    }

    /// Waits until `request` may be tried again after `error`; gives the error back when it may not.
    pub(crate) async fn wait(
        &mut self,
        request: &Request,
        error: Error,
        offset: u64,
        deadline: &Deadline,
    ) -> Result<(), Error> {
        if offset >= self.offset + WORTH_IT {
            self.failures = 0;
        }
        self.offset = self.offset.max(offset);
        let turn = request.turn().filter(|turn| error.code() == Code::Busy && turn.is_at(request.url()));
        // A host that serves others will serve us: only where nobody is served it is in vain.
        let asked = error.retry_after().or(self.rules.delay).unwrap_or(FIRST);
        // A wait that we do not take is nobody's.
        let asked = if asks_for_too_much(&error) { Duration::ZERO } else { asked };
        if turn.is_some_and(|turn| turn.complained(asked)) {
            self.failures = 0;
        }
        let Some(wait) = self.next(&error, spread(RandomState::new().hash_one(0))) else {
            return Err(if asks_for_too_much(&error) {
                error.with_hint("the server asks for a longer wait than we take")
            } else {
                error
            });
        };
        if !deadline.allows(wait) {
            return Err(error);
        }
        self.failures += 1;
        self.total += 1;
        let attempts = self.total;
        tracing::debug!(%error, ?wait, attempts, "again");
        request.tell(&Event::Retry { url: request.url(), error: &error, wait, attempts, offset });
        match turn {
            Some(turn) => {
                let waiting = async {
                    turn.pass(wait).await;
                    Ok(())
                };
                deadline.bound_total(Phase::Connect, waiting).await
            }
            None => {
                tokio::time::sleep(wait).await;
                Ok(())
            }
        }
    }

    /// How long to wait before the next try; none when there is to be none. `spread` is between 0.75
    /// and 1.25, so that many clients do not come back at once.
    fn next(&self, error: &Error, spread: f64) -> Option<Duration> {
        let may_pass = error.is_temporary() || (self.rules.all_errors && error.is_about_the_peer());
        if !may_pass || self.failures >= self.rules.most {
            return None;
        }
        let own = self.rules.delay.unwrap_or_else(|| {
            let grown = FIRST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
            grown.mul_f64(spread)
        });
        let asked = error.retry_after().unwrap_or_default();
        let wait = own.max(asked);
        let is_in_time =
            self.rules.max_time.is_none_or(|most| self.begun.elapsed().saturating_add(wait) <= most);
        (is_in_time && !asks_for_too_much(error)).then_some(wait)
    }
}

/// A server that wants to be left alone for hours is not waited for.
fn asks_for_too_much(error: &Error) -> bool {
    error.retry_after().is_some_and(|asked| asked > LONGEST_ASKED)
}

/// A number from 0.75 to 1.25 made of random bits.
fn spread(bits: u64) -> f64 {
    0.75 + f64::from(u16::try_from(bits & 0xffff).unwrap_or(0)) / f64::from(u16::MAX) / 2.0
}

/// The failure of a request that may not be made twice: it passes only where nothing can have gone out.
pub(crate) fn once_only(error: Error) -> Error {
    match error.phase() {
        Phase::Resolve | Phase::Connect => error,
        _ => error.lasting(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: Code) -> Error {
        Error::new(code, Phase::Request, "")
    }

    fn waits(rules: Retry, error: &Error) -> Vec<u64> {
        let mut patience = Patience::new(rules);
        let mut waits = Vec::new();
        while let Some(wait) = patience.next(error, 1.0) {
            waits.push(wait.as_secs());
            patience.failures += 1;
        }
        waits
    }

    #[test]
    fn waits_grow_and_end() {
        assert_eq!(waits(Retry::default(), &error(Code::Busy)), [1, 2, 4]);
        let many = Retry { most: 8, ..Retry::default() };
        assert_eq!(waits(many, &error(Code::ConnectFailed)), [1, 2, 4, 8, 16, 32, 60, 60]);
        let fixed = Retry { most: 2, delay: Some(Duration::from_secs(7)), ..Retry::default() };
        assert_eq!(waits(fixed, &error(Code::Busy)), [7, 7]);
        assert!(waits(Retry::never(), &error(Code::Busy)).is_empty());
    }

    #[test]
    fn what_does_not_pass_is_not_tried_again() {
        for code in [Code::NotFound, Code::Policy, Code::TlsFailed, Code::AuthNeeded, Code::PeerMisbehaved] {
            assert!(waits(Retry::default(), &error(code)).is_empty(), "{code:?}");
        }
        let all = Retry { all_errors: true, ..Retry::default() };
        assert_eq!(waits(all, &error(Code::PeerMisbehaved)).len(), 3);
        for code in [Code::BadUrl, Code::Usage, Code::SinkFailed, Code::Policy, Code::ForbiddenOctet] {
            assert!(waits(all, &error(code)).is_empty(), "{code:?}");
        }
    }

    #[test]
    fn a_server_may_ask_for_more_time_but_not_for_any() {
        let asked = |seconds| error(Code::Busy).with_retry_after(Some(Duration::from_secs(seconds)));
        assert_eq!(waits(Retry::default(), &asked(3)), [3, 3, 4]);
        assert!(waits(Retry::default(), &asked(601)).is_empty());
        let short = Retry { max_time: Some(Duration::from_secs(2)), ..Retry::default() };
        assert!(waits(short, &asked(3)).is_empty());
    }

    #[test]
    fn the_spread_is_a_quarter_each_way() {
        assert!((spread(0) - 0.75).abs() < 1e-9 && (spread(u64::MAX) - 1.25).abs() < 1e-9);
    }
}
