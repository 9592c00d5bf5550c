//! Fetching single articles (docs/spec/semantics.md §6; RFC 1738 §3.6 and §3.7; RFC 3977; docs/spec/faults.md, rows 9,
//! 19 and 89): the commands sent, the exact bytes of the article, its parts and formats, and rejected names.

use std::fs;

use super::{fetch_with_news_server, group_with_articles, run_in_home, start_server};
use crate::support::{
    BINARY, entry_names, fetch_url_command, http_server, run_command, run_fetch_url_in, temp_dir,
};
use fetch_url_tests::{HttpResponse, NntpArticle, NntpConfig, NntpGroup, NntpServer, ServerCert, Terminal};

const HEAD: &str = "From: Bob <bob@test.invalid>\r\nSubject: a\r\n\tb\r\nDate: Fri, 02 Dec 1994 01:02:03 -0500\r\n\
    Message-ID: <two@test.invalid>\r\n";
const BODY: &str = "one\r\n.\r\n..two\r\n.three\r\nFrom here\r\n>From there\r\n\r\nlast\r\n";
/// Commands that request something; greetings, capabilities and logins are not among them.
const REQUEST_COMMANDS: [&str; 9] =
    ["GROUP ", "ARTICLE ", "HEAD ", "BODY ", "STAT ", "OVER", "XOVER", "LIST", "LISTGROUP"];

/// Returns the article with [`HEAD`] and [`BODY`].
fn whole_article() -> String {
    [HEAD, "\r\n", BODY].concat()
}

/// The group `fetch.test` with these articles, numbered from 1.
fn group_with<A: Into<Vec<u8>>>(articles: impl IntoIterator<Item = A>) -> NntpConfig {
    let group = NntpGroup::new("fetch.test");
    NntpConfig::new()
        .group(articles.into_iter().fold(group, |group, bytes| group.append(NntpArticle::new(bytes))))
}

/// A server with one article of this message-id in no group.
fn ungrouped_article(id: impl AsRef<[u8]>) -> NntpConfig {
    NntpConfig::new().ungrouped(NntpArticle::new(whole_article()).with_id(id))
}

/// Returns the received commands that request something.
fn request_commands(server: &NntpServer) -> Vec<String> {
    let mut lines = server.received_text();
    lines.retain(|line| REQUEST_COMMANDS.iter().any(|start| line.starts_with(start)));
    lines
}

/// Returns the first 2000 bytes in escaped form, for messages.
fn escaped_prefix(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(2000)].escape_ascii().to_string()
}

/// An article with lines of all bytes except NUL, CR and LF, as in yEnc, that start with dots.
fn article_with_all_bytes() -> Vec<u8> {
    let bytes: Vec<u8> = (1..=255).filter(|byte| !b"\r\n".contains(byte)).collect();
    let lines = [[&b"."[..], &bytes, b"\r\n"].concat(), [&b".."[..], &bytes, b"\r\n.\r\n"].concat()];
    [HEAD.as_bytes(), b"\r\n", &lines.concat().repeat(12)].concat()
}

#[test]
fn article_bytes_are_delivered_unchanged() {
    let long = format!("{HEAD}\r\n{}\r\n.{}\r\n", "x".repeat(1_000_000), "y".repeat(70_000));
    let articles: Vec<Vec<u8>> = vec![
        whole_article().into(),
        article_with_all_bytes(),
        long.into(),
        format!("{HEAD}\r\n").into(),
        HEAD.into(),
        format!("{HEAD}\r\n.\r\n").into(),
        format!("{HEAD}\r\na\nb\rc\n.\nd\r.\r\r\ne\0f\r\n").into(),
        format!("{HEAD}\r\n.a\r\n\r\n\r\n").into(),
    ];
    let some = vec![articles[0].clone(), articles[1].clone(), articles[6].clone()];
    for (config, articles) in
        [(group_with(articles.clone()), articles), (group_with(some.clone()).split_replies(), some)]
    {
        let server = start_server(config);
        for (bytes, number) in articles.iter().zip(1..) {
            let result = fetch_with_news_server(&server, "", &server.url(&format!("fetch.test/{number}")));
            assert!(result.assert_exit(0).stdout == *bytes, "{number}: {}", escaped_prefix(&result.stdout));
        }
    }
}

