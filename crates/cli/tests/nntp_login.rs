//! Who we are to a news server (SEMANTICS.md §6; RFC 4642, RFC 4643; SECURITY.md, rows 33, 36, 39, 40 and 89): a
//! login goes out when it is wanted, under TLS or not at all, once, and nobody sees it.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use fetch_url_tests::{
    CertFiles, NntpAct, NntpArticle, NntpGroup, NntpRule, NntpServer, NntpSite, ServerCert, Terminal,
};
use support::{BINARY, Ran, command, names, ran};

/// Letters only, so that no encoding changes it.
const CANARY: &str = "KanarienVogel";

fn serve(site: NntpSite) -> NntpServer {
    NntpServer::start(site).expect("a server on loopback")
}

fn text(id: &str) -> String {
    String::from_utf8(article(id).octets()).expect("UTF-8")
}

fn article(id: &str) -> NntpArticle {
    NntpArticle::post(&format!("{id}@test.invalid"), id, "body\r\n")
}

/// A group for all and one for `me`, whose password is the canary.
fn site() -> NntpSite {
    let group = |name: &str, id: &str| NntpGroup::new(name).next(article(id));
    NntpSite::new()
        .group(group("a.open", "open"))
        .group(group("c.own", "own").private())
        .account("me", CANARY)
}

/// A certificate, its files, and the option that believes it.
fn trust() -> (ServerCert, CertFiles, String) {
    let cert = ServerCert::good().expect("a certificate");
    let files = cert.written().expect("files");
    let option = format!("--cacert {}", files.ca.display());
    (cert, files, option)
}

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// Runs in the directory, which is the home too.
fn run(directory: &Path, words: &str, urls: &[String]) -> Ran {
    let mut command = command();
    command.env("HOME", directory).current_dir(directory).args(["--retry", "0"]);
    command.args(words.split_whitespace()).args(urls);
    ran(command)
}

fn get(server: &NntpServer, words: &str, path: &str) -> Ran {
    run(place().path(), words, &[server.url(path)])
}

fn put(directory: &Path, name: &str, text: &str, mode: u32) {
    fs::write(directory.join(name), text).expect("a file");
    fs::set_permissions(directory.join(name), fs::Permissions::from_mode(mode)).expect("its mode");
}

/// The commands of the login.
fn logins(server: &NntpServer) -> Vec<String> {
    let mut lines = server.dialogue();
    lines.retain(|line| line.starts_with("AUTHINFO"));
    lines
}

fn expected(password: &str) -> Vec<String> {
    vec!["AUTHINFO USER me".to_owned(), format!("AUTHINFO PASS {password}")]
}

/// Nobody logs in where nobody asks for it.
#[test]
fn only_when_it_is_wanted() {
    let server = serve(site());
    let words = format!("--insecure-auth -u me:{CANARY}");
    assert_eq!(get(&server, &words, "a.open/1").exits(0).text(), text("open"));
    assert!(logins(&server).is_empty(), "{:?}", server.dialogue());
    assert_eq!(get(&server, &words, "c.own/1").exits(0).text(), text("own"));
    assert_eq!(logins(&server), expected(CANARY));
    let server = serve(site().login_first());
    assert_eq!(get(&server, &words, "a.open/1").exits(0).text(), text("open"));
    assert_eq!(logins(&server), expected(CANARY));
}

/// 480 wherever it may come: what was asked for is asked again, and only once.
#[test]
fn wherever_it_is_wanted() {
    let words = format!("--insecure-auth -u me:{CANARY}");
    for site in [site(), site().login_first(), site().mode_reader_first()] {
        for (path, part) in
            [("c.own/1", "body"), ("c.own/1-1", "body"), ("c.own", "own"), ("news:own@test.invalid", "own")]
        {
            let extras = ["", "-I", "--format json", "--format mbox", "--part head"];
            for extra in &extras[..if path == "c.own" { 4 } else { 5 }] {
                let server = serve(site.clone());
                let url = if path.contains(':') { path.to_owned() } else { server.url(path) };
                let all = format!("--news-server {} {extra} {words}", server.news_server());
                let ran = run(place().path(), &all, &[url]);
                assert!(!ran.exits(0).stdout.is_empty(), "{path} {extra}");
                assert!(!extra.is_empty() || ran.text().contains(part), "{path}: {}", ran.text());
                assert_eq!(logins(&server), expected(CANARY), "{path} {extra}: {:?}", server.dialogue());
                assert_eq!(server.connections(), 1, "{path} {extra}");
            }
        }
    }
    let server = serve(site().login_first());
    let ran = run(
        place().path(),
        &format!("{words} --news-server {}", server.news_server()),
        &["news:*".to_owned()],
    );
    assert!(ran.exits(0).text().contains("c.own"), "{}", ran.text());
}

