//! `-I`, `-w` and `--events` for gopher (issue item 5, CLI.md): what Gopher+ tells of an item, else its type; never
//! the item itself; and what programs are told of a transfer.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;

use fetch_url_tests::{
    GopherAsk, GopherForm, GopherItem, GopherLength, GopherServer, GopherSite, ServerCert,
};
use serde_json::{Value, json};
use support::{Ran, fetch, fetch_in};

/// 1994-12-01 12:34:56 UTC.
const DATE: i64 = 786_285_296;

fn serve(site: GopherSite) -> GopherServer {
    GopherServer::start(site).expect("a server on loopback")
}

fn get(server: &GopherServer, path: &str, words: &str) -> Ran {
    let url = server.url(path);
    fetch(["--read-timeout", "5"].into_iter().chain(words.split_whitespace()).chain([url.as_str()]))
}

fn value(ran: &Ran) -> Value {
    serde_json::from_str(&ran.text()).unwrap_or_else(|error| panic!("{error}: {}", ran.text()))
}

/// An item of 3 MiB with everything.
fn site() -> GopherSite {
    let item = GopherItem::pattern("/big", 3 << 20)
        .name("A thing")
        .modified("19941201123456")
        .about(&["What it is."]);
    GopherSite::new().plus().item(item).item(GopherItem::text("/t", "text"))
}

