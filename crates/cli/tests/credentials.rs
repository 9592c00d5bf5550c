//! Where users and passwords come from, which of them counts, and that nobody ever sees them (SECURITY.md,
//! rows 30, 31 and 36 to 38). What happens when a server wants to know is in `asking.rs`.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use fetch_url_tests::{HttpReply, HttpServer};
use support::{Ran, command, fetch_in, names, ran, serving, shell};

/// Letters only, so that no encoding changes it; and `u:` with it in base64.
const CANARY: &str = "KanarienVogel";
const CANARY_IN_BASE64: &str = "dTpLYW5hcmllblZvZ2Vs";

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// A file with this text and mode.
fn put(directory: &Path, name: &str, text: impl AsRef<[u8]>, mode: u32) {
    let path = directory.join(name);
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
}

fn open_to_all() -> HttpServer {
    serving(|_| HttpReply::new(200).body("object"))
}

/// The user and password of the last request in clear; "" is none.
fn shown(server: &HttpServer) -> String {
    let requests = server.requests();
    let field = requests.last().and_then(|request| request.header_text("authorization")).unwrap_or_default();
    match field.strip_prefix("Basic ") {
        Some(coded) => String::from_utf8_lossy(&from_base64(coded)).into_owned(),
        None => field.to_owned(),
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|octet| DIGITS.iter().position(|digit| *digit == octet));
    let bits: Vec<u8> =
        digits.flat_map(|digit| (0..6).rev().map(move |bit| (digit >> bit & 1) as u8)).collect();
    bits.chunks_exact(8).map(|octet| octet.iter().fold(0, |sum, bit| sum << 1 | bit)).collect()
}

/// Runs in the directory, which is the home too; `_` stands for a blank.
fn run(directory: &Path, words: &str, url: &str) -> Ran {
    let mut command = command();
    command.env("HOME", directory).current_dir(directory).args(["--retry", "0"]);
    command.args(words.split_whitespace().map(|word| word.replace('_', " "))).arg(url);
    ran(command)
}

fn with_login(url: &str, login: &str) -> String {
    url.replacen("://", &format!("://{login}@"), 1)
}

const NETRC: &str = "machine 127.0.0.1 login n password pn\n\
                     machine 127.0.0.1 login m password pm\n\
                     machine localhost login l password pl\n\
                     default login d password pd\n";

#[test]
fn which_of_them_counts() {
    let server = open_to_all();
    for (words, login, expected) in [
        ("", "", ""),
        ("-u u:pw", "", "u:pw"),
        ("-u u:", "", "u:"),
        ("-u :pw", "", ":pw"),
        ("-u u:p:w", "", "u:p:w"),
        ("-u u:%41@/", "", "u:%41@/"),
        ("", "v:pv", "v:pv"),
        ("", "v:", "v:"),
        // Only when it is asked for.
        ("--netrc-file net", "", "n:pn"),
        ("-n --netrc-file net", "", "n:pn"),
        // The caller's own word is before the file's.
        ("-u u:pw --netrc-file net", "", "u:pw"),
        ("--netrc-file net", "v:pv", "v:pv"),
        // A name without a password: the password of that name, and of no other.
        ("--netrc-file net", "m", "m:pm"),
        ("-u m --netrc-file net", "", "m:pm"),
        ("-u n:pw", "n", "n:pw"),
        ("-u n:pw --netrc-file net", "n", "n:pw"),
        // A field of the caller is what is sent.
        ("-H Authorization:_Mine --netrc-file net", "", "Mine"),
        ("-H Authorization:_Mine -u u:pw", "", "Mine"),
        ("--oauth2-bearer token", "", "Bearer token"),
        ("--oauth2-bearer token --netrc-file net", "", "Bearer token"),
    ] {
        let here = place();
        put(here.path(), "net", NETRC, 0o600);
        let url = if login.is_empty() { server.url("/x") } else { with_login(&server.url("/x"), login) };
        run(here.path(), words, &url).exits(0);
        assert_eq!(shown(&server), expected, "{words} {url}");
    }
}

