//! One transfer in four stages: choose the output, check whether it can be skipped, fetch, save.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fetch_url::events::{Event, Observer as _};
use fetch_url::internal::HostPermit;
use fetch_url::output::{FileSink, Segments, Sink, save};
use fetch_url::url::Url;
use fetch_url::{Checksum, Content, Error, Meta, Request, Response, http};
use tokio::sync::OwnedMutexGuard;

use super::context::Run;
use super::existing_file;
use super::metadata::{check_kind, may_be_available, reject_listing, reject_object, request_metadata};
use super::output_format::with_output_format;
use super::output_paths::Reserved;
use super::refused_response::reject_error;
use super::{
    checksum, copies, document_metadata, dry_run, header_files, not_fetchable, notes, output, session,
};
use crate::job::{Output, SegmentUse, Transfer};
use crate::render;
use crate::render::progress::{ProgressMode, TransferProgress};
use crate::report::{NoFile, TransferReport};

/// Fetches `request` and writes the object to the output of `transfer`. The result is recorded in `report`.
pub(super) async fn run_transfer(
    run: &Run,
    transfer: &Transfer,
    request: Request,
    permit: Option<Arc<HostPermit>>,
    report: &mut TransferReport,
) -> Result<(), Error> {
    // `-I` needs no lock: each head is written as one chunk.
    let is_for_stdout = matches!(transfer.output, Output::Stdout { .. }) && !run.options.head;
    let _guard = match is_for_stdout {
        true => Some(run.stdout_lock.lock(report.number, permit.as_deref()).await),
        false => None,
    };
    report.listed_size = document_metadata::listed_size(transfer, &request);
    let result = run_stages(run, transfer, request, permit, report).await;
    run.open_files.borrow_mut().remove(&report.number);
    run.output_paths.end(report.number);
    result
}

async fn run_stages(
    run: &Run,
    transfer: &Transfer,
    request: Request,
    permit: Option<Arc<HostPermit>>,
    report: &mut TransferReport,
) -> Result<(), Error> {
    let request = with_observer(request, run, report).with_permit(permit.clone());
    notes::note_mid_url(&request, transfer, run);
    notes::note_added_scheme(transfer, run);
    report.record_request(&request);

    // 1. Choose the output.
    let (path, reserved) = choose_path(transfer, request.url(), run, report)?;

    // 2. Check whether it can be skipped.
    if let Some(path) = &path
        && can_skip(&request, transfer, path, reserved, run, report).await?
    {
        report.is_skipped = true;
        return Ok(());
    }
    if run.options.is_dry_run {
        return dry_run::print_planned(&request, transfer, path.as_deref(), run);
    }
    let request = match existing_file::unconditional_request(&request, path.as_deref(), transfer, run).await?
    {
        Some(request) => with_observer(request, run, report).with_permit(permit.clone()),
        None => request,
    };
    let has_condition = request.condition().is_some();
    let exists = has_condition && path.as_deref().is_some_and(Path::exists);
    check_kind(&request, transfer, path.as_deref(), run).await?;
    let file = open_file(path.as_deref(), transfer, reserved, run)?;
    let _stream_guard = lock_stream(path.as_deref(), file.as_ref(), permit, run).await;
    let expected = checksum::expected(&request, transfer, run).await?;
    report.expected.clone_from(&expected);

    // 3. Fetch.
    if let Some(page) = &transfer.ordinary_page {
        report.meta = Some(Box::new(page.meta.clone()));
        return save_response(page.to_response(), file, expected, transfer, run, report).await;
    }
    let request = existing_file::with_kept_bytes(request, path.as_deref(), file.as_ref(), run);
    let checksum = expected.as_ref();
    let started = existing_file::start(path.as_deref(), file, &request, checksum, transfer, run, report);
    let Some((file, resume)) = started.await? else { return Ok(()) };
    let file = match file {
        Some(file) if resume.is_none() && !file.is_device() => {
            match fetch_in_segments(run, transfer, &request, file, expected.clone(), report).await? {
                Some(file) => Some(file),
                None => return Ok(()),
            }
        }
        file => file,
    };
    let response = run.fetcher.fetch(request.resuming(resume)).await?;
    let mut response = document_metadata::with_listed_size(response, report);
    report.meta = Some(response.meta.clone());
    header_files::dump_header(&response.meta, report.number, run)?;
    let file = reject_error(&mut response, file, transfer, run, report).await?;
    if exists && response.meta.has_unreadable_date {
        response.content = Content::Unchanged;
        notes::note_unreadable_date(transfer, run);
    }
    reject_object(&response, run)?;
    existing_file::check_content(&response.meta, path.as_deref(), transfer, run)?;
    document_metadata::check_size(transfer, &response.meta)?;
    if record_redirect(transfer, &response.meta, report) {
        return Ok(());
    }
    let Some(response) = special_content(response, transfer, run).await? else { return Ok(()) };
    if matches!(response.content, Content::Unchanged) && !run.options.head {
        report.is_skipped = true;
        report.unchanged = file.as_ref().and_then(FileSink::replaced_file).cloned().map(Box::new);
        return Ok(());
    }

    // 4. Save.
    save_response(response, file, expected, transfer, run, report).await
}

