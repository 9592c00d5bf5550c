//! Several transfers: one after the other, or some at the same time; each is reported when it is over.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use fetch_url::url::{Url, mask_password, parse};
use fetch_url::{Code, Doubt, Error, Next, Turn};
use tokio::task::LocalSet;

use super::mirror::Walk;
use super::unfold::{self, Several};
use super::{one, prune};
use crate::job::news::may_be_news;
use crate::job::{Job, Output, Transfer};
use crate::render::{self, summary};
use crate::report::{Report, Tally};

/// So many transfers wait for their hosts while those of others go on.
const MOST_WAITING: usize = 128;

/// What a worker does next.
pub(super) enum Work {
    /// A transfer, and what comes after it at the same server.
    Transfer(Transfer, Next),
    /// What was to become transfers did not.
    Failed { url: String, error: Error },
}

/// Fetches everything; the first failure's status.
pub(super) async fn all(job: &Rc<Job>) -> u8 {
    let batch = Rc::new(Batch::new(job));
    let is_counted = job.input.is_none() && job.copy.is_none();
    let most = if is_counted { job.parallel.min(job.transfers.len()) } else { job.parallel };
    match most {
        0 | 1 => batch.work().await,
        workers => {
            // Each worker is woken for its own transfer alone.
            let together = LocalSet::new();
            for _ in 0..workers {
                let batch = batch.clone();
                together.spawn_local(async move { batch.work().await });
            }
            together.await;
        }
    }
    let deleted = batch.delete();
    job.board.clear();
    batch.sum_up(deleted)
}

