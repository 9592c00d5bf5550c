//! Index pages of real servers, and hostile ones.

use super::*;
use crate::EntryKind;

const LISTED_TIME: i64 = 786_285_240;

fn entries(page: &str, url: &str) -> Vec<Entry> {
    IndexPage::new(Bytes::copy_from_slice(page.as_bytes()), url).collect()
}

/// Returns name, whether it is a directory, size and time of each entry.
fn rows(page: &str, url: &str) -> Vec<(String, bool, Option<u64>, Option<i64>)> {
    let row = |entry: Entry| {
        let name = String::from_utf8_lossy(&entry.name).into_owned();
        (name, entry.kind == EntryKind::Directory, entry.size, entry.modified)
    };
    entries(page, url).into_iter().map(row).collect()
}

fn file(name: &str, size: Option<u64>, modified: Option<i64>) -> (String, bool, Option<u64>, Option<i64>) {
    (name.to_owned(), false, size, modified)
}

fn directory(name: &str, modified: Option<i64>) -> (String, bool, Option<u64>, Option<i64>) {
    (name.to_owned(), true, None, modified)
}

#[test]
fn nginx_page_is_parsed() {
    let page = "<html>\n<head><title>Index of /</title></head>\n<body>\n<h1>Index of /</h1><hr><pre>\
        <a href=\"../\">../</a>\n<a href=\"etc/\">etc/</a>   01-Dec-1994 12:34     -\n\
        <a href=\"a%20long%20name.txt\">a long n..&gt;</a>  01-Dec-1994 12:34         4096\n</pre><hr></body>\n</html>";
    assert_eq!(
        rows(page, "http://h/"),
        [directory("etc", Some(LISTED_TIME)), file("a long name.txt", Some(4096), Some(LISTED_TIME))]
    );
}

#[test]
fn apache_page_is_parsed() {
    let page = "<table>\n<tr><th><a href=\"?C=N;O=D\">Name</a></th></tr>\n\
        <tr><td><img src=\"/icons/back.gif\"></td><td><a href=\"/\">Parent Directory</a></td><td>&nbsp;</td></tr>\n\
        <tr><td><a href=\"README\"><img src=\"/icons/x.gif\"></a></td><td><a href=\"README\">README</a></td>\
        <td align=\"right\">1994-12-01 12:34  </td><td align=\"right\"> 16 </td><td>&nbsp;</td></tr>\n\
        <tr><td></td><td><a href=\"big\">big</a></td><td>1994-12-01 12:34  </td><td>1.2M</td></tr>\n\
        <tr><td></td><td><a href=\"a/\">a/</a></td><td align=\"right\">1994-12-01 12:34  </td><td>  - </td></tr>\n\
        </table>\n<address>Apache/2.4.71 (Debian) Server at 127.0.0.1 Port 17081</address>";
    let expected = [
        file("README", Some(16), Some(LISTED_TIME)),
        file("big", None, Some(LISTED_TIME)),
        directory("a", Some(LISTED_TIME)),
    ];
    assert_eq!(rows(page, "http://h/pub/"), expected);
}

#[test]
fn caddy_page_is_parsed() {
    let page = "<tr class=\"file\"><td></td><td><a href=\"./a/\"><svg/><span class=\"name\">a/</span></a></td>\
        <td data-order=\"-1\">&mdash;</td><td><time datetime=\" 1994-12-01T12:34:00Z\">12/01/1994</time></td></tr>\
        <tr class=\"file\"><td></td><td><a href=\"./big.bin\"><span class=\"name\">big.bin</span></a></td>\
        <td data-order=\"67108864\">64 MiB</td><td><time datetime=\" 1994-12-01T12:34:00Z\">12/01/1994</time></td></tr>";
    assert_eq!(
        rows(page, "https://h/pub/"),
        [directory("a", Some(LISTED_TIME)), file("big.bin", Some(67_108_864), Some(LISTED_TIME))]
    );
}

