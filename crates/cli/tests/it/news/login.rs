//! Logins to news servers (docs/spec/semantics.md §6; RFC 4642, RFC 4643; docs/spec/faults.md, rows 33, 36, 39, 40 and
//! 89): a login is sent only if the server requires it, once, and by default only with TLS; it appears in no output.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{article_texts, group_with_articles, run_in_home, server_urls, start_server};
use crate::support::{BINARY, RunResult, entry_names, fetch_url_command, http_server, run_command, temp_dir};
use fetch_url_tests::{
    CertFiles, HttpResponse, NntpAction, NntpArticle, NntpConfig, NntpGroup, NntpRule, NntpServer,
    NntpTrigger, ServerCert, Terminal,
};

/// The password of the account `me`: letters only, so that no encoding hides it.
const PASSWORD: &str = "KanarienVogel";

/// Returns the bytes of the article as text.
fn article_text(id: &str) -> String {
    String::from_utf8(article_with_id(id).bytes()).expect("valid UTF-8")
}

fn article_with_id(id: &str) -> NntpArticle {
    NntpArticle::post(&format!("{id}@test.invalid"), id, "body\r\n")
}

/// A server with a public group, a private group, and the account `me`.
fn login_config() -> NntpConfig {
    let group = |name: &str, id: &str| NntpGroup::new(name).append(article_with_id(id));
    NntpConfig::new()
        .group(group("a.open", "open"))
        .group(group("c.own", "own").private())
        .account("me", PASSWORD)
}

/// Returns a certificate, its files, and the option that trusts it.
fn trusted_certificate() -> (ServerCert, CertFiles, String) {
    let cert = ServerCert::good().expect("create certificate");
    let files = cert.write_files().expect("write certificate files");
    let option = format!("--cacert {}", files.ca.display());
    (cert, files, option)
}

/// Fetches a path of the server with an empty home directory.
fn fetch_path(server: &NntpServer, options: &str, path: &str) -> RunResult {
    run_in_home(temp_dir().path(), options, &[server.url(path)])
}

fn write_file_with_mode(directory: &Path, name: &str, text: &str, mode: u32) {
    fs::write(directory.join(name), text).expect("write file");
    fs::set_permissions(directory.join(name), fs::Permissions::from_mode(mode)).expect("set file mode");
}

/// Returns the received AUTHINFO commands.
fn login_commands(server: &NntpServer) -> Vec<String> {
    let mut lines = server.received_text();
    lines.retain(|line| line.starts_with("AUTHINFO"));
    lines
}

/// Returns the commands of a login of `me` with this password.
fn expected_login(password: &str) -> Vec<String> {
    vec!["AUTHINFO USER me".to_owned(), format!("AUTHINFO PASS {password}")]
}

#[test]
fn login_is_sent_only_if_required() {
    let server = start_server(login_config());
    let options = format!("--insecure-auth -u me:{PASSWORD}");
    assert_eq!(fetch_path(&server, &options, "a.open/1").assert_exit(0).stdout_text(), article_text("open"));
    assert!(login_commands(&server).is_empty(), "{:?}", server.received_text());
    assert_eq!(fetch_path(&server, &options, "c.own/1").assert_exit(0).stdout_text(), article_text("own"));
    assert_eq!(login_commands(&server), expected_login(PASSWORD));
    let server = start_server(login_config().requires_login());
    assert_eq!(fetch_path(&server, &options, "a.open/1").assert_exit(0).stdout_text(), article_text("open"));
    assert_eq!(login_commands(&server), expected_login(PASSWORD));
}

