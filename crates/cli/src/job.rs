//! Flags and environment become one [`Job`]: the only place that reads the environment.

use std::fs::File;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;
use fetch_url::{
    ByteRange, Code, DeliverErrors, Error, Fetcher, FileOptions, Phase, Policy, Request, SpecialFiles, Trust,
};

use crate::flags::{ContinueAt, Fetch, Format};

/// Everything that is to be done, decided.
pub(crate) struct Job {
    pub(crate) fetcher: Fetcher,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) fails_early: bool,
    pub(crate) shape: Shape,
    pub(crate) talk: Talk,
}

/// One URL and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) url: String,
    pub(crate) output: Output,
}

/// Where an object goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    File(PathBuf),
    /// Named after the URL, or by the server, in this directory.
    Named {
        directory: PathBuf,
        by_server: bool,
    },
    /// Standard output; asked for by `-o -` or not.
    Stdout {
        is_explicit: bool,
    },
}

/// How an object is asked for and what of it is written.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) format: Format,
    pub(crate) head: bool,
    pub(crate) include: bool,
    pub(crate) range: Option<ByteRange>,
    pub(crate) resume: bool,
    pub(crate) create_dirs: bool,
    pub(crate) requires_proof: bool,
    pub(crate) options: FileOptions,
    delivers_errors: bool,
    special_files: bool,
}

/// What is said beside the object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Talk {
    pub(crate) errors: bool,
    pub(crate) errors_as_json: bool,
    pub(crate) progress: Progress,
    pub(crate) verbose: u8,
    pub(crate) stdout_is_terminal: bool,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Bar,
    Line,
    Nothing,
}

impl Job {
    /// What these flags ask for.
    pub(crate) fn new(flags: Fetch, matches: &ArgMatches) -> Result<Self, Error> {
        if flags.urls.is_empty() {
            return Err(usage("no URL was given").with_hint("fetch-url --help lists what can be done"));
        }
        let transfers = transfers(&flags, matches)?;
        Ok(Self {
            fetcher: fetcher(&flags)?,
            transfers,
            fails_early: flags.fail_early,
            talk: Talk::of(&flags),
            shape: Shape::of(&flags),
        })
    }
}

impl Shape {
    fn of(flags: &Fetch) -> Self {
        let resume = flags.continue_flag || flags.continue_at == Some(ContinueAt::End);
        let keep = match flags.continue_at {
            Some(ContinueAt::Offset(offset)) => offset,
            _ => 0,
        };
        let continued = (keep > 0).then_some(ByteRange::Span { first: keep, last: None });
        let options = FileOptions::default()
            .resuming(resume)
            .keeping(keep)
            .no_clobber(flags.no_clobber)
            .remote_time(flags.remote_time);
        Self {
            format: flags.format,
            head: flags.head,
            include: flags.include,
            range: flags.range.or(continued),
            resume,
            create_dirs: flags.create_dirs,
            requires_proof: flags.require_complete,
            options,
            delivers_errors: flags.no_fail,
            special_files: flags.special_files,
        }
    }

    /// The request for `url`.
    pub(crate) fn request(&self, url: &str) -> Result<Request, Error> {
        let mut request = Request::new(url)?;
        if self.head {
            request = request.head();
        }
        if let Some(range) = self.range {
            request = request.range(range);
        }
        if self.delivers_errors {
            request = request.with_extra(DeliverErrors::default());
        }
        if self.special_files {
            request = request.with_extra(SpecialFiles::default());
        }
        Ok(request)
    }
}

impl Talk {
    fn of(flags: &Fetch) -> Self {
        let is_quiet = flags.silent || flags.no_progress_meter || flags.verbose > 0;
        let progress = match std::io::stderr().is_terminal() {
            _ if is_quiet => Progress::Nothing,
            true => Progress::Bar,
            false if flags.progress_bar => Progress::Line,
            false => Progress::Nothing,
        };
        Self {
            errors: !flags.silent || flags.show_error,
            errors_as_json: flags.format == Format::Json,
            progress,
            verbose: flags.verbose,
            stdout_is_terminal: std::io::stdout().is_terminal(),
        }
    }
}

/// Wrong options.
pub(crate) fn usage(detail: impl Into<String>) -> Error {
    Error::new(Code::Usage, Phase::Plan, detail)
}

fn fetcher(flags: &Fetch) -> Result<Fetcher, Error> {
    let mut policy = Policy::default();
    policy.timeouts.connect = flags.connect_timeout;
    policy.timeouts.reply = flags.read_timeout;
    policy.timeouts.idle = flags.read_timeout;
    policy.timeouts.total = flags.max_time;
    policy.limits.max_size = flags.max_filesize;
    policy.follow.max_hops = (!flags.no_location).then_some(flags.max_redirs);
    policy.reach.public_only = flags.public_only;
    policy.reach.allow_private = flags.allow_private;
    policy.reach.allowed_ports.clone_from(&flags.allow_port);
    let mut builder = Fetcher::builder().policy(policy);
    if let Some(path) = &flags.cacert {
        let pem = std::fs::read(path).map_err(|error| usage(format!("{}: {error}", path.display())))?;
        builder = builder.trust(Trust::Authorities(pem));
    }
    Ok(builder.build())
}

/// The first `-o` or `-O` belongs to the first URL, as with curl.
fn transfers(flags: &Fetch, matches: &ArgMatches) -> Result<Vec<Transfer>, Error> {
    let outputs = outputs(flags, matches);
    if outputs.len() > flags.urls.len() {
        return Err(usage("there are more -o and -O than URLs"));
    }
    if flags.remote_header_name && outputs.is_empty() && !flags.remote_name_all {
        return Err(usage("-J needs -O"));
    }
    let mut outputs = outputs.into_iter();
    let rest = if flags.remote_name_all { named(flags) } else { Output::Stdout { is_explicit: false } };
    let transfer = |url: &String| {
        let output = outputs.next().unwrap_or_else(|| rest.clone());
        Transfer { url: url.clone(), output }
    };
    Ok(flags.urls.iter().map(transfer).collect())
}

fn outputs(flags: &Fetch, matches: &ArgMatches) -> Vec<Output> {
    let written = |name: &str| {
        let is_written = matches.value_source(name) == Some(ValueSource::CommandLine);
        matches.indices_of(name).filter(|_| is_written).into_iter().flatten().collect::<Vec<usize>>()
    };
    let files = flags.output.iter().map(|path| file(flags, path));
    let mut all: Vec<(usize, Output)> = written("output").into_iter().zip(files).collect();
    all.extend(written("remote_name").into_iter().map(|index| (index, named(flags))));
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, output)| output).collect()
}

fn file(flags: &Fetch, path: &Path) -> Output {
    if path.as_os_str() == "-" || path == Path::new("/dev/stdout") {
        return Output::Stdout { is_explicit: true };
    }
    Output::File(match &flags.output_dir {
        Some(directory) => directory.join(path),
        None => path.to_owned(),
    })
}

fn named(flags: &Fetch) -> Output {
    let directory = flags.output_dir.clone().unwrap_or_default();
    Output::Named { directory, by_server: flags.remote_header_name }
}

/// Standard output as a file, so that the kernel can copy into it.
pub(crate) fn stdout() -> Result<File, Error> {
    use std::os::fd::AsFd as _;
    let owned = std::io::stdout().as_fd().try_clone_to_owned();
    owned.map(File::from).map_err(|error| Error::new(Code::SinkFailed, Phase::Deliver, error.to_string()))
}