#[test]
fn time_and_size_before_a_link_belong_to_it() {
    let midnight = Some(LISTED_TIME - 45_240);
    let webfsd = "<h1>listing: \n<a href=\"/\">/</a></h1><hr noshade size=1><pre>\n\
        <b>access      user      group     date             size  name</b>\n\n\
        drwxr-xr-x  root      root      Dec 01  1994  &lt;DIR&gt;  <a href=\"a/\">a/</a>\n\
        -rw-r--r--  root      root      Dec 01  1994  2440  B  <a href=\"f%202.txt\">f 2.txt</a>\n\
        -rw-r--r--  root      root      Dec 01  1994    12 kB  <a href=\"x\">x</a>\n</pre>";
    let expected =
        [directory("a", midnight), file("f 2.txt", Some(2440), midnight), file("x", None, midnight)];
    assert_eq!(rows(webfsd, "http://h/"), expected);

    let thttpd = "<H2>Index of /d/</H2>\n<PRE>\nmode  links  bytes  last-changed  name\n<HR>\
        -r--   1         100  Dec  1  1994  <A HREF=\"/d/a.txt\">a.txt</A>\n\
        -r--   1        5000  Dec  1  12:34  <A HREF=\"/d/b.bin\">b.bin</A>\n</PRE>";
    let expected = [file("a.txt", Some(100), midnight), file("b.bin", Some(5000), None)];
    assert_eq!(rows(thttpd, "http://h/d/"), expected);

    let iis = "<pre><A HREF=\"/\">[To Parent Directory]</A><br><br> 12/1/1994 12:34 PM          100 \
        <A HREF=\"/d/a.txt\">a.txt</A><br> 12/1/1994 12:34 PM         5000 <A HREF=\"/d/b.bin\">b.bin</A><br> \
        12/1/1994 12:34 PM        &lt;dir&gt; <A HREF=\"/d/sub/\">sub</A><br></pre>";
    let expected = [file("a.txt", Some(100), None), file("b.bin", Some(5000), None), directory("sub", None)];
    assert_eq!(rows(iis, "http://h/d/"), expected);
}

#[test]
fn text_after_the_end_of_a_line_does_not_belong_to_its_link() {
    for page in [
        "<pre><a href=a>a</a>\n5 files</pre>",
        "<pre><a href=a>a</a><br>5 files</pre>",
        "<a href=a>a</a><br>5 files",
        "<pre>5 files\n<a href=a>a</a></pre>",
        "<pre>5 files<br><a href=a>a</a></pre>",
        "<pre><a href='../'>5</a> 5 <a href=a>a</a></pre>",
        "<h1>5 files</h1><a href=a>a</a>",
    ] {
        assert_eq!(rows(page, "http://h/"), [file("a", None, None)], "{page}");
    }
    let page = "<tr><td><a href=a>a</a><br>text</td><td>5</td></tr>";
    assert_eq!(rows(&format!("<table>{page}</table>"), "http://h/"), [file("a", Some(5), None)]);
    let page = "<pre>  1 <a href=a>a</a> 01-Dec-1994 12:34  16\n</pre>";
    assert_eq!(rows(page, "http://h/"), [file("a", Some(16), Some(LISTED_TIME))]);
}

/// The page of an FTP directory by the HTTP proxy squid.
#[test]
fn typecode_of_ftp_url_is_no_part_of_the_name() {
    let row = |name: &str, typecode: &str| {
        format!(
            "<tr class=\"entry\"><td class=\"icon\"><a href=\"{name}\"><img src=\"/x.png\" alt=\"[FILE]\"></a></td>\
             <td class=\"filename\"><a href=\"{name}\">{name}</a></td><td class=\"date\">Dec 01  1994</td>\
             <td class=\"size\">      1k</td><td><a href=\"{name};{typecode}\"><img alt=\"[DOWNLOAD]\"></a></td></tr>"
        )
    };
    let page = format!("<table>{}{}</table>", row("a.txt", "type=a"), row("b%20c", "TYPE=i"));
    let midnight = Some(LISTED_TIME - 45_240);
    let expected = [file("a.txt", None, midnight), file("b c", None, midnight)];
    assert_eq!(rows(&page, "ftp://h/d/"), expected);
    let url = entries("<a href=\"a;type=i\">a</a>", "ftp://h/d/")[0].url.clone();
    assert_eq!(url.as_deref(), Some("ftp://h/d/a"));
    let names = |url| {
        entries("<a href=\"a;type=i\">a</a><a href=\"a;v=1\">a</a>", url).into_iter().map(|entry| entry.name)
    };
    assert!(names("http://h/d/").eq([b"a;type=i".to_vec(), b"a;v=1".to_vec()]));
}

