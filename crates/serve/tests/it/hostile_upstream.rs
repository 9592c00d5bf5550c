//! Servers that break their protocol, behind this one: the rows of the fault tables (docs/spec/faults.md, section 3).
//!
//! A fault that the command line reports with an exit status other than 0 must be visible in the answer, too: by its
//! status, or because the content does not end as announced. Content that is complete must be that of the object.

use std::time::Duration;

use fetch_url_tests::{
    Ending, FTP_FAULTS, Fault, FaultCase, FaultFixture, FaultResult, FaultServer, FtpServer, GopherConfig,
    GopherFault, GopherItem, GopherServer, HTTP_FAULTS, HttpServer, NntpFault, NntpServer, OldFile,
    ProsperoFault, ProsperoServer, ServerCert, Transport, WaisFault, WaisServer, check_in_parallel,
};

use crate::support::{Reply, TestServer, options};

/// The number of cases that run at the same time.
const THREADS: usize = 12;
/// The reason of the faults of several articles.
const LISTED: &str = "a range of articles is a list here: the articles are not fetched";
/// Faults that end differently behind this server, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    ("search_type_3", "the form of the search is shown, and the server is not asked"),
    ("more_data", "the length is announced before the object, so more bytes are an error"),
    ("size_too_small", "the length is announced before the object, so a wrong one is an error"),
    ("article_left_out", LISTED),
    ("articles_swapped", LISTED),
    ("last_article_twice", LISTED),
    ("range_400_mid_way", LISTED),
    ("range_480_mid_way", LISTED),
    ("range_cut_in_the_last", LISTED),
];

/// Asks for each row in plaintext that needs no option, as a path.
fn check_table<S: FaultServer + Sync>(faults: impl IntoIterator<Item = &'static Fault<S>>) {
    let fixture = FaultFixture { stall: Duration::from_secs(6), ..S::fixture() };
    let cert = ServerCert::good().expect("a certificate");
    let mut options = options();
    options.policy.timeouts.connect = Duration::from_secs(2);
    options.policy.timeouts.reply = Duration::from_secs(2);
    options.policy.timeouts.idle = Duration::from_secs(2);
    options.policy.limits.max_size = Some(64 << 20);
    let server = TestServer::with(options);
    let faults = faults.into_iter().filter(|fault| fault.arguments.is_empty());
    let cases: Vec<_> = FaultCase::all(faults)
        .into_iter()
        .filter(|case| case.transport == Transport::Plain && case.old_file == OldFile::Absent)
        .collect();
    assert!(cases.len() > 20, "{} cases", cases.len());
    check_in_parallel(&cases, THREADS, |case| {
        let prepared = case.prepare(&fixture, &cert).map_err(|error| error.to_string())?;
        if prepared.url.starts_with("news:") {
            return Ok(());
        }
        let reply = server.get(&format!("/{}", prepared.url), &[]);
        check_reply(case.fault, &fixture, &reply).map_err(|why| {
            let head = reply.head.lines().next().unwrap_or_default();
            let start = String::from_utf8_lossy(&reply.body[..reply.body.len().min(500)]).into_owned();
            format!(
                "{case}: {why}: {head}, {} bytes, complete: {}: {start}",
                reply.body.len(),
                reply.is_complete
            )
        })
    });
    assert_eq!(server.page("/").status, 200);
}

fn check_reply<S: FaultServer>(
    fault: &Fault<S>,
    fixture: &FaultFixture,
    reply: &Reply,
) -> Result<(), String> {
    if DIFFERENT.iter().any(|(name, _)| *name == fault.name) {
        return Ok(());
    }
    let is_success = (200..300).contains(&reply.status) && reply.is_complete;
    if reply.status == 0 {
        return Err("no answer".to_owned());
    }
    if !fault.accepts(0) && is_success {
        return Err(format!("exit status {} became a complete answer", fault.exit));
    }
    if fault.exit == 0 && fault.other_exits.is_empty() && !is_success && !(300..400).contains(&reply.status) {
        return Err("exit status 0 became a failure".to_owned());
    }
    let is_page = reply.field("content-type").is_some_and(|kind| kind.starts_with("text/html"));
    match fault.result {
        FaultResult::Exactly(content) if is_success && !is_page && reply.body != content(fixture) => {
            Err("other content".to_owned())
        }
        _ => Ok(()),
    }
}

#[test]
fn http_faults_are_visible() {
    check_table::<HttpServer>(HTTP_FAULTS);
}

#[test]
fn ftp_faults_are_visible() {
    check_table::<FtpServer>(FTP_FAULTS);
}

#[test]
fn gopher_faults_are_visible() {
    check_table::<GopherServer>(GopherFault::all());
}

#[test]
fn news_faults_are_visible() {
    check_table::<NntpServer>(NntpFault::all());
}

#[test]
fn wais_faults_are_visible() {
    check_table::<WaisServer>(WaisFault::all());
}

#[test]
fn prospero_faults_are_visible() {
    check_table::<ProsperoServer>(ProsperoFault::all());
}

#[test]
fn interrupted_answer_without_a_length_ends_with_a_reset() {
    use std::io::{Read as _, Write as _};
    let config =
        GopherConfig::new().item(GopherItem::text("/a", "hello\r\n".repeat(1000))).cut(4000, Ending::Reset);
    let gopher = GopherServer::start(config).expect("starts");
    let server = TestServer::start();
    let mut stream = server.connect();
    stream.write_all(format!("GET {} HTTP/1.0\r\n\r\n", gopher.url("0/a")).as_bytes()).expect("sent");
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).expect_err("a reset, because HTTP/1.0 has no other sign");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}
