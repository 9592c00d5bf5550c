//! The gopher column of the fault matrix (SECURITY.md, section 3) through the real binary: every fault of
//! [`GOPHER_FAULTS`] and [`GOPHER_PLUS_FAULTS`], in clear and under TLS, with an older file under the name and
//! without.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fetch_url_tests::{
    Before, Ending, GOPHER_FAULTS, GOPHER_PLUS_FAULTS, GopherAct, GopherAsk, GopherFault, GopherFaultSetting,
    GopherForm, GopherItem, GopherLength, GopherOn, GopherProof, GopherResult, GopherRule, GopherServer,
    GopherSite, HttpReply, ServerCert, Target, Transport,
};
use serde_json::Value;
use support::outcome::{NOTE, disk_is_clean, is_exactly, is_raw, shows, talk_is_clean};
use support::sound::measured;
use support::{Ran, ensure, fetch, in_parallel};

const THREADS: usize = 8;

fn setting() -> GopherFaultSetting {
    GopherFaultSetting { stall: Duration::from_secs(20), ..GopherFaultSetting::default() }
}

/// One fault over one transport, and what was under the name before.
type Row = (&'static GopherFault, Transport, Before);

fn rows(faults: &'static [GopherFault]) -> Vec<Row> {
    let over =
        |fault: &'static GopherFault| fault.transports.iter().map(move |transport| (fault, *transport));
    let before = |(fault, transport)| Before::ALL.map(|before| (fault, transport, before));
    faults.iter().flat_map(over).flat_map(before).collect()
}

/// A server with the fault, and a run of the program for it.
fn run(row: &Row, setting: &GopherFaultSetting, cert: &ServerCert, more: &[&str]) -> (Target, Ran, String) {
    let (fault, transport, before) = row;
    let (server, ca_pem) = fault.serve(*transport, setting, cert).expect("a server");
    let ca: PathBuf = tempfile::NamedTempFile::new().expect("a file").into_temp_path().keep().expect("kept");
    std::fs::write(&ca, ca_pem).expect("written");
    let target = Target::new(*before).expect("a directory");
    let (path, url) = (target.path(), fault.url(&server));
    let mut words = vec!["--connect-timeout", "10", "--read-timeout", "2", "--cacert"];
    words.extend([ca.to_str().expect("UTF-8"), "-o", path.to_str().expect("UTF-8")]);
    words.extend(fault.arguments);
    words.extend(more);
    words.push(&url);
    let ran = fetch(words);
    let _ = std::fs::remove_file(ca);
    (target, ran, url)
}

fn disk_is_sound(
    target: &Target,
    exit: i32,
    fault: &GopherFault,
    s: &GopherFaultSetting,
) -> Result<(), String> {
    disk_is_clean(target, exit, |octets| match fault.result {
        GopherResult::Is(content) => is_exactly(octets, &content(s)),
        GopherResult::Shows(words) => shows(octets, words),
    })
}

/// What speaks for the result: a note where a mark is missing, and what `--require-complete` makes of it.
fn proof_is_known(row: &Row, s: &GopherFaultSetting, cert: &ServerCert, first: &Ran) -> Result<(), String> {
    let (fault, ..) = row;
    let is_noted = matches!(fault.proof, GopherProof::Noted | GopherProof::Told);
    let has_note = first.stderr.contains(NOTE);
    ensure(!is_noted || has_note, || "there is no note".to_owned())?;
    ensure(fault.proof != GopherProof::Whole || !has_note, || "there is a note".to_owned())?;
    let is_whole = matches!(fault.proof, GopherProof::Told | GopherProof::Whole);
    let (target, strict, _) = run(row, s, cert, &["--require-complete"]);
    let told = |why: String| format!("--require-complete: {why}: {} {}", strict.exit, strict.stderr.trim());
    let expected = if is_whole { 0 } else { 18 };
    ensure(strict.exit == expected, || told(format!("expected {expected}")))?;
    disk_is_sound(&target, strict.exit, fault, s).map_err(told)
}

fn one_fault(row: &Row, setting: &GopherFaultSetting, cert: &ServerCert) -> Result<(), String> {
    let (fault, transport, before) = row;
    let (target, ran, url) = run(row, setting, cert, &[]);
    let told = |why: String| {
        format!("{} {transport:?} {before:?}: {why} (exit {}, {})", fault.name, ran.exit, ran.stderr.trim())
    };
    ensure(fault.accepts(ran.exit), || told(format!("expected {} or {:?}", fault.expect, fault.also)))?;
    disk_is_sound(&target, ran.exit, fault, setting).map_err(told)?;
    talk_is_clean(&ran, url.split("://").next().unwrap_or_default(), fault.says).map_err(told)?;
    // What could end in two ways may end otherwise the next time.
    let is_certain = ran.exit == 0 && fault.also.is_empty() && *before == Before::Absent;
    if is_certain { proof_is_known(row, setting, cert, &ran).map_err(told) } else { Ok(()) }
}

fn all(faults: &'static [GopherFault]) {
    let (setting, cert) = (setting(), ServerCert::good().expect("a certificate"));
    in_parallel(&rows(faults), THREADS, |row| one_fault(row, &setting, &cert));
}

#[test]
fn every_fault_of_plain_gopher_ends_as_the_matrix_says() {
    all(GOPHER_FAULTS);
}

#[test]
fn every_fault_of_gopher_plus_ends_as_the_matrix_says() {
    all(GOPHER_PLUS_FAULTS);
}

/// Nothing stays, so the next run begins anew, and ends as if nothing had happened.
#[test]
fn the_next_run_begins_anew() {
    let (setting, cert) = (setting(), ServerCert::good().expect("a certificate"));
    let cut = ["reset_512", "stall_700", "text_reset_512", "plus_short_512", "plus_stall_512", "dot_reset"];
    let faults = GOPHER_FAULTS.iter().chain(GOPHER_PLUS_FAULTS).filter(|fault| cut.contains(&fault.name));
    let rows: Vec<&GopherFault> = faults.collect();
    assert_eq!(rows.len(), cut.len());
    in_parallel(&rows, THREADS, |fault| {
        let (server, _) = fault.serve(Transport::Plain, &setting, &cert).expect("a server");
        let target = Target::new(Before::Old).expect("a directory");
        let (path, url) = (target.path(), fault.url(&server));
        let words = ["--read-timeout", "1", "-C", "-", "-o", path.to_str().expect("UTF-8"), &url];
        let told = |ran: &Ran| format!("{}: {} {}", fault.name, ran.exit, ran.stderr);
        let first = fetch(words);
        ensure(fault.accepts(first.exit), || told(&first))?;
        ensure(target.is_untouched().is_ok_and(|is| is), || told(&first))?;
        ensure(target.leftovers().is_ok_and(|left| left.is_empty()), || told(&first))?;
        server.mend();
        let second = fetch(words);
        ensure(second.exit == 0, || told(&second))?;
        let content = target.content().ok().flatten().unwrap_or_default();
        ensure(content == setting.content || content == setting.text, || told(&second))
    });
}

/// In KiB; SECURITY.md, N8.
const MEMORY: u64 = 64 * 1024;

fn serve(site: GopherSite) -> GopherServer {
    GopherServer::start(site).expect("a server")
}

/// A run into a new file, of which nothing but the file may be there; and what it holds.
fn filed(before: Before, arguments: &[&str]) -> (Ran, u64, Option<Vec<u8>>) {
    let target = Target::new(before).expect("a directory");
    let path = target.path();
    let mut words = vec!["-o", path.to_str().expect("UTF-8")];
    words.extend(arguments);
    let (memory, ran) = measured(&words);
    assert!(target.leftovers().expect("readable").is_empty(), "{arguments:?}");
    assert!(ran.exit == 0 || target.is_untouched().expect("readable"), "{arguments:?}");
    let content = target.content().expect("readable");
    (ran, memory, content)
}

#[test]
fn nobody_listens() {
    let urls = ["9/a", "1", "0/t%09%09+", "9/a%09%09!"].map(|path| serve(GopherSite::new()).url(path));
    for (url, before) in urls.iter().flat_map(|url| Before::ALL.map(|before| (url, before))) {
        filed(before, &[url]).0.exits(7);
        filed(before, &[&url.replace("gopher:", "gophers:")]).0.exits(7);
    }
}

/// Rows 5 to 7 and 19, and what no object can be fetched for: nobody is asked.
#[test]
fn what_may_not_go_out_does_not() {
    let server = serve(GopherSite::new());
    let rows = [
        ("0/a%0D%0AQUIT", 93),
        ("0/a%0AQUIT", 93),
        ("0/a%0D", 93),
        ("0/a%00b", 93),
        ("7/s%09x%0D%0AQUIT", 93),
        ("7/s%09x%00", 93),
        ("9/a%09%09+%0D%0AQUIT", 93),
        ("9/a%09%09+text/plain%0AQUIT", 93),
        ("9/a%09%09!+A%0D%0AQUIT", 93),
        ("9/a%09%09$%00", 93),
        ("9/a%09%09+%091%0D%0A+-1%0D%0Aone%0D%0A.%0D%0AQUIT%0D%0A", 93),
        ("9/a%09%09+%091%0D%0AQUIT%0D%0A", 93),
        ("9/a%09b%09+%09%09c", 93),
        ("9/a\tb", 3),
        ("3/error", 78),
        ("iinfo", 1),
    ];
    for (path, exit) in rows {
        let (ran, ..) = filed(Before::Old, &[&server.url(path)]);
        ran.exits(exit);
    }
    // The gopher→SMTP example of RFC 1738 §6.
    for port in [1, 25, 79, 110, 1023, 6667] {
        let url = format!("gopher://127.0.0.1:{port}/0EHLO%20x");
        filed(Before::Old, &[&url]).0.exits(90);
    }
    assert_eq!(server.connections(), 0);
}

/// Types 2, 8 and T: a word to the person, and nothing else.
#[test]
fn sessions_are_advised() {
    let server = serve(GopherSite::new());
    for (path, words) in
        [("8/me", "telnet"), ("T/me", "tn3270"), ("2/book", "CSO"), ("8a%1B%5B2Jb", "telnet")]
    {
        let ran = fetch([server.url(path)]);
        assert!(ran.exits(0).text().contains(words) && !ran.text().contains('\u{1b}'), "{ran:?}");
    }
    assert_eq!(server.connections(), 0);
}

/// An `h` item whose selector is `URL:` and a URL leads to where the engine lets it.
#[test]
fn links_are_followed_where_that_is_safe() {
    let page = support::mirror();
    let server = serve(GopherSite::new().item(GopherItem::text("/t", "secret")));
    let other = serve(GopherSite::new());
    let elsewhere = other.url("0/t");
    for path in ["hURL:", "h/URL:", "hurl:"] {
        let (ran, _, content) = filed(Before::Old, &[&server.url(&format!("{path}{}", page.url("/there")))]);
        ran.exits(0);
        assert_eq!(content.as_deref(), Some(b"/there".as_slice()), "{path}");
    }
    for target in ["file:///etc/passwd", "telnet://127.0.0.1:23/", &elsewhere, "mailto:a@example.org"] {
        let (ran, ..) = filed(Before::Old, &[&server.url(&format!("hURL:{target}"))]);
        ran.exits(90);
    }
    for target in ["http:%0d%0ax", "javascript:alert(1)", "", "%FF", "http://127.0.0.1:25/"] {
        let (ran, ..) = filed(Before::Old, &[&server.url(&format!("hURL:{target}"))]);
        assert!([1, 3, 90, 93].contains(&ran.exit), "{target}: {} {}", ran.exit, ran.stderr);
    }
    assert_eq!((server.connections(), other.connections(), page.requests().len()), (0, 0, 3));
    let (ran, _, content) = filed(Before::Old, &[&server.url(&format!("hURL:{}", server.url("0/t")))]);
    ran.exits(0);
    assert_eq!((content.as_deref(), server.connections()), (Some(b"secret\r\n".as_slice()), 1));
}

/// The most memory that a menu of so many items takes.
fn crowded(items: u64, format: &str) -> u64 {
    let server = serve(GopherSite::new().item(GopherItem::crowd("/c", items)));
    let (ran, memory, content) = filed(Before::Absent, &["--format", format, &server.url("1/c")]);
    ran.exits(0);
    let text = String::from_utf8(content.unwrap_or_default()).expect("UTF-8");
    let last = format!("entry {:07}", items - 1);
    assert!(text.contains("entry 0000000") && text.contains(&last), "{format}");
    assert!(text.lines().count() as u64 >= items, "{format}: {}", text.lines().count());
    assert!(memory > 0 && memory < MEMORY, "{format}: {memory} KiB");
    memory
}

/// Row 84: streamed, not collected. A debug build makes text of fewer items in the same time; what it would
/// collect of these shows as well.
#[test]
fn a_million_items() {
    const ITEMS: u64 = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
    crowded(1_000_000, "raw");
    for format in ["text", "json"] {
        // Not so few that the program is over before anybody has looked at its memory.
        let (few, many) = (crowded(2_000, format), crowded(ITEMS, format));
        assert!(many < few + 4 * 1024, "{format}: {few} and {many} KiB");
    }
}

/// Rows 83 and 84: one line of 1 GiB, in all places that have lines.
#[test]
fn a_line_of_a_gigabyte() {
    const PIECE: &[u8] = &[b'x'; 1024];
    let long = |start: &str| GopherSite::new().item(GopherItem::repeated('1', "/m", start, PIECE, 1 << 20));
    let (begun, limit) = (Instant::now(), Duration::from_secs(10));
    let rows = [
        (long("1"), "1/m"),
        (long(""), "7/m%09x"),
        (long("+-1\r\n1"), "1/m%09%09+"),
        (long("+-2\r\n+INFO: 1"), "1/m%09%09!"),
        (long("+-1\r\n+INFO: 1m\t/m\th\t70\r\n+X:\r\n "), "1/m%09%09$"),
    ];
    for (site, path) in rows {
        let server = serve(site);
        for format in ["text", "json"] {
            let (ran, memory, _) = filed(Before::Old, &["--format", format, &server.url(path)]);
            ran.exits(63);
            assert!(ran.stderr.contains("line"), "{path}: names no limit: {}", ran.stderr);
            assert!(memory > 0 && memory < MEMORY, "{path}: {memory} KiB");
        }
        assert!(server.octets_sent() < 16 << 20, "{path}: {} octets", server.octets_sent());
    }
    assert!(begun.elapsed() < limit, "{:?}", begun.elapsed());
}

/// A text is no list of lines: it streams, however long one is.
#[test]
fn a_text_of_one_long_line_streams() {
    let item = |kind| GopherItem::repeated(kind, "/t", ".", &[b'x'; 1024], 64 << 10);
    for (site, path) in [
        (GopherSite::new().item(item('0')), "0/t"),
        (GopherSite::new().item(item('0')), "m/t"),
        (GopherSite::new().plus().item(item('0')), "0/t%09%09+"),
        (GopherSite::new().plus().item(item('0').length(GopherLength::Dot)), "0/t%09%09+"),
    ] {
        let (ran, memory, content) = filed(Before::Absent, &[&serve(site).url(path)]);
        ran.exits(0);
        let content = content.unwrap_or_default();
        assert!(
            content.starts_with(b".xxx") && content.trim_ascii_end().ends_with(b"xxx"),
            "{path}: {}",
            content.len()
        );
        assert!(memory > 0 && memory < MEMORY, "{path}: {memory} KiB");
    }
}

/// Rows 83 and 101: what comes after the end is not kept, anywhere.
#[test]
fn what_follows_the_dot_takes_no_memory() {
    let flood = |start: &[u8]| {
        let site = GopherSite::new().answer(start);
        site.on(GopherOn::Any, GopherAct::Flood(vec![b'x'; 64 << 10], 2 << 10))
    };
    let rows = [
        (flood(b"a\r\n.\r\n"), "0/t", ["--gopher-dots", "rfc1436"]),
        (flood(b"+3\r\na\r\n"), "0/t%09%09+", ["--gopher-dots", "auto"]),
        (flood(b"3No\t\thost\t1\r\n"), "1/t", ["--gopher-dots", "auto"]),
        (flood(b"-3\r\n1 x"), "0/t%09%09+", ["--gopher-dots", "auto"]),
    ];
    for (site, path, dots) in rows {
        let server = serve(site);
        let (ran, memory, _) = filed(Before::Old, &[dots[0], dots[1], &server.url(path)]);
        assert!([0, 63, 78].contains(&ran.exit), "{path}: {} {}", ran.exit, ran.stderr);
        assert!(memory > 0 && memory < MEMORY, "{path} {}: {memory} KiB", dots[1]);
    }
}

/// Every line of every menu is a line of JSON, whatever it is, with a URL that is one or none.
#[test]
fn menus_as_json_are_json() {
    let (setting, cert) = (setting(), ServerCert::good().expect("a certificate"));
    let is_clear = |fault: &GopherFault| fault.transports.contains(&Transport::Plain);
    let is_menu = |fault: &&GopherFault| {
        fault.path.starts_with(['1', '7']) && fault.arguments.is_empty() && is_clear(fault)
    };
    let menus: Vec<&GopherFault> =
        GOPHER_FAULTS.iter().filter(is_menu).filter(|fault| fault.expect == 0).collect();
    assert!(menus.len() > 20, "{}", menus.len());
    in_parallel(&menus, THREADS, |fault| {
        let (server, _) = fault.serve(Transport::Plain, &setting, &cert).expect("a server");
        let ran = fetch(["--format", "json", &fault.url(&server)]);
        let told = |why: &str| format!("{}: {why}: {} {}{}", fault.name, ran.exit, ran.text(), ran.stderr);
        ensure(ran.exit == 0, || told("it fails"))?;
        ensure(!ran.text().contains(is_raw), || told("raw controls"))?;
        for line in ran.text().lines() {
            let entry: Value = serde_json::from_str(line).map_err(|error| told(&error.to_string()))?;
            ensure(entry["name"].is_string() && entry["kind"].is_string(), || told("a line without a name"))?;
            let is_url =
                |text: &str| text.contains("://") && text.bytes().all(|octet| octet.is_ascii_graphic());
            ensure(entry["url"].as_str().is_none_or(is_url), || told("a URL that is none"))?;
        }
        let GopherResult::Shows(words) = fault.result else { return Ok(()) };
        let lacks = words.iter().find(|word| !ran.text().contains(word.trim()));
        ensure(lacks.is_none(), || told(&format!("no {lacks:?}")))
    });
}

#[test]
fn no_block_is_lost_in_json() {
    let site = GopherSite::new().answer("+-1\r\n+INFO: 9a\t/a\th\t70\r\n+A:\r\n one\r\n+A:\r\n two\r\n.\r\n");
    let server = serve(site);
    for format in ["text", "json"] {
        let ran = fetch(["--format", format, &server.url("9/a%09%09!")]);
        assert!(
            ran.exits(0).text().contains("one") && ran.text().contains("two"),
            "{format}: {}",
            ran.text()
        );
    }
}

/// RFC 1738 §3.4.9: a filled form in a URL goes out only where the item has a form, and nowhere by a redirect.
#[test]
fn a_filled_form_is_no_way_to_other_servers() {
    let path = "0/f%09%09+%091%0D%0A+-1%0D%0AQUIT%0D%0A.%0D%0A";
    let mail = serve(GopherSite::new().answer("220 mail ready\r\n"));
    filed(Before::Old, &[&mail.url(path)]).0.exits(78);
    assert_eq!(mail.dialogue(), ["/f\t!\r\n"]);
    let form = GopherForm::new().ask(GopherAsk::Ask, "Name?").reply("thanks");
    let item = GopherItem::text("/f", "").form(form);
    let honest = serve(GopherSite::new().plus().item(item));
    let (ran, _, content) = filed(Before::Old, &[&honest.url(path)]);
    ran.exits(0);
    assert_eq!(
        (content.as_deref(), honest.answers()),
        (Some(b"thanks".as_slice()), vec![vec![b"QUIT".to_vec()]])
    );
    let asked = honest.connections();
    let target = honest.url(path);
    let page = support::serving(move |_| HttpReply::new(302).header("Location", &target));
    for more in [&["--proto-redir", "=gopher"][..], &[]] {
        filed(Before::Old, &[more, &[&page.url("/")]].concat()).0.exits(90);
    }
    assert_eq!(honest.connections(), asked);
}

/// What answers a form is not talked about.
#[test]
fn passwords_of_forms_stay_secret() {
    let form = GopherForm::new().ask(GopherAsk::AskP, "Password?").reply("thanks");
    let server = serve(GopherSite::new().plus().item(GopherItem::text("/f", "").form(form)));
    let here = tempfile::tempdir().expect("a directory");
    let trace = here.path().join("trace");
    let words = ["-vvv", "--trace", trace.to_str().expect("UTF-8"), "--events", "-", "-w", "%{json}"];
    let answer = ["--form", "Password?=s3cr3t", "-o", "f", &server.url("0/f%09%09?")].map(str::to_owned);
    let ran = support::fetch_in(here.path(), words.map(str::to_owned).into_iter().chain(answer));
    ran.exits(0);
    assert_eq!(server.answers(), [[b"s3cr3t"]]);
    let told = [ran.text(), ran.stderr, std::fs::read_to_string(trace).expect("a trace")].concat();
    assert!(told.contains("/f") && !told.contains("s3cr3t"), "{told}");
}

/// RFC 4266: the octets of the URL, decoded once.
#[test]
fn what_goes_out() {
    let server = serve(GopherSite::new().plus().answer("."));
    let rows = [
        ("", "\r\n"),
        ("1", "\r\n"),
        ("00/x", "0/x\r\n"),
        ("9/a%20b%2520", "/a b%20\r\n"),
        ("9/../a/./b//", "/../a/./b//\r\n"),
        ("9/a?b", "/a?b\r\n"),
        ("9/%01%7F", "/\u{1}\u{7f}\r\n"),
        ("7/s%09two%20words", "/s\ttwo words\r\n"),
        ("7/s%09", "/s\t\r\n"),
        ("9/a%09%09+", "/a\t+\r\n"),
        ("9/a%09%09+text/plain%20En_US", "/a\t+text/plain En_US\r\n"),
        ("7/s%09w%09+", "/s\tw\t+\r\n"),
        ("9/a%09%09!", "/a\t!\r\n"),
        ("1/a%09%09$", "/a\t$\r\n"),
    ];
    for (path, _) in rows {
        fetch([server.url(path)]);
    }
    assert_eq!(server.dialogue(), rows.map(|(_, request)| request));
}

/// "Try again later" is; what was cut is not begun again behind what went to a pipe.
#[test]
fn retries() {
    let told = b"--1\r\n2 x\r\nlater\r\n.\r\n".to_vec();
    let site = || GopherSite::new().plus().item(GopherItem::binary("/a", "hello"));
    let busy = serve(site().rule(GopherRule::on("/a", GopherAct::Answer(told)).nth(1)));
    let again = ["--retry", "2", "--retry-delay", "0.01"];
    let ran = fetch([&again[..], &[&busy.url("9/a%09%09+")]].concat());
    assert_eq!((ran.exits(0).text().as_str(), busy.connections()), ("hello", 2));
    let cut = serve(site().rule(GopherRule::on("/a", GopherAct::Cut(2, Ending::Reset)).nth(1)));
    let ran = fetch([&again[..], &[&cut.url("9/a")]].concat());
    assert!(["he", "hello"].contains(&ran.text().as_str()), "{ran:?}");
    assert_eq!(ran.exit == 0, ran.text() == "hello", "{ran:?}");
    let cut = serve(site().rule(GopherRule::on("/a", GopherAct::Cut(2, Ending::Reset)).nth(1)));
    let (ran, _, content) = filed(Before::Absent, &[&again[..], &[&cut.url("9/a")]].concat());
    assert_eq!(content.as_deref(), (ran.exit == 0).then_some(b"hello".as_slice()), "{ran:?}");
}

/// A signal leaves nothing; what SIGKILL leaves is not used.
#[test]
fn signals() {
    let site = GopherSite::new().item(GopherItem::binary("/a", vec![b'x'; 300_000]));
    let server =
        serve(site.rule(GopherRule::on("/a", GopherAct::Cut(200_000, Ending::Stall(setting().stall)))));
    let target = Target::new(Before::Old).expect("a directory");
    let (path, url) = (target.path(), server.url("9/a"));
    let words = ["-o", path.to_str().expect("UTF-8"), &url];
    for (signal, number) in [("TERM", 15), ("INT", 2), ("KILL", 9)] {
        let child = support::started(words);
        let part = support::part_of(&path);
        let has_begun = || part.metadata().is_ok_and(|facts| facts.len() > 0);
        assert!(support::until(Duration::from_secs(10), has_begun), "SIG{signal}: no .part");
        support::send_signal(&child, signal);
        assert_eq!(support::ended(child).signal, Some(number));
        assert!(target.is_untouched().expect("readable"), "SIG{signal}");
        assert!(signal == "KILL" || target.leftovers().expect("readable").is_empty(), "SIG{signal}");
    }
    server.mend();
    fetch(words).exits(0);
    assert_eq!(target.content().expect("readable"), Some(vec![b'x'; 300_000]));
    assert!(target.leftovers().expect("readable").is_empty());
}
