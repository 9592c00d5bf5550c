//! What a mirror is to be, as the flags say.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use fetch_url::url::Url;
use fetch_url::{Error, Glob, Journal, Next, Request, TreeRules, file_name};

use super::{Job, Shape, usage};
use crate::flags::{ContinueAt, Fetch, Format, ListFormat, Mirror};
use crate::run::Ledger;

/// So many at the same time, where nobody says otherwise: archives give one visitor few connections.
const AT_ONCE: usize = 4;
/// What is finished, in the directory of the mirror. No name of a stranger can be this one.
pub(crate) const JOURNAL: &str = ".fetch-url-mirror";

/// Options for one file, or for a part of it: as defaults they say nothing of a mirror.
pub(crate) const OF_ONE_FILE: [&str; 24] = [
    "--output",
    "-o",
    "--remote-name",
    "-O",
    "--remote-name-all",
    "--remote-header-name",
    "-J",
    "--output-dir",
    "--no-clobber",
    "--input-file",
    "--checksum",
    "--time-cond",
    "-z",
    "--range",
    "-r",
    "--head",
    "-I",
    "--include",
    "-i",
    "--no-fail",
    "--fail-with-body",
    "--format",
    "--list-only",
    "-l",
];

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
        check(&fetch)?;
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
        let is_named = matches.value_source("parallel_max") == Some(clap::parser::ValueSource::CommandLine);
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

/// What makes no sense with a whole directory, whose files have their own names and come whole.
fn check(flags: &Fetch) -> Result<(), Error> {
    let http = &flags.http;
    let has_data = [&http.data, &http.data_raw, &http.data_binary, &http.data_urlencode, &http.json]
        .iter()
        .any(|texts| !texts.is_empty());
    let wrong = [
        (!flags.output.is_empty(), "-o"),
        (!flags.remote_name.is_empty(), "-O"),
        (flags.remote_name_all, "--remote-name-all"),
        (flags.remote_header_name, "-J"),
        (flags.output_dir.is_some(), "--output-dir"),
        (flags.no_clobber, "--no-clobber"),
        (flags.many.input_file.is_some(), "--input-file"),
        (flags.check.checksum.is_some(), "--checksum"),
        (flags.time_cond.is_some(), "-z"),
        (flags.range.is_some(), "-r"),
        (matches!(flags.continue_at, Some(ContinueAt::Offset(_))), "-C OFFSET"),
        (flags.head, "-I"),
        (flags.include, "-i"),
        (flags.no_fail, "--no-fail"),
        (flags.fail_with_body, "--fail-with-body"),
        (http.method.is_some(), "-X"),
        (has_data, "-d"),
        (flags.ftp.list_only, "-l"),
        (flags.advisory.connect, "--connect"),
        #[cfg(feature = "open")]
        (flags.advisory.open, "--open"),
        (!flags.gopher.form.is_empty(), "--form"),
        (flags.format != Format::Text, "--format"),
    ];
    match wrong.iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, option)) => Err(usage(format!("{option} does not go with mirror"))
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
