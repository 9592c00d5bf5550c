//! The commands that FTP URLs produce: the command table of docs/spec/semantics.md §2 (RFC 1738 §3.2.2), checked
//! against a server that records every command. Which bytes a command may contain is tested in `command_bytes.rs`.

use crate::support::{check_in_parallel, ensure, run_fetch_url};
use fetch_url_tests::{EmptyCwd, FtpAction, FtpConfig, FtpServer};

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

/// Files below the login directory `/base`, and one file outside it.
fn test_config() -> FtpConfig {
    let config = FtpConfig::new().login_directory("/base").file("/etc/motd", "far motd");
    ["c.bin", "c.txt", "dir/one", "dir/two", "b/x", "b/c.bin", "x?y", "x#y"]
        .iter()
        .fold(config, |config, name| config.file(format!("/base/a/{name}"), format!("a {name}\n")))
        .file("/base/b/x", "b x\n")
        .file("/base/etc/motd", "base motd")
        .file("/base/x?y", "question")
        .file("/base/x", "x\n")
}

/// The commands received after the login, without queries about the server itself (FEAT, PWD, SYST and others).
fn transfer_commands(server: &FtpServer) -> Vec<String> {
    let server_queries = ["USER", "PASS", "FEAT", "PWD", "SYST", "OPTS", "NOOP", "QUIT", "CLNT"];
    let mut lines = server.received_text();
    lines.retain(|line| !server_queries.contains(&line.split(' ').next().unwrap_or_default()));
    lines
}

/// URL path, options, expected commands and expected output.
type Case = (&'static str, &'static str, &'static [&'static str], &'static str);

#[track_caller]
fn assert_commands(config: &FtpConfig, rows: &[Case]) {
    check_in_parallel(rows, 8, |(path, options, expected, output)| {
        let server = start_server(config.clone());
        let url = format!("ftp://{}{path}", server.addr());
        let result = run_fetch_url(options.split_whitespace().chain([url.as_str()]));
        let case = format!("{options} {path:?}");
        ensure(result.exit == 0, || format!("{case}: exit {} {}", result.exit, result.stderr))?;
        // EPSV may be sent at any position before the transfer command, and exactly once.
        let is_epsv = |line: &String| line == "EPSV";
        let (commands, mut expected) = (transfer_commands(&server), expected.to_vec());
        expected.retain(|line| *line != "EPSV");
        ensure(commands.iter().filter(|line| is_epsv(line)).count() == 1, || {
            format!("{case}: {commands:?}")
        })?;
        let others: Vec<&String> = commands.iter().filter(|line| !is_epsv(line)).collect();
        ensure(others == expected, || format!("{case}: {commands:?}"))?;
        ensure(commands.last().is_none_or(|line| !is_epsv(line)), || format!("{case}: {commands:?}"))?;
        ensure(result.stdout_text() == *output, || format!("{case}: {:?}", result.stdout_text()))
    });
}

#[test]
fn url_paths_become_cwd_and_retr_commands() {
    assert_commands(
        &test_config(),
        &[
            ("/x", "", &["TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"], "x\n"),
            (
                "/a/b/c.bin",
                "",
                &["CWD a", "CWD b", "TYPE I", "SIZE c.bin", "MDTM c.bin", "EPSV", "RETR c.bin"],
                "a b/c.bin\n",
            ),
            (
                "/%2Fetc/motd",
                "",
                &["CWD /etc", "TYPE I", "SIZE motd", "MDTM motd", "EPSV", "RETR motd"],
                "far motd",
            ),
            (
                "/%2fetc%2Fmotd",
                "",
                &["TYPE I", "SIZE /etc/motd", "MDTM /etc/motd", "EPSV", "RETR /etc/motd"],
                "far motd",
            ),
            (
                "/etc/motd",
                "",
                &["CWD etc", "TYPE I", "SIZE motd", "MDTM motd", "EPSV", "RETR motd"],
                "base motd",
            ),
            (
                "/a%2Fb/c.bin",
                "",
                &["CWD a/b", "TYPE I", "SIZE c.bin", "MDTM c.bin", "EPSV", "RETR c.bin"],
                "a b/c.bin\n",
            ),
            (
                "/a/../b/x",
                "",
                &["CWD a", "CWD ..", "CWD b", "TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"],
                "b x\n",
            ),
            ("/x?y", "", &["TYPE I", "SIZE x?y", "MDTM x?y", "EPSV", "RETR x?y"], "question"),
            (
                "/a/x%23y#not-sent",
                "",
                &["CWD a", "TYPE I", "SIZE x#y", "MDTM x#y", "EPSV", "RETR x#y"],
                "a x#y\n",
            ),
            (
                "/a/c.txt;type=i",
                "",
                &["CWD a", "TYPE I", "SIZE c.txt", "MDTM c.txt", "EPSV", "RETR c.txt"],
                "a c.txt\n",
            ),
            // Without a typecode, the file name extension does not change the transfer type.
            (
                "/a/c.txt",
                "",
                &["CWD a", "TYPE I", "SIZE c.txt", "MDTM c.txt", "EPSV", "RETR c.txt"],
                "a c.txt\n",
            ),
        ],
    );
}

