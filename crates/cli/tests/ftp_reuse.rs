//! One control connection for several URLs, as far as RFC 1738 §3.2.5 and SECURITY.md, row 33, allow: the same
//! login, the right directory, the right type, and never more connections than are kind.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::Duration;

use fetch_url_tests::{Act, Ending, FtpServer, FtpSite, On, Rule};
use support::{Ran, content_of, fetch, fetch_in, in_parallel, names};

fn serve(site: FtpSite) -> FtpServer {
    FtpServer::start(site).expect("a server on loopback")
}

/// Files that hold their own path, below a login directory.
fn site() -> FtpSite {
    let files = ["x", "y", "a/x", "a/y", "a/b/x", "a/b/y", "a/b/c/x", "d/x", "d/e/x"];
    let site = FtpSite::new().login_directory("/base/me").file("/far/x", "/far/x;");
    files.iter().fold(site, |site, name| site.file(format!("/base/me/{name}"), format!("{name};")))
}

/// Fetches these paths in one run, to one standard output.
fn fetched(server: &FtpServer, words: &str, paths: &[&str]) -> Ran {
    let urls = paths.iter().map(|path| server.url(path));
    fetch(words.split_whitespace().map(str::to_owned).chain(urls))
}

fn counted(server: &FtpServer, start: &str) -> usize {
    server.dialogue().iter().filter(|line| line.starts_with(start)).count()
}

#[test]
fn the_same_directory() {
    let server = serve(site());
    let ran = fetched(&server, "-u u:pw", &["a/b/x", "a/b/y", "a/b/x"]);
    assert_eq!(ran.exits(0).text(), "a/b/x;a/b/y;a/b/x;");
    assert_eq!(server.connections(), 1);
    for (start, times) in [("USER", 1), ("PASS", 1), ("CWD", 2), ("TYPE", 1), ("RETR", 3)] {
        assert_eq!(counted(&server, start), times, "{start}: {:?}", server.dialogue());
    }
}

#[test]
fn a_deeper_directory() {
    let server = serve(site());
    let ran = fetched(&server, "", &["x", "a/x", "a/b/x", "a/b/c/x"]);
    assert_eq!(ran.exits(0).text(), "x;a/x;a/b/x;a/b/c/x;");
    assert_eq!(server.connections(), 1);
    let mut walked = server.dialogue();
    walked.retain(|line| line.starts_with("CWD"));
    assert_eq!(walked, ["CWD a", "CWD b", "CWD c"]);
}

/// Back to where the login led, as PWD told it, or a new connection.
#[test]
fn another_directory() {
    let paths = ["a/b/x", "d/x", "a/x", "x", "%2Ffar/x", "a/b/y", "%2Ffar/x", "d/e/x"];
    let expected = "a/b/x;d/x;a/x;x;/far/x;a/b/y;/far/x;d/e/x;";
    let refused = || site().answer("CWD /base/me", "550 No way back.\r\n");
    for (what, site, most) in [
        ("PWD", site(), 2),
        ("no PWD", site().no("PWD"), paths.len()),
        ("a silly PWD", site().reword("PWD", "257 somewhere\r\n"), paths.len()),
        ("a PWD that lies", site().reword("PWD", "257 \"/nowhere\" is here\r\n"), paths.len()),
        ("no way back", refused(), paths.len()),
    ] {
        let server = serve(site);
        let ran = fetched(&server, "", &paths);
        assert_eq!(
            (ran.exit, ran.text().as_str()),
            (0, expected),
            "{what}: {} {:?}",
            ran.stderr,
            server.dialogue()
        );
        assert!(server.connections() <= most, "{what}: {} {:?}", server.connections(), server.dialogue());
    }
}

/// Whoever is not led back is somewhere else, where the same names are other objects.
#[test]
fn a_way_back_that_fails_leads_to_nobody_elses_file() {
    let site = || site().file("/far/a/x", "WRONG;").file("/far/y", "WRONG;").file("/base/me/d/a/x", "WRONG;");
    for (what, site) in [
        ("a PWD that lies", site().reword("PWD", "257 \"/nowhere\" is here\r\n")),
        ("no way back", site().answer("CWD /base/me", "550 No way back.\r\n")),
    ] {
        for paths in [
            ["x", "%2Ffar/x", "a/x", "y"],
            ["a/x", "%2Ffar/x", "y", "a/y"],
            ["%2Ffar/x", "%2Ffar/a/x", "a/x", "x"],
            ["x", "d/x", "a/x", "d/x"],
            // The third finds a data connection ready, and goes out in one piece with the way back.
            ["a/x", "x", "%2Ffar/x", "a/x"],
        ] {
            let server = serve(site.clone());
            let ran = fetched(&server, "", &paths);
            let object = |path: &str| match path {
                "%2Ffar/x" => "/far/x;".to_owned(),
                "%2Ffar/a/x" => "WRONG;".to_owned(),
                path => format!("{path};"),
            };
            let expected: String = paths.iter().map(|path| object(path)).collect();
            assert_eq!(
                (ran.exit, ran.text()),
                (0, expected),
                "{what}: {} {:?}",
                ran.stderr,
                server.dialogue()
            );
        }
    }
}