/// Two names that differ: whatever is sent, it is not one's name with the other's password.
#[test]
fn names_are_not_mixed_with_passwords() {
    let server = open_to_all();
    for (words, login) in [
        ("-u u:pw", "v"),
        ("-u u:pw", "v:pv"),
        ("--netrc-file net", "v"),
        ("-u u --netrc-file net", ""),
        ("-u u --netrc-file net", "v"),
        ("-u u:pw --netrc-file net", "n"),
    ] {
        let here = place();
        put(here.path(), "net", NETRC, 0o600);
        let url = if login.is_empty() { server.url("/x") } else { with_login(&server.url("/x"), login) };
        run(here.path(), words, &url);
        let sent = shown(&server);
        let pairs = ["", "u:pw", "v:pv", "n:pn", "v:", "u:"];
        assert!(pairs.contains(&sent.as_str()), "{words} {url}: {sent}");
        assert!(!(sent == "n:pn" && login == "v"), "{words} {url}: somebody else");
    }
}

/// Row 31: exactly this host, in any letters, and `default` only by its option.
#[test]
fn whose_entry() {
    let server = open_to_all();
    let port = server.addr().port();
    for (text, words, host, expected) in [
        (NETRC, "", "127.0.0.1", "n:pn"),
        (NETRC, "", "localhost", "l:pl"),
        (NETRC, "", "LOCALHOST", "l:pl"),
        ("machine LocalHost login l password pl", "", "localhost", "l:pl"),
        (NETRC, "", "a.test", ""),
        (NETRC, "--netrc-default", "a.test", "d:pd"),
        (NETRC, "--netrc-default", "127.0.0.1", "n:pn"),
        ("machine test login l password pl", "", "a.test", ""),
        ("machine .test login l password pl", "", "a.test", ""),
        ("machine *.test login l password pl", "", "a.test", ""),
        ("machine a.test.evil.test login l password pl", "", "a.test", ""),
        ("machine a login l password pl", "", "a.test", ""),
        ("machine xa.test login l password pl", "", "a.test", ""),
        ("machine a.test login l password pl", "", "sub.a.test", ""),
        ("machine a.test login l password pl", "", "v@a.test", ""),
        ("machine a.test\nlogin l\npassword pl\n", "", "a.test", "l:pl"),
        ("machine a.test login l password \"p l\"", "", "a.test", "l:p l"),
        ("# machine a.test login x password px\nmachine a.test login l password pl", "", "a.test", "l:pl"),
        (
            "macdef init\nmachine a.test login x password px\n\nmachine a.test login l password pl",
            "",
            "a.test",
            "l:pl",
        ),
        ("", "", "a.test", ""),
    ] {
        let here = place();
        put(here.path(), "net", text, 0o600);
        let pins = format!("--resolve a.test:{port}:127.0.0.1 --resolve sub.a.test:{port}:127.0.0.1");
        let words = format!("--netrc-file net {words} {pins}");
        run(here.path(), &words, &format!("http://{host}:{port}/x")).exits(0);
        let sent = shown(&server);
        assert!(sent == expected || host.contains('@') && sent == "v:", "{text:?} {host}: {sent:?}");
    }
}

