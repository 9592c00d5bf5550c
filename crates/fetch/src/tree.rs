//! A tree of listings as a tree of files: which lines of a listing lead on, which are files, and what each is called here.
//!
//! Nothing is fetched and nothing written: whoever walks the tree hands over the entries of one listing after the other.
//! Names are safe, no two of one directory are the same, no place is visited twice, and nothing leads to another server.

use std::collections::HashSet;

use fetch_url_core::{Escaped, GopherUrl, Url, parse};
use fetch_url_proto::{Entry, EntryKind};
use glob::{MatchOptions, Pattern};

use crate::engine::gate::is_same_server;
use crate::sink::digest::{Algorithm, Digest};
use crate::{Code, Error, Phase, file_name, safe_dot_name, safe_name};

/// A `*` stops at a slash, and takes a leading dot.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

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

/// A pattern for paths below the first directory: `*`, `?`, `[abc]`, and `**` across directories. Without a slash it
/// is one for names, wherever they stand.
#[derive(Clone, Debug)]
pub struct Glob {
    pattern: Pattern,
    is_of_path: bool,
}

impl Glob {
    /// # Errors
    /// `usage`: it is no pattern.
    pub fn new(text: &str) -> Result<Self, Error> {
        let is_of_path = text.contains('/');
        let pattern = Pattern::new(text.strip_prefix('/').unwrap_or(text));
        let wrong = |error| Error::new(Code::Usage, Phase::Plan, format!("{text} is no pattern: {error}"));
        Ok(Self { pattern: pattern.map_err(wrong)?, is_of_path })
    }

    fn takes(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.pattern.matches_with(if self.is_of_path { path } else { name }, MATCHING)
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
#[derive(Debug)]
pub struct Branch {
    /// What lists it.
    pub url: Url<'static>,
    /// Where it goes below the first directory, with `/` between names; empty for the first.
    pub path: String,
    depth: u32,
    names: HashSet<String>,
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
    /// The listing does not say whether it is a file: a link, or nobody knows what.
    pub is_doubtful: bool,
}

/// What a line of a listing is to the tree.
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "these are all the cases")]
pub enum Found {
    /// A directory to be walked.
    Branch(Branch),
    /// A file to be fetched.
    Leaf(Leaf),
    /// Something else, because of this.
    Passed(Passed),
}

