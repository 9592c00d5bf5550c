//! Index pages with and without signs of other pages.

use bytes::Bytes;

use crate::{IndexPage, is_field_of_several_pages};

/// Reads a complete page of nginx with the entries `a` and `next`, and with `after` below them.
fn page_with(after: &str) -> IndexPage {
    let page = format!(
        "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\n\
         <a href=\"a\">a</a>   01-Dec-1994 12:34   5\n<a href=\"next\">next</a>   01-Dec-1994 12:34   5\n</pre><hr>\
         {after}</body></html>"
    );
    let mut page = IndexPage::new(Bytes::from(page), "http://h/d/");
    while page.process_token().is_some() {}
    page
}

#[test]
fn signs_of_other_pages_show_that_entries_may_be_missing() {
    for after in [
        "<a href='?page=2'>x</a>",
        "<a href='?sort=name&amp;order=asc&amp;limit=5'>x</a>",
        "<a href='/list.php?dir=/d/&amp;page=2'>Next</a>",
        "<a href='/d/?s=5'>Next page</a>",
        "<a href='http://h/d/?s=5'>&raquo;</a>",
        "<a href='page/2/'>[2]</a>",
        "<a href='page2.html'>Next page</a>",
        "<a href='page2.html'>2</a>",
        "<a href='page2.html' class='btn next'>x</a>",
        "<a href='#more'>Load more</a>",
        "<a href='javascript:more()'>more</a>",
        "<a onclick='more()'>Show all files</a>",
        "<a href='older/'>&rarr;</a>",
        "<a href='x/y'>6-10</a>",
        "<a href='x/y' rel=prev>x</a>",
        "<link rel=next href=p2>",
        "<button name=page value=2>x</button>",
        "<button onclick='more()'>More</button>",
        "<form action='?'><input name=page value=2></form>",
        "<form><input type=submit value='Next'></form>",
        "<form><select name=p></select></form>",
        "<select><option>1<option>2</select>",
        "<div class='Pagination'></div>",
        "<meta http-equiv=Refresh content='0;url=?p=2'>",
        "<meta http-equiv=refresh content='2; URL=/d/part2/'>",
        "<meta http-equiv=refresh content='0;?p=2'>",
        "<meta http-equiv=refresh content='5, part2/'>",
        // Other languages.
        "<a href='list/2'>Weiter</a>",
        "<a href='list/2'>Suivant &raquo;</a>",
        "<a href='list/2'>\u{6b21}\u{3078}</a>",
        "<a href='list/2'>\u{414}\u{430}\u{43b}\u{435}\u{435}</a>",
        "<a href='list/2'>2 &rsaquo;</a>",
        "<p>2 von 5 Dateien</p>",
        // The text is that of an icon.
        "<a href='list/2' aria-label='Next page'><svg/></a>",
        "<a href='list/2' title=Next><svg/></a>",
        "<a href='list/2'><img alt='next'></a>",
        "<a href='list/2' aria-label='Go to page 2'><i class=icon></i></a>",
        "<a href='next' title='Next page'>next</a>",
        "<button aria-label='Load more'><svg/></button>",
        "<form><input type=image alt=Next></form>",
        "<nav aria-label='pagination'></nav>",
        "<nav aria-label='Page navigation'></nav>",
        "<p>Showing <b>1</b>-<b>5</b> of <b>10</b></p>",
        "<h2>Page 1 of 2</h2>",
        "<p>Too many files to display.</p>",
        "Error reading directory",
        "<p>Listing limited to 1000 entries</p>",
        "<div>Partial listing</div>",
        "<p>Showing first 500 entries</p>",
        "<p>Total: <b>120</b> files</p>",
    ] {
        assert_eq!(page_with(after).missing_part(), Some("the other pages of the listing"), "{after}");
    }
}

#[test]
fn header_fields_name_other_pages() {
    for (name, value, expected) in [
        ("Link", "</d/?page=2>; rel=\"next\"", true),
        ("link", "</style.css>; rel=stylesheet, <p1>; rel=\"Prev last\"", true),
        ("Link", "</d/?p=2>; title=\"a \\\"; rel=\"next\"", true),
        ("Link", "</d/?p=2>; title=5\" disks; rel=next", true),
        ("Refresh", "0; url=/d/?page=2", true),
        ("Link", "</style.css>; rel=stylesheet; title=next", false),
        ("Refresh", "30", false),
        ("X-Next", "</d/?page=2>; rel=next", false),
    ] {
        assert_eq!(is_field_of_several_pages(name, value.as_bytes()), expected, "{name}: {value}");
    }
}

#[test]
fn link_with_a_query_that_does_not_only_sort_may_lead_to_another_page() {
    for (after, expected) in [
        ("<a href='?s=5'>x</a>", true),
        ("<a href='/d/?view=grid'>x</a>", true),
        ("<a href='/list?o=5'>x</a>", true),
        ("<a href='http://h/search?q=x#y'>x</a>", true),
        ("<a href='a?download=1'>a</a>", true),
        ("<a href='?C=N;O=D'>x</a><a href='?C=M&amp;O=A&amp;F=1'>x</a>", false),
        ("<a href='/d/?sort=name&amp;order=asc'>x</a><a href='?sort=size'>x</a>", false),
        ("<a href='http://other/?s=5'>x</a>", false),
        ("<a href='?'>x</a><a href='#?s'>x</a>", false),
    ] {
        let page = page_with(after);
        assert_eq!((page.missing_part(), page.may_have_other_pages()), (None, expected), "{after}");
    }
}

#[test]
fn other_links_and_texts_are_no_signs_of_other_pages() {
    for after in [
        "<a href='/'>1994</a><a href=''>2</a>",
        "<a href='2/'>2/</a><a href='more'>more</a>",
        // Icons, and titles that are names.
        "<a href='2/' title='2'>2/</a><a href='more' title='more' aria-label='more'><img alt=more>more</a>",
        "<a href='a' title='a'><img alt='[   ]'></a><a href='../' title='1'><img alt='2'></a>",
        "<img alt=next><nav aria-label=breadcrumb><a href='a' aria-label='Download a'>a</a></nav>",
        "<a href='http://caddyserver.com'>Caddy</a>",
        "<a href='?C=M;O=A'>Last modified</a>",
        "<a href='/icons'>See also our other files of interest</a>",
        "<p>Total: 2 files</p><p>2 files in total.</p><p>An archive of 120 files</p>",
        "<p>2 files, 10 bytes. Showing 1-2 of 2. Page 1 of 1. Disc 1 of 3.</p>",
        "<script>document.write('Page 1 of 2')</script>",
        "<form><input name=q><input type=submit value=Search><button>Go</button></form>",
        "<div class='context nextgen' id=listing></div>",
        "<meta http-equiv=refresh content='30'><meta name=x content='url'>",
    ] {
        assert_eq!(page_with(after).missing_part(), None, "{after}");
    }
}
