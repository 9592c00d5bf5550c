//! Configuration files in curl's syntax: `~/.config/fetch-url/config`, `--config` (`-K`) and `--disable` (`-q`).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::{RunResult, fetch_url_command, run_command, run_fetch_url, run_shell, temp_dir};
use fetch_url_tests::{HttpResponse, HttpServer, NntpArticle, NntpConfig, NntpGroup, NntpServer};

fn write_config(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(&path, text).expect("a file");
    path
}

/// Starts an HTTP server that sends back the headers X-One, X-Two and User-Agent, separated by `|`.
fn header_echo_server() -> HttpServer {
    let started = HttpServer::start(|request| {
        let values =
            ["x-one", "x-two", "user-agent"].map(|name| request.header_text(name).unwrap_or_default());
        HttpResponse::new(200).body(values.join("|"))
    });
    started.expect("a server")
}

/// Runs fetch-url with an environment variable.
fn run_with_env(variable: &str, directory: &Path, arguments: &[&str]) -> RunResult {
    let mut command = fetch_url_command();
    command.env(variable, directory).args(arguments);
    run_command(command)
}

#[test]
fn command_line_overrides_the_users_configuration_file() {
    let http = header_echo_server();
    let home = temp_dir();
    let text = "# mine\nheader = \"X-One: from the file\"\nuser-agent = mine/1\n";
    write_config(home.path(), ".config/fetch-url/config", text);
    let url = http.url("/");
    assert_eq!(
        run_with_env("HOME", home.path(), &[&url]).assert_exit(0).stdout_text(),
        "from the file||mine/1"
    );
    let options = ["-H", "X-Two: typed", "-A", "typed/2", &url];
    assert_eq!(
        run_with_env("HOME", home.path(), &options).assert_exit(0).stdout_text(),
        "from the file|typed|typed/2"
    );
    let config = temp_dir();
    write_config(config.path(), "fetch-url/config", "user-agent = other/1\n");
    assert_eq!(
        run_with_env("XDG_CONFIG_HOME", config.path(), &[&url]).assert_exit(0).stdout_text(),
        "||other/1"
    );
    for q in ["-q", "--disable"] {
        let plain = run_with_env("HOME", home.path(), &[q, &url]);
        assert!(plain.assert_exit(0).stdout_text().starts_with("||fetch-url/"), "{plain:?}");
    }
    let copy = temp_dir();
    let copy = copy.path().to_str().expect("UTF-8");
    for misplaced in [&[&*url, "-q"][..], &["mirror", "-q", &url, copy], &["mirror", &url, copy, "--disable"]]
    {
        run_with_env("HOME", home.path(), misplaced).assert_exit(2).assert_stderr_contains("first argument");
    }
    // The file is not read by `explain`.
    run_with_env("HOME", home.path(), &["explain", "http://h/"]).assert_exit(0);
    // A missing file is not an error.
    run_with_env("HOME", temp_dir().path(), &[&url]).assert_exit(0);
}

/// The home directory of a service is often `/dev/null`, or the directory of another user.
#[test]
fn home_directory_that_cannot_be_searched_has_no_configuration_file() {
    let http = header_echo_server();
    let url = http.url("/");
    run_with_env("HOME", Path::new("/dev/null"), &[&url]).assert_exit(0);
    let home = temp_dir();
    let file = write_config(home.path(), ".config/fetch-url/config", "user-agent = mine/1\n");
    let close =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    let is_root = || fs::File::open(&file).is_ok();
    close(&file, 0o000);
    // The user's own file must not be ignored.
    if !is_root() {
        run_with_env("HOME", home.path(), &[&url]).assert_exit(2).assert_stderr_contains("Permission denied");
        close(home.path(), 0o000);
        let run = run_with_env("HOME", home.path(), &[&url]);
        close(home.path(), 0o700);
        run.assert_exit(0);
    }
    close(&file, 0o600);
    fs::remove_file(&file).expect("removed");
    fs::create_dir(&file).expect("a directory");
    run_with_env("HOME", home.path(), &[&url]).assert_exit(2).assert_stderr_contains("directory");
}

#[test]
fn config_option_reads_named_files_and_standard_input() {
    let http = header_echo_server();
    let directory = temp_dir();
    let url = http.url("/");
    let one = write_config(directory.path(), "one", &format!("-H \"X-One: 1\"\nurl = \"{url}\"\nsilent\n"));
    let two =
        write_config(directory.path(), "two", "header: \"X-One: 2\"\n--header \"X-Two: \\\"quoted\\\"\"\n");
    let (one, two) = (one.to_str().expect("UTF-8"), two.to_str().expect("UTF-8"));
    assert!(run_fetch_url(["-K", one]).assert_exit(0).stdout_text().starts_with("1||"));
    assert!(run_fetch_url(["--config", two, &url]).assert_exit(0).stdout_text().starts_with("2|\"quoted\"|"));
    let result = run_fetch_url(["-K", one, "-K", two]);
    assert!(result.assert_exit(0).stdout_text().contains("\"quoted\""), "{result:?}");
    let piped = run_shell("printf 'header = \"X-One: piped\"\\n' | \"$F\" -K - \"$1\"", [&url]);
    assert!(piped.assert_exit(0).stdout_text().starts_with("piped||"));
}