/// Why a line of a listing leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Passed {
    /// It is no link at all.
    Words,
    /// The caller does not want it.
    Excluded,
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
        Branch { url: self.start.clone(), path: String::new(), depth: 0, names: HashSet::new() }
    }

    /// The listing of `branch` came from `place` in the end: what the entries are held against.
    ///
    /// # Errors
    /// `policy`: another server has answered for a directory below the first.
    pub fn arrived(&mut self, branch: &mut Branch, place: &Url<'static>) -> Result<(), Error> {
        if branch.depth > 0 && !is_below(&self.start, place) {
            return Err(Error::new(Code::Policy, Phase::Hop, "the directory is on another server").at(place));
        }
        if branch.depth == 0 {
            let is_home = is_same_server(&self.start, place);
            self.start = if is_home { place.clone().with_login(self.start.login()) } else { place.clone() };
        }
        branch.url = place.clone();
        self.seen.insert(mark(place));
        Ok(())
    }

    /// What `entry` of `branch` is.
    ///
    /// # Errors
    /// `limit_reached`: more entries than the caller wants.
    pub fn found(&mut self, branch: &mut Branch, entry: &Entry) -> Result<Found, Error> {
        self.entries += 1;
        if self.entries > self.rules.max_entries {
            let detail = format!("more than {} entries", self.rules.max_entries);
            return Err(Error::new(Code::LimitReached, Phase::Body, detail));
        }
        let Some(url) = self.url_of(entry) else { return Ok(Found::Passed(Passed::Words)) };
        if !is_below(&self.start, &url) || is_no_object(&url) {
            return Ok(Found::Passed(Passed::Elsewhere));
        }
        let Some(name) = self.name(&url, entry) else { return Ok(Found::Passed(Passed::Nameless)) };
        if !self.seen.insert(mark(&url)) {
            return Ok(Found::Passed(Passed::Again));
        }
        Ok(self.placed(branch, entry, url, name))
    }

    fn placed(&self, branch: &mut Branch, entry: &Entry, url: Url<'static>, name: String) -> Found {
        let name = branch.own(name, &url);
        let path = if branch.path.is_empty() { name } else { format!("{}/{name}", branch.path) };
        let is_directory = entry.kind == EntryKind::Directory;
        if self.rules.exclude.iter().any(|glob| glob.takes(&path)) {
            return Found::Passed(Passed::Excluded);
        }
        if !is_directory && !self.is_included(&path) {
            return Found::Passed(Passed::Excluded);
        }
        if !is_directory {
            let is_doubtful = entry.kind != EntryKind::File;
            return Found::Leaf(Leaf { url, path, size: entry.size, modified: entry.modified, is_doubtful });
        }
        let depth = branch.depth + 1;
        if depth > self.rules.max_depth {
            return Found::Passed(Passed::TooDeep);
        }
        Found::Branch(Branch { url, path, depth, names: HashSet::new() })
    }

    fn is_included(&self, path: &str) -> bool {
        self.rules.include.is_empty() || self.rules.include.iter().any(|glob| glob.takes(path))
    }

    /// The URL of an entry, for whoever asks for the tree.
    fn url_of(&self, entry: &Entry) -> Option<Url<'static>> {
        let url = parse(entry.url.as_deref()?).ok()?.into_owned().url;
        Some(url.with_login(self.start.login()))
    }

    /// What it is called here, before anybody asks whether another one is called so.
    fn name(&self, url: &Url<'_>, entry: &Entry) -> Option<String> {
        let safe = if self.rules.keeps_dots { safe_dot_name } else { safe_name };
        match url {
            // What a menu shows are words; an article is known by its number.
            Url::Gopher(_) | Url::News(_) | Url::Nntp(_) => file_name(url).or_else(|| safe(&entry.name)),
            _ => safe(&entry.name),
        }
    }
}

impl Branch {
    /// The name, or another one where it is taken: always the same for the same URL.
    fn own(&mut self, name: String, url: &Url<'_>) -> String {
        if self.names.insert(name.clone()) {
            return name;
        }
        let other = format!("{name}~{:08x}", mark(url) >> 96);
        self.names.insert(other.clone());
        other
    }

    /// The names of its entries here, those that were not wanted with them.
    pub const fn names(&self) -> &HashSet<String> {
        &self.names
    }
}

