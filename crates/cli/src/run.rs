//! Parses the command line, runs it, and returns the exit status. `run/transfer.rs` handles one URL.

mod batch;
mod checksum;
mod checksum_lists;
mod content_coding;
mod context;
mod copies;
mod delete_extraneous;
mod delete_leftovers;
mod descriptors;
mod directories;
mod directory_listing;
mod document_metadata;
mod dry_run;
mod existing_file;
mod expansion;
mod failures;
mod file_queue;
mod ftp_wildcard;
mod header_files;
mod interruption;
mod journal_file;
mod local_tree;
mod metadata;
mod mirror;
mod name_folding;
mod not_fetchable;
mod not_utf8;
mod notes;
mod option_groups;
mod output;
mod output_format;
mod output_paths;
mod page_walk;
mod queue;
#[cfg(feature = "queue")]
mod queue_log;
#[cfg(feature = "queue")]
mod queue_verbs;
mod refused_heads;
mod refused_response;
mod renamed_entries;
mod result_log;
mod run_log;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod stdout_lock;
mod stream_locks;
mod transfer;
mod work;

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use clap::FromArgMatches as _;
use clap::error::ErrorKind;
use context::Run;
use fetch_url::{Code, Error, Phase};
use output_paths::OutputPaths;

use crate::config::{self, ConfigTarget};
use crate::error::usage_error;
use crate::flags::{self, Flags, GivenOptions, Verb};
use crate::job::{Invocation, unbuilt_verb_error};
use crate::render;
use crate::render::written_file::is_stdout;
use crate::signal;
use crate::stall;
use crate::verbs;

/// The maximum time to flush partial downloads after a signal.
const FLUSH_TIME: Duration = Duration::from_secs(2);
/// A thread for work that blocks ends after it was idle for this time.
const IDLE_THREAD_TIME: Duration = Duration::from_secs(24 * 3600);

/// Runs the command line `arguments`.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let groups = option_groups::split(arguments.into_iter().collect());
    let mut parsed = Vec::new();
    for group in groups {
        match parse_with_defaults(group) {
            Ok(group) => parsed.push(group),
            Err(status) => return ExitCode::from(status),
        }
    }
    let status = run_groups(parsed);
    signal::restore_terminal();
    ExitCode::from(status)
}

/// Runs the option groups, which `--next` separates, or the sub-command. Returns the first exit status that is not 0,
/// or 0.
fn run_groups(groups: Vec<(Flags, GivenOptions)>) -> u8 {
    let fails_early = groups.iter().any(|(flags, _)| flags.fetch.fail_early);
    let is_single = groups.len() == 1;
    let mut jobs = Vec::new();
    for (flags, given) in groups {
        match flags.verb {
            Some(verb) if is_single => return run_verb(verb, &given),
            Some(_) => {
                return render::print_error(&usage_error("--next joins fetches, not sub-commands"), None);
            }
            // All groups are checked before the first one runs.
            None => match Invocation::new(flags.fetch, &given) {
                Ok(job) => jobs.push(job),
                Err(error) => return render::print_error(&error, None),
            },
        }
    }
    let is_ready = Invocation::share_cookies(&mut jobs).and_then(|()| Invocation::share_logs(&mut jobs));
    if let Err(error) = is_ready {
        return render::print_error(&error, None);
    }
    Invocation::share_files(&mut jobs);
    let output_paths = Rc::new(OutputPaths::new(jobs.iter().any(|job| job.options.is_dry_run)));
    let mut first_failure = 0;
    for job in jobs {
        let status = run_group(job, output_paths.clone());
        first_failure = if first_failure == 0 { status } else { first_failure };
        if fails_early && first_failure != 0 {
            break;
        }
    }
    first_failure
}

fn run_verb(verb: Verb, given: &GivenOptions) -> u8 {
    match verb {
        Verb::Explain(flags) => verbs::explain(&flags.0),
        Verb::Extract(flags) => verbs::extract(&flags),
        Verb::Completions { shell } => verbs::completions(shell),
        #[cfg(feature = "serve")]
        Verb::Serve(flags) => serve::run(*flags.0),
        #[cfg(feature = "queue")]
        Verb::Queue(flags) => match queue_verbs::run(flags.0.verb) {
            Ok(status) => status,
            Err(flags) => run(Invocation::queue_work(*flags, given)),
        },
        Verb::Mirror(flags) => run(Invocation::mirror(*flags.0, given)),
    }
}

fn run(job: Result<Invocation, Error>) -> u8 {
    match job {
        Ok(job) => {
            let output_paths = OutputPaths::new(job.options.is_dry_run);
            run_group(job, Rc::new(output_paths))
        }
        Err(error) => render::print_error(&error, None),
    }
}

/// Runs an option group. `output_paths` has the files of the groups before it.
fn run_group(job: Invocation, output_paths: Rc<OutputPaths>) -> u8 {
    let run = descriptors::limit_parallelism(job).and_then(|job| Run::new(job, output_paths));
    match run {
        Ok(run) => run_transfers(&Rc::new(run)),
        Err(error) => render::print_error(&error, None),
    }
}

