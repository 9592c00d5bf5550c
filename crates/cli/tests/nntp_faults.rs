//! The nntp and news column of the fault matrix (SECURITY.md, section 3) through the real binary: every fault of
//! [`NntpFault::all`], in clear, by STARTTLS and under TLS, with an older file under the name and without.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fetch_url_tests::{
    Before, NntpArticle, NntpFault, NntpFaultSetting, NntpGroup, NntpResult, NntpServer, NntpSite,
    NntpTransport, ServerCert, Target,
};
use support::outcome::{disk_is_clean, is_exactly, shows, talk_is_clean};
use support::sound::measured;
use support::{Ran, ensure, fetch, in_parallel};

const THREADS: usize = 8;
/// The password in the options of the faults.
const SECRET: &str = "secret-7";

fn setting() -> NntpFaultSetting {
    NntpFaultSetting { stall: Duration::from_secs(20), ..NntpFaultSetting::default() }
}

/// One fault over one transport, and what was under the name before.
type Row = (&'static NntpFault, NntpTransport, Before);

fn rows() -> Vec<Row> {
    let over = |fault: &'static NntpFault| fault.transports.iter().map(move |transport| (fault, *transport));
    let before = |(fault, transport)| Before::ALL.map(|before| (fault, transport, before));
    NntpFault::all().flat_map(over).flat_map(before).collect()
}

/// A server with the fault, and a run of the program for it.
fn run(row: &Row, setting: &NntpFaultSetting, cert: &ServerCert) -> (NntpServer, Target, Ran, String) {
    let (fault, transport, before) = row;
    let (server, ca_pem) = fault.serve(*transport, setting, cert).expect("a server");
    let ca: PathBuf = tempfile::NamedTempFile::new().expect("a file").into_temp_path().keep().expect("kept");
    std::fs::write(&ca, ca_pem).expect("written");
    let target = Target::new(*before).expect("a directory");
    let (path, url) = (target.path(), fault.url(&server));
    let own = fault.arguments(*transport, &server);
    let mut words = vec!["--connect-timeout", "10", "--read-timeout", "2", "--cacert"];
    words.extend([ca.to_str().expect("UTF-8"), "-o", path.to_str().expect("UTF-8")]);
    words.extend(own.iter().map(String::as_str));
    words.push(&url);
    let ran = fetch(words);
    let _ = std::fs::remove_file(ca);
    (server, target, ran, url)
}

fn disk_is_sound(
    target: &Target,
    exit: i32,
    fault: &NntpFault,
    setting: &NntpFaultSetting,
) -> Result<(), String> {
    disk_is_clean(target, exit, |octets| match fault.result {
        NntpResult::Is(content) => is_exactly(octets, &content(setting)),
        NntpResult::Shows(words) => shows(octets, words),
    })
}

/// N7: and no secret.
fn report_is_sound(ran: &Ran, url: &str, fault: &NntpFault) -> Result<(), String> {
    ensure(!ran.stderr.contains(SECRET), || "tells the password".to_owned())?;
    talk_is_clean(ran, url.split(':').next().unwrap_or_default(), fault.says)
}

/// Row 89, row 40: nothing is negotiated twice on a connection, and no login goes out in clear.
fn dialogue_is_sound(server: &NntpServer, fault: &NntpFault) -> Result<(), String> {
    let secrets = fault.secrets_in_clear(server);
    ensure(secrets.is_empty(), || format!("in clear: {secrets:?}"))?;
    for lines in server.commands() {
        let lines: Vec<String> =
            lines.iter().map(|line| String::from_utf8_lossy(line).to_uppercase()).collect();
        for start in ["STARTTLS", "COMPRESS", "AUTHINFO USER", "AUTHINFO PASS"] {
            let count = lines.iter().filter(|line| line.starts_with(start)).count();
            ensure(count < 2, || format!("{start} {count} times"))?;
        }
        // Once in clear, once under TLS or after the login.
        let modes = lines.iter().filter(|line| line.starts_with("MODE")).count();
        ensure(modes <= 2, || format!("MODE READER {modes} times"))?;
    }
    Ok(())
}

fn one_fault(row: &Row, setting: &NntpFaultSetting, cert: &ServerCert) -> Result<(), String> {
    let (fault, transport, before) = row;
    let (server, target, ran, url) = run(row, setting, cert);
    let told = |why: String| {
        format!("{} {transport:?} {before:?}: {why} (exit {}, {})", fault.name, ran.exit, ran.stderr.trim())
    };
    ensure(fault.accepts(ran.exit), || told(format!("expected {} or {:?}", fault.expect, fault.also)))?;
    disk_is_sound(&target, ran.exit, fault, setting).map_err(told)?;
    report_is_sound(&ran, &url, fault).map_err(told)?;
    dialogue_is_sound(&server, fault).map_err(told)
}

#[test]
fn every_fault_ends_as_the_matrix_says() {
    let (setting, cert) = (setting(), ServerCert::good().expect("a certificate"));
    in_parallel(&rows(), THREADS, |row| one_fault(row, &setting, &cert));
}

/// Nothing stays, so the next run begins anew, and ends as if nothing had happened.
#[test]
fn the_next_run_begins_anew() {
    let (setting, cert) = (setting(), ServerCert::good().expect("a certificate"));
    let cut = [
        "reset_512",
        "close_last",
        "no_dot_close",
        "stall_512",
        "wrong_article",
        "greeting_400",
        "group_411",
    ];
    let faults: Vec<_> = NntpFault::all().filter(|fault| cut.contains(&fault.name)).collect();
    assert_eq!(faults.len(), cut.len());
    in_parallel(&faults, THREADS, |fault| {
        let (server, _) = fault.serve(NntpTransport::Plain, &setting, &cert).expect("a server");
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
        ensure(content == setting.article, || told(&second))
    });
}

/// In KiB; SECURITY.md, N8.
const MEMORY: u64 = 64 * 1024;

fn serve(site: NntpSite) -> NntpServer {
    NntpServer::start(site).expect("a server")
}

/// A run into a file, of which nothing but the file may be there; and what it holds.
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
    for before in Before::ALL {
        let addr = serve(NntpSite::new()).news_server();
        for scheme in ["nntp", "nntps"] {
            filed(before, &[&format!("{scheme}://{addr}/fetch.test/1")]).0.exits(7);
        }
        for url in ["news:a@b.example", "snews:a@b.example", "news:*"] {
            filed(before, &["--news-server", &addr, url]).0.exits(7);
        }
        // Who names no server is told how to.
        filed(before, &["news:a@b.example"]).0.exits(2).says("--news-server");
    }
}

