//! FTP resume and ranges: a second run resumes the first one, retries resume within one run, byte ranges, time
//! conditions, size and time limits, signals (docs/spec/semantics.md §2, "Resume and ranges", and §12;
//! docs/spec/faults.md, rows 95 to 97 and 103 to 110, and section 3.1).

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant, UNIX_EPOCH};

use crate::support::{
    RunResult, check_in_parallel, part_metadata_path, part_path, run_fetch_url, run_shell, send_signal,
    spawn_fetch_url, wait_for_exit, wait_until,
};
use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpRule, FtpServer, OldFile, Target, pattern_vec};

const SIZE: usize = 300_000;
const CUT: u64 = 200_000;
/// The maximum number of bytes before the resume offset that may be downloaded again, to compare them.
const MAX_OVERLAP: u64 = 1024;
const MODIFIED: &str = "19941201123456";
const MODIFIED_UNIX_TIME: u64 = 786_285_296;

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

fn new_content() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

/// Content of the same size as [`new_content`] that differs in every byte.
fn old_content() -> Vec<u8> {
    new_content().iter().map(|byte| !byte).collect()
}

fn test_config() -> FtpConfig {
    FtpConfig::new().file("/d/o", new_content()).modified("/d/o", MODIFIED)
}

fn empty_target() -> Target {
    Target::new(OldFile::Absent).expect("create target directory")
}

fn fetch_to_target(target: &Target, server: &FtpServer, options: &str) -> RunResult {
    let path = target.path();
    let output = ["--read-timeout", "1.5", "-o", path.to_str().expect("valid UTF-8")];
    run_fetch_url(output.into_iter().chain(options.split_whitespace()).chain([server.url("/d/o").as_str()]))
}

#[track_caller]
fn assert_target_content(target: &Target, content: &[u8], case: &str) {
    let now = target.content().expect("read target file").unwrap_or_default();
    let equal_bytes = now.iter().zip(content).take_while(|(left, right)| left == right).count();
    assert!(
        now == content,
        "{case}: {} bytes instead of {}, equal up to {equal_bytes}",
        now.len(),
        content.len()
    );
    assert!(
        target.leftovers().expect("read target directory").is_empty(),
        "{case}: {:?}",
        target.leftovers()
    );
}

fn part_size(target: &Target) -> u64 {
    fs::metadata(part_path(&target.path())).map_or(0, |metadata| metadata.len())
}

/// Runs once with `config`, which truncates the transfer, and once against the repaired server, which must deliver
/// `expected`. Returns the size of the `.part` file before the second run, the bytes sent in the second run, and its
/// result.
#[track_caller]
fn run_twice(config: FtpConfig, expected: &[u8], case: &str) -> (u64, u64, RunResult) {
    let (server, target) = (start_server(config), empty_target());
    fetch_to_target(&target, &server, "-C -").assert_exit(18);
    assert!(target.is_untouched().expect("read target directory"), "{case}");
    let (part_bytes, sent) = (part_size(&target), server.bytes_sent());
    server.disable_rules();
    let result = fetch_to_target(&target, &server, "-v -C -");
    assert_eq!(result.exit, 0, "{case}: {}", result.stderr);
    assert_target_content(&target, expected, case);
    (part_bytes, server.bytes_sent() - sent, result)
}

/// Returns `true` if `sent` covers the missing bytes and at most [`MAX_OVERLAP`] bytes before them.
fn is_only_missing_bytes(part_bytes: u64, sent: u64) -> bool {
    let missing = SIZE as u64 - part_bytes;
    (missing..=missing + MAX_OVERLAP).contains(&sent)
}

