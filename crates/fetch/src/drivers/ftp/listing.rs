//! The listing of an FTP directory, as a stream of entries.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{SystemTime, UNIX_EPOCH};

use fetch_url_core::{PercentEncoded, Url, charset};
use fetch_url_proto::ftp::{DataMode, ListVerb, Operation, SessionError, SessionStep};
use fetch_url_proto::ftp_list::{ListFormat, ListLine, ListReader};
use fetch_url_proto::text::Reply;
use fetch_url_proto::{Entry, EntryKind, RecvBuffer};
use futures_core::Stream;

use super::body::Transfer;
use super::driver_error::{DriverError, unexpected_step_error};
use super::plan::FtpPlan;
use super::reply_text::reply_summary;
use super::server_cache::{PooledConnection, ServerCache};
use crate::body::TerminatorCheck;
use crate::{Body, Content, Error, Listing, Meta, Proof, Response, RunContext};

/// Maximum number of entries that are buffered until it is known that the directory exists.
const MAX_BUFFERED_ENTRIES: usize = 64;

/// Returns the entries of a transfer. `name` is the argument of the listing command.
pub(super) fn listing_from_transfer(
    transfer: Transfer,
    name: Option<&[u8]>,
    verb: ListVerb,
    plan: &FtpPlan,
    servers: &Arc<ServerCache>,
    ctx: &RunContext,
) -> Listing {
    let reader = match verb {
        ListVerb::Mlsd => ListReader::new(ListFormat::Mlsd, None),
        ListVerb::List => ListReader::new(ListFormat::List, current_unix_time()),
        ListVerb::Nlst => ListReader::nlst(name.map(<[u8]>::to_vec)).with_path(path_of_url(plan, name)),
    };
    let proof = Proof::Proven("the reply 226");
    let terminator_check = transfer.terminator_check();
    let body = Body::from_source(transfer, None, proof);
    let entries = Listing::new(EntryStream {
        body: Some(body),
        buffer: RecvBuffer::new(),
        reader,
        directory: directory_url(plan),
        argument: name.unwrap_or_default().to_vec(),
        held: Vec::new(),
        ready: VecDeque::new(),
        repeats_argument: false,
        check: name.map(|_| DirectoryCheck::new(plan.clone(), servers.clone(), ctx.clone())),
        terminator_check: terminator_check.clone(),
        ends_with_newline: true,
    });
    entries.with_terminator_check(proof, terminator_check)
}

/// Returns the absolute path of the listed directory, if the URL is relative to the root directory of the server. If it
/// is not, no line of the listing begins with this path.
fn path_of_url(plan: &FtpPlan, name: Option<&[u8]>) -> Vec<u8> {
    let names = plan.ftp_request.cwds.iter().map(Vec::as_slice).chain(name);
    let path = names.collect::<Vec<_>>().join(&b'/');
    if path.starts_with(b"/") { path } else { [b"/", path.as_slice()].concat() }
}

/// Returns the current time, from which the year of dates without a year is derived.
fn current_unix_time() -> Option<i64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

struct EntryStream {
    body: Option<Body>,
    buffer: RecvBuffer,
    reader: ListReader,
    directory: Option<String>,
    /// The argument of the listing command.
    argument: Vec<u8>,
    /// Entries that are buffered until it is known that the directory exists.
    held: Vec<Entry>,
    /// Entries to return next.
    ready: VecDeque<Entry>,
    /// A line that repeats the argument is among the buffered entries.
    repeats_argument: bool,
    /// The check whether the directory exists; `None` if it is known to exist.
    check: Option<DirectoryCheck>,
    terminator_check: TerminatorCheck,
    /// The last line received so far is complete.
    ends_with_newline: bool,
}

impl Stream for EntryStream {
    type Item = Result<Entry, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(entry) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(entry)));
            }
            match this.reader.next_line(&mut this.buffer) {
                Ok(Some(line)) => {
                    this.accept_line(line);
                    continue;
                }
                Ok(None) => {}
                Err(error) => return Poll::Ready(Some(Err(this.fail(error.into())))),
            }
            let Some(body) = &mut this.body else { return this.poll_buffered_entries(cx) };
            match ready!(Pin::new(body).poll_next(cx)) {
                Some(Ok(bytes)) => {
                    this.ends_with_newline = bytes.ends_with(b"\n");
                    this.buffer.push(&bytes);
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(this.fail(error)))),
                None => {
                    if !this.ends_with_newline {
                        this.terminator_check.set_missing("the line end of the last line");
                    }
                    this.buffer.mark_closed();
                    this.body = None;
                }
            }
        }
    }
}

impl EntryStream {
    fn fail(&mut self, error: Error) -> Error {
        (self.body, self.check) = (None, None);
        self.held.clear();
        error
    }

    /// Adds one line of the listing.
    ///
    /// An error text, or a line that repeats the argument, does not prove that the directory exists: some servers send
    /// such lines for an unreadable directory or for a file (vsftpd lists the links to a file).
    fn accept_line(&mut self, line: ListLine) {
        self.repeats_argument |= matches!(&line, ListLine::Entry(entry) if entry.name == self.argument);
        let is_unparsed = matches!(line, ListLine::Unparsed(_));
        self.held.push(entry_from_line(line, self.directory.as_deref()));
        let is_directory = !is_unparsed && !self.repeats_argument;
        if self.check.is_none() || is_directory || self.held.len() >= MAX_BUFFERED_ENTRIES {
            self.check = None;
            self.ready.extend(self.held.drain(..));
        }
    }

