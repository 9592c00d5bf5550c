//! Limits of file descriptors (`ulimit -n`): fewer parallel transfers, or an error with a hint.

use crate::support::{entry_names, http_server, run_shell, temp_dir};
use fetch_url_tests::{FtpConfig, FtpServer, HttpResponse};

#[test]
fn parallel_transfers_with_16_descriptors_all_complete() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    for option in ["-Z", "-Z --segments 16", "--parallel-max 300 -Z"] {
        let dir = temp_dir();
        let script = format!(
            "ulimit -n 16; cd \"$2\"; exec \"$F\" {option} --retry 0 \
            $(for i in $(seq 20); do echo -o f$i \"$1/$i\"; done)"
        );
        let arguments = [server.url(""), dir.path().display().to_string()];
        run_shell(&script, arguments).assert_exit(0);
        assert_eq!(entry_names(dir.path()).len(), 20, "{option}");
    }
}

/// Idle connections to earlier servers do not use up the descriptors.
#[test]
fn many_hosts_one_after_the_other_complete_with_few_descriptors() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    let ftp = FtpServer::start(FtpConfig::new().file("/f", "x")).expect("a server");
    for (url, address) in [("http://$i.test/f", server.addr()), ("ftp://$i.test/f", ftp.addr())] {
        let dir = temp_dir();
        let script = format!(
            "ulimit -n 24; cd \"$2\"; exec \"$F\" --retry 0 --connect-to \"::$1\" $(for i in $(seq 30); do echo -o f$i {url}; done)"
        );
        run_shell(&script, [address.to_string(), dir.path().display().to_string()]).assert_exit(0);
        assert_eq!(entry_names(dir.path()).len(), 30, "{url}");
    }
}

#[test]
fn too_few_descriptors_exit_23_with_a_hint() {
    let server = http_server(|_| HttpResponse::new(200).body("x"));
    let dir = temp_dir();
    for limit in 5..=12 {
        let script = format!("cd \"$2\"; ulimit -n {limit}; exec \"$F\" -o x --retry 0 \"$1\"");
        let result = run_shell(&script, [server.url("/"), dir.path().display().to_string()]);
        // The test may run with more open descriptors than 0, 1 and 2, but never with fewer.
        result.assert_exit(23).assert_stderr_contains("ulimit -n");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn mirror_and_batch_with_few_descriptors_complete_or_exit_23_with_a_hint() {
    let server = http_server(|request| {
        match request.target.as_slice() {
        b"/" => HttpResponse::new(200).header("Content-Type", "text/html").body(
            "<title>Index of /</title><a href=a>a</a> 28-Nov-2026 01:00 1<br><a href=b>b</a> 28-Nov-2026 01:00 1",
        ),
        _ => HttpResponse::new(200).body("x"),
    }
    });
    for command in [
        "mirror \"$1\" files",
        "mirror -Z --trace trace --events events \"$1\" files",
        "-Z --input-file list --create-dirs --output-dir files",
        "-Z --input-file list --create-dirs --output-dir files --trace trace -D heads",
    ] {
        let mut completed = 0;
        for limit in 12..=24 {
            let dir = temp_dir();
            let script = format!(
                "ulimit -n {limit}; cd \"$2\"; echo \"${{1}}a\" >list; exec \"$F\" {command} --retry 0"
            );
            let result = run_shell(&script, [server.url(""), dir.path().display().to_string()]);
            if result.exit == 0 {
                assert!(dir.path().join("files/a").exists(), "{command} {limit}");
                completed += 1;
            } else {
                result.assert_exit(23).assert_stderr_contains("too few file descriptors");
                assert_eq!(completed, 0, "{command} {limit}");
            }
        }
        assert_ne!(completed, 0, "{command}");
    }
}