/// An ASCII transfer sends neither SIZE nor REST (docs/spec/faults.md, row 110).
#[test]
fn ascii_transfer_converts_crlf_and_skips_size() {
    assert_commands(
        &test_config(),
        &[
            ("/a/c.txt;type=a", "", &["CWD a", "TYPE A", "EPSV", "RETR c.txt"], "a c.txt\n"),
            ("/a/c.txt;type=A", "", &["CWD a", "TYPE A", "EPSV", "RETR c.txt"], "a c.txt\n"),
            ("/a/c.txt", "-B", &["CWD a", "TYPE A", "EPSV", "RETR c.txt"], "a c.txt\n"),
            ("/a/c.txt", "-R -B", &["CWD a", "TYPE A", "MDTM c.txt", "EPSV", "RETR c.txt"], "a c.txt\n"),
            ("/a/c.txt", "--use-ascii", &["CWD a", "TYPE A", "EPSV", "RETR c.txt"], "a c.txt\n"),
            (
                "/a/c.txt;type=i",
                "-B",
                &["CWD a", "TYPE I", "SIZE c.txt", "MDTM c.txt", "EPSV", "RETR c.txt"],
                "a c.txt\n",
            ),
        ],
    );
    // Only CR LF becomes LF, even if the server sends one byte at a time.
    for (sent, expected) in [
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\rb", "a\rb"),
        ("a\r\r\nb", "a\r\nb"),
        ("a\r", "a\r"),
        ("a\n\r\n", "a\n\n"),
        ("\r\n\r\n", "\n\n"),
    ] {
        let act = |bytes: &str| FtpAction::Data(bytes.into());
        let drip = FtpAction::Drip(1, std::time::Duration::from_millis(1));
        let server = start_server(test_config().on("RETR", act(sent)).on("RETR", drip));
        let result = run_fetch_url([server.url("/x;type=a")]);
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, expected),
            "{sent:?}: {}",
            result.stderr
        );
    }
    // A binary transfer changes no byte.
    let server = start_server(test_config().file("/base/t.txt", "a\r\nb\rc\n"));
    assert_eq!(run_fetch_url([server.url("/t.txt")]).assert_exit(0).stdout_text(), "a\r\nb\rc\n");
}

#[test]
fn directory_urls_send_cwd_and_nlst() {
    let listing = "one\r\ntwo\r\n";
    let raw = "--format raw";
    assert_commands(
        &test_config().dir("/base/void"),
        &[
            ("", raw, &["EPSV", "NLST"], "a\r\nb\r\netc\r\nvoid\r\nx\r\nx?y\r\n"),
            ("/", raw, &["EPSV", "NLST"], "a\r\nb\r\netc\r\nvoid\r\nx\r\nx?y\r\n"),
            ("/;type=d", raw, &["EPSV", "NLST"], "a\r\nb\r\netc\r\nvoid\r\nx\r\nx?y\r\n"),
            ("/a/dir/", raw, &["CWD a", "CWD dir", "EPSV", "NLST"], listing),
            ("/a/dir/;type=d", raw, &["CWD a", "CWD dir", "EPSV", "NLST"], listing),
            ("/a/dir/;type=D", raw, &["CWD a", "CWD dir", "EPSV", "NLST"], listing),
            ("/%2Fetc/", raw, &["CWD /etc", "EPSV", "NLST"], "motd\r\n"),
            ("/void/", raw, &["CWD void", "EPSV", "NLST"], ""),
        ],
    );
    // `;type=d` without a trailing slash: the last segment is the argument of NLST, and the server puts it before
    // each entry. `--format raw` prints the lines as the server sent them.
    let server = start_server(test_config());
    let result = run_fetch_url(["--format", "raw", &server.url("/a/dir;type=d")]);
    assert_eq!(transfer_commands(&server), ["CWD a", "EPSV", "NLST dir"]);
    assert!(
        result.assert_exit(0).stdout_text().contains("one") && result.stdout_text().lines().count() == 2,
        "{}",
        result.stdout_text()
    );
}