#[test]
fn part_option_selects_the_command() {
    let server = start_server(group_with([whole_article()]));
    let rows = [
        ("", "ARTICLE", whole_article()),
        ("--part article", "ARTICLE", whole_article()),
        ("--part head", "HEAD", HEAD.to_owned()),
        ("--part body", "BODY", BODY.to_owned()),
        ("--text", "ARTICLE", whole_article().replace("\r\n", "\n")),
        ("--text --part body", "BODY", BODY.replace("\r\n", "\n")),
        ("--format raw", "ARTICLE", whole_article()),
    ];
    for (options, command, expected) in rows {
        let before = request_commands(&server).len();
        let result = fetch_with_news_server(&server, options, &server.url("fetch.test/1"));
        assert_eq!(result.assert_exit(0).stdout_text(), expected, "{options}");
        assert_eq!(
            request_commands(&server)[before..],
            ["GROUP fetch.test".to_owned(), format!("{command} 1")],
            "{options}"
        );
        let before = request_commands(&server).len();
        let result = fetch_with_news_server(&server, options, "news:two@test.invalid");
        assert_eq!(result.assert_exit(0).stdout_text(), expected, "{options}");
        assert_eq!(
            request_commands(&server)[before..],
            [format!("{command} <two@test.invalid>")],
            "{options}"
        );
    }
}

/// A CR or an LF alone is data.
#[test]
fn text_option_converts_crlf_only() {
    let server = start_server(group_with([&b"A: b\r\n\r\n\r\r\na\rb\nc\r\n\xff\r\n.\r\n"[..]]));
    let result = fetch_with_news_server(&server, "--text", &server.url("fetch.test/1"));
    assert_eq!(
        escaped_prefix(&result.assert_exit(0).stdout),
        escaped_prefix(b"A: b\n\n\r\na\rb\nc\n\xff\n.\n")
    );
    let server =
        start_server(group_with([&b"A: b\r\n\r\n\r\r\na\rb\nc\r\n\xff\r\n.\r\n"[..]]).split_replies());
    let result = fetch_with_news_server(&server, "--text", &server.url("fetch.test/1"));
    assert_eq!(
        escaped_prefix(&result.assert_exit(0).stdout),
        escaped_prefix(b"A: b\n\n\r\na\rb\nc\n\xff\n.\n")
    );
}

/// `-I` sends HEAD or STAT, never ARTICLE or BODY.
#[test]
fn head_option_shows_headers_without_fetching_the_body() {
    let server = start_server(group_with([whole_article()]));
    for url in [server.url("fetch.test/1"), "news:two@test.invalid".to_owned()] {
        let text = fetch_with_news_server(&server, "-I", &url).assert_exit(0).stdout_text();
        for line in ["Subject: a", "Message-ID: <two@test.invalid>", "From: Bob <bob@test.invalid>"] {
            assert!(text.lines().any(|shown| shown.starts_with(line)), "{line}: {text}");
        }
        assert!(!text.contains("three"), "{text}");
        let json = fetch_with_news_server(&server, "-I --format json", &url).assert_exit(0).stdout_text();
        let json: serde_json::Value = serde_json::from_str(&json).expect("valid JSON");
        let fields = json["fields"].as_array().expect("fields is an array");
        let date = fields.iter().find(|field| field[0] == "Date").expect("Date header");
        assert_eq!(date[1], "Fri, 02 Dec 1994 01:02:03 -0500");
    }
    assert!(
        request_commands(&server)
            .iter()
            .all(|line| !line.starts_with("ARTICLE") && !line.starts_with("BODY"))
    );
}

/// RFC 4155, with mboxrd quoting.
#[test]
fn mbox_format_quotes_from_lines() {
    let server = start_server(group_with([whole_article()]));
    let text = fetch_with_news_server(&server, "--format mbox", &server.url("fetch.test/1"))
        .assert_exit(0)
        .stdout_text();
    let quoted = whole_article().replace("\r\n", "\n").replace("\n>From there", "\n>>From there");
    let quoted = quoted.replace("\nFrom here", "\n>From here");
    assert_eq!(text, format!("From bob@test.invalid Fri Dec  2 06:02:03 1994\n{quoted}\n"));
    let head_only = fetch_with_news_server(&server, "--format mbox --part head", &server.url("fetch.test/1"));
    assert!(head_only.exit == 2 && request_commands(&server).len() == 2, "{head_only:?}");
}