#[test]
fn what_gopher_plus_tells() {
    let server = serve(site());
    let text = get(&server, "9/big", "-I").exits(0).text();
    let place = format!("127.0.0.1\\x09{}", server.addr().port());
    let info = format!("INFO: 9A thing\\x09/big\\x09{place}\\x09+\n");
    for words in ["Type: 9 binary\n", &info, "<3072k>", "1994-12-01 12:34", "What it is.", "Test Admin"] {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    let told = value(get(&server, "9/big", "-I --format json").exits(0));
    assert_eq!((&told["modified"], &told["url"]), (&json!(DATE), &json!(server.url("9/big"))));
    let fields = told["fields"].as_array().expect("fields");
    assert!(fields.contains(&json!(["ABSTRACT", "What it is."])), "{told}");
    assert_eq!(server.dialogue(), ["/big\t!\r\n"; 2]);
    assert!(server.octets_sent() < 2000, "the item itself was sent: {}", server.octets_sent());
}

/// Whatever shape it is to have.
#[test]
fn in_every_format() {
    for format in ["text", "json", "raw"] {
        let text = get(&serve(site()), "9/big", &format!("-I --format {format}")).exits(0).text();
        assert!(text.contains("What it is.") && text.contains("A thing"), "{format}: {text}");
    }
}

/// Any way of saying which item it is.
#[test]
fn of_any_url() {
    let server = serve(site().item(GopherItem::search("/s", |_| Vec::new())));
    for (path, line) in [
        ("0/t", "/t\t!"),
        ("0/t%09%09+", "/t\t!"),
        ("0/t%09%09!+ADMIN", "/t\t!"),
        ("0/t%09%09+text/plain", "/t\t!"),
        ("0/t%09%09?", "/t\t!"),
        ("7/s%09w", "/s\tw\t!"),
        ("", "\t!"),
    ] {
        get(&server, path, "-I").exits(0);
        assert_eq!(server.dialogue().last(), Some(&format!("{line}\r\n")), "{path}");
    }
    // A form is not filled for it.
    let form = GopherForm::new().ask(GopherAsk::Ask, "Name");
    let server = serve(GopherSite::new().plus().item(GopherItem::text("/ask", "").form(form)));
    get(&server, "0/ask%09%09+%091%0D%0A+-1%0D%0Aa%0D%0A.%0D%0A", "-I").exits(0);
    get(&server, "0/ask", "-I --form Name=a").exits(0);
    assert!(server.answers().is_empty());
}

/// Without Gopher+ only the type is known; the item is not read to its end for that.
#[test]
fn the_type_alone() {
    for (path, words) in [
        ("0/x", "0 text"),
        ("1/x", "1 menu"),
        ("4/x", "4 binhex"),
        ("5/x", "5 archive"),
        ("6/x", "6 uuencode"),
        ("7/x%09w", "7 search"),
        ("9/x", "9 binary"),
        ("g/x", "g gif"),
        ("I/x", "I image"),
        ("s/x", "s sound"),
        ("h/x", "h html"),
        ("~/x", "~ item"),
    ] {
        let server = serve(GopherSite::new().item(GopherItem::pattern("/x", 256 << 20)));
        let ran = get(&server, path, "-I");
        assert_eq!(ran.exits(0).text().trim_end(), format!("Type: {words}"), "{path}");
        assert!(server.octets_sent() < 32 << 20, "{path}: {} octets", server.octets_sent());
        let told = value(get(&server, path, "-I --format json").exits(0));
        assert_eq!(json!([told["size"], told["modified"]]), json!([null, null]), "{path}: {told}");
    }
}

/// What there is not has no head; what is no object is advised, and what is a link leads on.
#[test]
fn no_head() {
    for site in [GopherSite::new(), GopherSite::new().plus()] {
        get(&serve(site), "0/missing", "-I").exits(78).says("does not exist");
    }
    let busy = GopherSite::new().plus().item(GopherItem::error('0', "/busy", 2, "too busy"));
    get(&serve(busy), "0/busy", "-I").exits(92).says("too busy");
    let server = serve(GopherSite::new());
    for path in ["8me", "Tme", "2book"] {
        get(&server, path, "-I").exits(0);
    }
    get(&server, "3x", "-I").exits(78);
    let page = support::mirror();
    let text = get(&server, &format!("hURL:{}", page.url("/x")), "-I").exits(0).text();
    assert!(text.starts_with("HTTP/1.1 200") && page.requests()[0].method == "HEAD", "{text}");
    assert_eq!(server.connections(), 0);
    get(&serve(GopherSite::new().answer("")), "0/x", "-I --require-complete");
}

#[test]
fn into_a_file() {
    let (server, here) = (serve(site()), tempfile::tempdir().expect("a directory"));
    fetch_in(here.path(), ["-I", "-o", "head", &server.url("9/big")]).exits(0);
    let text = fs::read_to_string(here.path().join("head")).expect("a file");
    assert!(text.contains("What it is.") && text.len() < 1000, "{text}");
}

#[test]
fn in_tls() {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let server = GopherServer::start_tls(site(), &cert).expect("a server");
    let text = get(&server, "9/big", &format!("-I --cacert {}", files.ca.display())).exits(0).text();
    assert!(text.contains("What it is."), "{text}");
    get(&server, "9/big", "-I").exits(60);
}

/// curl's variables, where they mean something.
#[test]
fn variables() {
    let server = serve(site());
    let port = server.addr().port();
    let url = server.url("9/big%09%09+");
    let out = "%{scheme} %{size_download} %{exitcode} %{remote_ip} %{remote_port} %{num_connects} %{http_code} %{url_effective}";
    let ran = fetch(["-o", "/dev/null", "-w", out, &url]);
    assert_eq!(ran.exits(0).text(), format!("gopher 3145728 0 127.0.0.1 {port} 1 000 {url}"));
    let ran = fetch(["-o", "/dev/null", "-w", "%{json}", &url]);
    let told = value(ran.exits(0));
    assert_eq!(
        json!([told["scheme"], told["size_download"], told["exitcode"], told["url"]]),
        json!(["gopher", 3_145_728, 0, url])
    );
    assert!(told["time_total"].as_f64() >= told["time_starttransfer"].as_f64(), "{told}");
    assert!(told["time_starttransfer"].as_f64() > Some(0.0), "{told}");
    // Of an error, its words and its status.
    let missing = server.url("0/none%09%09+");
    let ran = fetch(["-s", "-w", "%{exitcode} %{errormsg} %{http_code}", &missing]);
    let text = ran.exits(78).text();
    assert!(text.starts_with("78 ") && text.contains("does not exist") && text.ends_with(" 000"), "{text}");
    // Where a link leads to.
    let page = support::mirror();
    let link = server.url(&format!("hURL:{}", page.url("/p")));
    let ran = fetch(["-o", "/dev/null", "-w", "%{scheme} %{num_redirects} %{url_effective}", &link]);
    assert_eq!(ran.exits(0).text(), format!("http 1 {}", page.url("/p")));
}

/// The lines of a file of events.
fn events(words: &[&str]) -> (Vec<Value>, Ran) {
    let here = tempfile::tempdir().expect("a directory");
    let ran = fetch_in(here.path(), [&["--events", "events", "-o", "out"], words].concat());
    let text = fs::read_to_string(here.path().join("events")).expect("a file");
    (text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect(), ran)
}

#[test]
fn what_happens_is_told() {
    let server = serve(site().item(GopherItem::binary("/end", "12345").length(GopherLength::End)));
    for (path, octets, is_proven) in
        [("9/big%09%09+", 3 << 20, true), ("0/t", 6, true), ("9/end", 5, false), ("9/end%09%09+", 5, false)]
    {
        let (all, ran) = events(&[&server.url(path)]);
        let (first, last) = (all.first().expect("a start"), all.last().expect("an end"));
        ran.exits(0);
        assert_eq!((&first["event"], &first["url"]), (&json!("start"), &json!(server.url(path))), "{path}");
        assert_eq!(
            (&last["event"], &last["octets"], &last["retries"]),
            (&json!("done"), &json!(octets), &json!(0)),
            "{last}"
        );
        let proof = last["proof"].as_str().expect("a proof");
        assert_eq!(proof.starts_with("assumed"), !is_proven, "{path}: {proof}");
    }
    let (all, ran) = events(&["--retry", "1", "--retry-delay", "0", &server.url("0/none")]);
    let last = all.last().expect("an end");
    ran.exits(78);
    assert_eq!(
        (&last["event"], &last["code"], &last["exit"]),
        (&json!("error"), &json!("not_found"), &json!(78))
    );
    assert_eq!((all.len(), &last["temporary"]), (2, &json!(false)), "not tried again: {all:?}");
    assert!(last["reply"].as_str().is_some_and(|reply| reply.contains("does not exist")), "{last}");
    let page = support::mirror();
    let (all, ran) = events(&[&server.url(&format!("hURL:{}", page.url("/p")))]);
    ran.exits(0);
    assert_eq!((&all[1]["event"], &all[1]["to"]), (&json!("hop"), &json!(page.url("/p"))), "{all:?}");
}
