//! The options of `mirror`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use clap::Arg;
use fetch_url::http::IndexRule;
use fetch_url::mirror::{DirHandle, Glob, Tree, TreeRules};
use fetch_url::news::UpcomingUrls;
use fetch_url::output::file_name;
use fetch_url::url::{PercentEncoded, Url, charset, parse};
use fetch_url::{Error, Request};

use super::{FetchOptions, Invocation, JournalOptions, reject_misplaced_options};
use crate::error::usage_error;
use crate::flags::{
    ContinueAt, FetchFlags, Format, GivenOptions, ListFormat, MirrorFlags, RefusedOptions,
    SINGLE_OBJECT_OPTIONS, command,
};

/// The default number of parallel transfers: archives allow few connections per client.
const DEFAULT_PARALLEL: usize = 4;

/// Returns `true` if `option`, with its dashes, is in [`SINGLE_OBJECT_OPTIONS`].
pub(crate) fn is_single_object_option(option: &str) -> bool {
    let has_spelling = |argument: &&Arg| option_names(argument).any(|spelling| spelling == option);
    command()
        .get_arguments()
        .find(has_spelling)
        .is_some_and(|argument| SINGLE_OBJECT_OPTIONS.contains(argument.get_id().as_str()))
}

/// Returns the names of an option that the manual shows, the letter first.
fn option_names(argument: &Arg) -> impl Iterator<Item = String> {
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
    /// The maximum number of files to delete (`--max-delete`).
    pub(crate) max_delete: Option<u64>,
    /// The options of requests for listings.
    listing_options: FetchOptions,
}

impl MirrorJob {
    /// Returns the tree of the mirror. It finds out whether the file system distinguishes names that differ only in
    /// case or Unicode form; a dry run only from existing files.
    pub(crate) fn tree(&self) -> Tree {
        let tree = Tree::new(self.start.clone(), self.rules.clone());
        let (root, is_dry_run) = (self.directory.clone(), self.listing_options.is_dry_run);
        tree.with_folding_probe(move |path, are_ascii| {
            if is_dry_run && !root.join(path).is_dir() {
                return Ok(false);
            }
            let directory = DirHandle::open_or_create(&root, path)?;
            if is_dry_run {
                Ok(directory.entries_fold_names(are_ascii) == Some(true))
            } else {
                directory.folds_names(are_ascii)
            }
        })
    }

    /// Returns the beginning of the URLs of the files of the mirror, without password: the start URL up to its last `/`.
    /// Other URLs, such as most of a gopher menu, may begin in another way.
    pub(crate) fn url_prefix(&self) -> String {
        let mut text = self.start.redacted().to_string();
        text.truncate(text.rfind('/').map_or(0, |slash| slash + 1));
        text
    }

    /// Returns the request for the listing of `url`.
    pub(crate) fn listing(&self, url: &Url<'static>) -> Result<Request, Error> {
        self.listing_options.request(&url.to_string(), UpcomingUrls::default())
    }

    /// Returns `true` if directories are listed one after another. Gopher menus may link anywhere:
    /// otherwise the unique local names would depend on which listing arrives first.
    pub(crate) const fn is_walked_in_order(&self) -> bool {
        matches!(self.start, Url::Gopher(_))
    }

    /// Returns `true` for news URLs, whose articles are fetched over one pipelined connection.
    pub(crate) const fn is_news(&self) -> bool {
        matches!(self.start, Url::News(_) | Url::Nntp(_))
    }
}

