//! From arguments to an exit status: one job, and each of its transfers from the text of a URL to its
//! place.

mod advisory;
mod batch;
mod check;
mod ledger;
mod mirror;
mod place;
mod prune;
mod session;
mod unfold;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use fetch_url::url::{Url, mask_password};
use fetch_url::{
    Checksum, Code, Content, Error, Event, FileSink, HttpOptions, Next, Observe as _, Phase, Receipt,
    Request, Response, Segments, Sink, Turn, Want, deliver,
};

pub(crate) use check::Lists;
pub(crate) use ledger::Ledger;
pub(crate) use place::{Claims, make_directory};
use place::{is_there, open, path_before};

use crate::config::{self, For};
use crate::flags::{Flags, Verb};
use crate::job::{Job, Output, Progress, Transfer, news};
use crate::render::{self, listing, progress::Meter};
use crate::report::Report;
use crate::signal;
use crate::verbs;

/// After a signal, so long may what has come be made safe.
const KEEPING: Duration = Duration::from_secs(2);

/// Runs the command line `arguments`.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let (flags, matches) = match parsed(arguments.into_iter().collect()) {
        Ok(parsed) => parsed,
        Err(status) => return ExitCode::from(status),
    };
    let status = match flags.verb {
        Some(Verb::Explain(flags)) => verbs::explain(&flags),
        Some(Verb::Extract(flags)) => verbs::extract(&flags),
        Some(Verb::Completions { shell }) => verbs::completions(shell),
        Some(Verb::Mirror(flags)) => match matches.subcommand() {
            Some((_, matches)) => run(Job::mirror(*flags, matches)),
            None => 99,
        },
        None => run(Job::new(flags.fetch, &matches)),
    };
    ExitCode::from(status)
}

fn run(job: Result<Job, Error>) -> u8 {
    match job {
        Ok(job) => fetch(&Rc::new(job)),
        Err(error) => render::error(&error, None),
    }
}

/// The flags, behind those of the defaults files; or an exit status, when everything is said.
fn parsed(mut arguments: Vec<OsString>) -> Result<(Flags, ArgMatches), u8> {
    let is_plain = arguments.get(1).is_some_and(|first| first == "-q" || first == "--disable");
    if is_plain {
        arguments.remove(1);
    }
    let (flags, matches) = read(&arguments)?;
    // Defaults stand behind the verb that takes them.
    let (at, what, named) = match &flags.verb {
        None => (1, For::Fetch, &flags.fetch.config),
        Some(Verb::Mirror(mirror)) => (2, For::Mirror, &mirror.fetch.config),
        Some(_) => return Ok((flags, matches)),
    };
    let own = if is_plain { Ok(Vec::new()) } else { config::own(what) };
    let named = config::named(named);
    let mut defaults = own.map_err(|error| render::error(&error, None))?;
    defaults.extend(named.map_err(|error| render::error(&error, None))?);
    if defaults.is_empty() {
        return Ok((flags, matches));
    }
    arguments.splice(at..at, defaults);
    read(&arguments)
}

fn read(arguments: &[OsString]) -> Result<(Flags, ArgMatches), u8> {
    let parsed = Flags::command().try_get_matches_from(arguments).and_then(|matches| {
        let flags = Flags::from_arg_matches(&matches)?;
        Ok((flags, matches))
    });
    parsed.map_err(|error| render::usage(&error))
}

/// Fetches everything; the first failure's status is ours.
fn fetch(job: &Rc<Job>) -> u8 {
    if let Err(error) = render::listen(job.talk.verbose, job.talk.trace.as_deref()) {
        return render::error(&error, None);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return render::error(&Error::new(Code::Internal, Phase::Plan, error.to_string()), None);
        }
    };
    let ended = runtime.block_on(async {
        tokio::select! {
            biased;
            status = batch::all(job) => Ok(status),
            ending = signal::ending() => Err(ending),
        }
    });
    let kept = keep_cookies(job);
    match ended {
        Ok(status) => {
            // A read that hangs in the system is not waited for.
            runtime.shutdown_background();
            if status == 0 { kept } else { status }
        }
        Err(ending) => {
            job.board.clear();
            if signal::is_asking() {
                runtime.shutdown_background();
            } else {
                // The thread that writes keeps what can be kept.
                runtime.shutdown_timeout(KEEPING);
            }
            ending.die()
        }
    }
}

