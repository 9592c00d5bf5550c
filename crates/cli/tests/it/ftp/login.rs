//! FTP logins (docs/spec/semantics.md §2, "Login"; docs/spec/faults.md, rows 31 and 36 to 39): which login commands
//! are sent, where user name, password and account come from, and that passwords are never guessed and never printed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::support::{
    BINARY, RunResult, check_in_parallel, ensure, entry_names, fetch_url_command, isolate_environment,
    run_command, run_fetch_url, run_fetch_url_in, run_shell, temp_dir,
};
use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpRule, FtpServer, FtpTrigger, Terminal};

/// The password that must not appear in any output. It has only letters, so that no encoding changes it.
const CANARY: &str = "KanarienVogel";

fn start_server(config: FtpConfig) -> FtpServer {
    FtpServer::start(config).expect("start server")
}

fn test_config() -> FtpConfig {
    FtpConfig::new().file("/x", "object")
}

fn write_file_with_mode(directory: &Path, name: &str, text: &str, mode: u32) {
    fs::write(directory.join(name), text).expect("write file");
    fs::set_permissions(directory.join(name), fs::Permissions::from_mode(mode)).expect("set file mode");
}

/// The received USER, PASS and ACCT commands, in order.
fn login_commands(server: &FtpServer) -> Vec<String> {
    let mut lines = server.received_text();
    lines.retain(|line| ["USER", "PASS", "ACCT"].iter().any(|verb| line.starts_with(verb)));
    lines
}

fn url_with_login(server: &FtpServer, login: &str) -> String {
    server.url("/x").replacen("://", &format!("://{login}"), 1)
}

/// Runs fetch-url with `directory` as working directory and as HOME.
fn fetch_with_home(directory: &Path, options: &str, url: &str) -> RunResult {
    let mut command = fetch_url_command();
    command.env("HOME", directory).current_dir(directory).args(["--retry", "0"]);
    command.args(options.split_whitespace()).arg(url);
    run_command(command)
}

#[test]
fn no_login_is_sent_to_a_server_that_greets_with_230() {
    for options in ["", "-u u:pw"] {
        let server = start_server(test_config().greeting("230-Welcome\r\n230 You are logged in"));
        let result = fetch_with_home(temp_dir().path(), options, &server.url("/x"));
        assert_eq!((result.exit, &result.stdout[..]), (0, &b"object"[..]), "{options}: {}", result.stderr);
        assert_eq!(login_commands(&server), [""; 0], "{options}");
    }
}

#[test]
fn login_sends_only_the_commands_the_server_requests() {
    let password_config = || test_config().user("u", "pw");
    for (config, options, expected) in [
        (test_config().without_passwords(), "-u u:pw", &["USER u"][..]),
        (test_config().without_passwords(), "-u u", &["USER u"]),
        (test_config().without_passwords(), "", &["USER anonymous"]),
        (password_config(), "-u u:pw", &["USER u", "PASS pw"]),
        (password_config().account("acc"), "-u u:pw --ftp-account acc", &["USER u", "PASS pw", "ACCT acc"]),
        // The account is not sent unless the server requests it.
        (password_config(), "-u u:pw --ftp-account acc", &["USER u", "PASS pw"]),
        (password_config().replace_reply("PASS", "202 Superfluous.\r\n"), "-u u:pw", &["USER u", "PASS pw"]),
        (test_config().anonymous(), "", &["USER anonymous", "PASS anonymous@"]),
        (
            test_config().anonymous(),
            "--ftp-anonymous-email me@example.org",
            &["USER anonymous", "PASS me@example.org"],
        ),
        // The e-mail address is the password of anonymous logins only.
        (password_config(), "-u u:pw --ftp-anonymous-email me@example.org", &["USER u", "PASS pw"]),
    ] {
        let server = start_server(config);
        let result = fetch_with_home(temp_dir().path(), options, &server.url("/x"));
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "object"),
            "{options}: {}",
            result.stderr
        );
        assert_eq!(login_commands(&server), expected, "{options}");
    }
}

/// The server replies 332 to USER: it requests an account instead of a password.
#[test]
fn account_is_sent_when_user_gets_332() {
    let account_config =
        || test_config().answer("USER", "332 Need account.\r\n").answer("ACCT", "230 In.\r\n");
    let server = start_server(account_config().answer("PWD", "257 \"/\"\r\n"));
    fetch_with_home(temp_dir().path(), "-u u:pw --ftp-account acc", &server.url("/x"));
    assert_eq!(login_commands(&server), ["USER u", "ACCT acc"]);
}