/// Neither the headers nor the body of an article can add a `From ` line or change its format.
#[test]
fn mbox_from_line_cannot_be_forged() {
    let heads = [
        "From: x\r\nFrom someone Thu Jan  1 00:00:00 1970\r\nMessage-ID: <a@b>\r\n",
        "From: \"a\r\n b\" <c\r\n d@e>\r\nMessage-ID: <a@b>\r\n",
        "From: \x1b[2J \x01 <>\r\nMessage-ID: <a@b>\r\n",
        "Message-ID: <a@b>\r\n",
    ];
    let server = start_server(group_with(heads.map(|head| format!("{head}\r\na\nFrom b\r\n\r\nFrom c\r\n"))));
    for number in 1..=heads.len() {
        let text =
            fetch_with_news_server(&server, "--format mbox", &server.url(&format!("fetch.test/{number}")))
                .assert_exit(0)
                .stdout_text();
        let from_lines: Vec<&str> = text.split('\n').filter(|line| line.starts_with("From ")).collect();
        assert!(from_lines.len() == 1 && text.starts_with("From "), "{number}: {from_lines:?}");
        let fields: Vec<&str> = from_lines[0].split(' ').filter(|word| !word.is_empty()).collect();
        assert!(fields.len() == 7 && !from_lines[0].contains(char::is_control), "{number}: {from_lines:?}");
        assert!(text.ends_with("\n\n"), "{number}: {text:?}");
    }
}

/// All characters that RFC 1738 §3.6 allows in a message-id; the length limit is 250 bytes, with `<` and `>`.
#[test]
fn message_id_is_percent_decoded_once() {
    let rows = [
        ("news:unique@host.example", "unique@host.example"),
        ("NEWS:Unique@Host.Example", "Unique@Host.Example"),
        ("news:a;b/c?d:e&f=g@host.example", "a;b/c?d:e&f=g@host.example"),
        ("news:a$b-c_d.e+f!g*h'i(j),@host.example", "a$b-c_d.e+f!g*h'i(j),@host.example"),
        ("news:a%25b@host.example", "a%b@host.example"),
        ("news:a%2541@host.example", "a%41@host.example"),
        ("news:a%2Fb%3Fc%23d@host.example", "a/b?c#d@host.example"),
        ("news:%22a%22@%5B192.0.2.1%5D", "\"a\"@[192.0.2.1]"),
        ("news:a@b#fragment", "a@b"),
        ("news:%2e@b", ".@b"),
    ];
    for (url, id) in rows {
        let server = start_server(ungrouped_article(id));
        let result = fetch_with_news_server(&server, "", url);
        assert_eq!(result.assert_exit(0).stdout_text(), whole_article(), "{url}");
        assert_eq!(request_commands(&server), [format!("ARTICLE <{id}>")], "{url}");
    }
    let long = format!("{}@b.example", "x".repeat(238));
    let server = start_server(ungrouped_article(&long));
    fetch_with_news_server(&server, "", &format!("news:{long}")).assert_exit(0);
    let longer = fetch_with_news_server(&server, "", &format!("news:x{long}"));
    assert!(
        [3, 93].contains(&longer.exit) && server.received_text().len() == 1,
        "{longer:?} {:?}",
        server.received_text()
    );
}

/// RFC 3977 §3.6 limits message-ids to ASCII, but not the names of groups.
#[test]
fn group_name_may_be_utf8() {
    let rows: [(&str, &[u8]); 7] = [
        ("gnu.g++.help", b"gnu.g++.help"),
        ("fetch%2Etest", b"fetch.test"),
        ("alt.binaries.a-b_c", b"alt.binaries.a-b_c"),
        ("fr.%C3%A9t%C3%A9", "fr.\u{e9}t\u{e9}".as_bytes()),
        ("fr.\u{e9}t\u{e9}", "fr.\u{e9}t\u{e9}".as_bytes()),
        ("UPPER.lower", b"UPPER.lower"),
        ("one", b"one"),
    ];
    for (path, name) in rows {
        let group = NntpGroup::new(name).article(7, NntpArticle::new(whole_article()));
        let server = start_server(NntpConfig::new().group(group));
        let result = fetch_with_news_server(&server, "", &server.url(&format!("{path}/7")));
        assert_eq!(result.assert_exit(0).stdout_text(), whole_article(), "{path}");
        let sent = server.commands().concat();
        assert!(sent.contains(&[&b"GROUP "[..], name].concat()), "{path}: {:?}", server.received_text());
    }
}

