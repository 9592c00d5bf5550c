//! Servers, streams, messages and options that cannot be used.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use fetch_url_tests::{HttpResponse, HttpServer, ReservedPort, sha256};

use super::nats::NatsServer;
use super::{Site, run_queue};

/// Runs a sub-command and checks its exit status and a part of its message.
fn check(arguments: &[&str], exit: i32, message: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("list"), "http://h.example/a\n").expect("written");
    check_in(directory.path(), arguments, exit, message);
}

fn check_in(directory: &Path, arguments: &[&str], exit: i32, message: &str) {
    let result = run_queue(directory, arguments);
    assert_eq!(result.exit, exit, "{arguments:?}: {}", result.stderr);
    assert!(result.stderr.contains(message), "{arguments:?}: {}", result.stderr);
}

#[test]
fn wrong_address_is_refused_and_its_password_is_not_repeated() {
    check(&["status", "http://h/corpus"], 2, "must be nats://HOST");
    check(&["status", "nats://h/a.b"], 2, "must end with a name");
    let directory = tempfile::tempdir().expect("a directory");
    let result = run_queue(directory.path(), &["status", "nats://me:secret@h/corpus"]);
    assert_eq!(result.exit, 2);
    assert!(
        result.stderr.contains("--nats-password-file") && !result.stderr.contains("secret"),
        "{}",
        result.stderr
    );
}

#[test]
fn server_that_is_missing_or_speaks_another_protocol_is_an_error() {
    let port = ReservedPort::tcp().expect("a port");
    check(&["status", &format!("nats://{}/corpus", port.addr())], 7, "refused");
    let http = HttpServer::start(|_| HttpResponse::new(200)).expect("a server");
    check(&["status", &format!("nats://{}/corpus", http.addr())], 28, "timed out");
}

#[test]
fn server_that_closes_the_new_connection_is_an_error_of_the_connection() {
    let info: &[u8] =
        b"INFO {\"server_id\":\"x\",\"version\":\"2.9.10\",\"max_payload\":1048576,\"headers\":true}\r\n";
    for greeting in [&b""[..], info] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            listener.incoming().flatten().for_each(|mut stream| drop(stream.write_all(greeting)));
        });
        check(&["status", &format!("nats://{address}/corpus")], 7, "cannot connect");
    }
}

#[test]
fn server_without_jetstream_is_an_error() {
    let Some(nats) = NatsServer::start_with("") else { return };
    check(&["status", &nats.queue("corpus")], 1, "JetStream is not enabled");
}

#[test]
fn stream_of_another_program_and_newer_queue_are_refused_and_kept() {
    let Some(nats) = NatsServer::start() else { return };
    nats.create_stream("orders", "the orders of a shop");
    nats.create_stream("newer", "fetch-url queue v9 buckets=1");
    for (name, message) in [("orders", "another program"), ("newer", "version 9")] {
        let queue = nats.queue(name);
        check(&["add", &queue, "--input-file", "list"], 2, message);
        check(&["drop", &queue], 2, message);
        check(&["status", &queue], 2, message);
    }
}

#[test]
fn missing_permission_is_an_error_that_names_the_subject() {
    let config = "jetstream {}\nauthorization { users: [ { user: me, password: secret, permissions: { publish: { deny: [\"corpus.h.>\"] } } } ] }\n";
    let Some(nats) = NatsServer::start_with(config) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let password = directory.path().join("password");
    fs::write(&password, "secret\n").expect("written");
    fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).expect("set");
    fs::write(directory.path().join("list"), "http://h.example/a\n").expect("written");
    let queue = nats.queue("corpus");
    let login = ["--nats-user", "me", "--nats-password-file", "password"];
    let add = [&["add", &queue, "--input-file", "list"][..], &login].concat();
    check_in(directory.path(), &add, 9, "corpus.h.");
    fs::write(&password, "wrong\n").expect("written");
    let result = run_queue(directory.path(), &add);
    assert_eq!(result.exit, 67, "{}", result.stderr);
    assert!(!result.stderr.contains("wrong"), "{}", result.stderr);
    fs::set_permissions(&password, fs::Permissions::from_mode(0o644)).expect("set");
    check_in(directory.path(), &add, 2, "other users can read the file");
}

#[test]
fn full_queue_is_an_error_and_the_stored_lines_stay() {
    let Some(nats) = NatsServer::start() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let lines: Vec<String> = (0..2000).map(|number| format!("http://h.example/{number}\n")).collect();
    fs::write(directory.path().join("list"), lines.concat()).expect("written");
    let queue = nats.queue("corpus");
    let add = ["add", &queue, "--input-file", "list", "--max-queue-size", "20k"];
    check_in(directory.path(), &add, 63, "maximum bytes exceeded");
    let status = run_queue(directory.path(), &["status", &queue]).text();
    assert!(!status.starts_with("waiting 0 "), "{status}");
}