#[test]
fn plain_list_without_facts_is_parsed() {
    let page = "<ul>\n<li><a href=\"a.txt\">a.txt</a></li>\n<li><a href=\"d/\">d/</a></li>\n</ul>";
    assert_eq!(rows(page, "http://h/x/"), [file("a.txt", None, None), directory("d", None)]);
}

#[test]
fn only_links_directly_below_the_page_are_entries() {
    for reference in [
        "../",
        "..",
        "/",
        "./",
        "",
        "#top",
        "?C=N",
        "a?b",
        "a/b",
        "/x/",
        "/xy/a",
        "//evil/x/a",
        "http://evil/x/a",
        "http://h:81/x/a",
        "https://h/x/a",
        "ftp://h/x/a",
        "mailto:a@b",
        "javascript:alert(1)",
        "http://h@evil/x/a",
        "a\\..//",
    ] {
        let page = format!("<a href=\"{reference}\">x</a>");
        assert_eq!(rows(&page, "http://h/x/"), [], "{reference}");
    }
    for reference in ["a", "./a", "/x/a", "//h/x/a", "http://h/x/a", "../x/a", " a ", "a#part"] {
        let page = format!("<a href=\"{reference}\">x</a>");
        assert_eq!(rows(&page, "http://h/x/")[0].0, "a", "{reference}");
    }
}

#[test]
fn entry_urls_are_resolved_against_the_page_without_login() {
    let url = |page: &str, url: &str| entries(page, url)[0].url.clone().expect("a URL");
    let page = "<a href=\"a\">x</a>";
    assert_eq!(url(page, "http://u:p@h/x/index.html?q=1"), "http://h/x/a");
    assert_eq!(url(page, "http://h"), "http://h/a");
    assert_eq!(url("<base href=\"/y/\"><a href=\"a\">x</a>", "http://h/y/z"), "http://h/y/a");
    assert_eq!(entries("<base href=\"http://evil/\"><a href=\"a\">x</a>", "http://h/y/z"), []);
}

#[test]
fn plain_name_is_the_entry_that_the_parser_of_urls_finds() {
    let directory = canonical_url("http://h:8080/a%20b/").expect("a URL");
    for href in ["x", "x/", "a-b_c.d~1", "...", ".x", "..x/", "x.tar.gz"] {
        let parsed = child_entry(&directory, &resolve_reference(&directory, href));
        assert!(parsed.is_some() && plain_child(&directory, href) == parsed, "{href}: {parsed:?}");
    }
    for href in ["x:y", "a%62", "a b", "a?b", "a#b", "\u{e4}", ".", "..", "./", "../", "", "/", "//", "a//"] {
        assert_eq!(plain_child(&directory, href), None, "{href}");
    }
    assert_eq!(plain_child("", "x"), None);
}

#[test]
fn page_without_links_or_title_is_not_an_index() {
    for (page, expected) in [
        ("<h1>down for maintenance</h1>", false),
        ("<a name=x>", false),
        ("<h1>Directory listing for /</h1>", true),
        ("<pre><a href=\"../\">../</a>", true),
    ] {
        let mut page = IndexPage::new(Bytes::from_static(page.as_bytes()), "http://h/");
        assert!(page.next().is_none());
        assert_eq!(page.looks_like_index(), expected);
    }
}

