//! The pages of directories, menus, groups, articles, searches and advice.

use fetch_url_tests::{
    FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, NntpArticle, NntpConfig, NntpGroup,
    NntpServer,
};

use crate::fixture::Fixture;
use crate::support::{TestServer, options};

#[test]
fn ftp_directory_lists_names_sizes_and_links() {
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let url = fixture.ftp.url("/pub/");
    let page = server.page(&format!("/{url}"));
    page.assert_shows(&[
        &format!("href=\"/{url}readme.txt\""),
        &format!("href=\"/{url}a%20%3Cb%3E&amp;%22c%22.bin\""),
        "a &lt;b&gt;&amp;&quot;c&quot;.bin</a>",
        "caf\u{e9} with a long name",
        "4.8 KiB",
        "3.0 MiB",
        "sub/</a>",
        "aria-label=\"Breadcrumb\"",
        "<main id=\"main\">",
    ]);
    assert!(page.is_complete);
    // A proxy's client gets links to the URLs themselves.
    let proxied = server.page(&url);
    proxied.assert_shows(&[&format!("href=\"{url}readme.txt\"")]);
    assert!(!proxied.text().contains("name=\"url\""));
    let link = format!("{url}a%20%3Cb%3E&%22c%22.bin");
    assert_eq!(server.get(&link, &[]).text(), "binary");
}

#[test]
fn gopher_menu_links_its_items() {
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let page = server.page(&format!("/{}", fixture.gopher.url("1")));
    page.assert_shows(&[
        "About this server</a>",
        "Search the archive",
        "A directory with more",
        "formats</a>",
        ">menu<",
    ]);
    let link =
        page.text().split("href=\"").find(|part| part.contains("About this server")).map(str::to_owned);
    let link = link.and_then(|part| part.split('"').next().map(str::to_owned)).expect("a link");
    assert_eq!(server.page(&link).text(), "Hello from gopher.\r\n");
}

#[test]
fn newsgroups_threads_and_articles_are_pages() {
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let groups = server.page("/news:*");
    groups.assert_shows(&["fetch.test</a>", "moderated", "name=\"fetch-url-words\""]);
    let filtered = server.page("/news:*?fetch-url-words=empty");
    filtered.assert_shows(&["fetch.empty"]);
    assert!(!filtered.text().contains("fetch.test</a>"), "{}", filtered.text());
    let threads = server.page("/news:fetch.test");
    threads.assert_shows(&[
        "The first article",
        "caf\u{e9} and links",
        "Zo\u{eb} Writer",
        "1994-12-01 12:34",
    ]);
    let text = threads.text();
    // The answer is a list in the entry of the article to which it refers.
    let (_, first) = text.split_once("The first article").expect("the first article");
    assert!(first.contains("<ul><li>"), "{text}");
    let article = server.page("/news:2@test.invalid");
    article.assert_shows(&[
        "<h1>caf\u{e9} and links</h1>",
        "Zo\u{eb} Writer &lt;zoe@test.invalid&gt;",
        "<summary>All header fields</summary>",
        "class=\"quote\"",
        "href=\"/gopher://gopher.example.org/1/\"",
        "href=\"/http://www.example.org/a?b=c\"",
        "&lt;script&gt;",
        "href=\"/news:fetch.test\"",
        "href=\"/news:1@test.invalid\"",
        "fetch-url-part=0",
    ]);
    let attachment = server.page("/news:2@test.invalid?fetch-url-part=0");
    assert_eq!((attachment.status, attachment.text().trim_end()), (200, "zip bytes"));
    assert_eq!(attachment.field("content-type"), Some("application/zip"));
    let name = attachment.field("content-disposition").unwrap_or_default();
    assert!(name.contains("a.zip") && !name.contains('/'), "{name}");
    assert_eq!(server.page("/news:2@test.invalid?fetch-url-part=9").status, 404);
    let source = server.page("/news:2@test.invalid?fetch-url-source=1");
    assert_eq!(source.field("content-type"), Some("text/plain; charset=utf-8"));
    source.assert_shows(&["Subject: =?ISO-8859-1?Q?caf=E9?="]);
}