/// Rows 39 and 40: in clear nothing goes out unless that is asked for; not even the name.
#[test]
fn not_in_clear() {
    for site in [site(), site().login_first(), site().logins_under_tls(), site().no("AUTHINFO")] {
        let server = serve(site);
        let ran = get(&server, &format!("-u me:{CANARY}"), "c.own/1");
        ran.exits(67).says("--insecure-auth");
        assert!(logins(&server).is_empty(), "{:?}", server.dialogue());
    }
    // 483: not even then.
    let server = serve(site().logins_under_tls());
    let ran = get(&server, &format!("--insecure-auth -u me:{CANARY}"), "c.own/1");
    assert!([35, 67].contains(&ran.exit), "{ran:?}");
    assert!(!server.dialogue().iter().any(|line| line.contains(CANARY)), "{:?}", server.dialogue());
    assert!(logins(&server).len() <= 1);
}

/// STARTTLS comes before the login, whether TLS was asked for or not.
#[test]
fn starttls_first() {
    let (cert, _files, trust) = trust();
    let words = format!("{trust} -u me:{CANARY}");
    for (extra, site) in [
        ("", site()),
        ("", site().login_first()),
        ("", site().logins_under_tls()),
        ("--ssl", site()),
        ("--ssl-reqd", site().logins_under_tls()),
        ("--ssl", site().mode_reader_first()),
        ("", site().compress()),
    ] {
        let server = serve(site.starttls(&cert));
        assert_eq!(
            get(&server, &format!("{words} {extra}"), "c.own/1").exits(0).text(),
            text("own"),
            "{extra}"
        );
        assert_eq!(logins(&server), expected(CANARY));
        let clear = server.in_clear();
        assert!(clear.contains(&"STARTTLS".to_owned()), "{clear:?}");
        assert!(
            !clear.iter().any(|line| line.contains(CANARY) || line.starts_with("AUTHINFO PASS")),
            "{clear:?}"
        );
        let starts = server.dialogue().iter().filter(|line| *line == "STARTTLS").count();
        assert!(starts == 1 && server.connections() <= 2, "{:?}", server.dialogue());
    }
    let server = NntpServer::start_tls(site(), &cert).expect("a server");
    assert_eq!(get(&server, &words, "c.own/1").exits(0).text(), text("own"));
    assert_eq!(logins(&server), expected(CANARY));
    // 483 to a name that was allowed to go out: STARTTLS then, and the password under TLS.
    let server = serve(site().logins_under_tls().starttls(&cert));
    let ran = get(&server, &format!("{words} --insecure-auth"), "c.own/1");
    assert_eq!(ran.exits(0).text(), text("own"), "{:?}", server.dialogue());
    assert!(!server.in_clear().iter().any(|line| line.contains(CANARY)), "{:?}", server.in_clear());
}

/// RFC 4642 §2.2.2: what was said before STARTTLS is forgotten, MODE READER too.
#[test]
fn mode_reader_again_under_tls() {
    let (cert, _files, trust) = trust();
    let server = serve(site().mode_reader_first().starttls(&cert));
    let ran = get(&server, &format!("{trust} -u me:{CANARY}"), "c.own/1");
    assert_eq!(ran.exits(0).text(), text("own"));
    let modes = server.dialogue().iter().filter(|line| line.starts_with("MODE")).count();
    assert_eq!((modes, logins(&server)), (2, expected(CANARY)), "{:?}", server.dialogue());
}

