//! A directory as it streams in.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{SystemTime, UNIX_EPOCH};

use fetch_url_core::{Escaped, Url, charset};
use fetch_url_proto::ftp::{DataRoad, Errand, Fault, ListVerb, Step, Task};
use fetch_url_proto::ftp_list::{ListForm, ListReader, Listed};
use fetch_url_proto::{Entry, EntryKind, Inbox};
use futures_core::Stream;

use super::body::Transfer;
use super::fault;
use super::line::{Line, Trouble};
use super::plan::FtpPlan;
use crate::body::EndMark;
use crate::engine::waiting::Key;
use crate::{Body, Code, Content, Ctx, Error, Listing, Meta, Outcome, Phase, Proof, Response};

/// So many lines are held back in doubt.
const MOST_HELD: usize = 64;

/// The entries of a transfer.
pub(super) fn of(
    transfer: Transfer,
    name: Option<&[u8]>,
    by: ListVerb,
    plan: &FtpPlan,
    ctx: &Ctx,
) -> Listing {
    let reader = match by {
        ListVerb::Mlsd => ListReader::new(ListForm::Mlsd, None),
        ListVerb::List => ListReader::new(ListForm::List, now()),
        ListVerb::Nlst => ListReader::nlst(name.map(<[u8]>::to_vec)),
    };
    let proof = Proof::Proven("the reply 226");
    let mark = transfer.mark();
    let body = Body::from_source(transfer, None, proof);
    let entries = Listing::new(Entries {
        body: Some(body),
        inbox: Inbox::new(),
        reader,
        directory: directory(plan),
        asked: name.unwrap_or_default().to_vec(),
        held: Vec::new(),
        ready: VecDeque::new(),
        repeats: false,
        doubt: name.map(|_| Doubt::new(plan.clone(), ctx.clone())),
        mark: mark.clone(),
        ends_in_a_line: true,
    });
    entries.ending_by(proof, mark)
}

/// The lines of the year are of this one or the last.
fn now() -> Option<i64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

struct Entries {
    body: Option<Body>,
    inbox: Inbox,
    reader: ListReader,
    directory: Option<String>,
    /// The argument of NLST.
    asked: Vec<u8>,
    /// What came so far, as long as there is doubt.
    held: Vec<Entry>,
    /// What is beyond doubt.
    ready: VecDeque<Entry>,
    /// A line that only repeats the argument is among those held.
    repeats: bool,
    /// As long as nothing tells that the directory is there.
    doubt: Option<Doubt>,
    mark: EndMark,
    /// The last line that came has its end.
    ends_in_a_line: bool,
}

impl Stream for Entries {
    type Item = Result<Entry, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(entry) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(entry)));
            }
            match this.reader.read(&mut this.inbox) {
                Ok(Some(listed)) => {
                    this.take(listed);
                    continue;
                }
                Ok(None) => {}
                Err(error) => return Poll::Ready(Some(Err(this.give_up(error.into())))),
            }
            let Some(body) = &mut this.body else { return this.poll_doubt(cx) };
            match ready!(Pin::new(body).poll_next(cx)) {
                Some(Ok(octets)) => {
                    this.ends_in_a_line = octets.ends_with(b"\n");
                    this.inbox.push(&octets);
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(this.give_up(error)))),
                None => {
                    if !this.ends_in_a_line {
                        this.mark.is_missing("the end of the last line");
                    }
                    this.inbox.end();
                    this.body = None;
                }
            }
        }
    }
}

impl Entries {
    fn give_up(&mut self, error: Error) -> Error {
        (self.body, self.doubt) = (None, None);
        self.held.clear();
        error
    }

    /// Takes the next line. A complaint, or one that only repeats the argument, may be all that a server
    /// says of a directory that it cannot read, or of a file (with which vsftpd lists the links to it).
    fn take(&mut self, listed: Listed) {
        self.repeats |= matches!(&listed, Listed::Entry(entry) if entry.name == self.asked);
        let is_note = matches!(listed, Listed::Note(_));
        self.held.push(entry(listed, self.directory.as_deref()));
        let is_directory = !is_note && !self.repeats;
        if self.doubt.is_none() || is_directory || self.held.len() >= MOST_HELD {
            self.doubt = None;
            self.ready.extend(self.held.drain(..));
        }
    }