/// A server may answer 480 to any command.
#[test]
fn request_is_repeated_once_after_480_and_login() {
    let options = format!("--insecure-auth -u me:{PASSWORD}");
    for config in [login_config(), login_config().requires_login(), login_config().requires_mode_reader()] {
        for (path, part) in
            [("c.own/1", "body"), ("c.own/1-1", "body"), ("c.own", "own"), ("news:own@test.invalid", "own")]
        {
            let extras = ["", "-I", "--format json", "--format mbox", "--part head"];
            for extra in &extras[..if path == "c.own" { 4 } else { 5 }] {
                let server = start_server(config.clone());
                let url = if path.contains(':') { path.to_owned() } else { server.url(path) };
                let all = format!("--news-server {} {extra} {options}", server.news_server());
                let result = run_in_home(temp_dir().path(), &all, &[url]);
                assert!(!result.assert_exit(0).stdout.is_empty(), "{path} {extra}");
                assert!(
                    !extra.is_empty() || result.stdout_text().contains(part),
                    "{path}: {}",
                    result.stdout_text()
                );
                assert_eq!(
                    login_commands(&server),
                    expected_login(PASSWORD),
                    "{path} {extra}: {:?}",
                    server.received_text()
                );
                assert_eq!(server.connections(), 1, "{path} {extra}");
            }
        }
    }
    let server = start_server(login_config().requires_login());
    let result = run_in_home(
        temp_dir().path(),
        &format!("{options} --news-server {}", server.news_server()),
        &["news:*".to_owned()],
    );
    assert!(result.assert_exit(0).stdout_text().contains("c.own"), "{}", result.stdout_text());
}

/// docs/spec/faults.md, rows 39 and 40: by default not even the user name is sent without TLS.
#[test]
fn login_without_tls_requires_insecure_auth() {
    for config in [
        login_config(),
        login_config().requires_login(),
        login_config().requires_tls_for_login(),
        login_config().without("AUTHINFO"),
    ] {
        let server = start_server(config);
        let result = fetch_path(&server, &format!("-u me:{PASSWORD}"), "c.own/1");
        result.assert_exit(67).assert_stderr_contains("--insecure-auth");
        assert!(login_commands(&server).is_empty(), "{:?}", server.received_text());
    }
    // Reply 483: the password is not sent, even with `--insecure-auth`.
    let server = start_server(login_config().requires_tls_for_login());
    let result = fetch_path(&server, &format!("--insecure-auth -u me:{PASSWORD}"), "c.own/1");
    assert!([35, 67].contains(&result.exit), "{result:?}");
    assert!(
        !server.received_text().iter().any(|line| line.contains(PASSWORD)),
        "{:?}",
        server.received_text()
    );
    assert!(login_commands(&server).len() <= 1);
}

/// With and without `--ssl` or `--ssl-reqd`.
#[test]
fn starttls_is_sent_before_the_login() {
    let (cert, _files, trust) = trusted_certificate();
    let options = format!("{trust} -u me:{PASSWORD}");
    for (extra, config) in [
        ("", login_config()),
        ("", login_config().requires_login()),
        ("", login_config().requires_tls_for_login()),
        ("--ssl", login_config()),
        ("--ssl-reqd", login_config().requires_tls_for_login()),
        ("--ssl", login_config().requires_mode_reader()),
        ("", login_config().compress()),
    ] {
        let server = start_server(config.starttls(&cert));
        assert_eq!(
            fetch_path(&server, &format!("{options} {extra}"), "c.own/1").assert_exit(0).stdout_text(),
            article_text("own"),
            "{extra}"
        );
        assert_eq!(login_commands(&server), expected_login(PASSWORD));
        let clear = server.plaintext_commands();
        assert!(clear.contains(&"STARTTLS".to_owned()), "{clear:?}");
        assert!(
            !clear.iter().any(|line| line.contains(PASSWORD) || line.starts_with("AUTHINFO PASS")),
            "{clear:?}"
        );
        let starts = server.received_text().iter().filter(|line| *line == "STARTTLS").count();
        assert!(starts == 1 && server.connections() <= 2, "{:?}", server.received_text());
    }
    let server = NntpServer::start_tls(login_config(), &cert).expect("start server");
    assert_eq!(fetch_path(&server, &options, "c.own/1").assert_exit(0).stdout_text(), article_text("own"));
    assert_eq!(login_commands(&server), expected_login(PASSWORD));
    // Reply 483 to AUTHINFO USER: STARTTLS follows, and the password is sent with TLS.
    let server = start_server(login_config().requires_tls_for_login().starttls(&cert));
    let result = fetch_path(&server, &format!("{options} --insecure-auth"), "c.own/1");
    assert_eq!(result.assert_exit(0).stdout_text(), article_text("own"), "{:?}", server.received_text());
    assert!(
        !server.plaintext_commands().iter().any(|line| line.contains(PASSWORD)),
        "{:?}",
        server.plaintext_commands()
    );
}