/// A directory whose name RFC 959 must quote, and one that is a command in itself.
#[test]
fn a_home_with_a_strange_name() {
    for home in ["/ho\"me", "/a b", "/\u{e9}", "/x\"\"y\"", "/ "] {
        let site = FtpSite::new().login_directory(home);
        let site = site.file(format!("{home}/a/x"), "ax;").file(format!("{home}/b/x"), "bx;");
        let server = serve(site);
        let ran = fetched(&server, "", &["a/x", "b/x", "a/x"]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, "ax;bx;ax;"), "{home}: {}", ran.stderr);
        assert!(server.connections() <= 3, "{home}");
    }
    // A reply is no place for a command.
    let server = serve(site().reword("PWD", "257 \"/x\rDELE y\" ok\r\n"));
    let ran = fetched(&server, "", &["a/x", "d/x"]);
    assert!(!server.dialogue().iter().any(|line| line.contains("DELE")), "{:?}", server.dialogue());
    assert_eq!(ran.exits(0).text(), "a/x;d/x;");
}

/// `/a/../d`: what `..` leads to is the server's business, and no prefix of anything.
#[test]
fn a_directory_that_goes_up() {
    let server = serve(site());
    let ran = fetched(&server, "", &["a/b/../x", "a/b/x", "a/../d/x", "d/x", "../me/x"]);
    assert_eq!(ran.exits(0).text(), "a/x;a/b/x;d/x;d/x;x;");
}

#[test]
fn nobody_shares_a_login() {
    let site = || site().user("u", "pu").user("v", "pv").anonymous();
    let at = |server: &FtpServer, login: &str| server.url("x").replacen("://", &format!("://{login}"), 1);
    for logins in [["u:pu@", "v:pv@"], ["u:pu@", ""], ["", "u:pu@"]] {
        let server = serve(site());
        let urls = logins.map(|login| at(&server, login));
        assert_eq!(fetch(urls).exits(0).text(), "x;x;");
        assert_eq!(server.connections(), 2, "{logins:?}");
        assert!(
            server
                .commands()
                .iter()
                .all(|lines| { lines.iter().filter(|line| line.starts_with(b"USER")).count() == 1 })
        );
    }
    // The right password of the first does not make the second one's right.
    let server = serve(site());
    let ran = fetch([at(&server, "u:pu@"), at(&server, "u:wrong@")]);
    assert_eq!((ran.exit, ran.text().as_str()), (67, "x;"));
    assert_eq!(server.connections(), 2);
    // The same login, however it is written, is the same.
    let server = serve(site());
    assert_eq!(fetch([at(&server, "u:pu@"), at(&server, "%75:p%75@")]).exits(0).text(), "x;x;");
    assert_eq!(counted(&server, "USER"), server.connections());
}

/// What is not there, or not for us, is no reason to leave.
#[test]
fn after_a_refusal() {
    for (what, site) in [
        ("missing", site()),
        ("refused", site().answer("RETR missing", "553 Not for you.\r\n")),
        ("not now", site().answer("RETR missing", "450 Busy.\r\n")),
    ] {
        let server = serve(site);
        let ran = fetched(&server, "", &["a/x", "a/missing", "a/y"]);
        assert!(ran.exit != 0, "{what}");
        assert_eq!(ran.text(), "a/x;a/y;", "{what}: {}", ran.stderr);
        assert_eq!(server.connections(), 1, "{what}: {:?}", server.dialogue());
    }
    // A directory that is not there: the next URL starts where the login led.
    let server = serve(site());
    let ran = fetched(&server, "", &["a/b/x", "a/nowhere/b/x", "a/y", "nowhere/x", "d/x"]);
    assert_eq!((ran.exit, ran.text().as_str()), (78, "a/b/x;a/y;d/x;"), "{}", ran.stderr);
    // The directory of that name does not serve another URL's file of the same name.
    let server = serve(site());
    let ran = fetched(&server, "", &["a/nowhere/x", "a/x", "nowhere/x", "x"]);
    assert_eq!((ran.exit, ran.text().as_str()), (78, "a/x;x;"), "{}", ran.stderr);
}

