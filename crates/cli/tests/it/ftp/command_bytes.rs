//! The bytes of FTP commands: every byte except CR, LF and NUL is sent unchanged. CR, LF and NUL are never sent, in any
//! part of the URL or the login (docs/spec/semantics.md §2; docs/spec/faults.md, rows 1 to 4).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{
    BINARY, RunResult, fetch_url_command, isolate_environment, run_command, run_fetch_url, temp_dir,
};
use fetch_url_tests::{FtpConfig, FtpServer, FtpTrigger};

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

fn test_config() -> FtpConfig {
    FtpConfig::new().file("/x", "object").file("/a/x", "object")
}

fn percent_encode(byte: usize) -> String {
    format!("%{byte:02X}")
}

/// docs/spec/faults.md, row 4: bytes in a file name and in a directory name.
#[test]
fn every_byte_except_cr_lf_nul_is_sent_unchanged() {
    let allowed: Vec<usize> = (0..256).filter(|byte| ![0, 10, 13].contains(byte)).collect();
    let config = allowed.iter().fold(FtpConfig::new(), |config, byte| {
        let name = [b"n", &[*byte as u8][..], b"m"].concat();
        let config = config.file([b"/", &name[..]].concat(), format!("{byte};"));
        config.file([b"/d", &name[..], b"/f"].concat(), format!("{byte}d;"))
    });
    let server = start_server(config);
    let base = server.url("");
    let (files, directories): (Vec<String>, Vec<String>) = allowed
        .iter()
        .map(|byte| {
            (format!("{base}n{}m", percent_encode(*byte)), format!("{base}dn{}m/f", percent_encode(*byte)))
        })
        .unzip();
    let expected: String = allowed.iter().map(|byte| format!("{byte};")).collect();
    assert_eq!(run_fetch_url(files).assert_exit(0).stdout_text(), expected);
    assert_eq!(run_fetch_url(directories).assert_exit(0).stdout_text(), expected.replace(';', "d;"));
    let received = server.commands().concat();
    for byte in allowed {
        let line = [b"RETR n", &[byte as u8][..], b"m"].concat();
        assert!(received.contains(&line), "{}", line.escape_ascii());
        let line = [b"CWD dn", &[byte as u8][..], b"m"].concat();
        assert!(received.contains(&line), "{}", line.escape_ascii());
    }
}

/// BSD servers read two 0xFF bytes as one (telnet IAC). The doubled form is sent only after a 550 to the single one.
#[test]
fn iac_byte_is_doubled_only_after_550() {
    let has_single_iac: fn(&[u8]) -> bool =
        |line| line.contains(&0xff) && !line.windows(2).any(|pair| pair == [0xff, 0xff]);
    for (path, name) in [("/x%FFy", &b"/x\xffy"[..]), ("/d%FF/f", b"/d\xff/f")] {
        let config = FtpConfig::new().unescapes_telnet().file(name, "found");
        let server =
            start_server(config.answer(FtpTrigger::Matches(has_single_iac), "550 No such file.\r\n"));
        let result = run_fetch_url(["-v", &server.url(path)]);
        assert_eq!((result.exit, result.stdout_text().as_str()), (0, "found"), "{path}: {}", result.stderr);
        let received = server.commands().concat();
        let single = received.iter().position(|line| has_single_iac(line));
        let doubled = received.iter().position(|line| line.windows(2).any(|pair| pair == [0xff, 0xff]));
        assert!(single.is_some() && single < doubled, "{:?}", server.received_text());
    }
    // A path without 0xFF is requested once: the 550 is final.
    let server = start_server(FtpConfig::new());
    run_fetch_url([server.url("/missing")]).assert_exit(78);
    assert_eq!(server.received_text().iter().filter(|line| line.starts_with("RETR")).count(), 1);
}

/// ProFTPD takes 0xFF 0xFE (IAC DONT) and the next byte for a Telnet command, and answers it with IAC WONT.
#[test]
fn iac_byte_is_doubled_after_a_telnet_answer() {
    let is_telnet_command: fn(&[u8]) -> bool = |line| {
        line.windows(2).any(|pair| pair == [0xff, 0xfe]) && !line.windows(2).any(|pair| pair == [0xff, 0xff])
    };
    for (path, name) in [("/x%FF%FEy", &b"/x\xff\xfey"[..]), ("/d%FF%FEz/f", b"/d\xff\xfez/f")] {
        let config = FtpConfig::new().unescapes_telnet().file(name, "found");
        let answer = b"\xff\xfcy550 No such file.\r\n";
        let server = start_server(config.answer(FtpTrigger::Matches(is_telnet_command), *answer));
        let result = run_fetch_url(["-v", &server.url(path)]);
        assert_eq!((result.exit, result.stdout_text().as_str()), (0, "found"), "{path}: {}", result.stderr);
    }
}