/// Rows 9 and 19: what would change the protocol does not go out, and mail servers are not talked to.
#[test]
fn what_may_not_go_out_does_not() {
    let server = serve(NntpSite::new());
    let rows = [
        ("fetch.test%0D%0AQUIT/1", [93, 3]),
        ("fetch.test%0A/1", [93, 3]),
        ("fetch.test%00/1", [93, 3]),
        ("fetch.test%20x/1", [93, 3]),
        ("fetch.test%3E/1", [93, 3]),
        ("fetch.test/1%0D%0AQUIT", [93, 3]),
        ("fetch.test/2147483648", [3, 3]),
        ("fetch.test/-1", [3, 3]),
    ];
    for (path, exits) in rows {
        let (ran, ..) = filed(Before::Old, &[&server.url(path)]);
        assert!(exits.contains(&ran.exit), "{path}: {} {}", ran.exit, ran.stderr);
    }
    let long = format!("{}@b.example", "x".repeat(300));
    let ids = ["a%0D%0AQUIT@b.example", "a%00@b.example", "a%20b@b.example", "a%3E@b.example", long.as_str()];
    for id in ids {
        let addr = server.news_server();
        let (ran, ..) = filed(Before::Old, &["--news-server", &addr, &format!("news:{id}")]);
        assert!([3, 93].contains(&ran.exit), "{id}: {} {}", ran.exit, ran.stderr);
    }
    for port in [1, 25, 79, 110, 1023, 6667] {
        filed(Before::Old, &[&format!("nntp://127.0.0.1:{port}/fetch.test/1")]).0.exits(90);
    }
    assert_eq!(server.connections(), 0);
}

/// The most memory that a list of so many lines takes.
fn crowded(site: NntpSite, path: &str, format: &str, lines: u64, last: &str) -> u64 {
    let server = serve(site);
    let (addr, url) = (server.news_server(), path.replace("{server}", &server.news_server()));
    let (ran, memory, content) = filed(Before::Absent, &["--news-server", &addr, "--format", format, &url]);
    ran.exits(0);
    let text = String::from_utf8(content.unwrap_or_default()).expect("UTF-8");
    assert!(text.contains(last), "{path} {format}: no {last}");
    assert!(text.lines().count() as u64 >= lines, "{path} {format}: {}", text.lines().count());
    assert!(memory > 0 && memory < MEMORY, "{path} {format}: {memory} KiB");
    memory
}

