//! The options of `mirror`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use fetch_url::mirror::{Glob, TreeRules};
use fetch_url::news::Upcoming;
use fetch_url::output::file_name;
use fetch_url::url::Url;
use fetch_url::{Error, Request};

use super::{FetchOptions, Invocation, JournalOptions};
use crate::error::usage_error;
use crate::flags::{ContinueAt, Fetch, Format, ListFormat, Mirror, command};

/// The default number of parallel transfers: archives allow few connections per client.
const AT_ONCE: usize = 4;

/// Options that do not apply to a directory, whose files have their own names. In config files they are ignored by
/// `mirror`.
const OF_ONE_FILE: &[&str] = &[
    "output",
    "remote_name",
    "remote_name_all",
    "remote_header_name",
    "output_dir",
    "no_clobber",
    "input_file",
    "checksum",
    "time_cond",
    "range",
    "head",
    "include",
    "no_fail",
    "fail_with_body",
    "method",
    "data",
    "data_raw",
    "data_binary",
    "data_urlencode",
    "json",
    "list_only",
    "connect",
    "open",
    "form",
    "format",
];

/// Returns `true` if `option`, with its dashes, is one of them.
pub(crate) fn is_of_one_file(option: &str) -> bool {
    let is_it = |argument: &&Arg| spellings(argument).any(|spelling| spelling == option);
    command()
        .get_arguments()
        .find(is_it)
        .is_some_and(|argument| OF_ONE_FILE.contains(&argument.get_id().as_str()))
}

/// Returns all spellings of an option, the letter first.
fn spellings(argument: &Arg) -> impl Iterator<Item = String> {
    let letter = argument.get_short().map(|letter| format!("-{letter}"));
    let names = argument.get_long_and_visible_aliases().unwrap_or_default();
    letter.into_iter().chain(names.into_iter().map(|name| format!("--{name}")))
}

/// The directory to mirror and its local copy.
pub(crate) struct MirrorJob {
    pub(crate) start: Url<'static>,
    pub(crate) directory: PathBuf,
    pub(crate) rules: TreeRules,
    /// Deletes files that are no longer listed (`--delete`).
    pub(crate) deletes: bool,
    /// The options of requests for listings.
    shape: FetchOptions,
}

impl MirrorJob {
    /// Returns the request for the listing of `url`.
    pub(crate) fn listing(&self, url: &Url<'static>) -> Result<Request, Error> {
        self.shape.request(&url.to_string(), Upcoming::default())
    }

    /// Returns `true` if directories are listed one after another. Gopher menus may link anywhere, so names would
    /// depend on the order.
    pub(crate) const fn is_walked_in_order(&self) -> bool {
        matches!(self.start, Url::Gopher(_))
    }

    /// Returns `true` if listings contain text for people.
    pub(crate) const fn has_words(&self) -> bool {
        matches!(self.start, Url::Gopher(_))
    }

    /// Returns `true` if the files are fetched in one pipelined stream.
    pub(crate) const fn is_news(&self) -> bool {
        matches!(self.start, Url::News(_) | Url::Nntp(_))
    }
}

impl Invocation {
    /// Checks the flags and makes the invocation of a mirror.
    pub(crate) fn mirror(flags: Mirror, matches: &ArgMatches) -> Result<Self, Error> {
        let Mirror { tree, mut fetch } = flags;
        check(&fetch, matches)?;
        let mut places = std::mem::take(&mut fetch.urls).into_iter();
        let Some(url) = places.next() else { return Err(usage_error("no URL was given")) };
        let directory = places.next().map(PathBuf::from);
        if places.next().is_some() {
            return Err(usage_error("a mirror is of one URL, in one directory"));
        }
        // Modification times show changes, and partial downloads are resumed.
        (fetch.remote_time, fetch.continue_flag) = (true, true);
        fetch.ftp.list_format = ListFormat::Long;
        let shape = FetchOptions::of(&fetch, matches)?;
        let mut rules = TreeRules::default();
        rules.max_depth = tree.max_depth;
        rules.max_entries = fetch.max_entries.unwrap_or(rules.max_entries);
        fetch.max_entries = Some(rules.max_entries);
        rules.include = globs(&tree.include_glob)?;
        rules.exclude = globs(&tree.exclude_glob)?;
        rules.keeps_dots = tree.dot_names;
        let start = start(&shape, &url)?;
        let directory = match directory {
            Some(directory) => directory,
            None => own_directory(&start)?,
        };
        apart(&start, &directory)?;
        let copy = MirrorJob { shape: shape.for_listings(), start, directory, rules, deletes: tree.delete };
        let is_named = matches.value_source("parallel_max") == Some(ValueSource::CommandLine);
        let parallel = match (copy.is_news(), fetch.parallel || is_named) {
            (true, _) => 1,
            (false, true) => usize::from(fetch.parallel_max),
            (false, false) => AT_ONCE,
        };
        let journal = JournalOptions::for_mirror(&copy.directory, copy.start.without_password().to_string());
        let mut job = Self::of(&fetch, matches, Vec::new(), None, Some(journal))?;
        (job.parallel, job.mirror) = (parallel, Some(copy));
        Ok(job)
    }
}

