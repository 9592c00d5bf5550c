//! Converts flags and environment variables into an [`Invocation`]. All options are checked here; transfers start
//! later.

mod batch_input;
mod checksum;
mod condition;
mod data;
pub(crate) mod environment;
mod file_name;
mod form;
mod ftp;
pub(crate) mod gateway;
mod gopher;
mod http;
mod input;
mod journal;
mod line_source;
mod log_options;
mod login;
pub(crate) mod metalink;
mod mirror;
mod misplaced_verb;
pub(crate) mod news;
mod option_file;
mod option_groups;
pub(crate) mod policy;
mod private_file;
#[cfg(feature = "queue")]
pub(crate) mod queue;
#[cfg(feature = "queue")]
pub(crate) mod queue_worker;
mod read_files;
mod requests;
#[cfg(feature = "serve")]
pub(crate) mod serve;
mod tls;
mod transfer;
mod typed_url;
mod upload;
mod url_globs;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fetch_url::ftp::FtpOptions;
use fetch_url::gopher::GopherOptions;
use fetch_url::http::{CookieJar, HttpOptions};
use fetch_url::internal::{HostLimiter, check_permanent_name};
use fetch_url::news::NewsOptions;
use fetch_url::output::FileOptions;
use fetch_url::{ByteRange, Condition, Error, Fetcher};

pub(crate) use self::batch_input::Input;
use self::checksum::ChecksumOptions;
use self::form::Form;
pub(crate) use self::journal::JournalOptions;
pub(crate) use self::line_source::LineSource;
pub(crate) use self::log_options::LogOptions;
pub(crate) use self::mirror::{MirrorJob, is_single_object_option};
use self::misplaced_verb::misplaced_verb_error;
pub(crate) use self::misplaced_verb::unbuilt_verb_error;
pub(crate) use self::private_file::is_open_to_others;
pub(crate) use self::read_files::FileId;
pub(crate) use self::transfer::{DocumentPath, Output, SegmentUse, Transfer};
pub(crate) use self::typed_url::{TypedUrls, complete_url, with_target_hint, with_typed_url_hint};
use crate::error::usage_error;
use crate::flags::{ContinueAt, FetchFlags, Format, GivenOptions};
use crate::render::{events::Events, progress::ProgressDisplay, write_out::WriteOut};

/// The parsed command line: transfers and options.
pub(crate) struct Invocation {
    pub(crate) fetcher: Fetcher,
    pub(crate) transfers: Vec<Transfer>,
    /// The transfers of `--input-file`, which come after those of the command line.
    pub(crate) input: Option<Input>,
    /// The mirror to make: the remote start directory and its local copy.
    pub(crate) mirror: Option<MirrorJob>,
    /// The journal of finished files.
    pub(crate) journal: Option<JournalOptions>,
    pub(crate) fails_early: bool,
    /// The maximum time for each URL (`--max-time`).
    pub(crate) max_time: Option<Duration>,
    /// The number of parallel transfers.
    pub(crate) parallel: usize,
    /// Limits the parallel transfers per host.
    pub(crate) host_limiter: HostLimiter,
    pub(crate) options: FetchOptions,
    pub(crate) log: LogOptions,
    /// The file that receives the cookies at the end (`-c`).
    pub(crate) cookie_file: Option<PathBuf>,
    /// The files of the options that write other data than the objects, such as cookies, headers, traces and events.
    pub(crate) side_files: Vec<PathBuf>,
    /// The files that the options read.
    pub(crate) read_files: Vec<FileId>,
    /// The side files and journals of the other option groups (`--next`).
    pub(crate) files_of_other_groups: Vec<PathBuf>,
    /// There are other option groups.
    pub(crate) is_group: bool,
    pub(crate) write_out: Option<WriteOut>,
    pub(crate) events: Option<Events>,
    pub(crate) progress: ProgressDisplay,
}