/// RFC 4642 §2.2.2: the state from before STARTTLS is discarded.
#[test]
fn mode_reader_is_sent_again_after_starttls() {
    let (cert, _files, trust) = trusted_certificate();
    let server = start_server(login_config().requires_mode_reader().starttls(&cert));
    let result = fetch_path(&server, &format!("{trust} -u me:{PASSWORD}"), "c.own/1");
    assert_eq!(result.assert_exit(0).stdout_text(), article_text("own"));
    let modes = server.received_text().iter().filter(|line| line.starts_with("MODE")).count();
    assert_eq!(
        (modes, login_commands(&server)),
        (2, expected_login(PASSWORD)),
        "{:?}",
        server.received_text()
    );
}

/// docs/spec/faults.md, row 40: TLS is refused, removed from the capabilities, or has an untrusted certificate, or
/// replies are injected before TLS.
#[test]
fn failed_starttls_sends_no_login() {
    let (cert, _files, trust) = trusted_certificate();
    let untrusted = ServerCert::self_signed().expect("create certificate");
    let offered = || login_config().starttls(&cert);
    let hidden = "101 Capability list:\r\nVERSION 2\r\nREADER\r\nAUTHINFO USER\r\n.\r\n";
    let rows = [
        ("--ssl-reqd", login_config()),
        ("--ssl-reqd", offered().answer("STARTTLS", "580 Cannot\r\n")),
        ("--ssl-reqd", offered().answer("STARTTLS", "502 No\r\n")),
        ("--ssl-reqd", offered().answer("STARTTLS", "281 Authentication accepted\r\n")),
        ("--ssl-reqd", login_config().starttls(&untrusted)),
        ("--ssl-reqd", offered().inject_after_starttls("281 Authentication accepted\r\n")),
        ("--ssl", offered().inject_after_starttls("200 Hello\r\n")),
        ("--ssl", login_config().starttls(&untrusted)),
        ("", offered().answer("STARTTLS", "580 Cannot\r\n")),
        ("", login_config().starttls(&untrusted)),
        ("", offered().answer("CAPABILITIES", hidden).answer("STARTTLS", "500 What?\r\n")),
    ];
    for ((tls_options, config), row) in rows.into_iter().zip(0..) {
        let server = start_server(config.requires_login());
        let result = fetch_path(&server, &format!("{trust} {tls_options} -u me:{PASSWORD}"), "a.open/1");
        assert!(
            result.exit != 0 && result.stdout.is_empty(),
            "{row}: {result:?} {:?}",
            server.received_text()
        );
        assert!(login_commands(&server).is_empty(), "{row}: {:?}", server.received_text());
        if tls_options == "--ssl-reqd" {
            assert!([8, 35, 60].contains(&result.exit), "{row}: {result:?}");
            assert!(
                !server.received_text().iter().any(|line| line.starts_with("GROUP")),
                "{:?}",
                server.received_text()
            );
        }
    }
    // With `--ssl` TLS is optional: an article without login is fetched in clear text.
    let server = start_server(login_config());
    assert_eq!(fetch_path(&server, "--ssl", "a.open/1").assert_exit(0).stdout_text(), article_text("open"));
}