/// A connection that is well used sends more in one piece: a directory that is not there still ends it.
#[test]
fn a_missing_directory_late_on() {
    for (last, exits) in [
        ("nowhere/x", 78),
        ("nowhere/b/x", 78),
        ("a/nowhere/x", 78),
        ("%2Fnowhere/x", 78),
        ("nowhere/", 78),
        ("nowhere;type=d", 78),
    ] {
        for words in ["", "--retry 2 --retry-delay 0", "--ftp-method singlecwd"] {
            let server = serve(site());
            let paths = if last.starts_with("a/") {
                ["a/x", "a/y", "a/x", "a/y", last]
            } else {
                ["x", "y", "x", "y", last]
            };
            let ran = fetched(&server, words, &paths);
            let expected: String = paths[..4].iter().map(|path| format!("{path};")).collect();
            assert_eq!((ran.exit, ran.text()), (exits, expected), "{last} {words}: {:?}", server.dialogue());
        }
    }
    // A position that is refused, and a type: the octets that come all the same are not those.
    for (verb, nth) in [("REST", 5), ("TYPE", 2)] {
        let refused = Rule::on(verb, Act::Answer(b"504 No.\r\n".to_vec())).nth(nth);
        let server = serve(site().rule(refused));
        let (words, paths) = match verb {
            "REST" => ("-r 1-", ["x", "y", "x", "y", "x"]),
            _ => ("", ["x", "y", "x", "y", "x;type=a"]),
        };
        let ran = fetched(&server, words, &paths);
        let all = if verb == "REST" { ";;;;;" } else { "x;y;x;y;x;" };
        // It said so, or asked once more and got what it wanted.
        let is_right =
            ran.text() == if ran.exit == 0 { all } else { &all[..if verb == "REST" { 4 } else { 8 }] };
        assert!(is_right, "{verb}: {ran:?} {:?}", server.dialogue());
    }
    // And a listing that is not there, and a file where a directory was.
    let server = serve(site());
    let ran = fetched(&server, "--format raw", &["a/x", "a/y", "a/x", "a/nowhere/", "a/nowhere/x", "a/y"]);
    assert_eq!((ran.exit, ran.text().as_str()), (78, "a/x;a/y;a/x;a/y;"), "{:?}", server.dialogue());
}

/// A long way makes the client hasty: what was refused is refused all the same, and no other object comes.
#[test]
fn a_refusal_on_a_long_way() {
    let far = |site: FtpSite| serve(site.delay(Duration::from_millis(35)));
    let rows: [(&str, FtpSite, &str, i32); 5] = [
        ("CWD", site(), "nowhere/x", 78),
        ("CWD of several", site(), "a/nowhere/x", 78),
        ("TYPE", site().answer("TYPE", "504 No.\r\n"), "x", -1),
        ("REST", site().no("REST"), "x", 33),
        ("a listing", site(), "nowhere/", 78),
    ];
    in_parallel(&rows, 5, |(what, site, path, exits)| {
        for words in ["", "--ftp-pasv --disable-epsv"] {
            let words = if *what == "REST" { format!("{words} -r 1-") } else { words.to_owned() };
            for paths in [&[*path][..], &[*path; 5]] {
                let server = far(site.clone());
                let ran = fetched(&server, &words, paths);
                assert!(ran.stdout.is_empty(), "{what}: {:?} {:?}", ran.text(), server.dialogue());
                assert!(if *exits < 0 { ran.exit != 0 } else { ran.exit == *exits }, "{what}: {ran:?}");
            }
        }
        Ok(())
    });
}

/// TYPE is the connection's: asked for anew when it changes.
#[test]
fn one_type_after_another() {
    let site = || FtpSite::new().file("/t", "1\r\n2\n3\r").file("/a/n", "n\r\n");
    for paths in [["t;type=a", "t"], ["t", "t;type=a"], [";type=d", "t"], ["t", ";type=d"], ["a/", "t"]] {
        let server = serve(site());
        let ran = fetched(&server, "--format raw", &paths);
        let one = |path: &str| match path {
            // The server makes CR LF of a lone LF, the client LF of CR LF.
            "t;type=a" => "1\n2\n3\r",
            ";type=d" => "a\r\nt\r\n",
            "a/" => "n\r\n",
            _ => "1\r\n2\n3\r",
        };
        assert_eq!(ran.exits(0).text(), paths.map(one).concat(), "{paths:?}: {:?}", server.dialogue());
        assert!(server.connections() <= 2);
    }
    // A position is forgotten with the transfer it was for.
    let server = serve(site());
    let ran = fetched(&server, "-r 3-", &["t", "a/n"]);
    assert!(ran.text().starts_with("2\n3\r"), "{ran:?}");
    assert_eq!(fetched(&server, "", &["t", "t"]).exits(0).text(), "1\r\n2\n3\r1\r\n2\n3\r");
}