#[test]
fn second_run_downloads_only_missing_bytes() {
    for ending in [Ending::Close, Ending::Reset] {
        let (part_bytes, sent, result) = run_twice(
            test_config().on("RETR", FtpAction::CutData(CUT, ending)),
            &new_content(),
            "same content",
        );
        assert!(
            part_bytes > 0 && is_only_missing_bytes(part_bytes, sent),
            "{ending:?}: {part_bytes} kept, {sent} sent"
        );
        assert!(result.stderr.contains("> REST "), "{}", result.stderr);
    }
    // All bytes arrive but the final reply is negative (docs/spec/faults.md, row 95): nothing is downloaded again.
    for act in [
        FtpAction::ReplaceReply(b"426 Failed.\r\n".to_vec()),
        FtpAction::ReplaceReply(b"451 Failed.\r\n".to_vec()),
    ] {
        let (part_bytes, sent, _) =
            run_twice(test_config().on("RETR", act), &new_content(), "negative final reply");
        assert!(
            part_bytes == SIZE as u64 && is_only_missing_bytes(part_bytes, sent),
            "{part_bytes} kept, {sent} sent"
        );
    }
}

/// The first run finds this object, which is truncated; the second run finds [`new_content`], modified at [`MODIFIED`].
fn config_with_earlier_object(bytes: Vec<u8>, time: &str) -> FtpConfig {
    test_config()
        .replace_reply("SIZE", format!("213 {}\r\n", bytes.len()))
        .replace_reply("MDTM", format!("213 {time}\r\n"))
        .on("RETR", FtpAction::Data(bytes))
        .on("RETR", FtpAction::CutData(CUT, Ending::Close))
}

#[test]
fn resume_restarts_when_size_or_time_changed() {
    let longer = [old_content(), old_content()].concat();
    for (case, config) in [
        ("another size", config_with_earlier_object(longer, MODIFIED)),
        ("another time", config_with_earlier_object(old_content(), "19941201123455")),
        ("both", config_with_earlier_object(old_content()[..250_000].to_vec(), "20240102030405")),
        ("a time with a fraction", config_with_earlier_object(old_content(), &format!("{MODIFIED}.500"))),
    ] {
        let (_, sent, _) = run_twice(config, &new_content(), case);
        assert_eq!(sent, SIZE as u64, "{case}");
    }
}

/// Without both SIZE and MDTM, the client cannot check that the object is unchanged.
#[test]
fn resume_restarts_without_size_and_mdtm() {
    let truncated_config = || test_config().on("RETR", FtpAction::CutData(CUT, Ending::Close));
    for (case, config) in [
        ("no MDTM", truncated_config().without("MDTM")),
        ("no SIZE", truncated_config().without("SIZE")),
        ("neither", truncated_config().without("SIZE").without("MDTM")),
        ("malformed MDTM", truncated_config().replace_reply("MDTM", "213 yesterday\r\n")),
        (
            "550 to SIZE, docs/spec/faults.md, row 97",
            truncated_config().answer("SIZE", "550 Not a plain file.\r\n"),
        ),
    ] {
        let (_, sent, _) = run_twice(config, &new_content(), case);
        assert_eq!(sent, SIZE as u64, "{case}");
    }
}

#[test]
fn resume_restarts_when_rest_is_refused() {
    let truncated_config =
        || test_config().rule(FtpRule::on("RETR", FtpAction::CutData(CUT, Ending::Close)).nth(1));
    for (case, config) in [
        ("500", truncated_config().without("REST")),
        ("502", truncated_config().answer("REST", "502 No.\r\n")),
        // RETR is refused after REST was accepted: the offset does not apply to the next RETR.
        (
            "554 at RETR",
            truncated_config()
                .rule(FtpRule::on("REST", FtpAction::Answer(b"350 Sure.\r\n".to_vec())).nth(1))
                .rule(FtpRule::on("RETR", FtpAction::Answer(b"554 No.\r\n".to_vec())).nth(2)),
        ),
    ] {
        let (server, target) = (start_server(config), empty_target());
        fetch_to_target(&target, &server, "-C -").assert_exit(18);
        let result = fetch_to_target(&target, &server, "-v -C -");
        assert_eq!(result.exit, 0, "{case}: {}", result.stderr);
        assert_target_content(&target, &new_content(), case);
        let is_reported =
            result.stderr.lines().any(|line| line.starts_with("* ") && line.contains("refused"));
        assert!(is_reported, "{case}: -v does not report the refusal: {}", result.stderr);
    }
}

