//! COMPRESS DEFLATE (RFC 8054; docs/spec/semantics.md §6): long lists are compressed if the server supports it, and
//! the output is the same as without compression.

use std::time::Duration;

use super::start_server;
use crate::support::{RunResult, run_fetch_url, temp_dir};
use fetch_url_tests::{
    Ending, NntpAction, NntpArticle, NntpConfig, NntpGroup, NntpRule, NntpServer, ServerCert,
};

/// A large group, a small group, and a private group for the account `me`.
fn groups_config() -> NntpConfig {
    let small =
        NntpGroup::new("a.small").append(NntpArticle::post("small@test.invalid", "small", "body\r\n"));
    NntpConfig::new()
        .group(NntpGroup::new("a.big").generated(1, 600))
        .group(small)
        .group(NntpGroup::new("c.own").generated(1, 400).private())
        .account("me", "secret")
}

/// Fetches these paths, or complete URLs, in one run.
fn fetch_paths(server: &NntpServer, options: &str, paths: &[&str]) -> RunResult {
    let addr = server.news_server();
    let url = |path: &&str| if path.contains(':') { (*path).to_owned() } else { server.url(path) };
    let own = ["--news-server", &addr, "--read-timeout", "5"].map(str::to_owned).into_iter();
    run_fetch_url(own.chain(options.split_whitespace().map(str::to_owned)).chain(paths.iter().map(url)))
}

/// Returns the number of received commands with this prefix.
fn count_commands(server: &NntpServer, start: &str) -> usize {
    server.received_text().iter().filter(|line| line.starts_with(start)).count()
}

/// Returns standard output without the port of the server.
fn normalised_output(server: &NntpServer, result: &RunResult) -> String {
    result.stdout_text().replace(&server.news_server(), "SERVER")
}

#[test]
fn compressed_lists_equal_uncompressed_lists() {
    for path in ["a.big", "news:*", "news:many.*", "news:a.big", "a.big/1-300"] {
        for format in ["text", "json", "raw", "mbox"] {
            let (with, without) = (
                start_server(groups_config().generated_groups(500).compress()),
                start_server(groups_config().generated_groups(500)),
            );
            let options = format!("--format {format}");
            if format == "mbox" && path.contains('*') {
                continue;
            }
            let (one, other) =
                (fetch_paths(&with, &options, &[path]), fetch_paths(&without, &options, &[path]));
            assert_eq!(
                normalised_output(&with, one.assert_exit(0)),
                normalised_output(&without, other.assert_exit(0)),
                "{path} {format}"
            );
            assert!(one.stdout_text().lines().count() >= 300, "{path} {format}: {}", one.stdout_text());
            assert_eq!((one.stderr.as_str(), with.connections()), ("", 1), "{path} {format}");
            assert_eq!(
                count_commands(&without, "COMPRESS"),
                0,
                "COMPRESS sent to a server that does not offer it"
            );
        }
    }
}

/// A server with COMPRESS and a group with this number of articles.
fn large_group(count: u64) -> NntpConfig {
    NntpConfig::new().group(NntpGroup::new("a.big").generated(1, count)).compress()
}

#[test]
fn list_of_200_articles_is_compressed() {
    let server = start_server(large_group(200));
    assert_eq!(
        fetch_paths(&server, "--format raw", &["a.big"]).assert_exit(0).stdout_text().lines().count(),
        200
    );
    assert_eq!(count_commands(&server, "COMPRESS DEFLATE"), 1, "{:?}", server.received_text());
}

/// Lists of 200 articles or more, and lists of groups; no command is sent before the reply to COMPRESS.
#[test]
fn compression_is_used_once_for_long_lists_only() {
    for (count, times) in [(1, 0), (199, 0), (201, 1), (5000, 1)] {
        let server = start_server(large_group(count));
        let result = fetch_paths(&server, "--format raw", &["a.big"]);
        assert_eq!(result.assert_exit(0).stdout_text().lines().count() as u64, count);
        assert_eq!(
            count_commands(&server, "COMPRESS DEFLATE"),
            times,
            "{count}: {:?}",
            server.received_text()
        );
    }
    let server = start_server(large_group(1));
    fetch_paths(&server, "", &["a.big/1"]).assert_exit(0);
    assert_eq!(count_commands(&server, "COMPRESS"), 0);
    fetch_paths(&server, "", &["news:*"]).assert_exit(0);
    assert_eq!(count_commands(&server, "COMPRESS"), 1);
    let server = start_server(large_group(600).delay(Duration::from_millis(5)));
    let paths = ["a.big/1", "a.big", "a.big/2", "news:*", "a.big", "a.big/3"];
    fetch_paths(&server, "--format raw", &paths).assert_exit(0);
    assert_eq!(
        (count_commands(&server, "COMPRESS"), server.connections()),
        (1, 1),
        "{:?}",
        server.received_text()
    );
}

#[test]
fn rejected_compression_continues_uncompressed() {
    for answer in ["403 Unable\r\n", "502 No\r\n", "503 Not that one\r\n", "500 What?\r\n", "501 What?\r\n"] {
        let server = start_server(groups_config().compress().answer("COMPRESS", answer));
        for path in ["a.big", "news:*"] {
            let result = fetch_paths(&server, "--format raw", &[path]);
            assert!(
                result.assert_exit(0).stdout_text().lines().count() >= 2,
                "{answer}: {}",
                result.stdout_text()
            );
        }
        assert_eq!(count_commands(&server, "COMPRESS"), 2, "once for each run: {:?}", server.received_text());
    }
}