/// A connection that the server left while nobody used it is replaced, and nobody hears of it.
#[test]
fn a_connection_that_is_gone() {
    let endings =
        [("421", Act::After(b"421 Timeout.\r\n".to_vec())), ("EOF", Act::EndAtFinal(Ending::Close))];
    for (what, act) in endings {
        // The first is a transfer that ends well, and then the connection goes.
        let rule = match what {
            "421" => Rule::on("RETR x", act),
            _ => Rule::on("RETR nothing", act),
        };
        let server = serve(site().rule(rule.nth(1)));
        let ran = fetched(&server, "", &["x", "y", "a/x"]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, "x;y;a/x;"), "{what}: {}", ran.stderr);
        assert!(ran.stderr.is_empty(), "{what}: {}", ran.stderr);
    }
    // Closed at the next command: nothing was delivered, so it is asked again on a new connection.
    for act in [Act::End(Ending::Close), Act::End(Ending::Reset), Act::Answer(b"421 Timeout.\r\n".to_vec())] {
        let is_second: fn(&[u8]) -> bool = |line| line == b"SIZE y";
        let server = serve(site().rule(Rule::on(On::Which(is_second), act.clone()).nth(1)));
        let ran = fetched(&server, "", &["x", "y"]);
        assert_eq!((ran.exit, ran.text().as_str()), (0, "x;y;"), "{act:?}: {}", ran.stderr);
        assert!(server.connections() == 2 && ran.stderr.is_empty(), "{act:?}: {}", ran.stderr);
    }
    // A new connection that is closed at once is not replaced for ever.
    let server = serve(site().close_at("SIZE"));
    assert_ne!(fetched(&server, "", &["x", "y"]).exit, 0);
    assert!(server.connections() <= 6, "{}", server.connections());
}

/// A transfer that broke off leaves no connection that could be out of step.
#[test]
fn after_a_cut() {
    let site = || site().pattern("/base/me/big", 500_000);
    for act in [
        Act::CutData(1000, Ending::Reset),
        Act::CutData(1000, Ending::Close),
        Act::Reword(Vec::new()),
        Act::FinalFirst,
    ] {
        let server = serve(site().rule(Rule::on("RETR big", act.clone()).nth(1)));
        let here = tempfile::tempdir().expect("a directory");
        let urls = ["big", "x", "a/y"].map(|path| server.url(path));
        let names = ["-o", "big", "-o", "x", "-o", "y", "--read-timeout", "1.5"].map(str::to_owned);
        fetch_in(here.path(), names.into_iter().chain(urls));
        assert_eq!(content_of(here.path(), "x"), "x;", "{act:?}");
        assert_eq!(content_of(here.path(), "y"), "a/y;", "{act:?}");
    }
    // A transfer that we broke off ourselves.
    let server = serve(site());
    let ran = fetched(&server, "--max-filesize 100k", &["big", "x"]);
    assert_eq!((ran.exit, ran.text().as_str()), (63, "x;"), "{}", ran.stderr);
    let server = serve(site());
    let ran = fetched(&server, "-r 10-19", &["big", "big"]);
    assert_eq!(
        ran.exits(0).stdout,
        [fetch_url_tests::pattern_vec(10, 10), fetch_url_tests::pattern_vec(10, 10)].concat()
    );
}

/// All at once, and all right, over a handful of connections.
#[test]
fn a_hundred_at_once() {
    let (paths, site): (Vec<String>, FtpSite) = {
        let paths: Vec<String> = (0..100).map(|number| format!("d{}/f{number}", number % 7)).collect();
        let site =
            paths.iter().fold(FtpSite::new(), |site, path| site.file(format!("/{path}"), path.as_str()));
        (paths, site)
    };
    let server = serve(site.delay(Duration::from_millis(1)));
    let here = tempfile::tempdir().expect("a directory");
    let mut words: Vec<String> = ["-Z", "--parallel-max", "8", "--remote-name-all"].map(str::to_owned).into();
    words.extend(paths.iter().map(|path| server.url(path)));
    fetch_in(here.path(), words).exits(0);
    assert_eq!(names(here.path()).len(), 100);
    for path in &paths {
        let name = path.split('/').next_back().unwrap_or_default();
        assert_eq!(content_of(here.path(), name), *path);
    }
    // Eight at a time; each is replaced once, when it turns out that it cannot find its way back.
    assert!(server.connections() <= 16, "{} connections", server.connections());
    assert_eq!(counted(&server, "RETR"), 100);
}
