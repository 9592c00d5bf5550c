//! The nntp and news column of the fault matrix (docs/spec/faults.md, section 3): every fault of [`NntpFault::all`],
//! without TLS, with STARTTLS and with TLS, with and without an older file at the output path; and the limits on
//! memory and input size.

use std::time::{Duration, Instant};

use super::start_server;
use crate::support::fault_runner::FaultRunner;
use crate::support::{RunResult, ensure, run_measuring_memory};
use fetch_url_tests::{
    NntpArticle, NntpConfig, NntpFault, NntpGroup, NntpServer, OldFile, PreparedCase, ReservedPort, Target,
};

/// The password in the options of the faults.
const PASSWORD: &str = "secret-7";

/// Checks that nothing is negotiated twice on a connection and that no login is sent without TLS (docs/spec/faults.md,
/// rows 40 and 89).
fn check_commands(case: &PreparedCase<NntpServer>) -> Result<(), String> {
    let logins = case.fault.plaintext_logins(&case.server);
    ensure(logins.is_empty(), || format!("sent in plaintext: {logins:?}"))?;
    for lines in case.server.commands() {
        let lines: Vec<String> =
            lines.iter().map(|line| String::from_utf8_lossy(line).to_uppercase()).collect();
        for start in ["STARTTLS", "COMPRESS", "AUTHINFO USER", "AUTHINFO PASS"] {
            let count = lines.iter().filter(|line| line.starts_with(start)).count();
            ensure(count < 2, || format!("{start} {count} times"))?;
        }
        // At most once before and once after TLS or the login.
        let modes = lines.iter().filter(|line| line.starts_with("MODE")).count();
        ensure(modes <= 2, || format!("MODE READER {modes} times"))?;
    }
    Ok(())
}

#[test]
fn every_news_fault_ends_as_in_the_fault_matrix() {
    FaultRunner::new::<NntpServer>().check_table(NntpFault::all(), |case, result| {
        ensure(!result.stderr.contains(PASSWORD), || "the message contains the password".to_owned())?;
        check_commands(case)
    });
}

/// A failed transfer leaves no `.part` file, so the next run starts from the beginning.
#[test]
fn run_after_failed_transfer_downloads_the_whole_article() {
    let names = [
        "reset_512",
        "close_last",
        "no_dot_close",
        "stall_512",
        "wrong_article",
        "greeting_400",
        "group_411",
    ];
    FaultRunner::new::<NntpServer>().check_restart(NntpFault::all(), &names);
}

/// The memory limit of rule N8 (docs/spec/faults.md), in KiB.
const MAX_MEMORY: u64 = 64 * 1024;

/// Fetches into a new directory and checks that no other file is left there; returns the result, the peak memory in
/// KiB and the content of the output file.
fn run_to_file(before: OldFile, arguments: &[&str]) -> (RunResult, u64, Option<Vec<u8>>) {
    let target = Target::new(before).expect("create temporary directory");
    let path = target.path();
    let mut options = vec!["-o", path.to_str().expect("valid UTF-8")];
    options.extend(arguments);
    let (memory, result) = run_measuring_memory(&options);
    assert!(target.leftovers().expect("read target directory").is_empty(), "{arguments:?}");
    assert!(result.exit == 0 || target.is_untouched().expect("read target directory"), "{arguments:?}");
    let content = target.content().expect("read target directory");
    (result, memory, content)
}

#[test]
fn closed_port_exits_7_and_missing_news_server_exits_2() {
    let port = ReservedPort::tcp().expect("a port");
    let addr = port.addr().to_string();
    for before in OldFile::ALL {
        for scheme in ["nntp", "nntps"] {
            run_to_file(before, &[&format!("{scheme}://{addr}/fetch.test/1")]).0.assert_exit(7);
        }
        for url in ["news:a@b.example", "snews:a@b.example", "news:*"] {
            run_to_file(before, &["--news-server", &addr, url]).0.assert_exit(7);
        }
        // Without a news server the error names the option.
        run_to_file(before, &["news:a@b.example"]).0.assert_exit(2).assert_stderr_contains("--news-server");
    }
}

/// docs/spec/faults.md, rows 9 and 19.
#[test]
fn forbidden_url_is_rejected_without_connection() {
    let server = start_server(NntpConfig::new());
    let rows = [
        ("fetch.test%0D%0AQUIT/1", [93, 3]),
        ("fetch.test%0A/1", [93, 3]),
        ("fetch.test%00/1", [93, 3]),
        ("fetch.test%20x/1", [93, 3]),
        ("fetch.test%3E/1", [93, 3]),
        ("fetch.test/1%0D%0AQUIT", [93, 3]),
        ("fetch.test/10000000000000000", [3, 3]),
        ("fetch.test/-1", [3, 3]),
    ];
    for (path, exits) in rows {
        let (result, ..) = run_to_file(OldFile::Present, &[&server.url(path)]);
        assert!(exits.contains(&result.exit), "{path}: {} {}", result.exit, result.stderr);
    }
    let long = format!("{}@b.example", "x".repeat(300));
    let ids = ["a%0D%0AQUIT@b.example", "a%00@b.example", "a%20b@b.example", "a%3E@b.example", long.as_str()];
    for id in ids {
        let addr = server.news_server();
        let (result, ..) = run_to_file(OldFile::Present, &["--news-server", &addr, &format!("news:{id}")]);
        assert!([3, 93].contains(&result.exit), "{id}: {} {}", result.exit, result.stderr);
    }
    for port in [1, 25, 79, 110, 1023, 6667] {
        run_to_file(OldFile::Present, &[&format!("nntp://127.0.0.1:{port}/fetch.test/1")]).0.assert_exit(90);
    }
    assert_eq!(server.connections(), 0);
}

