//! FTP replies about a transfer and how they decide whether it is complete (docs/spec/semantics.md §2,
//! "Completeness"; docs/spec/faults.md, rows 95 to 97, and section 3.2): malformed SIZE and MDTM replies, wrong sizes,
//! unusual and negative replies around the transfer.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::{RunResult, check_in_parallel, run_fetch_url, temp_dir};
use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpServer, pattern_vec};

const SIZE: usize = 50_000;

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

fn test_config() -> FtpConfig {
    FtpConfig::new().pattern("/a/x", SIZE as u64).file("/a/void", "")
}

fn fetch_x(server: &FtpServer, options: &str) -> RunResult {
    let common = ["--read-timeout", "2"].into_iter().chain(options.split_whitespace());
    run_fetch_url(common.chain([server.url("/a/x").as_str()]))
}

#[track_caller]
fn assert_complete(result: &RunResult, case: &str) {
    assert_eq!(result.exit, 0, "{case}: {}", result.stderr);
    assert!(result.stdout == pattern_vec(0, SIZE), "{case}: {} bytes", result.stdout.len());
}

/// The line arrives while the data flow, and no final reply follows it.
#[test]
fn line_that_is_no_reply_during_the_transfer_exits_8() {
    for line in ["hello, no reply", "000 x", "999 x", "22"] {
        let replies = format!("150 Here it comes.\r\n{line}\r\n");
        let config = test_config()
            .on("RETR", FtpAction::PreliminaryReply(replies.into_bytes()))
            .on("RETR", FtpAction::Drip(10_000, Duration::from_millis(20)))
            .on("RETR", FtpAction::ReplaceReply(Vec::new()));
        let result = fetch_x(&start_server(config), "");
        assert_eq!(result.exit, 8, "{line}: {}", result.stderr);
    }
}

/// The lines of the final reply arrive one by one while the data flow; the second one begins like another reply.
#[test]
fn final_reply_whose_lines_arrive_slowly_is_read_as_one() {
    let replies = b"150 Here it comes.\r\n226-x\r\n200 bytes sent\r\n".to_vec();
    let config = test_config()
        .on("RETR", FtpAction::PreliminaryReply(replies))
        .on("RETR", FtpAction::Drip(10_000, Duration::from_millis(100)))
        .on("RETR", FtpAction::ReplaceReply(b" more text\r\n226 Done.\r\n".to_vec()));
    assert_complete(&fetch_x(&start_server(config), ""), "slow lines");
}

/// docs/spec/faults.md, row 97: malformed replies to SIZE and MDTM.
#[test]
fn malformed_size_and_mdtm_replies_are_not_fatal() {
    let rows: Vec<(&str, &str)> = ["SIZE", "MDTM"]
        .into_iter()
        .flat_map(|command| {
            let replies = [
                "213 -1",
                "213 99999999999999999999999",
                "213 ",
                "213 0x10",
                "213 many",
                "213 1e9",
                "213 19943213000000",
                "550 Not a plain file.",
                "500 What?",
                "502 No.",
                "504 No.",
                "450 Busy.",
                "553 No.",
                "213-a\r\n213 b",
            ];
            replies.map(|reply| (command, reply))
        })
        .filter(|(command, reply)| *command != "SIZE" || !reply.contains("19943213"))
        .collect();
    check_in_parallel(&rows, 6, |(command, reply)| {
        let server = start_server(test_config().answer(*command, format!("{reply}\r\n")));
        assert_complete(&fetch_x(&server, ""), &format!("{command} {reply}"));
        assert_eq!(server.connections(), 1, "{command} {reply}: {:?}", server.received_text());
        Ok(())
    });
}

/// docs/spec/faults.md, row 96: fewer bytes are received than the SIZE reply announced.
#[test]
fn transfer_fails_when_size_reply_exceeds_data() {
    for size in ["50001", "18446744073709551615", "9223372036854775807"] {
        let server = start_server(test_config().replace_reply("SIZE", format!("213 {size}\r\n")));
        let dir = temp_dir();
        let output = dir.path().join("x");
        let result = fetch_x(&server, &format!("-o {}", output.display()));
        assert!([8, 18].contains(&result.exit) || result.exit == 23 && size.len() > 15, "{size}: {result:?}");
        assert!(!output.exists(), "{size}");
    }
    // SIZE counts bytes of the stored file, so it is not compared with the bytes of an ASCII transfer.
    let server = start_server(test_config().file("/t", "a\nb\n").answer("SIZE", "213 4\r\n"));
    assert_eq!(
        run_fetch_url([format!("{};type=a", server.url("/t"))]).assert_exit(0).stdout_text(),
        "a\nb\n"
    );
}