/// docs/spec/faults.md, row 9: a URL cannot add command lines.
#[test]
fn forbidden_bytes_and_numbers_are_rejected_without_connection() {
    let server = start_server(group_with([whole_article()]));
    let bytes = ["%0D%0AQUIT", "%0A", "%0D", "%00", "%20", "%3C", "%3E"];
    for byte in bytes {
        let urls = [
            format!("news:a{byte}b@host.example"),
            format!("news:a@host{byte}.example"),
            format!("news:fetch{byte}.test"),
            format!("news:fetch.*{byte}"),
            format!("news://{}/a{byte}@b.example", server.news_server()),
            server.url(&format!("fetch{byte}.test")),
            server.url(&format!("fetch.test{byte}/1")),
            server.url(&format!("{byte}fetch.test/1-2")),
            server.url(&format!("fetch.test/1{byte}")),
        ];
        for url in urls {
            for options in ["", "-I", "--part body", "--format mbox"] {
                let result = fetch_with_news_server(&server, options, &url);
                assert!([3, 93].contains(&result.exit), "{url} {options}: {result:?}");
                assert!(result.stdout.is_empty() && !result.stderr.contains('\r'), "{url}: {result:?}");
            }
        }
    }
    for number in ["10000000000000000", "18446744073709551617", "-1", "1-10000000000000000", "1-2-3", "1e3"] {
        let result = fetch_with_news_server(&server, "", &server.url(&format!("fetch.test/{number}")));
        assert_eq!(result.exit, 3, "{number}: {result:?}");
    }
    assert_eq!((server.connections(), server.received_text().len()), (0, 0));
    // The largest valid article number has 16 digits (RFC 5538 §4).
    fetch_with_news_server(&server, "", &server.url("fetch.test/9999999999999999")).assert_exit(78);
    assert_eq!(request_commands(&server), ["GROUP fetch.test", "ARTICLE 9999999999999999"]);
}

/// The order is: the URL, `--news-server`, `$NNTPSERVER`.
#[test]
fn news_server_is_taken_from_url_option_or_environment() {
    let (one, two) = (start_server(ungrouped_article("a@b")), start_server(ungrouped_article("a@b")));
    let run = |options: &[&str], variable: Option<String>| {
        let mut command = fetch_url_command();
        command.args(["--retry", "0"]).args(options);
        command.envs(variable.map(|value| ("NNTPSERVER", value)));
        run_command(command)
    };
    run(&["news:a@b"], Some(one.news_server())).assert_exit(0);
    assert_eq!((one.connections(), two.connections()), (1, 0));
    run(&["--news-server", &two.news_server(), "news:a@b"], Some(one.news_server())).assert_exit(0);
    assert_eq!((one.connections(), two.connections()), (1, 1));
    let named = format!("news://{}/a@b", one.news_server());
    run(&["--news-server", &two.news_server(), &named], Some(two.news_server())).assert_exit(0);
    assert_eq!((one.connections(), two.connections()), (2, 1));
    let ipv6_server = start_server(ungrouped_article("a@b").ipv6());
    run(&["--news-server", &ipv6_server.news_server(), "news:a@b"], None).assert_exit(0);
    run(&["news:a@b"], Some(ipv6_server.news_server())).assert_exit(0);
    assert_eq!(ipv6_server.connections(), 2);
    run(&["news:a@b"], None)
        .assert_exit(2)
        .assert_stderr_contains("--news-server")
        .assert_stderr_contains("NNTPSERVER");
    for bad in ["", "a b", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "a/b", "u@h", "h\r\nx", "0x7f.1"]
    {
        let result = run(&["--news-server", bad, "news:a@b"], None);
        assert!([2, 3].contains(&result.exit), "{bad:?}: {result:?}");
    }
    // docs/spec/faults.md, row 19: the port is checked wherever it comes from.
    for port in [25, 110, 1023, 6667] {
        let addr = format!("127.0.0.1:{port}");
        run(&["--news-server", &addr, "news:a@b"], None).assert_exit(90);
        run(&["news:a@b"], Some(addr.clone())).assert_exit(90);
        run(&[&format!("news://{addr}/a@b")], None).assert_exit(90);
    }
}

