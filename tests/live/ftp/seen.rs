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
    fetch(&[&marked[..], &[&url, &neighbour]].concat()).exits(78);
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
    assert_eq!(commands(server, options, path), all, "{} {options:?} {path}", server.name);
}

/// The commands that `-v` shows, the login left out.
pub(super) fn dialogue(err: &str) -> Vec<&str> {
    let sent = err.lines().filter_map(|line| line.strip_prefix("> "));
    sent.filter(|line| !line.starts_with("USER") && !line.starts_with("PASS")).collect()
}
