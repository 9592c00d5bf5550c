//! Who we are: in the URL, by options, from files and programs; and who we are not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::live::ftp_server::{FtpServer, PUREFTPD, each_ftp_server};
use crate::live::place::{Place, fetch, key};
use crate::live::tree::HELLO;

each_ftp_server![
    anonymous,
    anonymous_by_another_address,
    in_the_url,
    by_an_option,
    a_wrong_password,
    a_wrong_password_is_tried_once,
    refused_login_ends_the_commands,
    missing_password_exits_67,
    netrc,
    password_files_and_programs,
    no_word_of_a_password,
];

const BOB: &str = "p@ss/w:rd#%41 x";
const ALICE_IS_IN: &str = "in the login directory of alice\n";
const BOB_IS_IN: &str = "in the login directory of bob\n";

fn anonymous(server: FtpServer) {
    let ran = fetch(&["-v", &server.url("/hello.txt")]).exits(0).writes(HELLO).says("> USER anonymous");
    ran.hides("anonymous@");
    // `230` to USER sends no PASS: on a short way, which the machine may be too busy for now and then.
    let shown = || fetch(&["-v", &server.url("/hello.txt")]).err.contains("> PASS");
    let is_asked = (0..10).all(|_| shown());
    assert_eq!(is_asked, server.name != PUREFTPD.name);
}

/// The servers but pure-ftpd log it: the session is found by it.
fn anonymous_by_another_address(server: FtpServer) {
    let (key, watch) = (key(), server.watch());
    let email = format!("{key}@example.org");
    fetch(&["--ftp-anonymous-email", &email, &server.url("/hello.txt")]).gives(HELLO);
    if server.name != PUREFTPD.name {
        assert_eq!(watch.commands_for(&email)[..2], ["USER anonymous", "PASS"]);
    }
    let by_url = server.url_as("anonymous", &email, "/hello.txt");
    fetch(&[&by_url]).gives(HELLO);
}

fn in_the_url(server: FtpServer) {
    fetch(&[&server.url_as("alice", "secret", "/here.txt")]).gives(ALICE_IS_IN);
    fetch(&[&server.url_as("bob", BOB, "/here.txt")]).gives(BOB_IS_IN);
    let carol = "in the login directory of carol@example.org\n";
    fetch(&[&server.url_as("carol@example.org", "pw", "/here.txt")]).gives(carol);
    // Only what must be escaped.
    let lean = |login: &str| server.url("/here.txt").replace("://", &format!("://{login}@"));
    fetch(&[&lean("alice:secret")]).gives(ALICE_IS_IN);
    fetch(&[&lean("bob:p%40ss%2Fw%3Ard%23%2541%20x")]).gives(BOB_IS_IN);
    fetch(&[&lean("carol%40example.org:pw")]).gives(carol);
}

fn by_an_option(server: FtpServer) {
    let url = server.url("/here.txt");
    fetch(&["-u", "alice:secret", &url]).gives(ALICE_IS_IN);
    // Not decoded: it is no part of a URL.
    fetch(&["-u", &format!("bob:{BOB}"), &url]).gives(BOB_IS_IN);
    fetch(&["-u", "carol@example.org:pw", &url]).gives("in the login directory of carol@example.org\n");
}

fn a_wrong_password(server: FtpServer) {
    let place = Place::new();
    let url = server.url_as("alice", "wr0ng-canary", "/here.txt");
    let ran = place.fetch(&["-v", "-o", "here", &url]).exits(67).hides("wr0ng-canary");
    // The server's own words and number.
    ran.says("(530 Login").hides("> RETR").says("alice:***@");
    place.holds(&[]);
}

/// A second try is one step to a locked account.
fn a_wrong_password_is_tried_once(server: FtpServer) {
    let ran = fetch(&["-v", &server.url_as("bob", "wrong", "/here.txt")]).exits(67).writes("");
    assert_eq!(ran.err.matches("> PASS").count(), 1, "{}", ran.err);
    assert_eq!(ran.err.matches("> USER").count(), 1, "{}", ran.err);
    // Nor is it what may pass: `--retry` does not apply.
    let ran = fetch(&["-v", "--retry", "2", "--retry-delay", "0", &server.url_as("bob", "wrong", "/x")]);
    assert_eq!(ran.exits(67).err.matches("> PASS").count(), 1);
}