/// Writes the cookies of the run down: whole or not at all, for nobody else to read.
fn keep_cookies(job: &Job) -> u8 {
    let (Some(jar), Some(path)) = (job.cookies(), &job.cookie_file) else { return 0 };
    let written = if path.as_os_str() == "-" {
        std::io::Write::write_all(&mut std::io::stdout(), &jar.to_netscape())
            .map_err(|error| Error::new(Code::SinkFailed, Phase::Deliver, error.to_string()))
    } else {
        fetch_url::write_private(path, &jar.to_netscape())
    };
    written.map_or_else(|error| render::error(&error, None), |()| 0)
}

/// One URL, from its text to its place.
pub(crate) async fn one(
    job: &Job,
    transfer: &Transfer,
    next: Next,
    turn: Option<Arc<Turn>>,
    report: &mut Report,
) -> Result<(), Error> {
    let request = observed(job.shape.request(&transfer.url, next)?, job, report).in_turn(turn);
    tell_of_mid(&request, transfer, job);
    describe(&request, report);
    let path = path_before(transfer, request.url(), job)?;
    report.file.clone_from(&path);
    if path.as_ref().is_some_and(|path| is_there(transfer, path, job)) {
        report.is_skipped = true;
        return Ok(());
    }
    if let Some(path) = &path
        && is_unchanged(&request, transfer, path, job).await?
    {
        report.is_skipped = true;
        return Ok(());
    }
    if let Some(path) = path.as_deref().filter(|_| !job.is_of_one()) {
        job.claims.take(path, report.number, &transfer.url)?;
    }
    // Whatever is wrong with the name is found before a connection is made.
    let file = path.as_deref().map(|path| open(path, transfer, job)).transpose()?;
    let resume = file.as_ref().and_then(|file| file.resume_of(request.url()));
    let expected = check::expected(&request, transfer, job).await?;
    let file = match file {
        Some(file) if resume.is_none() => {
            match in_segments(job, transfer, &request, file, expected.clone(), report).await? {
                Some(file) => Some(file),
                None => return Ok(()),
            }
        }
        file => file,
    };
    let mut response = job.fetcher.fetch(request.resuming(resume)).await?;
    report.meta = Some(response.meta.clone());
    match response.content {
        Content::Session(session) => return session::hold(*session).await,
        Content::Advice(advice) => match advisory::advised(advice, &response.meta, transfer, job)? {
            Some(advice) => response.content = Content::Advice(advice),
            None => return Ok(()),
        },
        content => response.content = content,
    }
    if matches!(response.content, Content::Unchanged) && !job.shape.head {
        report.is_skipped = true;
        return Ok(());
    }
    if transfer.leaf.is_some() && matches!(response.content, Content::Listing(_)) {
        return Err(Error::new(Code::NotFound, Phase::Reply, "it is a directory"));
    }
    let is_object = matches!(response.content, Content::Body(_) | Content::Listing(_));
    let mut response = shaped(response, job);
    let refusal = response.refusal.take();
    let sink = place::sink(file, transfer, &response, job, report)?;
    let sink = match expected {
        Some(checksum) if is_object => sink.expecting(checksum),
        _ => sink,
    };
    let is_read_now = job.talk.stdout_is_terminal && matches!(transfer.output, Output::Stdout { .. });
    let mut watch = meter(job, transfer, report.number);
    let delivered = deliver(response, sink, &mut watch).await;
    report.came = if is_object { watch.came() } else { 0 };
    watch.finish();
    let receipt = delivered?;
    tell_notes(&receipt, job, is_read_now);
    report.receipt = Some(receipt);
    refusal.filter(|_| job.shape.fails_with_body).map_or(Ok(()), Err)
}

/// Whether a file of a mirror, of which the listing tells too little, is as it was.
async fn is_unchanged(request: &Request, transfer: &Transfer, path: &Path, job: &Job) -> Result<bool, Error> {
    let Some(ledger) = job.ledger.as_ref().filter(|ledger| ledger.wants_a_look(transfer, path)) else {
        return Ok(false);
    };
    let meta = job.fetcher.fetch(request.clone().head()).await?.meta;
    Ok(ledger.is_same(transfer, path, &meta))
}

/// What the URL says is not what is asked for.
fn tell_of_mid(request: &Request, transfer: &Transfer, job: &Job) {
    let is_article = matches!(request.url(), Url::News(_)) && !news::may_be_news(&transfer.url);
    if is_article && !job.talk.is_silent {
        let note = "mid names a message: asked for as the article of that message-id on the news server";
        job.board.aside(|| render::note_of(&transfer.url, note, job.shape.format));
    }
}

