//! Items that link to other servers, and items without content.

use crate::live::gopher_server::{GopherServer, each_gopher_server};
use crate::live::server::NGINX;
use crate::live::work_dir::{WorkDir, fetch, key};

each_gopher_server![
    http_link_is_followed,
    gopher_link_is_followed,
    file_link_exits_90,
    link_is_not_followed_with_max_redirs_0,
    link_sends_no_gopher_request,
    telnet_and_tn3270_items_print_advice,
    cso_item_prints_advice,
    error_and_info_items_are_errors,
];

fn http_link_is_followed(server: GopherServer) {
    let target = NGINX.http("/hello.txt");
    for path in [format!("/hURL:{target}"), format!("/h/URL:{target}"), format!("/hURL%3A{target}")] {
        fetch(&[&server.url(&path)]).assert_exit(0).assert_stdout("Hello, world\n");
    }
    let key = key();
    fetch(&[&server.url(&format!("/hURL:{}", NGINX.http(&format!("/headers?{key}"))))])
        .assert_exit(0)
        .assert_stderr_contains("");
    assert!(NGINX.logged(&key).contains(&format!("/headers?{key}")), "{}", NGINX.logged(&key));
    let dir = WorkDir::new();
    dir.fetch(&["-o", "here", &server.url(&format!("/hURL:{target}"))]).assert_exit(0);
    assert_eq!(dir.read("here"), b"Hello, world\n");
}

fn gopher_link_is_followed(server: GopherServer) {
    let target = server.url("/0/about.txt");
    fetch(&[&server.url(&format!("/hURL:{target}"))])
        .assert_exit(0)
        .assert_stdout(server.answer("/about.txt"));
}

/// A server cannot make fetch-url open a local file.
fn file_link_exits_90(server: GopherServer) {
    for target in ["file:///etc/hostname", "file://localhost/etc/hostname"] {
        let dir = WorkDir::new();
        dir.fetch(&["-o", "here", &server.url(&format!("/hURL:{target}"))]).assert_exit(90);
        dir.assert_entries(&[]);
    }
}

fn link_is_not_followed_with_max_redirs_0(server: GopherServer) {
    let url = server.url(&format!("/hURL:{}", NGINX.http("/hello.txt")));
    let result = fetch(&["--max-redirs", "0", &url]);
    assert_ne!(result.out, b"Hello, world\n", "it was followed");
}

fn link_sends_no_gopher_request(server: GopherServer) {
    let (key, watch) = (key(), server.watch());
    fetch(&[&server.url(&format!("/hURL:{}", NGINX.http(&format!("/hello.txt?{key}"))))]).assert_exit(0);
    server.answer(format!("/{key}-last"));
    watch.line(&format!("{key}-last"));
    assert_eq!(watch.all(&key).len(), 1);
    // Only items of type `h` can be links; here `URL:` is part of the selector.
    fetch(&[&server.url(&format!("/0URL:{key}"))]);
    watch.line(&format!("URL:{key}"));
}

/// fetch-url prints how to start the session and opens no connection.
fn telnet_and_tn3270_items_print_advice(server: GopherServer) {
    let (key, watch) = (key(), server.watch());
    let port = server.port().to_string();
    for (gtype, program) in [("8", "telnet"), ("T", "tn3270")] {
        let result = fetch(&[&server.url(&format!("/{gtype}{key}"))]).assert_exit(0);
        let text = result.text();
        for part in [program, "127.0.0.1", &port, &key] {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }
    server.answer(format!("/{key}-last"));
    watch.line(&format!("{key}-last"));
    assert_eq!(watch.all(&key).len(), 1, "{:?}", watch.all(&key));
}

fn cso_item_prints_advice(server: GopherServer) {
    let result = fetch(&[&server.url("/2")]).assert_exit(0);
    let text = result.text();
    for part in ["CSO", "127.0.0.1", &server.port().to_string()] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

fn error_and_info_items_are_errors(server: GopherServer) {
    fetch(&[&server.url("/3no%20such%20item")]).assert_exit(78).assert_stdout("");
    let result = fetch(&[&server.url("/ia%20line")]).assert_stdout("");
    assert_ne!(result.exit, 0, "{}", result.err);
}