    /// Returns the buffered entries at the end of the listing, after checking that the directory exists.
    fn poll_buffered_entries(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Entry, Error>>> {
        if let Some(check) = &mut self.check {
            let checked = ready!(check.poll(cx));
            self.check = None;
            if let Err(error) = checked {
                self.held.clear();
                return Poll::Ready(Some(Err(error)));
            }
        }
        self.ready.extend(self.held.drain(..));
        Poll::Ready(self.ready.pop_front().map(Ok))
    }
}

fn entry_from_line(line: ListLine, directory: Option<&str>) -> Entry {
    match line {
        ListLine::Entry(mut entry) => {
            entry.url = directory.map(|directory| {
                // A name that contains a slash is one argument (RETR a/b), so the slash is percent-encoded.
                let name = PercentEncoded::encode(&entry.name, charset::FSEGMENT);
                let end = if entry.kind == EntryKind::Directory { "/" } else { "" };
                [directory, name.as_str(), end].concat()
            });
            entry
        }
        // Shown unchanged: it may be an error text of the server.
        ListLine::Unparsed(line) => Entry { name: line.to_vec(), ..Entry::new(EntryKind::Other) },
    }
}

/// Returns the URL of the directory, with a slash at its end and without a password.
fn directory_url(plan: &FtpPlan) -> Option<String> {
    let Url::Ftp(url) = &plan.url else { return None };
    let text = plan.url.without_password().to_string();
    let Some(path) = url.path() else { return Some(format!("{text}/")) };
    // The path is the last part of the text.
    let authority = text.strip_suffix(&path.to_string())?;
    let mut directory = authority.to_owned();
    for segment in path.cwds().chain([path.name()].into_iter().filter(|name| !name.is_empty())) {
        directory.push_str(segment.as_str());
        directory.push('/');
    }
    Some(directory)
}

type CheckFuture = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Checks whether a directory exists, if no entry of its listing proves it.
enum DirectoryCheck {
    Ready(Option<Box<(FtpPlan, Arc<ServerCache>, RunContext)>>),
    Running(CheckFuture),
}

impl DirectoryCheck {
    fn new(plan: FtpPlan, servers: Arc<ServerCache>, ctx: RunContext) -> Self {
        Self::Ready(Some(Box::new((plan, servers, ctx))))
    }

    /// Starts the check at the first call. Returns an error if the directory does not exist.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            match self {
                Self::Ready(input) => {
                    let Some(input) = input.take() else { return Poll::Ready(Ok(())) };
                    let (plan, servers, ctx) = *input;
                    *self = Self::Running(Box::pin(async move {
                        let key = servers.pool_key(&plan, &ctx);
                        let pooled = match servers.take_ready(&key, &plan.ftp_request).await {
                            Some(pooled) => pooled,
                            None => servers.open(key, &plan, &ctx).await?,
                        };
                        check_directory(pooled, &plan, &ctx).await
                    }));
                }
                Self::Running(future) => return future.as_mut().poll(cx),
            }
        }
    }
}

/// Enters the listed directory with CWD, which fails if it does not exist.
async fn check_directory(
    mut pooled: PooledConnection,
    plan: &FtpPlan,
    ctx: &RunContext,
) -> Result<(), Error> {
    let Operation::List { name: Some(name), .. } = &plan.ftp_request.operation else { return Ok(()) };
    let mut request = plan.ftp_request.clone();
    request.cwds.push(name.clone());
    request.operation = Operation::ChangeDir;
    let connection = &mut pooled.connection;
    connection.start_request(&request, &DataMode::Passive)?;
    match connection.run_until_event(ctx).await? {
        SessionStep::Ready => {
            pooled.release();
            Ok(())
        }
        _ => Err(unexpected_step_error()),
    }
}

/// Returns the response for a listing that is empty according to the reply of the server.
pub(super) async fn empty_listing(
    meta: Box<Meta>,
    pooled: PooledConnection,
    plan: &FtpPlan,
    ctx: &RunContext,
) -> Result<Response, Error> {
    if let Operation::List { name: Some(_), .. } = plan.ftp_request.operation {
        check_directory(pooled, plan, ctx).await?;
    } else {
        pooled.release();
    }
    Ok(Response::new(meta, empty_content(plan)))
}

/// Returns `true` if the error may mean an empty directory.
///
/// Some servers reply 450 or 550 to the listing of an empty directory. If CWD can enter the directory, the reply means
/// that it is empty. The login directory is not entered with CWD, so its reply must also say that it is empty.
pub(super) fn may_mean_empty_directory(error: &DriverError, plan: &FtpPlan) -> bool {
    let DriverError::Session(SessionError::Rejected { command: Some(command), reply, .. }) = error else {
        return false;
    };
    let Operation::List { verb, name } = &plan.ftp_request.operation else { return false };
    let was_entered = name.is_some() || !plan.ftp_request.cwds.is_empty();
    (was_entered || reports_empty_directory(reply))
        && command.verb() == verb.verb()
        && matches!(reply.code, 450 | 550)
}

/// Returns `true` if the text of a reply says that there are no files.
fn reports_empty_directory(reply: &Reply) -> bool {
    let text = reply_summary(reply).to_ascii_lowercase();
    ["no files", "no such file", "is empty"]
        .iter()
        .any(|words| memchr::memmem::find(&text, words.as_bytes()).is_some())
}

fn empty_content(plan: &FtpPlan) -> Content {
    if plan.options.raw_listing {
        return Content::Body(Body::from_bytes(bytes::Bytes::new()));
    }
    Content::Listing(Listing::from_entries(VecDeque::new().into_iter()))
}