#[test]
fn missing_or_wrong_account_exits_67() {
    for config in
        [test_config().user("u", "pw").account("acc"), test_config().answer("USER", "332 Need account.\r\n")]
    {
        let server = start_server(config);
        let result = fetch_with_home(temp_dir().path(), "-u u:pw", &server.url("/x"));
        result.assert_exit(67).assert_stderr_contains("hint:").assert_stderr_contains("--ftp-account");
        assert!(!login_commands(&server).iter().any(|line| line.starts_with("ACCT")));
    }
    let server = start_server(test_config().user("u", "pw").account("acc"));
    fetch_with_home(temp_dir().path(), "-u u:pw --ftp-account wrong", &server.url("/x")).assert_exit(67);
    assert_eq!(login_commands(&server), ["USER u", "PASS pw", "ACCT wrong"]);
}

const NETRC: &str = "machine 127.0.0.1 login n password pn account an\n\
                     machine 127.0.0.1 login m password pm\n\
                     default login d password pd\n";

#[test]
fn login_sources_are_used_in_documented_order() {
    for (options, login, expected) in [
        ("-u u:pw", "", "USER u|PASS pw"),
        ("-u u:p:w", "", "USER u|PASS p:w"),
        ("", "v:pv@", "USER v|PASS pv"),
        ("", "v%40h:p%2Fv%3A%20@", "USER v@h|PASS p/v: "),
        ("", "v%FF:%E9@", "USER v\u{fffd}|PASS \u{fffd}"),
        // An empty user name or password is sent as given (RFC 1738 §3.1).
        ("", "v:@", "USER v|PASS "),
        ("", ":pv@", "USER |PASS pv"),
        ("-n", "", "USER n|PASS pn"),
        ("-n", "m@", "USER m|PASS pm"),
        ("-n", "v:pv@", "USER v|PASS pv"),
        ("-n -u m", "", "USER m|PASS pm"),
        ("--netrc-file ./.netrc", "", "USER n|PASS pn"),
        ("--netrc-file ./.netrc -u u:pw", "", "USER u|PASS pw"),
        ("-u u --password-file ./pw", "", "USER u|PASS from file"),
        ("-u u --askpass ./ask", "", "USER u|PASS from program"),
        ("--askpass ./ask", "v@", "USER v|PASS from program"),
        ("-n --askpass ./ask", "m@", "USER m|PASS pm"),
        ("-n --askpass ./ask", "v@", "USER v|PASS from program"),
    ] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), ".netrc", NETRC, 0o600);
        write_file_with_mode(dir.path(), "pw", "from file\nnot this\n", 0o600);
        write_file_with_mode(dir.path(), "ask", "#!/bin/sh\necho from program\n", 0o700);
        let server = start_server(test_config());
        let result = fetch_with_home(dir.path(), options, &url_with_login(&server, login));
        assert_eq!(
            (result.exit, result.stdout_text().as_str()),
            (0, "object"),
            "{options} {login}: {}",
            result.stderr
        );
        assert_eq!(login_commands(&server).join("|"), expected, "{options} {login}");
    }
}

/// If the run succeeds, the netrc account was sent; otherwise it exits with 67.
#[test]
fn netrc_account_is_sent_when_the_server_requests_it() {
    let dir = temp_dir();
    write_file_with_mode(dir.path(), ".netrc", NETRC, 0o600);
    let server = start_server(test_config().user("n", "pn").account("an"));
    let result = fetch_with_home(dir.path(), "-n", &server.url("/x"));
    assert!([0, 67].contains(&result.exit), "{result:?}");
    assert_eq!(result.exit == 0, login_commands(&server).contains(&"ACCT an".to_owned()));
}