#[test]
fn differently_encoded_paths_match() {
    assert_eq!(rows("<a href=\"/%7Eu/a\">x</a>", "http://h/~u/")[0].0, "a");
    assert_eq!(rows("<a href=\"a b\">x</a>", "http://h/")[0].0, "a b");
    assert_eq!(rows("<a href=\"/x%2Fy/a\">x</a>", "http://h/x/y/"), []);
}

#[test]
fn links_in_scripts_styles_and_comments_are_ignored() {
    let page = "<script>w('<a href=\"s\">')</script><style>/*<a href=\"t\">*/</style><!--<a href=\"c\">--><a href=\"a\">a</a>";
    assert_eq!(rows(page, "http://h/"), [file("a", None, None)]);
}

#[test]
fn names_are_percent_decoded_bytes() {
    assert_eq!(entries("<a href=\"%ff%2Fx\">x</a>", "http://h/")[0].name, b"\xff/x");
    assert_eq!(entries("<a href=\"%2e%2e/\">x</a>", "http://h/")[0].name, b"..");
    assert_eq!(entries("<a href=\"a&amp;b\">x</a>", "http://h/")[0].name, b"a&b");
}

#[test]
fn truncated_page_yields_only_entries_of_the_whole_page() {
    let page = "<pre><a href=\"../\">../</a>\n<a href=\"b\">b</a> 01-Dec-1994 12:34 4096\n<a href=\"c/\">c</a> -</pre>";
    let whole = rows(page, "http://h/");
    for end in 0..page.len() {
        for row in rows(&page[..end], "http://h/") {
            assert!(whole.iter().any(|known| known.0 == row.0 && known.1 == row.1), "{end}: {row:?}");
        }
    }
}

#[test]
fn only_a_sufficient_sign_makes_a_listing_certain_before_the_page_ends() {
    for (page, is_certain) in
        [("<title>Index of /d/</title><a href=a>a</a>", true), ("<a href=a>a</a>", false)]
    {
        let mut page = IndexPage::new(page.into(), "http://h/d/");
        while !page.is_certain_listing() && page.process_token().is_some() {}
        assert_eq!((page.is_certain_listing(), page.count()), (is_certain, usize::from(is_certain)));
    }
}

#[test]
fn generated_pages_are_distinguished_from_pages_with_links() {
    let is_generated = |page: &str| {
        let mut page = IndexPage::new(Bytes::copy_from_slice(page.as_bytes()), "http://h/d/");
        page.by_ref().for_each(drop);
        page.is_directory_listing()
    };
    for page in [
        "<title>Index of /d/</title>",
        "<h1>Index of\n /d/</h1>",
        "<h2>Directory listing for /d/</h2>",
        "<title>Directory: /d/</title><h1>Directory: /d/</h1><a href=a>A</a>",
        "<title>mirror - Index of /d/</title><a href=a>A</a>",
        "<title>d</title><a href='?C=N;O=D'>Name</a>",
        "<title>d</title><a href='?C=N&amp;O=D'>Name</a>",
        "<title>d</title><a href='?sort=namedirfirst&amp;order=desc'>Name</a>",
        "<title>h - /d/</title><a href='/'>[To Parent Directory]</a>",
        // webfsd.
        "<title>h:80/d/</title><h1>listing: \n<a href='/'>/</a><a href='/d/'>d/</a></h1><pre><a href=a>A</a>",
        "<title>x</title><h1>Index of d<a href=a>A</a>",
        "<title>d</title><a href='/x/'>Parent Directory</a>",
        "<title>d</title><pre><a href='../'>../</a>",
        // `FileServer` of Go.
        "<!doctype html>\n<meta name=viewport><pre>\n<a href='a%20b'>a b</a>\n<a href='sub/'>sub/</a>\n</pre>",
    ] {
        assert!(is_generated(page), "{page}");
    }
    for page in [
        "<h1>down for maintenance</h1>",
        "<title>Welcome</title><a href='a.txt'>a.txt</a>",
        "<title>Shop</title><a href='?sort=price'>cheap first</a><a href='a'>a</a>",
        "<a href='a'>a</a><a href='about.html'>About us</a>",
        "<title>An index of birds</title><a href='a'>A</a>",
        "<title>x</title><a href='..'>up</a><a href='/'>home</a>",
        "",
    ] {
        assert!(!is_generated(page), "{page}");
    }
}