/// The login is not sent again on a retry, nor after another reply to the login.
#[test]
fn wrong_password_is_sent_at_most_once_per_url() {
    let configs = [
        (login_config(), "-u me:wrong"),
        (login_config(), "-u you:wrong"),
        (login_config().answer("AUTHINFO USER", "481 Not you\r\n"), "-u me:wrong"),
        (login_config().answer("AUTHINFO USER", "482 Out of order\r\n"), "-u me:wrong"),
        (login_config().answer("AUTHINFO PASS", "502 No\r\n"), "-u me:wrong"),
        (login_config().answer("AUTHINFO PASS", "480 Again\r\n"), "-u me:wrong"),
        (login_config().answer("AUTHINFO PASS", "381 Another\r\n"), "-u me:wrong"),
        // The server accepts the login and then requires it again (docs/spec/faults.md, row 89).
        (login_config().answer("AUTHINFO PASS", "281 Welcome\r\n"), "-u me:wrong"),
        (login_config().answer("AUTHINFO USER", "281 Welcome\r\n"), "-u me:wrong"),
        (login_config().answer("AUTHINFO PASS", "400 Too busy\r\n"), "-u me:wrong"),
    ];
    for ((config, options), row) in configs.into_iter().zip(0..) {
        let server = start_server(config.requires_login());
        let retry = if row == 9 { "--retry 0" } else { "--retry 3 --retry-delay 0.01" };
        let all_options = format!("{retry} --insecure-auth {options}");
        let urls = ["a.open/1", "c.own/1"].map(|path| server.url(path));
        let mut command = fetch_url_command();
        command.args(all_options.split_whitespace()).arg(&urls[0]);
        let result = run_command(command);
        assert!(result.exit != 0 && result.stdout.is_empty(), "{row}: {result:?}");
        assert!(result.exit == 67 || [6, 9].contains(&row), "{row}: {result:?}");
        let passes = login_commands(&server).iter().filter(|line| line.starts_with("AUTHINFO PASS")).count();
        assert!(passes <= 1 && login_commands(&server).len() <= 2, "{row}: {:?}", server.received_text());
    }
    let server = start_server(login_config().requires_login());
    let urls = ["a.open/1", "c.own/1", "a.open"].map(|path| server.url(path));
    run_in_home(temp_dir().path(), "--insecure-auth -u me:wrong", &urls).assert_exit(67);
    let passes = login_commands(&server).iter().filter(|line| line.starts_with("AUTHINFO PASS")).count();
    assert!(passes <= urls.len(), "{:?}", server.received_text());
    for lines in server.commands() {
        let users = lines.iter().filter(|line| line.starts_with(b"AUTHINFO USER")).count();
        assert!(users <= 1, "{:?}", server.received_text());
    }
}

/// A login that is not accepted for the moment is sent again, also for the next URL.
#[test]
fn login_at_the_connection_limit_is_busy_and_retried() {
    for (trigger, reply) in [
        (NntpTrigger::from("AUTHINFO PASS"), "400 Come back later\r\n"),
        (NntpTrigger::from("AUTHINFO USER"), "482 too many connections for your user\r\n"),
        (NntpTrigger::from("AUTHINFO PASS"), "481 Maximum connections\r\n"),
        (NntpTrigger::from("AUTHINFO PASS"), "502 Too many connections\r\n"),
        (NntpTrigger::Greeting, "502 Too many connections\r\n"),
    ] {
        let answer = || NntpAction::Answer(reply.into());
        let options = format!("--insecure-auth -u me:{PASSWORD} --retry-delay 0");
        let config = login_config().requires_login();
        let server = start_server(config.clone().rule(NntpRule::on(trigger.clone(), answer()).nth(1)));
        let urls = ["a.open/1", "c.own/1"].map(|path| server.url(path));
        let result = run_in_home(temp_dir().path(), &format!("{options} --retry 1"), &urls);
        let expected = format!("{}{}", article_text("open"), article_text("own"));
        assert_eq!(result.assert_exit(0).stdout_text(), expected, "{reply}");
        let server = start_server(config.on(trigger, answer()));
        let result =
            run_in_home(temp_dir().path(), &format!("{options} --retry 0"), &[server.url("a.open/1")]);
        result.assert_exit(92).assert_stderr_contains(reply.trim_end());
    }
}

const NETRC: &str = "machine 127.0.0.1 login me password KanarienVogel\ndefault login d password pd\n";

#[test]
fn login_is_read_from_options_netrc_password_file_or_askpass() {
    let (with, without) = (expected_login(PASSWORD), Vec::new());
    for (options, exit, expected) in [
        (format!("-u me:{PASSWORD}"), 0, &with),
        ("-n".to_owned(), 0, &with),
        ("--netrc-file ./.netrc".to_owned(), 0, &with),
        ("--netrc-optional".to_owned(), 0, &with),
        ("-n -u me".to_owned(), 0, &with),
        ("-u me --password-file ./pw".to_owned(), 0, &with),
        ("-u me --askpass ./ask".to_owned(), 0, &with),
        (String::new(), 67, &without),
    ] {
        let dir = temp_dir();
        for (name, text, mode) in [
            (".netrc", NETRC.to_owned(), 0o600),
            ("pw", format!("{PASSWORD}\nnot this\n"), 0o600),
            ("ask", format!("#!/bin/sh\necho once >>asked\necho {PASSWORD}\n"), 0o700),
        ] {
            write_file_with_mode(dir.path(), name, &text, mode);
        }
        let server = start_server(login_config());
        let result = run_in_home(dir.path(), &format!("--insecure-auth {options}"), &[server.url("c.own/1")]);
        assert_eq!(result.exit, exit, "{options}: {}", result.stderr);
        assert_eq!(&login_commands(&server), expected, "{options}");
    }
}

