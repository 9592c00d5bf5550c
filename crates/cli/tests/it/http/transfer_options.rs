//! Options for how HTTP is spoken: versions, codings, the spelling of header names, Unix sockets, and the logins of
//! `--location-trusted` (docs/spec/semantics.md §3).

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::support::curl::run_curl;
use crate::support::{entry_names, http_server, read_text_file, run_fetch_url, run_fetch_url_in, temp_dir};
use fetch_url_tests::{ContentCoding, HttpResponse, encode};

#[test]
fn header_names_are_sent_in_title_case_or_as_spelt_by_the_user() {
    let server = http_server(|_| HttpResponse::new(200).body("ok"));
    let arguments =
        ["-H", "x-oNe: 1", "-H", "DNT: 1", "-H", "accept-language: de", "-e", "http://r.test/", "-d", "x"];
    run_fetch_url(arguments.iter().copied().chain([server.url("/").as_str()])).assert_exit(0);
    let request = server.requests().remove(0);
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    for name in
        ["Host", "User-Agent", "Accept", "Referer", "x-oNe", "DNT", "accept-language", "Content-Length"]
    {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert_eq!(request.body, b"x");
}

#[test]
fn fields_of_one_name_keep_their_own_spellings() {
    let server = http_server(|_| HttpResponse::new(200).body("ok"));
    let fields = ["X-A: 1", "x-a: 2", "X-B: 3", "x-A: 4", "X-A: 5"];
    let options: Vec<&str> = fields.iter().flat_map(|field| ["-H", field]).collect();
    let url = server.url("/");
    let result = run_fetch_url([&options[..], &["-v", &url]].concat());
    let request = server.requests().remove(0);
    let sent = |(name, value): &(String, Vec<u8>)| format!("{name}: {}", String::from_utf8_lossy(value));
    let sent: Vec<String> = request
        .headers
        .iter()
        .map(sent)
        .filter(|line| line.contains(['1', '2', '4', '5']) && line.to_lowercase().starts_with("x-a"))
        .collect();
    assert_eq!(sent, ["X-A: 1", "x-a: 2", "x-A: 4", "X-A: 5"]);
    for line in sent {
        result.assert_exit(0).assert_stderr_contains(&format!("> {line}\n"));
    }
}

#[test]
fn header_names_are_printed_as_the_server_spells_them() {
    let early = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
    let head = "HTTP/1.1 200 Sure\r\nX-SpelLing: one\r\nETAG: \"e\"\r\nx-spelling: two\r\nContent-length: 4\r\n\r\nbody";
    let server = http_server(move |_| HttpResponse::raw([early, head].concat()));
    let printed =
        "HTTP/1.1 200 Sure\nX-SpelLing: one\nETAG: \"e\"\nx-spelling: two\nContent-length: 4\n\nbody";
    let result = run_fetch_url(["-i", &server.url("/")]);
    assert_eq!(result.assert_exit(0).stdout_text(), printed);
    let result = run_fetch_url(["-v", "-o", "/dev/null", &server.url("/")]);
    result.assert_exit(0).assert_stderr_contains("< X-SpelLing: one");
    let result = run_fetch_url([
        "-o",
        "/dev/null",
        "-w",
        "%header{x-spelling:all:,} %{header_json}",
        &server.url("/"),
    ]);
    let text = result.assert_exit(0).stdout_text();
    assert!(text.contains("\"x-spelling\":[\"one\",\"two\"]"), "{text}");
}

#[test]
fn headers_of_redirects_are_printed_before_those_of_the_response() {
    let server = http_server(|request| match request.path().as_str() {
        "/new" => HttpResponse::new(200).header("X-At", "new").body("body"),
        path => HttpResponse::new(302).header("X-At", path).header("Location", "/new").body("moved"),
    });
    let dir = temp_dir();
    for arguments in [&["-i"][..], &["-I"], &["-D", "-", "-o", "file"]] {
        let result = run_fetch_url_in(dir.path(), arguments.iter().chain(&[server.url("/old").as_str()]));
        let text = result.assert_exit(0).stdout_text();
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is missing: {text}"));
        assert!(at("302") < at("X-At: /old") && at("X-At: /old") < at("\n\nHTTP/1.1 200"), "{text}");
        assert!(at("200") < at("X-At: new") && !text.contains("moved"), "{text}");
    }
    let result = run_fetch_url(["--no-location", "-i", &server.url("/old")]);
    assert_eq!(result.assert_exit(0).stdout_text().matches("HTTP/1.1").count(), 1);
}

#[test]
fn http_1_0_uses_a_connection_for_each_request() {
    let server = http_server(|_| HttpResponse::raw("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    let result = run_fetch_url(["-v", "-0", &server.url("/a"), &server.url("/b")]);
    result.assert_exit(0).assert_stderr_contains("GET /a HTTP/1.0");
    assert_eq!((result.stdout_text().as_str(), server.connections()), ("okok", 2));
    assert!(server.requests()[0].header("connection").is_none());
    // The last option counts.
    let result = run_fetch_url(["-v", "-0", "--http1.1", &server.url("/a")]);
    result.assert_exit(0).assert_stderr_contains("GET /a HTTP/1.1");
}

/// Serves one HTTP/2 connection without TLS: the first request gets a response without a body.
fn start_http2_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let (mut received, mut piece) = (Vec::new(), [0; 4096]);
        // SETTINGS, and after the request HEADERS with `:status: 204` and END_STREAM.
        stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).expect("sent");
        while !received.windows(9).any(|bytes| bytes[3] == 1 && bytes[5..] == [0, 0, 0, 1]) {
            let count = stream.read(&mut piece).expect("a request");
            assert!(count > 0, "no HTTP/2 request: {received:?}");
            received.extend_from_slice(&piece[..count]);
        }
        assert!(received.starts_with(b"PRI * HTTP/2.0\r\n"), "{received:?}");
        stream.write_all(&[0, 0, 1, 1, 5, 0, 0, 0, 1, 0x89]).expect("sent");
        let _ = stream.read(&mut piece);
    });
    port
}