/// Parses the arguments, preceded by those of the config files. Returns an exit status if the program should end.
fn parse_with_defaults(mut arguments: Vec<OsString>) -> Result<(Flags, GivenOptions), u8> {
    let is_plain = arguments.get(1).is_some_and(|first| first == "-q" || first == "--disable");
    if is_plain {
        arguments.remove(1);
    }
    let (flags, given) = parse_arguments(&arguments)?;
    // Defaults are inserted after the sub-command.
    let (at, what, named) = match &flags.verb {
        None => (1, ConfigTarget::Fetch, &flags.fetch.config),
        Some(Verb::Mirror(mirror)) => (2, ConfigTarget::Mirror, &mirror.0.fetch.config),
        Some(_) => return Ok((flags, given)),
    };
    let own = if is_plain { Ok(Vec::new()) } else { config::user_config_arguments(what) };
    let named = config::named_config_arguments(named);
    let mut defaults = own.map_err(|error| render::print_error(&error, None))?;
    defaults.extend(named.map_err(|error| render::print_error(&error, None))?);
    if defaults.is_empty() {
        return Ok((flags, given));
    }
    arguments.splice(at..at, defaults);
    parse_arguments(&arguments)
}

fn parse_arguments(arguments: &[OsString]) -> Result<(Flags, GivenOptions), u8> {
    // clap would take it for a URL, and print the general help for its `--help`.
    if let Some(error) = arguments.get(1).and_then(|first| first.to_str()).and_then(unbuilt_verb_error) {
        return Err(render::print_error(&error, None));
    }
    // Not dropped: freeing the definitions and the matches of all options takes a tenth of the time of a short run.
    let mut command = ManuallyDrop::new(flags::command());
    let parsed = command.try_get_matches_from_mut(arguments).and_then(|matches| {
        let mut matches = ManuallyDrop::new(matches);
        let given = GivenOptions::of(&matches);
        Ok((Flags::from_arg_matches_mut(&mut matches)?, given))
    });
    parsed.map_err(|error| {
        let short = match error.kind() {
            ErrorKind::DisplayHelp => render::help::print_short_help(&mut flags::command(), arguments),
            ErrorKind::InvalidUtf8 => Some(render::print_error(&not_utf8::error(arguments), None)),
            _ => None,
        };
        short.unwrap_or_else(|| render::print_clap_error(&error))
    })
}

/// Runs all transfers. Returns the exit status of the first failure.
fn run_transfers(run: &Rc<Run>) -> u8 {
    if let Err(error) = render::start_logging(run.log.verbose, run.log.trace.as_deref()) {
        return render::print_error(&error, None);
    }
    // The pool panics if it has no thread left and none can be started.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .thread_keep_alive(IDLE_THREAD_TIME)
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            return render::print_error(&Error::new(Code::Internal, Phase::Plan, error.to_string()), None);
        }
    };
    signal::handle_file_size_limit();
    signal::start_watchdog();
    let _watchdog = run.max_time.map(stall::start_watchdog);
    let ended = runtime.block_on(async {
        tokio::select! {
            biased;
            status = run_batch(run) => Ok(status),
            ending = signal::wait_for_ending_signal() => {
                #[cfg(feature = "queue")]
                queue_verbs::release_lines(run).await;
                Err(ending)
            }
        }
    });
    let kept = keep_cookies(run);
    match ended {
        Ok(status) => {
            // A blocked read of standard input would never end.
            runtime.shutdown_background();
            [status, kept, report_log_failure()].into_iter().find(|&status| status != 0).unwrap_or(0)
        }
        Err(ending) => {
            run.progress.clear();
            if signal::is_prompt_open() {
                runtime.shutdown_background();
            } else {
                // The writer threads flush partial files, which a later run can resume.
                runtime.shutdown_timeout(FLUSH_TIME);
                if run.log.is_interactive {
                    interruption::report(run);
                }
            }
            ending.terminate_process()
        }
    }
}

async fn run_batch(run: &Rc<Run>) -> u8 {
    #[cfg(feature = "queue")]
    if let Some(worker) = run.queue_worker()
        && let Err(error) = worker.start().await
    {
        return render::print_error(&error, None);
    }
    batch::run_all(run).await
}

/// Reports the first failed write of `--trace` and `--events`. Returns the exit status.
fn report_log_failure() -> u8 {
    match render::log_file::take_failure() {
        None => 0,
        // No message if the reader has closed the pipe, as for standard output.
        Some(error) if error.is_broken_pipe() => error.exit_status(),
        Some(error) => render::print_error(&error, None),
    }
}

/// Writes the cookies of the run to the file of `-c`, atomically and readable by the user only, or to standard output
/// for `-`. Returns the exit status.
fn keep_cookies(run: &Run) -> u8 {
    let (Some(jar), Some(path)) = (run.cookies(), &run.cookie_file) else { return 0 };
    if is_stdout(path) {
        return render::status_of_print(render::print_stdout_bytes(&jar.to_netscape()), 0);
    }
    let written = fetch_url::internal::write_private(path, &jar.to_netscape());
    written.map_or_else(|error| render::print_error(&error, None), |()| 0)
}
