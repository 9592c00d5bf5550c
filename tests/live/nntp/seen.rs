//! The commands that a server saw of one run.

use crate::live::nntp_server::NewsServer;
use crate::live::place::{fetch, key};

/// All that the server saw when these were fetched, over one connection: without what asks for its abilities, and QUIT.
///
/// The session is found by an article that nobody has, asked for last: so the run fails, and ends with 78 if it is the only
/// thing that does.
#[track_caller]
pub(super) fn commands(server: NewsServer, arguments: &[&str]) -> Vec<String> {
    let (key, watch) = (key(), server.watch());
    let marker = server.id_url(&format!("{key}@test.invalid"));
    fetch(&[arguments, &[&marker]].concat()).exits(78);
    let mut commands = watch.commands_for(&key);
    assert_eq!(watch.sessions(&key), 1, "{commands:?}");
    let is_formal = |line: &String| ["CAPABILITIES", "MODE READER", "QUIT"].contains(&line.as_str());
    commands.retain(|line| !is_formal(line));
    let last = commands.pop().expect("the marker");
    assert!(last.contains(&key), "{last}");
    commands
}