/// How objects are requested and written.
#[derive(Clone, Debug)]
pub(crate) struct FetchOptions {
    pub(crate) format: Format,
    pub(crate) head: bool,
    pub(crate) include: bool,
    /// The file of `-D`.
    pub(crate) dump_header: Option<PathBuf>,
    /// The file of `--etag-save`.
    pub(crate) etag_save: Option<PathBuf>,
    /// The start of the error message for a URL that is not http or https, if `-d`, `--json` or `--unix-socket` is
    /// given.
    http_only: Option<&'static str>,
    /// Listings of FTP directories show names only (`--list-only`).
    pub(crate) lists_names_only: bool,
    pub(crate) range: Option<ByteRange>,
    pub(crate) resume: bool,
    /// The maximum number of connections for one file.
    pub(crate) segments: u16,
    pub(crate) create_dirs: bool,
    /// Prints what would be done and writes nothing.
    pub(crate) is_dry_run: bool,
    /// Every URL is a directory (`--list`).
    pub(crate) force_listing: bool,
    /// The directory of the files of Metalink documents.
    pub(crate) output_dir: Option<PathBuf>,
    /// The rules for the URLs that a server names for an object.
    named_urls: policy::NamedUrls,
    /// Uses the duplicate URLs (RFC 6249) and the digest in the header fields of a response.
    pub(crate) uses_duplicates: bool,
    /// The requests are GET or HEAD without a body, so that another URL of the object can replace that of the user.
    pub(crate) only_reads: bool,
    /// If the output file exists, a number is added to the name.
    pub(crate) keeps_both: bool,
    /// Skips URLs whose output file exists.
    pub(crate) skips_existing: bool,
    pub(crate) file_options: FileOptions,
    /// The body of an HTTP error is written (`--no-fail`, `--fail-with-body`).
    pub(crate) writes_error_body: bool,
    /// With `--fail-with-body`, the body of an HTTP error is written and the transfer fails.
    pub(crate) fails_with_body: bool,
    pub(crate) http: HttpOptions,
    ftp: FtpOptions,
    gopher: GopherOptions,
    /// The fields of `-F`.
    form: Form,
    news: NewsOptions,
    news_server: news::NewsServerSources,
    has_gateways: bool,
    /// `mid:` URLs go to a gateway, not to the news server.
    mid_has_gateway: bool,
    condition: Option<Condition>,
    /// The rules for URLs without a scheme.
    pub(crate) typed_urls: TypedUrls,
    search: Option<Vec<u8>>,
    special_files: bool,
    /// The required checksum.
    pub(crate) checksum: ChecksumOptions,
    /// Opens a telnet session (`--connect`).
    opens_session: bool,
    /// Hands URLs without a data object to the desktop (`--open`).
    #[cfg(feature = "open")]
    pub(crate) opens_on_desktop: bool,
    /// Fails for URLs without a data object (`--fail-advisory`).
    pub(crate) fails_advisory: bool,
}

impl Invocation {
    /// Checks the flags and creates the invocation.
    pub(crate) fn new(flags: FetchFlags, given: &GivenOptions) -> Result<Self, Error> {
        reject_misplaced_options(&flags)?;
        if flags.urls.is_empty() && flags.batch.input_file.is_none() && flags.batch.metalink.is_empty() {
            return Err(usage_error("no URL was given").with_hint(typed_url::missing_url_hint(&flags)));
        }
        if let Some(list) = flags.urls.iter().find(|text| flags.include && Path::new(text).is_file()) {
            return Err(usage_error(format!("{list} is a file, not a URL"))
                .with_hint("-i is --include here, as in curl; wget's -i is --input-file"));
        }
        if let Some(error) = flags.urls.first().and_then(|first| misplaced_verb_error(first)) {
            return Err(error);
        }
        let takes_stdout = flags.messages.events.as_deref().is_some_and(|path| path.as_os_str() == "-");
        if flags.telnet_and_mailto.connect && (flags.urls.len() > 1 || takes_stdout) {
            return Err(usage_error("--connect needs exactly one URL, and standard output for the session"));
        }
        let mut transfers = transfer::transfers(&flags, given)?;
        transfers.extend(metalink::transfers(&flags)?);
        let etag_option = match (&flags.http.etag_save, &flags.http.etag_compare) {
            (Some(_), _) => Some("--etag-save"),
            (None, Some(_)) => Some("--etag-compare"),
            (None, None) => None,
        };
        if let Some(option) = etag_option
            && (transfers.len() != 1 || flags.batch.input_file.is_some())
        {
            return Err(usage_error(format!("{option} needs exactly one URL")));
        }
        for (id, option) in [("input_file", "--input-file"), ("checksum", "--checksum")] {
            if given.positions(id).nth(1).is_some() {
                return Err(usage_error(format!("{option} can be given only once")));
            }
        }
        let input = batch_input::input(&flags)?;
        let journal = JournalOptions::for_batch(&flags);
        Self::of(&flags, given, transfers, input, journal)
    }