#[test]
fn password_with_special_characters_is_sent_and_with_line_break_rejected() {
    for password in ["a b", "p\u{e4}ss", "a:b", "%41", "x".repeat(400).as_str()] {
        let dir = temp_dir();
        write_file_with_mode(dir.path(), "pw", &format!("{password}\n"), 0o600);
        let group = NntpGroup::new("c.own").private().append(article_with_id("own"));
        let server = start_server(NntpConfig::new().group(group).account("me", password));
        let result =
            run_in_home(dir.path(), "--insecure-auth -u me --password-file pw", &[server.url("c.own/1")]);
        assert_eq!(result.assert_exit(0).stdout_text(), article_text("own"), "{password}");
    }
    for (user, exits) in [("me\r\nQUIT:x", [93, 2]), ("me\nx:x", [93, 2]), ("me:x\r\nQUIT", [93, 2])] {
        let server = start_server(login_config());
        let mut command = fetch_url_command();
        command.args(["--retry", "0", "--insecure-auth", "-u", user, &server.url("c.own/1")]);
        let result = run_command(command);
        assert!(exits.contains(&result.exit), "{user:?}: {result:?}");
        assert!(login_commands(&server).is_empty() && !server.received_text().contains(&"QUIT".to_owned()));
    }
}

#[test]
fn password_is_prompted_on_the_terminal_if_required() {
    let server = start_server(login_config());
    let (dir, url) = (temp_dir(), server.url("c.own/1"));
    let home = format!("HOME={}", dir.path().display());
    for options in ["-u me", "-u me -vvv"] {
        let start = ["-i", "PATH=/usr/bin:/bin", &home, BINARY, "--retry", "0", "--insecure-auth"];
        let arguments: Vec<&str> =
            start.into_iter().chain(options.split(' ')).chain([url.as_str()]).collect();
        let mut terminal = Terminal::run("env", &arguments, 100).expect("start terminal");
        terminal.expect("assword").expect("question appears");
        terminal.type_secret(PASSWORD).expect("terminal echo is off");
        assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
        let screen = terminal.screen();
        assert!(screen.contains("body") && !screen.contains(PASSWORD), "{screen}");
    }
    assert_eq!(login_commands(&server), [expected_login(PASSWORD), expected_login(PASSWORD)].concat());
    // No password is asked if the server requires no login.
    let open = server.url("a.open/1");
    let mut terminal =
        Terminal::run(BINARY, &["--insecure-auth", "-u", "me", &open], 100).expect("start terminal");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    assert_eq!(login_commands(&server).len(), 4);
}

/// The password could not be sent.
#[test]
fn password_is_not_prompted_without_tls() {
    let server = start_server(login_config());
    let url = server.url("c.own/1");
    let mut terminal =
        Terminal::run(BINARY, &["--retry", "0", "-u", "me", &url], 100).expect("start terminal");
    assert_eq!(terminal.exit_status().expect("process exits"), 67, "{}", terminal.screen());
    assert!(login_commands(&server).is_empty(), "{:?}", server.received_text());
}

#[test]
fn user_name_and_password_are_prompted_without_user_option() {
    let server = start_server(login_config());
    let url = server.url("c.own/1");
    let arguments = ["-i", "PATH=/usr/bin:/bin", BINARY, "--retry", "0", "--insecure-auth", &url];
    let mut terminal = Terminal::run("env", &arguments, 100).expect("start terminal");
    terminal.expect("ser").expect("question appears");
    terminal.type_line("me").expect("write to terminal");
    terminal.expect("assword").expect("question appears");
    terminal.type_secret(PASSWORD).expect("terminal echo is off");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    assert!(
        terminal.screen().contains("body") && !terminal.screen().contains(PASSWORD),
        "{}",
        terminal.screen()
    );
    assert_eq!(login_commands(&server), expected_login(PASSWORD));
}