#[test]
fn http2_with_prior_knowledge_needs_no_tls() {
    let url = format!("http://127.0.0.1:{}/", start_http2_server());
    let result = run_fetch_url(["--http2-prior-knowledge", "-w", "%{http_version} %{http_code}", &url]);
    assert_eq!(result.assert_exit(0).stdout_text(), "2 204");
    // A server that does not speak HTTP/2.
    let server = http_server(|_| HttpResponse::new(200).body("ok"));
    let result = run_fetch_url(["--http2-prior-knowledge", "--retry", "0", &server.url("/")]);
    assert!([8, 52, 7].contains(&result.exit) && result.stdout.is_empty(), "{result:?}");
}

#[test]
fn raw_body_keeps_its_chunks_and_codings() {
    let gzipped = encode(ContentCoding::Gzip, b"hello").expect("encoded");
    let body =
        [format!("{:X};x=y\r\n", gzipped.len()).as_bytes(), &gzipped, b"\r\n0\r\nT: x\r\n\r\n"].concat();
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n";
    let server = {
        let body = body.clone();
        http_server(move |_| HttpResponse::raw([head.as_bytes(), &body].concat()))
    };
    let result = run_fetch_url(["--raw", "--compressed", &server.url("/")]);
    assert_eq!(result.assert_exit(0).stdout, body);
    assert_eq!(run_fetch_url(["--compressed", &server.url("/")]).assert_exit(0).stdout, b"hello");
    // A body that breaks off fails as without the option.
    let cut = body.len() as u64 - 9;
    let server = http_server(move |_| {
        HttpResponse::raw([head.as_bytes(), &body].concat()).cut_at(head.len() as u64 + cut).then_close()
    });
    let dir = temp_dir();
    run_fetch_url_in(dir.path(), ["--raw", "--retry", "0", "-o", "f", &server.url("/")]).assert_exit(18);
    assert!(!dir.path().join("f").exists());
}

