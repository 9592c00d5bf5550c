//! Several URLs over one control connection, as far as RFC 1738 §3.2.5 allows: each URL gets its own file.

use std::collections::BTreeSet;

use crate::live::ftp_server::{FtpServer, each_ftp_server};
use crate::live::tree::HELLO;
use crate::live::work_dir::{WorkDir, fetch, key};

each_ftp_server![
    files_of_a_directory_share_one_login_and_cwd,
    each_url_of_several_directories_gives_its_own_file,
    url_after_a_failure_gives_its_own_file,
    each_user_gets_a_session_of_its_own,
    each_transfer_has_its_own_type,
    sixteen_parallel_transfers_fetch_200_files,
    sequential_transfers_fetch_200_files,
    parallel_sessions_in_several_directories_give_the_right_files,
];

fn many(server: FtpServer, numbers: std::ops::Range<u32>) -> Vec<String> {
    numbers.map(|number| server.url(&format!("/many/f{number:04}.txt"))).collect()
}

fn contents(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!("{number:04}\n")).collect()
}

fn as_arguments<'a>(options: &[&'a str], urls: &'a [String]) -> Vec<&'a str> {
    options.iter().copied().chain(urls.iter().map(String::as_str)).collect()
}

/// The session is found by the name of the last file, which is missing.
fn files_of_a_directory_share_one_login_and_cwd(server: FtpServer) {
    let name = key();
    let watch = server.watch();
    let mut urls = many(server, 4101..4107);
    urls.push(server.url(&format!("/many/{name}")));
    fetch(&as_arguments(&[], &urls)).assert_exit(78).assert_stdout(contents(4101..4107));
    let received = watch.commands_for(&name);
    let count = |verb: &str| received.iter().filter(|line| line.starts_with(verb)).count();
    assert_eq!((count("USER"), count("CWD"), count("TYPE")), (1, 1, 1), "{received:?}");
    // Each transfer has its own data connection.
    assert!(count("EPSV") >= 6, "{received:?}");
    let files: Vec<&String> = received.iter().filter(|line| line.starts_with("RETR")).collect();
    let expected: Vec<String> = (4101..4107).map(|number| format!("RETR f{number}.txt")).collect();
    assert_eq!(files[..6], expected.iter().collect::<Vec<_>>(), "{received:?}");
    let sizes = received.iter().filter(|line| line.starts_with("SIZE f")).count();
    assert_eq!(sizes, 6, "{received:?}");
}

fn each_url_of_several_directories_gives_its_own_file(server: FtpServer) {
    let rows = [
        ("/hello.txt", HELLO),
        ("/pub/README", "path=pub/README\n"),
        ("/pub/a/b/c/deep.txt", "path=pub/a/b/c/deep.txt\n"),
        ("/pub/README", "path=pub/README\n"),
        ("/etc/motd", "motd of the served tree, not of the host\n"),
        ("/%2Fpub/README", "path=pub/README\n"),
        ("/hello.txt", HELLO),
        ("/pub/a/../README", "path=pub/README\n"),
        ("/pub/a/b/../../README", "path=pub/README\n"),
        ("/link-dir/README", "path=pub/README\n"),
        ("/etc/../hello.txt", HELLO),
        ("/odd/quote%22d/f.txt", "path=odd/quote%22d/f.txt\n"),
        ("/odd/semi%3Bcolon/f.txt", "path=odd/semi%3Bcolon/f.txt\n"),
        ("/hello.txt", HELLO),
    ];
    let urls: Vec<String> = rows.iter().map(|(path, _)| server.url(path)).collect();
    let all: String = rows.iter().map(|(_, bytes)| *bytes).collect();
    fetch(&as_arguments(&[], &urls)).assert_success(&all);
    // In a login directory that is not the root, relative and absolute paths differ.
    let rows = [
        ("/etc/motd", "motd of alice, not of the host\n"),
        ("/%2Fetc/motd", "motd of the host\n"),
        ("/etc/motd", "motd of alice, not of the host\n"),
        ("/here.txt", "in the login directory of alice\n"),
        ("/%2Fetc/motd", "motd of the host\n"),
        ("/tree/pub/README", "path=pub/README\n"),
        ("/here.txt", "in the login directory of alice\n"),
    ];
    let urls: Vec<String> = rows.iter().map(|(path, _)| server.url_as("alice", "secret", path)).collect();
    fetch(&as_arguments(&[], &urls)).assert_success(rows.iter().map(|(_, bytes)| *bytes).collect::<String>());
}