/// "After the login the whole rest goes out": who is not let in has told no path.
fn refused_login_ends_the_commands(server: FtpServer) {
    let (user, watch) = (key(), server.watch());
    fetch(&[&server.url_as(&user, "x", "/pub/README")]).exits(67);
    let expected = [format!("USER {user}"), "PASS".to_owned()];
    assert_eq!(watch.commands_for(&user), expected, "{}", server.name);
}

/// A user without a password, and no terminal: never a guess, and soon.
fn missing_password_exits_67(server: FtpServer) {
    let (user, watch) = (key(), server.watch());
    let url = server.url("/here.txt").replace("://", &format!("://{user}@"));
    let ran = fetch(&[&url]).exits(67).writes("");
    assert!(ran.took < Duration::from_secs(3), "{:?}", ran.took);
    assert_eq!(watch.commands_for(&user), [format!("USER {user}")]);
    let user = key();
    fetch(&["-u", &user, &server.url("/here.txt")]).exits(67);
    assert_eq!(watch.commands_for(&user), [format!("USER {user}")]);
    fetch(&["--askpass", "/bin/false", "-u", "alice", &server.url("/here.txt")]).exits(67).writes("");
}

/// A file that only its owner may read.
fn private(place: &Place, name: &str, text: &str) -> String {
    place.write(name, text);
    let path = place.path(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("our own file");
    path.to_string_lossy().into_owned()
}

fn netrc(server: FtpServer) {
    let place = Place::new();
    let alice = private(&place, "alice", "machine 127.0.0.1 login alice password secret\n");
    let other = private(&place, "other", "machine example.org login alice password secret\n");
    let bob = format!("machine 127.0.0.1 login bob password \"{BOB}\"\n");
    let bob = private(&place, "bob", &bob);
    let url = server.url("/here.txt");
    place.fetch(&["--netrc-file", &alice, &url]).gives(ALICE_IS_IN);
    place.fetch(&["--netrc-file", &bob, &url]).gives(BOB_IS_IN);
    // A user in the URL, the password from the file: only if the file means this user.
    let as_alice = url.replace("://", "://alice@");
    place.fetch(&["--netrc-file", &alice, &as_alice]).gives(ALICE_IS_IN);
    place.fetch(&["--netrc-file", &bob, &as_alice]).exits(67).writes("");
    // Nothing for this machine: we are anonymous, where no such file lies.
    place.fetch(&["--netrc-file", &other, &server.url("/hello.txt")]).gives(HELLO);
    place.fetch(&["--netrc-file", &other, &url]).exits(78);
    // Without the option, no file is read.
    place.fetch(&[&server.url("/hello.txt")]).gives(HELLO);
}

fn password_files_and_programs(server: FtpServer) {
    let place = Place::new();
    let file = private(&place, "password", "secret\n");
    let program = private(&place, "ask", "#!/bin/sh\necho secret\n");
    fs::set_permissions(Path::new(&program), fs::Permissions::from_mode(0o700)).expect("our own file");
    let url = server.url("/here.txt");
    place.fetch(&["-u", "alice", "--password-file", &file, &url]).gives(ALICE_IS_IN);
    place.fetch(&["-u", "alice", "--askpass", &program, &url]).gives(ALICE_IS_IN);
    let as_alice = url.replace("://", "://alice@");
    place.fetch(&["--askpass", &program, &as_alice]).gives(ALICE_IS_IN);
}

/// Neither the dialogue, nor an error, nor JSON, nor an event has it in it.
fn no_word_of_a_password(server: FtpServer) {
    let place = Place::new();
    for (path, right) in [("/here.txt", 0), ("/no-such-file", 78), ("/", 0)] {
        for password in ["secret", "s3cr3t-canary"] {
            if password != "secret" && server.name == PUREFTPD.name {
                continue; // Three seconds each; `a_wrong_password` has it.
            }
            let login = format!("://alice:{password}@");
            let plain = server.url(path).replace("://", &login);
            for options in
                [&["-vvv", "--trace", "-"][..], &["--format", "json", "--events", "-"], &["-w", "%{json}"]]
            {
                let exit = if password == "secret" { right } else { 67 };
                let ran = place.fetch(&[options, &[&plain]].concat()).exits(exit);
                let shown = ran.text() + &ran.err;
                assert!(!shown.contains(password), "{options:?} {path}: {shown}");
            }
        }
    }
}
