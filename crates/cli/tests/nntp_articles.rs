//! Single articles (SEMANTICS.md §6; RFC 1738 §3.6 and §3.7; RFC 3977; SECURITY.md, rows 9, 19 and 89): which
//! command goes out, that every octet comes back, and what may never go out.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;

use fetch_url_tests::{NntpArticle, NntpGroup, NntpServer, NntpSite, ServerCert, Terminal};
use support::{BINARY, Ran, command, fetch, fetch_in, names, ran};

const HEAD: &str = "From: Bob <bob@test.invalid>\r\nSubject: a\r\n\tb\r\nDate: Fri, 02 Dec 1994 01:02:03 -0500\r\n\
    Message-ID: <two@test.invalid>\r\n";
const BODY: &str = "one\r\n.\r\n..two\r\n.three\r\nFrom here\r\n>From there\r\n\r\nlast\r\n";
/// What is asked for; the rest of a dialogue is manners.
const ASKING: [&str; 9] =
    ["GROUP ", "ARTICLE ", "HEAD ", "BODY ", "STAT ", "OVER", "XOVER", "LIST", "LISTGROUP"];

fn serve(site: NntpSite) -> NntpServer {
    NntpServer::start(site).expect("a server on loopback")
}

fn whole() -> String {
    [HEAD, "\r\n", BODY].concat()
}

/// The group fetch.test with these articles from 1 on.
fn holding<A: Into<Vec<u8>>>(articles: impl IntoIterator<Item = A>) -> NntpSite {
    let group = NntpGroup::new("fetch.test");
    NntpSite::new()
        .group(articles.into_iter().fold(group, |group, octets| group.next(NntpArticle::new(octets))))
}

/// An article that is in no group, under this message-id.
fn stray(id: impl AsRef<[u8]>) -> NntpSite {
    NntpSite::new().stray(NntpArticle::new(whole()).called(id))
}

fn asked(server: &NntpServer) -> Vec<String> {
    let mut lines = server.dialogue();
    lines.retain(|line| ASKING.iter().any(|start| line.starts_with(start)));
    lines
}

fn get(server: &NntpServer, words: &str, url: &str) -> Ran {
    let addr = server.news_server();
    fetch(["--news-server", &addr].into_iter().chain(words.split_whitespace()).chain([url]))
}

fn shown(octets: &[u8]) -> String {
    octets[..octets.len().min(2000)].escape_ascii().to_string()
}

/// All octets but NUL, CR and LF, as yEnc has them, with dots at the beginnings of lines.
fn coded() -> Vec<u8> {
    let octets: Vec<u8> = (1..=255).filter(|octet| !b"\r\n".contains(octet)).collect();
    let lines = [[&b"."[..], &octets, b"\r\n"].concat(), [&b".."[..], &octets, b"\r\n.\r\n"].concat()];
    [HEAD.as_bytes(), b"\r\n", &lines.concat().repeat(12)].concat()
}

#[test]
fn every_octet_comes_back() {
    let long = format!("{HEAD}\r\n{}\r\n.{}\r\n", "x".repeat(1_000_000), "y".repeat(70_000));
    let articles: Vec<Vec<u8>> = vec![
        whole().into(),
        coded(),
        long.into(),
        format!("{HEAD}\r\n").into(),
        HEAD.into(),
        format!("{HEAD}\r\n.\r\n").into(),
        format!("{HEAD}\r\na\nb\rc\n.\nd\r.\r\r\ne\0f\r\n").into(),
        format!("{HEAD}\r\n.a\r\n\r\n\r\n").into(),
    ];
    let some = vec![articles[0].clone(), articles[1].clone(), articles[6].clone()];
    for (site, articles) in
        [(holding(articles.clone()), articles), (holding(some.clone()).split_replies(), some)]
    {
        let server = serve(site);
        for (octets, number) in articles.iter().zip(1..) {
            let ran = get(&server, "", &server.url(&format!("fetch.test/{number}")));
            assert!(ran.exits(0).stdout == *octets, "{number}: {}", shown(&ran.stdout));
        }
    }
}