/// `--list` treats the path as a directory even without a trailing slash.
#[test]
fn list_option_sends_nlst_without_trailing_slash() {
    let server = start_server(test_config());
    let result = run_fetch_url(["--format", "raw", "--list", &server.url("/a/dir")]);
    assert!(result.assert_exit(0).stdout_text().contains("two"), "{}", result.stdout_text());
    let commands = transfer_commands(&server);
    assert!(commands.last().is_some_and(|line| line.starts_with("NLST")), "{commands:?}");
    assert!(
        !commands.iter().any(|line| line.starts_with("RETR") || line.starts_with("SIZE")),
        "{commands:?}"
    );
}

/// `-I` prints size and modification time.
#[test]
fn head_option_sends_size_and_mdtm_without_data_connection() {
    let server = start_server(test_config().modified("/base/x", "19941201123456"));
    let result = run_fetch_url(["-I", &server.url("/x")]);
    let (text, commands) = (result.assert_exit(0).stdout_text(), transfer_commands(&server));
    assert!(text.contains('2') && text.contains("1994"), "{text}");
    assert!(
        commands.contains(&"SIZE x".to_owned()) && commands.contains(&"MDTM x".to_owned()),
        "{commands:?}"
    );
    let opens = |line: &String| ["EPSV", "PASV", "RETR"].iter().any(|verb| line.starts_with(verb));
    assert!(!commands.iter().any(opens) && server.data_connections() == 0, "{commands:?}");
    run_fetch_url(["-I", &server.url("/missing")]).assert_exit(78);
}

#[test]
fn ftp_method_selects_cwd_commands() {
    assert_commands(
        &test_config(),
        &[
            (
                "/a/b/x",
                "--ftp-method rfc1738",
                &["CWD a", "CWD b", "TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"],
                "a b/x\n",
            ),
            (
                "/a/b/x",
                "--ftp-method nocwd",
                &["TYPE I", "SIZE a/b/x", "MDTM a/b/x", "EPSV", "RETR a/b/x"],
                "a b/x\n",
            ),
            (
                "/%2Fetc/motd",
                "--ftp-method nocwd",
                &["TYPE I", "SIZE /etc/motd", "MDTM /etc/motd", "EPSV", "RETR /etc/motd"],
                "far motd",
            ),
            (
                "/a/b/x",
                "--ftp-method singlecwd",
                &["CWD a/b", "TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"],
                "a b/x\n",
            ),
            ("/x", "--ftp-method singlecwd", &["TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"], "x\n"),
            (
                "/a/b/x",
                "--ftp-method auto",
                &["CWD a", "CWD b", "TYPE I", "SIZE x", "MDTM x", "EPSV", "RETR x"],
                "a b/x\n",
            ),
        ],
    );
}

/// The server refuses every CWD with 550.
#[test]
fn auto_method_falls_back_to_full_path_when_cwd_is_refused() {
    let closed = || start_server(test_config().answer("CWD", "550 Failed to change directory.\r\n"));
    for method in ["rfc1738", "singlecwd"] {
        let server = closed();
        run_fetch_url(["--ftp-method", method, &server.url("/a/b/x")]).assert_exit(78);
        assert_eq!(server.bytes_sent(), 0, "{method}");
    }
    let server = closed();
    let result = run_fetch_url(["-v", "--ftp-method", "auto", &server.url("/a/b/x")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "a b/x\n");
    let commands = transfer_commands(&server);
    assert_eq!(commands.last().map(String::as_str), Some("RETR a/b/x"), "{commands:?}");
    let is_reported = result.stderr.lines().any(|line| !line.contains("CWD a") && line.contains("CWD"));
    let is_reported = is_reported || result.stderr.to_lowercase().contains("whole path");
    assert!(is_reported, "-v does not report the fallback: {}", result.stderr);
}

/// `//etc/motd` has an empty segment, sent as `CWD ` (RFC 1738 §3.2.2); servers react to it in different ways.
#[test]
fn empty_path_segment_sends_cwd_with_empty_argument() {
    for (behaviour, exits) in
        [(EmptyCwd::ToLoginDirectory, 0), (EmptyCwd::Rejected501, 1), (EmptyCwd::Rejected550, 1)]
    {
        let server = start_server(test_config().empty_cwd(behaviour));
        let result =
            run_fetch_url([server.url("//etc/motd").replacen("/etc", "//etc", 1).replace("///", "//")]);
        let received = server.commands().concat();
        assert!(received.contains(&b"CWD ".to_vec()), "{behaviour:?}: {:?}", server.received_text());
        match exits {
            0 => assert_eq!(result.assert_exit(0).stdout_text(), "base motd"),
            _ => assert!(result.exit != 0 && result.stdout.is_empty(), "{behaviour:?}: {result:?}"),
        }
    }
}