#[test]
fn message_that_is_no_line_is_recorded_as_failed_and_others_are_fetched() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    site.nats.publish_to_queue("h.3.0123", "garbage");
    site.nats.publish_to_queue("h.4.4567", r#"{"v":1,"urls":["http://h/x"],"file":"../../x"}"#);
    assert_eq!(site.work(&[]).exit, 0);
    site.check_files(&["a"]);
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (1, 2, 0));
    let failed = site.run(&["failed", &site.queue()]).text();
    assert!(
        failed.lines().all(|line| line.starts_with("# 2 usage, 1 try: the message is not a line")),
        "{failed}"
    );
    assert!(!site.directory.path().join("x").exists());
}

#[test]
fn line_of_a_newer_version_stays_in_the_queue() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    site.nats.publish_to_queue("h.3.0123", r#"{"v":2,"sources":[]}"#);
    let worked = site.work(&[]);
    assert_eq!(worked.exit, 1, "{}", worked.stderr);
    assert!(worked.stderr.contains("newer fetch-url"), "{}", worked.stderr);
    site.check_files(&["a"]);
    assert_eq!((site.count("done"), site.count("in_flight"), site.count("failed")), (1, 1, 0));
}

#[test]
fn worker_with_another_directory_is_refused() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    assert_eq!(site.work(&[]).exit, 0);
    fs::create_dir(site.directory.path().join("other")).expect("created");
    let queue = site.queue();
    let arguments = ["work", &queue, "--output-dir", "other"];
    check_in(site.directory.path(), &arguments, 2, "write to another directory");
    check_in(site.directory.path(), &["work", &queue, "--output-dir", "none"], 23, "none/.fetch-url-queue");
}

#[test]
fn missing_directory_is_created_with_create_dirs_only() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    fs::remove_dir(site.out()).expect("removed");
    assert_eq!(site.work(&[]).exit, 23);
    assert!(!site.out().exists());
    assert_eq!(site.work(&["--create-dirs"]).exit, 0);
    assert!(site.out().join("a").exists());
}

#[test]
fn options_that_make_no_sense_are_refused_by_name() {
    let queue = "nats://127.0.0.1:1/corpus";
    for (option, value) in [
        ("-o", Some("x")),
        ("--input-file", Some("list")),
        ("-C", Some("-")),
        ("--next", None),
        ("--dry-run", None),
        ("--keep-both", None),
        ("--no-clobber", None),
        ("-K", Some("config")),
        ("-q", None),
    ] {
        let mut arguments = vec!["work", queue, "--output-dir", "out", option];
        arguments.extend(value);
        let message = if option == "--next" { "--next" } else { option };
        check(&arguments, 2, message);
    }
    check(&["work", queue], 2, "needs --output-dir");
    check(&["work", queue, "http://h/", "--output-dir", "out"], 2, "takes one queue");
}

#[test]
fn file_outside_the_output_directory_is_refused_when_it_is_added() {
    let Some(nats) = NatsServer::start() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    for file in ["../x", "/tmp/x"] {
        fs::write(directory.path().join("list"), format!("http://h.example/a\t{file}\n")).expect("written");
        let add = ["add", &nats.queue("corpus"), "--input-file", "list"];
        check_in(directory.path(), &add, 2, "not below the output directory");
    }
}

#[test]
fn line_with_a_foreign_message_in_its_place_of_the_record_is_fetched() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    // The subject of the entry of a line ends with the digest of the line.
    let digest = sha256(format!("{}\tb", site.http.url("b")).as_bytes());
    site.nats.publish_to_queue(&format!("r.{}", &digest[..32]), "garbage");
    assert_eq!(site.add(&["b"]), "added 1; already waiting 0; already done 0; already failed 0\n");
    site.work(&[]).assert_exit(0);
    site.check_files(&["a", "b"]);
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (2, 0, 0));
    assert_eq!(site.add(&["b"]), "added 0; already waiting 0; already done 1; already failed 0\n");
}

#[test]
fn message_of_a_bucket_that_does_not_exist_is_recorded_as_failed() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    site.nats.publish_to_queue("h.999.0123", "garbage");
    site.nats.publish_to_queue("h.03.4567", r#"{"v":1,"urls":["http://h/x"]}"#);
    site.nats.publish_to_queue("h.x.a-b", "garbage");
    // A line at the subject that a queue of more buckets has: it can be added again.
    let line = format!("{}\tb", site.http.url("b"));
    let message = format!(r#"{{"v":1,"urls":["{}"],"file":"b"}}"#, site.http.url("b"));
    site.nats.publish_to_queue(&format!("h.999.{}", &sha256(line.as_bytes())[..32]), &message);
    site.work(&[]).assert_exit(0);
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (1, 3, 0));
    let failed = site.run(&["failed", &site.queue()]).text();
    assert_eq!(failed.matches("# 2 usage, 0 tries: ").count(), 3, "{failed}");
    let retried = site.run(&["failed", &site.queue(), "--retry"]).text();
    assert_eq!(retried, "added 1 again; already waiting 0; already done 0\n");
    site.work(&[]).assert_exit(0);
    site.check_files(&["a", "b"]);
}

