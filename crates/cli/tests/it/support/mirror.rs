//! Helpers of the `mirror` tests: run the command, create a source directory, list the mirrored files, and serve index
//! pages.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fetch_url_tests::{FtpServer, HttpRequest, HttpResponse, HttpServer};

use super::{RunResult, entry_names, http_server, run_fetch_url, temp_dir, write_file};

/// The name of the journal that a mirror keeps in its target directory.
pub(crate) const MIRROR_JOURNAL: &str = ".fetch-url-mirror";

/// Runs `mirror --retry 0` with options that are separated by white space.
pub(crate) fn run_mirror(url: &str, target: &Path, options: &str) -> RunResult {
    let target = target.display().to_string();
    let arguments = ["mirror", "--retry", "0"].into_iter().chain(options.split_whitespace());
    run_fetch_url(arguments.chain([url, &target]))
}

/// Returns everything below `directory` except journals, sorted: a file as `name=content`, a directory as `name/`, a
/// symbolic link as `name@`, anything else as `name?`.
pub(crate) fn list_tree(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for name in entry_names(directory).into_iter().filter(|name| name != MIRROR_JOURNAL) {
        let path = directory.join(&name);
        let kind = fs::symlink_metadata(&path).expect("an entry").file_type();
        if kind.is_symlink() {
            found.push(format!("{name}@"));
        } else if kind.is_dir() {
            found.push(format!("{name}/"));
            found.extend(list_tree(&path).into_iter().map(|below| format!("{name}/{below}")));
        } else if kind.is_file() {
            found.push(format!("{name}={}", String::from_utf8_lossy(&fs::read(&path).expect("a file"))));
        } else {
            found.push(format!("{name}?"));
        }
    }
    found.sort();
    found
}