/// Chooses and reserves the output path, if it does not depend on the response.
fn choose_path(
    transfer: &Transfer,
    url: &Url<'_>,
    run: &Run,
    report: &mut TransferReport,
) -> Result<(Option<PathBuf>, Reserved), Error> {
    let path = output::path_before_response(transfer, url, report.number, run)?;
    report.file.clone_from(&path);
    let reserved = match &path {
        Some(path) => output::reserve(path, report.number, transfer, run)?,
        None => Reserved::First,
    };
    Ok((path, reserved))
}

/// Waits until no other transfer writes to the FIFO or device that `file` is.
async fn lock_stream(
    path: Option<&Path>,
    file: Option<&FileSink>,
    permit: Option<Arc<HostPermit>>,
    run: &Run,
) -> Option<OwnedMutexGuard<()>> {
    let path = path.filter(|_| run.parallel > 1 && file.is_some_and(FileSink::is_device))?;
    run.stream_locks.lock(path, permit.as_deref()).await
}

/// Returns `true` and records the target if a redirect shows that a mirror must not save this response: a page was
/// redirected to another page, which has its own file, or an entry to its URL with a slash, so it is a directory.
pub(super) fn record_redirect(transfer: &Transfer, meta: &Meta, report: &mut TransferReport) -> bool {
    let Some(entry) = &transfer.entry else { return false };
    report.moved_to = match entry.is_moved_to(&meta.url) {
        true => Some(meta.url.clone()),
        false => entry.redirected_directory_url(meta),
    };
    let is_replaced = report.moved_to.is_some();
    if is_replaced {
        report.set_no_file(NoFile::Replaced);
    }
    is_replaced
}

/// Returns `true` if the file need not be fetched: it exists (`--skip-existing`, the journal, an unchanged file of a
/// mirror) and has the required checksum, or another transfer of the same URL is writing it. If that transfer fails,
/// the run fails, too.
async fn can_skip(
    request: &Request,
    transfer: &Transfer,
    path: &Path,
    reserved: Reserved,
    run: &Run,
    report: &mut TransferReport,
) -> Result<bool, Error> {
    if reserved == Reserved::Active || output::is_fetched(path, reserved, run) {
        return Ok(true);
    }
    if let Some(file) = output::current_file(transfer, path, run) {
        return Ok(
            checksum::is_checked(path, request, transfer, run).await? && output::keep(&file, reserved, run)
        );
    }
    Ok(is_unchanged(request, transfer, path, run, report).await?
        && checksum::is_checked(path, request, transfer, run).await?)
}

