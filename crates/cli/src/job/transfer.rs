//! What goes where: URLs and the files they are written to.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::parser::ValueSource;
use fetch_url::{Checksum, Code, Error, Journal, Leaf, safe_name};

use super::input::Input;
use super::{goes_on, news, usage};
use crate::flags::{Fetch, Format};
use crate::render;
use crate::run::Ledger;

/// One URL and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) url: String,
    pub(crate) output: Output,
    /// Other URLs of the same object, tried in order.
    pub(crate) others: Vec<String>,
    /// What the octets must come to.
    pub(crate) checksum: Option<Checksum>,
    /// The line of a listing that it is, in a mirror.
    pub(crate) leaf: Option<Box<Leaf>>,
}

impl Transfer {
    /// This URL, to this place.
    pub(crate) const fn new(url: String, output: Output) -> Self {
        Self { url, output, others: Vec::new(), checksum: None, leaf: None }
    }
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

/// The first `-o` or `-O` belongs to the first URL, as with curl.
pub(super) fn transfers(flags: &Fetch, matches: &ArgMatches) -> Result<Vec<Transfer>, Error> {
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
        // Several articles go to a file each where a directory is named for them.
        let is_several = flags.output_dir.is_some() && flags.format != Format::Mbox && news::is_range(url);
        let rest = || if is_several { named(flags) } else { rest.clone() };
        let output = outputs.next().unwrap_or_else(rest);
        Transfer::new(url.clone(), output)
    };
    Ok(flags.urls.iter().map(transfer).collect())
}

/// The lines of `--input-file`: those that name no file are named after their URLs.
pub(super) fn input(flags: &Fetch) -> Result<Option<Input>, Error> {
    let open = |path: &PathBuf| Input::open(path, flags.output_dir.as_deref(), named(flags));
    flags.many.input_file.as_ref().map(open).transpose()
}

/// What an interrupted run of the same lines has finished, where this one goes on with it; kept beside the files.
pub(super) fn ledger(flags: &Fetch) -> Result<Option<Ledger>, Error> {
    let Some(input) = &flags.many.input_file else { return Ok(None) };
    let name = input.file_name().and_then(|name| safe_name(name.as_encoded_bytes()));
    let name = name.filter(|_| input.as_os_str() != "-").unwrap_or_else(|| "stdin".to_owned());
    let directory = flags.output_dir.clone().unwrap_or_default();
    if flags.create_dirs {
        crate::run::make_directory(&directory)?;
    }
    let goes_on = goes_on(flags);
    let path = directory.join(format!(".{name}.journal"));
    match Journal::open(&path, &name, goes_on) {
        Ok(journal) => Ok(Some(Ledger::new(journal))),
        // The files may all go elsewhere.
        Err(error) if error.code() == Code::SinkFailed && path.symlink_metadata().is_err() => {
            if !flags.talk.silent {
                render::note(&format!("without a journal: {error}"));
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
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

fn named(flags: &Fetch) -> Output {
    let directory = flags.output_dir.clone().unwrap_or_default();
    Output::Named { directory, by_server: flags.remote_header_name }
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