    fn of(
        flags: &FetchFlags,
        given: &GivenOptions,
        transfers: Vec<Transfer>,
        input: Option<Input>,
        journal: Option<JournalOptions>,
    ) -> Result<Self, Error> {
        let log = LogOptions::of(flags);
        let write_out = flags.messages.write_out.as_deref().map(WriteOut::read).transpose()?;
        let mut side_files = side_files(flags);
        side_files.extend(write_out.iter().flat_map(WriteOut::files));
        let read_files = read_files::read_files(flags);
        read_files::check_written(flags, &side_files, &read_files)?;
        side_files.iter().try_for_each(|path| check_permanent_name(path))?;
        let count = (input.is_none() && !transfers.is_empty()).then_some(transfers.len());
        Ok(Self {
            fetcher: fetcher(flags)?,
            progress: ProgressDisplay::new(
                if flags.parallel { count } else { count.map(|_| 1) },
                log.progress,
            ),
            transfers,
            input,
            mirror: None,
            journal,
            host_limiter: HostLimiter::new(usize::from(flags.batch.parallel_max_host)),
            fails_early: flags.fail_early,
            max_time: flags.max_time.filter(|time| !time.is_zero()),
            parallel: if flags.parallel { usize::from(flags.parallel_max) } else { 1 },
            options: FetchOptions::of(flags, given)?,
            side_files,
            read_files,
            files_of_other_groups: Vec::new(),
            is_group: false,
            cookie_file: flags.http.cookie_jar.clone().filter(|_| !flags.batch.dry_run),
            write_out,
            events: flags.messages.events.as_deref().map(Events::open).transpose()?,
            log,
        })
    }

    /// Returns `true` if there is at most one transfer. Takes constant time, because each transfer calls it several
    /// times.
    pub(crate) fn has_single_transfer(&self) -> bool {
        let is_single = match self.transfers.as_slice() {
            [] => true,
            [only] => !only.is_pattern && !only.is_metalink,
            _ => false,
        };
        is_single && self.input.is_none() && self.mirror.is_none()
    }

    /// Returns `true` if another transfer of this command could write to the same file.
    pub(crate) fn has_several_outputs(&self) -> bool {
        self.is_group || !self.has_single_transfer()
    }

    /// Returns the cookies of the run.
    pub(crate) const fn cookies(&self) -> Option<&CookieJar> {
        self.options.http.cookies.as_ref()
    }
}