#[test]
fn as_much_of_it_as_is_asked_for() {
    let server = serve(holding([whole()]));
    let rows = [
        ("", "ARTICLE", whole()),
        ("--part article", "ARTICLE", whole()),
        ("--part head", "HEAD", HEAD.to_owned()),
        ("--part body", "BODY", BODY.to_owned()),
        ("--text", "ARTICLE", whole().replace("\r\n", "\n")),
        ("--text --part body", "BODY", BODY.replace("\r\n", "\n")),
        ("--format raw", "ARTICLE", whole()),
    ];
    for (words, verb, expected) in rows {
        let before = asked(&server).len();
        let ran = get(&server, words, &server.url("fetch.test/1"));
        assert_eq!(ran.exits(0).text(), expected, "{words}");
        assert_eq!(asked(&server)[before..], ["GROUP fetch.test".to_owned(), format!("{verb} 1")], "{words}");
        let before = asked(&server).len();
        let ran = get(&server, words, "news:two@test.invalid");
        assert_eq!(ran.exits(0).text(), expected, "{words}");
        assert_eq!(asked(&server)[before..], [format!("{verb} <two@test.invalid>")], "{words}");
    }
}

/// Only CR LF is an end of line; a CR or an LF alone is an octet like others.
#[test]
fn line_ends_of_this_machine() {
    let server = serve(holding([&b"A: b\r\n\r\n\r\r\na\rb\nc\r\n\xff\r\n.\r\n"[..]]));
    let ran = get(&server, "--text", &server.url("fetch.test/1"));
    assert_eq!(shown(&ran.exits(0).stdout), shown(b"A: b\n\n\r\na\rb\nc\n\xff\n.\n"));
    let server = serve(holding([&b"A: b\r\n\r\n\r\r\na\rb\nc\r\n\xff\r\n.\r\n"[..]]).split_replies());
    let ran = get(&server, "--text", &server.url("fetch.test/1"));
    assert_eq!(shown(&ran.exits(0).stdout), shown(b"A: b\n\n\r\na\rb\nc\n\xff\n.\n"));
}

/// `-I` sends HEAD or STAT, and never the body.
#[test]
fn what_is_known_of_it() {
    let server = serve(holding([whole()]));
    for url in [server.url("fetch.test/1"), "news:two@test.invalid".to_owned()] {
        let text = get(&server, "-I", &url).exits(0).text();
        for line in ["Subject: a", "Message-ID: <two@test.invalid>", "From: Bob <bob@test.invalid>"] {
            assert!(text.lines().any(|shown| shown.starts_with(line)), "{line}: {text}");
        }
        assert!(!text.contains("three"), "{text}");
        let json = get(&server, "-I --format json", &url).exits(0).text();
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let fields = json["fields"].as_array().expect("fields");
        let date = fields.iter().find(|field| field[0] == "Date").expect("a date");
        assert_eq!(date[1], "Fri, 02 Dec 1994 01:02:03 -0500");
    }
    assert!(asked(&server).iter().all(|line| !line.starts_with("ARTICLE") && !line.starts_with("BODY")));
}

/// RFC 4155, and mboxrd for lines that look like the beginning of another message.
#[test]
fn for_a_mail_reader() {
    let server = serve(holding([whole()]));
    let text = get(&server, "--format mbox", &server.url("fetch.test/1")).exits(0).text();
    let quoted = whole().replace("\r\n", "\n").replace("\n>From there", "\n>>From there");
    let quoted = quoted.replace("\nFrom here", "\n>From here");
    assert_eq!(text, format!("From bob@test.invalid Fri Dec  2 06:02:03 1994\n{quoted}\n"));
    let head_only = get(&server, "--format mbox --part head", &server.url("fetch.test/1"));
    assert!(head_only.exit == 2 && asked(&server).len() == 2, "{head_only:?}");
}

