//! Selects the next work: transfers of the command line, the input file or a mirror, each with a host permit.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use fetch_url::internal::HostPermit;
use fetch_url::news::UpcomingUrls;
use fetch_url::url::Url;

use super::context::Run;
use super::mirror::MirrorWalker;
use super::work::{PlannedTransfer, Work};
use crate::job::LineSource as _;
use crate::job::news::may_be_news;

/// Maximum number of transfers that wait for busy hosts while transfers of other hosts continue.
const MAX_WAITING: usize = 128;

/// Work with its number and the permit of its host.
pub(super) type NumberedWork = (usize, Work, Option<Arc<HostPermit>>);

/// The queue that all workers of a batch share.
pub(super) struct WorkQueue {
    run: Rc<Run>,
    /// The number of the next transfer. The mirror walker shares it, to number its listings.
    next: Rc<Cell<usize>>,
    /// Transfers that wait for a permit of their host.
    waiting: RefCell<VecDeque<(usize, Work, Url<'static>)>>,
    pub(super) walker: Option<MirrorWalker>,
    /// The URLs of the command line, if the news driver may request the next ones ahead; otherwise empty.
    urls: Arc<[Url<'static>]>,
    is_stopped: Cell<bool>,
}

impl WorkQueue {
    pub(super) fn new(run: &Rc<Run>) -> Self {
        let is_sequence = run.parallel == 1 && run.transfers.len() > 1;
        let next = Rc::new(Cell::new(0));
        Self {
            run: run.clone(),
            walker: run.mirror.as_ref().map(|job| MirrorWalker::new(job, next.clone())),
            next,
            waiting: RefCell::default(),
            urls: if is_sequence { news_urls(run) } else { Arc::default() },
            is_stopped: Cell::new(false),
        }
    }

    /// Stops the queue: no more work is returned.
    pub(super) fn stop(&self) {
        self.is_stopped.set(true);
        if let Some(walker) = &self.walker {
            walker.stop();
        }
    }

    pub(super) const fn is_stopped(&self) -> bool {
        self.is_stopped.get()
    }

    /// Waits for work for whose host a permit is available. Work for a busy host does not block work for other hosts.
    /// Returns `None` if no work is left.
    pub(super) async fn next_with_permit(&self) -> Option<NumberedWork> {
        if self.walker.is_some() {
            // All URLs of a mirror are on one host, so no other work could be preferred. `take` must not be cancelled
            // during a listing.
            let (number, work) = self.take().await?;
            let permit = match self.host_limited_url(&work) {
                Some(url) => self.run.host_limiter.acquire(&url).await.map(Arc::new),
                None => None,
            };
            return Some((number, work, permit));
        }
        let mut has_more = true;
        loop {
            if self.is_stopped() {
                return None;
            }
            let tried = Instant::now();
            if let Some(ready) = self.take_ready() {
                return Some(ready);
            }
            let is_waiting = !self.waiting.borrow().is_empty();
            if !has_more && !is_waiting {
                return None;
            }
            let can_take = has_more && self.waiting.borrow().len() < MAX_WAITING;
            let taken = tokio::select! {
                biased;
                taken = self.take(), if can_take => taken,
                () = self.run.host_limiter.changed_since(tried), if is_waiting => {
                    has_more = true;
                    continue;
                }
            };
            let Some((number, work)) = taken else {
                has_more = false;
                continue;
            };
            let Some(url) = self.host_limited_url(&work) else { return Some((number, work, None)) };
            match self.run.host_limiter.try_acquire(&url) {
                Some(permit) => return Some((number, work, Some(Arc::new(permit)))),
                None => self.waiting.borrow_mut().push_back((number, work, url)),
            }
        }
    }

    /// Returns the first waiting work for whose host a permit is available now.
    fn take_ready(&self) -> Option<NumberedWork> {
        let mut waiting = self.waiting.borrow_mut();
        for index in 0..waiting.len() {
            if let Some(permit) = self.run.host_limiter.try_acquire(&waiting[index].2) {
                let (number, work, _) = waiting.remove(index)?;
                return Some((number, work, Some(Arc::new(permit))));
            }
        }
        None
    }

    /// Returns the URL whose host limits the work. Returns `None` for work without a limit, such as a single transfer.
    fn host_limited_url(&self, work: &Work) -> Option<Url<'static>> {
        let Work::Transfer(planned) = work else { return None };
        let url = planned.url().filter(|_| !self.run.has_single_transfer());
        url.filter(|url| url.host().is_some() && !may_be_news_without_server(url, planned)).cloned()
    }

    /// Returns the next work: first from the command line, then from the input file or the mirror.
    async fn take(&self) -> Option<(usize, Work)> {
        if self.is_stopped() {
            return None;
        }
        let work = match self.run.transfers.get(self.next.get()) {
            Some(transfer) => {
                let upcoming = UpcomingUrls::new(self.urls.clone(), self.next.get() + 1);
                let plan = PlannedTransfer::new(transfer.clone(), upcoming, &self.run.options);
                let is_last = self.next.get() + 1 == self.run.transfers.len() && self.run.input.is_none();
                planned(if is_last { plan.into_last_transfer(&self.run.options) } else { plan })
            }
            None => self.next_from_input().await?,
        };
        (!self.is_stopped()).then(|| (self.next.replace(self.next.get() + 1), work))
    }

    async fn next_from_input(&self) -> Option<Work> {
        if let (Some(walker), Some(mirror)) = (&self.walker, &self.run.mirror) {
            return walker.next(&self.run, mirror).await;
        }
        Some(match self.run.input.as_ref()?.next().await? {
            Ok(transfer) => {
                planned(PlannedTransfer::new(transfer, UpcomingUrls::default(), &self.run.options))
            }
            Err(error) => Work::Failed { url: String::new(), error },
        })
    }
}

fn planned(transfer: PlannedTransfer) -> Work {
    Work::Transfer(Box::new(transfer))
}

/// Returns `true` for a URL such as `news:x`, whose server is named by an option: it is not limited per host.
fn may_be_news_without_server(url: &Url<'_>, planned: &PlannedTransfer) -> bool {
    matches!(url, Url::News(_)) && !planned.transfer.url.contains("://")
}

/// Returns the URLs of all transfers, for drivers that send requests ahead (news). Returns an empty list if a URL is
/// invalid; its transfer reports the error.
fn news_urls(run: &Run) -> Arc<[Url<'static>]> {
    if !run.transfers.iter().any(|transfer| may_be_news(&transfer.url)) {
        return Arc::default();
    }
    let planned = run.transfers.iter().map(|transfer| {
        PlannedTransfer::new(transfer.clone(), UpcomingUrls::default(), &run.options).url().cloned()
    });
    planned.collect::<Option<Vec<_>>>().unwrap_or_default().into()
}