/// Row 40: TLS that is refused, stripped, forged or of somebody else is not TLS.
#[test]
fn starttls_that_fails() {
    let (cert, _files, trust) = trust();
    let stranger = ServerCert::self_signed().expect("a certificate");
    let offered = || site().starttls(&cert);
    let hidden = "101 Capability list:\r\nVERSION 2\r\nREADER\r\nAUTHINFO USER\r\n.\r\n";
    let rows = [
        ("--ssl-reqd", site()),
        ("--ssl-reqd", offered().answer("STARTTLS", "580 Cannot\r\n")),
        ("--ssl-reqd", offered().answer("STARTTLS", "502 No\r\n")),
        ("--ssl-reqd", offered().answer("STARTTLS", "281 Authentication accepted\r\n")),
        ("--ssl-reqd", site().starttls(&stranger)),
        ("--ssl-reqd", offered().inject_after_starttls("281 Authentication accepted\r\n")),
        ("--ssl", offered().inject_after_starttls("200 Hello\r\n")),
        ("--ssl", site().starttls(&stranger)),
        ("", offered().answer("STARTTLS", "580 Cannot\r\n")),
        ("", site().starttls(&stranger)),
        ("", offered().answer("CAPABILITIES", hidden).answer("STARTTLS", "500 What?\r\n")),
    ];
    for ((words, site), row) in rows.into_iter().zip(0..) {
        let server = serve(site.login_first());
        let ran = get(&server, &format!("{trust} {words} -u me:{CANARY}"), "a.open/1");
        assert!(ran.exit != 0 && ran.stdout.is_empty(), "{row}: {ran:?} {:?}", server.dialogue());
        assert!(logins(&server).is_empty(), "{row}: {:?}", server.dialogue());
        if words == "--ssl-reqd" {
            assert!([8, 35, 60].contains(&ran.exit), "{row}: {ran:?}");
            assert!(
                !server.dialogue().iter().any(|line| line.starts_with("GROUP")),
                "{:?}",
                server.dialogue()
            );
        }
    }
    // Who asks for no more than TLS where it can be had gets the article in clear, and nobody logs in.
    let server = serve(site());
    assert_eq!(get(&server, "--ssl", "a.open/1").exits(0).text(), text("open"));
}

/// A wrong password goes out once, and not again for the next URL of the same server.
#[test]
fn never_twice() {
    let sites = [
        (site(), "-u me:wrong"),
        (site(), "-u you:wrong"),
        (site().answer("AUTHINFO USER", "481 Not you\r\n"), "-u me:wrong"),
        (site().answer("AUTHINFO USER", "482 Out of order\r\n"), "-u me:wrong"),
        (site().answer("AUTHINFO PASS", "502 No\r\n"), "-u me:wrong"),
        (site().answer("AUTHINFO PASS", "480 Again\r\n"), "-u me:wrong"),
        (site().answer("AUTHINFO PASS", "381 Another\r\n"), "-u me:wrong"),
        // It says yes, and then wants another login (row 89).
        (site().answer("AUTHINFO PASS", "281 Welcome\r\n"), "-u me:wrong"),
        (site().answer("AUTHINFO USER", "281 Welcome\r\n"), "-u me:wrong"),
        (site().answer("AUTHINFO PASS", "400 Too busy\r\n"), "-u me:wrong"),
    ];
    for ((site, words), row) in sites.into_iter().zip(0..) {
        let server = serve(site.login_first());
        let retry = if row == 9 { "--retry 0" } else { "--retry 3 --retry-delay 0.01" };
        let words = format!("{retry} --insecure-auth {words}");
        let urls = ["a.open/1", "c.own/1"].map(|path| server.url(path));
        let mut command = command();
        command.args(words.split_whitespace()).arg(&urls[0]);
        let ran = ran(command);
        assert!(ran.exit != 0 && ran.stdout.is_empty(), "{row}: {ran:?}");
        assert!(ran.exit == 67 || [6, 9].contains(&row), "{row}: {ran:?}");
        let passes = logins(&server).iter().filter(|line| line.starts_with("AUTHINFO PASS")).count();
        assert!(passes <= 1 && logins(&server).len() <= 2, "{row}: {:?}", server.dialogue());
    }
    let server = serve(site().login_first());
    let urls = ["a.open/1", "c.own/1", "a.open"].map(|path| server.url(path));
    run(place().path(), "--insecure-auth -u me:wrong", &urls).exits(67);
    let passes = logins(&server).iter().filter(|line| line.starts_with("AUTHINFO PASS")).count();
    assert!(passes <= urls.len(), "{:?}", server.dialogue());
    for lines in server.commands() {
        let users = lines.iter().filter(|line| line.starts_with(b"AUTHINFO USER")).count();
        assert!(users <= 1, "{:?}", server.dialogue());
    }
}

