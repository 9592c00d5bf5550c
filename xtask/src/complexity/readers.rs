//! The parsers of untrusted input, each with texts that made a parser of some program slow.

use bytes::Bytes;
use fetch_url::blocking::Fetcher;
use fetch_url::http::{CookieJar, HttpOptions};
use fetch_url::mirror::Glob;
use fetch_url::url::{find_urls, parse, resolve_reference};
use fetch_url::{Checksum, Request};
use fetch_url_proto::ftp_list::{ListFormat, ListReader};
use fetch_url_proto::gopher::MenuReader;
use fetch_url_proto::gopher_plus::AttributesReader;
use fetch_url_proto::{CssLinks, HtmlLinks, IndexPage, RecvBuffer, http_date, text};
use fetch_url_tests::{HttpResponse, HttpServer};

/// A reader and a text that grows with a count.
pub(super) struct Reader {
    pub(super) name: &'static str,
    /// The count of the shortest text.
    pub(super) count: usize,
    pub(super) text: fn(usize) -> Vec<u8>,
    pub(super) read: fn(&[u8]),
}

macro_rules! readers {
    ($($name:literal, $count:literal, $read:ident: $part:expr;)*) => {
        pub(super) const READERS: &[Reader] =
            &[$(Reader { name: $name, count: $count, text: |count| $part(count), read: $read }),*];
    };
}

readers! {
    "extract: schemes", 500, read_prose: |count| "a://".repeat(count).into_bytes();
    "extract: parentheses", 1000, read_prose: |count| format!("http://h/{}", ")".repeat(count)).into_bytes();
    "extract: opening parentheses", 1000, read_prose: |count| "http://h/(".repeat(count).into_bytes();
    "extract: <URL:", 500, read_prose: |count| "<URL:".repeat(count).into_bytes();
    "extract: one long word", 4000, read_prose: |count| "x.".repeat(count).into_bytes();
    "extract: line breaks in brackets", 500, read_prose: |count| format!("<http://h/{}", "a\n".repeat(count)).into_bytes();
    "url: escapes", 2000, read_url: |count| format!("http://h/{}", "%41".repeat(count)).into_bytes();
    "url: dot segments", 1000, read_reference: |count| format!("{}{}", "a/".repeat(count), "../".repeat(count)).into_bytes();
    "menu: lines", 200, read_menu: |count| "0name\tselector\thost\t70\r\n".repeat(count).into_bytes();
    "menu: tabs", 4000, read_menu: |count| format!("0{}\r\n", "\t".repeat(count)).into_bytes();
    "menu: line without end", 8000, read_menu: |count| "x".repeat(count).into_bytes();
    "attributes: blocks", 100, read_attributes: |count| "+BLOCK:\r\n a\r\n".repeat(count).into_bytes();
    "MLSD: lines", 100, read_mlsd: |count| "type=file;size=1;modify=19941201123456; f\r\n".repeat(count).into_bytes();
    "MLSD: facts", 1000, read_mlsd: |count| format!("{} f\r\n", "a=b;".repeat(count)).into_bytes();
    "LIST: lines", 100, read_list: |count| "-rw-r--r-- 1 u g 12 Dec  1 12:34 f\r\n".repeat(count).into_bytes();
    "LIST: words", 2000, read_list: |count| format!("-rw-r--r-- {}\r\n", "1 ".repeat(count)).into_bytes();
    "LIST: VMS continuations", 200, read_list: |count| "NAME.TXT;1\r\n ".repeat(count).into_bytes();
    "index page: links", 100, read_index: |count| {
        "<a href=\"f\">f</a> 01-Dec-1994 12:34 5\r\n".repeat(count).into_bytes()
    };
    "index page: attributes of a tag", 500, read_index: |count| format!("<a {}>", "x=1 ".repeat(count)).into_bytes();
    "index page: open tags", 500, read_index: |count| "<a href=x".repeat(count).into_bytes();
    "index page: references", 500, read_index: |count| "&amp".repeat(count).into_bytes();
    "index page: comments", 500, read_index: |count| "<!--".repeat(count).into_bytes();
    "index page: titles", 200, read_index: |count| "<title>Index of /".repeat(count).into_bytes();
    "page: links", 100, read_html: |count| "<a href=\"../a/b/c?d#e\">".repeat(count).into_bytes();
    "page: sources", 500, read_html: |count| format!("<img srcset=\"{}\">", "a 1x,".repeat(count)).into_bytes();
    "page: styles", 500, read_html: |count| "<style>url(a".repeat(count).into_bytes();
    "style sheet: url(", 500, read_css: |count| "url(".repeat(count).into_bytes();
    "style sheet: comments", 500, read_css: |count| "/*".repeat(count).into_bytes();
    "style sheet: quotes", 500, read_css: |count| "@import \"".repeat(count).into_bytes();
    "HTTP date", 1000, read_date: |count| format!("Mon, {}", "01 Dec ".repeat(count)).into_bytes();
    // More than the 180 cookies that a host may have: every line is compared with all cookies of the store.
    "cookies: lines of a file", 600, read_cookies: |count| {
        (0..count).flat_map(|n| format!("h\tFALSE\t/\tFALSE\t0\tn{n}\tv\n").into_bytes()).collect()
    };
    "checksum list: lines", 50, read_checksums: |count| {
        format!("{}  name\n", "0".repeat(64)).repeat(count).into_bytes()
    };
    "checksum list: spaces", 4000, read_checksums: |count| format!("{}\n", " ".repeat(count)).into_bytes();
    "HTTP head: fields", 100, read_head: |count| head(&"X-Field: value\r\n".repeat(count));
    "HTTP head: a long value", 20_000, read_head: |count| head(&format!("X-Field: {}\r\n", "v ".repeat(count)));
    // Each replaces the one before it. With different names, each is compared with up to 180 cookies of its host, which
    // the lines of a file show above: a head has at most 512 fields.
    "HTTP head: cookies", 100, read_head: |count| {
        head(&(0..count).map(|n| format!("Set-Cookie: n={n}; Path=/; Max-Age=9\r\n")).collect::<String>())
    };
    "HTTP head: attributes of a cookie", 2000, read_head: |count| head(&format!("Set-Cookie: n=v{}\r\n", "; Path=/".repeat(count)));
    "HTTP head: links", 500, read_head: |count| {
        head(&format!("Link: {}\r\n", "<http://h/a>; rel=duplicate; pri=1, ".repeat(count)))
    };
    "HTTP head: challenges", 500, read_head: |count| {
        head(&format!("WWW-Authenticate: {}\r\n", "Basic realm=\"a\", ".repeat(count)))
    };
    "glob: stars", 200, read_glob: |count| "a".repeat(count).into_bytes();
    "sanitised text", 4000, read_text: |count| "\u{1b}[".repeat(count).into_bytes();
}

