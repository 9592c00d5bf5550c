//! What a mirror is to be, as the flags say.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use fetch_url::url::Url;
use fetch_url::{Error, Glob, Journal, Next, Request, TreeRules, file_name};

use super::{Job, Shape, usage};
use crate::flags::{ContinueAt, Fetch, Format, ListFormat, Mirror, command};
use crate::run::Ledger;

/// So many at the same time, where nobody says otherwise: archives give one visitor few connections.
const AT_ONCE: usize = 4;
/// What is finished, in the directory of the mirror. No name of a stranger can be this one.
const JOURNAL: &str = ".fetch-url-mirror";

/// Options that make no sense with a whole directory, whose files have their own names and come whole. As defaults they
/// are not meant for it.
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

/// Whether `option`, with its dashes, is one of them.
pub(crate) fn is_of_one_file(option: &str) -> bool {
    let is_it = |argument: &&Arg| spellings(argument).any(|spelling| spelling == option);
    command()
        .get_arguments()
        .find(is_it)
        .is_some_and(|argument| OF_ONE_FILE.contains(&argument.get_id().as_str()))
}

/// The letter first, where there is one.
fn spellings(argument: &Arg) -> impl Iterator<Item = String> {
    let letter = argument.get_short().map(|letter| format!("-{letter}"));
    let names = argument.get_long_and_visible_aliases().unwrap_or_default();
    letter.into_iter().chain(names.into_iter().map(|name| format!("--{name}")))
}

/// A tree and its copy.
pub(crate) struct Copy {
    pub(crate) start: Url<'static>,
    pub(crate) directory: PathBuf,
    pub(crate) rules: TreeRules,
    /// What is gone there goes here.
    pub(crate) deletes: bool,
    /// How directories are asked for.
    shape: Shape,
}

impl Copy {
    /// The request for the listing of `url`.
    pub(crate) fn listing(&self, url: &Url<'static>) -> Result<Request, Error> {
        self.shape.request(&url.to_string(), Next::default())
    }

    /// In a menu anything may lead anywhere, and who comes first gives it its place: so the order is the same each time.
    pub(crate) const fn is_walked_in_order(&self) -> bool {
        matches!(self.start, Url::Gopher(_))
    }

    /// Whether listings hold lines that are meant for people alone.
    pub(crate) const fn has_words(&self) -> bool {
        matches!(self.start, Url::Gopher(_))
    }

    /// Whether the files come in one stream, each asked for before the one ahead of it has come.
    pub(crate) const fn is_news(&self) -> bool {
        matches!(self.start, Url::News(_) | Url::Nntp(_))
    }
}

impl Job {
    /// The mirror that these flags ask for.
    pub(crate) fn mirror(flags: Mirror, matches: &ArgMatches) -> Result<Self, Error> {
        let Mirror { tree, mut fetch } = flags;
        check(&fetch, matches)?;
        let mut places = std::mem::take(&mut fetch.urls).into_iter();
        let Some(url) = places.next() else { return Err(usage("no URL was given")) };
        let directory = places.next().map(PathBuf::from);
        if places.next().is_some() {
            return Err(usage("a mirror is of one URL, in one directory"));
        }
        // Times tell what has changed, and what broke off goes on.
        (fetch.remote_time, fetch.continue_flag) = (true, true);
        fetch.ftp.list_format = ListFormat::Long;
        let shape = Shape::of(&fetch, matches)?;
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
        let copy = Copy { shape: shape.for_listings(), start, directory, rules, deletes: tree.delete };
        let is_named = matches.value_source("parallel_max") == Some(ValueSource::CommandLine);
        let parallel = match (copy.is_news(), fetch.parallel || is_named) {
            (true, _) => 1,
            (false, true) => usize::from(fetch.parallel_max),
            (false, false) => AT_ONCE,
        };
        let ledger = ledger(&copy)?;
        let mut job = Self::of(&fetch, matches, Vec::new(), None, Some(ledger))?;
        (job.parallel, job.copy) = (parallel, Some(copy));
        Ok(job)
    }
}

/// That nothing is asked for which is of one file.
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
        Some(option) => Err(usage(format!("{option} does not go with mirror"))
            .with_hint("each file of the directory comes whole, under its own name")),
    }
}

fn globs(texts: &[String]) -> Result<Vec<Glob>, Error> {
    texts.iter().map(|text| Glob::new(text)).collect()
}

/// Where the tree begins: the server of news is known by now.
fn start(shape: &Shape, url: &str) -> Result<Url<'static>, Error> {
    let start = shape.request(url, Next::default())?.url().clone();
    match start {
        Url::File(_) | Url::Ftp(_) | Url::Gopher(_) | Url::Http(_) | Url::News(_) | Url::Nntp(_) => Ok(start),
        other => Err(Error::new(
            fetch_url::Code::Unsupported,
            fetch_url::Phase::Plan,
            format!("{} has no directories to mirror", other.scheme_name()),
        )),
    }
}

/// A directory that is copied into itself would never end.
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
            Err(usage(format!("{} is in the directory that is to be copied", directory.display())))
        }
        _ => Ok(()),
    }
}

/// Named like the last part of the URL, or like its host.
fn own_directory(url: &Url<'_>) -> Result<PathBuf, Error> {
    let text = url.without_password().to_string();
    let trimmed = fetch_url::url::parse(text.trim_end_matches('/')).ok();
    let name = trimmed.and_then(|trimmed| file_name(&trimmed.url));
    let host = || Some(url.host()?.to_string()).filter(|host| !host.contains([':', '[']));
    let name = name.or_else(host);
    name.map(PathBuf::from).ok_or_else(|| usage("name the directory behind the URL"))
}

/// The journal in the directory, which is made for it.
fn ledger(copy: &Copy) -> Result<Ledger, Error> {
    crate::run::make_directory(&copy.directory)?;
    let subject = copy.start.without_password().to_string();
    Ok(Ledger::new(Journal::open(&copy.directory.join(JOURNAL), &subject, true)?))
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