const NETRC: &str = "machine 127.0.0.1 login me password KanarienVogel\ndefault login d password pd\n";

#[test]
fn where_it_comes_from() {
    let (with, without) = (expected(CANARY), Vec::new());
    for (words, exit, expected) in [
        (format!("-u me:{CANARY}"), 0, &with),
        ("-n".to_owned(), 0, &with),
        ("--netrc-file ./.netrc".to_owned(), 0, &with),
        ("--netrc-optional".to_owned(), 0, &with),
        ("-n -u me".to_owned(), 0, &with),
        ("-u me --password-file ./pw".to_owned(), 0, &with),
        ("-u me --askpass ./ask".to_owned(), 0, &with),
        (String::new(), 67, &without),
    ] {
        let here = place();
        for (name, text, mode) in [
            (".netrc", NETRC.to_owned(), 0o600),
            ("pw", format!("{CANARY}\nnot this\n"), 0o600),
            ("ask", format!("#!/bin/sh\necho once >>asked\necho {CANARY}\n"), 0o700),
        ] {
            put(here.path(), name, &text, mode);
        }
        let server = serve(site());
        let ran = run(here.path(), &format!("--insecure-auth {words}"), &[server.url("c.own/1")]);
        assert_eq!(ran.exit, exit, "{words}: {}", ran.stderr);
        assert_eq!(&logins(&server), expected, "{words}");
    }
}

/// A password may have blanks, and what would break the line does not go out.
#[test]
fn strange_passwords() {
    for password in ["a b", "p\u{e4}ss", "a:b", "%41", "x".repeat(400).as_str()] {
        let here = place();
        put(here.path(), "pw", &format!("{password}\n"), 0o600);
        let group = NntpGroup::new("c.own").private().next(article("own"));
        let server = serve(NntpSite::new().group(group).account("me", password));
        let ran = run(here.path(), "--insecure-auth -u me --password-file pw", &[server.url("c.own/1")]);
        assert_eq!(ran.exits(0).text(), text("own"), "{password}");
    }
    for (user, exits) in [("me\r\nQUIT:x", [93, 2]), ("me\nx:x", [93, 2]), ("me:x\r\nQUIT", [93, 2])] {
        let server = serve(site());
        let mut command = command();
        command.args(["--retry", "0", "--insecure-auth", "-u", user, &server.url("c.own/1")]);
        let ran = ran(command);
        assert!(exits.contains(&ran.exit), "{user:?}: {ran:?}");
        assert!(logins(&server).is_empty() && !server.dialogue().contains(&"QUIT".to_owned()));
    }
}

#[test]
fn a_person_types() {
    let server = serve(site());
    let (here, url) = (place(), server.url("c.own/1"));
    let home = format!("HOME={}", here.path().display());
    for words in ["-u me", "-u me -vvv"] {
        let start = ["-i", "PATH=/usr/bin:/bin", &home, BINARY, "--retry", "0", "--insecure-auth"];
        let arguments: Vec<&str> = start.into_iter().chain(words.split(' ')).chain([url.as_str()]).collect();
        let mut person = Terminal::run("env", &arguments, 100).expect("a terminal");
        person.expect("assword").expect("a question");
        person.type_secret(CANARY).expect("no echo");
        assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
        let screen = person.screen();
        assert!(screen.contains("body") && !screen.contains(CANARY), "{screen}");
    }
    assert_eq!(logins(&server), [expected(CANARY), expected(CANARY)].concat());
    // Nobody is asked for what is not wanted.
    let open = server.url("a.open/1");
    let mut person = Terminal::run(BINARY, &["--insecure-auth", "-u", "me", &open], 100).expect("a terminal");
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    assert_eq!(logins(&server).len(), 4);
}