/// docs/spec/faults.md, row 39: without a terminal, nothing can ask for the missing password.
#[test]
fn user_without_password_and_terminal_exits_67_without_pass() {
    let server = start_server(test_config());
    for (options, login) in [("-u u", ""), ("", "u@"), ("-n", "u@"), ("-u anonymous2", ""), ("", "@")] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), ".netrc", "machine 127.0.0.1 login other password po\n", 0o600);
        let started = Instant::now();
        let script = format!("HOME=. setsid -w \"$F\" --retry 0 {options} \"$1\" </dev/null");
        let mut shell = std::process::Command::new("sh");
        isolate_environment(&mut shell);
        shell.env("F", BINARY).arg("-c").arg(script).arg("sh").arg(url_with_login(&server, login));
        shell.current_dir(dir.path());
        let result = run_command(shell);
        assert_eq!(result.exit, 67, "{options} {login}: {}", result.stderr);
        assert!(started.elapsed() < Duration::from_secs(2), "{options}: {:?}", started.elapsed());
    }
    assert!(
        !login_commands(&server).iter().any(|line| line.starts_with("PASS")),
        "{:?}",
        login_commands(&server)
    );
}

#[test]
fn rejected_password_is_sent_once_despite_retries() {
    for (config, options) in [
        (test_config().user("u", "pw"), "-u u:wrong"),
        (test_config().user("u", "pw"), "-u v:pw"),
        (test_config().user("u", "pw"), ""),
        (test_config().answer("USER", "530 Not you.\r\n"), "-u u:pw"),
        (test_config().drops_pipelined_commands().user("u", "pw"), "-u u:wrong"),
    ] {
        let server = start_server(config);
        let options = format!("--retry 3 --retry-delay 0 {options}");
        let mut command = fetch_url_command();
        command.args(options.split_whitespace()).arg(server.url("/x"));
        let result = run_command(command);
        result.assert_exit(67);
        let passes = login_commands(&server).iter().filter(|line| line.starts_with("PASS")).count();
        assert!(
            passes <= 1 && login_commands(&server).len() <= 2,
            "{options}: {:?}",
            login_commands(&server)
        );
        assert!(result.stderr.contains("530"), "the reply of the server is not printed: {}", result.stderr);
    }
    // The `--askpass` program runs once, and its rejected password is not sent again.
    let dir = temp_dir();
    write_file_with_mode(dir.path(), "ask", "#!/bin/sh\necho once >>asked\necho wrong\n", 0o700);
    let server = start_server(test_config().user("u", "pw"));
    fetch_with_home(dir.path(), "-u u --askpass ./ask", &server.url("/x")).assert_exit(67);
    assert_eq!(fs::read_to_string(dir.path().join("asked")).expect("read file"), "once\n");
    assert_eq!(login_commands(&server), ["USER u", "PASS wrong"]);
}

/// The reply code is that of a wrong password. The text, or an earlier login, shows that it is not wrong.
#[test]
fn reply_530_at_the_connection_limit_is_busy_and_retried() {
    let limit = "530-Sorry.\r\n530-Too many users are connected.\r\n530 Bye.\r\n";
    let login = || test_config().file("/y", "second").user("u", "pw");
    let refusing =
        |what: &str, nth| login().rule(FtpRule::on(what, FtpAction::Answer(limit.into())).nth(nth));
    let second_login = FtpRule::on("PASS", FtpAction::Answer("530 Not now.\r\n".into())).nth(2);
    // The second file needs a new connection, because the server closes the first one.
    let closing = FtpRule::on("RETR y", FtpAction::End(Ending::Close)).nth(1);
    for (config, exit) in [
        (refusing("USER", 1), 0),
        (refusing("PASS", 1), 0),
        (login().rule(closing).rule(second_login), 0),
        (login().answer("PASS", limit), 92),
        (login().greeting("500 Sorry, too many connections."), 92),
    ] {
        let server = start_server(config);
        let mut command = fetch_url_command();
        command.args([
            "--retry",
            "2",
            "--retry-delay",
            "0",
            "-u",
            "u:pw",
            &server.url("/x"),
            &server.url("/y"),
        ]);
        let result = run_command(command);
        assert_eq!(result.exit, exit, "{:?}: {}", server.received_text(), result.stderr);
        assert_eq!(result.stdout_text(), if exit == 0 { "objectsecond" } else { "" });
    }
}

/// Fetches six files over parallel connections with the login `u:pw`.
fn fetch_in_parallel(server: &FtpServer, directory: &Path) -> RunResult {
    let urls = (0..6).flat_map(|number| ["-O".to_owned(), server.url(&format!("/f{number}"))]);
    let options = ["-Z", "--retry", "3", "--retry-delay", "0", "-u", "u:pw"].map(str::to_owned);
    run_fetch_url_in(directory, options.into_iter().chain(urls))
}

