//! What a hostile listing may say, and what of it is a file here.

use super::*;

fn url(text: &str) -> Url<'static> {
    parse(text).expect("a URL").into_owned().url
}

fn tree(start: &str, rules: TreeRules) -> (Tree, DirEntry) {
    let mut tree = Tree::new(url(start), rules);
    let root = tree.root();
    (tree, root)
}

fn entry(kind: EntryKind, name: &str, url: &str) -> Entry {
    Entry { name: name.into(), url: Some(url.to_owned()), ..Entry::new(kind) }
}

fn file(name: &str, url: &str) -> Entry {
    entry(EntryKind::File, name, url)
}

fn directory(name: &str, url: &str) -> Entry {
    entry(EntryKind::Directory, name, url)
}

/// The path of what one entry is, or why it is nothing: no reason where it is not wanted.
fn path(tree: &mut Tree, branch: &DirEntry, entry: &Entry) -> Result<String, Option<Skipped>> {
    let sorted = tree.sort(branch, std::slice::from_ref(entry));
    match (sorted.directories.first(), sorted.files.first(), sorted.skipped.first()) {
        (Some(branch), ..) => Ok(branch.path.clone() + "/"),
        (_, Some(leaf), _) => Ok(leaf.path.clone()),
        (_, _, Some((_, why))) => Err(Some(*why)),
        _ => Err(None),
    }
}

#[test]
fn names_stay_below_the_directory() {
    let (mut tree, root) = tree("ftp://h/pub/", TreeRules::default());
    for (name, url, expected) in [
        ("a", "ftp://h/pub/a", Ok("a")),
        ("..", "ftp://h/pub/..", Err(Some(Skipped::Nameless))),
        ("../../x", "ftp://h/pub/..%2F..%2Fx", Err(Some(Skipped::Nameless))),
        ("/etc/passwd", "ftp://h/pub/%2Fetc%2Fpasswd", Err(Some(Skipped::Nameless))),
        (".rc", "ftp://h/pub/.rc", Ok("_rc")),
        ("a", "ftp://evil/pub/a", Err(Some(Skipped::OutsideTree))),
        ("a", "ftp://h:2121/pub/a", Err(Some(Skipped::OutsideTree))),
        ("a", "file:///etc/passwd", Err(Some(Skipped::OutsideTree))),
        ("a", "no URL", Err(Some(Skipped::UnparsedLine))),
    ] {
        assert_eq!(path(&mut tree, &root, &file(name, url)), expected.map(str::to_owned), "{url}");
    }
}

#[test]
fn names_are_unique_in_any_order() {
    let known = format!("a_b~{:08x}", resource_identity(&url("http://h/a:b")) >> 96);
    let entries = [
        file("a_b", "http://h/a_b"),
        file("a:b", "http://h/a:b"),
        file("a*b", "http://h/a*b"),
        file("x:", "http://h/x:"),
        file("y:", "http://h/y:"),
        file("y*", "http://h/y*"),
        file("f", "http://h/f"),
        // The server knows the digest of a URL.
        file(&known, &format!("http://h/{known}")),
        directory("f", "http://h/f/"),
    ];
    let names = |entries: &[Entry]| {
        let (mut tree, root) = tree("http://h/", TreeRules::default());
        let sorted = tree.sort(&root, entries);
        let leaves = sorted.files.iter().map(|leaf| (leaf.url.to_string(), leaf.path.clone()));
        let branches = sorted.directories.iter().map(|branch| (branch.url.to_string(), branch.path.clone()));
        leaves.chain(branches).collect::<std::collections::BTreeMap<_, _>>()
    };
    let first = names(&entries);
    let mut turned = entries.clone();
    turned.reverse();
    assert_eq!(names(&turned), first);
    let all: HashSet<&String> = first.values().collect();
    assert_eq!(all.len(), entries.len());
    for (url, path) in [("http://h/a_b", "a_b"), ("http://h/x:", "x_"), ("http://h/f", "f")] {
        assert_eq!(first[url], path);
    }
    for url in ["http://h/a:b", "http://h/a*b", "http://h/y:", "http://h/y*", "http://h/f/"] {
        assert!(first[url].contains('~'), "{url}");
    }
}

#[test]
fn directories_are_followed_down_to_max_depth() {
    let rules = TreeRules { max_depth: 2, ..TreeRules::default() };
    let (mut tree, mut branch) = tree("http://h/", rules);
    for (depth, expected) in [(1, "d"), (2, "d/d")] {
        let entry = directory("d", &format!("http://h/{}", "d/".repeat(depth)));
        branch = tree.sort(&branch, &[entry]).directories.remove(0);
        assert_eq!(branch.path, expected);
    }
    assert_eq!(path(&mut tree, &branch, &directory("d", "http://h/d/d/d/")), Err(Some(Skipped::TooDeep)));
}