/// Returns `true` if the metadata of the server show that the file of an earlier run is current.
async fn is_unchanged(
    request: &Request,
    transfer: &Transfer,
    path: &Path,
    run: &Run,
    report: &mut TransferReport,
) -> Result<bool, Error> {
    if let Some(page) = &transfer.ordinary_page {
        return Ok(run.journal.as_ref().is_some_and(|journal| journal.is_same(transfer, path, &page.meta)));
    }
    let Some(journal) = run.journal.as_ref().filter(|journal| journal.needs_metadata(transfer, path)) else {
        return Ok(false);
    };
    let meta = match request_metadata(request, run).await {
        Ok(meta) => meta,
        Err(error) if may_be_available(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    // A directory that is listed without a slash is not skipped: earlier versions saved its index page as a file.
    let is_file = transfer.entry.as_ref().is_none_or(|entry| entry.redirected_directory_url(&meta).is_none());
    let is_same = is_file && journal.is_same(transfer, path, &meta);
    if is_same && transfer.is_page_link() {
        // The links of the page are read later, by media type and final URL.
        report.meta = Some(meta);
    } else if is_same {
        report.unchanged_meta = Some(meta);
    }
    Ok(is_same)
}

/// Opens the file before a connection is made, so that a file that cannot be written is reported at once.
fn open_file(
    path: Option<&Path>,
    transfer: &Transfer,
    reserved: Reserved,
    run: &Run,
) -> Result<Option<FileSink>, Error> {
    let Some(path) = path else { return Ok(None) };
    if transfer.lease.is_some() {
        output::check_regular(path)?;
    }
    let file = output::open(path, existing_file::length(path, transfer, run), transfer, run)?;
    if !reserved.is_repeated() {
        if transfer.lease.is_none() {
            run.output_paths.check_replaced(path, &file)?;
        }
        run.output_paths.check_not_input_file(path, &file, transfer.is_named_by_user())?;
    }
    Ok(Some(file))
}

/// Runs a session, and handles advice, which is printed or handed to the desktop (`--open`). Returns the response to
/// save or print, or `None` if the transfer is done.
async fn special_content(
    mut response: Response,
    transfer: &Transfer,
    run: &Run,
) -> Result<Option<Response>, Error> {
    reject_listing(&response.content, transfer)?;
    response.content = match response.content {
        Content::Session(session) => return session::run_session(*session).await.map(|()| None),
        Content::Advice(advice) => {
            match not_fetchable::advice_to_print(advice, &response.meta, transfer, run)? {
                Some(advice) => Content::Advice(advice),
                None => return Ok(None),
            }
        }
        content => content,
    };
    Ok(Some(response))
}

/// Writes the response to its destination and records the receipt.
async fn save_response(
    response: Response,
    file: Option<FileSink>,
    expected: Option<Checksum>,
    transfer: &Transfer,
    run: &Run,
    report: &mut TransferReport,
) -> Result<(), Error> {
    let is_object = matches!(response.content, Content::Body(_) | Content::Listing(_));
    report.has_earlier_start &= response.meta.offset > 0;
    let mut response = with_output_format(response, !matches!(transfer.output, Output::Stdout { .. }), run);
    let refusal = response.status_error.take();
    let is_stream =
        file.as_ref().map_or(matches!(transfer.output, Output::Stdout { .. }), FileSink::is_device);
    let sink = output::choose_sink(file, transfer, &response, run, report)?;
    let sink = match expected {
        Some(checksum) if is_object => sink.with_checksum(checksum),
        None if is_object && document_metadata::checks_digest(run) => sink.with_stated_checksum(http::digest),
        _ => sink,
    };
    let size = transfer.size.filter(|_| is_object && !run.options.include);
    let sink = header_files::with_etag_removed(size.into_iter().fold(sink, Sink::with_size), run);
    let is_read_now = run.log.stdout_is_terminal && matches!(transfer.output, Output::Stdout { .. });
    let mut progress = start_progress(run, transfer, report);
    let saved = save(response, sink, &mut progress).await;
    report.received = if is_object { progress.received() } else { 0 };
    report.has_written_to_stream = is_stream && (run.options.include || progress.received() > 0);
    progress.finish(saved.as_ref().ok().and(report.file.as_deref()).filter(|_| prints_each_file(run)));
    let mut receipt = saved?;
    if let Some(meta) = receipt.restarted.take() {
        header_files::dump_header(&meta, report.number, run)?;
        report.meta = Some(meta);
        report.has_earlier_start = false;
    }
    notes::print_notes(&receipt, run, is_read_now);
    header_files::save_etag(transfer, report, run)?;
    report.receipt = Some(receipt);
    refusal.filter(|_| run.options.fails_with_body).map_or(Ok(()), Err)
}

/// Fetches a file over several connections if `--segments` is given and the server supports it. Returns the unused file
/// if it does not. Returns `None` if the file is saved, or if a redirect shows that it must not be
/// ([`record_redirect`]).
async fn fetch_in_segments(
    run: &Run,
    transfer: &Transfer,
    request: &Request,
    file: FileSink,
    expected: Option<Checksum>,
    report: &mut TransferReport,
) -> Result<Option<FileSink>, Error> {
    let is_allowed = transfer.upload.is_none() && transfer.segment_use != SegmentUse::None;
    let count = if is_allowed { run.options.segments } else { 1 };
    let Some(mut segments) = Segments::plan(&run.fetcher, request, count).await? else {
        return Ok(Some(file));
    };
    let meta = segments.meta().clone();
    if record_redirect(transfer, &meta, report) {
        return Ok(None);
    }
    document_metadata::check_size(transfer, &meta)?;
    let expected = expected.or_else(|| http::digest(&meta).filter(|_| document_metadata::checks_digest(run)));
    if expected.is_some() {
        let copies = copies::requests(transfer, &meta, report.expected.as_ref(), run);
        let observed = copies.into_iter().map(|request| with_observer(request, run, report)).collect();
        segments = segments.with_copies(observed).await;
    }
    let Some(segments) = segments.start().await? else { return Ok(Some(file)) };
    report.segment_use = if segments.has_copies() { SegmentUse::AllServers } else { SegmentUse::OneServer };
    header_files::dump_header(&meta, report.number, run)?;
    report.meta = Some(Box::new(meta));
    let mut progress = start_progress(run, transfer, report);
    let sink = expected.into_iter().fold(Sink::file(file), Sink::with_checksum);
    let sink = header_files::with_etag_removed(sink, run);
    let saved = segments.save(sink, &mut progress).await;
    report.received = progress.received();
    progress.finish(saved.as_ref().ok().and(report.file.as_deref()).filter(|_| prints_each_file(run)));
    let receipt = saved?;
    notes::print_notes(&receipt, run, false);
    header_files::save_etag(transfer, report, run)?;
    report.receipt = Some(receipt);
    Ok(None)
}

/// Adds the observer that counts retries, prints notes and writes events.
pub(super) fn with_observer(request: Request, run: &Run, report: &TransferReport) -> Request {
    let events = run.events.as_ref().map(|events| events.observer(report.number));
    let retries = report.retry_counter();
    let prints_notes = run.log.prints_notes;
    let progress = run.progress.clone();
    request.observed_by(Arc::new(move |event: &Event<'_>| {
        if let Event::Retry { .. } = event {
            retries.fetch_add(1, Ordering::Relaxed);
        }
        if prints_notes {
            progress.suspend_while(|| render::print_retry(event));
        }
        if let Some(events) = &events {
            events.observe(event);
        }
    }))
}

/// Returns `true` if a terminal shows a line for each complete file. A mirror and an input file have a summary instead.
fn prints_each_file(run: &Run) -> bool {
    run.mirror.is_none() && run.input.is_none()
}

/// Starts the progress of a transfer; nothing is shown if the object goes to the same terminal.
fn start_progress(run: &Run, transfer: &Transfer, report: &TransferReport) -> TransferProgress {
    let is_file = !matches!(transfer.output, Output::Stdout { .. });
    let kind = if run.log.stdout_is_terminal && !is_file { ProgressMode::Nothing } else { run.log.progress };
    let ticker = run.events.as_ref().map(|events| events.progress(report.number));
    // For an input file or a mirror, the file name is shorter and clearer than the URL.
    let name = match &transfer.output {
        Output::File(path) if run.input.is_some() || run.mirror.is_some() => path.to_string_lossy(),
        _ => transfer.shown_url().into(),
    };
    if let Some(path) = &report.file {
        run.open_files.borrow_mut().insert(report.number, path.clone());
    }
    TransferProgress::new(kind, &name, &run.progress, ticker)
}