#[test]
fn page_that_may_lack_entries_says_what_is_missing() {
    let whole = [
        "<title>Index of /d/</title><a href=a>a</a>",
        "<table><tr><td><a href=a>a</a></td></tr></table>",
        "<html><ul><li><a href=a>a</a></ul></html></html>",
        "<pre><a href=\"?C=N;O=D\">Name</a> <a href=\"?view=grid\">Grid</a> <a href=\"x?page=2\">x</a></pre>",
        // Links of the site, and a description below the entries.
        "<a href=\"https://blog.test/?p=12\">Blog</a> <a href=\"/shop/?page=2\">Shop</a><pre><a href=a>a</a></pre>",
        "<table><tr><td><a href=a>a</a></td></tr></table><ul><li>about",
        "<html><body><table><tr><td><a href=a>a</a></td></tr></table><address>Apache</body>",
        "<div><div><a href=a>a</a></div></div>",
        // Elements that the end of the page ends.
        "<html><body><div><main><p><a href=a>a</a></p></body></html>",
        "<html><a href=a>a</a><br><div></body></html>",
        "<div><table><tr><td><div><a href=a>a</a></td></div></tr></table></div>",
        "<body><div><table><tr><td></div><a href=a>a</a></td></tr></table></body>",
    ];
    let (tag, element, pages) = (
        Some("the end of the last tag of the page"),
        Some("the end of the element with the entries"),
        Some("the other pages of the listing"),
    );
    let partial = [
        ("<table><tr><td><a href=a>a</a></td></tr>", element),
        ("<html><table><tr><td><a href=a>a</a></td></tr></html>", element),
        ("<pre><a href=a>a</a>\n", element),
        ("<a href=a>a</a><a href=\"?page=2\">2</a>", pages),
        ("<a href=a>a</a><a href=\"/d/?view=list&amp;Marker=a\">Next</a>", pages),
        ("<a href=a>a</a><a href=\"./?start=100\">Next</a>", pages),
        ("<a href=a>a</a><a href=\"http://h/d/?p=2#top\">Next</a>", pages),
        ("<a href=a>a</a><a href=\"/d/?pg=2\">2</a>", pages),
        ("<a href=a>a</a><a href=\"?from=b\">Next</a>", pages),
        ("<link rel=\"prefetch Next\" href=\"?n=2\"><a href=a>a</a>", pages),
        ("<a href=a>a</a><a rel=next href=\"more.html\">Next</a>", pages),
        ("<html><ul><li><a href=a>a</a></li></body></html>", element),
        ("<div id=listing><div><a href=a>a</a></div><div><a href=b>b</a></div>", element),
        ("<html><body><div><a href=a>a</a></div><div><a href=b>b</a></div>", element),
        ("<html><main><section><span><a href=a>a</a></span>", element),
        ("<h1>Index of /d</h1><dl><dt><a href=a>a</a></dt>", element),
        ("<ol><li><a href=a>a</a>", element),
        // Lists with an end, after which another one could have followed.
        ("<html><table><tr><td><a href=a>a</a></td></tr></table>", element),
        ("<html><body><table><tr><td><a href=a>a</a></td></tr></table><address>Apache", element),
        ("<body><h2>A</h2><ul><li><a href=a>a</a></ul><h2>B</h2>", element),
        ("<ul><li><ul><li><a href=a>a</a></li></ul></li>", element),
        ("<div><table><tr><td><a href=a>a</a></td></tr></table><b>Fatal error</b>", element),
        ("<div><table><tr><td></div><a href=a>a</a></td></tr></table>", element),
        ("<html><p><a href=a>a</a></p>", element),
        ("<body><a href=a>a</a><br>Fatal error: Allowed memory size exhausted", element),
        ("<a href=a>a", tag),
        ("<a href=a>a</a><!-- ", tag),
    ];
    for (page, expected) in whole.map(|page| (page, None)).into_iter().chain(partial) {
        let mut index = IndexPage::new(page.as_bytes().to_vec().into(), "http://h/d/");
        while index.process_token().is_some() {}
        assert_eq!(index.missing_part(), expected, "{page}");
    }
}

