//! The pages in a real browser: Chromium, if it is installed.

mod chromium;

use std::path::Path;

use chromium::Chromium;
use serde_json::json;

use crate::clients::is_installed;
use crate::fixture::Fixture;
use crate::support::TestServer;

/// The paths of the pages of the fixture, with a name for each.
fn pages(fixture: &Fixture) -> Vec<(&'static str, String)> {
    vec![
        ("start", String::new()),
        ("menu", fixture.gopher.url("1")),
        ("search", fixture.gopher.url("7/find")),
        ("form", fixture.gopher.url("0/form%09%09?")),
        ("views", fixture.gopher.url("0/about%09%09!")),
        ("directory", fixture.ftp.url("/pub/")),
        ("groups", "news:*".to_owned()),
        ("threads", "news:fetch.test".to_owned()),
        ("article", "news:2@test.invalid".to_owned()),
        ("results", fixture.wais.url("poems?water")),
        ("prospero", fixture.prospero.url("/srv")),
        ("advice", "telnet://host.example:2323/".to_owned()),
        ("error", fixture.gopher.url("0/missing")),
    ]
}

/// Writes a picture of each page to the directory `screenshots` of the target directory, for people to look at.
#[test]
fn pages_fit_two_widths_in_both_themes() {
    if !is_installed("chromium") {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    std::fs::create_dir_all(&folder).expect("a directory");
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let mut browser = Chromium::start();
    for (width, theme) in [(360, "light"), (360, "dark"), (1280, "light"), (1280, "dark")] {
        browser.set_window(width, 800, theme);
        for (name, path) in pages(&fixture) {
            browser.open(&format!("http://{}/{path}", server.addr));
            let size = browser.evaluate("[document.documentElement.scrollWidth, innerWidth]");
            assert!(size[0].as_u64() <= Some(width.into()), "{name} is wider than {width}: {size}");
            let state = "[document.querySelectorAll('main').length, document.documentElement.lang, \
                         getComputedStyle(document.body).maxWidth, document.title.length > 0]";
            // The style sheet applies: its hash is that of the Content-Security-Policy.
            assert_eq!(browser.evaluate(state), json!([1, "en", "992px", true]), "{name}");
            let unlabelled = "[...document.querySelectorAll('input, textarea, select')].filter(e => !e.labels.length).length";
            assert_eq!(browser.evaluate(unlabelled), json!(0), "{name} has fields without a label");
            std::fs::write(folder.join(format!("{name}-{width}-{theme}.png")), browser.screenshot())
                .expect("written");
        }
    }
}

#[test]
fn text_has_enough_contrast_in_both_themes() {
    if !is_installed("chromium") {
        return;
    }
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let mut browser = Chromium::start();
    // The contrast of WCAG 2.1, section 1.4.3, of each text with the background below it.
    let lowest = "(() => { \
        const parse = c => c.match(/[\\d.]+/g).map(Number); \
        const part = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; \
        const light = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]); \
        const below = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); \
            if (c[3] !== 0) return c; } return parse(getComputedStyle(document.documentElement).backgroundColor); }; \
        return Math.min(...[...document.querySelectorAll('body *')].filter(e => e.innerText).map(e => { \
            const [a, b] = [light(parse(getComputedStyle(e).color)), light(below(e))]; \
            return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); })); })()";
    for theme in ["light", "dark"] {
        browser.set_window(800, 800, theme);
        for (name, path) in pages(&fixture) {
            browser.open(&format!("http://{}/{path}", server.addr));
            let lowest = browser.evaluate(lowest).as_f64().expect("a number");
            assert!(lowest >= 4.5, "{name} in {theme}: {lowest}");
        }
    }
}

#[test]
fn menu_leads_to_a_file_and_a_form_is_filled() {
    if !is_installed("chromium") {
        return;
    }
    let fixture = Fixture::start();
    let server = TestServer::with(fixture.options());
    let mut browser = Chromium::start();
    browser.set_window(800, 800, "light");
    let link = |text: &str| format!("[...document.links].find(e => e.innerText === '{text}')");
    // A typed URL leads to the menu, and its item to the text.
    browser.open(&format!("http://{}/", server.addr));
    browser.click("document.querySelector('#url')");
    browser.type_text(&fixture.gopher.url("1"));
    browser.press("Enter");
    browser.wait_for("document.links.length > 5 && location.pathname.startsWith('/gopher://')");
    browser.click(&link("About this server"));
    browser.wait_for("document.body.innerText.includes('Hello from gopher.')");
    // A search.
    browser.open(&format!("http://{}/{}", server.addr, fixture.gopher.url("7/find")));
    browser.click("document.querySelector('#words')");
    browser.type_text("two words");
    browser.press("Enter");
    browser.wait_for("document.body.innerText.includes('You searched for two words')");
    // A form of Gopher+.
    browser.open(&format!("http://{}/{}", server.addr, fixture.gopher.url("0/form%09%09?")));
    browser.click("document.querySelector('#fetch-url-answer-1')");
    browser.evaluate("document.activeElement.select()");
    browser.type_text("Zo\u{eb} & co");
    browser.evaluate("document.querySelector('#fetch-url-answer-2').value = 'green'");
    browser.click("document.querySelector('form.questions button')");
    browser
        .wait_for("document.querySelector('form.questions') === null && document.readyState === 'complete'");
    let answers = fixture.gopher.form_answers();
    assert_eq!(answers[0][..2], ["Zo\u{eb} & co".as_bytes(), b"green"], "{answers:?}");
    // From a thread to an article and to its group.
    browser.open(&format!("http://{}/news:fetch.test", server.addr));
    browser.click(&link("The first article"));
    browser.wait_for("document.querySelector('h1')?.innerText === 'The first article'");
    browser.click(&link("fetch.test"));
    browser.wait_for("document.querySelector('ul.threads') !== null");
}

#[test]
fn content_of_servers_runs_no_script_and_reads_no_page() {
    if !is_installed("chromium") {
        return;
    }
    let script = "<title>old</title><script>document.title='run'</script>\
                  <img src=x onerror=\"document.title='run'\"><form action='/' ><button>go</button></form>\
                  <a id=a href='/'>out</a>";
    let ftp = fetch_url_tests::FtpServer::start(fetch_url_tests::FtpConfig::new().file("/a.html", script))
        .expect("starts");
    let svg =
        "<svg xmlns='http://www.w3.org/2000/svg'><script>document.documentElement.id='run'</script></svg>";
    let pictures = fetch_url_tests::FtpServer::start(fetch_url_tests::FtpConfig::new().file("/a.svg", svg))
        .expect("starts");
    let server = TestServer::start();
    let mut browser = Chromium::start();
    browser.set_window(800, 800, "light");
    browser.open(&format!("http://{}/{}", server.addr, ftp.url("/a.html")));
    assert_eq!(browser.evaluate("[document.title, self.origin]"), json!(["old", "null"]));
    browser.open(&format!("http://{}/{}", server.addr, pictures.url("/a.svg")));
    assert_eq!(browser.evaluate("document.documentElement.id"), json!(""));
    // A link of such a page does not get a page of this server: the browser says that another site asks.
    browser.open(&format!("http://{}/{}", server.addr, ftp.url("/a.html")));
    browser.click("document.querySelector('#a')");
    browser.wait_for("document.body.innerText.includes('another site')");
}
