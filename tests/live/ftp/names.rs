//! Every odd name of the tree: each server that can serve it sends the right file, and curl receives the same bytes.

use std::process::{Command, Stdio};

use crate::live::ftp_server::{BSDFTPD, FtpServer, PROFTPD, PUREFTPD, each_ftp_server};
use crate::live::program::start_other;
use crate::live::tree::{files, odd_files};
use crate::live::work_dir::{WorkDir, fetch};

each_ftp_server![
    each_odd_name_is_fetched_or_fails_as_expected,
    odd_names_in_one_run_give_the_right_files,
    unescaped_allowed_characters_name_the_same_file,
    files_equal_those_of_curl,
    byte_255_is_sent_plain_then_doubled
];

/// Returns the exit status and the reason if the server cannot serve a name.
fn exception(server: FtpServer, path: &str) -> Option<(i32, &'static str)> {
    let has = |part: &str| path.contains(part);
    let pure = server.name == PUREFTPD.name;
    match () {
        () if has("%0A") || has("%0D") => Some((93, "CR or LF ends a command")),
        () if pure && (has("/.hidden") || has("/...") || has("%5C")) => Some((9, "553 Prohibited file name")),
        () if pure && (has("%09") || has("%01") || has("%7F")) => Some((78, "control octets become _")),
        () => None,
    }
}

/// Returns the files that the server can serve.
fn served(server: FtpServer) -> Vec<(String, String)> {
    odd_files().into_iter().filter(|(path, _)| exception(server, path).is_none()).collect()
}

fn each_odd_name_is_fetched_or_fails_as_expected(server: FtpServer) {
    for (path, bytes) in odd_files() {
        let result = fetch(&["--require-complete", &server.url(&path)]);
        match exception(server, &path) {
            None => drop(result.assert_success(&bytes)),
            Some((exit, _)) => drop(result.assert_exit(exit).assert_stdout("")),
        }
    }
    let count = if server.name == PUREFTPD.name { 24 } else { 30 };
    assert_eq!(served(server).len(), count, "an exception too many");
}

/// Several directories in one run, over one or several connections: each URL gets its own file.
fn odd_names_in_one_run_give_the_right_files(server: FtpServer) {
    let rows = served(server);
    let urls: Vec<String> = rows.iter().map(|(path, _)| server.url(path)).collect();
    let all: String = rows.iter().map(|(_, bytes)| bytes.as_str()).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    fetch(&urls).assert_success(&all);
    let backwards: Vec<&str> = urls.into_iter().rev().collect();
    let all: String = rows.iter().rev().map(|(_, bytes)| bytes.as_str()).collect();
    fetch(&backwards).assert_success(all);
}

/// Characters that RFC 1738 allows unescaped in an FTP path.
fn unescaped_allowed_characters_name_the_same_file(server: FtpServer) {
    for (path, bytes) in served(server) {
        let mut plain = path;
        for (escape, byte) in [
            ("%3F", "?"),
            ("%3A", ":"),
            ("%40", "@"),
            ("%26", "&"),
            ("%2B", "+"),
            ("%2A", "*"),
            ("%27", "'"),
            ("%2C", ","),
            ("%3D", "="),
            ("%21", "!"),
            ("%24", "$"),
        ] {
            plain = plain.replace(escape, byte);
        }
        // At the end of a name, `;type=a` would be a transfer type.
        fetch(&[&server.url(&plain)]).assert_success(&bytes);
    }
}

/// fetch-url receives the same bytes as curl wherever curl succeeds. curl refuses control characters and sends 0xFF
/// only undoubled.
fn files_equal_those_of_curl(server: FtpServer) {
    let asked = Command::new("curl").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !asked.is_ok_and(|status| status.success()) {
        return;
    }
    let dir = WorkDir::new();
    let odd: Vec<String> = odd_files().into_iter().map(|(path, _)| path).collect();
    let plain = files().into_iter().map(|(path, _)| path.to_owned());
    let mut agreed = 0;
    for path in odd.into_iter().chain(plain) {
        let url = server.url(&path);
        let own = ["-q", "-s", "-g", "--path-as-is", &url];
        let peer = start_other("curl", dir.folder(), &own).wait();
        if peer.exit == 0 {
            fetch(&[&url]).assert_success(&peer.out);
            agreed += 1;
        } else {
            let refuses = ["%09", "%0A", "%0D", "%01"].iter().any(|byte| path.contains(byte));
            let ours = exception(server, &path).is_some() || path.contains("%FF");
            assert!(refuses || ours, "curl cannot fetch {path}: {}", peer.err);
        }
    }
    assert!(agreed >= 36, "curl gave {agreed} files");
}

/// 0xFF is sent undoubled first, and doubled (telnet IAC, RFC 959) if the server does not find the name.
fn byte_255_is_sent_plain_then_doubled(server: FtpServer) {
    for (path, doubled) in [
        ("/odd/iac%FF.txt", [BSDFTPD.name].contains(&server.name)),
        ("/odd/iac%FF%FF2.txt", [BSDFTPD.name, PROFTPD.name].contains(&server.name)),
    ] {
        let result =
            fetch(&["-v", &server.url(path)]).assert_exit(0).assert_stdout(format!("path={}\n", &path[1..]));
        let names = result.err.lines().filter(|line| line.starts_with("> RETR "));
        assert_eq!(names.count(), if doubled { 2 } else { 1 }, "{path}: {}", result.err);
    }
    fetch(&[&server.url("/odd/none%FF.txt")]).assert_exit(78).assert_stdout("");
}