fn six_files() -> FtpConfig {
    (0..6).fold(FtpConfig::new(), |config, number| config.file(format!("/f{number}"), "object"))
}

/// Fetches six files at the same time, once for each of the commands `slow`. `refusal` is the rule by which the server
/// refuses connections 2 to 6. It does so before its first reply to the slow command.
#[track_caller]
fn check_parallel_fetch(refusal: fn(usize) -> FtpRule, slow: &[&str]) {
    for slow in slow {
        let pause = FtpRule::on(*slow, FtpAction::Pause(Duration::from_millis(500))).nth(1);
        let config = six_files().user("u", "pw").rule(pause);
        let server = start_server((2..=6).fold(config, |config, nth| config.rule(refusal(nth))));
        let dir = temp_dir();
        fetch_in_parallel(&server, dir.path()).assert_exit(0);
        assert_eq!(entry_names(dir.path()), ["f0", "f1", "f2", "f3", "f4", "f5"], "{slow}");
    }
}

#[test]
fn reply_530_to_parallel_logins_is_retried_if_one_of_them_is_accepted() {
    let refusal = |nth| FtpRule::on("PASS", FtpAction::Answer("530 Login incorrect.\r\n".into())).nth(nth);
    check_parallel_fetch(refusal, &["PASS", "SIZE"]);
}

/// The text of the greeting does not name a limit of connections.
#[test]
fn greeting_530_to_parallel_connections_is_retried_if_a_login_is_accepted() {
    let refusal =
        |nth| FtpRule::on(FtpTrigger::Greeting, FtpAction::Answer("530 Not now.\r\n".into())).nth(nth);
    check_parallel_fetch(refusal, &["USER", "PASS", "SIZE"]);
}

#[test]
fn greeting_530_exits_9_if_no_login_is_accepted() {
    let refusal = FtpRule::on(FtpTrigger::Greeting, FtpAction::Answer("530 Not now.\r\n".into())).nth(1);
    let (server, dir) = (start_server(six_files().user("u", "pw").rule(refusal)), temp_dir());
    let options = ["--retry-delay", "0", "-u", "u:pw", &server.url("/f0")];
    run_fetch_url_in(dir.path(), options).assert_exit(9);
}

/// Servers lock accounts after some wrong passwords: each transfer sends the password once. No login waits for another one
/// whose reply has arrived.
#[test]
fn wrong_password_of_parallel_transfers_is_sent_once_by_each() {
    let pause = FtpRule::on("PASS", FtpAction::Pause(Duration::from_millis(500))).nth(1);
    let (server, dir) = (start_server(six_files().user("u", "other").rule(pause)), temp_dir());
    let start = Instant::now();
    fetch_in_parallel(&server, dir.path()).assert_exit(67).assert_stderr_contains("login refused");
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    assert_eq!(login_commands(&server).iter().filter(|line| *line == "PASS pw").count(), 6);
    assert_eq!(entry_names(dir.path()), [""; 0]);
}

/// The port of EPSV cannot be reached. The connection for PASV is one too many, until the server notices the end of the first.
#[test]
fn reply_530_to_the_login_for_pasv_is_retried() {
    let refused = FtpRule::on("PASS", FtpAction::Answer("530 Login incorrect.\r\n".into())).nth(2);
    let config = test_config().user("u", "pw").on("EPSV", FtpAction::ClosedPort).rule(refused);
    let server = start_server(config);
    let url = server.url("/x");
    run_fetch_url(["--retry", "2", "--retry-delay", "0", "-u", "u:pw", &url]).assert_exit(0);
}

/// 530 means "not logged in" before the login and "access denied" to a file after it.
#[test]
fn reply_530_to_retr_exits_9_not_67() {
    let server = start_server(test_config().answer("RETR", "530 Not for you.\r\n"));
    fetch_with_home(temp_dir().path(), "-u u:pw", &server.url("/x")).assert_exit(9);
}

#[test]
fn reply_421_during_login_exits_92() {
    for config in [
        test_config().greeting("421 Too many connections."),
        test_config().answer("USER", "421 Too many users.\r\n"),
        test_config().answer("PASS", "421 Too many users.\r\n"),
    ] {
        let server = start_server(config);
        fetch_with_home(temp_dir().path(), "-u u:pw", &server.url("/x")).assert_exit(92);
    }
}