/// The server replies 350 to REST but sends the whole file: the result is never spliced (docs/spec/faults.md, rule N5).
#[test]
fn ignored_rest_never_splices_content() {
    let truncated_config =
        || test_config().rule(FtpRule::on("RETR", FtpAction::CutData(CUT, Ending::Close)).nth(1));
    for reply in ["350 Sure.\r\n", "350-Sure\r\n350 Why not.\r\n"] {
        let (server, target) = (start_server(truncated_config().answer("REST", reply)), empty_target());
        fetch_to_target(&target, &server, "-C -").assert_exit(18);
        let mut last_stderr = String::new();
        for _ in 0..3 {
            let result = fetch_to_target(&target, &server, "-v -C -");
            if result.exit == 0 {
                break;
            }
            assert!(target.is_untouched().expect("read target directory"), "{result:?}");
            last_stderr = result.stderr;
        }
        assert_target_content(&target, &new_content(), &format!("{reply:?} {last_stderr}"));
        // A range to a pipe: either the requested bytes are delivered or the run fails.
        let result = run_fetch_url(["-r", "1000-", &server.url("/d/o")]);
        assert!(
            result.exit != 0 || result.stdout == new_content()[1000..],
            "spliced content: {}",
            result.stdout.len()
        );
    }
}

/// The server ignores REST only once, and sends so slowly that all wrong bytes could be written: the `.part` file stays
/// a prefix of the object (docs/spec/faults.md, rule N4), and exit 0 means correct content (rule N3).
#[test]
fn rest_ignored_once_keeps_the_part_a_prefix() {
    let ignoring_config = || {
        test_config()
            .rule(FtpRule::on("RETR", FtpAction::CutData(CUT, Ending::Close)).nth(1))
            .rule(FtpRule::on("REST", FtpAction::Answer(b"350 Sure.\r\n".to_vec())).nth(1))
            .rule(FtpRule::on("RETR", FtpAction::Drip(20_000, Duration::from_millis(5))).nth(2))
    };
    let (server, target) = (start_server(ignoring_config()), empty_target());
    fetch_to_target(&target, &server, "-C -").assert_exit(18);
    for _ in 0..3 {
        let result = fetch_to_target(&target, &server, "-C -");
        let part = fs::read(part_path(&target.path())).unwrap_or_default();
        assert!(new_content().starts_with(&part), "the .part file is not a prefix: {} bytes", part.len());
        if result.exit == 0 {
            break;
        }
    }
    assert_target_content(&target, &new_content(), "in several runs");
    for options in ["--retry 3 --retry-delay 0.02", "--retry 3 --retry-delay 0.02 -C -"] {
        let (server, target) = (start_server(ignoring_config()), empty_target());
        let result = fetch_to_target(&target, &server, options);
        let now = target.content().expect("read target file").unwrap_or_default();
        assert!(
            if result.exit == 0 { now == new_content() } else { now.is_empty() },
            "{options}: {}",
            result.exit
        );
        let part = fs::read(part_path(&target.path())).unwrap_or_default();
        assert!(
            new_content().starts_with(&part),
            "{options}: the .part file is not a prefix: {} bytes",
            part.len()
        );
        // To a pipe: the complete object, or a prefix of it and a failure.
        let server = start_server(ignoring_config());
        let result = run_fetch_url(options.split(' ').take(4).chain([server.url("/d/o").as_str()]));
        let is_prefix =
            new_content().starts_with(&result.stdout) && (result.exit != 0 || result.stdout.len() == SIZE);
        assert!(
            is_prefix,
            "spliced content on standard output: exit {}, {} bytes",
            result.exit,
            result.stdout.len()
        );
    }
}