struct Batch {
    job: Rc<Job>,
    next: Cell<usize>,
    /// What waits for its host.
    waiting: RefCell<VecDeque<(usize, Work, Url<'static>)>>,
    walk: Option<Walk>,
    /// What comes one after the other: drivers may look ahead.
    urls: Arc<[Url<'static>]>,
    /// The number for one more, which no URL of the command line has.
    spare: Cell<usize>,
    /// Which transfer it was, and its exit status.
    first_failure: Cell<(usize, u8)>,
    tally: Cell<Tally>,
}

impl Batch {
    fn new(job: &Rc<Job>) -> Self {
        let count = job.transfers.len();
        Self {
            job: job.clone(),
            next: Cell::new(0),
            waiting: RefCell::default(),
            walk: job.copy.as_ref().map(Walk::new),
            urls: if job.parallel == 1 && count > 1 { urls(job) } else { Arc::default() },
            // Of a file nobody knows how many they are.
            spare: Cell::new(if job.input.is_some() { usize::MAX / 2 } else { count }),
            first_failure: Cell::new((usize::MAX, 0)),
            tally: Cell::new(Tally::begin()),
        }
    }

    /// One transfer after the other, as long as there are some.
    async fn work(&self) {
        while let Some((number, work, turn)) = self.turn().await {
            let status = match work {
                Work::Transfer(transfer, next) => self.run_one(number, &transfer, next, turn).await,
                Work::Failed { url, error } => {
                    let nothing = Transfer::new(url, Output::Stdout { is_explicit: false });
                    self.end(self.begin(number, &nothing), Some(error), &nothing)
                }
            };
            if status != 0 && number < self.first_failure.get().0 {
                self.first_failure.set((number, status));
            }
        }
    }

    async fn run_one(&self, number: usize, transfer: &Transfer, next: Next, turn: Option<Arc<Turn>>) -> u8 {
        match unfold::articles(&self.job, transfer).await {
            Ok(None) => self.run(number, transfer, next, turn).await,
            Ok(Some(several)) => self.run_each(&several, transfer, turn).await,
            Err(error) => self.end(self.begin(number, transfer), Some(error), transfer),
        }
    }

    /// The next work whose host has a turn for it: what waits for a busy host holds nobody up.
    async fn turn(&self) -> Option<(usize, Work, Option<Arc<Turn>>)> {
        if self.walk.is_some() {
            // All of it is at one host, and a listing must not be left in the middle.
            let (number, work) = self.take().await?;
            let url = self.url_in_turn(&work);
            let turn = match &url {
                Some(url) => self.job.turns.turn(url).await.map(Arc::new),
                None => None,
            };
            return Some((number, work, turn));
        }
        loop {
            if self.is_stopped() {
                return None;
            }
            if let Some(ready) = self.waiting_no_more() {
                return Some(ready);
            }
            let can_wait = self.waiting.borrow().len() < MOST_WAITING;
            let taken = tokio::select! {
                biased;
                taken = self.take(), if can_wait => taken,
                () = self.job.turns.changed(), if !self.waiting.borrow().is_empty() => continue,
            };
            let Some((number, work)) = taken else {
                if self.waiting.borrow().is_empty() {
                    return None;
                }
                self.job.turns.changed().await;
                continue;
            };
            let Some(url) = self.url_in_turn(&work) else { return Some((number, work, None)) };
            match self.job.turns.try_turn(&url) {
                Some(turn) => return Some((number, work, Some(Arc::new(turn)))),
                None => self.waiting.borrow_mut().push_back((number, work, url)),
            }
        }
    }

    /// The first of those that wait whose host has a turn now.
    fn waiting_no_more(&self) -> Option<(usize, Work, Option<Arc<Turn>>)> {
        let mut waiting = self.waiting.borrow_mut();
        for index in 0..waiting.len() {
            if let Some(turn) = self.job.turns.try_turn(&waiting[index].2) {
                let (number, work, _) = waiting.remove(index)?;
                return Some((number, work, Some(Arc::new(turn))));
            }
        }
        None
    }

    /// The URL whose host has turns. What is no URL is told when it is asked for.
    fn url_in_turn(&self, work: &Work) -> Option<Url<'static>> {
        let Work::Transfer(transfer, _) = work else { return None };
        let url = if self.job.is_of_one() { None } else { parse(&transfer.url).ok() };
        url.map(|parsed| parsed.into_owned().url).filter(|url| url.host().is_some())
    }

    /// `--delete`, when everything was looked at. How many files.
    fn delete(&self) -> Result<u64, Error> {
        let job = &*self.job;
        let (Some(copy), Some(ledger), Some(walk)) = (&job.copy, &job.ledger, &self.walk) else {
            return Ok(0);
        };
        if !copy.deletes || self.is_stopped() {
            return Ok(0);
        }
        let (deleted, kept) = prune::prune(&copy.directory, &ledger.journal().borrow(), &walk.listed())?;
        if kept > 0 && !job.talk.is_silent {
            let words = format!("{kept} files that are gone there were changed here: kept");
            let place = copy.directory.display().to_string();
            job.board.aside(|| render::note_of(&place, &words, job.shape.format));
        }
        Ok(deleted)
    }

    /// The last words; the exit status.
    fn sum_up(&self, deleted: Result<u64, Error>) -> u8 {
        let job = &*self.job;
        let mut tally = self.tally.get();
        tally.skipped += self.walk.as_ref().map_or(0, Walk::unchanged);
        tally.elsewhere = self.walk.as_ref().map_or(0, Walk::elsewhere);
        let failure = match deleted {
            Ok(deleted) => {
                tally.deleted = deleted;
                0
            }
            Err(error) => {
                tally.failed += 1;
                render::error(&error, None)
            }
        };
        if let Some(ledger) = &job.ledger {
            ledger.close(job.copy.is_none() && tally.failed == 0);
        }
        if let Some(events) = job.events.as_ref().filter(|_| !job.is_of_one()) {
            events.summary(&tally);
        }
        if job.ledger.is_some() && job.talk.is_watched {
            summary::say_all(&tally, job.copy.is_none());
        }
        match self.first_failure.get().1 {
            0 => failure,
            status => status,
        }
    }

    fn after(&self, urls: &Arc<[Url<'static>]>, index: usize) -> Next {
        Next::new(urls.clone(), index + 1)
    }

    /// Several files that one URL stands for; the first failure's status.
    async fn run_each(&self, several: &Several, whole: &Transfer, turn: Option<Arc<Turn>>) -> u8 {
        let mut first_failure = 0;
        for urls in several.pieces() {
            let status = self.run_piece(&urls, whole, &turn).await;
            if first_failure == 0 {
                first_failure = status;
            }
            if first_failure != 0 && self.job.fails_early {
                break;
            }
        }
        first_failure
    }

    async fn run_piece(&self, urls: &Arc<[Url<'static>]>, whole: &Transfer, turn: &Option<Arc<Turn>>) -> u8 {
        let mut first_failure = 0;
        for (index, url) in urls.iter().enumerate() {
            let transfer = Transfer::new(url.to_string(), whole.output.clone());
            let number = self.spare.replace(self.spare.get() + 1);
            let status = self.run(number, &transfer, self.after(urls, index), turn.clone()).await;
            if first_failure == 0 {
                first_failure = status;
            }
            if first_failure != 0 && self.job.fails_early {
                break;
            }
        }
        first_failure
    }

    /// The next one: those of the command line, then those of a file or of a tree.
    async fn take(&self) -> Option<(usize, Work)> {
        if self.is_stopped() {
            return None;
        }
        let work = match self.job.transfers.get(self.next.get()) {
            Some(transfer) => Work::Transfer(transfer.clone(), self.after(&self.urls, self.next.get())),
            None => self.more().await?,
        };
        (!self.is_stopped()).then(|| (self.next.replace(self.next.get() + 1), work))
    }

    /// Whether a failure has ended it.
    fn is_stopped(&self) -> bool {
        self.job.fails_early && self.first_failure.get().1 != 0
    }

    async fn more(&self) -> Option<Work> {
        if let (Some(walk), Some(copy)) = (&self.walk, &self.job.copy) {
            return walk.next(&self.job, copy).await;
        }
        Some(match self.job.input.as_ref()?.next().await? {
            Ok(transfer) => Work::Transfer(transfer, Next::default()),
            Err(error) => Work::Failed { url: String::new(), error },
        })
    }

    async fn run(&self, number: usize, transfer: &Transfer, next: Next, turn: Option<Arc<Turn>>) -> u8 {
        let mut report = self.begin(number, transfer);
        let mut error = one(&self.job, transfer, next, turn, &mut report).await.err();
        for url in &transfer.others {
            let Some(failed) = error.as_ref().filter(|error| is_of_one_place(error)) else { break };
            self.job.board.aside(|| render::instead(failed, url));
            let other = Transfer { url: url.clone(), ..transfer.clone() };
            report = Report::begin(number, url);
            let turn = self.turn_at(url).await;
            error = one(&self.job, &other, Next::default(), turn, &mut report).await.err();
        }
        // What was there already may be somebody else's.
        if !report.is_skipped
            && let (None, Some(ledger), Some(path)) = (&error, &self.job.ledger, &report.file)
            && let Some(failed) = ledger.add(transfer, path, &report)
        {
            let words = format!("what is finished may be fetched once more: {failed}");
            self.job.board.aside(|| render::note(&words));
        }
        if error.as_ref().is_some_and(is_no_file) && self.leads_elsewhere(transfer) {
            (error, report.is_skipped) = (None, true);
        }
        self.end(report, error, transfer)
    }

    /// What becomes of a line of a listing that is no file: it may be a directory, or a link to nothing that can be fetched.
    fn leads_elsewhere(&self, transfer: &Transfer) -> bool {
        let (Some(leaf), Some(walk)) = (&transfer.leaf, &self.walk) else { return false };
        match leaf.doubt {
            Some(Doubt::Unknown) => walk.enter(leaf),
            Some(_) => {
                if self.job.talk.notes {
                    let url = mask_password(&transfer.url);
                    let words = "a link that leads to no file: passed over";
                    self.job.board.aside(|| render::note_of(&url, words, self.job.shape.format));
                }
                true
            }
            None => false,
        }
    }

    /// A turn for another place of an object.
    async fn turn_at(&self, url: &str) -> Option<Arc<Turn>> {
        let url = parse(url).ok()?.url;
        self.job.turns.turn(&url).await.map(Arc::new)
    }

    /// Says that it begins.
    fn begin(&self, number: usize, transfer: &Transfer) -> Report {
        if let Some(events) = &self.job.events {
            events.start(number, &transfer.url);
        }
        Report::begin(number, &transfer.url)
    }

    /// Says how it ended.
    fn end(&self, mut report: Report, error: Option<Error>, transfer: &Transfer) -> u8 {
        let job = &*self.job;
        report.end(error);
        job.board.count();
        let mut tally = self.tally.get();
        tally.count(&report);
        self.tally.set(tally);
        if let Some(error) = report.error.as_ref().filter(|error| !error.is_broken_pipe()) {
            job.board.aside(|| tell(error, transfer, job));
        }
        if let Some(events) = &job.events {
            events.end(&report);
        }
        let is_read = job.write_out.as_ref().is_none_or(|format| format.write(&report));
        if report.exit() == 0 && !is_read { 23 } else { report.exit() }
    }
}

/// Whether what was asked for as a file may be none.
fn is_no_file(error: &Error) -> bool {
    matches!(error.code(), Code::NotFound | Code::Denied | Code::Policy)
}

/// Whether another place of the same object may do better: not where the fault is ours.
fn is_of_one_place(error: &Error) -> bool {
    !matches!(error.code(), Code::Internal | Code::SinkFailed | Code::Usage)
}

/// The URLs of all transfers, where a driver may look ahead; none when one of them is wrong, which it will be told
/// for.
fn urls(job: &Job) -> Arc<[Url<'static>]> {
    if !job.transfers.iter().any(|transfer| may_be_news(&transfer.url)) {
        return Arc::default();
    }
    let url =
        |transfer: &Transfer| Some(job.shape.request(&transfer.url, Next::default()).ok()?.url().clone());
    job.transfers.iter().map(url).collect::<Option<Vec<_>>>().unwrap_or_default().into()
}

fn tell(error: &Error, transfer: &Transfer, job: &Job) {
    match (job.talk.errors, job.talk.errors_as_json) {
        (false, _) => {}
        (true, true) => {
            render::error_as_json(error, &transfer.url);
        }
        (true, false) => {
            // A line that is no transfer has no URL.
            render::error(error, Some(transfer.url.as_str()).filter(|url| !url.is_empty()));
        }
    }
}
