//! Links of pages and style sheets, also of hostile and truncated ones.

use bytes::Bytes;

use super::*;

const PAGE_URL: &str = "http://h/d/page.html";

/// Returns the links of a page: requisites begin with `+`; `http://h/d/` is left out.
fn html(page: &str) -> Vec<String> {
    texts(HtmlLinks::new(Bytes::copy_from_slice(page.as_bytes()), PAGE_URL))
}

fn css(text: &str) -> Vec<String> {
    let links = CssLinks::new(Bytes::copy_from_slice(text.as_bytes()), "http://h/d/s.css");
    links.map(|link| link.url.trim_start_matches("http://h/d/").to_owned()).collect()
}

fn texts(links: impl Iterator<Item = PageLink>) -> Vec<String> {
    let text = |link: PageLink| {
        let sign = if link.is_requisite { "+" } else { "" };
        format!("{sign}{}", link.url.trim_start_matches("http://h/d/"))
    };
    links.map(text).collect()
}

const SITE_PAGE: &str = "<!DOCTYPE html><html><head><title>x</title><link rel=\"stylesheet\" href=\"s.css\">\
    <link rel='shortcut icon' href=i.ico><link rel=next href=n.html><link rel=preconnect href=//o>\
    <style>@import 'm.css'; b { background: url(b.png) }</style><script src=x.js>'<a href=\"no\">'</script>\
    <meta http-equiv=Refresh content=\"5; URL='r.html'\"></head><body background=bg.gif style=\"background:url('st.png')\">\
    <!-- <a href=no> --><a href=\"a.html#part\">a</a><A HREF=' b.html '>b</A><area href=c.html>\
    <img src=p.png srcset=\"p1.png, p2.png 2x,p3.png 3x\"><picture><source srcset=q.webp></picture>\
    <video poster=v.png src=v.mp4></video><iframe src=f.html></iframe><a name=no><a href=\"two words\">w</a></body>";

const SITE_LINKS: [&str; 21] = [
    "+s.css",
    "+i.ico",
    "n.html",
    "+m.css",
    "+b.png",
    "+x.js",
    "r.html",
    "+bg.gif",
    "+st.png",
    "a.html",
    "b.html",
    "c.html",
    "+p.png",
    "+p1.png",
    "+p2.png",
    "+p3.png",
    "+q.webp",
    "+v.mp4",
    "+v.png",
    "+f.html",
    "two%20words",
];

#[test]
fn links_and_requisites_of_a_page_are_found() {
    assert_eq!(html(SITE_PAGE), SITE_LINKS);
}

#[test]
fn references_are_resolved_against_the_first_base() {
    let page = "<a href=a><base href='/e/'><base href='/f/'><a href=b><a href=''><a href='#x'><img src=''>\
        <style>i { background: url(c) }</style>";
    assert_eq!(html(page), ["a", "http://h/e/b", "http://h/e/", "http://h/e/", "+http://h/e/c"]);
    assert_eq!(html("<base href=javascript:x><a href=b>"), ["b"]);
    assert_eq!(html("<a href=''>"), ["page.html"], "an empty reference is the page itself");
    assert_eq!(html("<a href='?C=N;O=D'><a href='?sort=size&order=asc'><a href='?x=1'>"), ["page.html?x=1"]);
}

#[test]
fn references_that_are_not_urls_are_ignored() {
    for reference in ["javascript:alert(1)", "data:text/html,x", "blob:x", "http://", "about:blank"] {
        assert_eq!(html(&format!("<a href=\"{reference}\">")), [""; 0], "{reference}");
    }
    let long = "x".repeat(MAX_REFERENCE_BYTES + 1);
    assert_eq!(html(&format!("<a href='{long}'><img srcset='{long} 2x'><a href=b>")), ["b"]);
    assert_eq!(html("<a href='http://u:p@h/d/x'><a href='a\n\tb'>"), ["x", "ab"]);
}

#[test]
fn style_sheet_links_are_found() {
    for (text, expected) in [
        ("@import \"a.css\" screen; @import url(b.css);", &["a.css", "b.css"][..]),
        ("@IMPORT/**/'a.css';", &["a.css"]),
        ("a { src: url( \"x y.woff\" ) format('woff'), URL('z') }", &["x%20y.woff", "z"]),
        ("/* url(no) */ a { content: 'url(no)' } b { background: url(yes) }", &["yes"]),
        (r"a { background: url(a\)b) } b { background: url('\78 y') }", &["a)b", "xy"]),
        ("a { background: url() } b { background: url('') }", &[]),
        ("curl(no) url (no) image-url(no)", &[]),
        ("a { background: url(data:image/png;base64,xx) }", &[]),
        ("@import", &[]),
        ("url(", &[]),
        ("url(open", &["open"]),
        ("url('open\nb{background:url(c)}", &["open", "c"]),
    ] {
        assert_eq!(css(text), expected, "{text}");
    }
}

#[test]
fn truncated_page_yields_a_prefix_of_its_links_and_one_cut_link_at_most() {
    for end in (0..SITE_PAGE.len()).filter(|end| SITE_PAGE.is_char_boundary(*end)) {
        let found = html(&SITE_PAGE[..end]);
        let unknown = found.iter().filter(|link| !SITE_LINKS.contains(&link.as_str())).count();
        assert!(unknown <= 1, "{end}: {found:?}");
    }
}

#[test]
fn kind_is_known_by_media_type_or_name_or_beginning() {
    assert_eq!(PageKind::from_media_type("Text/HTML; charset=utf-8"), Some(PageKind::Html));
    assert_eq!(PageKind::from_media_type("text/css"), Some(PageKind::Css));
    assert_eq!(PageKind::from_media_type("text/plain"), None);
    for (name, start, expected) in [
        ("a.HTML", "", Some(PageKind::Html)),
        ("a.css", "<html>", Some(PageKind::Css)),
        ("a", "\u{feff}\n<!DOCTYPE HTML>", Some(PageKind::Html)),
        ("a.php", "<html lang=en>", Some(PageKind::Html)),
        ("a.txt", "text", None),
        ("", "", None),
    ] {
        assert_eq!(PageKind::from_name_and_start(name, start.as_bytes()), expected, "{name} {start}");
    }
}

/// Parts of pages and style sheets, from which hostile texts are made.
const PARTS: [&str; 26] = [
    "<a href=",
    "<img srcset='",
    "<style>",
    "</style>",
    "<base href=",
    "url(",
    "@import",
    "'",
    "\"",
    "\\",
    "/*",
    "*/",
    ")",
    ",",
    " ",
    "x",
    ">",
    "\u{e9}",
    "\n",
    "\\26 ",
    "//",
    "..",
    "<meta http-equiv=refresh content=;url=",
    "\\110000",
    "<",
    "&#0;",
];

#[test]
fn any_text_cut_at_any_byte_ends_without_panic_and_yields_absolute_urls() {
    // A linear congruential generator, so that a failure is repeatable.
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    for _ in 0..2000 {
        let count = next(40);
        let text: String = (0..count).map(|_| PARTS[next(PARTS.len())]).collect();
        let bytes = Bytes::from(text.into_bytes());
        let bytes = bytes.slice(..next(bytes.len() + 1));
        let links = HtmlLinks::new(bytes.clone(), PAGE_URL).chain(CssLinks::new(bytes, PAGE_URL));
        for link in links {
            let parsed = parse(&link.url).expect("a URL");
            assert!(parsed.url.host().is_some() && parsed.url.user_info().is_none(), "{}", link.url);
        }
    }
}
