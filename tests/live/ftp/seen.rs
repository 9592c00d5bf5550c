//! The commands that a server saw of one run as anonymous.

use crate::live::ftp_server::{FtpServer, PUREFTPD};
use crate::live::place::{fetch, key};

/// What comes first in a session of anonymous: pure-ftpd lets it in without a password.
pub(super) fn login(server: FtpServer) -> Vec<String> {
    let both = ["USER anonymous", "PASS"];
    both[..if server.name == PUREFTPD.name { 1 } else { 2 }].iter().map(|&line| line.to_owned()).collect()
}

/// All that the server saw when `path` was fetched with these options.
///
/// The session is found by the password, which three servers log. pure-ftpd sees none: there a second URL of the same
/// folder names a missing file, and what belongs to that one is cut off.
#[track_caller]
pub(super) fn commands(server: FtpServer, options: &[&str], path: &str) -> Vec<String> {
    let key = key();
    let watch = server.watch();
    let email = format!("{key}@example.org");
    let url = server.url(path);
    let marked = [options, &["--ftp-anonymous-email", &email]].concat();
    if server.name != PUREFTPD.name {
        fetch(&[&marked[..], &[&url]].concat());
        return watch.commands_for(&key);
    }
    let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
    let neighbour = server.url(&format!("{folder}{key}"));
    let ran = fetch(&[&marked[..], &[&url, &neighbour]].concat());
    assert_ne!(ran.exit, 0, "the neighbour is missing");
    let mut commands = watch.commands_for(&key);
    let end = commands.iter().position(|command| command.contains(&key)).expect("the marker");
    commands.truncate(end);
    while commands.last().is_some_and(|last| last == "EPSV" || last.starts_with("TYPE ")) {
        commands.pop();
    }
    commands
}

/// The server saw exactly the login and these.
#[track_caller]
pub(super) fn sees(server: FtpServer, options: &[&str], path: &str, expected: &[&str]) {
    let mut all = login(server);
    all.extend(expected.iter().map(|&line| line.to_owned()));
    let seen = in_order(server, commands(server, options, path));
    assert_eq!(seen, all, "{} {options:?} {path}", server.name);
}

/// In the order of a short way. Where connecting took long, as it may on a busy machine, anonymous logs in before the
/// server has greeted, with a password that pure-ftpd would not have asked for, and EPSV is the first of the rest.
fn in_order(server: FtpServer, mut seen: Vec<String>) -> Vec<String> {
    if seen.starts_with(&["USER anonymous", "PASS", "EPSV"].map(str::to_owned)) {
        let epsv = seen.remove(2);
        let is_late =
            |line: &String| ["REST ", "RETR ", "NLST", "MLSD"].iter().any(|verb| line.starts_with(verb));
        let end = seen.iter().position(is_late).unwrap_or(seen.len());
        seen.insert(end, epsv);
        if server.name == PUREFTPD.name {
            seen.remove(1);
        }
    }
    seen
}

/// The commands that `-v` shows, the login left out.
pub(super) fn dialogue(server: FtpServer, err: &str) -> Vec<String> {
    let sent = err.lines().filter_map(|line| line.strip_prefix("> "));
    let sent = sent.map(|line| if line.starts_with("PASS ") { "PASS" } else { line }.to_owned());
    in_order(server, sent.collect()).split_off(login(server).len())
}