impl Invocation {
    /// Checks the flags and makes the invocation of a mirror.
    pub(crate) fn mirror(flags: MirrorFlags, given: &GivenOptions) -> Result<Self, Error> {
        let MirrorFlags { tree, mut fetch } = flags;
        reject_misplaced_options(&fetch)?;
        let reason = "`fetch-url mirror --help` lists the options that apply";
        reject_options(SINGLE_OBJECT_OPTIONS, &fetch, given, "mirror", reason)?;
        let mut positionals = std::mem::take(&mut fetch.urls).into_iter();
        if tree.max_delete.is_some() && !tree.delete {
            return Err(usage_error("--max-delete needs --delete"));
        }
        let Some(url) = positionals.next() else { return Err(usage_error("no URL was given")) };
        let directory = positionals.next().map(PathBuf::from);
        if positionals.next().is_some() {
            return Err(usage_error("mirror takes one URL and at most one directory"));
        }
        if directory.as_ref().is_some_and(|directory| directory.as_os_str().is_empty()) {
            let hint = "`.` is the current directory; without DIR, it is named like the last part of the URL";
            return Err(usage_error("the name of the directory DIR is empty").with_hint(hint));
        }
        // A mirror always sets modification times, which show changes, and resumes partial downloads.
        (fetch.remote_time, fetch.continue_flag) = (true, true);
        fetch.ftp.list_format = ListFormat::Long;
        let listing_options = FetchOptions::of(&fetch, given)?;
        let mut rules = TreeRules::default();
        rules.max_depth = tree.max_depth;
        rules.max_entries = fetch.max_entries.unwrap_or(rules.max_entries);
        fetch.max_entries = Some(rules.max_entries);
        rules.include = globs(&tree.include_glob)?;
        rules.exclude = globs(&tree.exclude_glob)?;
        rules.keeps_dots = tree.dot_names;
        rules.collects_names = tree.delete;
        rules.page_requisites_only = tree.page_requisites;
        let user = fetch.login.user.as_deref().and_then(|text| text.split(':').next());
        let start = with_user(start(&listing_options, &url)?, user);
        if tree.page_requisites && !matches!(start, Url::Http(_)) {
            return Err(usage_error("--page-requisites needs an http or https URL"));
        }
        let index_rule = if tree.page_requisites { IndexRule::NoPage } else { IndexRule::GeneratedPage };
        let directory = match directory {
            Some(directory) => directory,
            None => default_directory(&start)?,
        };
        reject_overlap(&start, &directory)?;
        let job = MirrorJob {
            listing_options: listing_options.for_listings(index_rule),
            start,
            directory,
            rules,
            deletes: tree.delete,
            max_delete: tree.max_delete,
        };
        let parallel_max_given = given.contains("parallel_max");
        let parallel = match (job.is_news(), fetch.parallel || parallel_max_given) {
            (true, _) => 1,
            (false, true) => usize::from(fetch.parallel_max),
            (false, false) => DEFAULT_PARALLEL,
        };
        let subject = job.start.without_password().to_string();
        let journal = JournalOptions::for_mirror(&job.directory, subject, fetch.batch.dry_run);
        let mut invocation = Self::of(&fetch, given, Vec::new(), None, Some(journal))?;
        (invocation.parallel, invocation.mirror) = (parallel, Some(job));
        Ok(invocation)
    }
}

/// Rejects the options with the identifiers `rejected`, which do not apply to the sub-command `verb`.
pub(super) fn reject_options(
    rejected: RefusedOptions,
    flags: &FetchFlags,
    given: &GivenOptions,
    verb: &str,
    reason: &str,
) -> Result<(), Error> {
    let is_in_effect = |id: &str| match id {
        "format" => flags.format == Format::Text,
        "list_format" => matches!(flags.ftp.list_format, ListFormat::Long),
        _ => false,
    };
    let is_given = |id: &&str| given.contains(id) && !is_in_effect(id);
    let wrong = rejected.ids().find(is_given).and_then(|id| {
        let command = command();
        let argument = command.get_arguments().find(|argument| argument.get_id() == id)?;
        option_names(argument).next()
    });
    let is_offset = matches!(flags.continue_at, Some(ContinueAt::Offset(_)));
    match wrong.or_else(|| is_offset.then(|| "-C OFFSET".to_owned())) {
        None => Ok(()),
        Some(option) => {
            Err(usage_error(format!("{option} cannot be used with {verb}")).with_hint(reason.to_owned()))
        }
    }
}