/// docs/spec/faults.md, row 108: retries resume and do not discard the received bytes.
#[test]
fn retries_resume_within_one_run() {
    let truncated_three_times = |ending| {
        let rule = |nth| FtpRule::on("RETR", FtpAction::CutData(60_000, ending)).nth(nth);
        (1..=3).fold(test_config(), |config, nth| config.rule(rule(nth)))
    };
    for ending in [Ending::Reset, Ending::Close, Ending::Fin] {
        let (server, target) = (start_server(truncated_three_times(ending)), empty_target());
        fetch_to_target(&target, &server, "--retry 3 --retry-delay 0.02").assert_exit(0);
        assert_target_content(&target, &new_content(), "resumed");
        let sent = server.bytes_sent();
        assert!(sent <= SIZE as u64 * 11 / 10, "{ending:?}: {sent} bytes sent for {SIZE}");
        // docs/spec/faults.md, row 107: on standard output each byte appears once.
        let server = start_server(truncated_three_times(ending));
        let result = run_fetch_url(["--retry", "3", "--retry-delay", "0.02", &server.url("/d/o")]);
        assert!(result.assert_exit(0).stdout == new_content(), "{ending:?}: {} bytes", result.stdout.len());
    }
    // The object changed during the transfer: a file download restarts, and standard output gets no spliced content.
    let changed_config = || {
        test_config()
            .rule(FtpRule::on("SIZE", FtpAction::ReplaceReply(b"213 250000\r\n".to_vec())).nth(1))
            .rule(FtpRule::on("RETR", FtpAction::Data(old_content()[..250_000].to_vec())).nth(1))
            .rule(FtpRule::on("RETR", FtpAction::CutData(CUT, Ending::Reset)).nth(1))
    };
    let (server, target) = (start_server(changed_config()), empty_target());
    fetch_to_target(&target, &server, "--retry 3 --retry-delay 0.02").assert_exit(0);
    assert_target_content(&target, &new_content(), "changed object");
    let result =
        run_fetch_url(["--retry", "3", "--retry-delay", "0.02", &start_server(changed_config()).url("/d/o")]);
    assert!(
        result.exit != 0 && old_content().starts_with(&result.stdout),
        "{} {} bytes",
        result.exit,
        result.stdout.len()
    );
}

/// Rule 8.10 of cli.md: a transfer that breaks off before its first byte is retried like one that breaks off later.
#[test]
fn transfer_that_breaks_off_before_its_first_byte_is_retried() {
    let once = |action| test_config().rule(FtpRule::on("RETR", action).nth(1));
    let breaks = [
        ("close", FtpAction::CutData(0, Ending::Close)),
        ("reset", FtpAction::CutData(0, Ending::Reset)),
        ("226 without data", FtpAction::Data(Vec::new())),
        ("stall", FtpAction::CutData(0, Ending::Stall(Duration::from_secs(20)))),
    ];
    check_in_parallel(&breaks, 2, |(case, action)| {
        for (options, expected) in [("--retry-delay 0.02", 0), ("--retry-delay 0.02 -r 1000-", 1000)] {
            let (server, target) = (start_server(once(action.clone())), empty_target());
            fetch_to_target(&target, &server, options).assert_exit(0);
            assert_target_content(&target, &new_content()[expected..], case);
        }
        // Nothing can be mixed, so the object needs no modification time, and standard output gets the same version.
        let (server, target) = (start_server(once(action.clone()).without("MDTM")), empty_target());
        fetch_to_target(&target, &server, "--retry-delay 0.02").assert_exit(0);
        assert_target_content(&target, &new_content(), case);
        let server = start_server(once(action.clone()));
        let options = ["--read-timeout", "1.5", "--retry-delay", "0.02", &server.url("/d/o")];
        assert!(run_fetch_url(options).assert_exit(0).stdout == new_content(), "{case}");
        Ok(())
    });
    let server = start_server(
        once(FtpAction::CutData(0, Ending::Close))
            .rule(FtpRule::on("MDTM", FtpAction::Answer(b"213 20240102030405\r\n".to_vec())).nth(2)),
    );
    let result = run_fetch_url(["--retry-delay", "0.02", &server.url("/d/o")]);
    assert!(result.assert_exit(18).stdout.is_empty(), "another version on standard output");
}