/// Outputs are assigned to URLs in the order of all arguments.
/// As in curl, `=` and `:` in such a value do not end the name of the option.
#[test]
fn value_in_the_word_of_its_option_is_no_url() {
    let http = HttpServer::start(|request| {
        let header = |name| request.header_text(name).unwrap_or_default().to_owned();
        HttpResponse::new(200).body(format!("{} {}", header("authorization"), header("x-one")))
    });
    let http = http.expect("a server");
    let dir = temp_dir();
    let text = format!("-ume:secret\n-HX-One:1\n-oa:b=c\nurl = {}\n", http.url("/"));
    let path = write_config(dir.path(), "config", &text);
    let mut command = fetch_url_command();
    command.current_dir(dir.path()).args(["-K", "config"]);
    let result = run_command(command);
    assert_eq!(result.exit, 2, "others can read the password: {}", result.stderr);
    assert!(http.requests().is_empty() && !result.stderr.contains("secret"), "{}", result.stderr);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    let mut command = fetch_url_command();
    command.current_dir(dir.path()).args(["-K", "config"]);
    run_command(command).assert_exit(0);
    let body = fs::read_to_string(dir.path().join("a:b=c")).expect("a file");
    assert_eq!(body, "Basic bWU6c2VjcmV0 1");
}

#[test]
fn urls_and_outputs_in_a_configuration_file_are_paired() {
    let http = header_echo_server();
    let directory = temp_dir();
    let text = format!(
        "url = {0}\noutput = {1}/a\nurl = {0}\noutput = {1}/b\n",
        http.url("/"),
        directory.path().display()
    );
    let path = write_config(directory.path(), "list", &text);
    run_fetch_url(["-K".as_ref(), path.as_os_str()]).assert_exit(0);
    assert!(directory.path().join("a").exists() && directory.path().join("b").exists());
}

#[test]
fn errors_name_file_and_line_of_the_configuration() {
    let http = header_echo_server();
    let directory = temp_dir();
    for (text, line, message) in [
        ("silent\nno-such-option\n", 2, "unexpected argument"),
        ("\n# x\nmax-time = soon\n", 3, "--max-time"),
        ("header = X-Own: 1\n", 1, "must be quoted"),
        ("header = \"X-Own: 1\n", 1, "closing quote"),
        ("silent = 3\n", 1, "--silent"),
        ("config = other\n", 1, "is not allowed in a configuration file"),
        ("silent\nmax-redirs = \"http://u:canary@h/\"\n", 2, "--max-redirs"),
    ] {
        let path = write_config(directory.path(), "config", text);
        let result = run_fetch_url(["-K".as_ref(), path.as_os_str(), http.url("/").as_ref()]);
        result
            .assert_exit(2)
            .assert_stderr_contains(&format!("config:{line}: "))
            .assert_stderr_contains(message);
        assert!(!result.stderr.contains("canary"), "{}", result.stderr);
    }
    let large = write_config(directory.path(), "large", &"#\n".repeat(600_000));
    run_fetch_url(["-K".as_ref(), large.as_os_str(), http.url("/").as_ref()])
        .assert_exit(2)
        .assert_stderr_contains("larger");
    let missing = directory.path().join("missing");
    run_fetch_url(["-K".as_ref(), missing.as_os_str(), http.url("/").as_ref()])
        .assert_exit(2)
        .assert_stderr_contains("missing");
    assert!(http.requests().is_empty());
}

/// The order of precedence is: command line, environment, configuration file (docs/spec/semantics.md §6).
#[test]
fn news_server_comes_from_option_environment_or_file() {
    let start_news_server = |body: &str| {
        let article = format!("Message-ID: <a@test.invalid>\r\nSubject: x\r\n\r\n{body}\r\n");
        let group = NntpGroup::new("test").append(NntpArticle::new(article));
        NntpServer::start(NntpConfig::new().group(group)).expect("a server")
    };
    let (from_option, from_environment, from_file) =
        (start_news_server("typed"), start_news_server("environment"), start_news_server("file"));
    let config = temp_dir();
    write_config(config.path(), "fetch-url/config", &format!("news-server = {}\n", from_file.news_server()));
    let fetch = |variable: Option<String>, options: &[&str]| {
        let mut command = fetch_url_command();
        command.env("XDG_CONFIG_HOME", config.path());
        if let Some(server) = variable {
            command.env("NNTPSERVER", server);
        }
        command.args(options).arg("--part").arg("body").arg("news:a@test.invalid");
        run_command(command).assert_exit(0).stdout_text()
    };
    assert_eq!(fetch(None, &[]), "file\r\n");
    assert_eq!(fetch(Some(from_environment.news_server()), &[]), "environment\r\n");
    let named = from_option.news_server();
    assert_eq!(fetch(Some(from_environment.news_server()), &["--news-server", &named]), "typed\r\n");
}