/// Returns a response whose head contains `fields`.
fn head(fields: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n{fields}\r\nok").into_bytes()
}

fn read_prose(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    for found in find_urls(&text) {
        let _ = found.parse();
    }
}

/// Fetches a response from a server on loopback, which is another thread: its instructions are not counted.
fn read_head(response: &[u8]) {
    let response = response.to_vec();
    let Ok(server) = HttpServer::start(move |_| HttpResponse::raw(response.clone())) else { return };
    let mut options = HttpOptions::default();
    options.cookies = Some(CookieJar::default());
    let request = Request::new(&server.url("/")).map(|request| request.with_extra(options));
    let fetched = request.and_then(|request| Fetcher::new()?.get(request)?.bytes());
    assert!(fetched.is_ok_and(|bytes| bytes == "ok"), "the response is complete");
}

fn read_url(text: &[u8]) {
    let _ = parse(&String::from_utf8_lossy(text)).map(|parsed| parsed.url.to_string());
}

fn read_reference(text: &[u8]) {
    let _ = resolve_reference("http://h/a/b/c", &String::from_utf8_lossy(text));
}

/// Returns a buffer that contains all of the text, and its end.
fn received(text: &[u8]) -> RecvBuffer {
    let mut buffer = RecvBuffer::new();
    buffer.push(text);
    buffer.mark_closed();
    buffer
}

fn read_menu(text: &[u8]) {
    let (mut buffer, mut reader) = (received(text), MenuReader::new());
    while let Ok(Some(item)) = reader.read(&mut buffer) {
        let _ = item.url(None);
    }
}

fn read_attributes(text: &[u8]) {
    let (mut buffer, mut reader) = (received(text), AttributesReader::new());
    while let Ok(Some(_)) = reader.read(&mut buffer) {}
}

fn read_mlsd(text: &[u8]) {
    read_listing(text, ListReader::new(ListFormat::Mlsd, None));
}

fn read_list(text: &[u8]) {
    read_listing(text, ListReader::new(ListFormat::List, Some(0)));
}

fn read_listing(text: &[u8], mut reader: ListReader) {
    let mut buffer = received(text);
    while let Ok(Some(_)) = reader.next_line(&mut buffer) {}
}

fn read_index(text: &[u8]) {
    let mut page = IndexPage::new(Bytes::copy_from_slice(text), "http://h/d/");
    while page.process_token().is_some() {}
}

fn read_html(text: &[u8]) {
    let mut page = HtmlLinks::new(Bytes::copy_from_slice(text), "http://h/d/");
    while page.process_token().is_some() {}
}

fn read_css(text: &[u8]) {
    let mut sheet = CssLinks::new(Bytes::copy_from_slice(text), "http://h/d/");
    while sheet.process_token().is_some() {}
}

fn read_date(text: &[u8]) {
    let _ = http_date::parse(&String::from_utf8_lossy(text));
}

fn read_cookies(text: &[u8]) {
    let _ = CookieJar::from_netscape(text).map(|jar| jar.to_netscape());
}

fn read_checksums(text: &[u8]) {
    let _ = Checksum::listed(text, b"name", true);
}

fn read_glob(text: &[u8]) {
    let Ok(glob) = Glob::new("*a*a*a*a*a*a*b") else { return };
    let _ = glob.matches(&String::from_utf8_lossy(text));
}

fn read_text(bytes: &[u8]) {
    let _ = text::sanitise(bytes);
}
