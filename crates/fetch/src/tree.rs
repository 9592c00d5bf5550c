//! A tree of listings as a tree of files: which lines of a listing lead on, which are files, and what each is called here.
//!
//! Nothing is fetched and nothing written: whoever walks the tree hands over the entries of one listing after the other.
//! Names are safe, no two of one directory are the same, no place is visited twice, and nothing leads to another server.

mod glob;
mod names;

use std::collections::{HashMap, HashSet};

use fetch_url_core::{Escaped, GopherUrl, Url, parse};
use fetch_url_proto::text::printable;
use fetch_url_proto::{Entry, EntryKind};

pub use self::glob::Glob;
use self::names::{Candidate, named, own_name};
use crate::engine::gate::is_same_server;
use crate::sink::digest::{Algorithm, Digest};
use crate::{Code, Error, Phase, safe_dot_name, safe_name};

/// What of a tree is wanted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TreeRules {
    /// How many directories deep; 0 is only the first listing.
    pub max_depth: u32,
    /// The most entries of all listings together.
    pub max_entries: u64,
    /// Only files that match one of these; every file where there are none.
    pub include: Vec<Glob>,
    /// No file and no directory that matches one of these.
    pub exclude: Vec<Glob>,
    /// A name that begins with a dot keeps it.
    pub keeps_dots: bool,
}

impl Default for TreeRules {
    fn default() -> Self {
        Self {
            max_depth: 32,
            max_entries: 1_000_000,
            include: Vec::new(),
            exclude: Vec::new(),
            keeps_dots: false,
        }
    }
}

/// A tree that is walked.
#[derive(Debug)]
pub struct Tree {
    rules: TreeRules,
    start: Url<'static>,
    seen: HashSet<u128>,
    entries: u64,
}

/// A directory of the tree.
#[derive(Clone, Debug)]
pub struct Branch {
    /// What lists it.
    pub url: Url<'static>,
    /// Where it goes below the first directory, with `/` between names; empty for the first.
    pub path: String,
    depth: u32,
}

/// What a listing has come to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Sorted {
    /// Directories to be walked.
    pub branches: Vec<Branch>,
    /// Files to be fetched.
    pub leaves: Vec<Leaf>,
    /// What leads nowhere: which entry, and why.
    pub passed: Vec<(usize, Passed)>,
    /// What the entries are called here, those that are not wanted with them, and whether they are directories, where
    /// that is known.
    pub names: HashMap<String, Option<bool>>,
    /// There were more entries than the caller wants.
    pub cut: Option<Error>,
}

/// A file of the tree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Leaf {
    /// What fetches it.
    pub url: Url<'static>,
    /// Where it goes below the first directory.
    pub path: String,
    /// How long it is, as the listing tells.
    pub size: Option<u64>,
    /// When it was changed, as the listing tells: perhaps to the minute, perhaps in another zone.
    pub modified: Option<i64>,
    /// Why it may be no file.
    pub doubt: Option<Doubt>,
    depth: u32,
}

/// Why what a listing tells of may be no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// It is a link, or a device: it may lead to nothing that can be fetched.
    Link,
    /// The listing gives names alone: it may be a directory.
    Unknown,
}

/// Why a line of a listing leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Passed {
    /// It is no link at all.
    Words,
    /// It leads to another server, or is of another kind.
    Elsewhere,
    /// It was here before.
    Again,
    /// Nothing is left of its name.
    Nameless,
    /// It is further down than the caller wants.
    TooDeep,
}

impl Tree {
    /// The tree that begins at `start`; user and password there are for all of it.
    pub fn new(start: Url<'static>, rules: TreeRules) -> Self {
        Self { rules, start, seen: HashSet::new(), entries: 0 }
    }

    /// The first directory.
    pub fn root(&mut self) -> Branch {
        self.seen.insert(mark(&self.start));
        Branch { url: self.start.clone(), path: String::new(), depth: 0 }
    }

