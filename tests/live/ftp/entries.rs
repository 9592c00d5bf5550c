//! The URL of each entry of a listing fetches that entry.

use std::collections::BTreeSet;

use crate::live::ftp_server::{FtpServer, PROFTPD, PUREFTPD, VSFTPD, each_ftp_server};
use crate::live::tree::odd_files;
use crate::live::work_dir::fetch;

each_ftp_server![
    entry_urls_of_a_name_listing_fetch_their_entries,
    entry_urls_of_a_long_listing_fetch_their_entries,
    entry_urls_contain_the_user_name_but_no_password,
    entry_urls_fetch_their_entries_with_nocwd
];

/// Returns the lines of a JSON listing, one entry per line.
pub(super) fn entries(listing: &str) -> Vec<&str> {
    listing.lines().filter(|line| line.starts_with('{')).collect()
}

/// Returns a string field, or `None` if it is null or missing.
pub(super) fn field(line: &str, name: &str) -> Option<String> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    let mut text = String::new();
    let mut bytes = rest.chars();
    loop {
        match bytes.next()? {
            '"' => return Some(text),
            '\\' => text.push(bytes.next()?),
            byte => text.push(byte),
        }
    }
}

/// Percent-encodes every character of a path that may be encoded, as the contents of the test files show their paths.
fn fully_escaped(path: &str) -> String {
    let mut bytes = path.bytes();
    let mut text = String::new();
    while let Some(byte) = bytes.next() {
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16)).expect("a digit");
        let decoded = match byte {
            b'%' => u8::try_from(digit(bytes.next()) * 16 + digit(bytes.next())).expect("an octet"),
            _ => byte,
        };
        match decoded {
            b'-' | b'.' | b'_' | b'~' | b'/' => text.push(char::from(decoded)),
            _ if decoded.is_ascii_alphanumeric() => text.push(char::from(decoded)),
            _ => text.push_str(&format!("%{decoded:02X}")),
        }
    }
    text
}

/// Returns the names in `odd/`, percent-encoded, that the server lists.
fn listed_names(server: FtpServer, form: &str) -> BTreeSet<String> {
    let name = |path: String| path["/odd/".len()..].split('/').next().map(str::to_owned).expect("a name");
    let all = odd_files().into_iter().map(|(path, _)| name(path));
    let hides_dots = server.name == VSFTPD.name || server.name == PROFTPD.name && form == "names";
    let is_listed = |name: &String| match name.as_str() {
        // A line feed splits the line, and a carriage return cannot be sent in a command.
        name if name.contains("%0A") || name.contains("%0D") => false,
        name if hides_dots && name.starts_with('.') => false,
        name => {
            !(server.name == PUREFTPD.name && ["%09", "%01", "%7F"].iter().any(|byte| name.contains(byte)))
        }
    };
    all.filter(is_listed).collect()
}

/// Fetches the URL of an entry and asserts the result: a file contains its own path, a directory has one entry. Returns
/// the name.
#[track_caller]
fn assert_entry_url_fetches_entry(server: FtpServer, options: &[&str], line: &str) -> String {
    let url = field(line, "url").unwrap_or_else(|| panic!("no URL: {line}"));
    let path = &url[url.find("/odd/").expect("a path")..];
    let name = fully_escaped(path["/odd/".len()..].trim_end_matches('/'));
    if line.contains("\"kind\":\"directory\"") {
        assert!(url.ends_with('/'), "{line}");
        let inside = fetch(&[options, &["--format", "json", &url]].concat()).assert_exit(0).text();
        assert_eq!(entries(&inside).len(), 1, "{url}: {inside}");
        return name;
    }
    let result = fetch(&[options, &["-v", &url]].concat());
    // NLST does not show whether an entry is a directory.
    if line.contains("\"kind\":\"other\"") && result.exit == 78 {
        let inside =
            fetch(&[options, &["--format", "json", &format!("{url}/")]].concat()).assert_exit(0).text();
        assert_eq!(entries(&inside).len(), 1, "{url}: {inside}");
        return name;
    }
    // pure-ftpd lists names with a leading dot or a backslash but refuses to send the files.
    if server.name == PUREFTPD.name && (name.starts_with('.') || name.contains("%5C")) {
        result.assert_exit(9).assert_stdout("").assert_stderr_contains("553");
        return name;
    }
    result.assert_exit(0).assert_stdout(format!("path=odd/{name}\n"));
    name
}

#[track_caller]
fn assert_entry_urls_fetch_entries(server: FtpServer, form: &str, options: &[&str], folder: &str) {
    let own = ["--list-format", form, "--format", "json", folder];
    let listing = fetch(&[options, &own].concat()).assert_exit(0).text();
    // A name that contains a line end is split into several lines, which name no file.
    let contains_line_end = |line: &str| {
        let name = field(line, "name").expect("a name");
        ["new", "line", "cr\rname.txt"].contains(&name.as_str())
            || name.contains("crrname")
            || name.contains("cru000dname")
    };
    let whole: Vec<&str> = entries(&listing).into_iter().filter(|line| !contains_line_end(line)).collect();
    let names: BTreeSet<String> =
        whole.into_iter().map(|line| assert_entry_url_fetches_entry(server, options, line)).collect();
    assert_eq!(names, listed_names(server, form), "{} {form}", server.name);
}

fn entry_urls_of_a_name_listing_fetch_their_entries(server: FtpServer) {
    assert_entry_urls_fetch_entries(server, "names", &[], &server.url("/odd/"));
    assert_entry_urls_fetch_entries(server, "names", &[], &server.url("/odd;type=d"));
}

fn entry_urls_of_a_long_listing_fetch_their_entries(server: FtpServer) {
    assert_entry_urls_fetch_entries(server, "long", &[], &server.url("/odd/"));
    assert_entry_urls_fetch_entries(server, "long", &[], &server.url("/pub/../odd/"));
}

/// The URLs contain the user name but never the password; with `-u` they fetch their entries.
fn entry_urls_contain_the_user_name_but_no_password(server: FtpServer) {
    let listing =
        fetch(&["--format", "json", &server.url_as("alice", "secret", "/tree/pub/")]).assert_exit(0).text();
    assert!(!listing.contains("secret"), "{listing}");
    let line = entries(&listing).into_iter().find(|line| line.contains("README")).expect("README");
    let url = field(line, "url").expect("a URL");
    assert!(url.ends_with("/tree/pub/README"), "{url}");
    fetch(&["-u", "alice:secret", &url]).assert_success("path=pub/README\n");
    let whole = server.url_as("alice", "secret", "/%2Fsrv/tree/pub/");
    let listing = fetch(&["--format", "json", &whole]).assert_exit(0).text();
    let line = entries(&listing).into_iter().find(|line| line.contains("README")).expect("README");
    let url = field(line, "url").expect("a URL");
    assert!(url.ends_with("/%2Fsrv/tree/pub/README"), "{url}");
    fetch(&["-u", "alice:secret", &url]).assert_success("path=pub/README\n");
}

fn entry_urls_fetch_their_entries_with_nocwd(server: FtpServer) {
    assert_entry_urls_fetch_entries(server, "names", &["--ftp-method", "nocwd"], &server.url("/odd/"));
}