/// docs/spec/faults.md, row 36: log, trace, events, JSON and files, even if the server echoes the password.
#[test]
fn password_does_not_appear_in_any_output() {
    let after = |bytes: &str| NntpRule::on("AUTHINFO PASS", NntpAction::Answer(bytes.into()));
    let configs = [
        ("fine", login_config()),
        ("wrong", NntpConfig::new().group(NntpGroup::new("c.own").private()).account("me", "x")),
        ("garbage", login_config().rule(after("what?\r\n"))),
        ("closed", login_config().close_at("AUTHINFO PASS")),
        ("echo", login_config().rule(after(&format!("481 AUTHINFO PASS {PASSWORD} is wrong\r\n")))),
        ("name", login_config().answer("AUTHINFO USER", format!("481 {PASSWORD}\r\n"))),
        ("busy", login_config().rule(after(&format!("400 {PASSWORD}\r\n")))),
    ];
    for (name, config) in configs {
        for options in ["-vvv", "", "--format json -v", "-I -vv", "-w %{json} -O"] {
            let (server, dir) = (start_server(config.clone()), temp_dir());
            let all_options =
                format!("{options} --trace trace --events events --insecure-auth -u me:{PASSWORD}");
            let result = run_in_home(dir.path(), &all_options, &[server.url("c.own/1")]);
            let mut texts = vec![
                ("stderr".to_owned(), result.stderr.clone()),
                ("stdout".to_owned(), result.stdout_text()),
            ];
            for file in entry_names(dir.path()) {
                let bytes = fs::read(dir.path().join(&file)).expect("read file");
                texts.push((file, String::from_utf8_lossy(&bytes).into_owned()));
            }
            let lines = texts.iter().flat_map(|(source, text)| text.lines().map(move |line| (source, line)));
            let leaks: Vec<_> = lines.filter(|(_, line)| line.contains(PASSWORD)).collect();
            assert!(leaks.is_empty(), "{name} {options}: {leaks:#?}");
            assert!(texts.iter().any(|(file, text)| file == "trace" && text.contains("AUTHINFO")), "{name}");
            assert!(
                name == "name" || login_commands(&server) == expected_login(PASSWORD),
                "{name}: {:?}",
                server.received_text()
            );
        }
    }
}

/// docs/spec/faults.md, row 33: a login is bound to host and port.
#[test]
fn login_is_sent_to_its_own_server_only() {
    let (one, two) = (start_server(login_config()), start_server(login_config()));
    let dir = temp_dir();
    write_file_with_mode(dir.path(), ".netrc", NETRC, 0o600);
    run_in_home(
        dir.path(),
        "-n --insecure-auth",
        &[one.url("c.own/1"), two.url("a.open/1"), two.url("c.own/1")],
    )
    .assert_exit(0);
    assert_eq!(
        (login_commands(&one), login_commands(&two)),
        (expected_login(PASSWORD), expected_login(PASSWORD))
    );
    assert!(one.connections() == 1 && two.connections() <= 2, "{:?}", two.received_text());
}

/// The first article of the range is missing; the server requires a login for the second one.
#[test]
fn login_is_sent_if_required_after_a_missing_article() {
    let config = NntpConfig::new().group(group_with_articles("g", 1..=9)).account("me", PASSWORD);
    let config = config.answer("ARTICLE 1", "423 None\r\n").answer("ARTICLE 2", "480 Who?\r\n");
    let server = start_server(config);
    let dir = temp_dir();
    let options = format!("--insecure-auth -u me:{PASSWORD}");
    let result = run_in_home(dir.path(), &options, &server_urls(&server, &["g/1-3"]));
    // The server answers 480 again after the login; the test checks that the login was sent.
    result.assert_exit(67).assert_stderr_contains("480");
    assert!(server.received_text().iter().any(|line| line.starts_with("AUTHINFO PASS")));
}

