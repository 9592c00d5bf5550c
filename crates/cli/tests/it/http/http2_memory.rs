//! Memory of HTTP/2 connections (docs/spec/faults.md, rule N8).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fetch_url_tests::ServerCert;
use fetch_url_tests::http2::{http2_server, send_within_windows};

use crate::support::{run_measuring_memory, temp_dir};

/// Parallel transfers from as many servers, each of which sends as fast as flow control allows.
const SERVERS: usize = 16;
/// Maximum peak memory, in KiB. A debug build needs 30 MiB for the program itself.
const MAX_MEMORY: u64 = 64 << 10;

#[test]
fn bodies_from_16_servers_that_are_read_slowly_fit_into_64_mib() {
    let (directory, cert) = (temp_dir(), ServerCert::good().expect("a certificate"));
    let files = cert.write_files().expect("the files of the certificate");
    let sent = Arc::new(AtomicUsize::new(0));
    let mut arguments: Vec<String> =
        ["-Z", "--parallel-max", "16", "--limit-rate", "1M", "--max-time", "4", "--cacert"]
            .map(str::to_owned)
            .into();
    arguments.push(files.ca.display().to_string());
    for number in 0..SERVERS {
        let sent = Arc::clone(&sent);
        let address = http2_server(&cert, move |_, stream| send_within_windows(stream, 1 << 25, &sent));
        let port = address.expect("a server").port();
        let path = directory.path().join(number.to_string()).display().to_string();
        arguments.extend(["-o".to_owned(), path, format!("https://localhost:{port}/")]);
    }
    let (peak, result) = run_measuring_memory(arguments);
    result.assert_exit(28);
    assert!(peak > 0 && peak <= MAX_MEMORY, "{peak} KiB");
    let sent = sent.load(Ordering::SeqCst);
    assert!(sent >= SERVERS * 65_535, "the windows were not filled: {sent} bytes");
}