#[test]
fn files_of_netrc() {
    let server = open_to_all();
    let asked = |here: &Path, words: &str| {
        let before = server.requests().len();
        let ran = run(here, words, &server.url("/x"));
        let is_sent = server.requests().len() > before;
        (ran, if is_sent { Some(shown(&server)) } else { None })
    };
    // Who else can read it has the password already: refused before anybody is asked, with what to do.
    for mode in [0o644, 0o640, 0o604, 0o660, 0o620, 0o777] {
        let here = place();
        put(here.path(), ".netrc", NETRC, mode);
        for words in ["-n", "--netrc-optional", "--netrc-file .netrc"] {
            let (ran, sent) = asked(here.path(), words);
            ran.exits(2).says("600");
            assert_eq!(sent, None, "{mode:o} {words}");
        }
    }
    for mode in [0o600, 0o400] {
        let here = place();
        put(here.path(), ".netrc", NETRC, mode);
        for words in ["-n", "--netrc-optional", "--netrc-file .netrc"] {
            let (ran, sent) = asked(here.path(), words);
            assert_eq!((ran.exit, sent.as_deref()), (0, Some("n:pn")), "{mode:o} {words}: {}", ran.stderr);
        }
    }
    // A link is what it leads to.
    for (mode, exit) in [(0o600, 0), (0o644, 2)] {
        let here = place();
        put(here.path(), "real", NETRC, mode);
        symlink("real", here.path().join(".netrc")).expect("a link");
        let (ran, sent) = asked(here.path(), "-n");
        assert_eq!((ran.exit, sent.is_some()), (exit, exit == 0), "{}", ran.stderr);
    }
    // None, nothing that is one, and none but that does not matter.
    let here = place();
    for words in ["-n", "--netrc-file no-such-file", "--netrc-file ."] {
        let (ran, sent) = asked(here.path(), words);
        assert!(ran.exit == 2 && sent.is_none(), "{words}: {ran:?}");
    }
    let (ran, sent) = asked(here.path(), "--netrc-optional");
    assert_eq!((ran.exit, sent.as_deref()), (0, Some("")), "{}", ran.stderr);
    // Nobody looks unless told to.
    let here = place();
    put(here.path(), ".netrc", NETRC, 0o600);
    assert_eq!(asked(here.path(), "").1.as_deref(), Some(""));
}

/// Short letters mean what curl's mean (CLI.md): curl 7.88 takes the option's, not the URL's.
#[test]
fn the_option_is_before_the_url() {
    let server = open_to_all();
    let here = place();
    run(here.path(), "-u u:pw", &with_login(&server.url("/x"), "v:pv")).exits(0);
    assert_eq!(shown(&server), "u:pw");
}

/// `-n` without a home has no file to look in, and must not go on as if it had looked.
#[test]
fn a_netrc_without_a_home() {
    let server = open_to_all();
    let here = place();
    fetch_in(here.path(), ["-n", &server.url("/x")]).exits(2);
    assert_eq!(server.requests().len(), 0);
    fetch_in(here.path(), ["--netrc-optional", &server.url("/x")]).exits(0);
}

