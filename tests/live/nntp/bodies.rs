//! Bodies with known bytes, written by `docker/common/make-news.pl`.

use crate::live::nntp_server::{NewsServer, each_news_server};
use crate::live::work_dir::{WorkDir, fetch};
use fetch_url_tests::sha256;

each_news_server![
    dot_stuffing_is_removed_from_a_body,
    article_without_body_gives_an_empty_body,
    line_of_100000_bytes_is_unchanged,
    body_of_1_mib_is_unchanged,
    body_of_10_mib_is_unchanged,
    eight_bit_text_is_unchanged,
    yenc_body_with_every_byte_is_unchanged,
    yenc_parts_decode_to_the_original,
    uuencoded_body_decodes_to_the_original,
];

#[track_caller]
fn body(server: NewsServer, name: &str) -> Vec<u8> {
    let result = fetch(&["--part", "body", &server.id_url(&format!("{name}@test.invalid"))]).assert_exit(0);
    assert_eq!(result.err, "", "{name}");
    result.out
}

fn dot_stuffing_is_removed_from_a_body(server: NewsServer) {
    let expected = b".\r\n..\r\n...\r\n.dot\r\nnot.a.dot\r\n\r\n.\r\n";
    assert_eq!(body(server, "dots"), expected, "{}", server.name);
    let whole = fetch(&[&server.id_url("dots@test.invalid")]).assert_exit(0).out;
    assert!(whole.ends_with(&[b"\r\n\r\n", &expected[..]].concat()), "{}", whole.escape_ascii());
}

fn article_without_body_gives_an_empty_body(server: NewsServer) {
    // sn adds an empty line.
    assert_eq!(body(server, "emptybody"), if server.is_modern { &b""[..] } else { b"\r\n" });
    let whole = fetch(&[&server.id_url("emptybody@test.invalid")]).assert_exit(0).out;
    assert!(whole.starts_with(b"Path: "), "{}", whole.escape_ascii());
}

fn line_of_100000_bytes_is_unchanged(server: NewsServer) {
    assert_eq!(body(server, "longline"), ["x".repeat(100_000).as_bytes(), b"\r\n"].concat());
}

fn body_of_1_mib_is_unchanged(server: NewsServer) {
    let expected = format!("{}\r\n", "0123456789".repeat(6)).repeat(16_913);
    assert!(body(server, "big") == expected.as_bytes());
}

/// 10,485,760 bytes to standard output and into a file: the article and its body.
fn body_of_10_mib_is_unchanged(server: NewsServer) {
    let lines: String = (1..=163_840).map(|number| format!("{number:062}\r\n")).collect();
    assert_eq!(lines.len(), 10_485_760);
    let expected = sha256(lines.as_bytes());
    assert_eq!(sha256(&body(server, "huge")), expected);
    let dir = WorkDir::new();
    dir.fetch(&["-o", "huge", &server.id_url("huge@test.invalid")]).assert_success("");
    let whole = dir.read("huge");
    assert_eq!(sha256(&whole[whole.len() - lines.len()..]), expected);
    assert_eq!(sha256(&whole), sha256(&server.block(&["ARTICLE <huge@test.invalid>"])));
    dir.assert_entries(&["huge"]);
}

fn eight_bit_text_is_unchanged(server: NewsServer) {
    assert_eq!(body(server, "latin1-7"), b"na\xefve caf\xe9 \xff\r\n");
    assert_eq!(body(server, "utf8-7"), "Gr\u{fc}\u{df}e\r\n".as_bytes());
    for nth in [2, 51, 100] {
        fetch(&[&server.nth_url("fetch.8bit", nth)]).assert_success(server.nth("ARTICLE", "fetch.8bit", nth));
    }
    let head = fetch(&["--part", "head", &server.id_url("utf8-7@test.invalid")]).assert_exit(0).out;
    let has = |part: &str| head.windows(part.len()).any(|bytes| bytes == part.as_bytes());
    assert!(
        has("Zo\u{eb} <zoe@test.invalid>") && has("raw UTF-8 \u{fc}\u{f1}\u{ee} 7"),
        "{}",
        head.escape_ascii()
    );
}

/// Decodes a yEnc body: each byte minus 42, and minus 64 more after `=`.
fn yenc_decoded(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in body.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.starts_with(b"=y") {
            continue;
        }
        let mut is_escaped = false;
        for &byte in line {
            if byte == b'=' && !is_escaped {
                is_escaped = true;
                continue;
            }
            bytes.push(byte.wrapping_sub(if is_escaped { 106 } else { 42 }));
            is_escaped = false;
        }
    }
    bytes
}

fn all_bytes() -> Vec<u8> {
    (0..=255).collect::<Vec<u8>>().repeat(8)
}

fn yenc_body_with_every_byte_is_unchanged(server: NewsServer) {
    for number in [1, 20] {
        let body = body(server, &format!("yenc-{number}"));
        let first = format!("=ybegin line=128 size=2048 name=all-{number}.bin\r\n");
        assert!(body.starts_with(first.as_bytes()), "{}", body.escape_ascii());
        assert_eq!(yenc_decoded(&body), all_bytes());
        let url = server.nth_url("alt.binaries.fetch", number);
        fetch(&[&url]).assert_success(server.nth("ARTICLE", "alt.binaries.fetch", number));
    }
}

fn yenc_parts_decode_to_the_original(server: NewsServer) {
    let parts = [1, 2, 3].map(|part| yenc_decoded(&body(server, &format!("yenc-multi-{part}"))));
    let word = |number: u64| u32::try_from(number * 2_654_435_761 % (1 << 32)).expect("32 bits");
    let expected: Vec<u8> = (0..3072).flat_map(|number| word(number).to_be_bytes()).collect();
    assert_eq!(parts.concat(), expected);
}

fn uuencoded_body_decodes_to_the_original(server: NewsServer) {
    let body = body(server, "uu-12");
    let mut bytes = Vec::new();
    let lines: Vec<&[u8]> = body.split(|&byte| byte == b'\n').collect();
    for line in &lines[1..lines.len() - 3] {
        let mut bits = line[1..].iter().take_while(|&&byte| byte != b'\r').map(|byte| (byte - 32) & 63);
        let mut of_line = Vec::new();
        while let (Some(a), Some(b), Some(c), Some(d)) = (bits.next(), bits.next(), bits.next(), bits.next())
        {
            of_line.extend([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
        }
        of_line.truncate(usize::from((line[0] - 32) & 63));
        bytes.extend(of_line);
    }
    assert_eq!(bytes, all_bytes());
    assert!(body.ends_with(b"`\r\nend\r\n"));
}
