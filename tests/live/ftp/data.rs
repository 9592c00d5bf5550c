//! Data connections: the command that sets them up, and the address that they are opened to.

use super::received_commands::assert_commands;
use crate::live::ftp_server::{BSDFTPD, FtpServer, VSFTPD, each_ftp_server};
use crate::live::tree::{HELLO, range};
use crate::live::work_dir::{WorkDir, fetch};

each_ftp_server![
    disable_epsv_sends_pasv,
    default_data_connection_is_passive_by_epsv,
    active_mode_behind_nat_fails_without_hanging,
    empty_file_and_directory_are_proven_complete,
    sixty_parallel_transfers_all_arrive,
];

fn disable_epsv_sends_pasv(server: FtpServer) {
    let result =
        fetch(&["-v", "--disable-epsv", &server.url("/hello.txt")]).assert_exit(0).assert_stdout(HELLO);
    result.assert_stderr_contains("> PASV").assert_stderr_omits("> EPSV");
    let expected = ["TYPE I", "SIZE hello.txt", "MDTM hello.txt", "PASV", "RETR hello.txt"];
    assert_commands(server, &["--disable-epsv"], "/hello.txt", &expected);
    let urls = ["/hello.txt", "/range.txt", "/pub/README"].map(|path| server.url(path));
    let all = [HELLO.as_bytes(), &range(), b"path=pub/README\n"].concat();
    fetch(&["--disable-epsv", &urls[0], &urls[1], &urls[2]]).assert_success(all);
}

/// The 227 reply of inetutils contains its address in the container network; the address of the control connection is
/// used.
#[test]
#[ignore = "needs the servers of docker/"]
fn address_in_a_227_reply_is_ignored() {
    let result =
        fetch(&["-v", "--disable-epsv", &BSDFTPD.url("/range.txt")]).assert_exit(0).assert_stdout(range());
    let line = result.err.lines().find(|line| line.starts_with("< 227")).expect("a 227").to_owned();
    assert!(!line.contains("(127,0,0,1,"), "the server names another address: {line}");
    let listing =
        fetch(&["--disable-epsv", "--format", "json", &BSDFTPD.url("/many/")]).assert_exit(0).text();
    assert_eq!(listing.lines().count(), 5000);
}

fn default_data_connection_is_passive_by_epsv(server: FtpServer) {
    for options in [&["--ftp-pasv"][..], &["--passive-ftp"], &[]] {
        fetch(&[options, &[&server.url("/hello.txt")]].concat()).assert_success(HELLO);
    }
    fetch(&["-v", &server.url("/hello.txt")])
        .assert_exit(0)
        .assert_stderr_contains("> EPSV")
        .assert_stderr_omits("> PORT")
        .assert_stderr_omits("> EPRT");
}

/// The server cannot connect back through the published ports: the run fails with an error and does not hang.
fn active_mode_behind_nat_fails_without_hanging(server: FtpServer) {
    let dir = WorkDir::new();
    let result =
        dir.fetch(&["-v", "-P", "-", "--connect-timeout", "2", "-o", "here", &server.url("/hello.txt")]);
    assert!([7, 9, 28, 92].contains(&result.exit), "{}: {}", result.exit, result.err);
    result.assert_stderr_contains("> EPRT").assert_stderr_omits("> EPSV").assert_stderr_omits("> PASV");
    dir.assert_entries(&[]);
    let result =
        fetch(&["-v", "-P", "-", "--disable-eprt", "--connect-timeout", "2", &server.url("/hello.txt")]);
    result.assert_stderr_contains("> PORT").assert_stderr_omits("> EPRT").assert_stdout("");
}

/// An empty file and an empty directory are complete, and the server proves it.
fn empty_file_and_directory_are_proven_complete(server: FtpServer) {
    for path in ["/empty.bin", "/empty-dir/"] {
        fetch(&["--require-complete", &server.url(path)]).assert_success("");
    }
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", &server.url("/empty.bin")]).assert_success("");
    assert_eq!(dir.read("here"), b"");
}

/// 60 parallel transfers exceed the sessions or data ports of a server. fetch-url retries after busy replies, and every
/// file has the right content.
fn sixty_parallel_transfers_all_arrive(server: FtpServer) {
    let dir = WorkDir::new();
    let urls: Vec<String> = (3000..3060).map(|number| server.url(&format!("/many/f{number}.txt"))).collect();
    // Docker's port proxy sometimes loses a data connection silently; the transfer is then retried.
    let patient = ["--retry", "50", "--retry-delay", "0.2", "--read-timeout", "3"];
    let own = [&["-Z", "--parallel-max", "30", "--remote-name-all"][..], &patient].concat();
    let arguments: Vec<&str> = own.into_iter().chain(urls.iter().map(String::as_str)).collect();
    dir.fetch(&arguments).assert_exit(0);
    for number in 3000..3060 {
        assert_eq!(dir.read(&format!("f{number}.txt")), format!("{number}\n").as_bytes());
    }
}

#[test]
#[ignore = "needs the servers of docker/"]
fn public_only_refuses_a_loopback_server() {
    fetch(&["--public-only", &VSFTPD.url("/hello.txt")]).assert_exit(90).assert_stdout("");
}
