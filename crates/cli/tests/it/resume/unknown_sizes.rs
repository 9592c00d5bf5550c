//! Ranges of an object whose size the server does not state (docs/spec/semantics.md 3.31 and 3.37).

use std::fs;

use crate::support::{http_server, run_fetch_url_in, temp_dir};
use fetch_url_tests::{HttpResponse, pattern_vec};

fn content() -> Vec<u8> {
    pattern_vec(0, 1000)
}

/// RFC 9110 §14.4: with `*`, the server does not know the size of the object, so the part may end before the object does.
#[test]
fn open_range_of_an_object_of_unknown_size_is_assumed_complete() {
    let part = |from: usize, to: usize| {
        let range = format!("bytes {from}-{}/*", to - 1);
        HttpResponse::new(206).header("Content-Range", range).body(&content()[from..to])
    };
    for (options, from, to, lenient, strict) in [
        ("-r 100-", 100, 200, 0, 18),
        ("-r 0-", 0, 200, 0, 18),
        ("-C 100", 100, 200, 0, 18),
        ("-r -100", 300, 400, 0, 18),
        ("-r -100", 300, 350, 33, 33),
        ("-r -100", 300, 401, 33, 33),
        ("-r 100-199", 100, 200, 0, 0),
    ] {
        let server = http_server(move |_| part(from, to));
        for (more, exit) in [("", lenient), ("--require-complete", strict)] {
            let dir = temp_dir();
            fs::write(dir.path().join("out"), &content()[..100]).expect("a file");
            let arguments = options.split(' ').chain(more.split_whitespace());
            let output: &[&str] = if options.starts_with("-C") { &["-o", "out"] } else { &[] };
            let url = server.url("/o");
            let arguments: Vec<&str> =
                arguments.chain(output.iter().copied()).chain([url.as_str()]).collect();
            let result = run_fetch_url_in(dir.path(), &arguments);
            assert_eq!(result.exit, exit, "{options} {from}-{to} {more}: {}", result.stderr);
        }
    }
}