/// Content-Range counts the bytes without the sizes of the chunks.
#[test]
fn raw_part_keeps_its_chunks() {
    let body = "6\r\n345678\r\n0\r\n\r\n";
    let head =
        "HTTP/1.1 206 Partial Content\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes 3-8/10\r\n\r\n";
    let server = http_server(move |_| HttpResponse::raw(format!("{head}{body}")));
    let part = ["-r", "3-8", &server.url("/")];
    assert_eq!(run_fetch_url(part).assert_exit(0).stdout_text(), "345678");
    assert_eq!(run_fetch_url(part.into_iter().chain(["--raw"])).assert_exit(0).stdout_text(), body);
    let server = http_server(move |_| HttpResponse::raw(format!("{head}{}", &body[..8])));
    let dir = temp_dir();
    let cut = ["--raw", "--retry", "0", "-r", "3-8", "-o", "f", &server.url("/")];
    run_fetch_url_in(dir.path(), cut).assert_exit(18);
    assert!(!dir.path().join("f").exists());
}

#[test]
fn transfer_coding_is_decoded_only_with_the_option() {
    let gzipped = encode(ContentCoding::Gzip, b"hello").expect("encoded");
    let server = http_server(move |request| match request.header_text("te") {
        Some("gzip") => {
            let size = format!("{:x}\r\n", gzipped.len());
            let reply = HttpResponse::new(200).header("Transfer-Encoding", "gzip, chunked");
            reply.then_send([size.as_bytes(), &gzipped, b"\r\n0\r\n\r\n"].concat())
        }
        _ => HttpResponse::new(200).body("plain"),
    });
    assert_eq!(run_fetch_url([server.url("/")]).assert_exit(0).stdout, b"plain");
    let result = run_fetch_url(["--tr-encoding", &server.url("/")]);
    assert_eq!(result.assert_exit(0).stdout, b"hello");
    assert_eq!(server.requests()[1].header_text("connection"), Some("TE"));
    // The numbers of a range are those of the decoded bytes.
    for (content, exit) in [(&b"hello"[..], 0), (b"hell", 18), (b"hello!", 8)] {
        let gzipped = encode(ContentCoding::Gzip, content).expect("encoded");
        let server = http_server(move |_| {
            let reply = HttpResponse::new(206).header("Content-Range", "bytes 10-14/20");
            let size = format!("{:x}\r\n", gzipped.len());
            let reply = reply.header("Transfer-Encoding", "gzip, chunked");
            reply.then_send([size.as_bytes(), &gzipped, b"\r\n0\r\n\r\n"].concat())
        });
        let result = run_fetch_url(["--tr-encoding", "--retry", "0", "-r", "10-14", &server.url("/")]);
        result.assert_exit(exit);
        assert!(exit != 0 || result.stdout == content, "{result:?}");
    }
    for coding in ["br, chunked", "gzip, gzip, chunked"] {
        let server = http_server(move |_| {
            HttpResponse::new(200).header("Transfer-Encoding", coding).then_send("5\r\nhello\r\n0\r\n\r\n")
        });
        run_fetch_url(["--tr-encoding", &server.url("/")]).assert_exit(8);
    }
}

#[test]
fn content_length_can_be_ignored() {
    let server = http_server(|_| {
        HttpResponse::raw("HTTP/1.1 200 OK\r\nCONTENT-length: 2\r\nX-A: b\r\n\r\nwhole body").then_close()
    });
    assert_eq!(run_fetch_url([server.url("/")]).assert_exit(0).stdout, b"wh");
    let result = run_fetch_url(["--ignore-content-length", "-i", &server.url("/")]);
    let text = result.assert_exit(0).stdout_text();
    assert!(text.contains("\nCONTENT-length: 2\nX-A: b\n") && text.ends_with("\n\nwhole body"), "{text}");
    let strict = ["--ignore-content-length", "--require-complete", "--retry", "0"];
    run_fetch_url(strict.iter().copied().chain([server.url("/").as_str()])).assert_exit(18);
}