#[test]
fn nntps_and_snews_require_a_trusted_certificate() {
    let cert = ServerCert::good().expect("create certificate");
    let server = NntpServer::start_tls(group_with([whole_article()]), &cert).expect("start server");
    let files = cert.write_files().expect("write certificate files");
    let ca = format!("--cacert {}", files.ca.display());
    let addr = server.news_server();
    let urls = [
        format!("nntps://{addr}/fetch.test/1"),
        "snews:two@test.invalid".to_owned(),
        format!("snews://{addr}/two@test.invalid"),
    ];
    for url in urls {
        assert_eq!(
            fetch_with_news_server(&server, &ca, &url).assert_exit(0).stdout_text(),
            whole_article(),
            "{url}"
        );
        fetch_with_news_server(&server, "", &url).assert_exit(60);
    }
    assert!(server.plaintext_commands().is_empty());
}

/// The file stays in the directory and is not hidden; `--no-clobber` sends no command.
#[test]
fn remote_name_is_the_sanitised_last_part_of_the_url() {
    let temp = temp_dir();
    let ids =
        ["x@host.example", "../../up@host.example", ".hidden@host.example", "-o@h", "a\u{1}\u{1b}[2Jb@h"];
    let config = ids.iter().fold(group_with([whole_article()]), |config, id| {
        config.ungrouped(NntpArticle::new(whole_article()).with_id(id))
    });
    let server = start_server(config);
    let addr = server.news_server();
    let dir = temp.path().join("in/here");
    fs::create_dir_all(&dir).expect("create directory");
    let urls = [
        server.url("fetch.test/1"),
        "news:x@host.example".to_owned(),
        "news:..%2F..%2Fup@host.example".to_owned(),
        "news:.hidden@host.example".to_owned(),
        "news:-o@h".to_owned(),
        "news:a%01%1B%5B2Jb@h".to_owned(),
    ];
    for url in &urls {
        run_fetch_url_in(&dir, ["--news-server", &addr, "-O", url]).assert_exit(0);
    }
    let found = entry_names(&dir);
    assert_eq!((entry_names(temp.path()), found.len()), (vec!["in".to_owned()], urls.len()), "{found:?}");
    assert!(found.contains(&"1".to_owned()) && found.contains(&"x@host.example".to_owned()), "{found:?}");
    assert!(!found.iter().any(|name| name.starts_with('.') || name.contains(char::is_control)), "{found:?}");
    let before = server.received_text().len();
    fs::write(dir.join("1"), "old").expect("write file");
    run_fetch_url_in(&dir, ["--no-clobber", "-O", &urls[0]]);
    assert_eq!(fs::read(dir.join("1")).expect("read file"), b"old");
    assert_eq!(server.received_text().len(), before, "a kept file was requested");
}

/// docs/spec/semantics.md §12: a pipe receives the exact bytes.
#[test]
fn article_is_sanitised_on_a_terminal_only() {
    let article = format!("{HEAD}\r\na\x1b[2Jb\x07\x08c\u{9b}31m\r\nlast\r\n");
    let server = start_server(group_with([article.clone()]));
    assert_eq!(
        fetch_with_news_server(&server, "", &server.url("fetch.test/1")).assert_exit(0).stdout_text(),
        article
    );
    let mut terminal = Terminal::run(BINARY, &[&server.url("fetch.test/1")], 80).expect("start terminal");
    assert_eq!(terminal.exit_status().expect("process exits"), 0, "{}", terminal.screen());
    let screen = terminal.screen();
    let is_unsafe_control = |character: char| character.is_control() && !"\n\t".contains(character);
    assert!(
        screen.contains("last") && !screen.contains(is_unsafe_control),
        "{}",
        escaped_prefix(terminal.bytes())
    );
}

#[test]
fn missing_article_or_group_exits_78_with_the_reply_code() {
    let server = start_server(group_with([whole_article()]));
    for (url, reply) in [
        (server.url("fetch.test/2"), "423"),
        (server.url("no.such.group/1"), "411"),
        ("news:nobody@test.invalid".to_owned(), "430"),
    ] {
        for options in ["", "-I", "--part head", "--part body", "--format mbox"] {
            let result = fetch_with_news_server(&server, options, &url);
            result.assert_exit(78).assert_stderr_contains(reply);
            assert!(result.stdout.is_empty(), "{url} {options}");
        }
    }
}