/// What a From line says cannot be made up by a poster: no line of an article begins a message.
#[test]
fn no_line_of_an_article_begins_a_message() {
    let heads = [
        "From: x\r\nFrom someone Thu Jan  1 00:00:00 1970\r\nMessage-ID: <a@b>\r\n",
        "From: \"a\r\n b\" <c\r\n d@e>\r\nMessage-ID: <a@b>\r\n",
        "From: \x1b[2J \x01 <>\r\nMessage-ID: <a@b>\r\n",
        "Message-ID: <a@b>\r\n",
    ];
    let server = serve(holding(heads.map(|head| format!("{head}\r\na\nFrom b\r\n\r\nFrom c\r\n"))));
    for number in 1..=heads.len() {
        let text =
            get(&server, "--format mbox", &server.url(&format!("fetch.test/{number}"))).exits(0).text();
        let begin: Vec<&str> = text.split('\n').filter(|line| line.starts_with("From ")).collect();
        assert!(begin.len() == 1 && text.starts_with("From "), "{number}: {begin:?}");
        let words: Vec<&str> = begin[0].split(' ').filter(|word| !word.is_empty()).collect();
        assert!(words.len() == 7 && !begin[0].contains(char::is_control), "{number}: {begin:?}");
        assert!(text.ends_with("\n\n"), "{number}: {text:?}");
    }
}

/// Everything that RFC 1738 §3.6 lets stand in a message-id, as it is and escaped; decoded once.
#[test]
fn message_ids() {
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
        let server = serve(stray(id));
        let ran = get(&server, "", url);
        assert_eq!(ran.exits(0).text(), whole(), "{url}");
        assert_eq!(asked(&server), [format!("ARTICLE <{id}>")], "{url}");
    }
    let long = format!("{}@b.example", "x".repeat(238));
    let server = serve(stray(&long));
    get(&server, "", &format!("news:{long}")).exits(0);
    let longer = get(&server, "", &format!("news:x{long}"));
    assert!(
        [3, 93].contains(&longer.exit) && server.dialogue().len() == 1,
        "{longer:?} {:?}",
        server.dialogue()
    );
}

/// Not ASCII: RFC 3977 §3.6 has no such message-id, but a name of a group may be UTF-8.
#[test]
fn names_of_groups() {
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
        let group = NntpGroup::new(name).article(7, NntpArticle::new(whole()));
        let server = serve(NntpSite::new().group(group));
        let ran = get(&server, "", &server.url(&format!("{path}/7")));
        assert_eq!(ran.exits(0).text(), whole(), "{path}");
        let sent = server.commands().concat();
        assert!(sent.contains(&[&b"GROUP "[..], name].concat()), "{path}: {:?}", server.dialogue());
    }
}

/// Row 9: no line can be smuggled in, and nothing that is not a name goes out; nobody is even connected to.
#[test]
fn what_may_not_go_out() {
    let server = serve(holding([whole()]));
    let octets = ["%0D%0AQUIT", "%0A", "%0D", "%00", "%20", "%3C", "%3E"];
    for octet in octets {
        let urls = [
            format!("news:a{octet}b@host.example"),
            format!("news:a@host{octet}.example"),
            format!("news:fetch{octet}.test"),
            format!("news:fetch.*{octet}"),
            format!("news://{}/a{octet}@b.example", server.news_server()),
            server.url(&format!("fetch{octet}.test")),
            server.url(&format!("fetch.test{octet}/1")),
            server.url(&format!("{octet}fetch.test/1-2")),
            server.url(&format!("fetch.test/1{octet}")),
        ];
        for url in urls {
            for words in ["", "-I", "--part body", "--format mbox"] {
                let ran = get(&server, words, &url);
                assert!([3, 93].contains(&ran.exit), "{url} {words}: {ran:?}");
                assert!(ran.stdout.is_empty() && !ran.stderr.contains('\r'), "{url}: {ran:?}");
            }
        }
    }
    for number in ["2147483648", "4294967297", "18446744073709551617", "-1", "1-2147483648", "1-2-3", "1e3"] {
        let ran = get(&server, "", &server.url(&format!("fetch.test/{number}")));
        assert_eq!(ran.exit, 3, "{number}: {ran:?}");
    }
    assert_eq!((server.connections(), server.dialogue().len()), (0, 0));
    // The greatest number there is may be asked for (RFC 3977 §6).
    get(&server, "", &server.url("fetch.test/2147483647")).exits(78);
    assert_eq!(asked(&server), ["GROUP fetch.test", "ARTICLE 2147483647"]);
}