impl FetchOptions {
    fn of(flags: &FetchFlags, given: &GivenOptions) -> Result<Self, Error> {
        let resume = flags.resumes();
        let keep = match flags.continue_at {
            Some(ContinueAt::Offset(offset)) => offset,
            _ => 0,
        };
        let continued = (keep > 0).then_some(ByteRange::Span { first: keep, last: None });
        let http = http::options(flags, given)?;
        // Requests with a method, a body, or headers in the output are sent once, not in segments.
        let is_plain = !flags.include && !flags.head && http.method.is_none() && http.body.is_none();
        let form = Form::of(&flags.http, &flags.urls, given)?;
        let only_reads = form.is_empty()
            && http.body.is_none()
            && http.method.as_deref().is_none_or(|method| matches!(method, "GET" | "HEAD"));
        let is_plain = is_plain && form.is_empty() && !http.raw && !http.ignore_content_length;
        let options = FileOptions::default()
            .keeping_part(!flags.batch.remove_on_error)
            .resuming(resume)
            .keeping_bytes(keep)
            .no_clobber(flags.no_clobber || flags.batch.keep_both)
            .remote_time(flags.remote_time);
        Ok(Self {
            format: flags.format,
            head: flags.head,
            include: flags.include,
            dump_header: flags.http.dump_header.clone(),
            etag_save: flags.http.etag_save.clone(),
            http_only: match (&http.body, &flags.network.unix_socket) {
                (Some(_), _) => Some("-d and --json send data to"),
                (None, Some(_)) => Some("--unix-socket is for"),
                (None, None) => None,
            },
            lists_names_only: flags.ftp.list_only,
            range: flags.range.or(continued),
            resume,
            // Several connections would get a larger share of the rate limit than other transfers.
            segments: if is_plain && flags.limit_rate.is_none() { flags.segments } else { 1 },
            create_dirs: flags.create_dirs,
            is_dry_run: flags.batch.dry_run,
            force_listing: flags.list,
            output_dir: flags.output_dir.clone(),
            uses_duplicates: flags.batch.metalink_over_http,
            only_reads,
            keeps_both: flags.batch.keep_both,
            skips_existing: flags.batch.skip_existing,
            file_options: options,
            writes_error_body: flags.no_fail || flags.fail_with_body,
            fails_with_body: flags.fail_with_body,
            http,
            ftp: ftp::options(flags)?,
            gopher: gopher::options(flags)?,
            form,
            news: news::options(flags)?,
            news_server: news::NewsServerSources::of(flags),
            has_gateways: !flags.gateway.gateways.is_empty(),
            mid_has_gateway: gateway::is_for(&flags.gateway, "mid"),
            condition: condition::condition(flags)?,
            typed_urls: TypedUrls::of(flags)?,
            named_urls: policy::NamedUrls::of(&flags.network)?,
            search: http::search(&flags.http, given)?,
            special_files: flags.network.special_files,
            checksum: ChecksumOptions::of(flags)?,
            opens_session: flags.telnet_and_mailto.connect,
            #[cfg(feature = "open")]
            opens_on_desktop: flags.telnet_and_mailto.open,
            fails_advisory: flags.telnet_and_mailto.fail_advisory,
        })
    }
}

/// Rejects `-q` in another place than the first one, and `--next` in a configuration file. Neither would have an effect.
fn reject_misplaced_options(flags: &FetchFlags) -> Result<(), Error> {
    if flags.disable {
        return Err(usage_error("-q must be the first argument").with_hint("wget's -q is -s here"));
    }
    if flags.batch.next_group {
        return Err(usage_error("--next belongs on the command line, not in a config file"));
    }
    Ok(())
}

fn fetcher(flags: &FetchFlags) -> Result<Fetcher, Error> {
    Ok(Fetcher::builder()
        .policy(policy::policy(flags)?)
        .gateways(gateway::gateways(&flags.gateway)?)
        .credentials(login::credentials(&flags.login, shows_notes(flags))?)
        .tls(tls::options(&flags.tls)?)
        .build())
}

/// Returns `true` if standard error is a terminal and notes are wanted.
fn shows_notes(flags: &FetchFlags) -> bool {
    !flags.messages.silent && std::io::stderr().is_terminal()
}

/// Returns the files of the options that write cookies, entity tags, headers, traces or events.
fn side_files(flags: &FetchFlags) -> Vec<PathBuf> {
    let files = [
        &flags.http.cookie_jar,
        &flags.http.etag_save,
        &flags.http.dump_header,
        &flags.messages.trace,
        &flags.messages.events,
    ];
    files.into_iter().flatten().filter(|path| path.as_os_str() != "-").cloned().collect()
}