#[test]
fn byte_ranges_are_delivered_or_exit_33() {
    let server = start_server(test_config());
    let all = new_content();
    for (range, part) in [
        ("0-9", &all[..10]),
        ("10-19", &all[10..20]),
        ("0-0", &all[..1]),
        ("299990-", &all[299_990..]),
        ("-10", &all[299_990..]),
        ("299999-400000", &all[299_999..]),
        ("0-", &all[..]),
        ("-400000", &all[..]),
    ] {
        let before = server.bytes_sent();
        let result = run_fetch_url(["-r", range, &server.url("/d/o")]);
        assert!(result.assert_exit(0).stdout == part, "{range}: {} bytes", result.stdout.len());
        assert!(range != "-10" || server.bytes_sent() == before + 10, "{range}");
    }
    for range in ["300000-", "300000-300001", "400000-400001"] {
        assert!(
            run_fetch_url(["-r", range, &server.url("/d/o")]).assert_exit(33).stdout.is_empty(),
            "{range}"
        );
    }
    // docs/spec/faults.md, row 110: an ASCII transfer has no byte offsets.
    for options in ["-r 0-9", "-r 10-", "-r -10", "-C 10"] {
        let url = format!("{};type=a", server.url("/d/o"));
        let result = run_fetch_url(options.split(' ').chain([url.as_str()]));
        assert!(result.assert_exit(33).stdout.is_empty(), "{options}");
    }
    for config in [
        test_config().without("SIZE"),
        test_config().without("REST"),
        test_config().answer("REST", "350 Ignored.\r\n").without("SIZE"),
    ] {
        let server = start_server(config);
        for range in ["-10", "10-19"] {
            let result = run_fetch_url(["-r", range, &server.url("/d/o")]);
            let part = if range == "-10" { &all[SIZE - 10..] } else { &all[10..20] };
            let is_ignored =
                server.received_text().iter().any(|line| line.starts_with("REST")) && result.exit == 0;
            assert!(
                [0, 33].contains(&result.exit) && (result.exit != 0 || result.stdout == part || is_ignored),
                "{result:?}"
            );
        }
    }
}

#[test]
fn continue_at_offset_appends_or_exits() {
    let server = start_server(test_config());
    assert!(
        run_fetch_url(["-C", "299000", &server.url("/d/o")]).assert_exit(0).stdout
            == new_content()[299_000..]
    );
    let target = empty_target();
    fs::write(target.path(), &new_content()[..1000]).expect("write file");
    fetch_to_target(&target, &server, "-C 1000").assert_exit(0);
    assert_target_content(&target, &new_content(), "-C 1000");
    assert!(run_fetch_url(["-C", "400000", &server.url("/d/o")]).assert_exit(33).stdout.is_empty());
    let target = empty_target();
    let result = fetch_to_target(&target, &server, "-C 5000");
    assert!(
        [2, 23, 33].contains(&result.exit) && target.is_untouched().expect("read target directory"),
        "{result:?}"
    );
}

/// Without SIZE, the number of bytes does not show that the server has ignored REST.
#[test]
fn continue_at_offset_exits_33_if_the_server_ignores_rest() {
    let ignoring = || test_config().answer("REST", "350 Ignored.\r\n");
    let part = &new_content()[..1000];
    for config in [ignoring(), ignoring().without("SIZE")] {
        let (server, target) = (start_server(config), empty_target());
        fs::write(target.path(), part).expect("write file");
        let result = fetch_to_target(&target, &server, "-C 1000");
        result.assert_exit(33).assert_stderr_contains("ignores REST");
        assert_target_content(&target, part, "-C 1000");
    }
    // Up to 64 bytes before the offset, no REST is needed.
    for kept in [1, 63, 64, 65, 1000] {
        let (server, target) = (start_server(test_config().without("SIZE")), empty_target());
        fs::write(target.path(), new_content()).expect("write file");
        fetch_to_target(&target, &server, &format!("-C {kept}")).assert_exit(0);
        assert_target_content(&target, &new_content(), &kept.to_string());
        let rest = server.received_text().iter().any(|line| line.starts_with("REST"));
        assert_eq!(rest, kept > 64, "{kept}");
    }
}

