//! The commands that a server received in one anonymous run.

use crate::live::ftp_server::{FtpServer, PUREFTPD};
use crate::live::work_dir::{fetch, key};

/// Returns the login commands of an anonymous session; pure-ftpd needs no password.
pub(super) fn login(server: FtpServer) -> Vec<String> {
    let both = ["USER anonymous", "PASS"];
    both[..if server.name == PUREFTPD.name { 1 } else { 2 }].iter().map(|&line| line.to_owned()).collect()
}

/// Returns all commands that the server received when `path` was fetched with these options.
///
/// The session is found by the password, which three servers log. pure-ftpd logs none: there a second URL names a
/// missing file in the same directory, and its commands are removed.
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
    let result = fetch(&[&marked[..], &[&url, &neighbour]].concat());
    assert_ne!(result.exit, 0, "the neighbour is missing");
    let mut commands = watch.commands_for(&key);
    let end = commands.iter().position(|command| command.contains(&key)).expect("the marker");
    commands.truncate(end);
    while commands.last().is_some_and(|last| last == "EPSV" || last.starts_with("TYPE ")) {
        commands.pop();
    }
    commands
}

/// Asserts that the server received exactly the login and these commands.
#[track_caller]
pub(super) fn assert_commands(server: FtpServer, options: &[&str], path: &str, expected: &[&str]) {
    let mut all = login(server);
    all.extend(expected.iter().map(|&line| line.to_owned()));
    let received = normalise_order(server, commands(server, options, path));
    assert_eq!(received, all, "{} {options:?} {path}", server.name);
}

/// Sorts the commands as on a connection with low latency. If the connection took long, the login is sent before the
/// greeting, with a password that pure-ftpd does not need, and EPSV precedes the other commands.
fn normalise_order(server: FtpServer, mut received: Vec<String>) -> Vec<String> {
    if received.starts_with(&["USER anonymous", "PASS", "EPSV"].map(str::to_owned)) {
        let epsv = received.remove(2);
        let is_late =
            |line: &String| ["REST ", "RETR ", "NLST", "MLSD"].iter().any(|verb| line.starts_with(verb));
        let end = received.iter().position(is_late).unwrap_or(received.len());
        received.insert(end, epsv);
        if server.name == PUREFTPD.name {
            received.remove(1);
        }
    }
    received
}

/// Returns the commands that `-v` shows, without the login.
pub(super) fn traced_commands(server: FtpServer, err: &str) -> Vec<String> {
    let sent = err.lines().filter_map(|line| line.strip_prefix("> "));
    let sent = sent.map(|line| if line.starts_with("PASS ") { "PASS" } else { line }.to_owned());
    normalise_order(server, sent.collect()).split_off(login(server).len())
}
