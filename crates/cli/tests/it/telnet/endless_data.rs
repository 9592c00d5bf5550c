//! Telnet servers that send endless data: memory stays constant, and the session does not block.

use std::time::{Duration, Instant};

use fetch_url_tests::peak_memory;

use crate::support::telnet_server::{DO, IAC, TelnetServer, WILL};
use crate::support::{check_in_parallel, ensure, run_shell, spawn_fetch_url, wait_for_exit};

/// Endless lines, subnegotiations and option requests, with a server that reads the replies and one that does not.
#[test]
fn endless_server_data_does_not_grow_memory() {
    const MIB: usize = 1 << 20;
    type Flood = (&'static str, &'static [u8], &'static [u8]);
    let rows: [Flood; 5] = [
        ("endless line", b"", b"xxxxxxxxxxxxxxxx"),
        ("endless subnegotiation", &[IAC, 250, 24, 1], b"xxxxxxxxxxxxxxxx"),
        ("endless options", b"", &[IAC, WILL, 1, IAC, DO, 24, IAC, 241, IAC, WILL, 31]),
        ("endless timing marks", b"", &[IAC, DO, 6]),
        // The replies fill the buffers of both sides.
        ("endless timing marks, replies not read", b"", &[IAC, DO, 6]),
    ];
    check_in_parallel(&rows, 4, |&(name, first, again)| {
        let ignores_replies = name.ends_with("not read");
        let size = match name {
            _ if ignores_replies => 64 * MIB,
            _ if name == "endless line" => 100 * MIB,
            _ => 4 * MIB,
        };
        let server = TelnetServer::start(move |connection| {
            connection.send(first);
            let block = again.repeat(65536 / again.len());
            for _ in 0..size / block.len() {
                if !connection.try_send(&block) {
                    return;
                }
                if !ignores_replies {
                    connection.discard_received();
                }
            }
            connection.receive_to_end();
        });
        let start = Instant::now();
        let child =
            spawn_fetch_url(["--connect", "-m", if ignores_replies { "1.5" } else { "20" }, &server.url()]);
        let mut peak = 0;
        let id = child.id();
        let is_sent = || {
            peak = peak_memory(id).unwrap_or(peak);
            server.bytes_sent() >= size - 65536 || peak_memory(id).is_none()
        };
        crate::support::wait_until(Duration::from_secs(20), is_sent);
        peak = peak_memory(id).unwrap_or(peak);
        crate::support::send_signal(&child, "TERM");
        let result = wait_for_exit(child);
        ensure(peak < 60 << 20, || format!("{name}: {peak} bytes, {result:?}"))?;
        ensure(start.elapsed() < Duration::from_secs(20), || {
            format!("{name}: {:?} {result:?}", start.elapsed())
        })?;
        ensure(result.exit != 99 && !result.stderr.contains("panicked"), || format!("{name}: {result:?}"))
    });
}

/// The server sends 3 MiB before it reads the 3 MB from the client.
#[test]
fn client_and_server_sending_at_once_do_not_deadlock() {
    const SIZE: usize = 3 << 20;
    let server = TelnetServer::start(|connection| {
        let block = [b"0123456789abcde\r\n".as_slice(); 512].concat();
        for _ in 0..SIZE / block.len() {
            connection.send(&block);
        }
        connection.wait_for(b"last\r\n");
    });
    let script = "{ yes $(head -c 3000 /dev/zero | tr '\\0' x) | head -c 3000000; echo; echo last; } | \"$F\" --retry 0 -m 15 --connect \"$1\" | wc -c";
    let result = run_shell(script, [server.url()]);
    let count: usize = result.assert_exit(0).stdout_text().trim().parse().expect("number");
    assert_eq!(count, SIZE / (17 * 512) * (16 * 512), "{}", result.stderr);
    assert!(server.received().ends_with(b"last\r\n"));
}

#[test]
fn full_output_device_ends_the_session_with_23() {
    let server = TelnetServer::start(|connection| {
        connection.send(b"hello\r\n");
        connection.receive_to_end();
    });
    let script = "\"$F\" --retry 0 -m 1.5 --connect \"$1\" >/dev/full </dev/null";
    run_shell(script, [server.url()]).assert_exit(23);
}