/// `--news-server`, then `$NNTPSERVER`; a URL that names its server needs neither.
#[test]
fn which_server() {
    let (one, two) = (serve(stray("a@b")), serve(stray("a@b")));
    let run = |words: &[&str], variable: Option<String>| {
        let mut command = command();
        command.args(["--retry", "0"]).args(words);
        command.envs(variable.map(|value| ("NNTPSERVER", value)));
        ran(command)
    };
    run(&["news:a@b"], Some(one.news_server())).exits(0);
    assert_eq!((one.connections(), two.connections()), (1, 0));
    run(&["--news-server", &two.news_server(), "news:a@b"], Some(one.news_server())).exits(0);
    assert_eq!((one.connections(), two.connections()), (1, 1));
    let named = format!("news://{}/a@b", one.news_server());
    run(&["--news-server", &two.news_server(), &named], Some(two.news_server())).exits(0);
    assert_eq!((one.connections(), two.connections()), (2, 1));
    let six = serve(stray("a@b").ipv6());
    run(&["--news-server", &six.news_server(), "news:a@b"], None).exits(0);
    run(&["news:a@b"], Some(six.news_server())).exits(0);
    assert_eq!(six.connections(), 2);
    run(&["news:a@b"], None).exits(2).says("--news-server").says("NNTPSERVER");
    for bad in ["", "a b", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "a/b", "u@h", "h\r\nx", "0x7f.1"]
    {
        let ran = run(&["--news-server", bad, "news:a@b"], None);
        assert!([2, 3].contains(&ran.exit), "{bad:?}: {ran:?}");
    }
    // Row 19, whichever way the port came.
    for port in [25, 110, 1023, 6667] {
        let addr = format!("127.0.0.1:{port}");
        run(&["--news-server", &addr, "news:a@b"], None).exits(90);
        run(&["news:a@b"], Some(addr.clone())).exits(90);
        run(&[&format!("news://{addr}/a@b")], None).exits(90);
    }
}

#[test]
fn under_tls() {
    let cert = ServerCert::good().expect("a certificate");
    let server = NntpServer::start_tls(holding([whole()]), &cert).expect("a server");
    let files = cert.written().expect("files");
    let ca = format!("--cacert {}", files.ca.display());
    let addr = server.news_server();
    let urls = [
        format!("nntps://{addr}/fetch.test/1"),
        "snews:two@test.invalid".to_owned(),
        format!("snews://{addr}/two@test.invalid"),
    ];
    for url in urls {
        assert_eq!(get(&server, &ca, &url).exits(0).text(), whole(), "{url}");
        get(&server, "", &url).exits(60);
    }
    assert!(server.in_clear().is_empty());
}

/// `-O` takes the last part, decoded and made safe; it never leaves the directory, nor hides, nor replaces what
/// `--no-clobber` keeps.
#[test]
fn names_of_files() {
    let here = tempfile::tempdir().expect("a directory");
    let ids =
        ["x@host.example", "../../up@host.example", ".hidden@host.example", "-o@h", "a\u{1}\u{1b}[2Jb@h"];
    let site =
        ids.iter().fold(holding([whole()]), |site, id| site.stray(NntpArticle::new(whole()).called(id)));
    let server = serve(site);
    let addr = server.news_server();
    let dir = here.path().join("in/here");
    fs::create_dir_all(&dir).expect("directories");
    let urls = [
        server.url("fetch.test/1"),
        "news:x@host.example".to_owned(),
        "news:..%2F..%2Fup@host.example".to_owned(),
        "news:.hidden@host.example".to_owned(),
        "news:-o@h".to_owned(),
        "news:a%01%1B%5B2Jb@h".to_owned(),
    ];
    for url in &urls {
        fetch_in(&dir, ["--news-server", &addr, "-O", url]).exits(0);
    }
    let found = names(&dir);
    assert_eq!((names(here.path()), found.len()), (vec!["in".to_owned()], urls.len()), "{found:?}");
    assert!(found.contains(&"1".to_owned()) && found.contains(&"x@host.example".to_owned()), "{found:?}");
    assert!(!found.iter().any(|name| name.starts_with('.') || name.contains(char::is_control)), "{found:?}");
    let before = server.dialogue().len();
    fs::write(dir.join("1"), "old").expect("written");
    fetch_in(&dir, ["--no-clobber", "-O", &urls[0]]);
    assert_eq!(fs::read(dir.join("1")).expect("a file"), b"old");
    assert_eq!(server.dialogue().len(), before, "what is kept is not asked for");
}