    /// The listing of `branch` came from `place` in the end: what the entries are held against. Whether it is to be read: a
    /// directory below the first that leads elsewhere is a link, and no way round.
    ///
    /// # Errors
    /// `policy`: another server has answered for the first.
    pub fn arrived(&mut self, branch: &mut Branch, place: &Url<'static>) -> Result<bool, Error> {
        if branch.depth > 0 {
            return Ok(is_same_place(&branch.url, place));
        }
        let is_home = is_same_server(&self.start, place) || (is_news(&self.start) && is_news(place));
        if !is_home {
            let error = Error::new(Code::Policy, Phase::Hop, "the directory is on another server");
            let place = printable(place.redacted().to_string().as_bytes());
            return Err(error.with_hint(format!("it is said to be at {place}")));
        }
        self.start = place.clone().with_login(self.start.login());
        branch.url = place.clone();
        self.seen.insert(mark(place));
        Ok(true)
    }

    /// What the entries of `branch` are, all of them together: two must not have one name, in whatever order they come.
    pub fn sort(&mut self, branch: &Branch, entries: &[Entry]) -> Sorted {
        let (mut sorted, mut candidates, mut names) = (Sorted::default(), Vec::new(), HashSet::new());
        for (index, entry) in entries.iter().enumerate() {
            self.entries += 1;
            if self.entries > self.rules.max_entries {
                let detail = format!("more than {} entries", self.rules.max_entries);
                sorted.cut = Some(Error::new(Code::LimitReached, Phase::Body, detail).at(&branch.url));
                break;
            }
            match self.candidate(index, entry) {
                // The same name in another spelling is the same.
                Ok(candidate) if is_hierarchical(&candidate.url) => {
                    let is_new = names.insert((entry.name.clone(), candidate.is_directory));
                    if is_new {
                        candidates.push(candidate);
                    } else {
                        sorted.passed.push((index, Passed::Again));
                    }
                }
                Ok(candidate) => candidates.push(candidate),
                Err(why) => sorted.passed.push((index, why)),
            }
        }
        for (candidate, name) in named(candidates) {
            self.place(branch, candidate, name, &mut sorted);
        }
        sorted
    }

    fn candidate(&mut self, index: usize, entry: &Entry) -> Result<Candidate, Passed> {
        let url = self.url_of(entry).ok_or(Passed::Words)?;
        if !is_below(&self.start, &url) || is_no_object(&url) {
            return Err(Passed::Elsewhere);
        }
        let own = own_name(&url, entry).ok_or(Passed::Nameless)?;
        let safe = if self.rules.keeps_dots { safe_dot_name } else { safe_name };
        let name = safe(&own).ok_or(Passed::Nameless)?;
        if !is_hierarchical(&url) && !self.seen.insert(mark(&url)) {
            return Err(Passed::Again);
        }
        let is_told = entry.size.is_some() || entry.modified.is_some();
        let doubt = match entry.kind {
            EntryKind::Directory | EntryKind::File => None,
            EntryKind::Other if !is_told && matches!(url, Url::Ftp(_)) => Some(Doubt::Unknown),
            _ => Some(Doubt::Link),
        };
        Ok(Candidate {
            index,
            is_verbatim: name.as_bytes() == own,
            is_directory: entry.kind == EntryKind::Directory,
            size: entry.size,
            modified: entry.modified,
            url,
            name,
            doubt,
        })
    }

    fn place(&self, branch: &Branch, candidate: Candidate, name: String, sorted: &mut Sorted) {
        let Candidate { index, url, is_directory, size, modified, doubt, .. } = candidate;
        let path = if branch.path.is_empty() { name.clone() } else { format!("{}/{name}", branch.path) };
        sorted.names.insert(name, doubt.is_none().then_some(is_directory));
        let is_excluded = self.rules.exclude.iter().any(|glob| glob.takes(&path));
        let depth = branch.depth + 1;
        if is_excluded || (!is_directory && !self.is_included(&path)) {
            return;
        }
        if !is_directory {
            sorted.leaves.push(Leaf { url, path, size, modified, doubt, depth });
        } else if depth <= self.rules.max_depth {
            sorted.branches.push(Branch { url, path, depth });
        } else {
            sorted.passed.push((index, Passed::TooDeep));
        }
    }