/// A server may require a login at any time (RFC 4643 §2.2). The replies to articles requested ahead are discarded.
#[test]
fn login_is_sent_once_if_required_in_the_middle_of_a_range() {
    let (cert, _files, trust) = trusted_certificate();
    let once = |number: u64| {
        NntpRule::on(&*format!("ARTICLE {number}"), NntpAction::Answer(b"480 Who?\r\n".to_vec())).nth(1)
    };
    for (first, last) in [(2, 2), (2, 9), (5, 6), (9, 9)] {
        let config = NntpConfig::new().group(group_with_articles("g", 1..=9)).account("me", PASSWORD);
        let config = (first..=last).fold(config, |config, number| config.rule(once(number)));
        for (options, config, exit) in [
            ("--insecure-auth", config.clone(), 0),
            (&*trust, config.clone().starttls(&cert), 0),
            ("", config, 67),
        ] {
            let server = start_server(config);
            let options = format!("{options} -u me:{PASSWORD}");
            let result = fetch_path(&server, &options, "g/1-9");
            let numbers: Vec<u64> = (1..if exit == 0 { 10 } else { first }).collect();
            assert_eq!(result.assert_exit(exit).stdout_text(), article_texts("g", &numbers), "{options}");
            let login = if exit == 0 { expected_login(PASSWORD) } else { Vec::new() };
            assert_eq!(login_commands(&server), login, "{options}: {:?}", server.received_text());
            assert!(
                !server
                    .plaintext_commands()
                    .iter()
                    .any(|line| options.contains("cacert") && line.contains("AUTHINFO"))
            );
            assert_eq!(server.connections(), 1, "{options}");
        }
    }
}

/// The password was entered for the first URLs only.
#[test]
fn redirect_does_not_use_a_session_with_typed_password() {
    let group = group_with_articles("g", 1..=9).private();
    let server = start_server(NntpConfig::new().group(group).account("me", PASSWORD));
    let target = server.url("g/3");
    let http = http_server(move |_| HttpResponse::new(302).header("Location", &target));
    let dir = temp_dir();
    let script = dir.path().join("ask");
    let answer = format!("#!/bin/sh\ncase \"$1\" in Password*) echo {PASSWORD};; *) echo me;; esac\n");
    fs::write(&script, answer).expect("write file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).expect("set file mode");
    let options = format!("--insecure-auth --askpass {} --proto-redir =http,nntp", script.display());
    let all = [server_urls(&server, &["g/1", "g/2"]), vec![http.url("/x")]].concat();
    let result = run_in_home(dir.path(), &options, &all);
    result.assert_exit(67);
    assert_eq!(result.stdout_text(), article_texts("g", &[1, 2]));
    // The second article was fetched over the session of the first one.
    let logins = server.received_text().iter().filter(|line| line.starts_with("AUTHINFO PASS")).count();
    assert_eq!(logins, 1);
}

/// A server may list private groups only after a login.
#[test]
fn login_is_sent_before_a_list_if_allowed() {
    let config = NntpConfig::new().group(group_with_articles("g", 1..=9)).account("me", PASSWORD);
    let server = start_server(config);
    let dir = temp_dir();
    let options = format!("--insecure-auth -u me:{PASSWORD} --news-server {}", server.news_server());
    let result = run_in_home(dir.path(), &options, &["news:*".to_owned()]);
    assert_eq!(result.assert_exit(0).stdout_text(), "         9  posting     g\n");
    let dialogue = server.received_text();
    let at = |prefix: &str| dialogue.iter().position(|line| line.starts_with(prefix));
    assert!(at("AUTHINFO PASS").is_some() && at("AUTHINFO PASS") < at("LIST"), "{dialogue:?}");
}

/// Rule 7.3 of cli.md: the read timeout applies to each reply, not to all of them up to the article.
#[test]
fn login_with_slow_replies_succeeds_within_the_read_timeout() {
    let config = login_config().delay(Duration::from_millis(400));
    let server = NntpServer::start(config).expect("start server");
    let options = format!("--retry 0 --insecure-auth --read-timeout 1.3 -u me:{PASSWORD}");
    let started = Instant::now();
    let result = fetch_path(&server, &options, "c.own/1");
    assert_eq!(result.assert_exit(0).stdout_text(), article_text("own"));
    assert!(started.elapsed() > Duration::from_millis(1500), "{:?}", server.received_text());
    let options = options.replace("1.3", "0.2");
    fetch_path(&server, &options, "c.own/1").assert_exit(28);
}