#[test]
fn empty_file_succeeds_but_failed_empty_transfer_does_not() {
    let server = start_server(test_config());
    let dir = temp_dir();
    let output = dir.path().join("void");
    run_fetch_url(["-o", output.to_str().expect("valid UTF-8"), &server.url("/a/void")]).assert_exit(0);
    assert_eq!(fs::metadata(&output).expect("read file metadata").len(), 0);
    // Without SIZE, data and a positive final reply, the transfer is incomplete.
    let server = start_server(
        test_config().without("SIZE").on("RETR", FtpAction::Data(Vec::new())).final_reply("426 Gone.\r\n"),
    );
    fetch_x(&server, "").assert_exit(18);
}

/// Without SIZE the transfer is assumed to be complete; `--require-complete` turns that into exit 18.
#[test]
fn missing_size_fails_only_with_require_complete() {
    let server = start_server(test_config().without("SIZE"));
    assert_complete(&fetch_x(&server, ""), "no size");
    fetch_x(&server, "--require-complete").assert_exit(18);
    assert_complete(&fetch_x(&start_server(test_config()), "--require-complete"), "a size");
}

/// These words make a listing incomplete; the reply to a file may name the file.
#[test]
fn words_in_the_final_reply_of_a_file_are_no_sign_of_an_incomplete_one() {
    for reply in [
        "226 Transfer complete: error.log",
        "226 No errors",
        "226-Warning: quota 90%\r\n226 Done",
        "226 rate limited",
    ] {
        let server = start_server(test_config().final_reply(format!("{reply}\r\n")));
        let result = fetch_x(&server, "--require-complete");
        assert_complete(&result, reply);
        assert_eq!(result.stderr, "", "{reply}");
    }
}

/// RFC 959 §4.2: 125 or 150 before the data, 226 or 250 after it, in the variants that real servers send.
#[test]
fn unusual_preliminary_and_final_replies_are_accepted() {
    for (preliminary, final_reply) in [
        ("125 Already open.\r\n", "226 Done.\r\n"),
        ("150 Here.\r\n", "250 Done.\r\n"),
        ("150-Here\r\n 226 not yet\r\n150 it comes\r\n", "226-Done\r\n 425 no\r\n226 Bye\r\n"),
        ("150 (17 bytes)\r\n", "226 17 bytes.\r\n"),
        ("150 (99999999999999999999999 bytes)\r\n", "226 Done.\r\n"),
        ("150\t\r\n", "226 \r\n"),
    ] {
        let server = start_server(
            test_config()
                .on("RETR", FtpAction::PreliminaryReply(preliminary.into()))
                .final_reply(final_reply),
        );
        let result = fetch_x(&server, "");
        if preliminary.contains('\t') {
            assert!([0, 8].contains(&result.exit), "{preliminary:?}: {result:?}");
            continue;
        }
        assert_complete(&result, preliminary);
    }
    // Without a preliminary reply, either all bytes are delivered or the transfer fails.
    let result =
        fetch_x(&start_server(test_config().on("RETR", FtpAction::PreliminaryReply(Vec::new()))), "");
    assert!([0, 8, 18].contains(&result.exit), "{result:?}");
    assert!(result.exit != 0 || result.stdout == pattern_vec(0, SIZE), "{} bytes", result.stdout.len());
}

/// docs/spec/faults.md, rows 95 and 96: all bytes arrive, but the final reply reports a failure.
#[test]
fn negative_final_reply_fails_with_exit_18() {
    for reply in [
        "426 Cut.\r\n",
        "451 Disk error.\r\n",
        "452 Full.\r\n",
        "551 Page type.\r\n",
        "552 Quota.\r\n",
        "425 What?\r\n",
    ] {
        let server = start_server(test_config().final_reply(reply));
        let dir = temp_dir();
        let output = dir.path().join("x");
        let result = fetch_x(&server, &format!("-o {}", output.display()));
        assert_eq!(result.exit, 18, "{reply}: {}", result.stderr);
        assert!(!output.exists(), "{reply}");
    }
}