    /// The directory that a file has turned out to be.
    pub fn as_branch(&self, leaf: &Leaf) -> Option<Branch> {
        let url = parse(&format!("{}/", leaf.url.without_password())).ok()?.into_owned().url;
        let url = url.with_login(self.start.login());
        let branch = Branch { url, path: leaf.path.clone(), depth: leaf.depth };
        (leaf.doubt == Some(Doubt::Unknown) && leaf.depth <= self.rules.max_depth).then_some(branch)
    }

    fn is_included(&self, path: &str) -> bool {
        self.rules.include.is_empty() || self.rules.include.iter().any(|glob| glob.takes(path))
    }

    /// The URL of an entry, for whoever asks for the tree.
    fn url_of(&self, entry: &Entry) -> Option<Url<'static>> {
        let url = parse(entry.url.as_deref()?).ok()?.into_owned().url;
        Some(url.with_login(self.start.login()))
    }
}

/// Whether a directory has what is below its URL, each under one name.
const fn is_hierarchical(url: &Url<'_>) -> bool {
    matches!(url, Url::File(_) | Url::Ftp(_) | Url::Http(_))
}

/// Whether two URLs are one place: a slash at the end makes no other.
pub(crate) fn is_same_place(one: &Url<'_>, other: &Url<'_>) -> bool {
    let place = |url: &Url<'_>| url.without_password().to_string().trim_end_matches('/').to_owned();
    let without_login = |url: &Url<'_>| place(&url.clone().with_login(None));
    without_login(one) == without_login(other) || (is_news(one) && is_news(other))
}

/// Whether it is of news: a group of `news` has articles of `nntp`.
const fn is_news(url: &Url<'_>) -> bool {
    matches!(url, Url::News(_) | Url::Nntp(_))
}

/// Whether `url` is of the tree of `start`. A menu may lead anywhere: what is below is what its selector says.
fn is_below(start: &Url<'_>, url: &Url<'_>) -> bool {
    match (start, url) {
        _ if is_news(start) && is_news(url) => start.host() == url.host() && start.port() == url.port(),
        (Url::Gopher(menu), Url::Gopher(item)) => {
            let (above, path) = (selector_path(menu), selector_path(item));
            let is_below = path.strip_prefix(&above[..]).is_some_and(|rest| matches!(rest, [] | [b'/', ..]));
            is_same_server(start, url) && (above.is_empty() || is_below)
        }
        _ => is_same_server(start, url),
    }
}

/// A selector without slashes at its ends, and without the type that some servers put in front: `1/docs` and `0/docs/a`.
fn selector_path(url: &GopherUrl<'_>) -> Vec<u8> {
    let selector = url.selector().decode().into_owned();
    let path = match &selector[..] {
        [kind, b'/', rest @ ..] if kind.is_ascii_alphanumeric() => rest,
        path => path,
    };
    let start = path.iter().position(|octet| *octet != b'/').unwrap_or(path.len());
    let end = path.iter().rposition(|octet| *octet != b'/').map_or(start, |last| last + 1);
    path[start..end].to_vec()
}

/// A search without its words, and what is held with a terminal: a phone book, sessions (RFC 1436 §3.8).
fn is_no_object(url: &Url<'_>) -> bool {
    let Url::Gopher(url) = url else { return false };
    matches!(url.gtype(), b'2' | b'8' | b'T') || (url.gtype() == b'7' && url.search().is_none())
}

/// A place in little room: an item of gopher is the same under every type.
fn mark(url: &Url<'_>) -> u128 {
    let text = match url {
        Url::Gopher(url) => {
            let (at, selector) = (url.at().to_string().to_ascii_lowercase(), url.selector());
            let selector = selector.as_str().trim_matches('/');
            let search = url.search().map_or_else(|| Escaped::from(""), Escaped::into_owned);
            format!("{at} {selector:?} {search:?}")
        }
        url => url.without_password().to_string(),
    };
    let mut digest = Digest::new(Algorithm::Sha256);
    digest.update(text.as_bytes());
    let hex = digest.hex();
    u128::from_str_radix(&hex[..32], 16).unwrap_or_default()
}

#[cfg(test)]
mod tests;
