//! Telnet servers that say more than anybody can use: memory stays flat, and nobody waits for ever.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;
#[path = "support/telnet_peer.rs"]
mod telnet_peer;

use std::time::{Duration, Instant};

use support::{ended, ensure, in_parallel, shell, started};
use telnet_peer::{DO, IAC, Peer, WILL};

/// The most memory that a child has had, in KiB.
fn peak(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Memory does not grow with what a server says, and it does not hold up the session.
#[test]
fn floods() {
    const MIB: usize = 1 << 20;
    type Flood = (&'static str, &'static [u8], &'static [u8]);
    let rows: [Flood; 5] = [
        ("a line without an end", b"", b"xxxxxxxxxxxxxxxx"),
        ("a subnegotiation without an end", &[IAC, 250, 24, 1], b"xxxxxxxxxxxxxxxx"),
        ("options without an end", b"", &[IAC, WILL, 1, IAC, DO, 24, IAC, 241, IAC, WILL, 31]),
        ("the time, again and again", b"", &[IAC, DO, 6]),
        // Its answers pile up, on one side or on the other.
        ("the time, and nobody listens", b"", &[IAC, DO, 6]),
    ];
    in_parallel(&rows, 4, |&(name, first, again)| {
        let is_deaf = name.ends_with("listens");
        let size = match name {
            _ if is_deaf => 64 * MIB,
            _ if name.starts_with("a line") => 100 * MIB,
            _ => 4 * MIB,
        };
        let peer = Peer::start(move |line| {
            line.send(first);
            let block = again.repeat(65536 / again.len());
            for _ in 0..size / block.len() {
                if !line.sends(&block) {
                    return;
                }
                if !is_deaf {
                    line.skim();
                }
            }
            line.read_all();
        });
        let began = Instant::now();
        let child = started(["--connect", "-m", if is_deaf { "1.5" } else { "20" }, &peer.url()]);
        let mut most = 0;
        let id = child.id();
        let is_full = || {
            most = most.max(peak(id).unwrap_or(0));
            peer.sent() >= size - 65536 || peak(id).is_none()
        };
        support::until(Duration::from_secs(20), is_full);
        most = most.max(peak(id).unwrap_or(0));
        support::send_signal(&child, "TERM");
        let ran = ended(child);
        ensure(most < 60 * 1024, || format!("{name}: {most} KiB, {ran:?}"))?;
        ensure(began.elapsed() < Duration::from_secs(20), || {
            format!("{name}: {:?} {ran:?}", began.elapsed())
        })?;
        ensure(ran.exit != 99 && !ran.stderr.contains("panicked"), || format!("{name}: {ran:?}"))
    });
}

/// Both talk and the server does not listen yet: nobody waits for the other for ever.
#[test]
fn both_at_once() {
    const SIZE: usize = 3 << 20;
    let peer = Peer::start(|line| {
        let block = [b"0123456789abcde\r\n".as_slice(); 512].concat();
        for _ in 0..SIZE / block.len() {
            line.send(&block);
        }
        line.wait_for(b"last\r\n");
    });
    let script = "{ yes $(head -c 3000 /dev/zero | tr '\\0' x) | head -c 3000000; echo; echo last; } | \"$F\" --retry 0 -m 15 --connect \"$1\" | wc -c";
    let ran = shell(script, [peer.url()]);
    let count: usize = ran.exits(0).text().trim().parse().expect("a number");
    assert_eq!(count, SIZE / (17 * 512) * (16 * 512), "{}", ran.stderr);
    assert!(peer.seen().ends_with(b"last\r\n"));
}
/// What cannot be written is an end, whatever the server still wants.
#[test]
fn nobody_to_show_it_to() {
    let peer = Peer::start(|line| {
        line.send(b"hello\r\n");
        line.read_all();
    });
    let script = "\"$F\" --retry 0 -m 1.5 --connect \"$1\" >/dev/full </dev/null";
    shell(script, [peer.url()]).exits(23);
}
