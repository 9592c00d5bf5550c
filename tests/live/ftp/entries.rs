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

/// Returns the names in `odd/`, percent-encoded, that the server can list.
fn told(server: FtpServer, form: &str) -> BTreeSet<String> {
    let name = |path: String| path["/odd/".len()..].split('/').next().map(str::to_owned).expect("a name");
    let all = odd_files().into_iter().map(|(path, _)| name(path));
    let hides_dots = server.name == VSFTPD.name || server.name == PROFTPD.name && form == "names";
    let is_told = |name: &String| match name.as_str() {
        // A line feed splits the line, and a carriage return cannot be sent in a command.
        name if name.contains("%0A") || name.contains("%0D") => false,
        name if hides_dots && name.starts_with('.') => false,
        name => {
            !(server.name == PUREFTPD.name && ["%09", "%01", "%7F"].iter().any(|byte| name.contains(byte)))
        }
    };
    all.filter(is_told).collect()
}

/// Fetches the entry: a file contains its own path, a directory has one entry.
#[track_caller]
fn leads_home(server: FtpServer, options: &[&str], line: &str) -> String {
    let url = field(line, "url").unwrap_or_else(|| panic!("no URL: {line}"));
    let path = &url[url.find("/odd/").expect("a path")..];
    let name = fully_escaped(path["/odd/".len()..].trim_end_matches('/'));
    if line.contains("\"kind\":\"directory\"") {
        assert!(url.ends_with('/'), "{line}");
        let inside = fetch(&[options, &["--format", "json", &url]].concat()).exits(0).text();
        assert_eq!(entries(&inside).len(), 1, "{url}: {inside}");
        return name;
    }
    let ran = fetch(&[options, &["-v", &url]].concat());
    // NLST does not show whether an entry is a directory.
    if line.contains("\"kind\":\"other\"") && ran.exit == 78 {
        let inside = fetch(&[options, &["--format", "json", &format!("{url}/")]].concat()).exits(0).text();
        assert_eq!(entries(&inside).len(), 1, "{url}: {inside}");
        return name;
    }
    // pure-ftpd lists names with a leading dot or a backslash but refuses to send the files.
    if server.name == PUREFTPD.name && (name.starts_with('.') || name.contains("%5C")) {
        ran.exits(9).writes("").says("553");
        return name;
    }
    ran.exits(0).writes(format!("path=odd/{name}\n"));
    name
}

#[track_caller]
fn all_lead_home(server: FtpServer, form: &str, options: &[&str], folder: &str) {
    let own = ["--list-format", form, "--format", "json", folder];
    let listing = fetch(&[options, &own].concat()).exits(0).text();
    // A name that contains a line end is split into several lines, which name no file.
    let is_torn = |line: &str| {
        let name = field(line, "name").expect("a name");
        ["new", "line", "cr\rname.txt"].contains(&name.as_str())
            || name.contains("crrname")
            || name.contains("cru000dname")
    };
    let whole: Vec<&str> = entries(&listing).into_iter().filter(|line| !is_torn(line)).collect();
    let names: BTreeSet<String> = whole.into_iter().map(|line| leads_home(server, options, line)).collect();
    assert_eq!(names, told(server, form), "{} {form}", server.name);
}

fn entry_urls_of_a_name_listing_fetch_their_entries(server: FtpServer) {
    all_lead_home(server, "names", &[], &server.url("/odd/"));
    all_lead_home(server, "names", &[], &server.url("/odd;type=d"));
}

fn entry_urls_of_a_long_listing_fetch_their_entries(server: FtpServer) {
    all_lead_home(server, "long", &[], &server.url("/odd/"));
    all_lead_home(server, "long", &[], &server.url("/pub/../odd/"));
}

/// The URLs contain the user name but never the password; with `-u` they fetch their entries.
fn entry_urls_contain_the_user_name_but_no_password(server: FtpServer) {
    let listing =
        fetch(&["--format", "json", &server.url_as("alice", "secret", "/tree/pub/")]).exits(0).text();
    assert!(!listing.contains("secret"), "{listing}");
    let line = entries(&listing).into_iter().find(|line| line.contains("README")).expect("README");
    let url = field(line, "url").expect("a URL");
    assert!(url.ends_with("/tree/pub/README"), "{url}");
    fetch(&["-u", "alice:secret", &url]).gives("path=pub/README\n");
    let whole = server.url_as("alice", "secret", "/%2Fsrv/tree/pub/");
    let listing = fetch(&["--format", "json", &whole]).exits(0).text();
    let line = entries(&listing).into_iter().find(|line| line.contains("README")).expect("README");
    let url = field(line, "url").expect("a URL");
    assert!(url.ends_with("/%2Fsrv/tree/pub/README"), "{url}");
    fetch(&["-u", "alice:secret", &url]).gives("path=pub/README\n");
}

fn entry_urls_fetch_their_entries_with_nocwd(server: FtpServer) {
    all_lead_home(server, "names", &["--ftp-method", "nocwd"], &server.url("/odd/"));
}