#[test]
fn password_is_prompted_on_a_terminal_without_echo() {
    let server = start_server(test_config().user("u", CANARY));
    for login in ["u@", ""] {
        let options = if login.is_empty() { "-u u" } else { "-vvv" };
        let url = url_with_login(&server, login);
        let arguments = ["-i", "PATH=/usr/bin:/bin", BINARY, "--retry", "0"];
        let arguments: Vec<&str> =
            arguments.into_iter().chain(options.split_whitespace()).chain([url.as_str()]).collect();
        let mut terminal = Terminal::run("env", &arguments, 100).expect("start terminal");
        terminal.expect("assword").expect("prompt appears");
        terminal.type_secret(CANARY).expect("terminal echo is off");
        assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
        let screen = terminal.screen();
        assert!(screen.contains("object") && !screen.contains(CANARY), "{screen}");
    }
    assert_eq!(login_commands(&server).iter().filter(|line| line.starts_with("PASS")).count(), 2);
    // No prompt if the server requests no password; Ctrl-D at the prompt is not a password.
    let open = start_server(test_config().without_passwords());
    let mut terminal = Terminal::run(BINARY, &["-u", "u", &open.url("/x")], 100).expect("start terminal");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    let mut terminal = Terminal::run(BINARY, &["-u", "u", &server.url("/x")], 100).expect("start terminal");
    terminal.expect("assword").expect("prompt appears");
    terminal.type_secret("\u{4}").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 67, "{}", terminal.screen());
}

/// The time at the password prompt does not count against `--read-timeout`.
#[test]
fn password_prompt_is_not_limited_by_the_read_timeout() {
    let server = start_server(test_config().user("u", "pw"));
    let mut terminal = Terminal::run(BINARY, &["--read-timeout", "0.5", "-u", "u", &server.url("/x")], 100)
        .expect("start terminal");
    terminal.expect("assword").expect("prompt appears");
    std::thread::sleep(Duration::from_millis(1200));
    terminal.type_secret("pw").expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
}

/// docs/spec/faults.md, row 36: the password appears in no output and no file, for logins and transfers that succeed or
/// fail.
#[test]
fn password_never_appears_in_output_or_files() {
    let user = || FtpConfig::new().pattern("/x", 300_000).user("u", CANARY);
    let configs = [
        ("fine", user()),
        ("wrong", FtpConfig::new().user("u", "pw")),
        ("account", user().account(CANARY)),
        ("cut", user().close_data_after(100_000)),
        ("reset", user().reset_data_after(100_000)),
        ("garbage", user().answer("PASS", "what?\r\n")),
        ("closed", user().close_at("PASS")),
        ("early", user().drops_pipelined_commands()),
        ("echo", user().answer("PASS", format!("530 {CANARY} is wrong.\r\n"))),
    ];
    let leaks = Mutex::new(Vec::new());
    check_in_parallel(&configs, 6, |(name, config)| {
        let server = start_server(config.clone());
        // The case "early" takes three seconds per run, because the server first discards pipelined commands; it runs
        // once.
        let all = ["-vvv", "", "--format json -v", "-I -vv", "--list -vvv", "-w %{json}"];
        let count = if *name == "early" { 1 } else { all.len() };
        for options in &all[..count] {
            leaks.lock().expect("lock is not poisoned").extend(find_leaks(
                name,
                options,
                &url_with_login(&server, &format!("u:{CANARY}@")),
            ));
        }
        let was_sent = server.received_text().contains(&format!("PASS {CANARY}"));
        ensure(was_sent, || format!("{name}: the password was not sent: {:?}", server.received_text()))
    });
    let mut leaks = leaks.into_inner().expect("lock is not poisoned");
    leaks.sort();
    assert!(leaks.is_empty(), "{} leaks: {:#?}", leaks.len(), &leaks[..leaks.len().min(12)]);
}

