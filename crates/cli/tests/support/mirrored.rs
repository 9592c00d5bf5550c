//! What the tests of `mirror` share: running it, and looking at what is there.

use std::fs;
use std::path::Path;

use fetch_url_tests::{FtpServer, HttpReply, HttpServer};

use super::{Ran, fetch, names};

/// What a mirror keeps beside its files.
pub(crate) const JOURNAL: &str = ".fetch-url-mirror";

/// A directory for a test.
pub(crate) fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// A file of the user's own.
pub(crate) fn put(directory: &Path, name: &str, content: &str) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    fs::write(path, content).expect("a file");
}

/// Runs `mirror` once, with these words.
pub(crate) fn mirror(url: &str, target: &Path, words: &str) -> Ran {
    let target = target.display().to_string();
    fetch(["mirror", "--retry", "0"].into_iter().chain(words.split_whitespace()).chain([url, &target]))
}

/// All that is below, the journal excepted: `name=content`, `directory/`, `link@`; sorted.
pub(crate) fn tree(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for name in names(directory).into_iter().filter(|name| name != JOURNAL) {
        let path = directory.join(&name);
        let kind = fs::symlink_metadata(&path).expect("an entry").file_type();
        if kind.is_symlink() {
            found.push(format!("{name}@"));
        } else if kind.is_dir() {
            found.push(format!("{name}/"));
            found.extend(tree(&path).into_iter().map(|below| format!("{name}/{below}")));
        } else if kind.is_file() {
            found.push(format!("{name}={}", String::from_utf8_lossy(&fs::read(&path).expect("a file"))));
        } else {
            found.push(format!("{name}?"));
        }
    }
    found.sort();
    found
}

/// The files that are below, the journal excepted; sorted.
pub(crate) fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for name in names(directory).into_iter().filter(|name| name != JOURNAL) {
        let path = directory.join(&name);
        match path.is_dir() {
            true => found.extend(files(&path).into_iter().map(|below| format!("{name}/{below}"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

/// What a server was asked with this verb; sorted.
pub(crate) fn asked(server: &FtpServer, verb: &str) -> Vec<String> {
    let mut lines: Vec<String> = server.dialogue();
    lines.retain(|line| line.split(' ').next() == Some(verb));
    lines.sort();
    lines
}

/// nginx's page. An entry is a name and a size; `-` is a directory.
pub(crate) fn nginx(entries: &[(&str, &str)]) -> String {
    let line = |(name, size): &(&str, &str)| {
        format!("<a href=\"{name}\">{name}</a>{:50}01-Dec-1994 12:34 {size:>19}\r\n", "")
    };
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<html>\r\n<head><title>Index of /d/</title></head>\r\n<body>\r\n<h1>Index of /d/</h1><hr><pre>\
         <a href=\"../\">../</a>\r\n{lines}</pre><hr></body>\r\n</html>\r\n"
    )
}

/// nginx's page of these hrefs.
pub(crate) fn page(hrefs: &[String]) -> HttpReply {
    let line = |href: &String| format!("<a href=\"{href}\">x</a>    01-Dec-1994 12:34    4\r\n");
    let lines: String = hrefs.iter().map(line).collect();
    let html = format!(
        "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\r\n\
         {lines}</pre></body></html>"
    );
    HttpReply::new(200).header("Content-Type", "text/html; charset=utf-8").body(html)
}

/// `/d/` has these, and whatever does not end with a slash holds `evil`; a directory holds `inside`.
pub(crate) fn evil_server(hrefs: &[&str]) -> HttpServer {
    let hrefs: Vec<String> = hrefs.iter().map(|href| (*href).to_owned()).collect();
    let started = HttpServer::start(move |request| match request.path().as_str() {
        "/d/" => page(&hrefs),
        path if path.ends_with('/') => page(&["inside".to_owned()]),
        _ => HttpReply::new(200).header("Last-Modified", "Thu, 01 Dec 1994 12:34:56 GMT").body("evil"),
    });
    started.expect("a server")
}

/// nginx's page; an entry is a name and a size.
pub(crate) fn sized_page(entries: &[(&str, &str)]) -> HttpReply {
    let line = |(name, size): &(&str, &str)| {
        format!("<a href=\"{name}\">{name}</a>    01-Dec-1994 12:34    {size}\r\n")
    };
    let lines: String = entries.iter().map(line).collect();
    let html = format!(
        "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\r\n\
         {lines}</pre></body></html>"
    );
    HttpReply::new(200).header("Content-Type", "text/html").body(html)
}
