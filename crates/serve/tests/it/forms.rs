//! Searches and Gopher+ forms as HTML forms, and views.

use fetch_url_tests::{GopherConfig, GopherItem, GopherServer};

use crate::fixture::Fixture;
use crate::support::{TestServer, options};

#[test]
fn gopher_search_has_a_form() {
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let url = fixture.gopher.url("7/find");
    let form = server.page(&format!("/{url}"));
    form.assert_shows(&[&format!("action=\"/{url}\""), "label for=\"words\""]);
    for target in [
        format!("/{url}?fetch-url-words=a+b"),
        format!("{url}?fetch-url-words=a+b"),
        format!("/{url}%09a%20b"),
    ] {
        server.page(&target).assert_shows(&["You searched for a b"]);
    }
}

#[test]
fn selector_with_a_question_mark_is_searched() {
    let item = GopherItem::search("/find?x=1", |words| {
        format!("iFound {}\tfake\t(NULL)\t0\r\n", String::from_utf8_lossy(words)).into_bytes()
    });
    let gopher = GopherServer::start(GopherConfig::new().item(item)).expect("starts");
    let server = TestServer::start();
    let form = server.page(&format!("/{}", gopher.url("7/find?x=1")));
    let action = format!("/{}", gopher.url("7/find%3Fx=1"));
    form.assert_shows(&[&format!("action=\"{action}\"")]);
    server.page(&format!("{action}?fetch-url-words=w")).assert_shows(&["Found w"]);
}

#[test]
fn gopher_plus_form_is_an_html_form() {
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let url = fixture.gopher.url("0/form%09%09?");
    let form = server.page(&format!("/{url}"));
    form.assert_shows(&[
        "Tell us about you.",
        "for=\"fetch-url-answer-1\"",
        "value=\"Nobody\"",
        "<option value=\"green\">",
        "<textarea",
        "type=\"radio\"",
    ]);
    let action =
        form.text().split("<form class=\"questions\" action=\"").nth(1).map(str::to_owned).expect("a form");
    let action = action.split('"').next().expect("a quote").to_owned();
    let fields = "fetch-url-answer-1=Me+%26+you&fetch-url-answer-2=green&fetch-url-answer-3=a%0D%0Ab&fetch-url-answer-4=0";
    let reply = server.page(&format!("{action}?{fields}"));
    reply.assert_shows(&["Me & you", "green"]);
    let answers = fixture.gopher.form_answers();
    assert_eq!(answers[0], [&b"Me & you"[..], b"green", b"a\nb", b"0"], "{answers:?}");
}

#[test]
fn views_of_a_gopher_plus_item_are_links() {
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let url = fixture.gopher.url("0/about%09%09!");
    let page = server.page(&format!("/{url}"));
    page.assert_shows(&["Formats", "text/html En_US", "fetch-url-view=text%2Fhtml+En_US"]);
    let base = fixture.gopher.url("0/about");
    let view = server.page(&format!("/{base}?fetch-url-view=text%2Fhtml+En_US"));
    assert_eq!((view.status, view.text().as_str()), (200, "<p>Hello"), "{view:?}");
}

#[test]
fn form_of_another_site_is_not_sent() {
    let fixture = Fixture::start();
    let server = TestServer::with(options());
    let target = format!("/{}?fetch-url-answer-1=x", fixture.gopher.url("0/form%09%09?"));
    let reply = server.get(&target, &["Sec-Fetch-Site: cross-site"]);
    assert_eq!(reply.status, 403);
    assert_eq!(fixture.gopher.connections(), 0);
}

#[test]
fn typed_text_is_never_redirected_to_another_host() {
    let server = TestServer::start();
    for (typed, expected) in [
        ("%2Fevil.example%2Fx", "/%2Fevil.example/x"),
        ("%2F%2Fevil.example%2Fx", "/%2F/evil.example/x"),
        ("%5Cevil.example%2Fx", "/%5Cevil.example/x"),
        ("+%09%2Fevil.example%2Fx", "/%2Fevil.example/x"),
        ("http%3A%2F%2Fx%0D%0ASet-Cookie%3A+a", "/http://x%0D%0ASet-Cookie:%20a"),
        ("%C3%A9%01%7F", "/%C3%A9%01%7F"),
    ] {
        let reply = server.page(&format!("/?url={typed}"));
        assert_eq!((reply.status, reply.field("location")), (303, Some(expected)), "{reply:?}");
        let error = server.get(expected, &[]);
        assert_eq!((error.status, error.problem("code").as_str()), (400, "bad_url"), "{error:?}");
    }
}