#[test]
fn login_of_the_start_applies_to_its_server_only() {
    let (mut tree, mut root) = tree("ftp://u:p@h/", TreeRules::default());
    let leaf = tree.sort(&root, &[file("a", "ftp://u@h/a")]).files.remove(0);
    assert_eq!(leaf.url.to_string(), "ftp://u:p@h/a");
    for place in ["ftp://other/", "ftp://h:2121/", "nntp://h/a.b"] {
        assert!(tree.accept_final_url(&mut root, &url(place)).is_err(), "{place}");
    }
    assert!(tree.accept_final_url(&mut root, &url("ftp://h/else/")).is_ok(), "a redirect of the first");
    root.depth = 1;
    for (place, expected) in
        [("ftp://h/else", true), ("ftp://u:p@h/else/", true), ("ftp://h/", false), ("ftp://i/else/", false)]
    {
        assert_eq!(tree.accept_final_url(&mut root, &url(place)).ok(), Some(expected), "{place}");
    }
}

#[test]
fn globs_select_entries() {
    let globs = |texts: &[&str]| texts.iter().map(|text| Glob::new(text).expect("a glob")).collect();
    let rules = TreeRules {
        include: globs(&["*.txt", "/d/**/*.gz"]),
        exclude: globs(&["secret*", "/d/x"]),
        max_entries: 9,
        ..TreeRules::default()
    };
    let (mut tree, root) = tree("http://h/", rules);
    let below = tree.sort(&root, &[directory("d", "http://h/d/")]).directories.remove(0);
    for (branch, name, expected) in [
        (&root, "a.txt", Ok("a.txt")),
        (&root, "a.gz", Err(None)),
        (&root, "secret.txt", Err(None)),
        (&below, "d/a.txt", Ok("d/a.txt")),
        (&below, "d/a.gz", Ok("d/a.gz")),
        (&below, "d/x/", Err(None)),
    ] {
        let url = format!("http://h/{name}");
        let last = name.trim_end_matches('/').rsplit('/').next().expect("a name");
        let entry = if name.ends_with('/') { directory(last, &url) } else { file(last, &url) };
        assert_eq!(path(&mut tree, branch, &entry), expected.map(str::to_owned), "{name}");
    }
    let two =
        [file("no.gz", "http://h/no.gz"), file("c.txt", "http://h/c.txt"), file("e.txt", "http://h/e.txt")];
    let sorted = tree.sort(&root, &two);
    assert_eq!(sorted.names.len(), 2, "what is not wanted is there all the same");
    assert_eq!(sorted.files.len(), 1, "what was found before the limit is fetched");
    assert!(sorted.limit_error.is_some(), "one too many");
    assert!(Glob::new("a***b").is_err());
}

#[test]
fn a_menu_names_files_by_their_selectors() {
    let (mut tree, root) = tree("gopher://h/", TreeRules::default());
    let words = "A long line of words";
    let mut of = |entry: Entry| path(&mut tree, &root, &entry);
    assert_eq!(of(file(words, "gopher://h/0/docs/a.txt")), Ok("a.txt".to_owned()));
    assert_eq!(of(file(words, "gopher://h/0?")), Ok("_".to_owned()));
    for other in ["7/find", "8/login", "T/login", "2/names"] {
        let entry = entry(EntryKind::Other, words, &format!("gopher://h/{other}"));
        assert_eq!(of(entry), Err(Some(Skipped::OutsideTree)));
    }
    assert_eq!(of(directory("1  2026", "gopher://h/1/docs/sub/")), Ok("sub/".to_owned()));
    for again in ["gopher://H/9/docs/a.txt", "gopher://h/1/docs/sub", "gopher://h/1/"] {
        assert_eq!(of(file(words, again)), Err(Some(Skipped::Duplicate)), "{again}");
    }
}

#[test]
fn menu_items_above_the_start_are_skipped() {
    for (start, other, expected) in [
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
        assert_eq!(is_below(&url(start), &url(other)), expected, "{start} {other}");
    }
}

#[test]
fn entry_without_kind_may_be_a_directory() {
    let (mut tree, root) = tree("ftp://u:p@h/", TreeRules::default());
    let unknown = entry(EntryKind::Other, "a", "ftp://h/a");
    let link = entry(EntryKind::Link, "b", "ftp://h/b");
    let device = Entry { modified: Some(1), ..entry(EntryKind::Other, "c", "ftp://h/c") };
    let leaves = tree.sort(&root, &[unknown, link, device]).files;
    let doubts: Vec<_> = leaves.iter().map(|leaf| leaf.uncertain_kind).collect();
    assert_eq!(doubts, [Some(UncertainKind::Unknown), Some(UncertainKind::Link), Some(UncertainKind::Link)]);
    let branch = tree.as_branch(&leaves[0]).expect("a directory");
    assert_eq!((branch.url.to_string().as_str(), branch.path.as_str()), ("ftp://u:p@h/a/", "a"));
    assert!(tree.as_branch(&leaves[1]).is_none());
}