#[test]
fn source_of_an_article_has_the_charset_of_its_header() {
    let article = b"From: a@b\r\nSubject: s\r\nMessage-ID: <1@k>\r\nContent-Type: text/plain; charset=KOI8-R\r\n\r\n\xf0".as_slice();
    let hostile = "From: a@b\r\nMessage-ID: <2@k>\r\nContent-Type: text/plain; charset=\"x; y\"\r\n\r\nhello";
    let group = NntpGroup::new("fetch.test")
        .append(NntpArticle::new(article).with_id("1@k"))
        .append(NntpArticle::new(hostile).with_id("2@k"));
    let news = NntpServer::start(NntpConfig::new().group(group)).expect("starts");
    let server = TestServer::start();
    for (number, expected) in [(1, "text/plain; charset=koi8-r"), (2, "text/plain; charset=utf-8")] {
        let reply = server.get(&news.url(&format!("fetch.test/{number}")), &[]);
        assert_eq!(
            (reply.field("content-type"), reply.field("vary")),
            (Some(expected), Some("Accept")),
            "{reply:?}"
        );
    }
}

#[test]
fn range_of_articles_is_a_list() {
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let page = server.page(&format!("/{}", fixture.news.url("fetch.test/1-3")));
    page.assert_shows(&["The first article</a>", "Another subject</a>"]);
}

#[test]
fn wais_search_shows_results_with_scores() {
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let url = fixture.wais.url("poems");
    let form = server.page(&format!("/{url}"));
    form.assert_shows(&[&format!("action=\"/{url}\""), "fetch-url-words"]);
    assert_eq!(fixture.wais.connections(), 0);
    let results = server.page(&format!("/{url}?fetch-url-words=water"));
    results.assert_shows(&[
        "A poem about a river</a>",
        "The &lt;b&gt;sea&lt;/b&gt;",
        "500",
        "TEXT",
        "value=\"water\"",
    ]);
    let document = fixture.wais.document_url("poems", "A poem about a river").expect("a document");
    let text = server.page(&format!("/{document}"));
    assert_eq!((text.status, text.text().as_str()), (200, "The river runs.\n"), "{text:?}");
    assert_eq!(text.field("content-type"), Some("text/plain; charset=utf-8"));
}

#[test]
fn prospero_directory_links_its_objects() {
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let page = server.page(&format!("/{}", fixture.prospero.url("/srv")));
    page.assert_shows(&["a text</a>", "more"]);
    let text = server.page(&format!("/{}", fixture.prospero.url("/srv/a")));
    assert_eq!((text.status, text.text().as_str()), (200, "hello from prospero\n"), "{text:?}");
}

#[test]
fn urls_without_objects_are_explained() {
    let server = TestServer::start();
    server
        .page("/mailto:a@b.example?subject=%3Cx%3E")
        .assert_shows(&["a@b.example", "href=\"mailto:a@b.example"]);
    server.page("/telnet://h.example:2323/").assert_shows(&["telnet", "h.example", "2323"]);
    let with_login = server.page("/telnet://bob:secret@h.example/");
    with_login.assert_shows(&["href=\"telnet://bob@h.example/\""]);
    assert!(!with_login.text().contains("secret"), "{with_login:?}");
}

#[test]
fn long_list_is_rendered_as_it_arrives() {
    let ftp = FtpServer::start(FtpConfig::new().generated_dir("/many", 5000)).expect("starts");
    let gopher = GopherServer::start(GopherConfig::new().item(GopherItem::generated_menu("/m", 5000)))
        .expect("starts");
    let mut options = options();
    options.limits.max_page_entries = 4000;
    let server = TestServer::with(options);
    let page = server.page(&format!("/{}", ftp.url("/many/")));
    assert!(page.is_complete && page.text().matches("<tr>").count() >= 4000, "{}", page.head);
    page.assert_shows(&["Only the first 4000 entries are shown."]);
    assert_eq!(server.page(&format!("/{}", gopher.url("1/m"))).text().matches("<li><span").count(), 4000);
}

#[test]
fn newest_articles_of_a_large_group_are_shown() {
    let group = NntpGroup::new("fetch.large").generated(1, 1500);
    let news = NntpServer::start(NntpConfig::new().group(group)).expect("starts");
    let server = TestServer::start();
    let page = server.page(&format!("/{}", format_args!("news://{}/fetch.large", news.addr())));
    page.assert_shows(&["The newest 1000 of 1500 articles."]);
}

#[test]
fn empty_lists_say_so() {
    let ftp = FtpServer::start(FtpConfig::new().dir("/empty")).expect("starts");
    let server = TestServer::start();
    server.page(&format!("/{}", ftp.url("/empty/"))).assert_shows(&["There are no entries."]);
}
