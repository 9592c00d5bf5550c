//! The commands that a server received in one run.

use crate::live::nntp_server::NewsServer;
use crate::live::work_dir::{fetch, key};

/// Returns all commands that the server received in one run over one connection, without CAPABILITIES, MODE READER and
/// QUIT.
///
/// The session is found by a missing article, which is requested last: the run exits with 78 if that is its only
/// failure.
#[track_caller]
pub(super) fn commands(server: NewsServer, arguments: &[&str]) -> Vec<String> {
    let (key, watch) = (key(), server.watch());
    let marker = server.id_url(&format!("{key}@test.invalid"));
    fetch(&[arguments, &[&marker]].concat()).assert_exit(78);
    let mut commands = watch.commands_for(&key);
    assert_eq!(watch.sessions(&key), 1, "{commands:?}");
    let is_formal = |line: &String| ["CAPABILITIES", "MODE READER", "QUIT"].contains(&line.as_str());
    commands.retain(|line| !is_formal(line));
    let last = commands.pop().expect("the marker");
    assert!(last.contains(&key), "{last}");
    commands
}