#[test]
fn result_that_is_larger_than_the_server_accepts_is_shortened() {
    let Some(nats) = NatsServer::start_with("jetstream {}\nmax_payload: 65536\n") else { return };
    let site = Site::on(nats, |_| HttpResponse::new(404));
    // The URL is in the line, in the message and beside them.
    let line = format!("{}\tx\n", site.http.url(&"a".repeat(40_000)));
    fs::write(site.directory.path().join("list"), &line).expect("written");
    site.run(&["add", &site.queue(), "--input-file", "list"]).assert_exit(0);
    // This URL is too long to be fetched, and the whole message too long to be kept.
    let message = format!(r#"{{"v":1,"urls":["{}"]}}"#, site.http.url(&"b".repeat(65_000)));
    site.nats.publish_to_queue("h.3.0123", &message);
    site.work(&[]);
    assert_eq!((site.count("failed"), site.count("waiting"), site.count("in_flight")), (2, 0, 0));
    let failed = site.run(&["failed", &site.queue()]).text();
    assert!(failed.contains(&format!("\n{line}")) && failed.matches("# ").count() == 2);
}

#[test]
fn numbers_of_foreign_worker_states_do_not_overflow() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    for worker in ["x", "y"] {
        let state = r#"{"v":1,"name":"x","rate":18446744073709551615,"bytes":18446744073709551615}"#;
        site.nats.publish_to_queue(&format!("w.{worker}"), state);
    }
    assert_eq!(site.count("bytes"), u64::MAX);
}

#[test]
fn message_whose_file_has_no_name_fails_at_once() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    for (number, file) in ["", ".", "d/"].into_iter().enumerate() {
        let message = format!(r#"{{"v":1,"urls":["{}"],"file":"{file}"}}"#, site.http.url("b"));
        site.nats.publish_to_queue(&format!("h.3.{number}"), &message);
    }
    site.work(&[]).assert_exit(0);
    site.check_files(&["a"]);
    let failed = site.run(&["failed", &site.queue()]).text();
    assert_eq!(failed.matches("# 2 usage, 1 try: the message is not a line").count(), 3, "{failed}");
}

#[test]
fn message_with_control_characters_adds_nothing_to_the_list_of_failed_lines() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    let url = site.http.url("missing");
    let messages = [
        format!(r#"{{"v":1,"urls":["{url}\n{url}\t../x"],"file":"y"}}"#),
        format!(r#"{{"v":1,"urls":["{url} http://h/"],"file":"y"}}"#),
        format!(r#"{{"v":1,"urls":["{url}"],"file":"y\n{url}\tx"}}"#),
        format!(r#"{{"v":1,"urls":["{url}"],"file":"y\u001b]0;x\u0007"}}"#),
    ];
    for (number, message) in messages.iter().enumerate() {
        site.nats.publish_to_queue(&format!("h.3.{number}"), message);
    }
    let entry = r#"{"v":1,"state":"failed","code":"\u001b[2J\nx","exit_status":2,"message":"\nx\u001b"}"#;
    site.nats.publish_to_queue("f.9", entry);
    site.work(&[]).assert_exit(0);
    let failed = site.run(&["failed", &site.queue()]).text();
    assert!(failed.lines().all(|line| line.starts_with("# 2 ")), "{failed}");
    assert!(!failed.contains('\u{1b}') && failed.lines().count() == 5, "{failed}");
}

#[test]
fn line_cannot_overwrite_the_file_that_identifies_the_output_directory() {
    let Some(site) = Site::start() else { return };
    let list = site.directory.path().join("list");
    fs::write(&list, format!("{}\t.fetch-url-queue\n", site.http.url("a"))).expect("written");
    let add = ["add", &site.queue(), "--input-file", "list"];
    check_in(site.directory.path(), &add, 2, "identifies the output directory");
    // The name of a file that is made from a URL has no leading dot.
    fs::write(&list, format!("{}\n", site.http.url(".fetch-url-queue"))).expect("written");
    assert_eq!(site.run(&add).exit, 0);
    site.work(&[]).assert_exit(0);
    let marker = fs::read_to_string(site.out().join(".fetch-url-queue")).expect("a marker");
    assert!(marker.len() < 100, "{marker}");
    assert_eq!(site.count("done"), 1);
}

#[test]
fn line_that_is_too_long_for_the_server_is_named_and_reaches_a_limit() {
    let Some(nats) = NatsServer::start_with("jetstream {}\nmax_payload: 4096\n") else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let list = format!("http://me:secret@h.example/long/{}\tlong\n", "x".repeat(5000));
    fs::write(directory.path().join("list"), list).expect("written");
    let result = run_queue(directory.path(), &["add", &nats.queue("corpus"), "--input-file", "list"]);
    result.assert_exit(63).assert_stderr_contains("h.example/long/xxx");
    assert!(!result.stderr.contains("secret") && result.stderr.contains("max_payload"), "{}", result.stderr);
}
