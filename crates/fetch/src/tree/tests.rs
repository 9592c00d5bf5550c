//! Classification of hostile and ambiguous listings.

use std::collections::HashSet;

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

/// Returns the local path of one classified entry, with a final slash for a directory, or the reason why it is skipped.
/// Excluded entries have no reason.
fn path(tree: &mut Tree, directory: &DirEntry, entry: &Entry) -> Result<String, Option<Skipped>> {
    let mut classified = tree.classify(directory, vec![entry.clone()]);
    match (classified.directories.first(), classified.files.next(), classified.skipped.first()) {
        (Some(directory), ..) => Ok(directory.path.clone() + "/"),
        (_, Some(file), _) => Ok(file.path),
        (_, _, Some((_, why))) => Err(Some(*why)),
        _ => Err(None),
    }
}

#[test]
fn names_that_leave_the_directory_are_skipped() {
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
        ("a", "no URL", Err(Some(Skipped::NoUrl))),
    ] {
        assert_eq!(path(&mut tree, &root, &file(name, url)), expected.map(str::to_owned), "{url}");
    }
}

#[test]
fn names_are_unique_in_any_order() {
    let suffixed_name = format!("a_b~{:08x}", resource_identity(&url("http://h/a:b")) >> 96);
    let entries = [
        file("a_b", "http://h/a_b"),
        file("a:b", "http://h/a:b"),
        file("a*b", "http://h/a*b"),
        file("x:", "http://h/x:"),
        file("y:", "http://h/y:"),
        file("y*", "http://h/y*"),
        file("f", "http://h/f"),
        // A hostile server lists a file with the name that another file would get.
        file(&suffixed_name, &format!("http://h/{suffixed_name}")),
        directory("f", "http://h/f/"),
    ];
    let names = |entries: &[Entry]| {
        let (mut tree, root) = tree("http://h/", TreeRules::default());
        let classified = tree.classify(&root, entries.to_vec());
        let files = classified.files.map(|file| (file.url.to_string(), file.path));
        let directories = classified
            .directories
            .iter()
            .map(|directory| (directory.url.to_string(), directory.path.clone()));
        files.chain(directories).collect::<std::collections::BTreeMap<_, _>>()
    };
    let first = names(&entries);
    let mut reversed = entries.clone();
    reversed.reverse();
    assert_eq!(names(&reversed), first);
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
fn names_that_differ_in_case_get_suffixes_where_the_directory_folds_case() {
    let entries = [
        file("README", "http://h/README"),
        file("readme", "http://h/readme"),
        file("ReadMe", "http://h/ReadMe"),
        file("\u{c4}", "http://h/%C3%84"),
        file("\u{e4}", "http://h/%C3%A4"),
        directory("Sub", "http://h/Sub/"),
        file("sub", "http://h/sub"),
        file("other", "http://h/other"),
    ];
    let names = |entries: Vec<Entry>, folds_names: bool| {
        let (tree, root) = tree("http://h/", TreeRules::default());
        let mut tree = tree.with_folding_probe(move |directory, _| Ok(folds_names && directory.is_empty()));
        let classified = tree.classify(&root, entries);
        let directories = classified.directories.into_iter().map(|directory| directory.path);
        classified.files.map(|file| file.path).chain(directories).collect::<std::collections::BTreeSet<_>>()
    };
    let plain = names(entries.to_vec(), false);
    assert!(plain.len() == entries.len() && plain.iter().all(|name| !name.contains('~')), "{plain:?}");

    let distinct = names(entries.to_vec(), true);
    let folded: HashSet<String> = distinct.iter().map(|name| name.to_lowercase()).collect();
    assert_eq!(folded.len(), entries.len(), "{distinct:?}");
    let kept: Vec<_> = distinct.iter().filter(|name| !name.contains('~')).collect();
    assert_eq!(kept, ["README", "other", "sub", "\u{c4}"], "the first file in byte order keeps its name");
    assert_eq!(names(entries.iter().rev().cloned().collect(), true), distinct, "in any order");
}

#[test]
fn patterns_select_names_without_the_suffix() {
    let entries = ["A.txt", "a.txt", "B.bin", "b.bin"].map(|name| file(name, &format!("http://h/{name}")));
    let rules = TreeRules { include: vec![Glob::new("*.txt").expect("a pattern")], ..TreeRules::default() };
    let (tree, root) = tree("http://h/", rules);
    let classified = tree.with_folding_probe(|_, _| Ok(true)).classify(&root, entries.to_vec());
    let paths: Vec<_> = classified.files.map(|file| file.path).collect();
    assert!(
        paths.len() == 2 && paths.iter().all(|path| path.to_lowercase().starts_with("a.txt")),
        "{paths:?}"
    );
}

#[test]
fn listing_has_no_files_if_it_is_unknown_whether_the_directory_folds_case() {
    let failed = || Error::new(Code::SinkFailed, Phase::Deliver, "no space");
    let (tree, root) = tree("http://h/", TreeRules::default());
    let mut tree = tree.with_folding_probe(move |_, _| Err(failed()));
    let mut classify = |names: [&str; 2]| {
        let entries = names.map(|name| file(name, &format!("http://h/{name}")));
        let classified = tree.classify(&root, entries.to_vec());
        (classified.files.len(), classified.error.map(|error| error.code()))
    };
    assert_eq!(classify(["a", "b"]), (2, None), "the directory is not asked");
    assert_eq!(classify(["c", "C"]), (0, Some(Code::SinkFailed)));
}

/// A hostile server lists a name with the suffix that another entry would get, in other case.
#[test]
fn listed_name_is_not_given_to_another_entry_where_the_directory_folds_case() {
    let suffix = format!("~{:08x}", resource_identity(&url("http://h/a")) >> 96);
    let listed = format!("A{}", suffix.to_uppercase());
    let entries =
        [file("A", "http://h/A"), file("a", "http://h/a"), file(&listed, &format!("http://h/{listed}"))];
    let (tree, root) = tree("http://h/", TreeRules::default());
    let classified = tree.with_folding_probe(|_, _| Ok(true)).classify(&root, entries.to_vec());
    let folded: HashSet<String> = classified.files.map(|file| file.path.to_lowercase()).collect();
    assert_eq!(folded.len(), entries.len(), "{folded:?}");
}

#[test]
fn directories_are_followed_down_to_max_depth() {
    let rules = TreeRules { max_depth: 2, ..TreeRules::default() };
    let (mut tree, mut parent) = tree("http://h/", rules);
    for (depth, expected) in [(1, "d"), (2, "d/d")] {
        let entry = directory("d", &format!("http://h/{}", "d/".repeat(depth)));
        parent = tree.classify(&parent, vec![entry]).directories.remove(0);
        assert_eq!(parent.path, expected);
    }
    assert_eq!(path(&mut tree, &parent, &directory("d", "http://h/d/d/d/")), Err(Some(Skipped::TooDeep)));
}

#[test]
fn login_of_the_start_is_used_for_its_server_only() {
    let (mut tree, mut root) = tree("ftp://u:p@h/", TreeRules::default());
    let entry = tree.classify(&root, vec![file("a", "ftp://u@h/a")]).files.next().expect("a file");
    assert_eq!(entry.url.to_string(), "ftp://u:p@h/a");
    for target in ["ftp://other/", "ftp://h:2121/", "nntp://h/a.b"] {
        assert!(tree.accept_final_url(&mut root, &url(target)).is_err(), "{target}");
    }
    assert!(
        tree.accept_final_url(&mut root, &url("ftp://h/else/")).is_ok(),
        "the start directory may redirect"
    );
    root.depth = 1;
    for (target, expected) in
        [("ftp://h/else", true), ("ftp://u:p@h/else/", true), ("ftp://h/", false), ("ftp://i/else/", false)]
    {
        assert_eq!(tree.accept_final_url(&mut root, &url(target)).ok(), Some(expected), "{target}");
    }
}

#[test]
fn globs_select_entries() {
    let globs = |texts: &[&str]| texts.iter().map(|text| Glob::new(text).expect("a glob")).collect();
    let rules = TreeRules {
        include: globs(&["*.txt", "/d/**/*.gz"]),
        exclude: globs(&["secret*", "/d/x"]),
        max_entries: 9,
        collects_names: true,
        ..TreeRules::default()
    };
    let (mut tree, root) = tree("http://h/", rules);
    let below = tree.classify(&root, vec![directory("d", "http://h/d/")]).directories.remove(0);
    for (parent, name, expected) in [
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
        assert_eq!(path(&mut tree, parent, &entry), expected.map(str::to_owned), "{name}");
    }
    let two =
        [file("no.gz", "http://h/no.gz"), file("c.txt", "http://h/c.txt"), file("e.txt", "http://h/e.txt")];
    let classified = tree.classify(&root, two.to_vec());
    assert_eq!(classified.names.len(), 2, "names contains excluded entries too");
    assert_eq!(classified.files.len(), 1, "entries before the limit are fetched");
    assert!(classified.error.is_some(), "one too many");
    assert!(Glob::new("a***b").is_err());
}

#[test]
fn menu_items_are_named_by_their_selectors() {
    let (mut tree, root) = tree("gopher://h/", TreeRules::default());
    let display_string = "A long line of words";
    let mut of = |entry: Entry| path(&mut tree, &root, &entry);
    assert_eq!(of(file(display_string, "gopher://h/0/docs/a.txt")), Ok("a.txt".to_owned()));
    assert_eq!(of(file(display_string, "gopher://h/0?")), Ok("_".to_owned()));
    for other in ["7/find", "8/login", "T/login", "2/names"] {
        let entry = entry(EntryKind::Other, display_string, &format!("gopher://h/{other}"));
        assert_eq!(of(entry), Err(Some(Skipped::Unfetchable)));
    }
    assert_eq!(of(directory("1  2026", "gopher://h/1/docs/sub/")), Ok("sub/".to_owned()));
    for again in ["gopher://H/9/docs/a.txt", "gopher://h/1/docs/sub", "gopher://h/1/"] {
        assert_eq!(of(file(display_string, again)), Err(Some(Skipped::Duplicate)), "{again}");
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
fn entries_of_unknown_kind_can_become_directories() {
    let (mut tree, root) = tree("ftp://u:p@h/", TreeRules::default());
    let unknown = entry(EntryKind::Other, "a", "ftp://h/a");
    let link = entry(EntryKind::Link, "b", "ftp://h/b");
    let device = Entry { modified: Some(1), ..entry(EntryKind::Other, "c", "ftp://h/c") };
    let files = tree.classify(&root, vec![unknown, link, device]).files.collect::<Vec<_>>();
    let uncertain_kinds: Vec<_> = files.iter().map(|file| file.uncertain_kind).collect();
    assert_eq!(
        uncertain_kinds,
        [Some(UncertainKind::Unknown), Some(UncertainKind::Link), Some(UncertainKind::Link)]
    );
    let directory = tree.as_directory(&files[0]).expect("a directory");
    assert_eq!((directory.url.to_string().as_str(), directory.path.as_str()), ("ftp://u:p@h/a/", "a"));
    assert!(tree.as_directory(&files[1]).is_none());
}

/// Returns the local paths of the links of the page at the start, with their URLs, sorted.
fn linked(tree: &mut Tree, page: &FileEntry, links: &[&str]) -> Vec<(String, String)> {
    for link in links {
        tree.add_link(page, link, false).expect("a link");
    }
    let files = tree.take_linked_files(|_| None);
    let mut found: Vec<_> = files.into_iter().map(|file| (file.path, file.url.to_string())).collect();
    found.sort();
    found
}

fn site(start: &str, rules: TreeRules) -> (Tree, FileEntry) {
    let (mut tree, mut root) = tree(start, rules);
    assert!(tree.accept_final_url(&mut root, &url(start)).expect("a directory"));
    let page = tree.ordinary_page(&root).expect("a page");
    (tree, page)
}

#[test]
fn linked_files_have_the_paths_of_their_urls() {
    let (mut tree, page) = site("http://u:p@h/d/", TreeRules::default());
    assert_eq!((page.path.as_str(), page.is_page_link()), ("index.html", true));
    for (link, expected) in [
        ("http://h/d/", None),
        ("http://h/d/index.html", None),
        ("http://h/d/a", Some("a")),
        ("http://h/d/%61", None),
        ("http://h/d/s/", Some("s/index.html")),
        ("http://h/d/s/t?x=1/2", Some("s/t_x=1_2")),
        ("http://h/d/index.html?x", Some("index.html_x")),
        ("http://h/d/.rc/y", Some("_rc/y")),
        ("http://h/d/%2e%2e/y", None),
        ("http://h/d/s%2Ft", None),
        ("http://h/dd/y", None),
        ("http://h/", None),
        ("http://h:81/d/y", None),
        ("https://h/d/y", None),
        ("gopher://h/0/d/y", None),
    ] {
        let found = linked(&mut tree, &page, &[link]);
        assert_eq!(found.first().map(|(path, _)| path.as_str()), expected, "{link}");
        assert!(found.iter().all(|(_, url)| url.starts_with("http://u:p@h/d/")), "{found:?}");
    }
    let skipped = tree.skipped_links();
    assert_eq!((skipped.other_servers, skipped.outside_start, skipped.nameless), (3, 2, 2));
}

#[test]
fn paths_of_linked_files_are_unique_and_do_not_depend_on_their_order() {
    let mut links =
        ["http://h/a", "http://h/a/b", "http://h/a/", "http://h/c:d", "http://h/c_d", "http://h/c*d/e"];
    let found = |links: &[&str]| {
        let (mut tree, page) = site("http://h/", TreeRules::default());
        linked(&mut tree, &page, links)
    };
    let first = found(&links);
    links.reverse();
    assert_eq!(found(&links), first);
    let paths: HashSet<&String> = first.iter().map(|(path, _)| path).collect();
    assert_eq!(paths.len(), links.len(), "{first:?}");
    assert!(paths.contains(&"a/b".to_owned()) && paths.contains(&"a/index.html".to_owned()), "{first:?}");
}

#[test]
fn linked_files_that_differ_only_in_case_get_distinct_names_where_case_is_folded() {
    let links = [
        "http://h/README.html",
        "http://h/readme.html",
        "http://h/Sub/x",
        "http://h/sub/x",
        "http://h/sub/y",
        "http://h/SUB",
        "http://h/\u{c4}",
        "http://h/\u{e4}",
    ];
    let paths = |folds_names: bool| {
        let (tree, page) = site("http://h/", TreeRules::default());
        let mut tree = tree.with_folding_probe(move |_, _| Ok(folds_names));
        linked(&mut tree, &page, &links).into_iter().map(|(path, _)| path).collect::<Vec<_>>()
    };
    assert!(paths(false).iter().all(|path| !path.contains('~')), "{:?}", paths(false));
    let folded = paths(true);
    let distinct: HashSet<String> = folded.iter().map(|path| path.to_lowercase()).collect();
    assert_eq!(distinct.len(), links.len(), "{folded:?}");
    let directory = |path: &&String| path.starts_with("sub") && path.contains('/');
    assert!(folded.iter().filter(directory).count() >= 2, "{folded:?}");
}

#[test]
fn link_that_is_too_deep_is_followed_from_a_page_nearer_to_the_start() {
    let (mut tree, page) = site("http://h/", TreeRules { max_depth: 1, ..TreeRules::default() });
    tree.add_link(&page, "http://h/a", false).expect("a link");
    let deeper = tree.take_linked_files(|_| None).remove(0);
    assert_eq!(linked(&mut tree, &deeper, &["http://h/b", "http://h/b"]), []);
    assert_eq!(tree.skipped_links().too_deep, 1);
    tree.add_link(&deeper, "http://h/image", true).expect("a link");
    assert_eq!(tree.take_linked_files(|_| None).len(), 1, "requisites belong to their page");
    assert_eq!(linked(&mut tree, &page, &["http://h/b"]).len(), 1);
}