/// A server may refuse SIZE and MDTM of a file that it sends.
#[test]
fn open_range_is_delivered_if_size_and_mdtm_are_refused() {
    let refusal = "550 Not allowed.\r\n";
    let server = start_server(test_config().answer("SIZE", refusal).answer("MDTM", refusal));
    let result = run_fetch_url(["-r", "1000-", &server.url("/d/o")]);
    assert!(result.assert_exit(0).stdout == new_content()[1000..], "{}", result.stderr);
    run_fetch_url(["-r", "1000-", &server.url("/d/absent")]).assert_exit(78);
}

#[test]
fn time_condition_skips_unchanged_object() {
    for (condition, is_fetched) in [
        ("1994-12-01", true),
        ("1994-12-02", false),
        ("1994-12-01 12:34:56", false),
        ("1994-12-01 12:34:55", true),
        ("-1994-12-01", false),
        ("-1994-12-02", true),
    ] {
        let server = start_server(test_config());
        let result = run_fetch_url(["-z", condition, &server.url("/d/o")]);
        assert_eq!(
            (result.exit, result.stdout.len()),
            (0, if is_fetched { SIZE } else { 0 }),
            "{condition}: {}",
            result.stderr
        );
        let retr_was_sent = server.received_text().iter().any(|line| line.starts_with("RETR"));
        assert_eq!(
            (retr_was_sent, server.bytes_sent() > 0),
            (is_fetched, is_fetched),
            "{condition}: {:?}",
            server.received_text()
        );
    }
    // Without MDTM the modification time is unknown, so the object is downloaded.
    let server = start_server(test_config().without("MDTM"));
    assert_eq!(run_fetch_url(["-z", "1994-12-02", &server.url("/d/o")]).assert_exit(0).stdout.len(), SIZE);
}

#[test]
fn time_condition_skips_unchanged_text() {
    for (condition, expected) in [("1994-12-01", "a\n"), ("1994-12-02", "")] {
        let config = FtpConfig::new().file("/t", "a\n").modified("/t", "19941201123456");
        let server = start_server(config);
        for arguments in [
            ["-z", condition, &server.url("/t;type=a")].as_slice(),
            &["-B", "-z", condition, &server.url("/t")],
        ] {
            let result = run_fetch_url(arguments);
            assert_eq!(result.assert_exit(0).stdout_text(), expected, "{arguments:?}");
        }
    }
}

#[test]
fn remote_time_sets_the_file_time_unless_mdtm_is_malformed() {
    let (server, target) = (start_server(test_config()), empty_target());
    fetch_to_target(&target, &server, "-R").assert_exit(0);
    let time =
        fs::metadata(target.path()).and_then(|metadata| metadata.modified()).expect("file modification time");
    assert_eq!(time.duration_since(UNIX_EPOCH).expect("after 1970").as_secs(), MODIFIED_UNIX_TIME);
    let text = empty_target();
    fetch_to_target(&text, &server, "-R -B").assert_exit(0);
    assert_eq!(
        fs::metadata(text.path()).and_then(|file| file.modified()).expect("file modification time"),
        time
    );
    for reply in
        ["213 19941301123456\r\n", "213 19941201\r\n", "213 \r\n", "213 99999999999999\r\n", "550 No.\r\n"]
    {
        let (server, target) = (start_server(test_config().replace_reply("MDTM", reply)), empty_target());
        fetch_to_target(&target, &server, "-R").assert_exit(0);
        assert_target_content(&target, &new_content(), reply);
    }
}