/// Other columns than that of the size may have the attribute, such as the date.
#[test]
fn first_sort_value_of_a_row_is_its_size() {
    let page = "<table><tr><td><a href=a>a</a></td><td data-order=\"12\">12 B</td><td data-order=\"786285240\">1994</td></tr></table>";
    assert_eq!(rows(page, "http://h/d/"), [file("a", Some(12), None)]);
}

fn names_of_other_links(page: &str) -> Option<Vec<String>> {
    let mut index = IndexPage::new(page.as_bytes().to_vec().into(), "http://h/d/");
    while index.process_token().is_some() {}
    let names = index.take_names_of_other_links()?;
    Some(names.into_iter().map(|name| String::from_utf8(name).expect("text")).collect())
}

#[test]
fn links_that_are_no_entries_may_stand_for_their_texts_and_last_parts() {
    for (page, expected) in [
        (
            "<a href=a>x</a><a href='../'>up</a><a href='/'>top</a><a href='#'>y</a><a href='?C=N;O=D'>N</a>",
            &["y"][..],
        ),
        (
            "<a href='' onclick='load()'>w</a><a href='.'>x</a><a href='/d/'>y</a><a href='#n'>z</a>",
            &["w", "x", "y", "z"],
        ),
        ("<a href='https://h/d/a%20b/'>x/</a>", &["a b", "x"]),
        ("<a href='/get?f=p/a&amp;n=1'>x</a>", &["get", "a", "1", "x"]),
        ("<a href='?f=a'><b>x</b>", &["a"]),
        ("<a onclick='load()'>x</a>", &["x"]),
        ("<base href='http://other/'><a href=a>x</a>", &["a", "x"]),
        (
            "<link rel=item href='a'><area href='/d/b?x'><form action='get/c'><iframe src='d/'></iframe></form>",
            &["a", "b", "c", "d"],
        ),
    ] {
        assert_eq!(names_of_other_links(page).expect("names"), expected, "{page}");
    }
}

#[test]
fn names_of_more_than_a_mebibyte_of_other_links_are_not_kept() {
    assert!(names_of_other_links(&"<a href='/x/a'>a</a>".repeat(1000)).is_some());
    assert!(names_of_other_links(&"<a href='/x/a'>a</a>".repeat(30_000)).is_none());
}

/// Returns `true` if the page has text that belongs to no entry, so that entries may be missing.
fn has_stray_text(page: &str) -> bool {
    let mut index = IndexPage::new(page.as_bytes().to_vec().into(), "http://h/d/");
    while index.process_token().is_some() {}
    index.missing_part() == Some("a listing without other text")
}

#[test]
fn page_with_text_that_belongs_to_no_entry_may_lack_entries() {
    for page in [
        "<pre><a href=a>a</a> 01-Dec-1994 12:34  5\n\nPHP Fatal error: Allowed memory size exhausted\n</pre>",
        "<pre><a href=a>a</a>\n... (5 more entries not shown)\n</pre>",
        "<pre><a href=a>a</a><br><br />\n<b>Fatal error</b>: out of memory<br><a href=b>b</a></pre>",
        "<table><tr><td><a href=a>a</a></td></tr><tr><td><b>Warning</b>: opendir failed</td></tr></table>",
        "<table><tr><td><a href=a>a</a></td></tr>\nWarning: opendir failed<tr><td><a href=b>b</a></td></tr></table>",
        "<ul><li><a href=a>a</a></li><li>The list was limited to 1 of 100.</li></ul>",
        "<ul><li><a href=a>a</a></li>Error</ul>",
        "<dl><dt><a href=a>a</a><dd>text<dt>Error</dl>",
        // The link of the message is an entry.
        "<table><tr><td><a href=a>a</a></td></tr></table><b>Warning</b>:  opendir(x) [<a href='function.opendir'>f</a>] in \
         <b>/x.php</b> on line <b>3</b>",
        "<p>Warning: readdir() failed in /srv/x.php on line 3</p><pre><a href=a>a</a></pre>",
        "<pre><a href=a>a</a></pre>Traceback (most recent call last): File 'x'",
        "<pre><a href=a>a</a></pre><h1>Software error:</h1>readdir failed",
        "<pre><a href=a>a</a></pre>[an error occurred while processing this directive]",
        // Two pages.
        "<html><pre><a href=a>a</a></pre></html>\n<html><pre><a href=b>b</a></pre></html>",
        "<html><pre><a href=a>a</a></pre></html>\n<b>Fatal error</b>: x",
        // A page for maintenance under the title of a listing.
        "<title>Index of /</title><h1>Index of /</h1>Temporarily unavailable <a href=help.html>help</a>",
    ] {
        assert!(has_stray_text(page), "{page}");
    }
}