/// Fetches a list, checks its number of lines, and returns the peak memory in KiB.
fn memory_of_long_list(config: NntpConfig, path: &str, format: &str, lines: u64, last: &str) -> u64 {
    let server = start_server(config);
    let (addr, url) = (server.news_server(), path.replace("{server}", &server.news_server()));
    let (result, memory, content) =
        run_to_file(OldFile::Absent, &["--news-server", &addr, "--format", format, &url]);
    result.assert_exit(0);
    let text = String::from_utf8(content.unwrap_or_default()).expect("valid UTF-8");
    assert!(text.contains(last), "{path} {format}: no {last}");
    assert!(text.lines().count() as u64 >= lines, "{path} {format}: {}", text.lines().count());
    assert!(memory > 0 && memory < MAX_MEMORY, "{path} {format}: {memory} KiB");
    memory
}

/// docs/spec/faults.md, row 84: lists are not collected in memory. A debug build formats fewer lines, but enough to
/// show a growth of memory.
#[test]
fn list_of_a_million_lines_is_streamed() {
    const LINES: u64 = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
    // With fewer lines the process could exit before its memory is measured.
    const FEW: u64 = 2_000;
    let groups = |count: u64| NntpConfig::new().generated_groups(count);
    let articles = |count: u64| NntpConfig::new().group(NntpGroup::new("fetch.test").generated(1, count));
    memory_of_long_list(groups(1_000_000), "news:*", "raw", 1_000_000, "many.g0999999");
    for format in ["text", "json"] {
        let last = format!("many.g{:07}", LINES - 1);
        let few = memory_of_long_list(groups(FEW), "news:*", format, FEW, "many.g0001999");
        let many = memory_of_long_list(groups(LINES), "news:*", format, LINES, &last);
        assert!(many < few + 4 * 1024, "{format}: {few} and {many} KiB of groups");
        let path = "nntp://{server}/fetch.test";
        let few = memory_of_long_list(articles(FEW), path, format, FEW, "entry 0002000");
        let many = memory_of_long_list(articles(LINES), path, format, LINES, &format!("entry {LINES:07}"));
        assert!(many < few + 4 * 1024, "{format}: {few} and {many} KiB of articles");
    }
}

/// docs/spec/faults.md, rows 83, 84 and 112: an endless header line.
#[test]
fn header_line_of_a_gibibyte_exits_63() {
    const PIECE: &[u8] = &[b'x'; 1024];
    let start = Instant::now();
    let head = NntpArticle::new("Message-ID: <a@test.invalid>\r\nSubject: ").repeated(PIECE, 1 << 20);
    let group = NntpGroup::new("fetch.test").append(head);
    let server = start_server(NntpConfig::new().group(group));
    let (result, memory, _) = run_to_file(OldFile::Present, &[&server.url("fetch.test/1")]);
    result.assert_exit(63).assert_stderr_contains("line");
    assert!(memory > 0 && memory < MAX_MEMORY, "{memory} KiB");
    assert!(server.bytes_sent() < 16 << 20, "{} bytes", server.bytes_sent());
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// An article of 19 MiB in which every line starts with a dot.
#[test]
fn long_article_is_streamed_and_dots_are_undoubled() {
    const LINES: u64 = 1 << 20;
    let start = "Message-ID: <a@test.invalid>\r\nSubject: x\r\n\r\n";
    let article = NntpArticle::new(start).repeated(b".a line of dots..\r\n", LINES);
    let server = start_server(NntpConfig::new().group(NntpGroup::new("fetch.test").append(article)));
    let (result, memory, content) = run_to_file(OldFile::Present, &[&server.url("fetch.test/1")]);
    result.assert_exit(0);
    assert!(memory > 0 && memory < MAX_MEMORY, "{memory} KiB");
    let content = content.unwrap_or_default();
    assert_eq!(content.len(), start.len() + 19 * LINES as usize);
    assert!(content.ends_with(b"\r\n.a line of dots..\r\n") && !content.windows(3).any(|w| w == b"\n.."));
}

/// Several ARTICLE commands are pending at the same time, one for each number of the URL.
#[test]
fn article_range_is_pipelined_without_extra_requests() {
    let group = (1..=50).fold(NntpGroup::new("fetch.test"), |group, number| {
        group.append(NntpArticle::post(&format!("{number}@test.invalid"), "x", "body\r\n"))
    });
    let server = start_server(NntpConfig::new().group(group).delay(Duration::from_millis(20)));
    let (result, _, content) = run_to_file(OldFile::Absent, &[&server.url("fetch.test/1-50")]);
    result.assert_exit(0);
    let text = String::from_utf8(content.unwrap_or_default()).expect("valid UTF-8");
    assert_eq!(text.matches("Message-ID:").count(), 50);
    let lines = server.received_text();
    let commands: Vec<_> = lines.iter().filter(|line| line.starts_with("ARTICLE ")).collect();
    assert_eq!(
        commands,
        (1..=50).map(|number| format!("ARTICLE {number}")).collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
    assert!(server.max_pending() > 1 && server.connections() == 1, "{}", server.max_pending());
}