/// What may be known of an answer. Who reads it as it comes sees its end; what is stored may be wanted whole.
fn tell_notes(receipt: &Receipt, job: &Job, is_read_now: bool) {
    // Of a whole tree the summary tells how many.
    if job.talk.is_silent || (job.copy.is_some() && job.talk.verbose == 0) {
        return;
    }
    let missing = receipt.missing.filter(|_| !is_read_now);
    let missing = missing.map(|mark| format!("{mark} is missing: all of it may have come, or not"));
    for note in receipt.notes.iter().map(ToString::to_string).chain(missing) {
        job.board.aside(|| render::note_of(&receipt.url, &note, job.shape.format));
    }
}

/// Fetches a file over several connections, where that is wanted and can be; otherwise gives it back.
async fn in_segments(
    job: &Job,
    transfer: &Transfer,
    request: &Request,
    file: FileSink,
    expected: Option<Checksum>,
    report: &mut Report,
) -> Result<Option<FileSink>, Error> {
    let Some(segments) = Segments::plan(&job.fetcher, request, job.shape.segments).await? else {
        return Ok(Some(file));
    };
    report.meta = Some(segments.meta().clone());
    let mut watch = meter(job, transfer, report.number);
    let sink = expected.into_iter().fold(Sink::file(file), Sink::expecting);
    let delivered = segments.deliver(sink, &mut watch).await;
    report.came = watch.came();
    watch.finish();
    report.receipt = Some(delivered?);
    Ok(None)
}

/// The request, watched by whoever wants to know of hops and retries.
fn observed(request: Request, job: &Job, report: &Report) -> Request {
    let events = job.events.as_ref().map(|events| events.observer(report.number));
    let retries = report.retry_counter();
    let is_told = job.talk.notes;
    let board = job.board.clone();
    request.observed_by(Arc::new(move |event: &Event<'_>| {
        if let Event::Retry { .. } = event {
            retries.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        if is_told {
            board.aside(|| render::again(event));
        }
        if let Some(events) = &events {
            events.observe(event);
        }
    }))
}

/// What an HTTP request says, for `-w`.
fn describe(request: &Request, report: &mut Report) {
    let options = request.extra::<HttpOptions>().filter(|_| matches!(request.url(), Url::Http(_)));
    let Some(options) = options else { return };
    let usual = match (request.want(), &options.body) {
        (Want::Head, _) => "HEAD",
        (_, Some(_)) => "POST",
        _ => "GET",
    };
    report.method = Some(options.method.clone().unwrap_or_else(|| usual.to_owned()));
    report.sent = options.body.as_ref().map_or(0, |body| body.len() as u64);
    let referer = options.fields.iter().find(|field| field.name.eq_ignore_ascii_case("referer"));
    report.referer =
        referer.and_then(|field| Some(String::from_utf8_lossy(field.value.as_deref()?).into_owned()));
}

/// Nothing is shown where the object itself is.
fn meter(job: &Job, transfer: &Transfer, number: usize) -> Meter {
    let is_file = !matches!(transfer.output, Output::Stdout { .. });
    let kind = if job.talk.stdout_is_terminal && !is_file { Progress::Nothing } else { job.talk.progress };
    let ticker = job.events.as_ref().map(|events| events.progress(number));
    // A list or a listing may have named it.
    let name = match &transfer.output {
        Output::File(path) if job.input.is_some() || job.copy.is_some() => path.to_string_lossy(),
        _ => mask_password(&transfer.url).into(),
    };
    Meter::new(kind, &name, &job.board, ticker)
}

/// The answer with what `-I`, `-i` and `--format` put around it: then it is no longer the object, and
/// nothing of it can be resumed.
fn shaped(response: Response, job: &Job) -> Response {
    let format = job.shape.format;
    let Response { mut meta, content, refusal, .. } = response;
    let with = |meta, body| {
        let mut response = Response::new(meta, Content::Body(body));
        response.refusal = refusal;
        response
    };
    let body = match content {
        Content::Body(body) if !job.shape.include => return with(meta, body),
        Content::Body(body) => match render::head(&meta, format) {
            head if head.is_empty() => body,
            head => body.with_prefix(head + "\n"),
        },
        Content::Listing(entries) => listing::body(entries, format),
        Content::Advice(advice) => fetch_url::Body::from_bytes(render::advice(&advice, &meta, format)),
        _ => fetch_url::Body::from_bytes(render::head(&meta, format)),
    };
    meta.is_resumable = false;
    with(meta, body)
}