/// Nor for what may not go out.
#[test]
fn nobody_is_asked_in_vain() {
    let server = serve(site());
    let url = server.url("c.own/1");
    let mut person = Terminal::run(BINARY, &["--retry", "0", "-u", "me", &url], 100).expect("a terminal");
    assert_eq!(person.exit().expect("an end"), 67, "{}", person.screen());
    assert!(logins(&server).is_empty(), "{:?}", server.dialogue());
}

/// Without a name on the command line, the person is asked for both.
#[test]
fn a_person_who_gave_no_name() {
    let server = serve(site());
    let url = server.url("c.own/1");
    let arguments = ["-i", "PATH=/usr/bin:/bin", BINARY, "--retry", "0", "--insecure-auth", &url];
    let mut person = Terminal::run("env", &arguments, 100).expect("a terminal");
    person.expect("ser").expect("a question");
    person.type_line("me").expect("typed");
    person.expect("assword").expect("a question");
    person.type_secret(CANARY).expect("no echo");
    assert_eq!(person.exit().expect("an end"), 0, "{}", person.screen());
    assert!(person.screen().contains("body") && !person.screen().contains(CANARY), "{}", person.screen());
    assert_eq!(logins(&server), expected(CANARY));
}

/// Row 36: whatever is asked for, wherever one looks.
#[test]
fn nobody_sees_it() {
    let after = |octets: &str| NntpRule::on("AUTHINFO PASS", NntpAct::Answer(octets.into()));
    let sites = [
        ("fine", site()),
        ("wrong", NntpSite::new().group(NntpGroup::new("c.own").private()).account("me", "x")),
        ("garbage", site().rule(after("what?\r\n"))),
        ("closed", site().close_at("AUTHINFO PASS")),
        ("echo", site().rule(after(&format!("481 AUTHINFO PASS {CANARY} is wrong\r\n")))),
        ("name", site().answer("AUTHINFO USER", format!("481 {CANARY}\r\n"))),
        ("busy", site().rule(after(&format!("400 {CANARY}\r\n")))),
    ];
    for (name, site) in sites {
        for words in ["-vvv", "", "--format json -v", "-I -vv", "-w %{json} -O"] {
            let (server, here) = (serve(site.clone()), place());
            let loud = format!("{words} --trace trace --events events --insecure-auth -u me:{CANARY}");
            let ran = run(here.path(), &loud, &[server.url("c.own/1")]);
            let mut texts =
                vec![("stderr".to_owned(), ran.stderr.clone()), ("stdout".to_owned(), ran.text())];
            for file in names(here.path()) {
                let octets = fs::read(here.path().join(&file)).expect("a file");
                texts.push((file, String::from_utf8_lossy(&octets).into_owned()));
            }
            let lines = texts.iter().flat_map(|(place, text)| text.lines().map(move |line| (place, line)));
            let leaks: Vec<_> = lines.filter(|(_, line)| line.contains(CANARY)).collect();
            assert!(leaks.is_empty(), "{name} {words}: {leaks:#?}");
            assert!(texts.iter().any(|(file, text)| file == "trace" && text.contains("AUTHINFO")), "{name}");
            assert!(name == "name" || logins(&server) == expected(CANARY), "{name}: {:?}", server.dialogue());
        }
    }
}

/// Row 33: the login of one server is not for another, and an article that one login may read is not shown to none.
#[test]
fn each_server_its_own() {
    let (one, two) = (serve(site()), serve(site()));
    let here = place();
    put(here.path(), ".netrc", NETRC, 0o600);
    run(here.path(), "-n --insecure-auth", &[one.url("c.own/1"), two.url("a.open/1"), two.url("c.own/1")])
        .exits(0);
    assert_eq!((logins(&one), logins(&two)), (expected(CANARY), expected(CANARY)));
    assert!(one.connections() == 1 && two.connections() <= 2, "{:?}", two.dialogue());
}