/// The server sends single bytes, chunks of 7 bytes, and articles with all byte values.
#[test]
fn compressed_data_in_small_chunks_is_decompressed() {
    let bytes: Vec<u8> = (1..=255_u8).filter(|byte| !b"\r\n".contains(byte)).collect();
    let article =
        NntpArticle::new([b"Message-ID: <all@test.invalid>\r\n\r\n..", &bytes[..], b"\r\n.\r\n"].concat());
    let group = NntpGroup::new("a.all").generated(2, 250).article(1, article.clone());
    let drip = NntpRule::on("OVER", NntpAction::Drip(7, Duration::from_micros(10)));
    for config in [NntpConfig::new().split_replies(), NntpConfig::new().rule(drip), NntpConfig::new()] {
        let server = start_server(config.group(group.clone()).compress());
        let result = fetch_paths(&server, "--format raw", &["a.all", "a.all/1", "news:all@test.invalid"]);
        let twice = article.bytes().repeat(2);
        assert!(result.assert_exit(0).stdout.ends_with(&twice), "{}", result.stdout.escape_ascii());
        assert_eq!((count_commands(&server, "COMPRESS"), server.connections()), (1, 1));
    }
}

/// RFC 8054 §2.2.2 forbids STARTTLS after COMPRESS, but not a login.
#[test]
fn login_and_compression_work_together() {
    let options = "--format raw --insecure-auth -u me:secret";
    for paths in [&["a.big", "c.own", "c.own/7"][..], &["news:*", "c.own/7", "c.own"], &["c.own"]] {
        let (with, without) = (start_server(groups_config().compress()), start_server(groups_config()));
        let (one, other) = (fetch_paths(&with, options, paths), fetch_paths(&without, options, paths));
        assert_eq!(
            normalised_output(&with, one.assert_exit(0)),
            normalised_output(&without, other.assert_exit(0)),
            "{paths:?}"
        );
        let logins = (count_commands(&with, "AUTHINFO USER"), count_commands(&with, "AUTHINFO PASS"));
        assert_eq!(logins, (1, 1), "{paths:?}: {:?}", with.received_text());
    }
    // The server requires TLS before the login; compression follows both.
    let cert = ServerCert::good().expect("create certificate");
    let files = cert.write_files().expect("write certificate files");
    let options = format!("--format raw -u me:secret --cacert {}", files.ca.display());
    for paths in [&["a.big", "c.own"][..], &["c.own", "a.big"], &["news:*", "c.own/7"]] {
        let server = start_server(groups_config().compress().starttls(&cert).requires_tls_for_login());
        let result = fetch_paths(&server, &options, paths);
        assert!(result.assert_exit(0).stdout_text().contains("<many-7@test.invalid>"), "{paths:?}");
        let clear = server.plaintext_commands();
        assert!(!clear.iter().any(|line| line.starts_with("AUTHINFO")), "{paths:?}: {clear:?}");
    }
    let server = NntpServer::start_tls(groups_config().compress(), &cert).expect("start server");
    let result = fetch_paths(&server, &options, &["c.own", "a.big"]);
    assert_eq!(result.assert_exit(0).stdout_text().lines().count(), 1000);
}

/// The truncation is detected even if only the compressed data is incomplete.
#[test]
fn truncated_compressed_list_exits_18() {
    for act in [
        NntpAction::CutBlock(5000, Ending::Close),
        NntpAction::CutBlock(5000, Ending::Fin),
        NntpAction::NoTerminator,
    ] {
        let config = groups_config().compress().on("OVER", act.clone());
        let config = if matches!(act, NntpAction::NoTerminator) {
            config.on("OVER", NntpAction::EndAfter(Ending::Close))
        } else {
            config
        };
        let dir = temp_dir();
        let file = dir.path().join("list");
        let server = start_server(config);
        let result = fetch_paths(&server, &format!("--format raw -o {}", file.display()), &["a.big"]);
        assert_eq!(result.exit, 18, "{act:?}: {}", result.stderr);
        assert!(!file.exists() && count_commands(&server, "COMPRESS") == 1, "{act:?}");
    }
}

/// Uncompressed text after the reply 206 is not parsed as a list, and the run does not hang.
#[test]
fn invalid_deflate_data_after_206_is_an_error() {
    let accepted = "206 Compression active\r\n";
    for after in ["", "224 Overview\r\n1\tforged\ta\tb\t<c@d>\t\t1\t1\r\n.\r\n", "\u{0}\u{0}\u{0}"] {
        let answer = format!("{accepted}{after}");
        let server = start_server(groups_config().compress().answer("COMPRESS", answer));
        let result = fetch_paths(&server, "--format raw --read-timeout 0.5", &["a.big"]);
        assert!(result.exit != 0 && !result.stdout_text().contains("forged"), "{after:?}: {result:?}");
        assert!(result.exit == 8 || [18, 28, 52].contains(&result.exit), "{after:?}: {result:?}");
    }
}
