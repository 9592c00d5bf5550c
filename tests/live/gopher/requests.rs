//! The request line: the bytes of the URL path after the item type, percent-decoded once.

use crate::live::gopher_server::{GopherServer, each_gopher_server};
use crate::live::work_dir::{fetch, key};

each_gopher_server![
    selector_is_the_decoded_path_after_the_type,
    gopher_plus_string_follows_the_search_words,
    forbidden_bytes_exit_93_without_a_request,
    verbose_trace_shows_the_escaped_request
];

#[track_caller]
fn assert_selector_sent(server: GopherServer, path: &str, expected: &str) {
    let (key, watch) = (key(), server.watch());
    fetch(&[&server.url(&path.replace("KEY", &key))]);
    assert_eq!(watch.line(&key), expected.replace("KEY", &key), "{path}");
}

fn selector_is_the_decoded_path_after_the_type(server: GopherServer) {
    for (path, selector) in [
        ("/0/KEY", "/KEY"),
        ("/0KEY", "KEY"),
        ("/00/KEY", "0/KEY"),
        ("/01KEY", "1KEY"),
        ("/1/KEY/", "/KEY/"),
        ("/9//KEY", "//KEY"),
        ("/0/KEY/../x/./y", "/KEY/../x/./y"),
        ("/0/../KEY", "/../KEY"),
        ("/0/KEY?a=b&c", "/KEY?a=b&c"),
        ("/0/KEY%3Fa", "/KEY?a"),
        ("/0/KEY#fragment", "/KEY"),
        ("/0/KEY%23no-fragment", "/KEY#no-fragment"),
        ("/0/KEY;type=a", "/KEY;type=a"),
        ("/0/KEY%2Fa", "/KEY/a"),
        ("/0/KEY%2541", "/KEY%41"),
        ("/0/KEY+a%20b%20", "/KEY+a b "),
        ("/0/KEY%C3%BC%FF%01%7F", "/KEY\\xc3\\xbc\\xff\\x01\\x7f"),
        ("/0%5CKEY", "\\x5cKEY"),
        ("/sKEY", "KEY"),
        ("/%30/KEY", "/KEY"),
        ("/7/KEY%09", "/KEY\\x09"),
        ("/7/KEY%09a%20b", "/KEY\\x09a b"),
        ("/7/KEY%2509a", "/KEY%09a"),
    ] {
        assert_selector_sent(server, path, selector);
    }
}

/// RFC 4266 §2.3: the Gopher+ string follows two TABs; the first one is omitted if there is no search string.
fn gopher_plus_string_follows_the_search_words(server: GopherServer) {
    for (path, line) in [
        ("/0/KEY%09%09+", "/KEY\\x09+"),
        ("/0/KEY%09%09!", "/KEY\\x09!"),
        ("/1/KEY%09%09$", "/KEY\\x09$"),
        ("/0/KEY%09%09+application/postscript%20De_DE", "/KEY\\x09+application/postscript De_DE"),
        ("/7/KEY%09words%09+", "/KEY\\x09words\\x09+"),
        ("/7/KEY%09words%09!", "/KEY\\x09words\\x09!"),
    ] {
        assert_selector_sent(server, path, line);
    }
}

fn forbidden_bytes_exit_93_without_a_request(server: GopherServer) {
    let (key, watch) = (key(), server.watch());
    for bytes in ["%0D%0A", "%0D", "%0A", "%00"] {
        for path in
            [format!("/0/{key}{bytes}/x"), format!("/0/{key}%09%09+{bytes}"), format!("/1{key}{bytes}")]
        {
            fetch(&["-v", &server.url(&path)]).assert_exit(93).assert_stdout("").assert_stderr_omits("> ");
        }
    }
    server.answer(format!("/{key}-last"));
    watch.line(&format!("{key}-last"));
    assert_eq!(watch.all(&key).len(), 1, "{:?}", watch.all(&key));
}

fn verbose_trace_shows_the_escaped_request(server: GopherServer) {
    let result =
        fetch(&["-v", &server.url("/0/about.txt")]).assert_exit(0).assert_stdout(server.answer("/about.txt"));
    result.assert_stderr_contains("> /about.txt\n");
    // Control characters are escaped in the trace.
    let result = fetch(&["-v", &server.url("/0/nope%1B%5B31m")]);
    result.assert_stderr_contains("> /nope").assert_stderr_omits("\u{1b}");
}