/// As for netrc files (docs/spec/cli.md, rule 12.10).
#[test]
fn configuration_with_a_password_that_others_can_read_exits_2() {
    let http = header_echo_server();
    let (directory, url) = (temp_dir(), http.url("/"));
    let secret_lines = [
        "user = \"me:canary\"",
        "-u me:canary",
        "proxy-user: me:canary\nproxy = 127.0.0.1:1",
        "oauth2-bearer = canary",
        "proxy = http://me:canary@127.0.0.1:1",
        "url = \"ftp://me:canary@127.0.0.1:1/\"",
        "header = \"Authorization: Basic canary\"",
    ];
    for (lines, mode, is_refused) in [
        (&secret_lines[..], 0o644, true),
        (&secret_lines[..1], 0o640, true),
        (&secret_lines[..1], 0o620, true),
        (&["user = me", "header = \"X-One: 1\""], 0o644, false),
        (&secret_lines[..1], 0o600, false),
        (&secret_lines[..1], 0o400, false),
    ] {
        for line in lines {
            let text = format!("silent\nshow-error\n{line}\n");
            let path = write_config(directory.path(), "fetch-url/config", &text);
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
            let before = http.requests().len();
            for result in [
                run_with_env("XDG_CONFIG_HOME", directory.path(), &[&url]),
                run_fetch_url(["-K".as_ref(), path.as_os_str(), url.as_ref()]),
            ] {
                if is_refused {
                    let message = format!(
                        "{0}:3: other users can read this password; run chmod 600 {0}",
                        path.display()
                    );
                    result.assert_exit(2).assert_stderr_contains(&message);
                } else {
                    result.assert_exit(0);
                }
                assert!(!result.stderr.contains("canary"), "{}", result.stderr);
            }
            assert_eq!(http.requests().len() > before, !is_refused, "{line} {mode:o}");
            fs::remove_file(&path).expect("a file");
        }
    }
    // A pipe has no other readers.
    let piped = run_shell("printf 'user = \"me:canary\"\n' | \"$F\" -K - \"$1\"", [&url]);
    piped.assert_exit(0);
}

/// As in curl, the last one of several opposite switches counts, wherever it is.
#[test]
fn opposite_switch_on_the_command_line_overrides_the_configuration_file() {
    let server = HttpServer::start(|request| match request.path().as_str() {
        "/404" => HttpResponse::new(404).body("none"),
        "/302" => HttpResponse::new(302).header("Location", "/200").body("moved"),
        _ => HttpResponse::new(200).body("ok"),
    });
    let server = server.expect("a server");
    let directory = temp_dir();
    for (line, options, path, exit, stdout) in [
        ("no-fail", &["-f"][..], "/404", 78, ""),
        ("fail", &["--no-fail"], "/404", 0, "none"),
        ("fail-with-body", &["-f"], "/404", 78, ""),
        ("fail-with-body", &["--no-fail"], "/404", 0, "none"),
        ("no-fail", &["--fail-with-body"], "/404", 78, "none"),
        ("no-location", &["-L"], "/302", 0, "ok"),
        ("location", &["--no-location"], "/302", 0, "moved"),
        ("location-trusted", &["--no-location"], "/302", 0, "moved"),
        ("no-location", &["--location-trusted"], "/302", 0, "ok"),
        ("ipv6", &["-4"], "/200", 0, "ok"),
        ("silent", &["-6", "--ipv4"], "/200", 0, "ok"),
        ("anyauth", &["--digest", "-u", "a:b"], "/200", 0, "ok"),
    ] {
        write_config(directory.path(), "fetch-url/config", line);
        let url = server.url(path);
        let arguments = [options, &["--retry", "0", &url]].concat();
        let result = run_with_env("XDG_CONFIG_HOME", directory.path(), &arguments);
        assert_eq!(result.assert_exit(exit).stdout_text(), stdout, "{line} {options:?}");
    }
    for (options, is_sent) in [
        (["--digest", "--basic"], true),
        (["--anyauth", "--basic"], true),
        (["--basic", "--anyauth"], false),
        (["--basic", "--digest"], false),
    ] {
        let before = server.requests().len();
        let url = server.url("/200");
        run_fetch_url([&options[..], &["-u", "a:b", &url]].concat()).assert_exit(0);
        assert_eq!(server.requests()[before].header("authorization").is_some(), is_sent, "{options:?}");
    }
}
