//! `--ftp-method`: how the directory of a path is selected.

use super::received_commands::assert_commands;
use crate::live::ftp_server::{FtpServer, PROFTPD, PUREFTPD, each_ftp_server};
use crate::live::work_dir::{fetch, key};

each_ftp_server![
    rfc1738_sends_one_cwd_per_segment,
    nocwd_sends_the_path_with_retr,
    singlecwd_sends_one_cwd,
    auto_sends_one_cwd_per_segment_first,
    auto_falls_back_to_nocwd_after_a_rejected_cwd,
    auto_exits_78_for_a_missing_file,
    every_method_gives_the_same_listing,
    missing_directory_exits_78_with_every_method,
];

const DEEP: &str = "path=pub/a/b/c/deep.txt\n";

#[track_caller]
fn check(server: FtpServer, method: &str, path: &str, bytes: &str, expected: &[&str]) {
    fetch(&["--ftp-method", method, &server.url(path)]).assert_success(bytes);
    assert_commands(server, &["--ftp-method", method], path, expected);
}

fn image(cwd: &[&str], name: &str) -> Vec<String> {
    let commands = [
        "TYPE I".to_owned(),
        format!("SIZE {name}"),
        format!("MDTM {name}"),
        "EPSV".to_owned(),
        format!("RETR {name}"),
    ];
    cwd.iter().map(|&line| line.to_owned()).chain(commands).collect()
}

#[track_caller]
fn check_image(server: FtpServer, method: &str, path: &str, cwd: &[&str], name: &str) {
    let commands = image(cwd, name);
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    check(server, method, path, DEEP, &commands);
}

fn rfc1738_sends_one_cwd_per_segment(server: FtpServer) {
    let cwd = ["CWD pub", "CWD a", "CWD b", "CWD c"];
    check_image(server, "rfc1738", "/pub/a/b/c/deep.txt", &cwd, "deep.txt");
}

fn nocwd_sends_the_path_with_retr(server: FtpServer) {
    check_image(server, "nocwd", "/pub/a/b/c/deep.txt", &[], "pub/a/b/c/deep.txt");
    check_image(server, "nocwd", "/%2Fpub/a/b/c/deep.txt", &[], "/pub/a/b/c/deep.txt");
    let host = server.url_as("alice", "secret", "/%2Fetc/motd");
    fetch(&["--ftp-method", "nocwd", &host]).assert_success("motd of the host\n");
    let own = server.url_as("alice", "secret", "/etc/motd");
    fetch(&["--ftp-method", "nocwd", &own]).assert_success("motd of alice, not of the host\n");
}

fn singlecwd_sends_one_cwd(server: FtpServer) {
    check_image(server, "singlecwd", "/pub/a/b/c/deep.txt", &["CWD pub/a/b/c"], "deep.txt");
    let host = server.url_as("alice", "secret", "/%2Fetc/motd");
    fetch(&["--ftp-method", "singlecwd", &host]).assert_success("motd of the host\n");
    let own = server.url_as("alice", "secret", "/etc/motd");
    fetch(&["--ftp-method", "singlecwd", &own]).assert_success("motd of alice, not of the host\n");
}

fn auto_sends_one_cwd_per_segment_first(server: FtpServer) {
    let cwd = ["CWD pub", "CWD a", "CWD b", "CWD c"];
    check_image(server, "auto", "/pub/a/b/c/deep.txt", &cwd, "deep.txt");
    let result = fetch(&["--ftp-method", "auto", "-v", &server.url("/pub/README")]).assert_exit(0);
    result.assert_stderr_omits("nocwd");
}

/// All servers except pure-ftpd reject CWD without an argument; the fallback uses the path from the root. proftpd
/// resolves `..` after a missing directory.
fn auto_falls_back_to_nocwd_after_a_rejected_cwd(server: FtpServer) {
    let result = fetch(&["--ftp-method", "auto", "-v", &server.url("//pub/README")]).assert_exit(0);
    let result = result.assert_stdout("path=pub/README\n");
    if server.name == PUREFTPD.name {
        result.assert_stderr_contains("> RETR README").assert_stderr_omits("nocwd");
        return;
    }
    result
        .assert_stderr_contains("> CWD")
        .assert_stderr_contains("> RETR /pub/README")
        .assert_stderr_contains("nocwd");
    if server.name == PROFTPD.name {
        let path = format!("/{}/../hello.txt", key());
        let result = fetch(&["--ftp-method", "auto", "-v", &server.url(&path)]).assert_exit(0);
        result
            .assert_stdout("Hello, world\n")
            .assert_stderr_contains("nocwd")
            .assert_stderr_contains(&format!("> RETR {}", &path[1..]));
        fetch(&["--ftp-method", "rfc1738", &server.url(&path)]).assert_exit(78);
    }
}

fn auto_exits_78_for_a_missing_file(server: FtpServer) {
    let name = key();
    let result = fetch(&["--ftp-method", "auto", "-v", &server.url(&format!("/{name}/x"))]).assert_exit(78);
    result
        .assert_stdout("")
        .assert_stderr_contains(&format!("> CWD {name}"))
        .assert_stderr_contains(&format!("> RETR {name}/x"));
    // The fallback applies to a rejected CWD only.
    let result = fetch(&["--ftp-method", "auto", "-v", &server.url(&format!("/pub/{name}"))]).assert_exit(78);
    assert_eq!(result.err.matches("> RETR").count(), 1, "{}", result.err);
}

fn every_method_gives_the_same_listing(server: FtpServer) {
    let rfc = fetch(&["--format", "json", &server.url("/pub/a/b/")]).assert_exit(0).text();
    assert!(rfc.contains("/pub/a/b/c"), "{rfc}");
    for method in ["nocwd", "singlecwd", "auto"] {
        fetch(&["--ftp-method", method, "--format", "json", &server.url("/pub/a/b/")]).assert_success(&rfc);
        fetch(&["--ftp-method", method, "--format", "json", &server.url("/pub/a/b;type=d")])
            .assert_success(&rfc);
    }
    assert_commands(server, &["--ftp-method", "nocwd"], "/pub/a/", &["EPSV", "NLST pub/a"]);
    assert_commands(server, &["--ftp-method", "singlecwd"], "/pub/a/", &["CWD pub/a", "EPSV", "NLST"]);
}

/// vsftpd replies to both in the same way; bsdftpd rejects both and lists its error message.
fn missing_directory_exits_78_with_every_method(server: FtpServer) {
    for method in ["rfc1738", "nocwd", "singlecwd", "auto"] {
        for form in ["names", "long"] {
            for end in ["/", ";type=d"] {
                let options = ["--ftp-method", method, "--list-format", form];
                let path = format!("/{}{end}", key());
                fetch(&[&options[..], &[&server.url(&path)]].concat()).assert_exit(78).assert_stdout("");
                let path = format!("/empty-dir{end}");
                fetch(&[&options[..], &[&server.url(&path)]].concat()).assert_success("");
            }
        }
    }
}
