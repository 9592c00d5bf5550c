//! Bytes that would end a command or a message-id are rejected before a connection is made.

use crate::live::nntp_server::{NewsServer, Watch, each_news_server};
use crate::live::work_dir::{WorkDir, key};

each_news_server![
    forbidden_bytes_in_a_group_are_rejected_without_a_command,
    forbidden_bytes_in_a_message_id_are_rejected_without_a_command,
    forbidden_bytes_in_a_number_are_rejected_without_a_command,
    forbidden_bytes_in_a_login_are_rejected_without_a_command
];

/// A marker for all runs of one test.
struct Marked {
    key: String,
    watch: Watch,
    server: NewsServer,
}

impl Marked {
    fn new(server: NewsServer) -> Self {
        Self { key: key(), watch: server.watch(), server }
    }

    /// Asserts that the URL is rejected and that nothing is sent or written.
    #[track_caller]
    fn assert_refused(&self, arguments: &[&str]) {
        let arguments: Vec<String> = arguments.iter().map(|text| text.replace("KEY", &self.key)).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let dir = WorkDir::new();
        let result = dir.fetch(&[&["-v", "-o", "here"], &arguments[..]].concat());
        assert!([93, 3].contains(&result.exit), "{arguments:?}: {} {}", result.exit, result.err);
        result.assert_stderr_omits("> ").assert_stderr_omits("< ").assert_stderr_omits("\nQUIT");
        dir.assert_entries(&[]);
    }

    /// Asserts that the server received nothing with the marker. A later session is in its log completely, so an
    /// earlier one would be in the log too.
    #[track_caller]
    fn assert_nothing_received(&self) {
        let later = key();
        self.server.reply(&[&format!("GROUP {later}")]);
        self.watch.commands_for(&later);
        assert_eq!(self.watch.sessions(&self.key), 0, "{} has seen {}", self.server.name, self.key);
    }
}

fn forbidden_bytes_in_a_group_are_rejected_without_a_command(server: NewsServer) {
    let marked = Marked::new(server);
    for path in [
        "KEY%0D%0AQUIT",
        "KEY%0AQUIT",
        "KEY%0DQUIT",
        "KEY%00",
        "KEY%20x",
        "%20KEY",
        "KEY%3E",
        "%3CKEY%3E",
        "KEY%0D%0A/1",
        "KEY%20/1-3",
        "KEY.*%0D%0A",
    ] {
        marked.assert_refused(&[&server.url(path)]);
        marked.assert_refused(&[&server.id_url(path)]);
        marked.assert_refused(&["--news-server", &server.authority(), &format!("news:{path}")]);
    }
    marked.assert_nothing_received();
}

fn forbidden_bytes_in_a_message_id_are_rejected_without_a_command(server: NewsServer) {
    let marked = Marked::new(server);
    for id in [
        "KEY%0D%0AQUIT@test.invalid",
        "KEY@test.invalid%0D%0AQUIT",
        "KEY%0A@test.invalid",
        "KEY%00@test.invalid",
        "KEY%20x@test.invalid",
        "KEY%3E@test.invalid",
        "KEY@test.invalid%3E",
        "%3CKEY@test.invalid%3E",
        "KEY%3e%0d%0aARTICLE%20%3cplain-0001@test.invalid",
    ] {
        marked.assert_refused(&[&server.id_url(id)]);
        marked.assert_refused(&["--news-server", &server.authority(), &format!("news:{id}")]);
    }
    marked.assert_nothing_received();
}

fn forbidden_bytes_in_a_number_are_rejected_without_a_command(server: NewsServer) {
    let marked = Marked::new(server);
    for number in ["1%0D%0AQUIT", "1%0A", "1%20", "1-3%0D%0AQUIT", "%001"] {
        marked.assert_refused(&[&server.url(&format!("KEY/{number}"))]);
    }
    marked.assert_nothing_received();
}

/// Logins with such bytes are not sent either; sn has no logins.
fn forbidden_bytes_in_a_login_are_rejected_without_a_command(server: NewsServer) {
    let marked = Marked::new(server);
    for login in ["KEY\r\nQUIT:x", "KEY\n:x", "KEY:x\r\nQUIT"] {
        let dir = WorkDir::new();
        let login = login.replace("KEY", &marked.key);
        let url = server.nth_url("private.secret", 1);
        let result = dir.fetch(&["-v", "--insecure-auth", "-u", &login, &url]);
        let expected: &[i32] = if server.is_modern { &[93, 2] } else { &[93, 2, 0] };
        assert!(expected.contains(&result.exit), "{} {}", result.exit, result.err);
        result.assert_stderr_omits("> AUTHINFO");
    }
    marked.assert_nothing_received();
}