/// Rejects options that apply to single files.
fn check(flags: &Fetch, matches: &ArgMatches) -> Result<(), Error> {
    let is_given = |id: &&&str| {
        let is_text = **id == "format" && flags.format == Format::Text;
        let is_known = matches.try_contains_id(id).is_ok();
        is_known && !is_text && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let wrong = OF_ONE_FILE.iter().find(is_given).and_then(|id| {
        let command = command();
        let argument = command.get_arguments().find(|argument| argument.get_id() == *id)?;
        spellings(argument).next()
    });
    let is_offset = matches!(flags.continue_at, Some(ContinueAt::Offset(_)));
    match wrong.or_else(|| is_offset.then(|| "-C OFFSET".to_owned())) {
        None => Ok(()),
        Some(option) => Err(usage_error(format!("{option} does not go with mirror"))
            .with_hint("each file of the directory comes whole, under its own name")),
    }
}

fn globs(texts: &[String]) -> Result<Vec<Glob>, Error> {
    texts.iter().map(|text| Glob::new(text)).collect()
}

/// Returns the start URL, with the news server.
fn start(shape: &FetchOptions, url: &str) -> Result<Url<'static>, Error> {
    let start = shape.request(url, Upcoming::default())?.url().clone();
    match start {
        Url::File(_) | Url::Ftp(_) | Url::Gopher(_) | Url::Http(_) | Url::News(_) | Url::Nntp(_) => Ok(start),
        other => Err(Error::new(
            fetch_url::Code::Unsupported,
            fetch_url::Phase::Plan,
            format!("{} has no directories to mirror", other.scheme_name()),
        )),
    }
}

/// A directory copied into itself would never end.
fn apart(start: &Url<'_>, directory: &Path) -> Result<(), Error> {
    let Url::File(url) = start else { return Ok(()) };
    let source = Path::new(OsStr::from_bytes(&url.path().decode())).join("");
    let source = Path::new("/").join(source).canonicalize();
    let above = directory.ancestors().find_map(|above| match above.as_os_str().is_empty() {
        true => Path::new(".").canonicalize().ok(),
        false => above.canonicalize().ok(),
    });
    match (source, above) {
        (Ok(source), Some(above)) if above.starts_with(&source) => {
            Err(usage_error(format!("{} is in the directory that is to be copied", directory.display())))
        }
        _ => Ok(()),
    }
}

/// Returns the default directory: the last part of the URL, or its host.
fn own_directory(url: &Url<'_>) -> Result<PathBuf, Error> {
    let text = url.without_password().to_string();
    let trimmed = fetch_url::url::parse(text.trim_end_matches('/')).ok();
    let name = trimmed.and_then(|trimmed| file_name(&trimmed.url));
    let host = || Some(url.host()?.to_string()).filter(|host| !host.contains([':', '[']));
    let name = name.or_else(host);
    name.map(PathBuf::from).ok_or_else(|| usage_error("name the directory behind the URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_one_file_is_one() {
        let command = command();
        for id in OF_ONE_FILE.iter().filter(|id| cfg!(feature = "open") || **id != "open") {
            let argument = command.get_arguments().find(|argument| argument.get_id() == *id);
            let argument = argument.unwrap_or_else(|| panic!("{id} is no option"));
            assert!(spellings(argument).all(|spelling| is_of_one_file(&spelling)), "{id}");
        }
        assert!(!is_of_one_file("--retry") && !is_of_one_file("-m"));
    }
}