fn globs(texts: &[String]) -> Result<Vec<Glob>, Error> {
    texts.iter().map(|text| Glob::new(text)).collect()
}

/// Returns the start URL. A news URL without a host gets the default news server.
fn start(listing_options: &FetchOptions, url: &str) -> Result<Url<'static>, Error> {
    let start = listing_options.request(url, UpcomingUrls::default())?.url().clone();
    match start {
        Url::File(_) | Url::Ftp(_) | Url::Gopher(_) | Url::Http(_) | Url::News(_) | Url::Nntp(_) => Ok(start),
        other => Err(Error::new(
            fetch_url::Code::Unsupported,
            fetch_url::Phase::Plan,
            format!("{} has no directories to mirror", other.scheme_name()),
        )),
    }
}

/// Returns `start` with the user of `-u`, unless the URL already has a user: `-u me` and `http://me@host/` are the same
/// mirror.
fn with_user(start: Url<'static>, user: Option<&str>) -> Url<'static> {
    let (None, Some(user)) = (start.user_info(), user) else { return start };
    let text = format!("ftp://{}@host/", PercentEncoded::encode(user.as_bytes(), charset::UCHAR));
    match parse(&text) {
        Ok(parsed) => {
            let user_info = parsed.url.user_info().map(|user_info| user_info.clone().into_owned());
            start.with_user_info(user_info.as_ref())
        }
        Err(_) => start,
    }
}

/// Rejects a `file:` URL whose directory contains the local directory, since the copy would contain itself, or has an
/// entry whose copy would overwrite it.
fn reject_overlap(start: &Url<'_>, directory: &Path) -> Result<(), Error> {
    let Url::File(url) = start else { return Ok(()) };
    let source = Path::new(OsStr::from_bytes(&url.path().decode())).join("");
    let source = Path::new("/").join(source).canonicalize();
    let above = directory.ancestors().find_map(|above| match above.as_os_str().is_empty() {
        true => Path::new(".").canonicalize().ok(),
        false => above.canonicalize().ok(),
    });
    let Ok(source) = source else { return Ok(()) };
    if above.is_some_and(|above| above.starts_with(&source)) {
        return Err(usage_error(format!("{} is inside the directory to copy", directory.display())));
    }
    let copy = directory.canonicalize().ok();
    let below = copy.and_then(|copy| source.strip_prefix(copy).ok());
    // The entry with the name that comes next on the path from DIR to the source.
    let entry = below.and_then(|below| Some(source.join(below.components().next()?)));
    match entry.filter(|entry| entry.symlink_metadata().is_ok()) {
        Some(entry) => {
            let (entry, directory) = (entry.display(), directory.display());
            Err(usage_error(format!(
                "the copy of {entry} in {directory} would overwrite the directory to copy"
            )))
        }
        None => Ok(()),
    }
}

/// Returns the default directory: the last part of the URL, or its host.
fn default_directory(url: &Url<'_>) -> Result<PathBuf, Error> {
    let text = url.without_password().to_string();
    let trimmed = parse(text.trim_end_matches('/')).ok();
    let name = trimmed.and_then(|trimmed| file_name(&trimmed.url));
    let host = || Some(url.host()?.to_string()).filter(|host| !host.contains([':', '[']));
    let name = name.or_else(host);
    name.map(PathBuf::from)
        .ok_or_else(|| usage_error("the URL contains no name for the directory: give DIR after the URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_object_option_exists() {
        let command = command();
        for id in SINGLE_OBJECT_OPTIONS.ids().filter(|id| cfg!(feature = "open") || *id != "open") {
            let argument = command.get_arguments().find(|argument| argument.get_id() == id);
            let argument = argument.unwrap_or_else(|| panic!("{id} is not an option"));
            assert!(option_names(argument).all(|spelling| is_single_object_option(&spelling)), "{id}");
        }
        assert!(!is_single_object_option("--retry") && !is_single_object_option("-m"));
    }
}