    /// At the end: whether what came, or nothing, is what a directory holds.
    fn poll_doubt(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Entry, Error>>> {
        if let Some(doubt) = &mut self.doubt {
            let settled = ready!(doubt.poll(cx));
            self.doubt = None;
            if let Err(error) = settled {
                self.held.clear();
                return Poll::Ready(Some(Err(error)));
            }
        }
        self.ready.extend(self.held.drain(..));
        Poll::Ready(self.ready.pop_front().map(Ok))
    }
}

fn entry(listed: Listed, directory: Option<&str>) -> Entry {
    match listed {
        Listed::Entry(mut entry) => {
            entry.url = directory.map(|directory| {
                // What a server calls `a/b` is one argument: RETR a/b.
                let name = Escaped::encode(&entry.name, charset::FSEGMENT);
                let end = if entry.kind == EntryKind::Directory { "/" } else { "" };
                format!("{directory}{name}{end}")
            });
            entry
        }
        // A line that is none is shown as it came: it may be the server's complaint.
        Listed::Note(line) => Entry { name: line.to_vec(), ..Entry::new(EntryKind::Other) },
    }
}

/// The URL of the directory, with a slash at its end and without a password.
fn directory(plan: &FtpPlan) -> Option<String> {
    let Url::Ftp(url) = &plan.url else { return None };
    let text = plan.url.without_password().to_string();
    let Some(path) = url.path() else { return Some(format!("{text}/")) };
    // Display is canonical: the path stands at its end.
    let authority = text.strip_suffix(&path.to_string())?;
    let mut directory = authority.to_owned();
    for segment in path.cwds().chain([path.name()].into_iter().filter(|name| !name.is_empty())) {
        directory.push_str(segment.as_str());
        directory.push('/');
    }
    Some(directory)
}

/// The answer to a doubt, on its way.
type Asking = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Whether a directory that lists as empty is there at all.
struct Doubt {
    question: Option<(FtpPlan, Ctx)>,
    asking: Option<Asking>,
}

impl Doubt {
    const fn new(plan: FtpPlan, ctx: Ctx) -> Self {
        Self { question: Some((plan, ctx)), asking: None }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if let Some((plan, ctx)) = self.question.take() {
            self.asking = Some(Box::pin(async move {
                let key = plan.servers.key(&plan, &ctx);
                let line = match plan.servers.take(&key, &plan.errand) {
                    Some(line) => line,
                    None => Line::open(&plan, &ctx).await?,
                };
                check_directory(line, key, &plan, &ctx).await
            }));
        }
        match &mut self.asking {
            Some(asking) => asking.as_mut().poll(cx),
            None => Poll::Ready(Ok(())),
        }
    }
}

/// CWD tells what NLST does not.
async fn check_directory(mut line: Line, key: Key, plan: &FtpPlan, ctx: &Ctx) -> Result<(), Error> {
    let Task::List { name: Some(name), .. } = &plan.errand.task else { return Ok(()) };
    let mut inside = plan.errand.clone();
    inside.cwds.push(name.clone());
    inside.task = Task::Reach;
    match enter(&mut line, &inside, ctx).await {
        Ok(()) => {
            plan.servers.put(key, line);
            Ok(())
        }
        Err(trouble) => Err(fault::error(trouble)),
    }
}

async fn enter(line: &mut Line, inside: &Errand, ctx: &Ctx) -> Result<(), Trouble> {
    line.go(inside, &DataRoad::Passive)?;
    match line.advance(ctx).await? {
        Step::Ready => Ok(()),
        _ => Err(Error::new(Code::Internal, Phase::Request, "the session and its line disagree").into()),
    }
}

/// An empty listing that the server told without a data connection.
pub(super) async fn empty(
    meta: Meta,
    line: Line,
    key: Key,
    plan: &FtpPlan,
    ctx: &Ctx,
) -> Result<Outcome, Error> {
    if let Task::List { name: Some(_), .. } = plan.errand.task {
        check_directory(line, key, plan, ctx).await?;
    } else {
        plan.servers.put(key, line);
    }
    Ok(Outcome::Answer(Response::new(meta, nothing(plan))))
}

/// Whether a refusal may mean an empty directory: there are servers that have no better word for one
/// than 450 or 550. Of a directory that CWD has reached it means nothing else; of the one that the login
/// leads to nobody has proven that it may be read.
pub(super) fn may_be_empty(trouble: &Trouble, plan: &FtpPlan) -> bool {
    let Trouble::Fault(Fault::Refused { asked: Some(command), reply, .. }) = trouble else { return false };
    let Task::List { by, name } = &plan.errand.task else { return false };
    let can_be_proven = name.is_some() || !plan.errand.cwds.is_empty();
    can_be_proven && command.verb() == by.verb() && matches!(reply.code, 450 | 550)
}

fn nothing(plan: &FtpPlan) -> Content {
    if plan.options.raw_listing {
        return Content::Body(Body::from_bytes(bytes::Bytes::new()));
    }
    Content::Listing(Listing::from_entries(VecDeque::new().into_iter()))
}