/// Runs fetch-url with verbose options and returns every line of its output and its files that contains the canary.
fn find_leaks(name: &str, options: &str, url: &str) -> Vec<String> {
    let dir = temp_dir();
    let all_options = format!("{options} --ftp-account {CANARY} --trace trace --events events -o out -R");
    let result = fetch_with_home(dir.path(), &all_options, url);
    let mut texts =
        vec![("stderr".to_owned(), result.stderr.clone()), ("stdout".to_owned(), result.stdout_text())];
    for file in entry_names(dir.path()) {
        let bytes = fs::read(dir.path().join(&file)).expect("read file");
        texts.push((file, String::from_utf8_lossy(&bytes).into_owned()));
    }
    let lines = texts.iter().flat_map(|(source, text)| text.lines().map(move |line| (source, line)));
    let leaks = lines.filter(|(_, line)| line.contains(CANARY));
    leaks.map(|(source, line)| format!("{name} {options} in {source}: {line}")).collect()
}

/// docs/spec/faults.md, row 38: a password from standard input does not appear in the process list.
#[test]
fn password_file_dash_reads_standard_input() {
    let server = start_server(test_config().user("u", "pw"));
    let script = "printf 'pw\\nnot this' | \"$F\" -u u --password-file - \"$1\"";
    assert_eq!(run_shell(script, [server.url("/x")]).assert_exit(0).stdout_text(), "object");
    assert_eq!(login_commands(&server), ["USER u", "PASS pw"]);
}

/// A login is bound to host and port (docs/spec/faults.md, row 33).
#[test]
fn login_of_one_server_is_not_sent_to_another() {
    let (first_server, second_server) = (start_server(test_config()), start_server(test_config()));
    let dir = temp_dir();
    fetch_with_home(dir.path(), &url_with_login(&first_server, "u:pw@"), &second_server.url("/x"))
        .assert_exit(0);
    assert_eq!(login_commands(&first_server), ["USER u", "PASS pw"]);
    assert_eq!(login_commands(&second_server), ["USER anonymous", "PASS anonymous@"]);
    // Another login at the same server opens another connection.
    let server = start_server(test_config());
    fetch_with_home(dir.path(), &url_with_login(&server, "u:pw@"), &url_with_login(&server, "v:pv@"))
        .assert_exit(0);
    assert_eq!(
        (server.connections(), login_commands(&server).len()),
        (2, 4),
        "{:?}",
        login_commands(&server)
    );
}

/// docs/spec/faults.md, row 111: RFC 959 forbids a line `331 ` inside a `220-` reply; log in correctly or exit with 8.
#[test]
fn lines_that_look_like_another_reply_do_not_confuse_the_login() {
    for greeting in ["220-Hello\r\n331 not yet\r\n220 Here", "220-Hello\r\n 331 not yet\r\n220-\r\n220 Here"]
    {
        let server = start_server(test_config().greeting(greeting));
        let result = fetch_with_home(temp_dir().path(), "-u u:pw", &server.url("/x"));
        let is_logged_in = result.exit == 0 && login_commands(&server) == ["USER u", "PASS pw"];
        assert!(is_logged_in || result.exit == 8, "{greeting:?}: {result:?} {:?}", login_commands(&server));
    }
    // Only `331 ` ends a `331-` reply; the indented 230 is part of its text.
    let server = start_server(
        test_config().replace_reply("USER", "331-Almost\r\n 230 not you\r\n331-230 \r\n331 Well?\r\n"),
    );
    fetch_with_home(temp_dir().path(), "-u u:pw", &server.url("/x")).assert_exit(0);
    assert_eq!(login_commands(&server), ["USER u", "PASS pw"]);
}

#[test]
fn password_repeated_by_the_server_after_login_is_masked() {
    let config = FtpConfig::new().user("me", "canary").answer("CWD", "550 denied for canary\r\n");
    let server = start_server(config);
    let url = server.url("d/x").replace("ftp://", "ftp://me:canary@");
    let result = run_fetch_url(["-v", "--format", "json", &url]);
    result.assert_exit(78);
    assert!(!result.stderr.contains("canary") && result.stderr.contains("***"), "{}", result.stderr);
}

#[test]
fn netrc_account_is_masked_in_the_trace() {
    let server = start_server(FtpConfig::new().file("/a", "a;").user("me", "pw").account("canary"));
    let dir = temp_dir();
    let netrc = "machine 127.0.0.1 login me password pw account canary\n";
    write_file_with_mode(dir.path(), "netrc", netrc, 0o600);
    let path = dir.path().join("netrc");
    let result = run_fetch_url(["-v", "--netrc-file", path.to_str().expect("valid UTF-8"), &server.url("a")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "a;");
    assert!(result.stderr.contains("> ACCT ***") && !result.stderr.contains("canary"), "{}", result.stderr);
}