/// Row 84: streamed, not collected. A debug build makes text of fewer lines in the same time; what it would
/// collect of these shows as well.
#[test]
fn a_million_groups_and_articles() {
    const LINES: u64 = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
    // Not so few that the program is over before anybody has looked at its memory.
    const FEW: u64 = 2_000;
    let groups = |count: u64| NntpSite::new().crowd(count);
    let articles = |count: u64| NntpSite::new().group(NntpGroup::new("fetch.test").crowd(1, count));
    crowded(groups(1_000_000), "news:*", "raw", 1_000_000, "crowd.g0999999");
    for format in ["text", "json"] {
        let last = format!("crowd.g{:07}", LINES - 1);
        let few = crowded(groups(FEW), "news:*", format, FEW, "crowd.g0001999");
        let many = crowded(groups(LINES), "news:*", format, LINES, &last);
        assert!(many < few + 4 * 1024, "{format}: {few} and {many} KiB of groups");
        let path = "nntp://{server}/fetch.test";
        let few = crowded(articles(FEW), path, format, FEW, "entry 0002000");
        let many = crowded(articles(LINES), path, format, LINES, &format!("entry {LINES:07}"));
        assert!(many < few + 4 * 1024, "{format}: {few} and {many} KiB of articles");
    }
}

/// Rows 83, 84 and 112: one line of 1 GiB, in all places that have lines.
#[test]
fn a_line_of_a_gigabyte() {
    const PIECE: &[u8] = &[b'x'; 1024];
    let begun = Instant::now();
    let head = NntpArticle::new("Message-ID: <a@test.invalid>\r\nSubject: ").repeated(PIECE, 1 << 20);
    let group = NntpGroup::new("fetch.test").next(head);
    let server = serve(NntpSite::new().group(group));
    let (ran, memory, _) = filed(Before::Old, &[&server.url("fetch.test/1")]);
    ran.exits(63).says("line");
    assert!(memory > 0 && memory < MEMORY, "{memory} KiB");
    assert!(server.octets_sent() < 16 << 20, "{} octets", server.octets_sent());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

/// A long article streams, and dots at the beginning of all its lines are undoubled.
#[test]
fn a_long_article_streams() {
    const LINES: u64 = 1 << 20;
    let start = "Message-ID: <a@test.invalid>\r\nSubject: x\r\n\r\n";
    let article = NntpArticle::new(start).repeated(b".a line of dots..\r\n", LINES);
    let server = serve(NntpSite::new().group(NntpGroup::new("fetch.test").next(article)));
    let (ran, memory, content) = filed(Before::Old, &[&server.url("fetch.test/1")]);
    ran.exits(0);
    assert!(memory > 0 && memory < MEMORY, "{memory} KiB");
    let content = content.unwrap_or_default();
    assert_eq!(content.len(), start.len() + 19 * LINES as usize);
    assert!(content.ends_with(b"\r\n.a line of dots..\r\n") && !content.windows(3).any(|w| w == b"\n.."));
}

/// Commands for several articles go out together, and no more are asked for than the URL names.
#[test]
fn several_articles_are_pipelined() {
    let group = (1..=50).fold(NntpGroup::new("fetch.test"), |group, number| {
        group.next(NntpArticle::post(&format!("{number}@test.invalid"), "x", "body\r\n"))
    });
    let server = serve(NntpSite::new().group(group).delay(Duration::from_millis(20)));
    let (ran, _, content) = filed(Before::Absent, &[&server.url("fetch.test/1-50")]);
    ran.exits(0);
    let text = String::from_utf8(content.unwrap_or_default()).expect("UTF-8");
    assert_eq!(text.matches("Message-ID:").count(), 50);
    let lines = server.dialogue();
    let asked: Vec<_> = lines.iter().filter(|line| line.starts_with("ARTICLE ")).collect();
    assert_eq!(
        asked,
        (1..=50).map(|number| format!("ARTICLE {number}")).collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
    assert!(server.most_waiting() > 1 && server.connections() == 1, "{}", server.most_waiting());
}