/// Whether `url` is of the tree of `start`. A menu may lead anywhere: what is below is what its selector says.
fn is_below(start: &Url<'_>, url: &Url<'_>) -> bool {
    match (start, url) {
        // A group of `news` has articles of `nntp`.
        (Url::News(_) | Url::Nntp(_), Url::News(_) | Url::Nntp(_)) => {
            start.host() == url.host() && start.port() == url.port()
        }
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
            format!("{} {:?} {:?}", url.at(), url.selector().as_str(), url.search().map(Escaped::into_owned))
        }
        url => url.without_password().to_string(),
    };
    let mut digest = Digest::new(Algorithm::Sha256);
    digest.update(text.trim_end_matches('/').as_bytes());
    let hex = digest.hex();
    u128::from_str_radix(&hex[..32], 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(start: &str, rules: TreeRules) -> (Tree, Branch) {
        let mut tree = Tree::new(parse(start).expect("a URL").into_owned().url, rules);
        let root = tree.root();
        (tree, root)
    }

    fn entry(kind: EntryKind, name: &str, url: &str) -> Entry {
        Entry { name: name.into(), url: Some(url.to_owned()), ..Entry::new(kind) }
    }

    fn file(name: &str, url: &str) -> Entry {
        entry(EntryKind::File, name, url)
    }

    /// The path of what was found, or why it is nothing.
    fn path(found: Result<Found, Error>) -> Result<String, Option<Passed>> {
        match found {
            Ok(Found::Branch(branch)) => Ok(branch.path + "/"),
            Ok(Found::Leaf(leaf)) => Ok(leaf.path),
            Ok(Found::Passed(passed)) => Err(Some(passed)),
            Err(_) => Err(None),
        }
    }

    #[test]
    fn names_stay_below_and_apart() {
        let (mut tree, mut root) = tree("ftp://h/pub/", TreeRules::default());
        for (name, url, expected) in [
            ("a", "ftp://h/pub/a", Ok("a")),
            ("..", "ftp://h/pub/..", Err(Some(Passed::Nameless))),
            ("../../x", "ftp://h/pub/..%2F..%2Fx", Ok("x")),
            ("/etc/passwd", "ftp://h/pub/%2Fetc%2Fpasswd", Ok("passwd")),
            (".rc", "ftp://h/pub/.rc", Ok("_rc")),
            ("a", "ftp://h/pub/a", Err(Some(Passed::Again))),
            ("a", "ftp://evil/pub/a", Err(Some(Passed::Elsewhere))),
            ("a", "ftp://h:2121/pub/a", Err(Some(Passed::Elsewhere))),
            ("a", "file:///etc/passwd", Err(Some(Passed::Elsewhere))),
            ("a", "no URL", Err(Some(Passed::Words))),
        ] {
            assert_eq!(path(tree.found(&mut root, &file(name, url))), expected.map(str::to_owned), "{url}");
        }
        let other = path(tree.found(&mut root, &file("b/a", "ftp://h/pub/b%2Fa"))).expect("a file");
        assert!(other.starts_with("a~") && other.len() == 10, "{other}");
    }

    #[test]
    fn directories_lead_on_as_deep_as_is_wanted() {
        let rules = TreeRules { max_depth: 2, ..TreeRules::default() };
        let (mut tree, mut branch) = tree("http://h/", rules);
        for (depth, expected) in [(1, "d/"), (2, "d/d/")] {
            let url = format!("http://h/{}", "d/".repeat(depth));
            let Ok(Found::Branch(next)) = tree.found(&mut branch, &entry(EntryKind::Directory, "d", &url))
            else {
                panic!("{url} is a directory")
            };
            assert_eq!(next.path.clone() + "/", expected);
            branch = next;
        }
        let deep = tree.found(&mut branch, &entry(EntryKind::Directory, "d", "http://h/d/d/d/"));
        assert_eq!(path(deep), Err(Some(Passed::TooDeep)));
    }

    #[test]
    fn the_login_of_the_start_is_for_all_of_it_and_shown_nowhere_else() {
        let (mut tree, mut root) = tree("ftp://u:p@h/", TreeRules::default());
        let Ok(Found::Leaf(leaf)) = tree.found(&mut root, &file("a", "ftp://u@h/a")) else {
            panic!("a file")
        };
        assert_eq!(leaf.url.to_string(), "ftp://u:p@h/a");
        let elsewhere = parse("ftp://other/").expect("a URL").into_owned().url;
        tree.arrived(&mut root, &elsewhere).expect("a redirect of the first");
        let Ok(Found::Leaf(leaf)) = tree.found(&mut root, &file("a", "ftp://other/a")) else {
            panic!("a file")
        };
        assert_eq!(leaf.url.to_string(), "ftp://other/a");
        root.depth = 1;
        let third = parse("ftp://third/").expect("a URL").into_owned().url;
        assert!(tree.arrived(&mut root, &third).is_err(), "no directory below leads away");
    }

    #[test]
    fn what_is_wanted() {
        let globs = |texts: &[&str]| texts.iter().map(|text| Glob::new(text).expect("a glob")).collect();
        let rules = TreeRules {
            include: globs(&["*.txt", "/d/**/*.gz"]),
            exclude: globs(&["secret*", "/d/x"]),
            max_entries: 9,
            ..TreeRules::default()
        };
        let (mut tree, mut root) = tree("http://h/", rules);
        let Ok(Found::Branch(mut below)) =
            tree.found(&mut root, &entry(EntryKind::Directory, "d", "http://h/d/"))
        else {
            panic!("a directory")
        };
        let excluded = || Err(Some(Passed::Excluded));
        assert_eq!(path(tree.found(&mut root, &file("a.txt", "http://h/a.txt"))), Ok("a.txt".to_owned()));
        assert_eq!(path(tree.found(&mut root, &file("a.gz", "http://h/a.gz"))), excluded());
        assert_eq!(path(tree.found(&mut root, &file("secret.txt", "http://h/secret.txt"))), excluded());
        assert_eq!(
            path(tree.found(&mut below, &file("a.txt", "http://h/d/a.txt"))),
            Ok("d/a.txt".to_owned())
        );
        assert_eq!(path(tree.found(&mut below, &file("a.gz", "http://h/d/a.gz"))), Ok("d/a.gz".to_owned()));
        assert_eq!(
            path(tree.found(&mut below, &entry(EntryKind::Directory, "x", "http://h/d/x/"))),
            excluded()
        );
        assert_eq!(below.names().len(), 3, "what is not wanted is there all the same");
        assert!(path(tree.found(&mut below, &Entry::new(EntryKind::Other))).is_err());
        assert_eq!(
            path(tree.found(&mut below, &file("b.txt", "http://h/d/b.txt"))),
            Ok("d/b.txt".to_owned())
        );
        assert_eq!(
            path(tree.found(&mut below, &file("c.txt", "http://h/d/c.txt"))),
            Err(None),
            "one too many"
        );
        assert!(Glob::new("a***b").is_err());
    }

    #[test]
    fn a_menu_names_files_by_their_selectors() {
        let (mut tree, mut root) = tree("gopher://h/", TreeRules::default());
        let words = "A long line of words";
        assert_eq!(
            path(tree.found(&mut root, &file(words, "gopher://h/0/docs/a.txt"))),
            Ok("a.txt".to_owned())
        );
        assert_eq!(path(tree.found(&mut root, &file(words, "gopher://h/0/docs/"))), Ok(words.to_owned()));
        for other in ["7/find", "8/login", "T/login", "2/names"] {
            let entry = entry(EntryKind::Other, words, &format!("gopher://h/{other}"));
            assert_eq!(path(tree.found(&mut root, &entry)), Err(Some(Passed::Elsewhere)));
        }
        let again = file(words, "gopher://h/9/docs/a.txt");
        assert_eq!(path(tree.found(&mut root, &again)), Err(Some(Passed::Again)), "of another type");
    }

    #[test]
    fn a_menu_leads_no_further_up_than_where_it_began() {
        for (start, url, expected) in [
            ("gopher://h/1/docs", "gopher://h/0/docs/a", true),
            ("gopher://h/11/docs/", "gopher://h/00/docs/a", true),
            ("gopher://h/1/docs", "gopher://h/0/docsx", false),
            ("gopher://h/1/docs", "gopher://h/1/", false),
            ("gopher://h/1/docs", "gopher://h/1/other", false),
            ("gopher://h/", "gopher://h/1/other", true),
            ("gopher://h/", "gopher://i/1/other", false),
            ("news://h/a.b", "nntp://h/a.b/1", true),
            ("news://h/a.b", "nntp://h:120/a.b/1", false),
            ("news://h/a.b", "nntps://h/a.b/1", false),
        ] {
            let url_of = |text: &str| parse(text).expect("a URL").into_owned().url;
            assert_eq!(is_below(&url_of(start), &url_of(url)), expected, "{start} {url}");
        }
    }
}