#[test]
fn location_trusted_sends_login_and_headers_to_other_servers() {
    let target = http_server(|_| HttpResponse::new(200).body("ok"));
    let to = target.url("/");
    let server = http_server(move |_| HttpResponse::new(302).header("Location", &to));
    let own = ["-u", "me:geheim", "-b", "a=b", "-H", "Host: first.test", "-H", "X-Key: k"];
    for (option, is_sent) in [("-L", false), ("--location-trusted", true)] {
        let url = server.url("/");
        let arguments = [&[option][..], &own, &[url.as_str()]].concat();
        run_fetch_url(&arguments).assert_exit(0);
        let request = target.requests().pop().expect("a request");
        for name in ["authorization", "cookie", "x-key"] {
            assert_eq!(request.header(name).is_some(), is_sent, "{option}: {name}");
        }
        assert_ne!(request.header_text("host"), Some("first.test"), "{option}");
        if let Some(result) = run_curl(Path::new("."), arguments.iter().copied()) {
            result.assert_exit(0);
            let of_curl = target.requests().pop().expect("a request");
            assert_eq!(request.header("authorization"), of_curl.header("authorization"), "{option}");
        }
    }
}

#[test]
fn unix_socket_replaces_host_lookup_proxy_and_connection() {
    let dir = temp_dir();
    let listener = UnixListener::bind(dir.path().join("socket")).expect("a socket");
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut head = vec![0; 4096];
        let count = stream.read(&mut head).expect("a request");
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").expect("sent");
        String::from_utf8_lossy(&head[..count]).into_owned()
    });
    let options = ["--unix-socket", "socket", "-x", "http://127.0.0.1:1/"];
    let result = run_fetch_url_in(dir.path(), options.iter().chain(&["http://no.such.host.invalid/x"]));
    assert_eq!(result.assert_exit(0).stdout, b"ok");
    let head = serving.join().expect("a request");
    assert!(head.starts_with("GET /x HTTP/1.1\r\n") && head.contains("no.such.host.invalid"), "{head}");
    for (arguments, exit) in [
        (["--unix-socket", "missing", "--retry=0", "http://h.test/"], 7),
        (["--unix-socket", "socket", "--public-only", "http://h.test/"], 90),
        (["--unix-socket", "socket", "-s", "ftp://h.test/"], 2),
    ] {
        run_fetch_url_in(dir.path(), arguments).assert_exit(exit);
    }
}

#[test]
fn keep_both_numbers_new_files_as_wget_does() {
    let server = http_server(|request| {
        let disposition = "attachment; filename=\"report\"";
        HttpResponse::new(200).header("Content-Disposition", disposition).body(request.path())
    });
    let dir = temp_dir();
    let run = |arguments: &[&str]| run_fetch_url_in(dir.path(), arguments).assert_exit(0).exit;
    let (a, b) = (server.url("/a/name"), server.url("/b/name"));
    run(&["--keep-both", "-O", &a, "-O", &b]);
    run(&["--keep-both", "-O", &a]);
    run(&["--keep-both", "-OJ", &a]);
    run(&["--keep-both", "-OJ", &b]);
    run(&["--keep-both", "-o", "name.1", &b]);
    assert_eq!(entry_names(dir.path()), ["name", "name.1", "name.1.1", "name.2", "report", "report.1"]);
    for (name, body) in
        [("name", "/a/name"), ("name.1", "/b/name"), ("name.2", "/a/name"), ("report.1", "/b/name")]
    {
        assert_eq!(read_text_file(dir.path(), name), body, "{name}");
    }
    run_fetch_url(["--keep-both", "--no-clobber", &a]).assert_exit(2);
}

#[test]
fn parallel_downloads_with_one_suggested_name_get_numbers() {
    let server = http_server(|request| {
        HttpResponse::new(200)
            .header("Content-Disposition", "attachment; filename=same")
            .body(request.path())
            .drip(1, Duration::from_millis(20))
    });
    let (dir, urls) = (temp_dir(), ["/a", "/b", "/c"].map(|path| server.url(path)));
    let outputs = urls.iter().flat_map(|url| ["-OJ", url]);
    run_fetch_url_in(dir.path(), ["-Z", "--keep-both"].into_iter().chain(outputs)).assert_exit(0);
    let mut bodies = ["same", "same.1", "same.2"].map(|name| read_text_file(dir.path(), name));
    bodies.sort();
    assert_eq!(bodies, ["/a", "/b", "/c"]);
}
