//! Limits on memory and input size of gopher answers (docs/spec/faults.md, rows 83, 84 and 101).

use std::time::{Duration, Instant};

use super::{fetch_with_short_timeouts, run_to_file, start_server};
use fetch_url_tests::{GopherAction, GopherConfig, GopherItem, GopherLength, GopherTrigger, OldFile};

/// The memory limit of rule N8 (docs/spec/faults.md), in KiB.
const MAX_MEMORY: u64 = 64 * 1024;

/// Fetches a menu with this number of items and returns the peak memory in KiB.
fn memory_of_large_menu(items: u64, format: &str) -> u64 {
    let server = start_server(GopherConfig::new().item(GopherItem::generated_menu("/c", items)));
    let (result, memory, content) = run_to_file(OldFile::Absent, &["--format", format, &server.url("1/c")]);
    result.assert_exit(0);
    let text = String::from_utf8(content.unwrap_or_default()).expect("valid UTF-8");
    let last = format!("entry {:07}", items - 1);
    assert!(text.contains("entry 0000000") && text.contains(&last), "{format}");
    assert!(text.lines().count() as u64 >= items, "{format}: {}", text.lines().count());
    assert!(memory > 0 && memory < MAX_MEMORY, "{format}: {memory} KiB");
    memory
}

/// docs/spec/faults.md, row 84: menus are not collected in memory. A debug build formats fewer items, but enough to
/// show a growth of memory.
#[test]
fn menu_of_a_million_items_is_streamed() {
    const ITEMS: u64 = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
    memory_of_large_menu(1_000_000, "raw");
    for format in ["text", "json"] {
        // With fewer items the process could exit before its memory is measured.
        let (few, many) = (memory_of_large_menu(2_000, format), memory_of_large_menu(ITEMS, format));
        assert!(many < few + 4 * 1024, "{format}: {few} and {many} KiB");
    }
}

/// docs/spec/faults.md, rows 83 and 84: the line length is limited in every answer that consists of lines.
#[test]
fn menu_line_of_a_gibibyte_exits_63() {
    const PIECE: &[u8] = &[b'x'; 1024];
    let long = |start: &str| GopherConfig::new().item(GopherItem::repeated('1', "/m", start, PIECE, 1 << 20));
    let (start, limit) = (Instant::now(), Duration::from_secs(10));
    let rows = [
        (long("1"), "1/m"),
        (long(""), "7/m%09x"),
        (long("+-1\r\n1"), "1/m%09%09+"),
        (long("+-2\r\n+INFO: 1"), "1/m%09%09!"),
        (long("+-1\r\n+INFO: 1m\t/m\th\t70\r\n+X:\r\n "), "1/m%09%09$"),
    ];
    for (config, path) in rows {
        let server = start_server(config);
        for format in ["text", "json"] {
            let (result, memory, _) = run_to_file(OldFile::Present, &["--format", format, &server.url(path)]);
            result.assert_exit(63);
            assert!(
                result.stderr.contains("line"),
                "{path}: the message does not mention the line: {}",
                result.stderr
            );
            assert!(memory > 0 && memory < MAX_MEMORY, "{path}: {memory} KiB");
        }
        assert!(server.bytes_sent() < 16 << 20, "{path}: {} bytes", server.bytes_sent());
    }
    assert!(start.elapsed() < limit, "{:?}", start.elapsed());
}

/// The line length limit does not apply to texts: they are streamed, not split into lines.
#[test]
fn text_of_one_long_line_is_streamed() {
    let item = |kind| GopherItem::repeated(kind, "/t", ".", &[b'x'; 1024], 64 << 10);
    for (config, path) in [
        (GopherConfig::new().item(item('0')), "0/t"),
        (GopherConfig::new().item(item('0')), "m/t"),
        (GopherConfig::new().plus().item(item('0')), "0/t%09%09+"),
        (GopherConfig::new().plus().item(item('0').length(GopherLength::Dot)), "0/t%09%09+"),
    ] {
        let (result, memory, content) = run_to_file(OldFile::Absent, &[&start_server(config).url(path)]);
        result.assert_exit(0);
        let content = content.unwrap_or_default();
        assert!(
            content.starts_with(b".xxx") && content.trim_ascii_end().ends_with(b"xxx"),
            "{path}: {}",
            content.len()
        );
        assert!(memory > 0 && memory < MAX_MEMORY, "{path}: {memory} KiB");
    }
}

/// docs/spec/faults.md, rows 83 and 101: endless data after the terminator or after the announced length.
#[test]
fn data_after_the_terminator_is_not_buffered() {
    let flood = |start: &[u8]| {
        let config = GopherConfig::new().answer(start);
        config.on(GopherTrigger::Any, GopherAction::Flood(vec![b'x'; 64 << 10], 2 << 10))
    };
    let rows = [
        (flood(b"a\r\n.\r\n"), "0/t", ["--gopher-dots", "rfc1436"]),
        (flood(b"+3\r\na\r\n"), "0/t%09%09+", ["--gopher-dots", "auto"]),
        (flood(b"3No\t\thost\t1\r\n"), "1/t", ["--gopher-dots", "auto"]),
        (flood(b"-3\r\n1 x"), "0/t%09%09+", ["--gopher-dots", "auto"]),
    ];
    for (config, path, dots) in rows {
        let server = start_server(config);
        let (result, memory, _) = run_to_file(OldFile::Present, &[dots[0], dots[1], &server.url(path)]);
        assert!([0, 63, 78].contains(&result.exit), "{path}: {} {}", result.exit, result.stderr);
        assert!(memory > 0 && memory < MAX_MEMORY, "{path} {}: {memory} KiB", dots[1]);
    }
}

/// Empty lines count towards the limits, and `--max-time` applies while data arrives.
#[test]
fn endless_data_is_stopped_by_limits_and_timeouts() {
    let server_with_empty_lines = |times| {
        start_server(
            GopherConfig::new()
                .answer("+-1\r\n")
                .on(GopherTrigger::Any, GopherAction::Flood(b"\r\n".repeat(4096), times)),
        )
    };
    fetch_with_short_timeouts("--retry 0", &server_with_empty_lines(10_000).url("1/a%09%09$"))
        .assert_exit(63);
    let server_with_extra_bytes = |times| {
        start_server(
            GopherConfig::new()
                .answer("one\r\n.\r\n")
                .on(GopherTrigger::Any, GopherAction::Flood(vec![b'x'; 4096], times)),
        )
    };
    let start = Instant::now();
    assert_eq!(
        fetch_with_short_timeouts("--gopher-dots rfc1436", &server_with_extra_bytes(1_000_000).url("0/a"))
            .assert_exit(0)
            .stdout_text(),
        "one\r\n"
    );
    fetch_with_short_timeouts("-m 1 --retry 0 -o /dev/null", &server_with_extra_bytes(u64::MAX).url("9/a"))
        .assert_exit(28);
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}