/// docs/spec/faults.md, row 89: MODE READER is sent at most once.
#[test]
fn mode_reader_is_sent_once_if_required() {
    let server = start_server(group_with([whole_article()]).requires_mode_reader().no_posting());
    assert_eq!(
        fetch_with_news_server(&server, "", &server.url("fetch.test/1")).assert_exit(0).stdout_text(),
        whole_article()
    );
    assert_eq!(
        fetch_with_news_server(&server, "--part body", "news:two@test.invalid").assert_exit(0).stdout_text(),
        BODY
    );
    for lines in server.commands() {
        let modes = lines.iter().filter(|line| line.eq_ignore_ascii_case(b"MODE READER")).count();
        assert_eq!(modes, 1, "{:?}", server.received_text());
    }
    let server = start_server(
        group_with([whole_article()])
            .answer("MODE", "200 Welcome\r\n")
            .answer("GROUP", "401 MODE-READER\r\n"),
    );
    let result = fetch_with_news_server(&server, "", &server.url("fetch.test/1"));
    let modes = server.received_text().iter().filter(|line| line.starts_with("MODE")).count();
    assert!(result.exit != 0 && modes <= 1, "{result:?} {:?}", server.received_text());
}

/// The server requires GROUP before article numbers and numbers articles from 10.
#[test]
fn rfc977_server_without_capabilities_is_supported() {
    let group = NntpGroup::new("fetch.test").append(NntpArticle::new(whole_article()));
    let server = start_server(NntpConfig::sn().group(group));
    for (options, expected) in
        [("", whole_article()), ("--part head", HEAD.to_owned()), ("--part body", BODY.to_owned())]
    {
        assert_eq!(
            fetch_with_news_server(&server, options, &server.url("fetch.test/10"))
                .assert_exit(0)
                .stdout_text(),
            expected
        );
        assert_eq!(
            fetch_with_news_server(&server, options, "news:two@test.invalid").assert_exit(0).stdout_text(),
            expected
        );
    }
    fetch_with_news_server(&server, "-I", &server.url("fetch.test/10")).assert_exit(0);
    fetch_with_news_server(&server, "", &server.url("fetch.test/11")).assert_exit(78);
    fetch_with_news_server(&server, "", &server.url("none/10")).assert_exit(78);
}

#[test]
fn max_filesize_counts_article_bytes_and_ranges_are_rejected() {
    let server = start_server(group_with([whole_article()]));
    let url = server.url("fetch.test/1");
    let length = whole_article().len();
    assert_eq!(
        fetch_with_news_server(&server, &format!("--max-filesize {length}"), &url)
            .assert_exit(0)
            .stdout
            .len(),
        length
    );
    fetch_with_news_server(&server, &format!("--max-filesize {}", length - 1), &url).assert_exit(63);
    fetch_with_news_server(&server, "-r 0-9", &url).assert_exit(33);
    let result = fetch_with_news_server(&server, "-o /dev/null -w %{size_download}", &url);
    assert_eq!(result.assert_exit(0).stdout_text(), length.to_string());
}

#[test]
fn part_option_applies_after_redirect() {
    let server = start_server(NntpConfig::new().group(group_with_articles("g", 1..=9)));
    let target = server.url("g/3");
    let http = http_server(move |_| HttpResponse::new(302).header("Location", &target));
    let dir = temp_dir();
    let options = "--part body --proto-redir =http,nntp";
    let result = run_in_home(dir.path(), options, &[http.url("/x")]);
    assert_eq!(result.assert_exit(0).stdout_text(), "This is g 3.\r\n.\r\nFrom it.\r\n");
}

#[test]
fn message_id_is_shown_and_password_is_hidden_in_messages() {
    let dir = temp_dir();
    let server = start_server(NntpConfig::new().group(group_with_articles("g", 1..=9)));
    let options = format!("--news-server {}", server.news_server());
    run_in_home(dir.path(), &options, &["news:no@where".to_owned()])
        .assert_exit(78)
        .assert_stderr_contains("no@where");
    let result = run_in_home(dir.path(), "--news-server u:canary@h", &["news:no@where".to_owned()]);
    result.assert_exit(2);
    assert!(!result.stderr.contains("canary"), "{}", result.stderr);
}