#[test]
fn size_and_time_limits_are_enforced() {
    let server = start_server(test_config());
    let target = empty_target();
    fetch_to_target(&target, &server, "--max-filesize 299999").assert_exit(63);
    assert!(target.is_untouched().expect("read target directory"));
    fetch_to_target(&target, &server, "--max-filesize 300000").assert_exit(0);
    let target = empty_target();
    fetch_to_target(&target, &start_server(test_config().without("SIZE")), "--max-filesize 299999")
        .assert_exit(63);
    assert!(target.is_untouched().expect("read target directory"));
    let slow = start_server(test_config().on("RETR", FtpAction::Drip(1000, Duration::from_millis(20))));
    let started = Instant::now();
    fetch_to_target(&empty_target(), &slow, "--max-time 0.7").assert_exit(28);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

fn start_slow_server() -> FtpServer {
    start_server(
        test_config().rule(FtpRule::on("RETR", FtpAction::Drip(4000, Duration::from_millis(50))).nth(1)),
    )
}

fn spawn_and_wait_for_data(target: &Target, server: &FtpServer) -> Child {
    let (path, url) = (target.path(), server.url("/d/o"));
    let child = spawn_fetch_url(["-C".as_ref(), "-".as_ref(), "-o".as_ref(), path.as_os_str(), url.as_ref()]);
    assert!(wait_until(Duration::from_secs(10), || part_size(target) > 8000), "no data was written");
    child
}

#[test]
fn signal_keeps_the_part_for_the_next_run() {
    check_in_parallel(&[("INT", 2), ("TERM", 15)], 2, |&(name, signal)| {
        let (server, target) = (start_slow_server(), empty_target());
        let child = spawn_and_wait_for_data(&target, &server);
        send_signal(&child, name);
        let sent = Instant::now();
        let result = wait_for_exit(child);
        assert_eq!(result.signal, Some(signal), "{result:?}");
        assert!(sent.elapsed() < Duration::from_secs(1), "{:?}", sent.elapsed());
        assert!(
            target.is_untouched().expect("read target directory")
                && part_metadata_path(&target.path()).exists()
        );
        let part_bytes = part_size(&target);
        fetch_to_target(&target, &server, "-C -").assert_exit(0);
        assert_target_content(&target, &new_content(), name);
        let restart_offset =
            server.received_text().iter().find_map(|line| line.strip_prefix("REST ")?.parse::<u64>().ok());
        let resumes_at_part_end = restart_offset.is_some_and(|restart_offset| {
            restart_offset <= part_bytes && restart_offset + MAX_OVERLAP >= part_bytes
        });
        assert!(resumes_at_part_end, "{part_bytes}: {:?}", server.received_text());
        Ok(())
    });
}

#[test]
fn sigkill_never_leaves_wrong_content() {
    let runs: Vec<u64> = (0..8).collect();
    check_in_parallel(&runs, 4, |run| {
        let server =
            start_server(test_config().on("RETR", FtpAction::Drip(20_000, Duration::from_millis(10))));
        let target = empty_target();
        let (path, url) = (target.path(), server.url("/d/o"));
        let options = ["-C".as_ref(), "-".as_ref(), "-o".as_ref(), path.as_os_str(), url.as_ref()];
        let mut child = spawn_fetch_url(options);
        std::thread::sleep(Duration::from_millis(run * 37 % 300));
        child.kill().expect("kill process");
        wait_for_exit(child);
        let now = target.content().expect("read target file").unwrap_or_default();
        assert!(now.is_empty() || now == new_content(), "{run}: {} bytes", now.len());
        fetch_to_target(&target, &server, "-C -").assert_exit(0);
        assert_target_content(&target, &new_content(), "after SIGKILL");
        Ok(())
    });
}

#[test]
fn closed_stdout_exits_23() {
    let server = start_server(test_config().pattern("/d/big", 4_000_000).generated_dir("/many", 100_000));
    for path in ["/d/big", "/many/"] {
        let script = "{ \"$F\" \"$1\"; echo \"exit $?\" >&2; } | head -c 10 >/dev/null";
        assert_eq!(run_shell(script, [server.url(path)]).stderr, "exit 23\n", "{path}");
    }
}