/// After a rejected CWD the current directory is unknown; the next URL still gets its own file.
fn url_after_a_failure_gives_its_own_file(server: FtpServer) {
    let (one, two) = (key(), key());
    let rows = [
        ("/pub/README".to_owned(), "path=pub/README\n"),
        (format!("/pub/{one}/README"), ""),
        ("/pub/README".to_owned(), "path=pub/README\n"),
        (format!("/{two}/README"), ""),
        ("/hello.txt".to_owned(), HELLO),
        ("/pub/no-such-file".to_owned(), ""),
        ("/pub/a/b/c/deep.txt".to_owned(), "path=pub/a/b/c/deep.txt\n"),
        ("/noperm.txt".to_owned(), ""),
        ("/hello.txt".to_owned(), HELLO),
    ];
    let urls: Vec<String> = rows.iter().map(|(path, _)| server.url(path)).collect();
    fetch(&as_arguments(&[], &urls))
        .assert_exit(78)
        .assert_stdout(rows.iter().map(|(_, bytes)| *bytes).collect::<String>());
}

fn each_user_gets_a_session_of_its_own(server: FtpServer) {
    let alice = server.url_as("alice", "secret", "/here.txt");
    let bob = server.url_as("bob", "p@ss/w:rd#%41 x", "/here.txt");
    let (of_alice, of_bob) = ("in the login directory of alice\n", "in the login directory of bob\n");
    fetch(&[&alice, &bob, &alice, &bob]).assert_success([of_alice, of_bob, of_alice, of_bob].concat());
    let result = fetch(&[&server.url("/hello.txt"), &alice, &server.url("/here.txt"), &bob]).assert_exit(78);
    result.assert_stdout([HELLO, of_alice, of_bob].concat());
    // A session that a right password opened is not used for a wrong password.
    let wrong = server.url_as("alice", "wrong", "/here.txt");
    fetch(&[&alice, &wrong]).assert_exit(67).assert_stdout(of_alice);
}

/// Each transfer sets the TYPE that it needs.
fn each_transfer_has_its_own_type(server: FtpServer) {
    let crlf = "line 1 of CRLF text\r\n";
    let urls = ["/crlf.txt", "/lf.txt;type=a", "/pub/", "/crlf.txt", "/pub;type=d", "/crlf.txt"];
    let urls = urls.map(|path| server.url(path));
    let text = fetch(&as_arguments(&["--format", "raw"], &urls)).assert_exit(0).text();
    assert_eq!(text.matches(crlf).count(), 3, "image is image");
    assert_eq!(text.matches(" of LF text\n").count(), 100, "text is text");
    assert_eq!(text.matches(" of LF text\r\n").count(), 0, "text is text");
    assert_eq!(text.matches("README").count(), 2, "two listings");
}

fn sixteen_parallel_transfers_fetch_200_files(server: FtpServer) {
    let dir = WorkDir::new();
    let urls = many(server, 2000..2200);
    dir.fetch(&as_arguments(&["-Z", "--parallel-max", "16", "--remote-name-all"], &urls)).assert_success("");
    assert_eq!(dir.names().len(), 200);
    for number in 2000..2200 {
        assert_eq!(dir.read(&format!("f{number}.txt")), format!("{number}\n").as_bytes());
    }
}

fn sequential_transfers_fetch_200_files(server: FtpServer) {
    fetch(&as_arguments(&["--require-complete"], &many(server, 2200..2400)))
        .assert_success(contents(2200..2400));
}

/// Parallel sessions in different directories.
fn parallel_sessions_in_several_directories_give_the_right_files(server: FtpServer) {
    let dir = WorkDir::new();
    let paths = ["/hello.txt", "/pub/README", "/pub/a/b/c/deep.txt", "/etc/motd", "/odd/100%25/f.txt"];
    let mut arguments = vec!["-Z".to_owned()];
    for (number, path) in paths.iter().cycle().take(40).enumerate() {
        arguments.extend([server.url(path), "-o".to_owned(), format!("{number}")]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    dir.fetch(&arguments).assert_success("");
    let expected: [&[u8]; 5] = [
        HELLO.as_bytes(),
        b"path=pub/README\n",
        b"path=pub/a/b/c/deep.txt\n",
        b"motd of the served tree, not of the host\n",
        b"path=odd/100%25/f.txt\n",
    ];
    for number in 0..40 {
        assert_eq!(dir.read(&number.to_string()), expected[number % 5], "{number}");
    }
    assert_eq!(dir.names().into_iter().collect::<BTreeSet<_>>().len(), 40);
}