/// docs/spec/faults.md, rows 1 to 3: rejected in every part of the URL and with every option that changes the commands.
#[test]
fn cr_lf_nul_in_url_are_rejected_before_connecting() {
    let server = start_server(test_config());
    let addr = server.addr();
    for byte in ["%0D", "%0a", "%00", "%0d%0A", "%0D%0ADELE%20x"] {
        for url in [
            format!("ftp://{addr}/x{byte}"),
            format!("ftp://{addr}/{byte}"),
            format!("ftp://{addr}/a{byte}/x"),
            format!("ftp://{addr}/a/{byte}x;type=a"),
            format!("ftp://{addr}/a{byte};type=d"),
            format!("ftp://{addr}/{byte}/"),
            format!("ftp://u{byte}:p@{addr}/x"),
            format!("ftp://u:p{byte}@{addr}/x"),
            format!("ftp://{byte}@{addr}/x"),
            format!("ftps://{addr}/x{byte}"),
        ] {
            for options in ["", "--ftp-method nocwd", "--ftp-method singlecwd", "-I", "--list"] {
                let result = run_fetch_url(options.split_whitespace().chain([url.as_str()]));
                assert_eq!((result.exit, result.stdout.len()), (93, 0), "{options} {url}: {}", result.stderr);
            }
        }
    }
    assert_eq!(server.connections(), 0, "{:?}", server.received_text());
}

/// Logins from options, password files and `--askpass` programs.
#[test]
fn cr_lf_nul_in_login_options_are_never_sent() {
    let server = start_server(test_config().user("u", "p").account("a"));
    let dir = temp_dir();
    let write_file_with_mode = |name: &str, text: &[u8], mode: u32| {
        fs::write(dir.path().join(name), text).expect("write file");
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).expect("set file mode");
    };
    write_file_with_mode("nul", b"p\0q\n", 0o600);
    write_file_with_mode("cr", b"p\rq\n", 0o600);
    write_file_with_mode("ask", b"#!/bin/sh\nprintf 'p\\0q\\n'\n", 0o700);
    let mut failures = Vec::new();
    for options in [
        &["-u", "u\r\nDELE x:p"][..],
        &["-u", "u:p\r\nDELE x"],
        &["-u", "u:p\n"],
        &["-u", "u\n:p"],
        &["-u", "u:p", "--ftp-account", "a\r\nDELE x"],
        &["-u", "u:p", "--ftp-account", "a\n"],
        &["--ftp-anonymous-email", "me@h\r\nDELE x"],
        &["-u", "u", "--password-file", "nul"],
        &["-u", "u", "--password-file", "cr"],
        &["-u", "u", "--askpass", "./ask"],
    ] {
        let mut command = fetch_url_command();
        command.current_dir(dir.path()).args(["--retry", "0"]).args(options).arg(server.url("/x"));
        let result = run_command(command);
        // A bad `-u` may be reported as a usage error (exit 2), before any URL is processed.
        if ![93, 2].contains(&result.exit) || !result.stdout.is_empty() {
            failures.push(format!("{options:?}: {} {}", result.exit, result.stderr));
        }
    }
    let sent: Vec<Vec<u8>> = server.commands().concat();
    let is_bad = |line: &Vec<u8>| line.iter().any(|byte| [0, 10, 13].contains(byte));
    assert!(
        !sent.iter().any(|line| is_bad(line) || line.starts_with(b"DELE")),
        "{:?}",
        server.received_text()
    );
    assert!(failures.is_empty(), "{failures:#?}");
}

fn fetch_with_netrc(text: &[u8], url: &str) -> RunResult {
    let dir = temp_dir();
    let path = dir.path().join("netrc");
    fs::write(&path, text).expect("write file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set file mode");
    let mut command = std::process::Command::new(BINARY);
    isolate_environment(&mut command);
    command.args(["--retry", "0", "--netrc-file"]).arg(&path).arg(url);
    run_command(command)
}

#[test]
fn cr_lf_nul_in_netrc_are_never_sent() {
    let server = start_server(test_config());
    for text in [
        &b"machine 127.0.0.1 login u password \"p\\r\\nDELE x\"\n"[..],
        b"machine 127.0.0.1 login \"u\\nDELE x\" password p\n",
        b"machine 127.0.0.1 login u password p\0q\n",
    ] {
        let result = fetch_with_netrc(text, &server.url("/x"));
        assert!([93, 2].contains(&result.exit), "{}: {result:?}", text.escape_ascii());
        assert!(!result.stderr.contains("DELE"), "a password was printed: {}", result.stderr);
    }
    assert!(!server.received_text().iter().any(|line| line.contains("DELE") || line.contains('\0')));
}

/// Random paths with arbitrary `%hh` escapes never inject a second command line (docs/spec/faults.md, row 1).
#[test]
fn random_paths_send_one_line_per_command() {
    let server = start_server(FtpConfig::new());
    let (mut seed, mut allowed) = (0x2545_f491_4f6c_dd1d_u64, 0);
    let mut random_below = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    for _ in 0..80 {
        let bytes: Vec<u8> =
            (0..=random_below(6)).map(|_| (random_below(64) * random_below(5)) as u8).collect();
        let path: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
        let before = server.commands().concat().len();
        let result = run_fetch_url([server.url(&path)]);
        let is_bad = bytes.iter().any(|byte| [0, 10, 13].contains(byte));
        let received = server.commands().concat();
        assert_eq!(result.exit, if is_bad { 93 } else { 78 }, "{path}: {}", result.stderr);
        assert_eq!(received.len() > before, !is_bad, "{path}: {:?}", server.received_text());
        allowed += usize::from(!is_bad);
        let retr = [b"RETR ", &bytes[..]].concat();
        assert!(is_bad || received[before..].contains(&retr), "{path}: {:?}", server.received_text());
    }
    assert!(
        (10..70).contains(&allowed),
        "{allowed} of 80 paths were allowed: the random mixture tests too little"
    );
    let all = server.commands().concat();
    assert!(!all.iter().flatten().any(|byte| [0, 10, 13].contains(byte)));
}
