//! From arguments to an exit status: one job, one transfer after the other.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, FromArgMatches as _};
use fetch_url::url::{Escaped, Url};
use fetch_url::{
    Code, Content, Error, FileOptions, FileSink, Phase, Proof, Response, Sink, deliver, safe_name,
};

use crate::flags::{Flags, Verb};
use crate::job::{Job, Output, Talk, Transfer, stdout, usage};
use crate::render::{self, listing, terminal::Terminal};
use crate::signal;
use crate::verbs;

/// After a signal, so long may what has come be made safe.
const KEEPING: Duration = Duration::from_secs(2);

/// Runs the command line `arguments`.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let parsed = Flags::command().try_get_matches_from(arguments).and_then(|matches| {
        let flags = Flags::from_arg_matches(&matches)?;
        Ok((flags, matches))
    });
    let (flags, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return ExitCode::from(render::usage(&error)),
    };
    let status = match flags.verb {
        Some(Verb::Explain(flags)) => verbs::explain(&flags),
        Some(Verb::Extract(flags)) => verbs::extract(&flags),
        None => match Job::new(flags.fetch, &matches) {
            Ok(job) => fetch(&job),
            Err(error) => render::error(&error, None),
        },
    };
    ExitCode::from(status)
}

/// Fetches everything; the first failure's status is ours.
fn fetch(job: &Job) -> u8 {
    render::listen(job.talk.verbose);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return render::error(&Error::new(Code::Internal, Phase::Plan, error.to_string()), None);
        }
    };
    let ended = runtime.block_on(async {
        tokio::select! {
            biased;
            status = all(job) => Ok(status),
            ending = signal::ending() => Err(ending),
        }
    });
    match ended {
        Ok(status) => {
            // A read that hangs in the system is not waited for.
            runtime.shutdown_background();
            status
        }
        Err(ending) => {
            // The thread that writes keeps what can be kept.
            runtime.shutdown_timeout(KEEPING);
            ending.die()
        }
    }
}

async fn all(job: &Job) -> u8 {
    let mut first_failure = 0;
    for transfer in &job.transfers {
        let Err(error) = one(job, transfer).await else { continue };
        let status = if error.is_broken_pipe() { error.exit() } else { report(&error, transfer, job.talk) };
        if first_failure == 0 {
            first_failure = status;
        }
        if job.fails_early {
            break;
        }
    }
    first_failure
}

fn report(error: &Error, transfer: &Transfer, talk: Talk) -> u8 {
    match (talk.errors, talk.errors_as_json) {
        (false, _) => error.exit(),
        (true, true) => render::error_as_json(error, &transfer.url),
        (true, false) => render::error(error, Some(&transfer.url)),
    }
}

/// One URL, from its text to its place.
async fn one(job: &Job, transfer: &Transfer) -> Result<(), Error> {
    let request = job.shape.request(&transfer.url)?;
    let path = path_before(transfer, request.url(), job)?;
    // Whatever is wrong with the name is found before a connection is made.
    let file = path.as_deref().map(|path| open(path, job, job.shape.options)).transpose()?;
    let resume = file.as_ref().and_then(|file| file.resume_of(request.url()));
    let response = job.fetcher.fetch(request.resuming(resume)).await?;
    let response = shaped(response, job);
    check_proof(&response, job)?;
    let sink = match (file, &transfer.output) {
        (Some(file), _) => Sink::file(file),
        (None, Output::Named { .. }) => Sink::file(open_as_suggested(transfer, &response, job)?),
        (None, Output::Stdout { is_explicit: false }) if job.talk.stdout_is_terminal => {
            Sink::writer(Terminal::default())
        }
        (None, _) => Sink::open(stdout()?),
    };
    let is_file = !matches!(transfer.output, Output::Stdout { .. });
    let shows_on_terminal = job.talk.stdout_is_terminal && !is_file;
    let mut watch = render::progress::Meter::new(job.talk.progress, &transfer.url, shows_on_terminal);
    let delivered = deliver(response, sink, &mut watch).await;
    watch.finish();
    delivered.map(drop)
}

/// The path of the file, where it is known before the answer.
fn path_before(transfer: &Transfer, url: &Url<'_>, job: &Job) -> Result<Option<PathBuf>, Error> {
    match &transfer.output {
        Output::File(path) => Ok(Some(path.clone())),
        Output::Named { directory, by_server: false } => Ok(Some(directory.join(name_of(url)?))),
        Output::Named { by_server: true, .. } if job.shape.resume => {
            Err(usage("-J cannot continue: its name comes too late"))
        }
        _ => Ok(None),
    }
}

fn open(path: &Path, job: &Job, options: FileOptions) -> Result<FileSink, Error> {
    if let Some(parent) = path.parent().filter(|_| job.shape.create_dirs) {
        let failed =
            |error| Error::new(Code::SinkFailed, Phase::Deliver, format!("{}: {error}", parent.display()));
        fs::create_dir_all(parent).map_err(failed)?;
    }
    FileSink::open(path, options)
}

fn open_as_suggested(transfer: &Transfer, response: &Response, job: &Job) -> Result<FileSink, Error> {
    let Output::Named { directory, .. } = &transfer.output else { return Err(usage("-J needs -O")) };
    let suggested = response.meta.suggested_name.as_deref().and_then(safe_name);
    let name = match suggested {
        Some(name) => name,
        None => name_of(&response.meta.url)?,
    };
    open(&directory.join(name), job, job.shape.options.no_clobber(true))
}

/// The last part of the URL, decoded and made safe.
fn name_of(url: &Url<'_>) -> Result<String, Error> {
    let last = match url {
        Url::Http(url) => url.path().and_then(|path| path.split('/').next_back()).map(Escaped::into_owned),
        Url::File(url) => url.path().split('/').next_back().map(Escaped::into_owned),
        Url::Ftp(url) => url.path().map(|path| path.name().into_owned()),
        Url::Gopher(url) => url.selector().split('/').next_back().map(Escaped::into_owned),
        Url::Other(url) => url.path().and_then(|path| path.split('/').next_back().map(Escaped::into_owned)),
        _ => None,
    };
    last.and_then(|last| safe_name(&last.decode()))
        .ok_or_else(|| usage("the URL has no file name at its end").with_hint("name the file with -o"))
}

/// The answer with what `-I`, `-i` and `--format` put around it: then it is no longer the object, and
/// nothing of it can be resumed.
fn shaped(response: Response, job: &Job) -> Response {
    let format = job.shape.format;
    let Response { mut meta, content, .. } = response;
    let body = match content {
        Content::Body(body) if !job.shape.include => return Response::new(meta, Content::Body(body)),
        Content::Body(body) => body.with_prefix(render::head(&meta, format) + "\n"),
        Content::Listing(entries) => listing::body(entries, format),
        Content::Advice(advice) => fetch_url::Body::from_bytes(advice.text),
        _ => fetch_url::Body::from_bytes(render::head(&meta, format)),
    };
    meta.is_resumable = false;
    Response::new(meta, Content::Body(body))
}

/// `--require-complete`: an end that is only assumed is none.
fn check_proof(response: &Response, job: &Job) -> Result<(), Error> {
    let Content::Body(body) = &response.content else { return Ok(()) };
    let Proof::Assumed(why) = body.proof() else { return Ok(()) };
    if !job.shape.requires_proof {
        return Ok(());
    }
    Err(Error::new(Code::Truncated, Phase::Body, format!("its end cannot be proven: {why}")))
}