#[test]
fn texts_of_generated_pages_belong_to_their_entries() {
    for page in [
        "<html><h1>Index of /</h1><hr><pre><a href=\"../\">../</a>\n<a href=a>a</a>   01-Dec-1994 12:34   5\n</pre><hr></body>\n</html>\n",
        // Fancy and plain lists of Apache, with descriptions and a README that is a page of its own.
        "<pre><img src=x alt=\"Icon \"> <a href=\"?C=N;O=D\">Name</a>  Description<hr><img alt=\"[   ]\"> <a href=a>a</a>  \
         1994-12-01 12:34  5  a file that is described\n<img> <a href=b>b</a>\n<hr></pre>\n<html><p>Read me.</html>\
         <address>Apache/2.4.71 Server at h Port 80</address>\n</body></html>",
        "<ul><li><a href=\"/\"> Parent Directory</a></li>\n<li><a href=\"a\"> a</a></li>\n</ul>\n</body></html>",
        "<table><tr><th>Name</th></tr><tr><td><a href=a>a</a></td><td>&nbsp;</td><td>text</td></tr>\n<tr><th colspan=5><hr></th></tr></table>",
        // lighttpd, with its signature and script.
        "<html><div><table><tbody><tr><td><a href=\"../\">..</a>/</td><td>&nbsp;</td><td>- &nbsp;</td><td>Directory</td></tr>\
         <tr><td><a href=a>a</a></td><td>1994-Dec-01 12:34:00</td><td>0.1K</td><td>text/plain</td></tr></tbody></table></div>\
         <div>lighttpd/1.4</div><script>var a = 1;</script></body></html>\n<script>later()</script>",
        // IIS.
        "<pre><A HREF=\"/\">[To Parent Directory]</A><br><br> 12/1/1994 12:34 PM  &lt;dir&gt; <A HREF=\"/d/b/\">b</A><br> \
         12/1/1994 12:34 PM   5 <A HREF=\"/d/a\">a</A><br></pre><hr></body></html>",
        // Tables and lists around the listing, in it, and with sums.
        "<table><tr><td>Menu</td></tr><tr><td><pre><a href=a>a</a>\n</pre></td></tr><tr><td>Contact us.</td></tr></table>",
        "<table><tr><td><a href=a>a</a><table><tr><td>x</td></tr><tr><td>y</td></tr></table></td></tr></table>",
        "<table><tr><td><a href=a>a</a></td></tr><tr><td>Total:</td><td>1 file, 0 directories, 12 KB</td></tr></table>",
        "<table><tr><td><a href=a>a</a></td></tr><tfoot><tr><td>generated by x</td></tr></tfoot></table>",
        "<dl><dt><a href=a>a</a></dt><dd>text</dd><dt><a href=b>b</a><dd>text</dl><p>More text.",
        "<h1>Index of /</h1><a href=a>a</a> 5<br><a href=help.html>help</a><p>Some text",
        "<a href=\"a%20long%20name.txt\">a long n..&gt;</a>",
    ] {
        assert!(!has_stray_text(page), "{page}");
    }
}