#[test]
fn refused_retr_exits_with_the_code_of_the_reply() {
    for (reply, exits) in [
        ("550 No such file.", &[78][..]),
        ("550 Permission denied.", &[78, 9]),
        ("530 Not for you.", &[9]),
        ("553 Not that name.", &[9, 78]),
        ("450 Busy.", &[92, 78, 9]),
        ("421 Going down.", &[92]),
        ("500 What?", &[1, 8, 9]),
        ("332 Account?", &[67, 8]),
        ("200 Sure.", &[8, 18]),
        ("999 Never.", &[8]),
        ("hello", &[8]),
        ("", &[8, 28]),
    ] {
        let server = start_server(test_config().answer("RETR", format!("{reply}\r\n")));
        let result = fetch_x(&server, "");
        assert!(
            exits.contains(&result.exit) && result.stdout.is_empty(),
            "{reply}: {} {}",
            result.exit,
            result.stderr
        );
        assert!(reply.len() < 8 || result.stderr.contains(&reply[..3]), "{reply}: {}", result.stderr);
    }
}

/// docs/spec/faults.md, rows 18 and 76: control characters in replies are escaped in every output.
#[test]
fn control_characters_in_replies_are_sanitised() {
    let evil = "550 \x1b[2J\x1b]0;x\x07 \u{9b}31m \u{202e}gpj \x08\x7f\r\n";
    for options in ["", "-vvv", "--format json", "--trace -"] {
        let server = start_server(
            test_config().greeting(evil.replacen("550", "220", 1).trim_end()).answer("RETR", evil),
        );
        let result = fetch_x(&server, options);
        let is_control_character =
            |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(
            result.exit == 78 && !result.stderr.contains(is_control_character),
            "{options}: {:?}",
            result.stderr
        );
    }
}

/// A log file that is written while it is fetched.
#[test]
fn file_that_grew_after_size_is_assumed_complete() {
    let server = start_server(test_config().answer("SIZE", "213 10\r\n"));
    let result = fetch_x(&server, "");
    assert_complete(&result, "SIZE 10");
    let dir = temp_dir();
    let target = dir.path().join("x");
    let target = target.to_str().expect("UTF-8");
    let url = server.url("/a/x");
    run_fetch_url(["-o", target, &url]).assert_exit(0).assert_stderr_contains("may be incomplete");
    assert_eq!(fs::read(target).expect("read file"), pattern_vec(0, SIZE));
    fs::remove_file(target).expect("remove file");
    run_fetch_url(["--require-complete", "-o", target, &url]).assert_exit(18);
    assert!(!dir.path().join("x").exists());
    let server = start_server(test_config().answer("SIZE", format!("213 {}\r\n", SIZE + 1)));
    run_fetch_url(["--retry", "0", &server.url("/a/x")]).assert_exit(18);
}

#[test]
fn empty_login_directory_may_be_reported_by_450_or_550() {
    for (reply, exit) in
        [("450 No files found", 0), ("550 No files found.", 0), ("550 Permission denied.", 78)]
    {
        let server = start_server(test_config().answer("NLST", format!("{reply}\r\n")));
        run_fetch_url(["--retry", "0", &server.url("/")]).assert_exit(exit);
    }
}

/// 226 without 150 stands for an empty directory only if no data arrives.
#[test]
fn listing_that_is_not_announced_by_150_is_an_error_and_not_empty() {
    for (verb, format) in [("MLSD", "long"), ("NLST", "names")] {
        let server = start_server(test_config().on(verb, FtpAction::PreliminaryReply(Vec::new())));
        let result = run_fetch_url(["--retry", "0", "--list-format", format, &server.url("/a/")]);
        assert_eq!(result.exit, 8, "{verb}: {result:?}");
        assert!(result.stdout.is_empty(), "{verb}: {result:?}");
    }
}

/// The server reports the failure, but leaves the data connection open.
#[test]
fn failure_reply_ends_a_transfer_whose_data_connection_stays_open() {
    for reply in ["426 Aborted.\r\n", "421 Shutting down.\r\n", "551 Read error.\r\n"] {
        let stalled = FtpAction::CutData(1000, Ending::Stall(Duration::from_secs(8)));
        let replies = FtpAction::PreliminaryReply(format!("150 Here.\r\n{reply}").into());
        let config = test_config().on("RETR", stalled).on("RETR", replies);
        let started = Instant::now();
        let result = run_fetch_url(["--retry", "0", &start_server(config).url("/a/x")]);
        assert_eq!(result.exit, 18, "{reply}: {result:?}");
        assert!(started.elapsed() < Duration::from_secs(6), "{reply}: {:?}", started.elapsed());
    }
}