/// Returns the relative paths of all files below `directory` except journals, sorted.
pub(crate) fn list_files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for name in entry_names(directory).into_iter().filter(|name| name != MIRROR_JOURNAL) {
        let path = directory.join(&name);
        match path.is_dir() {
            true => found.extend(list_files(&path).into_iter().map(|below| format!("{name}/{below}"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

/// Returns the FTP commands with this verb that the server received, sorted.
pub(crate) fn received_commands(server: &FtpServer, verb: &str) -> Vec<String> {
    let mut lines: Vec<String> = server.received_text();
    lines.retain(|line| line.split(' ').next() == Some(verb));
    lines.sort();
    lines
}

/// Returns an index page as nginx writes it. An entry is a name and a size; the size `-` denotes a directory.
pub(crate) fn nginx_index_html(entries: &[(&str, &str)]) -> String {
    let line = |(name, size): &(&str, &str)| {
        format!("<a href=\"{name}\">{name}</a>{:50}01-Dec-1994 12:34 {size:>19}\r\n", "")
    };
    let lines: String = entries.iter().map(line).collect();
    format!(
        "<html>\r\n<head><title>Index of /d/</title></head>\r\n<body>\r\n<h1>Index of /d/</h1><hr><pre>\
         <a href=\"../\">../</a>\r\n{lines}</pre><hr></body>\r\n</html>\r\n"
    )
}

/// Returns a response with an nginx index page that links to these hrefs, each with a size of 4 bytes.
pub(crate) fn nginx_index(hrefs: &[String]) -> HttpResponse {
    let line = |href: &String| format!("<a href=\"{href}\">x</a>    01-Dec-1994 12:34    4\r\n");
    let lines: String = hrefs.iter().map(line).collect();
    let html = format!(
        "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\r\n\
         {lines}</pre></body></html>"
    );
    HttpResponse::new(200).header("Content-Type", "text/html; charset=utf-8").body(html)
}

/// Starts an HTTP server whose `/d/` is an index page with these hrefs. Every other directory is an index page with
/// the entry `inside`, every other file has the content `evil`.
pub(crate) fn hostile_index_server(hrefs: &[&str]) -> HttpServer {
    let hrefs: Vec<String> = hrefs.iter().map(|href| (*href).to_owned()).collect();
    let started = HttpServer::start(move |request| match request.path().as_str() {
        "/d/" => nginx_index(&hrefs),
        path if path.ends_with('/') => nginx_index(&["inside".to_owned()]),
        _ => HttpResponse::new(200).header("Last-Modified", "Thu, 01 Dec 1994 12:34:56 GMT").body("evil"),
    });
    started.expect("a server")
}

/// Returns a response with an nginx index page; an entry is a name and a size.
pub(crate) fn nginx_index_with_sizes(entries: &[(&str, &str)]) -> HttpResponse {
    let line = |(name, size): &(&str, &str)| {
        format!("<a href=\"{name}\">{name}</a>    01-Dec-1994 12:34    {size}\r\n")
    };
    let lines: String = entries.iter().map(line).collect();
    let html = format!(
        "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\r\n\
         {lines}</pre></body></html>"
    );
    HttpResponse::new(200).header("Content-Type", "text/html").body(html)
}

/// Returns a response with this HTML text.
pub(crate) fn html_reply(text: impl Into<Vec<u8>>) -> HttpResponse {
    HttpResponse::new(200).header("Content-Type", "text/html").body(text)
}

/// Returns an nginx index page that contains these lines.
pub(crate) fn index_page(lines: &str) -> HttpResponse {
    html_reply(format!(
        "<html><head><title>Index of /d/</title></head><body><h1>Index of /d/</h1><hr><pre><a href=\"../\">../</a>\r\n\
         {lines}</pre></body></html>"
    ))
}

/// Starts a server whose `/d/` is an index page with these lines; the content of a file is its name.
pub(crate) fn index_server(lines: &str) -> HttpServer {
    let lines = lines.to_owned();
    http_server(move |request| match request.path().as_str() {
        "/d/" => index_page(&lines),
        path => HttpResponse::new(200).body(path.rsplit('/').next().unwrap_or_default()),
    })
}

/// Starts an HTTP server that calls `page` for every path with a final slash; the content of a file is its name.
pub(crate) fn directory_server(page: impl Fn(&str) -> HttpResponse + Send + Sync + 'static) -> HttpServer {
    http_server(move |request| match request.path().as_str() {
        path if path.ends_with('/') => page(path),
        path => HttpResponse::new(200).body(path.rsplit('/').next().unwrap_or_default().to_owned()),
    })
}

/// Returns a response with an index page of title, parent link and these rows only.
pub(crate) fn minimal_index_page(rows: &str) -> HttpResponse {
    let page = format!("<title>Index of /d/</title><pre><a href=\"../\">../</a>\n{rows}</pre>");
    HttpResponse::new(200).header("Content-Type", "text/html").body(page)
}

/// Answers requests for the files `a`, `sub/x` and `sub/y` of 5 bytes each below `/d/`.
pub(crate) fn small_tree_handler(request: &HttpRequest) -> HttpResponse {
    match request.path().as_str() {
        "/d/" => nginx_index_with_sizes(&[("a", "5"), ("sub/", "-")]),
        "/d/sub/" => nginx_index_with_sizes(&[("x", "5"), ("y", "5")]),
        _ => HttpResponse::new(200).body("bytes"),
    }
}

/// Runs `mirror --retry 0` with a list of options.
pub(crate) fn run_mirror_with(url: &str, target: &Path, options: &[&str]) -> RunResult {
    let target = target.display().to_string();
    run_fetch_url([&["mirror", "--retry", "0"], options, &[url, &target]].concat())
}

/// Starts an HTTP server on which every path with a final slash is an index page with these lines.
pub(crate) fn endless_server(lines: &str) -> HttpServer {
    let page = format!("<html><h1>Index of /d/</h1><pre><a href=\"../\">../</a>\r\n{lines}</pre></html>");
    http_server(move |request| match request.path().ends_with('/') {
        true => HttpResponse::new(200).header("Content-Type", "text/html").body(page.clone()),
        false => HttpResponse::new(200).body("x"),
    })
}

/// Runs `mirror --retry 0 --read-timeout 1` with options that are separated by white space.
pub(crate) fn run_mirror_with_short_timeout(url: &str, target: &Path, options: &str) -> RunResult {
    let target = target.display().to_string();
    let fixed = ["mirror", "--retry", "0", "--read-timeout", "1"];
    run_fetch_url(fixed.into_iter().chain(options.split_whitespace()).chain([url, &target]))
}

/// Returns the `file:` URL of a directory.
pub(crate) fn file_url(directory: &Path) -> String {
    format!("file://{}/", directory.display())
}

/// Runs `mirror --retry 0` with a local directory as its source.
pub(crate) fn mirror_directory(source: &Path, target: &Path, options: &str) -> RunResult {
    run_mirror(&file_url(source), target, options)
}

/// Returns the time `number` seconds after 1970.
pub(crate) fn unix_time(number: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(number)
}

/// Sets the modification time of a file.
pub(crate) fn set_modification_time(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).expect("a file").set_modified(time).expect("a time");
}

/// Creates a directory with `a`, `sub/b`, `sub/deep/c`, `sub/deep/er/d` and the empty directory `empty`.
pub(crate) fn source_tree() -> tempfile::TempDir {
    let source = temp_dir();
    for (name, content) in [("a", "1"), ("sub/b", "22"), ("sub/deep/c", "333"), ("sub/deep/er/d", "4444")] {
        write_file(source.path(), name, content);
        set_modification_time(&source.path().join(name), unix_time(786_000_000));
    }
    fs::create_dir(source.path().join("empty")).expect("a directory");
    source
}
