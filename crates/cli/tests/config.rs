//! Defaults files: `~/.config/fetch-url/config`, `-K` and `-q`, in curl's syntax.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use fetch_url_tests::{HttpReply, HttpServer, NntpArticle, NntpGroup, NntpServer, NntpSite};
use support::{Ran, command, fetch, ran, shell};

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn written(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(&path, text).expect("a file");
    path
}

/// Tells the fields that begin with `X-`, and who asks.
fn telling() -> HttpServer {
    let started = HttpServer::start(|request| {
        let shown =
            ["x-one", "x-two", "user-agent"].map(|name| request.header_text(name).unwrap_or_default());
        HttpReply::new(200).body(shown.join("|"))
    });
    started.expect("a server")
}

fn with(variable: &str, directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = command();
    command.env(variable, directory).args(arguments);
    ran(command)
}

#[test]
fn the_own_file_comes_first_and_the_command_line_wins() {
    let http = telling();
    let home = place();
    let text = "# mine\nheader = \"X-One: from the file\"\nuser-agent = mine/1\n";
    written(home.path(), ".config/fetch-url/config", text);
    let url = http.url("/");
    assert_eq!(with("HOME", home.path(), &[&url]).exits(0).text(), "from the file||mine/1");
    let more = ["-H", "X-Two: typed", "-A", "typed/2", &url];
    assert_eq!(with("HOME", home.path(), &more).exits(0).text(), "from the file|typed|typed/2");
    let config = place();
    written(config.path(), "fetch-url/config", "user-agent = other/1\n");
    assert_eq!(with("XDG_CONFIG_HOME", config.path(), &[&url]).exits(0).text(), "||other/1");
    for q in ["-q", "--disable"] {
        let plain = with("HOME", home.path(), &[q, &url]);
        assert!(plain.exits(0).text().starts_with("||fetch-url/"), "{plain:?}");
    }
    with("HOME", home.path(), &[&url, "-q"]).exits(2).says("first argument");
    // It is of fetching alone.
    with("HOME", home.path(), &["explain", "http://h/"]).exits(0);
    // Without one, nothing is amiss.
    with("HOME", place().path(), &[&url]).exits(0);
}

#[test]
fn named_files() {
    let http = telling();
    let directory = place();
    let url = http.url("/");
    let one = written(directory.path(), "one", &format!("-H \"X-One: 1\"\nurl = \"{url}\"\nsilent\n"));
    let two = written(directory.path(), "two", "header: \"X-One: 2\"\n--header \"X-Two: \\\"quoted\\\"\"\n");
    let (one, two) = (one.to_str().expect("UTF-8"), two.to_str().expect("UTF-8"));
    assert!(fetch(["-K", one]).exits(0).text().starts_with("1||"));
    assert!(fetch(["--config", two, &url]).exits(0).text().starts_with("2|\"quoted\"|"));
    let ran = fetch(["-K", one, "-K", two]);
    assert!(ran.exits(0).text().contains("\"quoted\""), "{ran:?}");
    let piped = shell("printf 'header = \"X-One: piped\"\\n' | \"$F\" -K - \"$1\"", [&url]);
    assert!(piped.exits(0).text().starts_with("piped||"));
}

/// Outputs belong to URLs in the order of the whole.
#[test]
fn urls_and_their_files() {
    let http = telling();
    let directory = place();
    let text = format!(
        "url = {0}\noutput = {1}/a\nurl = {0}\noutput = {1}/b\n",
        http.url("/"),
        directory.path().display()
    );
    let path = written(directory.path(), "list", &text);
    fetch(["-K".as_ref(), path.as_os_str()]).exits(0);
    assert!(directory.path().join("a").exists() && directory.path().join("b").exists());
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let http = telling();
    let directory = place();
    for (text, line, words) in [
        ("silent\nno-such-option\n", 2, "unexpected argument"),
        ("\n# x\nmax-time = soon\n", 3, "--max-time"),
        ("header = X-Own: 1\n", 1, "quotes"),
        ("header = \"X-Own: 1\n", 1, "quote"),
        ("silent = 3\n", 1, "--silent"),
        ("config = other\n", 1, "names no other"),
        ("silent\nmax-redirs = \"http://u:canary@h/\"\n", 2, "--max-redirs"),
    ] {
        let path = written(directory.path(), "config", text);
        let ran = fetch(["-K".as_ref(), path.as_os_str(), http.url("/").as_ref()]);
        ran.exits(2).says(&format!("config:{line}: ")).says(words);
        assert!(!ran.stderr.contains("canary"), "{}", ran.stderr);
    }
    let large = written(directory.path(), "large", &"#\n".repeat(600_000));
    fetch(["-K".as_ref(), large.as_os_str(), http.url("/").as_ref()]).exits(2).says("larger");
    let missing = directory.path().join("missing");
    fetch(["-K".as_ref(), missing.as_os_str(), http.url("/").as_ref()]).exits(2).says("missing");
    assert!(http.requests().is_empty());
}

/// The command line, the environment, a defaults file: in that order (SEMANTICS.md, section 6).
#[test]
fn where_a_news_server_is_named() {
    let news = |body: &str| {
        let article = format!("Message-ID: <a@test.invalid>\r\nSubject: x\r\n\r\n{body}\r\n");
        let group = NntpGroup::new("test").next(NntpArticle::new(article));
        NntpServer::start(NntpSite::new().group(group)).expect("a server")
    };
    let (typed, environment, file) = (news("typed"), news("environment"), news("file"));
    let config = place();
    written(config.path(), "fetch-url/config", &format!("news-server = {}\n", file.news_server()));
    let fetched = |variable: Option<String>, words: &[&str]| {
        let mut command = command();
        command.env("XDG_CONFIG_HOME", config.path());
        if let Some(server) = variable {
            command.env("NNTPSERVER", server);
        }
        command.args(words).arg("--part").arg("body").arg("news:a@test.invalid");
        ran(command).exits(0).text()
    };
    assert_eq!(fetched(None, &[]), "file\r\n");
    assert_eq!(fetched(Some(environment.news_server()), &[]), "environment\r\n");
    let named = typed.news_server();
    assert_eq!(fetched(Some(environment.news_server()), &["--news-server", &named]), "typed\r\n");
}