/// A file that is not understood is not guessed at, and its words are not shown.
#[test]
fn a_broken_netrc_gives_nothing_away() {
    let server = open_to_all();
    for text in [
        format!("machine 127.0.0.1 login u password {CANARY} {CANARY}x"),
        format!("machine 127.0.0.1 login u passwort {CANARY}"),
        format!("password {CANARY}"),
        format!("machine 127.0.0.1 login u password \"{CANARY}"),
        format!("\0{CANARY}\u{1b}[2J machine"),
        format!("{CANARY}\n"),
    ] {
        let here = place();
        put(here.path(), "net", &text, 0o600);
        let ran = run(here.path(), "-vvv --netrc-file net", &server.url("/x"));
        assert!(!format!("{}{}", ran.stderr, ran.text()).contains(CANARY), "{text:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
        assert!([0, 2].contains(&ran.exit), "{ran:?}");
    }
}

#[test]
fn a_file_for_the_password() {
    let server = open_to_all();
    for (text, expected) in [
        (&b"pw"[..], "u:pw"),
        (b"pw\n", "u:pw"),
        (b"pw\r\n", "u:pw"),
        (b"pw\nsecond line\n", "u:pw"),
        (b" p w \n", "u: p w "),
        (b"\n", "u:"),
        (b"", "u:"),
        (b"p:w", "u:p:w"),
    ] {
        let here = place();
        put(here.path(), "file", text, 0o600);
        run(here.path(), "-u u --password-file file", &server.url("/x")).exits(0);
        assert_eq!(shown(&server), expected, "{text:?}");
        let file = here.path().join("file");
        let ran = shell(
            "\"$F\" -u u --password-file - \"$1\" <\"$2\"",
            [server.url("/x").as_ref(), file.as_os_str()],
        );
        ran.exits(0);
        assert_eq!(shown(&server), expected, "{text:?} from standard input");
    }
    let before = server.requests().len();
    for mode in [0o644, 0o640, 0o604] {
        let here = place();
        put(here.path(), "file", CANARY, mode);
        let ran = run(here.path(), "-vvv -u u --password-file file", &server.url("/x"));
        ran.exits(2).says("600");
        assert!(!ran.stderr.contains(CANARY));
    }
    let here = place();
    for words in ["-u u --password-file none", "-u u --password-file .", "--password-file none"] {
        run(here.path(), words, &server.url("/x")).exits(2);
    }
    assert_eq!(server.requests().len(), before, "it was asked without a password");
}

/// CR, LF and NUL end a line or a text somewhere: refused before anything is sent, wherever they come from
/// (SECURITY.md, row 2 and "of decoded octets …").
#[test]
fn octets_that_no_password_may_hold() {
    let server = open_to_all();
    let here = place();
    let mut told = Vec::new();
    let mut is_refused = |ran: &Ran, what: String| {
        if ![93, 2].contains(&ran.exit) {
            told.push(format!("{what}: exit {}", ran.exit));
        }
    };
    for (octet, escaped) in [('\r', "%0d"), ('\n', "%0a"), ('\0', "%00")] {
        for login in [format!("u:p{escaped}w"), format!("u{escaped}:pw"), format!("u:{escaped}")] {
            is_refused(&run(here.path(), "", &with_login(&server.url("/x"), &login)), login);
        }
        if octet != '\0' {
            for login in [format!("u:p{octet}w"), format!("u{octet}:pw")] {
                let ran = fetch_in(here.path(), ["-u", &login, &server.url("/x")]);
                is_refused(&ran, format!("-u {login:?}"));
            }
        }
        if octet != '\n' {
            put(here.path(), "file", format!("p{octet}w\n"), 0o600);
            let ran = run(here.path(), "-u u --password-file file", &server.url("/x"));
            is_refused(&ran, format!("{octet:?} in a password file"));
            put(here.path(), "net", format!("machine 127.0.0.1 login u password \"p{octet}w\"\n"), 0o600);
            is_refused(
                &run(here.path(), "--netrc-file net", &server.url("/x")),
                format!("{octet:?} in netrc"),
            );
        }
    }
    assert!(told.is_empty() && server.requests().is_empty(), "sent:\n{}", told.join("\n"));
}

/// Other octets are octets. But a colon in a user's name would end it (RFC 7617 §2).
#[test]
fn octets_that_are_odd() {
    let server = open_to_all();
    let here = place();
    let sent = |server: &HttpServer| {
        let requests = server.requests();
        let field = requests.last().and_then(|request| request.header_text("authorization"));
        from_base64(field.and_then(|field| field.strip_prefix("Basic ")).unwrap_or_default())
    };
    for (login, octets) in [
        ("u:%e9", &b"u:\xe9"[..]),
        ("%ff:%fe", b"\xff:\xfe"),
        ("u:%c3%a9", b"u:\xc3\xa9"),
        ("u:a%3ab", b"u:a:b"),
        ("u:%25%32%30", b"u:%20"),
        ("u:%40%2f", b"u:@/"),
        ("u:a+b", b"u:a+b"),
        ("u:%20", b"u: "),
    ] {
        run(here.path(), "", &with_login(&server.url("/x"), login)).exits(0);
        assert_eq!(sent(&server), octets, "{login}");
    }
    put(here.path(), "file", b"\xe9\xff\n", 0o600);
    run(here.path(), "-u u --password-file file", &server.url("/x")).exits(0);
    assert_eq!(sent(&server), b"u:\xe9\xff");
    put(here.path(), "net", b"machine 127.0.0.1 login u password \xe9\xff\n", 0o600);
    run(here.path(), "--netrc-file net", &server.url("/x")).exits(0);
    assert_eq!(sent(&server), b"u:\xe9\xff");
    let before = server.requests().len();
    put(here.path(), "net", "machine 127.0.0.1 login u:x password pw\n", 0o600);
    for (words, url) in
        [("", with_login(&server.url("/x"), "u%3ax:pw")), ("--netrc-file net", server.url("/x"))]
    {
        let ran = run(here.path(), words, &url);
        assert!([93, 3, 2].contains(&ran.exit), "{words} {url}: {ran:?}, sent {:?}", sent(&server));
        assert_eq!(server.requests().len(), before, "{words} {url}");
    }
}

/// All files of the directory, one behind the other.
fn all_files(directory: &Path) -> String {
    let read = |name: &String| fs::read(directory.join(name)).expect("a file");
    let told = |name: &String| format!("{name}\n{}\n", String::from_utf8_lossy(&read(name)));
    names(directory).iter().filter(|name| !name.starts_with("own-")).map(told).collect()
}

/// Row 36: at the highest loudness, in every shape, and in what stays on the disk.
#[test]
fn nobody_sees_it() {
    let cut = || HttpReply::new(200).header("ETag", "\"v1\"").header("Accept-Ranges", "bytes");
    let servers = [
        serving(|_| HttpReply::new(200).body("object")),
        serving(move |_| cut().body("object").cut_body_at(3)),
        serving(|_| HttpReply::new(401).header("WWW-Authenticate", "Basic realm=\"r\"")),
        serving(|_| {
            HttpReply::new(401).header("WWW-Authenticate", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\"")
        }),
        serving(|_| HttpReply::raw("garbage\r\n\r\n")),
    ];
    let ways = [
        "-u u:CANARY",
        "-u u:CANARY --digest",
        "-u u --password-file own-file",
        "--netrc-file own-net",
        "-u u --netrc-file own-net --digest",
        "-u u --askpass ./own-ask",
        "-u u --ask-password --askpass ./own-ask",
        "-H Authorization:_Bearer_CANARY",
        "-H X-Api-Key:_CANARY",
        "-H Cookie:_s=CANARY",
        "-H Proxy-Authorization:_CANARY",
        "--oauth2-bearer CANARY",
        "-b s=CANARY",
        "-x http://u:CANARY@127.0.0.1:1",
        "-x http://127.0.0.1:1 -U u:CANARY",
        "-x socks5h://u:CANARY@127.0.0.1:1",
    ];
    let shapes = ["-vvv", "--trace -", "--format json -v", "-vvv -i", "-s -S", "--no-fail -vv"];
    let rows: Vec<_> = ways.iter().flat_map(|way| shapes.iter().map(move |shape| (way, shape))).collect();
    support::in_parallel(&rows, 4, |(way, shape)| {
        for (number, server) in servers.iter().enumerate() {
            let here = place();
            put(here.path(), "own-file", CANARY, 0o600);
            put(here.path(), "own-net", format!("machine 127.0.0.1 login u password {CANARY}"), 0o600);
            put(here.path(), "own-ask", format!("#!/bin/sh\necho {CANARY}\n"), 0o700);
            let more = "--trace trace --events events -w %{json}%{header_json} -o target";
            let more =
                if shape.contains("--trace") { more.replace("--trace trace ", "") } else { more.to_owned() };
            let words = format!("{} {shape} {more}", way.replace("CANARY", CANARY));
            let ran = run(here.path(), &words, &server.url("/x"));
            let all = format!("{}\n{}\n{}", ran.stderr, ran.text(), all_files(here.path()));
            let is_leak = |line: &&str| {
                line.to_lowercase().contains(&CANARY.to_lowercase()) || line.contains(CANARY_IN_BASE64)
            };
            let leak = all.lines().find(is_leak);
            support::ensure(leak.is_none(), || {
                format!("{way} {shape}, server {number}: {}", leak.unwrap_or(""))
            })?;
            support::ensure(!all.contains("panicked"), || {
                format!("{way} {shape}, server {number}: panicked")
            })?;
        }
        Ok(())
    });
}