/// A terminal obeys nothing of an article; a pipe gets all of it (SEMANTICS.md §12).
#[test]
fn a_terminal_is_spared() {
    let article = format!("{HEAD}\r\na\x1b[2Jb\x07\x08c\u{9b}31m\r\nlast\r\n");
    let server = serve(holding([article.clone()]));
    assert_eq!(get(&server, "", &server.url("fetch.test/1")).exits(0).text(), article);
    let mut terminal = Terminal::run(BINARY, &[&server.url("fetch.test/1")], 80).expect("a terminal");
    assert_eq!(terminal.exit().expect("an end"), 0, "{}", terminal.screen());
    let screen = terminal.screen();
    let is_raw = |character: char| character.is_control() && !"\n\t".contains(character);
    assert!(screen.contains("last") && !screen.contains(is_raw), "{}", shown(terminal.octets()));
}

#[test]
fn what_is_not_there() {
    let server = serve(holding([whole()]));
    for (url, reply) in [
        (server.url("fetch.test/2"), "423"),
        (server.url("no.such.group/1"), "411"),
        ("news:nobody@test.invalid".to_owned(), "430"),
    ] {
        for words in ["", "-I", "--part head", "--part body", "--format mbox"] {
            let ran = get(&server, words, &url);
            ran.exits(78).says(reply);
            assert!(ran.stdout.is_empty(), "{url} {words}");
        }
    }
}

/// Row 89: MODE READER where the server wants it, and once.
#[test]
fn a_server_that_must_be_told() {
    let server = serve(holding([whole()]).mode_reader_first().no_posting());
    assert_eq!(get(&server, "", &server.url("fetch.test/1")).exits(0).text(), whole());
    assert_eq!(get(&server, "--part body", "news:two@test.invalid").exits(0).text(), BODY);
    for lines in server.commands() {
        let modes = lines.iter().filter(|line| line.eq_ignore_ascii_case(b"MODE READER")).count();
        assert_eq!(modes, 1, "{:?}", server.dialogue());
    }
    let server =
        serve(holding([whole()]).answer("MODE", "200 Welcome\r\n").answer("GROUP", "401 MODE-READER\r\n"));
    let ran = get(&server, "", &server.url("fetch.test/1"));
    let modes = server.dialogue().iter().filter(|line| line.starts_with("MODE")).count();
    assert!(ran.exit != 0 && modes <= 1, "{ran:?} {:?}", server.dialogue());
}

/// RFC 977: numbers from 10 on, no CAPABILITIES, and no number before GROUP.
#[test]
fn a_server_of_old() {
    let group = NntpGroup::new("fetch.test").next(NntpArticle::new(whole()));
    let server = serve(NntpSite::sn().group(group));
    for (words, expected) in
        [("", whole()), ("--part head", HEAD.to_owned()), ("--part body", BODY.to_owned())]
    {
        assert_eq!(get(&server, words, &server.url("fetch.test/10")).exits(0).text(), expected);
        assert_eq!(get(&server, words, "news:two@test.invalid").exits(0).text(), expected);
    }
    get(&server, "-I", &server.url("fetch.test/10")).exits(0);
    get(&server, "", &server.url("fetch.test/11")).exits(78);
    get(&server, "", &server.url("none/10")).exits(78);
}

/// Nothing but the octets asked for counts, and no part of an article can be had.
#[test]
fn limits() {
    let server = serve(holding([whole()]));
    let url = server.url("fetch.test/1");
    let length = whole().len();
    assert_eq!(get(&server, &format!("--max-filesize {length}"), &url).exits(0).stdout.len(), length);
    get(&server, &format!("--max-filesize {}", length - 1), &url).exits(63);
    get(&server, "-r 0-9", &url).exits(33);
    let ran = get(&server, "-o /dev/null -w %{size_download}", &url);
    assert_eq!(ran.exits(0).text(), length.to_string());
}