/// The reply overtakes the data, which is kept as the content so far.
#[test]
fn data_that_arrives_after_a_failure_reply_is_received() {
    let replies = FtpAction::PreliminaryReply(b"150 Here.\r\n426 Aborted.\r\n".to_vec());
    let slow = FtpAction::Drip(10_000, Duration::from_millis(100));
    let server = start_server(test_config().on("RETR", replies).on("RETR", slow));
    let result = run_fetch_url(["--retry", "0", &server.url("/a/x")]);
    assert_eq!(result.exit, 18, "{}", result.stderr);
    assert!(result.stdout == pattern_vec(0, SIZE), "{} bytes", result.stdout.len());
}

/// All replies of some servers consist of the code alone (docs/spec/semantics.md 2.79).
#[test]
fn replies_without_text_are_accepted_after_a_greeting_without_text() {
    let bare = || {
        ["USER 331", "PASS 230", "CWD 250", "TYPE 200", "SIZE 500", "MDTM 500"]
            .iter()
            .filter_map(|reply| reply.split_once(' '))
            .fold(test_config().greeting("220"), |config, (verb, code)| {
                config.replace_reply(verb, format!("{code}\r\n"))
            })
            .on("RETR", FtpAction::PreliminaryReply(b"150\r\n".to_vec()))
    };
    let multi_line = b"226-done\r\n331\r\n226\r\n";
    for end in [&b"226\r\n"[..], b"226\n", multi_line] {
        for config in [bare(), bare().split_replies()] {
            let server = start_server(config.final_reply(end));
            assert_complete(&fetch_x(&server, "--retry 0"), &String::from_utf8_lossy(end));
        }
    }
    let server = start_server(bare().on("RETR", FtpAction::Answer(b"550\r\n".to_vec())));
    fetch_x(&server, "--retry 0").assert_exit(78);
}

/// A greeting may arrive in pieces, and a line of its middle may look like its last line.
#[test]
fn greeting_that_arrives_in_pieces_is_read_completely() {
    for greeting in [
        "220 one line",
        "220-hello\r\n331 users online\r\n220 now",
        "230 logged in",
        "220",
        "220-hello\r\n220",
    ] {
        let whole = start_server(test_config().greeting(greeting));
        assert_complete(&fetch_x(&whole, ""), greeting);
        let pieces = start_server(test_config().greeting(greeting).split_replies());
        assert_complete(&fetch_x(&pieces, ""), greeting);
    }
}

/// Without SIZE, the reply 150 states the size: "150 Opening data connection (N bytes)".
#[test]
fn size_in_reply_150_is_compared_if_size_is_not_known() {
    let short = || test_config().without("SIZE").on("RETR", FtpAction::CutData(1000, Ending::Close));
    let short = || short().final_reply("226 Done.\r\n");
    assert_eq!(fetch_x(&start_server(short()), "--retry 0").exit, 18);
    let unstated = short().on("RETR", FtpAction::PreliminaryReply(b"150 Here.\r\n".to_vec()));
    assert_eq!(fetch_x(&start_server(unstated), "--retry 0").exit, 0);
    assert_complete(&fetch_x(&start_server(test_config().without("SIZE")), ""), "the whole file");
}

/// Some servers refuse SIZE and MDTM for files that they send.
#[test]
fn file_whose_metadata_are_refused_is_fetched_over_one_connection() {
    let directory = temp_dir();
    let out = directory.path().join("x");
    let refused = test_config().answer("SIZE", "550 No\r\n").answer("MDTM", "550 No\r\n");
    let options = format!("--segments 3 -o {}", out.display());
    fetch_x(&start_server(refused), &options).assert_exit(0);
    assert!(fs::read(&out).expect("the file") == pattern_vec(0, SIZE));
}

/// The size is unknown, but the file exists.
#[test]
fn range_of_a_file_of_unknown_size_exits_33_unless_size_and_mdtm_say_that_it_does_not_exist() {
    for (size, exit) in [("213 many\r\n", 33), ("550 No\r\n", 78)] {
        let config = test_config().answer("SIZE", size).answer("MDTM", "550 No\r\n");
        let result = fetch_x(&start_server(config), "-r 10-60");
        assert_eq!(result.exit, exit, "{size}: {}", result.stderr);
    }
}
